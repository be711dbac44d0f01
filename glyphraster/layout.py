"""Cells to pages: how much text each page takes, and which cell lies where.

A page decodes alone, so nothing straddles two of them: neither an escape nor a run of spaces. A page is sealed only
once the text behind it is known to lie on the next one, so appending text leaves every full page as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from glyphraster.cells import LONGEST_ATOM_CELLS, Cells, cell_tables, close_run, encode_cells, run_end
from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry

LAYOUTS = ("flow",)
"""``flow``: cells run on from row to row, a newline is a mark."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PagePlan:
    """Say what one page shows: small, picklable, independent of its neighbours.

    Attributes
    ----------
    glyphs
        uint16 (rows, columns), read-only: indices into the font's ``bitmaps``; only the rows used.
    start, stop
        Span of the source in characters.
    index
        Number of the page, from 1.
    layout
        One of :data:`LAYOUTS`.
    """

    glyphs: Cells
    start: int
    stop: int
    index: int
    layout: str

    def __post_init__(self) -> None:
        self.glyphs.setflags(write=False)


def plan_pages(
    text: str, font: BitmapFont, geometry: PageGeometry, layout: str = "flow", *, after: PagePlan | None = None
) -> list[PagePlan]:
    """Plan the pages of a text.

    Parameters
    ----------
    text
        Any string; the empty string has no pages.
    layout
        One of :data:`LAYOUTS`.
    after
        The page that these continue: numbers and offsets go on from it.

    Raises
    ------
    ArgumentError
        When the layout is unknown, or the page cannot hold the font's cells.
    """
    return list(iter_plans((text,), font, geometry, layout, after=after))


def iter_plans(
    chunks: Iterable[str],
    font: BitmapFont,
    geometry: PageGeometry,
    layout: str = "flow",
    *,
    after: PagePlan | None = None,
) -> Iterator[PagePlan]:
    """Plan pages as the text arrives, holding about one page of it; the pages are those of the whole text."""
    _check(font, geometry, layout)
    rows, columns = geometry.grid
    source, likely_chars = _Source(chunks), rows * columns
    start, index = (after.stop, after.index) if after else (0, 0)
    while True:
        piece, grid = _next_page(source, font, rows, columns, likely_chars)
        if not piece:
            return
        index += 1
        yield PagePlan(glyphs=grid, start=start, stop=start + len(piece), index=index, layout=layout)
        start, likely_chars = start + len(piece), len(piece) + len(piece) // 16


def _check(font: BitmapFont, geometry: PageGeometry, layout: str) -> None:
    if layout not in LAYOUTS:
        raise ArgumentError(f"no layout {layout!r}; there is {', '.join(LAYOUTS)}")
    if geometry.pitch_y_px < font.cell_height_px or geometry.pitch_x_px < font.cell_width_px:
        raise ArgumentError(
            f"a pitch of {geometry.pitch_y_px}x{geometry.pitch_x_px} px is below the cell of font {font.name!r}, "
            f"{font.cell_height_px}x{font.cell_width_px} px: raise the pitch"
        )
    rows, columns = geometry.grid
    usable = rows * (columns - (cell_tables(font).wide is not None))
    if usable < LONGEST_ATOM_CELLS:
        raise ArgumentError(
            f"a grid of {rows} rows by {columns} columns has {usable} cells; {LONGEST_ATOM_CELLS} are needed to hold "
            "an escape"
        )


class _Source:
    """A window on a stream of text that grows on demand and drops what was taken."""

    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks, self._text, self._position = iter(chunks), "", 0

    def peek(self, count: int) -> tuple[str, bool]:
        """Return ``count`` characters, on to the end of a run of spaces, and whether the text ends there."""
        while self._holds(count + 1):
            end = run_end(self._text, self._position + count)
            if end < len(self._text):
                return self._text[self._position : end], False
            count = end - self._position
        return self._text[self._position :], True

    def skip(self, count: int) -> None:
        """Drop characters from the front."""
        self._position += count

    def _holds(self, count: int) -> bool:
        """Read until ``count`` characters are at hand; say whether there are so many."""
        while len(self._text) - self._position < count:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self._text, self._position = self._text[self._position :] + chunk, 0
        return True


def _next_page(source: _Source, font: BitmapFont, rows: int, columns: int, likely_chars: int) -> tuple[str, Cells]:
    """Take the longest piece that fits, and return it with its cells in rows."""
    count = likely_chars
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


def _row_breaks(cells: Cells, font: BitmapFont, rows: int, columns: int) -> Cells:
    """Return where each row starts and the last one ends: a two-cell glyph never straddles a row."""
    tables = cell_tables(font)
    if tables.wide is None:
        return np.arange(rows + 1) * columns  # type: ignore[return-value]
    second_half = tables.code_of[cells] == 0xFFFFFFFF
    breaks = [0]
    for _ in range(rows):
        end = breaks[-1] + columns
        breaks.append(end - 1 if end < len(cells) and second_half[end] else end)
    return np.array(breaks)


def _in_rows(cells: Cells, breaks: Cells, font: BitmapFont, columns: int) -> Cells:
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
