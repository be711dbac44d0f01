"""The ``flow`` layout: cells run on from row to row, no row end is wasted."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.cells import COUNTED_RUN_CHARS, close_run, encode_cells
from glyphraster.celltables import Cells, cell_tables, escape_bodies
from glyphraster.chain import FontChain
from glyphraster.font import BitmapFont
from glyphraster.rows import Room, placed_bands
from glyphraster.stream import TextStream


def next_page(
    source: TextStream, font: BitmapFont, room: Room, likely_chars: int, *, compiled: bool = False
) -> tuple[str, Cells]:
    """Take the longest piece that there is room for, and return it with its cells in rows.

    Parameters
    ----------
    compiled
        Let a kernel do it, for fonts with rows of one height; the same result.
    """
    if compiled and not isinstance(font, FontChain):
        return _written_page(source, font, room, likely_chars)
    count = likely_chars
    while True:
        piece, last = source.peek(count)
        cells, ends = encode_cells(piece, font)
        breaks = _fitting(_row_breaks(cells, font, room.rows(font.line_height_px), room.columns), cells, font, room)
        fitting = int(np.searchsorted(ends, breaks[-1], "right"))
        if last or fitting < len(piece):
            break
        count *= 2
    piece = piece[:fitting]
    source.skip(fitting)
    cells = close_run(cells[: ends[fitting - 1] if fitting else 0], piece, font)
    return piece, _in_rows(cells, breaks, font, room.columns)


def set_again(piece: str, font: BitmapFont, grid: tuple[int, int]) -> Cells:
    """Return the cells of a page that holds ``piece`` in rows, as many as there are on ``grid`` (rows, columns)."""
    cells = close_run(encode_cells(piece, font)[0], piece, font)
    return _in_rows(cells, _row_breaks(cells, font, *grid), font, grid[1])


def unrolled(glyphs: Cells) -> Cells:
    """Return the cells of a page in reading order."""
    return glyphs.reshape(-1)


def _written_page(source: TextStream, font: BitmapFont, room: Room, likely_chars: int) -> tuple[str, Cells]:
    writer, count = page_writer(font), likely_chars
    page = np.full(room.rows(font.line_height_px) * room.columns, writer.blank, writer.dtype)
    at = used = 0
    while True:
        piece, last = source.peek(count)
        at, used = writer.write(piece, room.columns, at, used, page)
        if last or at < len(piece):
            break
        count *= 2
    piece = piece[:at]
    source.skip(at)
    cells = close_run(page[:used], piece, font)
    page[: len(cells)], page[len(cells) : used] = cells, writer.blank
    rows = -(-len(cells) // room.columns)
    return piece, page.reshape(-1, room.columns)[:rows]


class PageWriter:
    """Write text into the cells of a page with the kernel."""

    def __init__(self, font: BitmapFont) -> None:
        from glyphraster._kernels import flow_kernel

        tables = cell_tables(font)
        self._tables, self._kernel = tables, flow_kernel()
        self.blank, self.dtype = tables.blank, tables.cell_of.dtype
        self._bodies = escape_bodies(font)
        self._of_codes = tables.cell_of, tables.cell_of, np.zeros(0, np.uint8)
        if tables.spans is not None:
            plain_of = np.where(tables.spans > 1, self.dtype.type(tables.missing), tables.cell_of)
            self._of_codes = tables.cell_of, plain_of, tables.spans
        self._marks = np.array([tables.blank, tables.pad, tables.open, tables.close], self.dtype)

    def write(self, text: str, columns: int, at: int, used: int, page: Cells) -> tuple[int, int]:
        """Write from character ``at`` and cell ``used`` on; return where text and cells end."""
        codes, tables = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4"), self._tables
        while True:
            at, used, wanted = self._kernel(
                codes, self._of_codes, tables.missing, (self._bodies.at, self._bodies.cells), self._marks,
                tables.counts, COUNTED_RUN_CHARS, columns, at, used, page,
            )
            if not wanted:
                return at, used
            self._bodies.learn(int(codes[at]))


@functools.lru_cache(maxsize=16)
def page_writer(font: BitmapFont) -> PageWriter:
    """Return the writer of a font."""
    return PageWriter(font)


def _row_breaks(cells: Cells, font: BitmapFont, rows: int, columns: int) -> npt.NDArray[Any]:
    """Return where each row starts and the last one ends: a wide glyph never straddles a row."""
    part_of = cell_tables(font).part_of
    if part_of is None:
        return np.arange(rows + 1) * columns
    breaks = [0]
    for _ in range(rows):
        end = breaks[-1] + columns
        breaks.append(end - int(part_of[cells[end]]) if end < len(cells) else end)
    return np.array(breaks)


def _fitting(breaks: npt.NDArray[Any], cells: Cells, font: BitmapFont, room: Room) -> npt.NDArray[Any]:
    """Return the breaks of the rows that fit, some of which may be taller than plain text."""
    if not isinstance(font, FontChain):
        return breaks
    on_page = cells[: breaks[-1]]
    bands = placed_bands(on_page, np.searchsorted(breaks, np.arange(len(on_page)), "right") - 1, font)
    return breaks[: room.rows_of(bands, font.line_height_px) + 1]


def _in_rows(cells: Cells, breaks: npt.NDArray[Any], font: BitmapFont, columns: int) -> Cells:
    tables = cell_tables(font)
    used = int(np.searchsorted(breaks, len(cells), "left"))
    grid = np.full((used, columns), tables.blank, cells.dtype)
    if tables.part_of is None:
        grid.reshape(-1)[: len(cells)] = cells
        return grid
    for row in range(used):
        piece = cells[breaks[row] : breaks[row + 1]]
        grid[row, : len(piece)] = piece
        if row + 1 < used:
            grid[row, breaks[row + 1] - breaks[row] :] = tables.pad
    return grid
