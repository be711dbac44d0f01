"""Compile the kernels before they are needed: for images and services whose first long job shall not wait for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glyphraster.engine import chosen_engine
from glyphraster.font import Fonts, load_fonts, shipped_fonts
from glyphraster.raster import TIERS, render

_MODEL = "claude-fable-5"
"""Any: a model chooses how large a page is, which no kernel depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmth:
    """Say how the kernels came into this process.

    Attributes
    ----------
    directory
        Where kernels are kept, or None where there is no such place; see ``NUMBA_CACHE_DIR``.
    loaded, kept, lost
        Kernels that came from the cache; that were compiled and written to it; that were compiled and are not in it.
    cpu_s
        CPU time that all of it took, in seconds, the import of numba included.
    """

    directory: Path | None
    loaded: int
    kept: int
    lost: int
    cpu_s: float

    @property
    def kernels(self) -> int:
        """How many there are."""
        return self.loaded + self.kept + self.lost


def warmup(fonts: Fonts | None = None, *, scales: Sequence[int] = tuple(TIERS.values()), check: bool = False) -> Warmth:
    """Load the kernels that draw some fonts, and compile into the cache those that are not there.

    Parameters
    ----------
    fonts
        Fonts, or their names or paths, each alone; by default all that the package ships.
    scales
        Those at which they will be drawn.
    check
        Write nothing: ``lost`` is then what the cache lacks.

    Raises
    ------
    ArgumentError
        When a font or a scale is none.
    EngineError
        When numba cannot run.
    """
    before = time.process_time()
    chosen_engine("numba")
    from glyphraster import _kernel_cache

    keeping = _kernel_cache.KEEPING.set(not check)
    try:
        for font in load_fonts(shipped_fonts() if fonts is None else fonts):
            for scale in scales:
                (page,) = render("warm", _MODEL, fonts=font, scale=scale, engine="numba")
                page.png("gray1")
                page.png("gray8")
    finally:
        _kernel_cache.KEEPING.reset(keeping)
    ways = [use.how for use in _kernel_cache.USES]
    return Warmth(
        directory=_kernel_cache.cache_directory(),
        loaded=ways.count("loaded"),
        kept=ways.count("kept"),
        lost=ways.count("not kept"),
        cpu_s=time.process_time() - before,
    )
