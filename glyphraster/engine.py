"""Which kernel draws: numba for long jobs, numpy for short ones and wherever numba is missing."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

import numpy as np

from glyphraster import _lanes
from glyphraster._lanes import Pixels
from glyphraster.celltables import Cells
from glyphraster.errors import ArgumentError, EngineError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.rows import Bands, height_px, strips

Engine = Literal["auto", "numba", "numpy"]
ENGINES: tuple[Engine, ...] = ("auto", "numba", "numpy")

NUMBA_PAYS_FROM_CHARS = 40_000_000
"""From here on the kernels save more CPU time than they cost. Source code to PNG, in flow, at 5x8 px, whole processes:

- numba costs 0.41 s: to import, to load two kernels from the cache, and when the interpreter ends;
- numpy takes 21.8 ms a million characters, the kernels 12.0: 0.41 s in 42 million.

A process that draws page after page without end starts in numpy and changes over once it has drawn so many: it never
takes more than twice the better of the two. Compiling instead of loading, once a machine, takes 0.8 s more.
"""


def chosen_engine(engine: Engine, job_chars: int = 0) -> Engine:
    """Return ``"numba"`` or ``"numpy"`` for a job of ``job_chars`` characters.

    Raises
    ------
    ArgumentError
        When the engine is unknown.
    EngineError
        When numba was asked for and cannot run.
    """
    if engine not in ENGINES:
        raise ArgumentError(f"no engine {engine!r}; there is {', '.join(ENGINES)}")
    if engine == "numpy" or (engine == "auto" and not _pays(job_chars)):
        return "numpy"
    if (fault := _fault()) is None:
        return "numba"
    if engine == "auto":
        return "numpy"
    raise EngineError(f"engine 'numba' cannot run here: {fault}; use engine='numpy', which draws the same pixels")


def _pays(job_chars: int) -> bool:
    return "glyphraster._kernels" in sys.modules or _DRAWN["cells"] + job_chars >= NUMBA_PAYS_FROM_CHARS


_DRAWN: Counter[str] = Counter()
"""Cells that numpy has drawn in this process for want of knowing better."""


@functools.cache
def _fault() -> str | None:
    """Load the kernels; return why they cannot run here, or None."""
    try:
        from glyphraster import _kernel_cache, _kernels  # noqa: F401  (the kernels, to learn whether they load)
    except (ImportError, OSError) as error:  # llvmlite raises the second for a library that does not load
        return str(error)
    return None if _kernel_cache.COMPILES else "NUMBA_DISABLE_JIT is set, so that each page would take minutes"


def packed_page(glyphs: Cells, bands: Bands, font: BitmapFont, geometry: PageGeometry, engine: Engine) -> Pixels:
    """Draw a grid of cells whose rows show ``bands``, at one bit a pixel.

    Returns
    -------
    uint8 (height_px, 1 + ceil(width_px / 8))
        What PNG deflates: a filter byte, 0, and bits, high bit leftmost, 1 is paper; spare bits are paper.
    """
    if geometry.margin_px:
        bare = packed_page(glyphs, bands, font, geometry.without_margin(), engine)
        return _lanes.with_margin(bare, geometry.margin_px, geometry.width_px)
    kernels, scale = _kernels(engine, glyphs.size), geometry.scale
    leading_px, row_bytes = geometry.pitch_y_px - font.line_height_px, 1 + -(-geometry.width_px // 8)
    page = np.full((geometry.height_px + _lanes.slack_rows(row_bytes), row_bytes), 255, np.uint8)
    for rows, top_px, band in strips(bands, leading_px):
        lanes, shown_px = _table(kernels.pack_table, font, band, geometry), (band[1] - band[0]) * scale
        pitch_px, rest = shown_px + leading_px * scale, page[top_px * scale :]
        kernels.pack_glyphs(glyphs[rows], lanes, geometry.cell_width_px, shown_px, pitch_px, rest)
    page[:, 0] = 0
    return page[: geometry.height_px]


def draw_glyphs(glyphs: Cells, bands: Bands, font: BitmapFont, geometry: PageGeometry, engine: Engine) -> Pixels:
    """Draw a grid of cells whose rows show ``bands``: uint8 (height_px, width_px), 0 ink on 255 paper."""
    kernels, scale, margin_px = _kernels(engine, glyphs.size), geometry.scale, geometry.margin_px
    leading_px, width_px = geometry.pitch_y_px - font.line_height_px, geometry.cell_width_px
    page = np.empty((geometry.height_px + _lanes.slack_rows(geometry.width_px), geometry.width_px), np.uint8)
    if margin_px or leading_px:
        page.fill(255)
    else:  # the rows below: all of it would take 20 us of 70
        page[height_px(bands, 0) * scale :] = 255
    for rows, top_px, band in strips(bands, leading_px):
        table, pitch_px = _table(kernels.draw_table, font, band, geometry), (band[1] - band[0] + leading_px) * scale
        kernels.draw_glyphs(glyphs[rows], table, width_px, pitch_px, margin_px, page[margin_px + top_px * scale :])
    return page[: geometry.height_px]


def _table(make: Callable[..., Any], font: BitmapFont, band: tuple[int, int], geometry: PageGeometry) -> Any:  # noqa: ANN401
    """Return what kernels draw the glyphs of a font from, of which rows show a band."""
    return _made(make, font, band, geometry.pitch_x_px, geometry.scale)


@functools.lru_cache(maxsize=32)
def _made(make: Callable[..., Any], font: BitmapFont, band: tuple[int, int], pitch_px: int, scale: int) -> Any:  # noqa: ANN401
    return make(font.bitmaps[:, slice(*band)], font.cell_width_px, pitch_px, scale)


def _kernels(engine: Engine, cells: int) -> ModuleType:
    """Return the kernels that draw the next ``cells``."""
    if chosen_engine(engine) == "numpy":
        _DRAWN["cells"] += cells if engine == "auto" else 0
        return _lanes
    from glyphraster import _kernels

    return _kernels
