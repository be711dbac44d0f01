"""Which kernel draws: numba for long jobs, numpy for short ones and wherever numba is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from glyphraster import _lanes
from glyphraster.cells import Cells
from glyphraster.errors import ArgumentError, EngineError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.rows import Bands, strips

Engine = Literal["auto", "numba", "numpy"]
ENGINES: tuple[Engine, ...] = ("auto", "numba", "numpy")

NUMBA_PAYS_FROM_CHARS = 50_000_000
"""Below this importing and compiling numba (0.5 s of CPU) costs more than its kernel saves (1 ms a page of 105,000)."""


_MANY_CELLS = 10_000
"""Unpacking so many cells takes about as long as finding out which of them a page needs, 4 ms."""


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


def _kernel(engine: Engine) -> Callable[..., None]:
    if engine == "numpy":
        return _lanes.draw_pixels
    from glyphraster import _kernels

    return _kernels.draw_pixels


def draw_glyphs(
    glyphs: Cells, bands: Bands, font: BitmapFont, geometry: PageGeometry, engine: Engine
) -> npt.NDArray[np.uint8]:
    """Draw a grid of cells whose rows show ``bands``: uint8 (height_px, width_px), 0 ink on 255 paper."""
    page = np.full((geometry.height_px, geometry.width_px), 255, np.uint8)
    draw_pixels, scale = _kernel(chosen_engine(engine)), geometry.scale
    leading_px = geometry.pitch_y_px - font.line_height_px
    glyphs, bitmaps = _used(glyphs, font)
    inks = _lanes.ink_rows(bitmaps, font.cell_width_px, scale)
    for rows, top_px, (first, last) in strips(bands, leading_px):
        shown, pitch_y_px = np.ascontiguousarray(inks[:, first:last]), last - first + leading_px
        draw_pixels(
            glyphs[rows], shown, pitch_y_px, geometry.pitch_x_px, scale, geometry.margin_px, page[top_px * scale :]
        )
    return page


def _used(glyphs: Cells, font: BitmapFont) -> tuple[Cells, npt.NDArray[np.uint8]]:
    """Return the glyphs that stand on a page, numbered anew, where a font has so many that unpacking all takes long."""
    if len(font.bitmaps) <= _MANY_CELLS:
        return glyphs, font.bitmaps
    used, places = np.unique(glyphs, return_inverse=True)
    return places.reshape(glyphs.shape).astype(glyphs.dtype), font.bitmaps[used]
