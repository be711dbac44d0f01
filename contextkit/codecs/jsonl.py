"""Reads JSON Lines that a crash may have damaged: every record that can be had, and a note on what cannot.

Lines end at a line feed alone, with or without a carriage return before it; bytes that are not UTF-8 become U+FFFD in
their place. Runs of zero bytes are taken out. A line that is no record is searched for records: two glued together, or
a whole one after a torn start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from contextkit.codecs._json import Json

BOM = b"\xef\xbb\xbf"
_START = re.compile(r'\{\s*"')
_SHOWN_LINES = 5
IsRecord = Callable[[dict[str, Any]], bool]
_MOST_STARTS = 2000
"""How many places of one damaged line are tried; a real one has a handful."""


class Record(NamedTuple):
    """One record of a log and the line it stands on, counted from 1."""

    line: int
    value: dict[str, Any]


@dataclass(slots=True)
class Lines:
    """What a log holds.

    Attributes
    ----------
    records
        In file order.
    total
        Lines that are not blank.
    unreadable, torn_end
        Lines that gave no record, and the number of the last line when it is cut off, else 0.
    not_objects, recovered, zeroed, undecoded
        Lines that are JSON but no object; that gave records only after a search; with zero bytes; with bytes that are
        not UTF-8.
    """

    records: list[Record] = field(default_factory=list)
    total: int = 0
    unreadable: list[int] = field(default_factory=list)
    torn_end: int = 0
    not_objects: list[int] = field(default_factory=list)
    recovered: list[int] = field(default_factory=list)
    zeroed: list[int] = field(default_factory=list)
    undecoded: list[int] = field(default_factory=list)

    @property
    def damaged(self) -> tuple[int, ...]:
        """Lines of which something may be missing, in order."""
        return tuple(sorted({*self.unreadable, *self.recovered, *self.zeroed, *self.torn}))

    @property
    def torn(self) -> tuple[int, ...]:
        """The last line, when it is cut off."""
        return (self.torn_end,) if self.torn_end else ()

    def notes(self) -> tuple[str, ...]:
        """Return one line for every kind of damage."""
        told = (
            (self.unreadable, "not JSON, skipped"),
            (self.torn, "the last line is cut off, skipped"),
            (self.not_objects, "JSON but no object, skipped"),
            (self.recovered, "damaged, its whole records recovered"),
            (self.zeroed, "zero bytes taken out"),
            (self.undecoded, "bytes that are not UTF-8 read as U+FFFD"),
        )
        return tuple(f"{shown_lines(lines)}: {what}" for lines, what in told if lines)


def shown_lines(lines: Sequence[int]) -> str:
    """Name lines: ``line 7`` or ``lines 7, 9, 12 and 4 more``."""
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    more = f" and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"


def read_lines(raw: bytes, is_record: IsRecord) -> Lines:
    """Read every record of ``raw``.

    Parameters
    ----------
    raw
        The file, with or without a byte order mark.
    is_record
        Tells a record from an object that only stands inside one; asked of damaged lines only.
    """
    found = Lines()
    lines = raw.removeprefix(BOM).split(b"\n")
    for number, line in enumerate(lines, 1):
        text = _text(line.removesuffix(b"\r"), number, found)
        if text.strip():
            found.total += 1
            _read_line(text, number, found, is_record, is_last=number == len(lines))
    return found


def _text(line: bytes, number: int, found: Lines) -> str:
    """Decode a line and write down what had to be done to it."""
    if b"\0" in line:
        found.zeroed.append(number)
        line = line.replace(b"\0", b"")
    try:
        return line.decode()
    except UnicodeDecodeError:
        found.undecoded.append(number)
        return line.decode(errors="replace")


def _read_line(text: str, number: int, found: Lines, is_record: IsRecord, *, is_last: bool) -> None:
    try:
        value = parse(text)
    except (ValueError, RecursionError):
        values = list(_recovered(text, is_record))
        found.records += (Record(number, value) for value in values)
        if values:
            found.recovered.append(number)
        elif is_last:
            found.torn_end = number
        else:
            found.unreadable.append(number)
        return
    if isinstance(value, dict):
        found.records.append(Record(number, value))
    else:
        found.not_objects.append(number)


def _recovered(text: str, is_record: IsRecord) -> Iterator[dict[str, Any]]:
    """Yield the whole records in a damaged line."""
    at = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.start() + 1
            continue
        if is_record(value):
            yield value


def parse(text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Json:
    """Parse JSON exactly: big integers, ``1.0`` and lone surrogates come back as they are.

    Raises
    ------
    ValueError
        When it is not JSON; NaN and the infinities are none.
    """
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=pairs_hook)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
