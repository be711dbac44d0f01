"""A picture of every glyph of a font, for people who edit it."""

from __future__ import annotations

import numpy as np

from glyphraster.engine import draw_glyphs
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.png import encode_png
from glyphraster.rows import row_bands

COLUMNS = 32
GAP_PX = 3
"""Paper between glyphs, in glyph pixels."""


def specimen(font: BitmapFont, scale: int = 4) -> bytes:
    """Draw all cells of ``font`` in code point order, 32 a row.

    Returns
    -------
    bytes
        A PNG.
    """
    rows = -(-len(font.bitmaps) // COLUMNS)
    cells = np.full(rows * COLUMNS, font.cell(0x20), np.uint32)
    cells[: len(font.bitmaps)] = np.arange(len(font.bitmaps))
    grid = cells.reshape(rows, COLUMNS)
    pitch_y, pitch_x = font.cell_height_px + GAP_PX, font.cell_width_px + GAP_PX
    geometry = PageGeometry(
        height_px=(rows * pitch_y + GAP_PX) * scale + 2 * GAP_PX,
        width_px=(COLUMNS * pitch_x + GAP_PX) * scale + 2 * GAP_PX,
        margin_px=GAP_PX,
        pitch_y_px=pitch_y,
        pitch_x_px=pitch_x,
        scale=scale,
    )
    return encode_png(draw_glyphs(grid, row_bands(grid, font), font, geometry, "numpy"), "gray1")
