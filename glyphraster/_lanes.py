"""The numpy kernels: always there, same results as :mod:`glyphraster._kernels`.

A glyph is cut into pieces of up to 8 px. A piece is a column of *lanes*: byte ``k`` of a uint64 is its pixel
row ``k``, the high bit leftmost, a set bit paper; bits right of the piece are 0. Rows beyond the eighth are in further
words. The pieces of eight neighbours shift and join into as many words as a glyph has pixels, and byte ``k`` of those
is pixel row ``k`` of the page at one bit a pixel. That is some 25 operations for 64 rows of glyphs of 5 px.

Pages at one bit a pixel are rows of a filter byte, 0, and the bits, high bit leftmost, 1 is paper: what PNG deflates.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Cells = npt.NDArray[np.unsignedinteger[Any]]

GROUP = 8
"""Glyphs that end on a whole byte together, whatever their width."""
EACH_BYTE = 0x0101010101010101
ALL = EACH_BYTE * 0xFF


class Join(NamedTuple):
    """How a piece of one of eight neighbours comes into one of their words.

    ``shift`` is to the right, to the left when negative; ``mask`` is what is kept then, :data:`ALL` where no bit comes
    from another row. The way back is the opposite shift and ``back``.
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
            mask = 0xFF if 0 <= shift <= 8 - piece_px else 0xFF >> shift if shift > 0 else 0xFF << -shift & 0xFF
            back = (0xFF << 8 - piece_px) & (0xFF << shift if shift >= 0 else 0xFF >> -shift) & 0xFF
            found.append(Join(word, glyph, piece, shift, EACH_BYTE * mask, EACH_BYTE * back))
    return tuple(found)


def _shifted(words: Words, shift: int, mask: int) -> Words:
    moved = words >> np.uint64(shift) if shift >= 0 else words << np.uint64(-shift)
    return moved if mask == ALL else moved & np.uint64(mask)


def slack_rows(row_bytes: int) -> int:
    """Return how many rows a page needs below those that are drawn: kernels store 8 rows of up to 64 bytes at once."""
    return 7 + -(-64 // row_bytes)


def lane_table(bitmaps: Pixels, width_px: int, pitch_px: int, scale: int, piece_px: int = 8) -> Words:
    """Return the lanes of glyphs: uint64 (glyphs + 1, pieces, words), the last one blank.

    Parameters
    ----------
    bitmaps
        uint8 (glyphs, rows, row bytes), a set bit is ink.
    width_px, pitch_px, scale
        Of a glyph, and from one to the next, before ``scale``.
    piece_px
        Width of the pieces, of which the last is what is left.
    """
    ink = np.pad(_ink(bitmaps, width_px, pitch_px, scale), ((0, 1), (0, 0), (0, 0)))
    glyphs, rows, columns = ink.shape
    pieces, words = -(-columns // piece_px), -(-rows // 8)
    paper = np.zeros((glyphs, words * 8, pieces * piece_px), np.uint8)
    paper[..., :columns] = 1
    paper[:, :rows, :columns] -= ink
    packed = np.packbits(paper.reshape(glyphs, words, 8, pieces, piece_px), axis=4)
    lanes: Words = packed.transpose(0, 3, 1, 4, 2).copy().view("<u8")[..., 0, 0]
    return np.ascontiguousarray(lanes)


def _ink(bitmaps: Pixels, width_px: int, pitch_px: int, scale: int) -> Pixels:
    """Return the pixels of glyphs at a pitch and a scale: uint8 (glyphs, rows, columns), 1 is ink."""
    ink = np.unpackbits(bitmaps, axis=2, count=width_px)
    return np.pad(ink, ((0, 0), (0, 0), (0, pitch_px - width_px))).repeat(scale, axis=1).repeat(scale, axis=2)


pack_table = lane_table
"""What :func:`pack_glyphs` draws from."""


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
    neighbours = padded.reshape(rows, groups, GROUP).transpose(2, 0, 1)
    size = -(-columns * width_px // 8)
    body = page[: rows * pitch_px].reshape(rows, pitch_px, -1)[:, :, 1 : 1 + size]
    for word in range(lanes.shape[2]):
        pieces = [np.take(each, neighbours) for each in lanes[:, :, word].T]
        out = np.empty((rows, groups, width_px), np.uint64)
        for place, joined in itertools.groupby(joins(width_px), key=operator.attrgetter("word")):
            moved = (_shifted(pieces[join.piece][join.glyph], join.shift, join.mask) for join in joined)
            out[:, :, place] = functools.reduce(np.bitwise_or, moved)
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


def pixel_table(bitmaps: Pixels, width_px: int, pitch_px: int, scale: int) -> Pixels:
    """Return the pixel rows of glyphs: uint8 (rows, glyphs, columns), 0 ink on 255 paper."""
    paper: Pixels = (1 - _ink(bitmaps, width_px, pitch_px, scale)) * np.uint8(255)
    return np.ascontiguousarray(paper.transpose(1, 0, 2))


draw_table = pixel_table
"""What :func:`draw_glyphs` draws from."""


def draw_glyphs(glyphs: Cells, inks: Pixels, width_px: int, pitch_px: int, left_px: int, page: Pixels) -> None:
    """Copy the pixel rows of glyphs into a page, with paper to their right.

    Parameters
    ----------
    glyphs
        (rows, columns), indices into ``inks``.
    inks
        As :func:`pixel_table` gives them.
    width_px, pitch_px
        Of a glyph, and from one row of glyphs to the next, in page px.
    left_px
        What is left of the first glyph.
    page
        uint8 (height, width), from the first row of glyphs on.
    """
    rows, columns = glyphs.shape
    body = page[: rows * pitch_px].reshape(rows, pitch_px, -1)[:, :, left_px : left_px + columns * width_px]
    row_of_a_glyph = np.dtype((np.void, width_px))
    page[: rows * pitch_px, left_px + columns * width_px :] = 255
    for y, line in enumerate(inks.view(row_of_a_glyph)[..., 0]):
        places = body[:, y].reshape(rows, columns, width_px).view(row_of_a_glyph)
        places[..., 0] = line[glyphs]


def with_margin(rows: Pixels, margin_px: int, width_px: int) -> Pixels:
    """Return a page at one bit a pixel with paper on every side of what ``rows``, such a page, show.

    Parameters
    ----------
    width_px
        Of the page with its margins.
    """
    page = np.full((len(rows) + 2 * margin_px, 1 + -(-width_px // 8)), 255, np.uint8)
    page[:, 0] = 0
    skipped, shift = divmod(margin_px, 8)
    inside, size, ink = page[margin_px : margin_px + len(rows), 1 + skipped :], rows.shape[1] - 1, ~rows
    inside[:, :size] = (~(ink >> shift))[:, 1:]
    over = inside[:, 1 : size + 1]  # what the shift moves into the next byte; behind the last one, if there is a byte
    carried = ink * np.uint8((256 >> shift) & 0xFF)  # 5 us a page; a shift to the left takes 74
    over &= ~carried[:, 1 : 1 + over.shape[1]]
    return page


def pack_pixels(pixels: Pixels) -> Pixels:
    """Return a page at one bit a pixel: uint8 (height, 1 + ceil(width / 8)), filter bytes 0."""
    rows = np.zeros((pixels.shape[0], 1 + -(-pixels.shape[1] // 8)), np.uint8)
    rows[:, 1:] = np.packbits(pixels, axis=1)
    rows[:, -1] |= spare_bits(pixels.shape[1])
    return rows


def spare_bits(width_px: int) -> int:
    """Return the bits of a row's last byte that are no pixels: they are paper."""
    return (1 << -width_px % 8) - 1
