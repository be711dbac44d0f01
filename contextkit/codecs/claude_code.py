"""Session files of Claude Code, JSON lines.

The conversation is the way from the newest message to its root. The walk goes through records of every kind; what is no
message is left out only afterwards. An answer of several blocks stands in several records that share ``message.id``,
and each result hangs on its own call, so the records beside the way are put back. A compaction starts a new root: its
summary, then the messages it kept, then the rest.

``Message.extra["claude-code"]`` holds ``records`` (the records of the message without their content), for an answer
``usage`` (of the record with the most output tokens: the others were written before the end), and
``before_compaction`` on messages that a later compaction kept, whose usage is therefore stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from contextkit.codecs._claude_chain import Chain, Said
from contextkit.codecs._fit import notes_of
from contextkit.codecs.jsonl import Record, shown_lines
from contextkit.messages import MACHINE_MADE, AnyPart, Conversation, Message, Role, Text

FORM = "claude-code"

_IDENTITIES = ("uuid", "leafUuid", "sessionId", "messageId")
_PRINTED = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>")
"""How a text begins that is the output of a command which the user ran inside the program."""


def sniff(value: dict[str, Any]) -> int:
    """Return 1 when ``value`` is a record of a Claude Code session."""
    if not isinstance(value.get("type"), str) or "payload" in value:
        return 0
    speaks = value["type"] in ("user", "assistant") and "message" in value
    return int(speaks or any(isinstance(value.get(name), str) for name in _IDENTITIES))


def decode(records: Sequence[Record], damaged: Sequence[int] = ()) -> tuple[Conversation, tuple[str, ...]]:
    """Return the conversation at the newest message of a session, and notes on what was left out.

    Parameters
    ----------
    records
        All records of the file, in file order.
    damaged
        Lines of which a record may be missing; over them a broken chain goes on with the record before.
    """
    chain = Chain(records, damaged)
    order = dict.fromkeys(chain.order())
    stale = chain.kept_by_compaction()
    messages = tuple(_message(items, stale) for items in _joined([chain.spoken[at] for at in order]))
    others = [{"line": record.line, "record": record.value} for at, record in enumerate(records) if at not in order]
    broken = (f"{shown_lines(chain.broken)}: a message without readable content, skipped",) if chain.broken else ()
    extra = {FORM: {"records": others}} if others else {}
    return Conversation(messages=messages, extra=extra), (*broken, *notes_of(chain.counts))


def _joined(said: list[Said]) -> Iterator[list[Said]]:
    """Yield the records of each message: those of one answer together, and those of one batch of results."""
    group: list[Said] = []
    for item in said:
        if group and not _belongs(group, item):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def _belongs(group: list[Said], item: Said) -> bool:
    """Return whether ``item`` goes into the message that ``group`` began."""
    if group[0].role == "assistant":
        return item.message_id is not None and item.message_id == group[0].message_id
    return item.role == "user" and item.is_results and all(said.is_results for said in group)


def _message(items: list[Said], stale: set[str]) -> Message:
    parts: tuple[AnyPart, ...] = tuple(part for item in items for part in item.parts)
    extra: dict[str, Any] = {"records": [_without_content(item.record.value) for item in items]}
    usages = [item.usage for item in items if item.usage is not None]
    if usages:
        extra["usage"] = max(usages, key=_output_tokens)
    if str(items[0].record.value.get("uuid")) in stale:
        extra["before_compaction"] = True
    made_by = MACHINE_MADE if any(map(_machine_made, items)) else {}
    role: Role = "assistant" if items[0].role == "assistant" else "user"
    return Message(role=role, parts=parts, extra={FORM: extra, **made_by})


def _machine_made(item: Said) -> bool:
    """Return whether the program wrote this in the user's name: a notice, a summary, what a command printed."""
    record, first = item.record.value, item.parts[0]
    printed = isinstance(first, Text) and first.text.startswith(_PRINTED)
    return item.role == "user" and bool(record.get("isMeta") or record.get("isCompactSummary") or printed)


def _output_tokens(usage: dict[str, Any]) -> float:
    count = usage.get("output_tokens")
    return count if isinstance(count, int | float) else 0


def _without_content(record: dict[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in record["message"].items() if key != "content"}
    return {**record, "message": message}
