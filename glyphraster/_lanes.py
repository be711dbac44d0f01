"""The numpy kernels: always there, same results as :mod:`glyphraster._kernels`.

Pages are C-contiguous uint8, 0 ink on 255 paper.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


def ink_rows(bitmaps: Pixels, cell_width_px: int, scale: int) -> Pixels:
    """Unpack glyphs (high bit leftmost): uint8 (cells, cell_height_px, cell_width_px * scale), 0 ink on 255 paper."""
    bits = np.unpackbits(bitmaps, axis=2, count=cell_width_px)
    return ((1 - bits) * np.uint8(255)).repeat(scale, axis=2)


def draw_pixels(
    glyphs: npt.NDArray[np.uint16], inks: Pixels, pitch_y: int, pitch_x: int, scale: int, margin: int, page: Pixels
) -> None:
    """Copy the pixel rows ``inks`` (cells, glyph rows, pixels) of ``glyphs`` (rows, columns) into the ``page``."""
    rows, columns = glyphs.shape
    cell_height, cell_width = pitch_y * scale, pitch_x * scale
    body = page[margin : margin + rows * cell_height, margin : margin + columns * cell_width]
    cells = body.reshape(rows, cell_height, columns, cell_width)
    cells[:, : inks.shape[1] * scale, :, : inks.shape[2]] = inks.repeat(scale, axis=1)[glyphs].transpose(0, 2, 1, 3)


def pack_bits(pixels: Pixels, out: Pixels) -> None:
    """Pack a page to 1-bit PNG rows: (height, 1 + ceil(width / 8)), filter byte 0, high bit leftmost, 1 is paper."""
    out[:, 0] = 0
    out[:, 1:] = np.packbits(pixels, axis=1)
