"""Session files of pi and oh-my-pi, JSON lines, versions 1 to 3.

Version 1 is linear. Its compaction entries say with ``firstKeptEntryIndex`` where the kept part begins; the index
counts all records from 0, **the header included**: in the real session of 1,003 records both compactions then keep
from a user message on (records 293 and 551), and without the header they would begin inside a turn. Later versions are
a tree of ``id`` and ``parentId`` whose leaf is the last entry; their compactions name ``firstKeptEntryId``.

``Message.extra["pi"]`` holds the entry without its content; ``usage`` in it is the provider's count, and
``before_compaction`` is set on messages that a later compaction kept, whose count is therefore stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from contextkit.codecs._fit import Counts, notes_of
from contextkit.codecs._json import Json
from contextkit.codecs._pi_blocks import FORM, BlockReader, text_of_bash
from contextkit.codecs._tree import walk
from contextkit.codecs.jsonl import Record
from contextkit.messages import MACHINE_MADE, AnyPart, Conversation, Message, Role, Text, ToolResult

__all__ = ["FORM", "decode", "sniff"]

SUMMARY_MARK = "[summary of the conversation before this point]"
BRANCH_MARK = "[summary of a branch that was left]"

_KINDS = frozenset({
    "session", "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom",
    "custom_message", "label", "session_info", "title_change", "reset_boundary", "credential_pin", "model_usage",
    "mode_change", "session_init", "ttsr_injection", "service_tier_change",
})
_CUTS = ("compaction", "reset_boundary")
_CONTENT = ("content", "summary", "output", "usage")
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
    session = _Session(records)
    messages = dict(session.messages(session.path(damaged)))
    others = [
        {"line": record.line, "record": record.value} for at, record in enumerate(records) if at not in messages
    ]
    extra = {FORM: {"records": others}} if others else {}
    return Conversation(messages=tuple(messages.values()), extra=extra), notes_of(session.counts)


class _Session:
    """The records of one file by their place in it; ``counts`` says what was left out."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.counts: Counts = Counter()

    def entry(self, at: int) -> Entry:
        return self.records[at].value

    def path(self, damaged: Sequence[int]) -> list[int]:
        """Return the entries from the root to the leaf; all of them in a file without ids."""
        entries = [at for at in range(len(self.records)) if self.entry(at).get("type") != "session"]
        named = [at for at in entries if isinstance(self.entry(at).get("id"), str)]
        if not named:
            return entries
        parents = {at: self.entry(at).get("parentId") for at in named}
        lines = {at: self.records[at].line for at in named}
        path = walk(named[-1], {self.entry(at)["id"]: at for at in named}, parents, lines, damaged)
        left = set(named) - set(path)
        self.counts["message(s) of left branches not part of the conversation"] += self.spoken_in(left)
        return path

    def messages(self, path: list[int]) -> Iterator[tuple[int, Message]]:
        """Yield what is sent, with the record it stands on: all that follows the last cut, and what that kept."""
        where = next((spot for spot in reversed(range(len(path))) if self.entry(path[spot]).get("type") in _CUTS), None)
        if where is None:
            yield from self.spoken(path)
            return
        before, cut = path[:where], self.entry(path[where])
        kept: list[int] = []
        if cut["type"] == "compaction":
            kept = before[self.first_kept(before, cut) :]
            yield path[where], _made("user", _marked(SUMMARY_MARK, cut.get("summary")), cut, {})
        dropped = self.spoken_in(before[: len(before) - len(kept)])
        self.counts["message(s) before the last compaction or reset left out"] += dropped
        yield from self.spoken(kept, before_compaction=True)
        yield from self.spoken(path[where + 1 :])

    def spoken_in(self, entries: Iterable[int]) -> int:
        return sum(self.entry(at).get("type") == "message" for at in entries)

    def first_kept(self, path: list[int], cut: Entry) -> int:
        """Return where on ``path`` the part begins that a compaction keeps; its end when it names no entry there."""
        key, index = cut.get("firstKeptEntryId"), cut.get("firstKeptEntryIndex")
        for spot, at in enumerate(path):
            if (key is not None and self.entry(at).get("id") == key) or (isinstance(index, int) and at >= index):
                return spot
        self.counts["compaction(s) whose first kept entry is not on the path: nothing before them is kept"] += 1
        return len(path)

    def spoken(self, path: list[int], *, before_compaction: bool = False) -> Iterator[tuple[int, Message]]:
        """Yield the messages that the entries of ``path`` say to the model."""
        marks = {"before_compaction": True} if before_compaction else {}
        for at in path:
            role, parts = self.read(self.entry(at))
            if parts:
                yield at, _made(role, parts, self.entry(at), marks)

    def read(self, entry: Entry) -> tuple[Role, tuple[AnyPart, ...]]:
        kind, message = entry.get("type"), entry.get("message")
        if kind == "message" and isinstance(message, dict):
            return self.read_message(message)
        if kind == "custom_message":
            return "user", BlockReader(self.counts).content(entry.get("content"))
        if kind == "branch_summary" and entry.get("summary"):
            return "user", _marked(BRANCH_MARK, entry["summary"])
        return "user", ()

    def read_message(self, message: Entry) -> tuple[Role, tuple[AnyPart, ...]]:
        name = message.get("role")
        if not isinstance(name, str) or name not in _ROLES:
            self.counts[f"message(s) of the role {name!r} left out"] += 1
            return "user", ()
        role, read = _ROLES[name]
        return role, read(self, message)

    def said(self, message: Entry) -> tuple[AnyPart, ...]:
        return BlockReader(self.counts).content(message.get("content"))

    def answered(self, message: Entry) -> tuple[AnyPart, ...]:
        parts = BlockReader(self.counts, str(message.get("api") or "")).content(message.get("content"))
        why = f"assistant message(s) with nothing in them ({message.get('stopReason')}) left out"
        self.counts[why] += not parts
        return parts

    def result(self, message: Entry) -> tuple[AnyPart, ...]:
        content: tuple[Any, ...] = self.said(message)
        key = str(message.get("toolCallId") or "")
        return (ToolResult(call_id=key, content=content, is_error=bool(message.get("isError"))),)

    def bash(self, message: Entry) -> tuple[AnyPart, ...]:
        hidden = bool(message.get("excludeFromContext"))
        self.counts["shell command(s) left out: excluded from the context"] += hidden
        return () if hidden else (Text(text=text_of_bash(message)),)

    def branch(self, message: Entry) -> tuple[AnyPart, ...]:
        return _marked(BRANCH_MARK, message.get("summary"))

    def compaction(self, message: Entry) -> tuple[AnyPart, ...]:
        return _marked(SUMMARY_MARK, message.get("summary"))


_ROLES: dict[str, tuple[Role, Callable[[_Session, Entry], tuple[AnyPart, ...]]]] = {
    "user": ("user", _Session.said),
    "assistant": ("assistant", _Session.answered),
    "toolResult": ("tool", _Session.result),
    "bashExecution": ("user", _Session.bash),
    "custom": ("user", _Session.said),
    "hookMessage": ("user", _Session.said),
    "branchSummary": ("user", _Session.branch),
    "compactionSummary": ("user", _Session.compaction),
}


def _marked(mark: str, text: Json) -> tuple[Text, ...]:
    return (Text(text=f"{mark}\n\n{text or '(empty)'}"),)


def _made(role: Role, parts: tuple[AnyPart, ...], entry: Entry, marks: Entry) -> Message:
    """Return a message that remembers the other fields of its entry."""
    rest = {key: value for key, value in entry.items() if key not in ("content", "summary", "message")}
    message = entry.get("message")
    if isinstance(message, dict):
        rest["message"] = {key: value for key, value in message.items() if key not in _CONTENT}
        if isinstance(message.get("usage"), dict):
            rest["usage"] = message["usage"]
    made_by = MACHINE_MADE if role == "user" and not _typed(entry) else {}
    return Message(role=role, parts=parts, extra={FORM: {**rest, **marks}, **made_by})


def _typed(entry: Entry) -> bool:
    """Say whether a person typed this: a plain user message, no command output, summary or hook message."""
    message = entry.get("message")
    return entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "user"
