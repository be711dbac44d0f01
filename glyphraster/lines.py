"""The ``lines`` layout and its newspaper ``columns``: each line of the source starts a row.

A wrapped row starts with a continuation mark, and so does a page that starts in the middle of a line. A row that is
followed by a wrapped one is full; every other row ends with its last inked cell, which is why spaces before a line end
are a count. The newline that ends a page is a mark, since no row follows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glyphraster.cells import TAB_STOP_CELLS, Cells, cell_tables, close_run, encode_cells, second_halves
from glyphraster.font import BitmapFont
from glyphraster.stream import TextStream

GUTTER_CELLS = 2
"""Blank cells between newspaper columns."""

NARROWEST_COLUMN_CELLS = 40
MOST_COLUMNS = 8

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Places:
    """Where each cell goes in one long column.

    Attributes
    ----------
    rows, columns
        Of each cell; of a newline, where its mark would stand if it ended the page.
    wraps
        How many rows of its line stand above each cell.
    needed
        The row that must be on the page for the cell to be: a newline needs no row of its own.
    """

    rows: Indices
    columns: Indices
    wraps: Indices
    needed: Indices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """How much of a piece fits into so many newspaper columns."""

    columns: int
    width: int
    chars: int
    places: _Places


def next_page(
    source: TextStream, font: BitmapFont, grid: tuple[int, int], likely_chars: int, *, mid_line: bool, columns: bool
) -> tuple[str, Cells, int]:
    """Take the longest piece that fits ``grid`` (rows, columns).

    Returns
    -------
    piece : str
    glyphs : uint16 (rows used, columns)
    columns : int
        Newspaper columns: with ``columns`` the number that holds the most text, else 1.
    """
    count = likely_chars
    while True:
        piece, last = source.peek(count, beyond=1)
        cells, ends = encode_cells(piece, font, aligned=True)
        fits = [_fit(cells, ends, piece, font, grid, each, mid_line) for each in _counts(grid[1], columns)]
        if last or all(fit.chars < len(piece) for fit in fits):
            break
        count *= 2
    best = max(fits, key=lambda fit: (fit.chars, -fit.columns))
    source.skip(best.chars)
    piece = piece[: best.chars]
    cells = close_run(cells[: ends[best.chars - 1] if best.chars else 0], piece, font)
    return piece, _folded(_drawn(cells, best, font, mid_line), best, grid, font), best.columns


def unrolled(glyphs: Cells, font: BitmapFont, columns: int) -> Cells:
    """Return the cells of a page in reading order, newlines put back and padding behind tabs left out."""
    tables = cell_tables(font)
    rows = _without_blank_end(_unfolded(glyphs, columns), tables.blank)
    if not len(rows):
        return rows.reshape(-1)
    wrapped = rows[:, 0] == tables.continuation
    runs_on = np.append(wrapped[1:], False)
    inked = rows != tables.blank
    lengths = np.where(inked.any(axis=1), rows.shape[1] - inked[:, ::-1].argmax(axis=1), 0)
    lengths = np.where(runs_on, rows.shape[1], lengths)
    places = np.arange(rows.shape[1])
    kept = (places < lengths[:, None]) & ~(wrapped[:, None] & (places == 0)) & (rows != tables.pad)
    line_ends = ~runs_on
    line_ends[-1] = False
    ended = np.column_stack([rows, np.full(len(rows), tables.newline, np.uint16)])
    return _without_tab_padding(ended[np.column_stack([kept, line_ends])], font)


def _counts(width: int, columns: bool) -> range:
    if not columns:
        return range(1, 2)
    most = (width + GUTTER_CELLS) // (NARROWEST_COLUMN_CELLS + GUTTER_CELLS)
    return range(1, max(1, min(MOST_COLUMNS, most)) + 1)


def _width(columns: int, total: int) -> int:
    return (total - (columns - 1) * GUTTER_CELLS) // columns


def _fit(
    cells: Cells, ends: Indices, piece: str, font: BitmapFont, grid: tuple[int, int], columns: int, mid_line: bool
) -> _Fit:
    """Place all cells in one long column and cut where the page ends, but not inside a run of spaces.

    Such a run would be a count if the text ended with it, so where it is cut would hang on what follows it.
    """
    height, width = grid[0] * columns, _width(columns, grid[1])
    places = _placed(cells, font, width, int(mid_line))
    cut = int(np.searchsorted(places.needed, height))
    chars = int(np.searchsorted(ends, cut, "right"))
    if piece[chars - 1 : chars + 1] == "  ":
        chars = len(piece[:chars].rstrip(" ")) or chars
    while chars and piece[chars - 1] == "\n" and places.rows[ends[chars - 1] - 1] >= height:
        chars -= 1
    return _Fit(columns=columns, width=width, chars=chars, places=places)


def _placed(cells: Cells, font: BitmapFont, width: int, lead: int) -> _Places:
    newline = cells == cell_tables(font).newline
    line = np.cumsum(newline) - newline
    starts = np.append(0, np.flatnonzero(newline) + 1)
    within = np.arange(len(cells)) - starts[line] + np.where(line == 0, lead, 0)
    halves = second_halves(cells, font)
    if halves.any():
        within += _pads_before(within, line, halves, width)
    wraps, columns = _wrapped(within, width)
    last = np.zeros(len(starts), np.int64)
    np.maximum.at(last, line[~newline], wraps[~newline])
    first = np.append(0, np.cumsum(last + 1)[:-1])
    needed = first[line] + np.where(newline, last[line], wraps)
    return _Places(rows=first[line] + wraps, columns=columns, wraps=wraps, needed=needed)


def _wrapped(within: Indices, width: int) -> tuple[Indices, Indices]:
    """Return row and column inside a line: the first row holds ``width`` cells, later ones one less and the mark."""
    over = np.maximum(within - width, 0)
    later = within >= width
    return np.where(later, 1 + over // (width - 1), 0), np.where(later, 1 + over % (width - 1), within)


def _pads_before(within: Indices, line: Indices, halves: npt.NDArray[np.bool_], width: int) -> Indices:
    """Return how many pads stand before each cell of its line, so that no two-cell glyph straddles a row."""
    pads = np.zeros(len(within), np.int64)
    current, so_far = -1, 0
    for right in np.flatnonzero(halves):
        if line[right] != current:
            current, so_far = int(line[right]), 0
        _, column = _wrapped(within[right : right + 1] + so_far, width)
        row_start = within[right] + so_far == width or (within[right] + so_far > width and column[0] == 1)
        if row_start:
            so_far += 1
            pads[right - 1 : np.searchsorted(line, current, "right")] = so_far
    return pads


def _drawn(cells: Cells, fit: _Fit, font: BitmapFont, mid_line: bool) -> Cells:
    """Return one long column of rows with the cells and the marks in it."""
    tables, count = cell_tables(font), len(cells)
    inked = cells != tables.newline
    inked[-1:] = True
    rows, columns, wraps = (each[:count][inked] for each in (fit.places.rows, fit.places.columns, fit.places.wraps))
    grid = np.full((int(rows.max(initial=-1)) + 1, fit.width), tables.blank, np.uint16)
    filled = np.zeros(grid.shape, np.bool_)
    grid[rows, columns], filled[rows, columns] = cells[inked], True
    wrapped = np.unique(rows[wraps > 0])
    grid[wrapped, 0] = tables.continuation
    padded = wrapped[~filled[wrapped - 1, -1]] - 1
    grid[padded, -1] = tables.pad
    if mid_line and count:
        grid[0, 0] = tables.continuation
    return grid


def _folded(rows: Cells, fit: _Fit, grid: tuple[int, int], font: BitmapFont) -> Cells:
    """Fold one long column into newspaper columns side by side, all as high as the first."""
    if fit.columns == 1:
        return rows
    height = -(-len(rows) // fit.columns)
    page = np.full((height, grid[1]), cell_tables(font).blank, np.uint16)
    for column in range(fit.columns):
        piece = rows[column * height : (column + 1) * height]
        left = column * (fit.width + GUTTER_CELLS)
        page[: len(piece), left : left + fit.width] = piece
    return page


def _unfolded(glyphs: Cells, columns: int) -> Cells:
    width = _width(columns, glyphs.shape[1])
    lefts = [column * (width + GUTTER_CELLS) for column in range(columns)]
    return np.vstack([glyphs[:, left : left + width] for left in lefts])


def _without_blank_end(rows: Cells, blank: int) -> Cells:
    inked = np.flatnonzero((rows != blank).any(axis=1))
    return rows[: int(inked[-1]) + 1] if len(inked) else rows[:0]


def _without_tab_padding(cells: Cells, font: BitmapFont) -> Cells:
    """Leave out the blanks between a tab and its stop, which is counted from the start of the line."""
    tables = cell_tables(font)
    tabs = np.flatnonzero(cells == tables.tab)
    if not len(tabs):
        return cells
    newlines = np.flatnonzero(cells == tables.newline)
    line_starts = np.append(0, newlines + 1)[np.searchsorted(newlines, tabs)]
    line_ends = np.append(newlines, len(cells))[np.searchsorted(newlines, tabs)]
    padding = -(tabs - line_starts + 1) % TAB_STOP_CELLS
    depth = np.zeros(len(cells) + 1, np.int64)
    np.add.at(depth, tabs + 1, 1)
    np.add.at(depth, np.minimum(tabs + 1 + padding, line_ends), -1)
    kept: Cells = cells[np.cumsum(depth[:-1]) == 0]
    return kept
