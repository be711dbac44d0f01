"""The ``lines`` layout and its newspaper ``columns``: each line of the source starts a row.

A wrapped row starts with a continuation mark, and so does a page that starts in the middle of a line. A row that is
followed by a wrapped one is full; every other row ends with its last inked cell and a blank at least, which is why
spaces before a line end are a count, and why a line that just fills its row is wrapped with nothing behind the mark.
The newline that ends a page is a mark, since no row follows it. A rule stands between newspaper columns.

So that bare pixels tell their layout, a page whose rows could all be those of ``flow`` has a pad behind its first row.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glyphraster.cells import COUNTED_RUN_CHARS, TAB_STOP_CELLS, close_run, encode_cells
from glyphraster.celltables import Cells, cell_tables
from glyphraster.chain import FontChain
from glyphraster.font import BitmapFont, Mark
from glyphraster.rows import Room, abreast, placed_bands, row_bands
from glyphraster.stream import TextStream

GUTTER_CELLS = 2
"""A rule and a blank between newspaper columns."""

NARROWEST_COLUMN_CELLS = 40
MOST_COLUMNS = 8

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Places:
    """Where each cell goes in one long column.

    Attributes
    ----------
    rows, columns
        Of each cell; a newline has a place where its mark would stand if it ended the page.
    wraps
        How many rows of its line stand above each cell.
    """

    rows: Indices
    columns: Indices
    wraps: Indices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Encoded:
    """A piece of text, its cells and where each character ends in them, to be set with ``font``."""

    piece: str
    cells: Cells
    ends: Indices
    font: BitmapFont
    mid_line: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """How much of a piece fits into so many newspaper columns."""

    columns: int
    width: int
    chars: int
    places: _Places


def next_page(
    source: TextStream, font: BitmapFont, room: Room, likely_chars: int, *, mid_line: bool, columns: bool
) -> tuple[str, Cells, int]:
    """Take the longest piece that there is room for.

    Returns
    -------
    piece : str
    glyphs : uint16 (rows used, columns)
    columns : int
        Newspaper columns: with ``columns`` the number that holds the most text, else 1.
    """
    count, counts = likely_chars, column_counts(room.columns) if columns else range(1, 2)
    while True:
        piece, last = source.peek(count, beyond=1)
        cells, ends = encode_cells(piece, font, aligned=True)
        text = _Encoded(piece=piece, cells=cells, ends=ends, font=font, mid_line=mid_line)
        fits = [_fit(text, room, each) for each in counts]
        if last or all(fit.chars < len(piece) for fit in fits):
            break
        count *= 2
    best = max(fits, key=lambda fit: (fit.chars, -fit.columns))
    source.skip(best.chars)
    piece = piece[: best.chars]
    cells = close_run(cells[: ends[best.chars - 1] if best.chars else 0], piece, font)
    rows = _drawn(cells, best, font, mid_line)
    return piece, _set(rows, best, font, room.columns, _page_rows(rows, best, font, room)), best.columns


def _page_rows(rows: Cells, fit: _Fit, font: BitmapFont, room: Room) -> int:
    """Return over how many rows a page spreads its newspaper columns: the fewest whose heights together fit."""
    least = -(-len(rows) // fit.columns)
    if not isinstance(font, FontChain):
        return least
    bands = row_bands(rows, font)
    return next(count for count in itertools.count(least) if room.holds(abreast(bands, count, fit.columns, font)))


def set_again(piece: str, font: BitmapFont, grid: tuple[int, int], columns: int, *, mid_line: bool) -> Cells:
    """Return the cells of a page of ``grid`` (rows, columns) that holds ``piece`` in so many newspaper columns."""
    cells, _ = encode_cells(piece, font, aligned=True)
    cells = close_run(cells, piece, font)
    width = _width(columns, grid[1])
    fit = _Fit(columns=columns, width=width, chars=len(piece), places=_placed(cells, font, width, int(mid_line)))
    rows = _drawn(cells, fit, font, mid_line)
    least = -(-len(rows) // columns)
    return _set(rows, fit, font, grid[1], max(least, grid[0]) if isinstance(font, FontChain) else least)


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
    ended = np.column_stack([rows, np.full(len(rows), tables.newline, rows.dtype)])
    return _without_tab_padding(ended[np.column_stack([kept, line_ends])], font)


def column_counts(width: int) -> range:
    """Return how many newspaper columns a page of ``width`` cells may have."""
    most = (width + GUTTER_CELLS) // (NARROWEST_COLUMN_CELLS + GUTTER_CELLS)
    return range(1, max(1, min(MOST_COLUMNS, most)) + 1)


def _width(columns: int, total: int) -> int:
    return (total - (columns - 1) * GUTTER_CELLS) // columns


def _fit(text: _Encoded, room: Room, columns: int) -> _Fit:
    """Place all cells in one long column and cut it where the page ends."""
    width, font = _width(columns, room.columns), text.font
    places = _placed(text.cells, font, width, int(text.mid_line))
    rows = room.rows(font.line_height_px) * columns
    if isinstance(font, FontChain):
        bands = placed_bands(text.cells, places.rows, font)
        one = columns == 1
        rows = room.rows_of(bands, font.line_height_px) if one else room.rows_abreast(bands, columns, font) * columns
    return _Fit(columns=columns, width=width, chars=_chars(text, places, rows), places=places)


def _chars(text: _Encoded, places: _Places, rows: int) -> int:
    """Return how many characters so many rows hold, not cut inside a run of spaces.

    Such a run would be a count if the text ended with it, so where it is cut would hang on what follows it.
    """
    chars = int(np.searchsorted(text.ends, np.searchsorted(places.rows, rows), "right"))
    if text.piece[chars - 1 : chars + 1] == "  ":
        chars = len(text.piece[:chars].rstrip(" ")) or chars
    return chars


def _placed(cells: Cells, font: BitmapFont, width: int, lead: int) -> _Places:
    newline = cells == cell_tables(font).newline
    line = np.cumsum(newline) - newline
    starts = np.append(0, np.flatnonzero(newline) + 1)
    within = np.arange(len(cells)) - starts[line] + np.where(line == 0, lead, 0)
    wide = _wide(cells, font)
    if len(wide):
        within += _pads_before(within, line, wide, width)
    wraps, columns = _wrapped(within, width)
    last = np.zeros(len(starts), np.int64)
    np.maximum.at(last, line, wraps)
    first = np.append(0, np.cumsum(last + 1)[:-1])
    return _Places(rows=first[line] + wraps, columns=columns, wraps=wraps)


def _wrapped(within: Indices, width: int) -> tuple[Indices, Indices]:
    """Return row and column inside a line: the first row holds ``width`` cells, later ones one less and the mark."""
    over = np.maximum(within - width, 0)
    later = within >= width
    return np.where(later, 1 + over // (width - 1), 0), np.where(later, 1 + over % (width - 1), within)


def _wide(cells: Cells, font: BitmapFont) -> Indices:
    """Return first cell and number of cells of each wide glyph: int64 (glyphs, 2)."""
    part_of = cell_tables(font).part_of
    if part_of is None:
        return np.zeros((0, 2), np.int64)
    parts = np.append(part_of[cells], 0).astype(np.int64)
    last = np.flatnonzero((parts[:-1] > 0) & (parts[1:] <= parts[:-1]))
    return np.column_stack([last - parts[last], parts[last] + 1])


def _pads_before(within: Indices, line: Indices, wide: Indices, width: int) -> Indices:
    """Return how many pads stand before each cell of its line, so that no wide glyph straddles a row."""
    added = np.zeros(len(within), np.int64)
    current, so_far = -1, 0
    starts, spans = wide.T
    for start, span, of_line, place in zip(
        starts.tolist(), spans.tolist(), line[starts].tolist(), within[starts].tolist(), strict=True
    ):
        if of_line != current:
            current, so_far = of_line, 0
        at = place + so_far
        left = width - at if at < width else width - 1 - (at - width) % (width - 1)
        if span > left:
            so_far += left
            added[start] = left
    pads = np.cumsum(added)
    first = np.searchsorted(line, np.arange(int(line[-1]) + 1))
    return pads - (pads - added)[first][line]


def _set(rows: Cells, fit: _Fit, font: BitmapFont, width: int, height: int) -> Cells:
    return _told_from_flow(rows, font) if fit.columns == 1 else _folded(rows, fit, font, width, height)


def _drawn(cells: Cells, fit: _Fit, font: BitmapFont, mid_line: bool) -> Cells:
    """Return one long column of rows with the cells and the marks in it."""
    tables, count = cell_tables(font), len(cells)
    rows, columns, wraps = (each[:count] for each in (fit.places.rows, fit.places.columns, fit.places.wraps))
    inked = cells != tables.newline
    inked[-1:] = True
    grid = np.full((int(rows.max(initial=-1)) + 1, fit.width), tables.blank, cells.dtype)
    filled = np.zeros(grid.shape, np.bool_)
    grid[rows[inked], columns[inked]], filled[rows[inked], columns[inked]] = cells[inked], True
    wrapped = np.unique(rows[wraps > 0])
    grid[wrapped - 1] = np.where(filled[wrapped - 1], grid[wrapped - 1], tables.pad)
    grid[wrapped, 0] = tables.continuation
    if mid_line and count:
        grid[0, 0] = tables.continuation
    return grid


def _told_from_flow(rows: Cells, font: BitmapFont) -> Cells:
    """Put a pad behind the first row when all rows could be those of ``flow``: full but for less than a count.

    A page of one row reads alike in both, unless blanks stand behind a tab.
    """
    tables, full = cell_tables(font), rows[:-1]
    inked = np.flatnonzero(rows[:1] != tables.blank)
    if not len(inked) or inked[-1] + 1 == rows.shape[1] or (rows[:, 0] == tables.continuation).any():
        return rows
    looks_full = (full[:, -COUNTED_RUN_CHARS:] != tables.blank).any(axis=1).all()
    if looks_full if len(full) else (rows[0] == tables.tab).any():
        rows[0, int(inked[-1]) + 1] = tables.pad
    return rows


def _folded(rows: Cells, fit: _Fit, font: BitmapFont, width: int, height: int) -> Cells:
    """Fold one long column into newspaper columns of ``height`` rows side by side, with rules between them."""
    page = np.full((height, width), cell_tables(font).blank, rows.dtype)
    for column in range(fit.columns):
        piece = rows[column * height : (column + 1) * height]
        left = column * (fit.width + GUTTER_CELLS)
        page[: len(piece), left : left + fit.width] = piece
        if column + 1 < fit.columns:
            page[:, left + fit.width] = font.cell(Mark.MARGIN)
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
