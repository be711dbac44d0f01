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

from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.celltables import LATER_PART, Cells, CellTables, Codes, cell_tables, escape_bodies, spans_of
from glyphraster.errors import ReadError
from glyphraster.escapes import LONGEST_BODY_CHARS, named_code
from glyphraster.font import BitmapFont, Mark

Ends = npt.NDArray[np.signedinteger[Any]]

LONGEST_ATOM_CELLS = LONGEST_BODY_CHARS + 2
"""The most cells that a character or a run of spaces takes: those of an escape."""

_LONGEST_COUNT_CELLS = 10

COUNTED_RUN_CHARS = 4
"""Runs of spaces from this length are drawn as a count."""

TAB_STOP_CELLS = 8
"""Distance of tab stops where columns are kept."""

_LONGEST_RUN_CHARS = 1 << 30
_SPACE, _NEWLINE, _TAB = 0x20, 0x0A, 0x09
_LONG_RUN = " " * COUNTED_RUN_CHARS


# ---------------------------------------------------------------------------------------------------- text to cells


def encode_cells(text: str, font: BitmapFont, *, aligned: bool = False) -> tuple[Cells, Ends]:
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
    ends : int32, or int64 for texts of 97 million characters and more (len(text),)
        For each character, the number of cells up to and including it.
    """
    tables = cell_tables(font)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    cells = tables.cell_of.take(codes)  # 37 us a page; as an index, codes take 65
    missing = np.flatnonzero(cells == tables.missing)
    starts, lengths = _line_end_runs(codes) if aligned else _long_runs(codes, text)
    wide, spans = _wide(codes, tables)
    tabs = np.flatnonzero(codes == _TAB) if aligned else _NO_RUNS[0]
    if not (len(missing) or len(starts) or len(wide) or len(tabs)):
        return cells, _ends(np.ones(len(codes), np.uint8))
    digits = _decimal_digits(lengths)
    _put_counts(cells, starts + digits, lengths, tables)
    kept = _kept(starts + digits, starts + lengths, len(codes))
    if not (len(missing) or len(wide) or len(tabs)):
        return cells[kept], _whole_counts(_ends(kept.view(np.uint8)), starts, digits)
    body_cells, lengths = escape_bodies(font).of(codes[missing])
    widths = kept.view(np.uint8)
    widths[missing] = lengths + 2
    widths[wide] = spans
    widths[tabs] = _tab_widths(tabs, widths, codes)
    ends = _ends(widths)
    out = np.repeat(cells, widths)
    out[spans_of(ends[wide] - spans, spans)] = spans_of(cells[wide].astype(np.int64), spans)
    out[spans_of(ends[tabs] + 1 - widths[tabs], widths[tabs].astype(np.int64) - 1)] = tables.blank
    out[spans_of(ends[missing] - 1 - lengths, lengths)] = body_cells
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


def _ends(widths: npt.NDArray[np.uint8]) -> Ends:
    """Sum up as narrowly as is safe: memory of 0.6 MB is new each time, and costs 0.1 to 0.4 ms to touch."""
    return np.cumsum(widths, dtype=np.int32 if len(widths) * LONGEST_ATOM_CELLS < 1 << 31 else np.int64)


def _whole_counts(ends: Ends, starts: npt.NDArray[np.int64], digits: npt.NDArray[np.int64]) -> Ends:
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


def _kept(starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.bool_]:
    """Return which of so many characters lie outside of spans in order."""
    edges = np.concatenate([[0], np.stack([starts, stops], axis=1).reshape(-1), [size]])
    outside = np.arange(len(edges) - 1) % 2 == 0
    return np.repeat(outside, np.diff(edges))


def _decimal_digits(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.searchsorted(10 ** np.arange(1, _LONGEST_COUNT_CELLS, dtype=np.int64), values, "right") + 1


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
    later: npt.NDArray[np.bool_] = codes == LATER_PART
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
    repeats[spans_of(opens + 1, closes - opens)] = 0
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
