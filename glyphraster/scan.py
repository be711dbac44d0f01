"""A page at one bit a pixel to cells: it is cut along its grid, and each cell looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster import _lanes
from glyphraster._lanes import Pixels
from glyphraster.celltables import Cells
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.lookup import Keys, cell_keys, look_up
from glyphraster.rows import Bands, Strip, strips


def scan(page: Pixels, bands: Bands, font: BitmapFont, geometry: PageGeometry) -> tuple[Cells, npt.NDArray[Any]]:
    """Return the cell at each place of the rows that ``bands`` describe, and the places that match no glyph.

    Parameters
    ----------
    page
        uint8, as :func:`glyphraster.engine.packed_page` draws it.

    Returns
    -------
    cells : uint16 or uint32 (rows, columns)
    places : int64 (places, 2)
        Row and column.
    """
    if geometry.margin_px:
        pixels = np.unpackbits(page[:, 1:], axis=1, count=geometry.width_px)
        page = _lanes.pack_pixels(pixels[geometry.margin_px :, geometry.margin_px :])
    leading_px = geometry.pitch_y_px - font.line_height_px
    keys = [cell_keys(_cut(page, strip, leading_px, font, geometry)) for strip in strips(bands, leading_px)]
    found: Keys = np.vstack(keys) if keys else np.zeros((0, geometry.grid[1]), np.uint64)
    return look_up(found, font, geometry.pitch_x_px, geometry.scale)


def scan_pixels(
    pixels: Pixels, bands: Bands, font: BitmapFont, geometry: PageGeometry
) -> tuple[Cells, npt.NDArray[Any]]:
    """Do what :func:`scan` does for pixels, uint8 (height_px, width_px) of 0 ink and 255 paper."""
    return scan(_lanes.pack_pixels(pixels), bands, font, geometry)


def _cut(page: Pixels, strip: Strip, leading_px: int, font: BitmapFont, geometry: PageGeometry) -> _lanes.Words:
    """Cut rows of one height into lanes: uint64 (pieces, words, rows, columns)."""
    (first, last), scale = strip.band, geometry.scale
    grid = strip.rows.stop - strip.rows.start, geometry.grid[1]
    return _lanes.glyph_lanes(
        page[strip.top_px * scale :], grid, geometry.cell_width_px, font.cell_height_px * scale,
        (first * scale, last * scale), (last - first + leading_px) * scale,
    )
