"""The numba kernels: same results as :mod:`glyphraster._lanes`, which says what lanes are.

Each width of pieces has kernels of its own, so that what shifts them is constant. Nothing compiles at import;
:mod:`glyphraster._kernel_cache` keeps what is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numba import njit

from glyphraster import _lanes
from glyphraster._kernel_cache import kernel
from glyphraster._lanes import EACH_BYTE, GROUP, Cells, Pixels, Words
from glyphraster._vectors import WINDOW_CHARS, Kind, equal_ahead, glyph_store, lowest_bit

_AT_ONCE = 8
"""Cells that are written before it is known how many of them are right: what is too much is written over."""

_U64 = np.uint64


def _as_compiled(glyphs: Cells) -> Cells:
    """Return cells in rows and read-only, whether a plan holds them or not: a kernel is compiled once, not for each."""
    shown = np.ascontiguousarray(glyphs).view()
    shown.setflags(write=False)
    return shown


def piece_px(width_px: int) -> int:
    """Return how wide the pieces are that a glyph is cut into: all the same, and at most 8 px."""
    return next(piece for piece in range(8, 0, -1) if width_px % piece == 0)


def lane_table(bitmaps: Pixels, width_px: int, pitch_px: int, scale: int) -> Words:
    """Return the lanes of glyphs, in pieces of :func:`piece_px`: uint64 (words, pieces, glyphs + 1)."""
    lanes = _lanes.lane_table(bitmaps, width_px, pitch_px, scale, piece_px(pitch_px * scale))
    return np.ascontiguousarray(lanes.transpose())


pack_table = draw_table = lane_table
"""What :func:`pack_glyphs` and :func:`draw_glyphs` draw from."""


@functools.cache
def row_kernel(width_px: int, kind: Kind) -> Callable[..., None]:
    """Return the kernel that draws rows of glyphs of up to 8 px.

    From right to left and top to bottom: what hangs over the end of a row is drawn over at the start of the next.
    A page of 61,000 cells of 5x8 px takes 27 us in bits, in bytes 40; all in groups of eight, 38 and 68.
    """
    tiles, rest = (glyph_store(width_px, kind, groups) for groups in (GROUP, 1))
    step = width_px * (1 if kind == "bits" else 8)

    @kernel(f"{kind}-{width_px}")
    def draw(glyphs, lanes, pitch_px, line, page, stride):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        groups, (words, pieces, _) = line.shape[0] // GROUP, lanes.shape
        tiled = groups // GROUP * GROUP
        for row in range(glyphs.shape[0]):
            for word in range(words):
                for piece in range(pieces):
                    lane = lanes[word, piece]
                    for column in range(glyphs.shape[1]):
                        line[_U64(column * pieces + piece)] = lane[_U64(glyphs[row, column])]
                top = (row * pitch_px + 8 * word) * stride
                for group in range(groups - 1, tiled - 1, -1):
                    rest(line, group * GROUP, page, top + group * step, stride)
                for group in range(tiled - GROUP, -1, -GROUP):
                    tiles(line, group * GROUP, page, top + group * step, stride)

    return draw


def pack_glyphs(
    glyphs: Cells,
    lanes: Words,
    width_px: int,
    height_px: int,  # noqa: ARG001  (of the twin)
    pitch_px: int,
    page: Pixels,
) -> None:
    """Do what its numpy twin does, faster; filter bytes are drawn over, and ``page`` needs slack rows."""
    _draw_rows("bits", glyphs, lanes, width_px, pitch_px, page, 1)


def draw_glyphs(glyphs: Cells, lanes: Words, width_px: int, pitch_px: int, left_px: int, page: Pixels) -> None:
    """Do what its numpy twin does, from a :func:`lane_table`; ``page`` needs slack rows."""
    drawn_px = left_px + _draw_rows("bytes", glyphs, lanes, width_px, pitch_px, page, left_px)
    page[: len(glyphs) * pitch_px, drawn_px:] = 255


def _draw_rows(kind: Kind, glyphs: Cells, lanes: Words, width_px: int, pitch_px: int, page: Pixels, left: int) -> int:
    """Draw from byte ``left`` of each row on; return how many pixels of a row that is."""
    piece = piece_px(width_px)
    groups = -(-int(glyphs.shape[1]) * width_px // (piece * GROUP))
    line = np.full(groups * GROUP, EACH_BYTE * (0xFF << 8 - piece & 0xFF), np.uint64)
    flat = page.reshape(-1)[left:]
    row_kernel(piece, kind)(_as_compiled(glyphs), lanes, pitch_px, line, flat, page.shape[1])
    return groups * GROUP * piece


# The parts of the flow kernel. Each writes what it can from character ``at`` and cell ``used`` on, and returns how far
# that goes. Places are unsigned where it counts: numba looks at signed ones from the end when they are negative, and
# takes three times as long.


@njit(inline="always")
def _plain(codes, plain_of, missing, counts, counted_from, at, used, page):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Write characters of one cell each and counted runs of spaces, as long as there is ample text and room."""
    while at + _AT_ONCE + WINDOW_CHARS <= codes.shape[0] and used + _AT_ONCE + 2 <= page.shape[0]:
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
            at, used = at + lowest_bit(_U64(others)), used + lowest_bit(_U64(others))
            run = lowest_bit(~equal_ahead(codes, at, 0x20))
            if run < counted_from or run == WINDOW_CHARS:
                return at, used
            page[_U64(used)] = counts[_U64(run // 10)]
            used += run >= 10
            page[_U64(used)] = counts[_U64(run % 10)]
            at, used = at + run, used + 1
        else:
            at, used = at + _AT_ONCE, used + _AT_ONCE
    return at, used


@njit(inline="always")
def _run(codes, at):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return how many spaces there are from ``at`` on."""
    start = at
    while at < codes.shape[0] and codes[_U64(at)] == 0x20:
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

    0.046 ms for a page of 61,000 cells of source code; :func:`glyphraster.cells.encode_cells` takes 0.4 ms.
    """

    @kernel("flow")
    def flow(  # type: ignore[no-untyped-def]  # noqa: ANN202
        codes, tables, missing, bodies, marks, counts, counted_from, columns, at, used, page  # noqa: ANN001
    ):
        """Write cells from ``used`` on until text or page end; return both places, and if an escape is not known."""
        cell_of, plain_of, spans = tables
        length, fits, known = codes.shape[0], True, True
        while at < length and fits and known:
            at, used = _plain(codes, plain_of, missing, counts, counted_from, at, used, page)
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
