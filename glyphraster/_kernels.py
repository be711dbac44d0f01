"""The numba kernels: same results as :mod:`glyphraster._lanes`, which says what lanes are.

Each width of glyphs has kernels of its own, so that their loops over pieces unroll. Nothing compiles at import;
:mod:`glyphraster._kernel_cache`, which alone imports numba as well, keeps what is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from glyphraster._kernel_cache import kernel
from glyphraster._lanes import EACH_BYTE, GROUP, SLACK_ROWS, Cells, Pixels, Words

_AT_ONCE = 8
"""Cells that are written before it is known how many of them are right: what is too much is written over."""
_LOWEST_BIT = np.array([max(0, (bits & -bits).bit_length() - 1) for bits in range(1 << _AT_ONCE)])
"""The place of the lowest bit of each number."""

_U64 = np.uint64
_ALL = _U64(0xFFFFFFFFFFFFFFFF)
_BYTES, _PAIRS, _QUADS = _U64(0x00FF00FF00FF00FF), _U64(0x0000FFFF0000FFFF), _U64(0x00000000FFFFFFFF)


@njit(inline="always")
def _swapped(low: Any, high: Any, bits: Any, mask: Any) -> Any:  # noqa: ANN401  (numba infers)
    """Exchange the parts of two words that a transpose of a matrix of bytes exchanges."""
    part = ((low >> bits) ^ high) & mask
    return low ^ (part << bits), high ^ part


def _as_compiled(glyphs: Cells) -> Cells:
    """Return cells in rows and read-only, whether a plan holds them or not: a kernel is compiled once, not for each."""
    shown = np.ascontiguousarray(glyphs).view()
    shown.setflags(write=False)
    return shown


@functools.cache
def pack_kernel(width_px: int) -> Callable[..., None]:  # noqa: C901  (one nest of loops)
    """Return the kernel of :func:`pack_glyphs` for one width.

    93 us for 93,000 cells of 5x8 px, all in registers from lanes to rows of 8 bytes; 430 us in numpy.
    """
    pieces = -(-width_px // 8)

    @kernel(f"pack-{width_px}")
    def pack(glyphs, lanes, pitch_px, columns, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        groups, blank = (glyphs.shape[1] + GROUP - 1) // GROUP, lanes.shape[0] - 1
        blocks = (glyphs.shape[1] * width_px + 63) // 64
        for row in range(glyphs.shape[0]):
            for word in range(lanes.shape[2]):
                for group in range(groups):
                    for place in range(width_px):
                        joined = _U64(0)
                        for glyph in range(GROUP):
                            for piece in range(pieces):
                                shift = width_px * glyph + 8 * piece - 8 * place
                                if -min(8, width_px - 8 * piece) < shift < 8:
                                    column = group * GROUP + glyph
                                    shown = glyphs[row, column] if column < glyphs.shape[1] else blank
                                    lane = lanes[shown, piece, word]
                                    if shift >= 0:
                                        joined |= (lane >> _U64(shift)) & _U64(EACH_BYTE * (0xFF >> shift))
                                    else:
                                        joined |= (lane << _U64(-shift)) & _U64(EACH_BYTE * (0xFF << -shift & 0xFF))
                        columns[group * width_px + place] = joined
                top = row * pitch_px + 8 * word
                for block in range(blocks - 1, -1, -1):
                    at = 8 * block
                    a0, a1 = _swapped(columns[at], columns[at + 1], _U64(8), _BYTES)
                    a2, a3 = _swapped(columns[at + 2], columns[at + 3], _U64(8), _BYTES)
                    a4, a5 = _swapped(columns[at + 4], columns[at + 5], _U64(8), _BYTES)
                    a6, a7 = _swapped(columns[at + 6], columns[at + 7], _U64(8), _BYTES)
                    a0, a2 = _swapped(a0, a2, _U64(16), _PAIRS)
                    a1, a3 = _swapped(a1, a3, _U64(16), _PAIRS)
                    a4, a6 = _swapped(a4, a6, _U64(16), _PAIRS)
                    a5, a7 = _swapped(a5, a7, _U64(16), _PAIRS)
                    a0, a4 = _swapped(a0, a4, _U64(32), _QUADS)
                    a1, a5 = _swapped(a1, a5, _U64(32), _QUADS)
                    a2, a6 = _swapped(a2, a6, _U64(32), _QUADS)
                    a3, a7 = _swapped(a3, a7, _U64(32), _QUADS)
                    page[top, block], page[top + 1, block] = a0, a1
                    page[top + 2, block], page[top + 3, block] = a2, a3
                    page[top + 4, block], page[top + 5, block] = a4, a5
                    page[top + 6, block], page[top + 7, block] = a6, a7

    return pack


def pack_glyphs(
    glyphs: Cells,
    lanes: Words,
    width_px: int,
    height_px: int,  # noqa: ARG001  (of the twin)
    pitch_px: int,
    page: Pixels,
) -> None:
    """Do what its numpy twin does, faster.

    ``page`` needs :data:`SLACK_ROWS` more rows than shall be drawn: whole blocks of 8 rows and 64 px are stored from
    top to bottom, what is too much is blank or drawn over later, and filter bytes are drawn over.
    """
    height, stride = page.shape
    blocks = -(-(stride - 1) // 8)
    words = np.ndarray((height - SLACK_ROWS // 2, blocks), "<u8", buffer=page.data, offset=1, strides=(stride, 8))
    columns = np.full(-(-glyphs.shape[1] // GROUP) * width_px + 8, _ALL)
    pack_kernel(width_px)(_as_compiled(glyphs), lanes, pitch_px, columns, words)


@functools.cache
def draw_kernel(pieces: int, scale: int) -> Callable[..., None]:
    """Return the kernel of :func:`draw_glyphs` for glyphs of so many pieces."""

    @kernel(f"draw-{pieces}-{scale}")
    def draw(glyphs, inks, pitch_y_px, pitch_x_px, left_px, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        for row in range(glyphs.shape[0]):
            for line in range(inks.shape[0]):
                for repeat in range(scale):
                    y = row * pitch_y_px + line * scale + repeat
                    for column in range(glyphs.shape[1]):
                        shown, x = glyphs[row, column], left_px + column * pitch_x_px
                        for piece in range(pieces):
                            page[y, x + 8 * piece] = inks[line, shown, piece]

    return draw


def draw_glyphs(
    glyphs: Cells, inks: Pixels, pitch_y_px: int, pitch_x_px: int, scale: int, left_px: int, page: Pixels
) -> None:
    """Do what its numpy twin does, faster; ``page`` needs :data:`SLACK_ROWS` more rows than shall be drawn.

    8 pixels are stored at once, and what is too much is paper, or drawn over by what comes next.
    """
    height, width = page.shape
    pieces = -(-inks.shape[2] // 8)
    padded = np.full((*inks.shape[:2], pieces * 8), 255, np.uint8)
    padded[..., : inks.shape[2]] = inks
    words = np.ndarray((height - SLACK_ROWS // 2, width), "<u8", buffer=page.data, strides=(width, 1))
    draw_kernel(pieces, scale)(_as_compiled(glyphs), padded.view("<u8"), pitch_y_px, pitch_x_px, left_px, words)


# The parts of the flow kernel. Each writes what it can from character ``at`` and cell ``used`` on, and returns how far
# that goes. Places are unsigned where it counts: numba looks at signed ones from the end when they are negative, and
# takes three times as long.


@njit(inline="always")
def _plain(codes, plain_of, missing, at, used, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write characters of one cell each, as long as there is text and room for :data:`_AT_ONCE`."""
    while at + _AT_ONCE < codes.shape[0] and used + _AT_ONCE <= page.shape[0]:
        others = 0
        for place in range(_AT_ONCE):
            code = codes[_U64(at) + _U64(place)]
            cell = plain_of[code]
            page[_U64(used) + _U64(place)] = cell
            blanks = (code ^ 0x20) | (codes[_U64(at) + _U64(place + 1)] ^ 0x20) == 0
            others |= blanks | (cell == missing)
        if others:  # a branch that is guessed right in most texts, so that the next cells need not wait for these
            others = 0
            for place in range(_AT_ONCE):
                code = codes[_U64(at) + _U64(place)]
                blanks = (code ^ 0x20) | (codes[_U64(at) + _U64(place + 1)] ^ 0x20) == 0
                others |= (blanks | (plain_of[code] == missing)) << place
            return at + _LOWEST_BIT[others], used + _LOWEST_BIT[others]
        at, used = at + _AT_ONCE, used + _AT_ONCE
    return at, used


@njit(inline="always")
def _run(codes, at):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return how many spaces there are from ``at`` on."""
    start, length = at, codes.shape[0]
    while at + _AT_ONCE <= length:
        others = 0
        for place in range(_AT_ONCE):
            others |= (codes[_U64(at) + _U64(place)] != 0x20) << place
        if others:
            return at + _LOWEST_BIT[others] - start
        at += _AT_ONCE
    while at < length and codes[at] == 0x20:
        at += 1
    return at - start


@njit(inline="always")
def _spaces(codes, blank, counts, counted_from, at, used, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write a run of spaces: as many as fit, or its length in count marks."""
    run, room = _run(codes, at), page.shape[0] - used
    if run < counted_from:
        fitting = min(run, room)
        page[used : used + fitting] = blank
        return at + fitting, used + fitting, fitting > 0
    if run < 100 and room >= 2:  # nearly all: no branch on the number of digits
        page[used] = counts[run // 10]
        used += run >= 10
        page[used] = counts[run % 10]
        return at + run, used + 1, True
    digits, left = 1, run
    while left >= 10:
        digits, left = digits + 1, left // 10
    if digits > room:
        return at, used, False
    left = run
    for place in range(used + digits - 1, used - 1, -1):
        page[place], left = counts[left % 10], left // 10
    return at + run, used + digits, True


@njit(inline="always")
def _escapes(codes, bodies, marks, at, used, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write escapes as long as their bodies are known."""
    body_at, body_cells = bodies
    while at < codes.shape[0] and body_at[codes[at]]:
        start = body_at[codes[at]]
        size = body_cells[start - 1]
        end = used + size + 2
        if end > page.shape[0]:
            return at, used, False
        page[used] = marks[2]
        copied = 0
        if used + 1 + _AT_ONCE <= page.shape[0]:  # as many for most bodies: a loop whose end need not be guessed
            for place in range(_AT_ONCE):
                page[_U64(used + 1) + _U64(place)] = body_cells[_U64(start) + _U64(place)]
            copied = _AT_ONCE
        for place in range(copied, size):
            page[used + 1 + place] = body_cells[start + place]
        page[end - 1] = marks[3]
        at, used = at + 1, end
    return at, used, True


@njit(inline="always")
def _widely(cell, span, pad, columns, used, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write a glyph of ``span`` cells, behind pads where it would straddle a row."""
    row_left = columns - used % columns
    start = used + (row_left if span > row_left else 0)
    if start + span > page.shape[0]:
        return used, False
    page[used:start] = pad
    for part in range(span):
        page[start + part] = cell + part
    return start + span, True


@functools.cache
def flow_kernel() -> Callable[..., tuple[int, int, bool]]:
    """Return the kernel of :class:`glyphraster.flow.PageWriter`.

    0.07 ms for a page of 61,000 cells of source code; :func:`glyphraster.cells.encode_cells` takes 0.45 ms.
    """

    @kernel("flow")
    def flow(  # type: ignore[no-untyped-def]  # noqa: ANN202
        codes, tables, missing, bodies, marks, counts, counted_from, columns, at, used, page  # noqa: ANN001
    ):
        """Write cells from ``used`` on until text or page end; return both places, and if an escape is not known."""
        cell_of, plain_of, spans = tables
        length, fits, known = codes.shape[0], True, True
        while at < length and fits and known:
            at, used = _plain(codes, plain_of, missing, at, used, page)
            code, following = codes[at], codes[min(at + 1, length - 1)]
            cell = cell_of[code]
            if (code ^ 0x20) | (following ^ 0x20) == 0:
                at, used, fits = _spaces(codes, cell, counts, counted_from, at, used, page)
            elif cell == missing:
                known = bodies[0][code] != 0
                at, used, fits = _escapes(codes, bodies, marks, at, used, page)
            else:
                used, fits = _widely(cell, spans[code] if spans.shape[0] else 1, marks[1], columns, used, page)
                at += fits
        page[used : used + _AT_ONCE] = marks[0]
        return at, used, not known

    return flow
