"""Reads conversations from wire requests and session logs, and writes wire requests.

A codec is a module of this package. A *wire* codec knows one provider request in both directions, and its rules; a
*log* codec reads the session files of one program. Adding one is a new file and its place in ``_WIRES`` or ``_LOGS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contextkit.codecs import anthropic, claude_code, openai_chat, pi
from contextkit.codecs._loading import Forms, Loaded, LogCodec, WireCodec, from_json, from_records, load, read_file
from contextkit.codecs.jsonl import Record
from contextkit.codecs.repair import repair
from contextkit.errors import ArgumentError, RequestError
from contextkit.messages import Conversation, Pending

__all__ = [
    "LOG_FORMS", "WIRE_FORMS", "Loaded", "LogCodec", "WireCodec",
    "decode", "encode", "load_bytes", "load_path", "repaired", "violations",
]

_WIRES: Mapping[str, WireCodec] = {codec.FORM: codec for codec in (anthropic, openai_chat)}
_LOGS: Mapping[str, LogCodec] = {codec.FORM: codec for codec in (claude_code, pi)}
_FORMS = Forms(wires=_WIRES, logs=_LOGS)

WIRE_FORMS = tuple(_WIRES)
"""Forms that can be read and written."""
LOG_FORMS = tuple(_LOGS)
"""Forms that can be read."""


def load_path(path: str | Path) -> Loaded:
    """Read the conversation in a file, whatever its form.

    Raises
    ------
    FormatError
        When the file cannot be read or holds no conversation.
    """
    return load_bytes(read_file(Path(path)), name=str(path))


def load_bytes(raw: bytes, name: str = "input") -> Loaded:
    """Read the conversation in the bytes of a file: one JSON request, or the JSON lines of a log.

    Parameters
    ----------
    raw
        UTF-8, with or without a byte order mark.
    name
        What errors call it.

    Raises
    ------
    FormatError
        When there is no conversation of a known form in it; the message says where and why.
    """
    return load(raw, name, _FORMS)


def decode(obj: dict[str, Any] | list[dict[str, Any]], form: str | None = None) -> Conversation:
    """Return the conversation of parsed JSON: an object is a wire request, a list of objects the records of a log.

    Parameters
    ----------
    obj
        Parsed JSON; it is not modified.
    form
        Its form; found by its content when not given.

    Raises
    ------
    ArgumentError
        When ``form`` is unknown.
    FormatError
        When ``obj`` is not of that form, or of no known one.
    """
    if form is not None and form not in (*WIRE_FORMS, *LOG_FORMS):
        raise ArgumentError(f"unknown form {form!r}; allowed are {', '.join((*WIRE_FORMS, *LOG_FORMS))}")
    if isinstance(obj, list):
        records = [Record(number, record) for number, record in enumerate(obj, 1) if isinstance(record, dict)]
        return from_records(records, (), "input", _FORMS, form).conversation
    return from_json(obj, "input", _FORMS, form).conversation


def encode(conversation: Conversation, form: str) -> dict[str, Any]:
    """Return the request that says ``conversation`` in a wire form, repaired and checked.

    Raises
    ------
    ArgumentError
        When ``form`` is no wire form, or a part is still pending.
    RequestError
        When the provider would refuse the request; it lists every broken rule.
    """
    codec = _wire(form)
    try:
        request = codec.encode(repaired(conversation, form)[0])
        faults = codec.violations(request)
    except RecursionError as error:
        raise RequestError(form, ("a value is nested too deeply to be written; flatten it",)) from error
    if faults:
        raise RequestError(form, tuple(faults))
    return request


def repaired(conversation: Conversation, form: str) -> tuple[Conversation, tuple[str, ...]]:
    """Return ``conversation`` as ``form`` can say it, and one note for everything that had to change.

    A conversation that can be sent as it is comes back as the same object.

    Raises
    ------
    ArgumentError
        When ``form`` is no wire form, or a part is still pending.
    """
    codec = _wire(form)
    _refuse_pending(conversation)
    paired, pair_notes = repair(conversation)
    fit, fit_notes = codec.adapted(paired)
    return fit, (*pair_notes, *fit_notes)


def violations(request: dict[str, Any], form: str) -> list[str]:
    """Return every rule of its provider that ``request`` breaks, each with its place.

    Raises
    ------
    ArgumentError
        When ``form`` is no wire form.
    """
    return _wire(form).violations(request)


def _wire(form: str) -> WireCodec:
    if form in _WIRES:
        return _WIRES[form]
    hint = "; a log form can be read only" if form in _LOGS else ""
    raise ArgumentError(f"unknown wire form {form!r}; allowed are {', '.join(WIRE_FORMS)}{hint}")


def _refuse_pending(conversation: Conversation) -> None:
    count = sum(isinstance(part, Pending) for message in conversation.messages for part in message.parts)
    if count:
        raise ArgumentError(f"the conversation holds {count} pending part(s) of a plan; apply the plan first")
