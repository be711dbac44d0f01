"""Look-up tables of a font: the cells of each character, what each cell is, and what escapes hold."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.errors import FontError
from glyphraster.escapes import escape_body
from glyphraster.font import BitmapFont, Mark

Cells = npt.NDArray[np.unsignedinteger[Any]]
"""uint16 for fonts of up to 65,534 cells, else uint32."""
Codes = npt.NDArray[np.uint32]

LATER_PART = 0xFFFFFFFF
"""What ``code_of`` holds for all cells of a wide glyph but its first."""

_MOST_BODY_CELLS = 0x110000 * 8
"""Room for the length and the body of every escape."""

_SPACE = 0x20
_HEX = "0123456789ABCDEF"
_DIRECT = {0x0A: Mark.NEWLINE, 0x0D: Mark.CARRIAGE_RETURN, 0x09: Mark.TAB}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellTables:
    """Look-up tables of one font.

    Attributes
    ----------
    cell_of
        uint16 or uint32 (0x110000,): first cell of each code point; newline, tab and return give their mark.
    missing
        What stands in ``cell_of`` for code points without a glyph.
    spans
        uint8 (0x110000,): cells of each code point with a glyph; None when all take one.
    part_of
        uint8 (cells,): how many cells of the same glyph stand left of a cell; None when all glyphs take one.
    code_of
        uint32 (cells,): what each cell decodes to.
    hexadecimal, counts
        (16,) and (10,): the cells of ``0-9A-F``, and of the count marks.
    """

    cell_of: Cells
    missing: int
    spans: npt.NDArray[np.uint8] | None
    part_of: npt.NDArray[np.uint8] | None
    code_of: Codes
    hexadecimal: Cells
    counts: Cells
    blank: int
    newline: int
    tab: int
    continuation: int
    open: int
    close: int
    pad: int


@functools.lru_cache(maxsize=16)
def cell_tables(font: BitmapFont) -> CellTables:
    """Build the tables of ``font`` once.

    Raises
    ------
    FontError
        When the font lacks a mark, a hexadecimal digit or the space.
    """
    if lacking := [code for code in (_SPACE, *map(ord, _HEX), *Mark) if code not in font.codepoints]:
        raise FontError(
            f"font {font.name!r} cannot set a page alone: it has no U+{lacking[0]:04X} and {len(lacking) - 1} more of "
            f"blank, 0-9A-F and marks; name it behind another font, as in fonts=['glyph5x8', {font.name!r}]"
        )
    cells = int(font.spans.sum())
    dtype: type[np.unsignedinteger[Any]] = np.uint16 if cells < 0xFFFF else np.uint32
    missing = int(np.iinfo(dtype).max)
    first, points = font.first_cells, font.codepoints
    drawable = points < 0x110000
    cell_of = np.full(0x110000, missing, dtype)
    cell_of[points[drawable]] = first[drawable]
    code_of = np.full(cells, LATER_PART, np.uint32)
    code_of[first] = points
    for code, mark in _DIRECT.items():
        cell_of[code] = font.cell(mark)
        code_of[font.cell(mark)] = code
    return CellTables(
        cell_of=cell_of,
        missing=missing,
        spans=_spans_by_code(font),
        part_of=(np.arange(cells) - np.repeat(first, font.spans)).astype(np.uint8) if font.spans.max() > 1 else None,
        code_of=code_of,
        hexadecimal=np.array([font.cell(ord(digit)) for digit in _HEX], dtype),
        counts=np.array([font.cell(Mark.COUNT_0 + digit) for digit in range(10)], dtype),
        blank=font.cell(_SPACE),
        newline=font.cell(Mark.NEWLINE),
        tab=font.cell(Mark.TAB),
        continuation=font.cell(Mark.CONTINUATION),
        open=font.cell(Mark.ESCAPE_OPEN),
        close=font.cell(Mark.ESCAPE_CLOSE),
        pad=font.cell(Mark.PAD),
    )


def _spans_by_code(font: BitmapFont) -> npt.NDArray[np.uint8] | None:
    if font.spans.max() == 1:
        return None
    drawable = font.codepoints < 0x110000
    spans = np.ones(0x110000, np.uint8)
    spans[font.codepoints[drawable]] = font.spans[drawable]
    return spans


class EscapeBodies:
    """What stands between the brackets of the escapes of one font; a character is looked up once.

    Attributes
    ----------
    at
        int32 (0x110000,): where the body of each code point starts in ``cells``; 0 when it is not known yet.
    cells
        Cells of all known bodies, the length of each in front of it. Memory that is not written to is not taken.
    """

    def __init__(self, font: BitmapFont) -> None:
        self._cell_of = cell_tables(font).cell_of
        self.at, self.cells = np.zeros(0x110000, np.int32), np.zeros(_MOST_BODY_CELLS, self._cell_of.dtype)
        self._end, self._lock = 0, threading.Lock()

    def learn(self, code: int) -> None:
        """Put length and cells of a body behind those known, and only then its place into the table."""
        letters = np.frombuffer(escape_body(code).encode("utf-32-le"), "<u4")
        with self._lock:
            start, end = self._end + 1, self._end + 1 + len(letters)
            self.cells[self._end], self.cells[start:end] = len(letters), self._cell_of[letters]
            self.at[code], self._end = start, end

    def of(self, codes: Codes) -> tuple[Cells, npt.NDArray[np.int64]]:
        """Return the cells of the bodies of these characters, one behind another, and how many each has."""
        for code in np.unique(codes[self.at[codes] == 0]).tolist():
            self.learn(code)
        starts = self.at[codes].astype(np.int64)
        lengths = self.cells[starts - 1].astype(np.int64)
        return self.cells[spans_of(starts, lengths)], lengths


@functools.lru_cache(maxsize=16)
def escape_bodies(font: BitmapFont) -> EscapeBodies:
    """Return the bodies of the escapes of a font, and those that were looked up already."""
    return EscapeBodies(font)


def spans_of(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return all indices of the spans, one span behind another."""
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(int(lengths.sum()))
