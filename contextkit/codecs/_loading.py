"""Finds out what some bytes are, and has the right codec read them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from contextkit.codecs._json import Json
from contextkit.codecs._shape import keys_of, kind_of
from contextkit.codecs.jsonl import BOM, Lines, Record, parse, read_lines, shown_lines
from contextkit.errors import FormatError
from contextkit.messages import Conversation

REMEDY = "give one wire request as JSON, or a session log as JSON lines"
_SHOWN_KINDS = 8


class WireCodec(Protocol):
    """One provider's request, in both directions, and its rules."""

    FORM: str

    def sniff(self, value: dict[str, Any], /) -> int:
        """Count the signs that ``value`` is of this form; 0 when it cannot be."""

    def decode(self, value: dict[str, Any], /) -> Conversation:
        """Return the conversation of a request."""

    def adapted(self, conversation: Conversation, /) -> tuple[Conversation, tuple[str, ...]]:
        """Return a repaired conversation as this form can say it, and what had to change."""

    def encode(self, conversation: Conversation, /) -> dict[str, Any]:
        """Return the request of an adapted conversation."""

    def violations(self, request: dict[str, Any], /) -> list[str]:
        """Return every rule that ``request`` breaks."""


class LogCodec(Protocol):
    """The session files of one program."""

    FORM: str

    def sniff(self, value: dict[str, Any], /) -> int:
        """Return 1 when ``value`` is a record of this form, else 0."""

    def decode(self, records: Sequence[Record], damaged: Sequence[int] = (), /) -> tuple[Conversation, tuple[str, ...]]:
        """Return the conversation of a log and its notes; something may be missing of the lines in ``damaged``."""


class Forms(msgspec.Struct, frozen=True, kw_only=True):
    """The codecs that are tried, in order."""

    wires: Mapping[str, WireCodec]
    logs: Mapping[str, LogCodec]

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether ``value`` is a record of any log form."""
        return any(codec.sniff(value) for codec in self.logs.values())

    def wire_of(self, value: dict[str, Any]) -> str | None:
        """Return the wire form with the most signs in ``value``, the first of equals; ``None`` without any."""
        signs = {form: codec.sniff(value) for form, codec in self.wires.items()}
        return max(signs, key=signs.__getitem__) if any(signs.values()) else None

    def log_of(self, records: Sequence[Record]) -> str | None:
        """Return the log form that most of the records are of, the first of equals; ``None`` without any."""
        signs = {form: sum(codec.sniff(record.value) for record in records) for form, codec in self.logs.items()}
        return max(signs, key=signs.__getitem__) if any(signs.values()) else None


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that was read.

    Attributes
    ----------
    conversation
        What was in the file.
    form
        The form it was in.
    notes
        One line for everything that was skipped, repaired or odd.
    """

    conversation: Conversation
    form: str
    notes: tuple[str, ...] = ()


def read_file(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    FormatError
        When there is none, or it cannot be read.
    """
    if path.is_dir():
        raise FormatError(f"{path} is a directory; give the path of a file in it")
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FormatError(f"{path} does not exist; check the path") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FormatError(f"{path} cannot be read: {why}; check the path and its permissions") from error


def load(raw: bytes, name: str, forms: Forms) -> Loaded:
    """Read ``raw`` as one JSON value, or else as a log."""
    if not raw.removeprefix(BOM).strip(b"\0 \t\r\n"):
        raise FormatError(f"{name} is empty ({len(raw)} bytes, none of them text); {REMEDY}")
    repeated: Counter[str] = Counter()
    try:
        value = parse(raw.removeprefix(BOM).decode(), lambda pairs: _counted(pairs, repeated))
    except RecursionError as error:
        raise FormatError(f"{name} is nested too deeply to be a request; {REMEDY}") from error
    except ValueError as error:
        return _load_log(raw, name, forms, error)
    loaded = from_json(value, name, forms)
    return msgspec.structs.replace(loaded, notes=(*_repeat_notes(repeated), *loaded.notes))


def _counted(pairs: list[tuple[str, Any]], repeated: Counter[str]) -> dict[str, Any]:
    """Build an object and count the keys that stand in it more than once."""
    value = dict(pairs)
    if len(value) != len(pairs):
        repeated.update(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return value


def _repeat_notes(repeated: Counter[str]) -> tuple[str, ...]:
    return tuple(
        f"key {key!r} stands more than once in {count} object(s); the last one counts"
        for key, count in repeated.items()
    )


def from_json(value: Json, name: str, forms: Forms, form: str | None = None) -> Loaded:
    """Read one parsed JSON value: a request, or a log of one record."""
    if not isinstance(value, dict):
        raise _wrong_shape(value, name, forms)
    best = form or forms.wire_of(value)
    if best is not None and best in forms.wires:
        return Loaded(conversation=forms.wires[best].decode(value), form=best)
    if best is None and not forms.is_record(value):
        raise _wrong_shape(value, name, forms)
    return from_records([Record(1, value)], (), name, forms, form)


def from_records(
    records: Sequence[Record], damaged: Sequence[int], name: str, forms: Forms, form: str | None = None,
) -> Loaded:
    """Read the records of a log."""
    best = form or forms.log_of(records)
    if best in forms.wires:
        raise FormatError(f"{name} is a list of {len(records)} records; {best} needs one object with 'messages'")
    if best is None:
        raise _unknown_records(records, name, forms)
    conversation, notes = forms.logs[best].decode(records, damaged)
    if not conversation.messages:
        raise FormatError(f"{name} is a {best} log without any message; its {len(records)} record(s) are "
                          f"{_kinds(records)}; give the log of a session in which something was said")
    return Loaded(conversation=conversation, form=best, notes=notes)


def _load_log(raw: bytes, name: str, forms: Forms, error: ValueError) -> Loaded:
    """Read ``raw`` line by line; ``error`` says why it is not one JSON value."""
    lines = read_lines(raw, forms.is_record)
    if not any(forms.is_record(record.value) for record in lines.records):
        raise _unreadable(lines, name, forms, error) from error
    bad = sorted([*lines.unreadable, *lines.not_objects, *lines.torn])
    if 2 * len(bad) > lines.total:
        raise FormatError(f"{name}: {len(bad)} of {lines.total} lines are no records ({shown_lines(bad)}); "
                          "most of a log must be readable: restore it from a copy, or cut out the damaged part")
    loaded = from_records(lines.records, lines.damaged, name, forms)
    return msgspec.structs.replace(loaded, notes=(*lines.notes(), *loaded.notes))


def _unreadable(lines: Lines, name: str, forms: Forms, error: ValueError) -> FormatError:
    """Say why text is neither JSON nor a log."""
    if isinstance(error, UnicodeDecodeError):
        return FormatError(f"{name} is no UTF-8 text: byte 0x{error.object[error.start]:02x} at offset {error.start} "
                           f"of {len(error.object)}; {REMEDY}, in UTF-8")
    if lines.records and lines.records[0].line == 1 and lines.total > 1:
        return _unknown_records(lines.records, name, forms)
    if isinstance(error, json.JSONDecodeError):
        return FormatError(f"{name} is no JSON: {error.msg} at line {error.lineno}, column {error.colno} "
                           f"(character {error.pos} of {len(error.doc)}); is it cut off? {REMEDY}")
    return FormatError(f"{name} is no JSON: {error}; {REMEDY}")


def _unknown_records(records: Sequence[Record], name: str, forms: Forms) -> FormatError:
    first = f"line {records[0].line} has {keys_of(records[0].value)}; " if records else ""
    return FormatError(f"{name}: none of its {len(records)} record(s) is of a known log form; {first}"
                       f"known log forms are {', '.join(forms.logs)}")


def _wrong_shape(value: Json, name: str, forms: Forms) -> FormatError:
    has = f"an object with {keys_of(value)}" if isinstance(value, dict) else kind_of(value)
    hint = ' (put a list of messages into {"messages": [...]})' if isinstance(value, list) else ""
    return FormatError(f"{name} is {has}; a request ({', '.join(forms.wires)}) needs an object with 'messages'{hint}, "
                       f"a log record ({', '.join(forms.logs)}) needs a 'type'")


def _kinds(records: Sequence[Record]) -> str:
    """Name the kinds of records with their counts, the most frequent first."""
    kinds = Counter(str(record.value.get("type")) for record in records).most_common()
    more = f" and {len(kinds) - _SHOWN_KINDS} more kinds" if len(kinds) > _SHOWN_KINDS else ""
    return ", ".join(f"{count} x {kind}" for kind, count in kinds[:_SHOWN_KINDS]) + more
