"""Session files of Claude Code, JSON lines.

The conversation is the way from the newest message to its root. The walk goes through records of every kind; what is no message
is left out only afterwards. An answer of several blocks stands in several records that share ``message.id`` and each result hangs
on its own call, so the records beside the way are put back. A compaction starts a new root: its summary, and the kept messages.

``Message.extra["claude-code"]`` holds ``records``, the records of the message without their content, and for an answer ``usage``:
the count of the record that has the most output tokens, as the others repeat it or were written before the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from contextkit.codecs._claude_chain import Chain, Said
from contextkit.codecs._fit import Counts, notes_of
from contextkit.codecs.jsonl import Record, shown_lines
from contextkit.messages import AnyPart, Conversation, Message, Role

FORM = "claude-code"

_IDENTITIES = ("uuid", "leafUuid", "sessionId", "messageId")


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
    messages = tuple(_messages(chain.said()))
    others = [{"line": record.line, "record": record.value} for at, record in enumerate(records) if at not in chain.used]
    counts: Counts = chain.counts
    notes = (*(f"{shown_lines(chain.broken)}: a message without readable content, skipped" for _ in chain.broken[:1]), *notes_of(counts))
    return Conversation(messages=messages, extra={FORM: {"records": others}} if others else {}), notes


def _messages(said: Iterable[Said]) -> Iterator[Message]:
    """Join records of one answer, and the results of one batch, into one message each."""
    waiting: list[Said] = []
    for item in said:
        if waiting and not _belongs(waiting, item):
            yield _message(waiting)
            waiting = []
        waiting.append(item)
    if waiting:
        yield _message(waiting)


def _belongs(waiting: list[Said], item: Said) -> bool:
    """Return whether ``item`` goes into the message that ``waiting`` began."""
    first = waiting[0]
    if first.role == "assistant":
        return item.role == "assistant" and item.message_id is not None and item.message_id == first.message_id
    return all(said.is_results for said in waiting) and item.is_results


def _message(items: list[Said]) -> Message:
    parts: tuple[AnyPart, ...] = tuple(part for item in items for part in item.parts)
    extra: dict[str, Any] = {"records": [_without_content(item.record.value) for item in items]}
    usages = [item.usage for item in items if item.usage is not None]
    if usages:
        extra["usage"] = max(usages, key=_output_tokens)
    role: Role = "assistant" if items[0].role == "assistant" else "user"
    return Message(role=role, parts=parts, extra={FORM: extra})


def _output_tokens(usage: dict[str, Any]) -> float:
    count = usage.get("output_tokens")
    return count if isinstance(count, int | float) else 0


def _without_content(record: dict[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in record["message"].items() if key != "content"}
    return {**record, "message": message}
