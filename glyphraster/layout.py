"""Cells to pages: how much text each page takes, and which cell lies where.

A page decodes alone, so nothing straddles two of them: neither an escape nor a run of spaces. A page is sealed only
once the text behind it is known to lie on the next one, so appending text leaves every full page as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from glyphraster import flow, lines
from glyphraster.cells import LONGEST_ATOM_CELLS
from glyphraster.celltables import Cells
from glyphraster.checksum import crc32
from glyphraster.decor import Decor, decorated
from glyphraster.engine import Engine, chosen_engine
from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.rows import Bands, Room, page_room, row_bands
from glyphraster.stream import TextStream

LAYOUTS = ("flow", "lines", "columns")
"""``flow``: cells run on from row to row, a newline is a mark. ``lines``: each line starts a row, a wrapped row starts
with a continuation mark. ``columns``: newspaper columns of ``lines``, as many as hold the most text."""

PLAIN = Decor()
"""No caption, no line numbers."""

_NEWLINE = 0x0A
_HIGHEST_LINE = 10**9
"""Line numbers up to here are reckoned with when a page's room is checked."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PagePlan:
    """Say what one page shows: small, picklable, independent of its neighbours.

    Attributes
    ----------
    glyphs
        uint16 (uint32 for fonts of 65,535 cells and more) (rows, columns), read-only: indices into the font's
        ``bitmaps``; only the rows used.
    bands
        uint8 (rows, 2), read-only: first and last + 1 row of the font's cells that each row shows; its height in glyph
        px is their difference, the whole cell unless the font is a chain.
    start, stop
        Span of the source in characters.
    index
        Number of the page, from 1.
    layout
        One of :data:`LAYOUTS`.
    columns
        Newspaper columns; 1 in every other layout.
    caption_rows, margin_cells
        Rows above and cells left of the text that are not text: a caption, line numbers.
    start_line, stop_line
        Source line, from 1, of the first character, and of the first one behind the page.
    start_crc32, stop_crc32
        CRC-32 of the source (UTF-8) before the page, and up to its end: what one page ends with the next starts with.
    open_line
        Whether the page ends in the middle of a line, which the next one goes on with.
    """

    glyphs: Cells
    bands: Bands
    start: int
    stop: int
    index: int
    layout: str
    columns: int = 1
    caption_rows: int = 0
    margin_cells: int = 0
    start_line: int = 1
    stop_line: int = 1
    start_crc32: int = 0
    stop_crc32: int = 0
    open_line: bool = False

    def __post_init__(self) -> None:
        self.glyphs.setflags(write=False)
        self.bands.setflags(write=False)


def plan_pages(
    text: str,
    font: BitmapFont,
    geometry: PageGeometry,
    layout: str = "flow",
    *,
    decor: Decor = PLAIN,
    after: PagePlan | None = None,
    engine: Engine = "auto",
) -> list[PagePlan]:
    """Plan the pages of a text.

    Parameters
    ----------
    text
        Any string; the empty string has no pages.
    layout
        One of :data:`LAYOUTS`.
    decor
        Caption and line numbers.
    after
        The page that these continue: numbers and offsets go on from it.
    engine
        ``"auto"``, ``"numba"`` or ``"numpy"``: the same plans.

    Raises
    ------
    ArgumentError
        When the layout is unknown, has no place for line numbers, or the page cannot hold the font's cells.
    """
    return list(iter_plans((text,), font, geometry, layout, decor=decor, after=after, engine=engine))


def iter_plans(
    chunks: Iterable[str],
    font: BitmapFont,
    geometry: PageGeometry,
    layout: str = "flow",
    *,
    decor: Decor = PLAIN,
    after: PagePlan | None = None,
    engine: Engine = "auto",
) -> Iterator[PagePlan]:
    """Plan pages as the text arrives, holding about one page of it; the pages are those of the whole text."""
    _check(font, geometry, layout, decor)
    _keep_freed_memory()
    source, room = TextStream(chunks), page_room(geometry, font)
    before, likely_chars = after or _NOTHING, room.rows(font.line_height_px) * room.columns
    while True:
        compiled = chosen_engine(engine) == "numba"  # asked anew: a long stream changes over on its way
        plan, piece = _next_plan(source, font, room, layout, decor, before, likely_chars, compiled)
        if not piece:
            return
        yield plan
        before, likely_chars = plan, len(piece) + len(piece) // 16


@functools.cache
def _keep_freed_memory() -> None:
    """Free 4 MB once: glibc then takes smaller pieces from its heap, of which it gives back what is beyond twice that.

    The memory of a page is used again by the next. Source code in numpy: 44 million characters a second, not 35, as
    nothing is faulted in anew. Other allocators go their own way.
    """
    np.empty(4 << 20, np.uint8)


def _next_plan(
    source: TextStream,
    font: BitmapFont,
    page: Room,
    layout: str,
    decor: Decor,
    before: PagePlan,
    likely_chars: int,
    compiled: bool,
) -> tuple[PagePlan, str]:
    line, index, caption_rows = before.stop_line, before.index + 1, int(decor.caption is not None)
    margin_cells, room = decor.margin_cells(page.rows(font.line_height_px), line), decor.room(page, font, line)
    if layout == "flow":
        (piece, body), columns = flow.next_page(source, font, room, likely_chars, compiled=compiled), 1
    else:
        piece, body, columns = lines.next_page(
            source, font, room, likely_chars, mid_line=before.open_line, columns=layout == "columns"
        )
    encoded = _utf8(piece)
    stop_line = line + int(np.count_nonzero(np.frombuffer(encoded, np.uint8) == _NEWLINE))  # str.count: 27 us, this: 4
    span = (line, stop_line - piece.endswith("\n"))
    glyphs = decorated(body, font, decor, margin_cells=margin_cells, index=index, lines=span, mid_line=before.open_line)
    plan = PagePlan(
        glyphs=glyphs,
        bands=row_bands(glyphs, font),
        start=before.stop,
        stop=before.stop + len(piece),
        index=index,
        layout=layout,
        columns=columns,
        caption_rows=caption_rows,
        margin_cells=margin_cells,
        start_line=line,
        stop_line=stop_line,
        start_crc32=before.stop_crc32,
        stop_crc32=crc32(encoded, before.stop_crc32),
        open_line=not piece.endswith("\n"),
    )
    return plan, piece


_NOTHING = PagePlan(
    glyphs=np.zeros((0, 0), np.uint16), bands=np.zeros((0, 2), np.uint8), start=0, stop=0, index=0, layout="flow"
)


def text_crc32(text: str, before: int) -> int:
    """Return the CRC-32 of all text so far, given that of what stands before ``text``."""
    return crc32(_utf8(text), before)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def unrolled(glyphs: Cells, font: BitmapFont, layout: str, columns: int) -> Cells:
    """Return the cells of a page in reading order, whatever its layout."""
    return flow.unrolled(glyphs) if layout == "flow" else lines.unrolled(glyphs, font, columns)


def set_again(
    text: str, font: BitmapFont, grid: tuple[int, int], layout: str, columns: int, *, mid_line: bool
) -> Cells:
    """Return the cells of a page of ``grid`` (rows, columns) that holds ``text`` and nothing else.

    Parameters
    ----------
    columns
        Newspaper columns.
    mid_line
        Whether the page starts in the middle of a line.
    """
    if layout == "flow":
        return flow.set_again(text, font, grid)
    return lines.set_again(text, font, grid, columns, mid_line=mid_line)


def _check(font: BitmapFont, geometry: PageGeometry, layout: str, decor: Decor) -> None:
    if layout not in LAYOUTS:
        raise ArgumentError(f"no layout {layout!r}; there is {', '.join(LAYOUTS)}")
    if decor.line_numbers and layout != "lines":
        raise ArgumentError(f"layout {layout!r} has no margin for line numbers; layout 'lines' has")
    if geometry.pitch_y_px < font.line_height_px or geometry.pitch_x_px < font.cell_width_px:
        raise ArgumentError(
            f"a pitch of {geometry.pitch_y_px}x{geometry.pitch_x_px} px is below the cell of font {font.name!r}, "
            f"{font.line_height_px}x{font.cell_width_px} px: raise the pitch"
        )
    room = decor.room(page_room(geometry, font), font, _HIGHEST_LINE)
    rows, columns = room.rows(font.cell_height_px), room.columns
    usable = rows * (columns - (int(font.spans.max()) - 1) - (layout != "flow"))
    if usable < LONGEST_ATOM_CELLS:
        raise ArgumentError(
            f"a grid of {rows} rows by {columns} columns for text has {usable} cells; {LONGEST_ATOM_CELLS} are needed "
            "to hold an escape"
        )
