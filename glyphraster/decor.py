"""What stands around the text of a page: a caption row above it, line numbers left of it. A reader leaves both out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from glyphraster.cells import encode_cells
from glyphraster.celltables import Cells, cell_tables
from glyphraster.font import BitmapFont, Mark
from glyphraster.rows import Room, height_px, row_bands

SMALLEST_MARGIN_CELLS = 4
"""Three digits and a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decor:
    """What a layout is to draw around the text.

    Attributes
    ----------
    caption
        A label for the caption row, which also names page and source lines; None for no caption row, "" for no label.
    line_numbers
        Whether rows that start a line are numbered.
    """

    caption: str | None = None
    line_numbers: bool = False

    def room(self, page: Room, font: BitmapFont, first_line: int) -> Room:
        """Return what is left for text on a page that starts with line ``first_line``."""
        columns = page.columns - self.margin_cells(page.rows(font.line_height_px), first_line)
        if self.caption is None:
            return replace(page, columns=columns)
        caption = height_px(row_bands(_caption(self.caption, font, page.columns), font), page.leading_px)
        return replace(page, columns=columns, height_px=max(0, page.height_px - caption))

    def margin_cells(self, rows: int, first_line: int) -> int:
        """Return the width of the line numbers; the number of rows bounds how far they can go."""
        return max(SMALLEST_MARGIN_CELLS, len(str(first_line + rows)) + 1) if self.line_numbers else 0


def decorated(
    body: Cells,
    font: BitmapFont,
    decor: Decor,
    *,
    margin_cells: int,
    index: int,
    lines: tuple[int, int],
    mid_line: bool,
) -> Cells:
    """Return the text's cells with caption and line numbers around them.

    Parameters
    ----------
    lines
        First and last source line of the page.
    mid_line
        Whether the page starts in the middle of its first line, which then has no number here.
    """
    page = body
    if margin_cells:
        page = np.hstack([_numbers(body, font, margin_cells, lines[0], mid_line), page])
    if decor.caption is not None:
        label = f" {decor.caption}" if decor.caption else ""
        text = f"page {index} lines {lines[0]}-{lines[1]}{label}"
        page = np.vstack([_caption(text, font, page.shape[1]), page])
    return page


def _numbers(body: Cells, font: BitmapFont, width: int, first_line: int, mid_line: bool) -> Cells:
    tables = cell_tables(font)
    starts = body[:, 0] != tables.continuation
    numbers = first_line + np.cumsum(starts) - (0 if mid_line else 1)
    margin = np.full((len(body), width), tables.blank, body.dtype)
    margin[:, -1] = font.cell(Mark.MARGIN)
    for place in range(width - 1):
        shown = starts & (numbers >= 10**place)
        margin[shown, width - 2 - place] = tables.hexadecimal[numbers[shown] // 10**place % 10]
    return margin


def _caption(text: str, font: BitmapFont, width: int) -> Cells:
    cells, ends = encode_cells(text.replace("\n", " "), font)
    cells = cells[: ends[ends < width].max(initial=0)]
    row = np.full((1, width), cell_tables(font).blank, cells.dtype)
    row[0, 0], row[0, 1 : 1 + len(cells)] = font.cell(Mark.CAPTION), cells
    return row
