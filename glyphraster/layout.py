"""Cells to pages: how much text each page takes, and which cell lies where.

A page decodes alone, so nothing straddles two of them: neither an escape nor a run of spaces. A page is sealed only
once the text behind it is known to lie on the next one, so appending text leaves every full page as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from glyphraster import flow, lines
from glyphraster.cells import LONGEST_ATOM_CELLS, Cells, cell_tables
from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.stream import TextStream

LAYOUTS = ("flow", "lines", "columns")
"""``flow``: cells run on from row to row, a newline is a mark. ``lines``: each line starts a row, a wrapped row starts
with a continuation mark. ``columns``: newspaper columns of ``lines``, as many as hold the most text."""


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
    columns
        Newspaper columns; 1 in every other layout.
    """

    glyphs: Cells
    start: int
    stop: int
    index: int
    layout: str
    columns: int = 1

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
    source, grid = TextStream(chunks), geometry.grid
    start, index = (after.stop, after.index) if after else (0, 0)
    likely_chars, mid_line = grid[0] * grid[1], False
    while True:
        if layout == "flow":
            (piece, glyphs), columns = flow.next_page(source, font, grid, likely_chars), 1
        else:
            piece, glyphs, columns = lines.next_page(
                source, font, grid, likely_chars, mid_line=mid_line, columns=layout == "columns"
            )
        if not piece:
            return
        index, stop = index + 1, start + len(piece)
        yield PagePlan(glyphs=glyphs, start=start, stop=stop, index=index, layout=layout, columns=columns)
        start, likely_chars, mid_line = stop, len(piece) + len(piece) // 16, not piece.endswith("\n")


def unrolled(glyphs: Cells, font: BitmapFont, layout: str, columns: int) -> Cells:
    """Return the cells of a page in reading order, whatever its layout."""
    return flow.unrolled(glyphs) if layout == "flow" else lines.unrolled(glyphs, font, columns)


def _check(font: BitmapFont, geometry: PageGeometry, layout: str) -> None:
    if layout not in LAYOUTS:
        raise ArgumentError(f"no layout {layout!r}; there is {', '.join(LAYOUTS)}")
    if geometry.pitch_y_px < font.cell_height_px or geometry.pitch_x_px < font.cell_width_px:
        raise ArgumentError(
            f"a pitch of {geometry.pitch_y_px}x{geometry.pitch_x_px} px is below the cell of font {font.name!r}, "
            f"{font.cell_height_px}x{font.cell_width_px} px: raise the pitch"
        )
    rows, columns = geometry.grid
    spare = (cell_tables(font).wide is not None) + (layout != "flow")
    usable = rows * (columns - spare)
    if usable < LONGEST_ATOM_CELLS:
        raise ArgumentError(
            f"a grid of {rows} rows by {columns} columns has {usable} cells; {LONGEST_ATOM_CELLS} are needed to hold "
            "an escape"
        )
