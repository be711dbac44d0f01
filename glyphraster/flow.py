"""The ``flow`` layout: cells run on from row to row, no row end is wasted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.cells import Cells, cell_tables, close_run, encode_cells, second_halves
from glyphraster.font import BitmapFont
from glyphraster.stream import TextStream


def next_page(source: TextStream, font: BitmapFont, grid: tuple[int, int], likely_chars: int) -> tuple[str, Cells]:
    """Take the longest piece that fits ``grid`` (rows, columns), and return it with its cells in rows."""
    (rows, columns), count = grid, likely_chars
    while True:
        piece, last = source.peek(count)
        cells, ends = encode_cells(piece, font)
        breaks = _row_breaks(cells, font, rows, columns)
        fitting = int(np.searchsorted(ends, breaks[-1], "right"))
        if last or fitting < len(piece):
            break
        count *= 2
    piece = piece[:fitting]
    source.skip(fitting)
    cells = close_run(cells[: ends[fitting - 1] if fitting else 0], piece, font)
    return piece, _in_rows(cells, breaks, font, columns)


def unrolled(glyphs: Cells) -> Cells:
    """Return the cells of a page in reading order."""
    return glyphs.reshape(-1)


def _row_breaks(cells: Cells, font: BitmapFont, rows: int, columns: int) -> npt.NDArray[Any]:
    """Return where each row starts and the last one ends: a two-cell glyph never straddles a row."""
    if cell_tables(font).wide is None:
        return np.arange(rows + 1) * columns
    halves = second_halves(cells, font)
    breaks = [0]
    for _ in range(rows):
        end = breaks[-1] + columns
        breaks.append(end - 1 if end < len(cells) and halves[end] else end)
    return np.array(breaks)


def _in_rows(cells: Cells, breaks: npt.NDArray[Any], font: BitmapFont, columns: int) -> Cells:
    tables = cell_tables(font)
    used = int(np.searchsorted(breaks, len(cells), "left"))
    grid = np.full((used, columns), tables.blank, np.uint16)
    if tables.wide is None:
        grid.reshape(-1)[: len(cells)] = cells
        return grid
    for row in range(used):
        piece = cells[breaks[row] : breaks[row + 1]]
        grid[row, : len(piece)] = piece
        if breaks[row + 1] - breaks[row] < columns:
            grid[row, -1] = tables.pad
    return grid
