"""Pixels to cells: a page is cut along its grid, and each cell looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.cells import Cells
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.lookup import Keys, cell_keys, look_up
from glyphraster.rows import Bands, Strip, strips

Pixels = npt.NDArray[np.uint8]


def scan(pixels: Pixels, bands: Bands, font: BitmapFont, geometry: PageGeometry) -> tuple[Cells, npt.NDArray[Any]]:
    """Return the cell at each place of the rows that ``bands`` describe, and the places that match no glyph.

    Parameters
    ----------
    pixels
        uint8 (height_px, width_px) or larger, 0 ink on 255 paper.

    Returns
    -------
    cells : uint16 or uint32 (rows, columns)
    places : int64 (places, 2)
        Row and column.
    """
    leading_px = geometry.pitch_y_px - font.line_height_px
    keys = [cell_keys(_cut(pixels, strip, leading_px, font, geometry)) for strip in strips(bands, leading_px)]
    found: Keys = np.vstack(keys) if keys else np.zeros((0, geometry.grid[1]), np.uint64)
    return look_up(found, font)


def _cut(pixels: Pixels, strip: Strip, leading_px: int, font: BitmapFont, geometry: PageGeometry) -> Pixels:
    """Cut rows of one height into packed cells: uint8 (rows, columns, cell_height_px, row bytes), 1 is ink."""
    (first, last), scale, margin, columns = strip.band, geometry.scale, geometry.margin_px, geometry.grid[1]
    rows, pitch_y_px = strip.rows.stop - strip.rows.start, last - first + leading_px
    top = margin + strip.top_px * scale
    body = pixels[
        top : top + rows * pitch_y_px * scale : scale, margin : margin + columns * geometry.cell_width_px : scale
    ]
    shown = body.reshape(rows, pitch_y_px, columns, geometry.pitch_x_px)[:, : last - first, :, : font.cell_width_px]
    packed = np.packbits(shown == 0, axis=3).transpose(0, 2, 1, 3)
    if packed.shape[2] == font.cell_height_px:
        return packed
    boxed = np.zeros((rows, columns, font.cell_height_px, packed.shape[3]), np.uint8)
    boxed[:, :, first:last] = packed
    return boxed
