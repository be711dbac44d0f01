"""Which kernel draws: numba for long jobs, numpy for short ones and wherever numba is missing."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from types import ModuleType
from typing import Any, Literal

import numpy as np

from glyphraster import _lanes
from glyphraster._lanes import Pixels
from glyphraster.celltables import Cells
from glyphraster.errors import ArgumentError, EngineError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.rows import Bands, strips

Engine = Literal["auto", "numba", "numpy"]
ENGINES: tuple[Engine, ...] = ("auto", "numba", "numpy")

NUMBA_PAYS_FROM_CHARS = 50_000_000
"""From here on the kernels save more CPU time than they cost. Source code to PNG, in flow, at 5x8 px, whole processes:

- numba costs 0.53 s: 0.15 to import, 0.12 to load two kernels from the cache, 0.26 when the interpreter ends;
- numpy draws 35 million characters a second, the kernels 56: 10.6 ms saved a million, 0.53 s in 50 million.

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
        return _lanes.pack_pixels(draw_glyphs(glyphs, bands, font, geometry, engine))
    kernels, scale = _kernels(engine, glyphs.size), geometry.scale
    leading_px = geometry.pitch_y_px - font.line_height_px
    page = np.full((geometry.height_px + _lanes.SLACK_ROWS, 1 + -(-geometry.width_px // 8)), 255, np.uint8)
    slices = _slices(geometry.cell_width_px)
    if slices > 1:
        glyphs = _sliced(glyphs, slices, len(font.bitmaps))
    for rows, top_px, (first, last) in strips(bands, leading_px):
        lanes, height_px = _lane_table(font, first, last, geometry.pitch_x_px, scale), (last - first) * scale
        pitch_px = height_px + leading_px * scale
        width_px = geometry.cell_width_px // slices
        kernels.pack_glyphs(glyphs[rows], lanes, width_px, height_px, pitch_px, page[top_px * scale :])
    page[:, 0] = 0
    return page[: geometry.height_px]


def draw_glyphs(glyphs: Cells, bands: Bands, font: BitmapFont, geometry: PageGeometry, engine: Engine) -> Pixels:
    """Draw a grid of cells whose rows show ``bands``: uint8 (height_px, width_px), 0 ink on 255 paper."""
    kernels, scale, margin_px = _kernels(engine, glyphs.size), geometry.scale, geometry.margin_px
    leading_px = geometry.pitch_y_px - font.line_height_px
    page = np.full((geometry.height_px + _lanes.SLACK_ROWS, geometry.width_px), 255, np.uint8)
    for rows, top_px, (first, last) in strips(bands, leading_px):
        kernels.draw_glyphs(
            glyphs[rows], _pixel_table(font, first, last, scale), (last - first + leading_px) * scale,
            geometry.cell_width_px, scale, margin_px, page[margin_px + top_px * scale :],
        )
    return page[: geometry.height_px]


@functools.lru_cache(maxsize=32)
def _lane_table(font: BitmapFont, first: int, last: int, pitch_px: int, scale: int) -> _lanes.Words:
    slices = _slices(pitch_px * scale)
    return _lanes.lane_table(font.bitmaps[:, first:last], font.cell_width_px, pitch_px, scale, slices)


def _slices(width_px: int) -> int:
    """Return into how many equal slices of at most 8 px a glyph can be cut, 1 when into none.

    Slices are drawn as glyphs of their own: 10 px as 5 and 5 takes 0.1 ms a page, in pieces of 8 and 2 px 0.5 ms.
    """
    return next((slices for slices in range(1, width_px) if width_px % slices == 0 and width_px // slices <= 8), 1)


def _sliced(glyphs: Cells, slices: int, cells: int) -> Cells:
    """Return the slices of each glyph of a font of so many ``cells``, in the numbers that its own glyphs would have."""
    number: type[np.unsignedinteger[Any]] = np.uint16 if cells * slices < 0xFFFF else np.uint32
    each = np.arange(slices).astype(number)
    sliced: Cells = glyphs[..., None] * number(slices) + each
    return sliced.reshape(len(glyphs), -1)


@functools.lru_cache(maxsize=32)
def _pixel_table(font: BitmapFont, first: int, last: int, scale: int) -> Pixels:
    return _lanes.pixel_table(font.bitmaps[:, first:last], font.cell_width_px, scale)


def _kernels(engine: Engine, cells: int) -> ModuleType:
    """Return the kernels that draw the next ``cells``."""
    if chosen_engine(engine) == "numpy":
        _DRAWN["cells"] += cells if engine == "auto" else 0
        return _lanes
    from glyphraster import _kernels

    return _kernels
