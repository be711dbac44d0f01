"""Which kernel draws: numba for long jobs, numpy for short ones and wherever numba is missing."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Literal

import numpy as np

from glyphraster import _lanes
from glyphraster._lanes import Pixels
from glyphraster.cells import Cells
from glyphraster.errors import ArgumentError, EngineError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.rows import Bands, strips

Engine = Literal["auto", "numba", "numpy"]
ENGINES: tuple[Engine, ...] = ("auto", "numba", "numpy")

NUMBA_PAYS_FROM_CHARS = 50_000_000
"""Below this importing and compiling numba (0.5 s of CPU) costs more than its kernel saves (1 ms a page of 105,000)."""


def chosen_engine(engine: Engine, job_chars: int = 0) -> Engine:
    """Return ``"numba"`` or ``"numpy"`` for a job of ``job_chars`` characters.

    Raises
    ------
    ArgumentError
        When the engine is unknown.
    EngineError
        When numba was asked for and cannot be imported.
    """
    if engine not in ENGINES:
        raise ArgumentError(f"no engine {engine!r}; there is {', '.join(ENGINES)}")
    if engine == "numpy":
        return "numpy"
    if engine == "auto" and "glyphraster._kernels" not in sys.modules and job_chars < NUMBA_PAYS_FROM_CHARS:
        return "numpy"
    try:
        from glyphraster import _kernels  # noqa: F401  (imported to learn whether it can be)
    except ImportError as error:
        if engine == "auto":
            return "numpy"
        raise EngineError(
            f"engine 'numba' cannot run here: {error}; use engine='numpy', which draws the same pixels"
        ) from error
    return "numba"


def packed_page(glyphs: Cells, bands: Bands, font: BitmapFont, geometry: PageGeometry, engine: Engine) -> Pixels:
    """Draw a grid of cells whose rows show ``bands``, at one bit a pixel.

    Returns
    -------
    uint8 (height_px, 1 + ceil(width_px / 8))
        What PNG deflates: a filter byte, 0, and bits, high bit leftmost, 1 is paper; spare bits are paper.
    """
    if geometry.margin_px:
        return _lanes.pack_pixels(draw_glyphs(glyphs, bands, font, geometry, engine))
    kernels, scale, leading_px = _kernels(engine), geometry.scale, geometry.pitch_y_px - font.line_height_px
    page = np.full((geometry.height_px + SLACK_ROWS, 1 + -(-geometry.width_px // 8)), 255, np.uint8)
    slices = _slices(geometry.cell_width_px)
    if slices > 1:
        each = np.arange(slices, dtype=np.uint32)
        glyphs = (glyphs[..., None] * np.uint32(slices) + each).reshape(len(glyphs), -1)
    for rows, top_px, (first, last) in strips(bands, leading_px):
        lanes, height_px = _lane_table(font, first, last, geometry.pitch_x_px, scale), (last - first) * scale
        pitch_px = height_px + leading_px * scale
        width_px = geometry.cell_width_px // slices
        kernels.pack_glyphs(glyphs[rows], lanes, width_px, height_px, pitch_px, page[top_px * scale :])
    page[:, 0] = 0
    return page[: geometry.height_px]


def draw_glyphs(glyphs: Cells, bands: Bands, font: BitmapFont, geometry: PageGeometry, engine: Engine) -> Pixels:
    """Draw a grid of cells whose rows show ``bands``: uint8 (height_px, width_px), 0 ink on 255 paper."""
    kernels, scale, margin_px = _kernels(engine), geometry.scale, geometry.margin_px
    leading_px = geometry.pitch_y_px - font.line_height_px
    page = np.full((geometry.height_px + 1, geometry.width_px), 255, np.uint8)
    for rows, top_px, (first, last) in strips(bands, leading_px):
        kernels.draw_glyphs(
            glyphs[rows], _pixel_table(font, first, last, scale), (last - first + leading_px) * scale,
            geometry.cell_width_px, scale, margin_px, page[margin_px + top_px * scale :],
        )
    return page[: geometry.height_px]


SLACK_ROWS = 8
"""Rows below those of a page that kernels may write to, in whole blocks."""


@functools.lru_cache(maxsize=32)
def _lane_table(font: BitmapFont, first: int, last: int, pitch_px: int, scale: int) -> _lanes.Words:
    slices = _slices(pitch_px * scale)
    return _lanes.lane_table(font.bitmaps[:, first:last], font.cell_width_px, pitch_px, scale, slices)


def _slices(width_px: int) -> int:
    """Return into how many equal slices of at most 8 px a glyph can be cut, 1 when into none.

    Slices are drawn as glyphs of their own: 10 px as 5 and 5 takes 0.1 ms a page, in pieces of 8 and 2 px 0.5 ms.
    """
    return next((slices for slices in range(1, width_px) if width_px % slices == 0 and width_px // slices <= 8), 1)


@functools.lru_cache(maxsize=32)
def _pixel_table(font: BitmapFont, first: int, last: int, scale: int) -> Pixels:
    return _lanes.pixel_table(font.bitmaps[:, first:last], font.cell_width_px, scale)


def _kernels(engine: Engine) -> ModuleType:
    if chosen_engine(engine) == "numpy":
        return _lanes
    from glyphraster import _kernels

    return _kernels
