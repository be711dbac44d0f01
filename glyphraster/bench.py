"""How fast this installation draws and reads, and where the time goes: ``glyphraster bench``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from glyphraster.engine import ENGINES, Engine, chosen_engine, packed_page
from glyphraster.errors import ArgumentError, EngineError
from glyphraster.page import Page
from glyphraster.png import encode_packed
from glyphraster.raster import render
from glyphraster.reader import read

CHARS = 1_000_000
"""What is drawn unless told otherwise: ten pages of the largest size, a few seconds for all runs of both engines."""

RUNS = 5
"""Each time is the median of so many, after one run that compiles and fills caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpeed:
    """Say how fast one engine is.

    Attributes
    ----------
    engine
        ``"numba"`` or ``"numpy"``.
    chars, pages, png_bytes
        What was drawn.
    draw_cpu_s, read_cpu_s
        CPU seconds from the text to all PNGs, and from those back to the text.
    cells_cpu_s, pixels_cpu_s, deflate_cpu_s
        Parts of ``draw_cpu_s``: text to planned pages, those to rows at one bit a pixel, those to PNG bytes. What is
        left makes the pages' records.
    exact
        Whether the very text came back.
    """

    engine: str
    chars: int
    pages: int
    png_bytes: int
    draw_cpu_s: float
    read_cpu_s: float
    cells_cpu_s: float
    pixels_cpu_s: float
    deflate_cpu_s: float
    exact: bool

    @property
    def draw_chars_per_cpu_s(self) -> float:
        """Characters of the text per CPU second, text to PNG bytes."""
        return self.chars / self.draw_cpu_s

    @property
    def read_chars_per_cpu_s(self) -> float:
        """Characters of the text per CPU second, PNG bytes to text."""
        return self.chars / self.read_cpu_s

    @property
    def bytes_per_char(self) -> float:
        """Bytes of PNG per character of the text."""
        return self.png_bytes / self.chars


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """Say why an engine cannot run here."""

    engine: str
    reason: str


def own_source(chars: int = CHARS) -> str:
    """Return the source of this package, as often as ``chars`` characters take."""
    source = "".join(file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob("*.py")))
    return (source * (chars // len(source) + 1))[:chars]


def speeds(text: str, model: str, *, runs: int = RUNS) -> Iterator[EngineSpeed | Absent]:
    """Measure each engine on one text, on one thread.

    Parameters
    ----------
    text
        What to draw; the more, the steadier the figures.
    model
        Whose pages are drawn, at the dense tier.
    runs
        How often; the median counts.

    Raises
    ------
    ArgumentError
        When there is no text or no run.
    """
    if not text or runs < 1:
        raise ArgumentError(f"{len(text)} characters in {runs} runs: at least one of each is needed")
    for engine in ENGINES[1:]:
        try:
            chosen_engine(engine)
        except EngineError as error:
            yield Absent(engine=engine, reason=str(error))
        else:
            yield _speed(text, model, engine, runs)


def _speed(text: str, model: str, engine: Engine, runs: int) -> EngineSpeed:
    def planned() -> list[Page]:
        return render(text, model, tier="dense", engine=engine)

    pages = planned()
    grids = [(page.plan.glyphs, page.plan.bands, page.font, page.geometry) for page in pages]
    rows, pngs = [packed_page(*grid, engine) for grid in grids], [page.png("gray1") for page in pages]
    widths_px = [page.geometry.width_px for page in pages]
    draw, back, cells, pixels, deflate = _medians(
        runs,
        lambda: [page.png("gray1") for page in planned()],
        lambda: read(pngs),
        planned,
        lambda: [packed_page(*grid, engine) for grid in grids],
        lambda: list(map(encode_packed, rows, widths_px)),
    )
    return EngineSpeed(
        engine=engine,
        chars=len(text),
        pages=len(pages),
        png_bytes=sum(map(len, pngs)),
        draw_cpu_s=draw,
        read_cpu_s=back,
        cells_cpu_s=cells,
        pixels_cpu_s=pixels,
        deflate_cpu_s=deflate,
        exact=read(pngs) == text,
    )


def _medians(runs: int, *jobs: Callable[[], object]) -> list[float]:
    """Return the median CPU seconds of each job; they run in turn, so that what slows one slows all."""
    times = [[_cpu_s(job) for job in jobs] for _ in range(runs + 1)][1:]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def _cpu_s(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return max(time.process_time() - start, 1e-9)  # a clock may be coarse, and nothing takes no time
