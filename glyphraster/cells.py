"""Text to cells and cells to text, both directions side by side.

The rules, per character of the source:

- a character with a glyph is that glyph, in as many cells as the font gives it;
- newline, carriage return and tab are marks of their own;
- a run of four or more spaces, and any run that ends a page, is its length in count marks (small underlined digits);
- everything else is an escape: ``ESCAPE_OPEN``, what :mod:`glyphraster.escapes` says of it, ``ESCAPE_CLOSE``.

Marks have codes beyond Unicode, so no text can hold one and decoding is unique. Blank cells after the last mark or
character of a page mean nothing: trailing spaces are always a count.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.errors import FontError, ReadError
from glyphraster.escapes import LONGEST_BODY_CHARS, escape_body, named_code
from glyphraster.font import BitmapFont, Mark

Cells = npt.NDArray[np.unsignedinteger[Any]]
"""uint16 for fonts of up to 65,534 cells, else uint32."""
Codes = npt.NDArray[np.uint32]

LONGEST_ATOM_CELLS = LONGEST_BODY_CHARS + 2
"""The most cells that a character or a run of spaces takes: those of an escape."""

_LONGEST_COUNT_CELLS = 10
_MOST_BODY_CELLS = 0x110000 * 8
"""Room for the length and the body of every escape."""

COUNTED_RUN_CHARS = 4
"""Runs of spaces from this length are drawn as a count."""

TAB_STOP_CELLS = 8
"""Distance of tab stops where columns are kept."""

_LONGEST_RUN_CHARS = 1 << 30
_LATER_PART = 0xFFFFFFFF
_SPACE, _NEWLINE, _TAB = 0x20, 0x0A, 0x09
_HEX = "0123456789ABCDEF"
_DIRECT = {0x0A: Mark.NEWLINE, 0x0D: Mark.CARRIAGE_RETURN, 0x09: Mark.TAB}
_LONG_RUN = " " * COUNTED_RUN_CHARS


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
    code_of = np.full(cells, _LATER_PART, np.uint32)
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
        return self.cells[_spans(starts, lengths)], lengths


@functools.lru_cache(maxsize=16)
def escape_bodies(font: BitmapFont) -> EscapeBodies:
    """Return the bodies of the escapes of a font, and those that were looked up already."""
    return EscapeBodies(font)


# ---------------------------------------------------------------------------------------------------- text to cells


def encode_cells(text: str, font: BitmapFont, *, aligned: bool = False) -> tuple[Cells, npt.NDArray[np.int64]]:
    """Turn text into cells.

    Parameters
    ----------
    text
        Any string, lone surrogates included.
    aligned
        Keep columns where a screen has them: spaces stay blanks, except those that end a line, which are counted; a tab
        takes the blanks to its stop.

    Returns
    -------
    cells : uint16 or uint32 (M,)
        Indices into ``font.bitmaps``.
    ends : int64 (len(text),)
        For each character, the number of cells up to and including it.
    """
    tables = cell_tables(font)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    cells = tables.cell_of[codes]
    missing = np.flatnonzero(cells == tables.missing)
    starts, lengths = _line_end_runs(codes) if aligned else _long_runs(codes, text)
    wide, spans = _wide(codes, tables)
    tabs = np.flatnonzero(codes == _TAB) if aligned else _NO_RUNS[0]
    if not (len(missing) or len(starts) or len(wide) or len(tabs)):
        return cells, np.arange(1, len(codes) + 1)
    digits = _decimal_digits(lengths)
    _put_counts(cells, starts + digits, lengths, tables)
    kept = ~_covered(starts + digits, lengths - digits, len(codes))
    if not (len(missing) or len(wide) or len(tabs)):
        return cells[kept], _whole_counts(np.cumsum(kept), starts, digits)
    body_cells, lengths = escape_bodies(font).of(codes[missing])
    widths = kept.view(np.uint8)
    widths[missing] = lengths + 2
    widths[wide] = spans
    widths[tabs] = _tab_widths(tabs, widths, codes)
    ends = np.cumsum(widths, dtype=np.int64)
    out = np.repeat(cells, widths)
    out[_spans(ends[wide] - spans, spans)] = _spans(cells[wide].astype(np.int64), spans)
    out[_spans(ends[tabs] + 1 - widths[tabs], widths[tabs].astype(np.int64) - 1)] = tables.blank
    out[_spans(ends[missing] - 1 - lengths, lengths)] = body_cells
    out[ends[missing] - 1] = tables.close
    out[ends[missing] - lengths - 2] = tables.open
    return out, _whole_counts(ends, starts, digits)


def escape_cost(text: str, font: BitmapFont) -> tuple[int, int]:
    """Return how many characters of a text have no glyph, and how many cells their escapes take."""
    tables = cell_tables(font)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    missing = codes[tables.cell_of[codes] == tables.missing]
    return len(missing), int(escape_bodies(font).of(missing)[1].sum()) + 2 * len(missing)


def close_run(cells: Cells, text: str, font: BitmapFont) -> Cells:
    """Draw the spaces that end ``text`` as a count, so that blank cells behind them mean nothing."""
    trailing, tables = len(text) - len(text.rstrip(" ")), cell_tables(font)
    if not trailing or cells[-1] != tables.blank:
        return cells
    return np.append(cells[:-trailing], tables.counts[[int(digit) for digit in str(trailing)]])


_NO_RUNS = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def _whole_counts(
    ends: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], digits: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Let all blanks of a counted run end where its count ends, so that no page is cut inside a count."""
    for place in range(int(digits.max(initial=1)) - 1):
        longer = digits > place + 1
        ends[starts[longer] + place] = ends[starts[longer] + digits[longer] - 1]
    return ends


def _wide(codes: Codes, tables: CellTables) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the place and the cells of each character that takes more than one."""
    if tables.spans is None:
        return _NO_RUNS
    spans = tables.spans[codes]
    wide = np.flatnonzero(spans > 1)
    return wide, spans[wide].astype(np.int64)


def _long_runs(codes: Codes, text: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return start and length of each run of spaces that is drawn as a count wherever it stands."""
    if _LONG_RUN not in text:
        return _NO_RUNS
    starts, lengths = _runs(codes == _SPACE)
    counted = lengths >= COUNTED_RUN_CHARS
    return starts[counted], lengths[counted]


def _line_end_runs(codes: Codes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return start and length of each run of spaces that ends a line or the text."""
    starts, lengths = _runs(codes == _SPACE)
    behind = np.append(codes, np.uint32(_NEWLINE))[starts + lengths]
    return starts[behind == _NEWLINE], lengths[behind == _NEWLINE]


def _tab_widths(tabs: npt.NDArray[np.int64], widths: npt.NDArray[np.uint8], codes: Codes) -> npt.NDArray[np.int64]:
    """Return how many cells each tab takes to its stop, counted from the start of its line."""
    before = np.cumsum(widths, dtype=np.int64) - widths
    newlines = np.flatnonzero(codes == _NEWLINE)
    line = np.searchsorted(newlines, tabs)
    line_starts = np.append(0, before[newlines] + 1)[line]
    found, added, current = [], 0, -1
    for place, of_line in zip((before[tabs] - line_starts).tolist(), line.tolist(), strict=True):
        if of_line != current:
            added, current = 0, of_line
        found.append(TAB_STOP_CELLS - (place + added) % TAB_STOP_CELLS)
        added += found[-1] - 1
    return np.array(found, np.int64)


def _runs(flags: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    bounded = np.zeros(len(flags) + 2, np.bool_)
    bounded[1:-1] = flags
    edges = np.flatnonzero(bounded[1:] != bounded[:-1])
    return edges[::2], edges[1::2] - edges[::2]


def _covered(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.bool_]:
    depth = np.zeros(size + 1, np.int8)
    depth[starts] += 1
    depth[starts + lengths] -= 1
    return np.cumsum(depth[:-1], dtype=np.int8) > 0


def _decimal_digits(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.searchsorted(10 ** np.arange(1, _LONGEST_COUNT_CELLS, dtype=np.int64), values, "right") + 1


def _spans(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return all indices of the spans, one span behind another."""
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(int(lengths.sum()))


def _put_counts(out: Cells, ends: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], tables: CellTables) -> None:
    """Write each length in count marks, its last digit just before its end."""
    digits = _decimal_digits(lengths)
    for place in range(int(digits.max(initial=0))):
        has = digits > place
        out[ends[has] - 1 - place] = tables.counts[lengths[has] // 10**place % 10]


# ---------------------------------------------------------------------------------------------------- cells to text


def decode_cells(cells: npt.NDArray[Any], font: BitmapFont) -> str:
    """Turn the cells of one page, in reading order, back into text.

    Parameters
    ----------
    cells
        Integer (M,), indices into ``font.bitmaps``; blanks at the end are ignored.

    Raises
    ------
    ReadError
        When an escape or a glyph of several cells is broken, or a count is absurd; the message names the cell.
    """
    tables = cell_tables(font)
    inked = np.flatnonzero(cells != tables.blank)
    cells = cells[: int(inked[-1]) + 1] if len(inked) else cells[:0]
    codes = tables.code_of[cells]
    repeats = np.ones(len(codes), np.int64)
    repeats[(cells == tables.pad) | _later_parts(cells, codes)] = 0
    _decode_escapes(cells, codes, repeats, tables)
    _decode_counts(cells, codes, repeats, tables)
    marks = np.flatnonzero((codes >= 0x110000) & (repeats > 0))
    if len(marks):
        raise ReadError(
            f"cell {int(marks[0])} is the mark {Mark(int(codes[marks[0]])).name}, which no text of a page holds"
        )
    return np.repeat(codes, repeats).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _later_parts(cells: npt.NDArray[Any], codes: Codes) -> npt.NDArray[np.bool_]:
    later: npt.NDArray[np.bool_] = codes == _LATER_PART
    at = np.flatnonzero(later)
    broken = at[(at == 0) | (cells[at - 1] + 1 != cells[at])]
    if len(broken):
        raise ReadError(f"cell {int(broken[0])} is a later part of a wide glyph without the part before it")
    return later


def _decode_escapes(cells: npt.NDArray[Any], codes: Codes, repeats: npt.NDArray[np.int64], tables: CellTables) -> None:
    """Put the code point of each escape on its opening cell and leave out the others."""
    opens, closes = np.flatnonzero(cells == tables.open), np.flatnonzero(cells == tables.close)
    if len(opens) != len(closes) or ((closes - opens < 2) | (closes - opens > LONGEST_BODY_CHARS + 1)).any():
        raise ReadError(
            f"{len(opens)} escapes open and {len(closes)} close; each must hold 1 to {LONGEST_BODY_CHARS} cells"
        )
    named = (codes[opens + 1] >= ord("a")) & (codes[opens + 1] <= ord("z"))
    values = np.zeros(len(opens), np.int64)
    values[~named] = _hexadecimal(cells, opens[~named], closes[~named], tables)
    for at in np.flatnonzero(named).tolist():
        values[at] = named_code(codes[opens[at] + 1 : closes[at]].tobytes().decode("utf-32-le", "replace"))
    repeats[_spans(opens + 1, closes - opens)] = 0
    codes[opens] = values


def _hexadecimal(
    cells: npt.NDArray[Any], opens: npt.NDArray[np.int64], closes: npt.NDArray[np.int64], tables: CellTables
) -> npt.NDArray[np.int64]:
    digit_of = np.full(len(tables.code_of), -1, np.int64)
    digit_of[tables.hexadecimal] = np.arange(16)
    values = np.zeros(len(opens), np.int64)
    for place in range(1, 1 + int((closes - opens - 1).max(initial=0))):
        inside = opens + place < closes
        digits = digit_of[cells[opens[inside] + place]]
        if (digits < 0).any():
            raise ReadError(f"the escape at cell {int(opens[inside][digits < 0][0])} holds something else than 0-9A-F")
        values[inside] = np.minimum(values[inside] * 16 + digits, 0x110000)
    if (values > 0x10FFFF).any():
        raise ReadError("an escape holds a number beyond U+10FFFF")
    return values


def _decode_counts(cells: npt.NDArray[Any], codes: Codes, repeats: npt.NDArray[np.int64], tables: CellTables) -> None:
    """Put the length of each counted run on its first digit and leave out the others."""
    digit_of = np.full(len(tables.code_of), -1, np.int64)
    digit_of[tables.counts] = np.arange(10)
    digits = digit_of[cells]
    starts, lengths = _runs(digits >= 0)
    if (lengths > _LONGEST_COUNT_CELLS).any():
        raise ReadError(f"a count of {int(lengths.max())} digits; at most {_LONGEST_COUNT_CELLS} are ever drawn")
    values = np.zeros(len(starts), np.int64)
    for place in range(int(lengths.max(initial=0))):
        has = lengths > place
        values[has] = values[has] * 10 + digits[starts[has] + place]
        repeats[starts[has] + place] = 0
    if (values > _LONGEST_RUN_CHARS).any():
        raise ReadError(f"a count of {int(values.max())} spaces; at most {_LONGEST_RUN_CHARS} are read")
    codes[starts] = _SPACE
    repeats[starts] = values
