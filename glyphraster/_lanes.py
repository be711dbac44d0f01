"""The numpy kernels: always there, same results as :mod:`glyphraster._kernels`.

A glyph is cut into pieces of 8 px and what is left. A piece is a column of *lanes*: byte ``k`` of a uint64 is its pixel
row ``k``, the high bit leftmost, a set bit paper; bits right of the piece are 0. Rows beyond the eighth are in further
words. The pieces of eight neighbours shift and join into as many words as a glyph has pixels, and byte ``k`` of those
is pixel row ``k`` of the page at one bit a pixel. That is some 25 operations for 64 rows of glyphs of 5 px.

Pages at one bit a pixel are rows of a filter byte, 0, and the bits, high bit leftmost, 1 is paper: what PNG deflates.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Cells = npt.NDArray[np.unsignedinteger[Any]]

GROUP = 8
"""Glyphs that end on a whole byte together, whatever their width."""
SLACK_ROWS = 16
"""Rows that a page needs below those that are drawn: kernels store whole words, 8 bytes to the right, which are 8 rows
more on a page of one byte a row, and whole blocks of 8 rows."""
EACH_BYTE = 0x0101010101010101


class Join(NamedTuple):
    """How a piece of one of eight neighbours comes into one of their words.

    ``shift`` is to the right, to the left when negative; ``mask`` is what is kept then. The way back is the opposite
    shift and ``back``.
    """

    word: int
    glyph: int
    piece: int
    shift: int
    mask: int
    back: int


@functools.cache
def joins(width_px: int) -> tuple[Join, ...]:
    """Return how eight neighbours of ``width_px`` come to ``width_px`` words."""
    found = []
    for word, glyph, piece in np.ndindex(width_px, GROUP, -(-width_px // 8)):
        piece_px = min(8, width_px - 8 * piece)
        shift = width_px * glyph + 8 * piece - 8 * word
        if -piece_px < shift < 8:
            mask = 0xFF >> shift if shift >= 0 else 0xFF << -shift & 0xFF
            back = (0xFF << 8 - piece_px) & (0xFF << shift if shift >= 0 else 0xFF >> -shift) & 0xFF
            found.append(Join(word, glyph, piece, shift, EACH_BYTE * mask, EACH_BYTE * back))
    return tuple(found)


def _shifted(words: Words, shift: int, mask: int) -> Words:
    moved = words >> np.uint64(shift) if shift >= 0 else words << np.uint64(-shift)
    return moved & np.uint64(mask)


def lane_table(bitmaps: Pixels, width_px: int, pitch_px: int, scale: int, slices: int = 1) -> Words:
    """Return the lanes of glyphs: uint64 (glyphs * slices + 1, pieces, words), the last one blank.

    Parameters
    ----------
    bitmaps
        uint8 (glyphs, rows, row bytes), a set bit is ink.
    width_px, pitch_px, scale
        Of a glyph, and from one to the next, before ``scale``.
    slices
        Cut each glyph, at its pitch and scale, into so many as wide as each other.
    """
    ink = np.unpackbits(bitmaps, axis=2, count=width_px)
    ink = np.pad(ink, ((0, 0), (0, 0), (0, pitch_px - width_px))).repeat(scale, axis=1).repeat(scale, axis=2)
    sliced = np.stack(np.split(ink, slices, axis=2), axis=1)
    ink = np.pad(sliced.reshape(-1, *sliced.shape[2:]), ((0, 1), (0, 0), (0, 0)))
    glyphs, rows, columns = ink.shape
    pieces, words = -(-columns // 8), -(-rows // 8)
    paper = np.ones((glyphs, words * 8, columns), np.uint8)
    paper[:, :rows] -= ink
    packed = np.packbits(paper, axis=2)
    lanes: Words = packed.reshape(glyphs, words, 8, pieces).transpose(0, 3, 1, 2).copy().view("<u8")[..., 0]
    return np.ascontiguousarray(lanes)


def pack_glyphs(glyphs: Cells, lanes: Words, width_px: int, height_px: int, pitch_px: int, page: Pixels) -> None:
    """Write rows of glyphs into the rows of a page at one bit a pixel, filter bytes left alone.

    Parameters
    ----------
    glyphs
        (rows, columns), indices into ``lanes``.
    width_px, height_px, pitch_px
        Of a glyph, and from one row of glyphs to the next, in page px.
    page
        uint8, from the first row of glyphs on, a filter byte before each row.
    """
    (rows, columns), groups = glyphs.shape, -(-glyphs.shape[1] // GROUP)
    padded = np.full((rows, groups * GROUP), len(lanes) - 1, glyphs.dtype)
    padded[:, :columns] = glyphs
    size = -(-columns * width_px // 8)
    body = page[: rows * pitch_px].reshape(rows, pitch_px, -1)[:, :, 1 : 1 + size]
    for word in range(lanes.shape[2]):
        pieces = [np.take(each, padded).reshape(rows, groups, GROUP) for each in lanes[:, :, word].T]
        out = np.zeros((rows, groups, width_px), np.uint64)
        for join in joins(width_px):
            out[:, :, join.word] |= _shifted(pieces[join.piece][:, :, join.glyph], join.shift, join.mask)
        lines = out.view(np.uint8).reshape(rows, groups * width_px, 8)[:, :size].transpose(0, 2, 1)
        first, last = 8 * word, min(8 * word + 8, height_px)
        body[:, first:last] = lines[:, : last - first]


def glyph_lanes(
    page: Pixels, grid: tuple[int, int], width_px: int, height_px: int, shown: tuple[int, int], pitch_px: int
) -> Words:
    """Cut rows of glyphs out of a page at one bit a pixel: uint64 (pieces, words, rows, columns), as in a table.

    Parameters
    ----------
    page
        As in :func:`pack_glyphs`.
    grid
        Rows and columns of glyphs.
    width_px, height_px, shown, pitch_px
        Of a glyph, which of its rows the page shows (first and last + 1), and from one row of glyphs to the next, in
        page px.
    """
    (rows, columns), (top, bottom) = grid, shown
    groups, size = -(-columns // GROUP), -(-columns * width_px // 8)
    body = page[: rows * pitch_px].reshape(rows, pitch_px, -1)[:, : bottom - top, 1 : 1 + size]
    found = np.zeros((-(-width_px // 8), -(-height_px // 8), rows, groups, GROUP), np.uint64)
    for word in range(found.shape[1]):
        first, last = max(8 * word, top), min(8 * word + 8, bottom)
        lines = np.full((rows, groups * width_px, 8), 255, np.uint8)
        if first < last:
            lines[:, :size, first - 8 * word : last - 8 * word] = body[:, first - top : last - top].transpose(0, 2, 1)
        words = lines.view("<u8").reshape(rows, groups, width_px)
        for join in joins(width_px):
            found[join.piece, word, :, :, join.glyph] |= _shifted(words[:, :, join.word], -join.shift, join.back)
    return found.reshape(*found.shape[:3], -1)[..., :columns]


def pixel_table(bitmaps: Pixels, width_px: int, scale: int) -> Pixels:
    """Return the pixel rows of glyphs: uint8 (rows, glyphs, width_px * scale), 0 ink on 255 paper."""
    bits = np.unpackbits(bitmaps, axis=2, count=width_px).transpose(1, 0, 2)
    return np.ascontiguousarray(((1 - bits) * np.uint8(255)).repeat(scale, axis=2))


def draw_glyphs(
    glyphs: Cells, inks: Pixels, pitch_y_px: int, pitch_x_px: int, scale: int, left_px: int, page: Pixels
) -> None:
    """Copy the pixel rows of glyphs into a white page.

    Parameters
    ----------
    glyphs
        (rows, columns), indices into ``inks``.
    inks
        As :func:`pixel_table` gives them.
    pitch_y_px, pitch_x_px
        From one glyph to the next, in page px.
    left_px
        Paper left of the first glyph.
    page
        uint8 (height, width), from the first row of glyphs on.
    """
    rows, columns = glyphs.shape
    body = page[: rows * pitch_y_px].reshape(rows, pitch_y_px, -1)[:, :, left_px : left_px + columns * pitch_x_px]
    row_of_a_glyph = np.dtype((np.void, inks.shape[2]))
    for y, line in enumerate(inks.view(row_of_a_glyph)[..., 0]):
        shown = line[glyphs]
        for each in range(y * scale, (y + 1) * scale):
            places = body[:, each].reshape(rows, columns, pitch_x_px)[:, :, : inks.shape[2]]
            places.view(row_of_a_glyph)[..., 0] = shown


def pack_pixels(pixels: Pixels) -> Pixels:
    """Return a page at one bit a pixel: uint8 (height, 1 + ceil(width / 8)), filter bytes 0."""
    rows = np.zeros((pixels.shape[0], 1 + -(-pixels.shape[1] // 8)), np.uint8)
    rows[:, 1:] = np.packbits(pixels, axis=1)
    rows[:, -1] |= spare_bits(pixels.shape[1])
    return rows


def spare_bits(width_px: int) -> int:
    """Return the bits of a row's last byte that are no pixels: they are paper."""
    return (1 << -width_px % 8) - 1
