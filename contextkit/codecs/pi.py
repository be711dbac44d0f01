"""Session files of pi and oh-my-pi, JSON lines, versions 1 to 3.

Version 1 is linear. Its compaction entries say with ``firstKeptEntryIndex`` where the kept part begins; the index counts all
records from 0, **the header included**: in the real session of 1,003 records both compactions then keep from a user message on
(records 293 and 551), and without the header they would begin in the middle of a turn. Later versions are a tree of ``id`` and
``parentId`` whose leaf is the last entry; their compactions name ``firstKeptEntryId``.

``Message.extra["pi"]`` holds the entry without its content; ``usage`` in it is the provider's count, and ``before_compaction`` is
set on messages that a later compaction kept, whose count is therefore stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from contextkit.codecs._fit import Counts, notes_of
from contextkit.codecs._json import Json
from contextkit.codecs._pi_blocks import read_content, text_of_bash
from contextkit.codecs._tree import walk
from contextkit.codecs.jsonl import Record
from contextkit.messages import AnyPart, Conversation, Message, Role, Text, ToolResult

FORM = "pi"

SUMMARY_MARK = "[summary of the conversation before this point]"
BRANCH_MARK = "[summary of a branch that was left]"

_KINDS = frozenset({
    "session", "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message",
    "label", "session_info", "title_change", "reset_boundary", "credential_pin", "model_usage", "mode_change", "session_init",
    "ttsr_injection", "service_tier_change",
})
Entry = dict[str, Any]


def sniff(value: Entry) -> int:
    """Return 1 when ``value`` is a record of a pi session."""
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _KINDS or "uuid" in value or "payload" in value:
        return 0
    if kind == "message":
        return int(isinstance(value.get("message"), dict) and isinstance(value["message"].get("role"), str))
    return int("timestamp" in value or "id" in value)


def decode(records: Sequence[Record], damaged: Sequence[int] = ()) -> tuple[Conversation, tuple[str, ...]]:
    """Return the conversation at the leaf of a session, and notes on what was left out.

    Parameters
    ----------
    records
        All records of the file, header included, in file order.
    damaged
        Lines of which a record may be missing; over them a broken chain goes on with the entry before.
    """
    counts: Counts = Counter()
    path = _path(records, damaged)
    messages = tuple(_messages(records, path, counts))
    spoken = {at for at, _ in messages}
    others = [{"line": record.line, "record": record.value} for at, record in enumerate(records) if at not in spoken]
    extra: dict[str, Any] = {"records": others} if others else {}
    return Conversation(messages=tuple(message for _, message in messages), extra={FORM: extra} if extra else {}), notes_of(counts)


def _path(records: Sequence[Record], damaged: Sequence[int]) -> list[int]:
    """Return the indices of the entries from the root to the leaf."""
    entries = [at for at, record in enumerate(records) if record.value.get("type") != "session"]
    with_id = [at for at in entries if isinstance(records[at].value.get("id"), str)]
    if not with_id:
        return entries
    parents = {at: records[at].value.get("parentId") for at in with_id}
    return walk(with_id[-1], {records[at].value["id"]: at for at in with_id}, parents, {at: records[at].line for at in with_id}, damaged)


def _messages(records: Sequence[Record], path: list[int], counts: Counts) -> Iterator[tuple[int, Message]]:
    """Yield what is sent: after the last compaction or reset on the path, with the summary and the kept part."""
    last = next((at for at in reversed(path) if records[at].value.get("type") in ("compaction", "reset_boundary")), None)
    if last is None:
        yield from _spoken(records, path, counts)
        return
    where = path.index(last)
    counts["message(s) before the last compaction or reset left out"] += sum(_is_message(records[at]) for at in path[:where])
    entry = records[last].value
    if entry["type"] == "compaction":
        kept = path[_first_kept(records, path[:where], entry, counts) : where]
        counts["message(s) before the last compaction or reset left out"] -= sum(_is_message(records[at]) for at in kept)
        yield last, _summary(entry)
        yield from _spoken(records, kept, counts, before_compaction=True)
    yield from _spoken(records, path[where + 1 :], counts)


def _is_message(record: Record) -> bool:
    return record.value.get("type") == "message"


def _first_kept(records: Sequence[Record], path: list[int], entry: Entry, counts: Counts) -> int:
    """Return where on ``path`` the part begins that a compaction keeps; its end when it names no entry there."""
    key, index = entry.get("firstKeptEntryId"), entry.get("firstKeptEntryIndex")
    for spot, at in enumerate(path):
        if (key is not None and records[at].value.get("id") == key) or (isinstance(index, int) and at >= index):
            return spot
    counts["compaction(s) whose first kept entry is not on the path: nothing before them is kept"] += 1
    return len(path)


def _spoken(
    records: Sequence[Record], path: list[int], counts: Counts, *, before_compaction: bool = False,
) -> Iterator[tuple[int, Message]]:
    for at in path:
        message = _read_entry(records[at].value, counts, {"before_compaction": True} if before_compaction else {})
        if message is not None:
            yield at, message


def _read_entry(entry: Entry, counts: Counts, marks: Entry) -> Message | None:
    """Return the message that an entry says to the model, if any."""
    kind = entry.get("type")
    if kind == "message" and isinstance(entry.get("message"), dict):
        return _read_message(entry, entry["message"], counts, marks)
    if kind == "custom_message":
        return _made("user", read_content(entry.get("content"), "", counts), entry, marks)
    if kind == "branch_summary" and entry.get("summary"):
        return _made("user", _marked(BRANCH_MARK, entry["summary"]), entry, marks)
    return None


def _summary(entry: Entry) -> Message:
    return _made("user", _marked(SUMMARY_MARK, entry.get("summary")), entry, {}) or Message(role="user", parts=(Text(text=SUMMARY_MARK),))


def _marked(mark: str, text: Json) -> tuple[Text, ...]:
    return (Text(text=f"{mark}\n\n{text}"),)


def _read_message(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    read = _ROLES.get(str(message.get("role")))
    if read is None:
        counts[f"message(s) of the role {message.get('role')!r} left out"] += 1
        return None
    return read(entry, message, counts, marks)


def _read_user(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    return _made("user", read_content(message.get("content"), "", counts), entry, marks)


def _read_assistant(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    parts = read_content(message.get("content"), str(message.get("api", "")), counts)
    if not parts:
        counts[f"assistant message(s) with nothing in them ({message.get('stopReason')}) left out"] += 1
    usage = {"usage": message["usage"]} if isinstance(message.get("usage"), dict) else {}
    return _made("assistant", parts, entry, {**usage, **marks})


def _read_result(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    content: tuple[Any, ...] = read_content(message.get("content"), "", counts)
    result = ToolResult(call_id=str(message.get("toolCallId") or ""), content=content, is_error=bool(message.get("isError")))
    return _made("tool", (result,), entry, marks)


def _read_bash(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    if message.get("excludeFromContext"):
        counts["shell command(s) left out: excluded from the context"] += 1
        return None
    return _made("user", (Text(text=text_of_bash(message)),), entry, marks)


def _read_branch(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    return _made("user", _marked(BRANCH_MARK, message.get("summary")), entry, marks)


def _read_compaction(entry: Entry, message: Entry, counts: Counts, marks: Entry) -> Message | None:
    return _made("user", _marked(SUMMARY_MARK, message.get("summary")), entry, marks)


_ROLES: dict[str, Callable[[Entry, Entry, Counts, Entry], Message | None]] = {
    "user": _read_user,
    "assistant": _read_assistant,
    "toolResult": _read_result,
    "bashExecution": _read_bash,
    "custom": _read_user,
    "hookMessage": _read_user,
    "branchSummary": _read_branch,
    "compactionSummary": _read_compaction,
}


def _made(role: Role, parts: tuple[AnyPart, ...], entry: Entry, marks: Entry) -> Message | None:
    """Return a message that remembers the other fields of its entry; nothing when it has no parts."""
    if not parts:
        return None
    rest = {key: value for key, value in entry.items() if key not in ("content", "summary", "message")}
    if isinstance(entry.get("message"), dict):
        rest["message"] = {key: value for key, value in entry["message"].items() if key not in _CONTENT}
    return Message(role=role, parts=parts, extra={FORM: {**rest, **marks}})


_CONTENT = ("content", "summary", "output", "usage")
