"""A conversation from anywhere -> one that the Chat Completions request can say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from contextkit.codecs._chat_blocks import FORM, is_malformed
from contextkit.codecs._fit import (
    Counts,
    Wire,
    call_ids,
    changed,
    fit_parts,
    notes_of,
    renamed_calls,
    with_parts,
    without_empty,
)
from contextkit.codecs._ids import fitted_ids
from contextkit.codecs._images import MAX_SIDE_PX
from contextkit.messages import AnyPart, Conversation, Image, Message, Text, Thinking, ToolResult

ID_LIMIT_CHARS = 40
"""OpenAI Chat Completions: a tool_call_id of more than 40 characters is refused."""
_SURROGATE = "[\ud800-\udfff]"
POINTER = "[picture: in the next user message]"
SPEAKS_WITHOUT_CONTENT = ("refusal", "audio", "function_call")
"""Assistant fields that are an answer of their own."""


def adapted(conversation: Conversation) -> tuple[Conversation, tuple[str, ...]]:
    """Return ``conversation`` as this form can say it, and what had to change; the same object when nothing had."""
    counts: Counts = Counter()
    fit = fit_parts(conversation, _WIRE, counts)
    fit = renamed_calls(fit, fitted_ids(call_ids(fit), forbidden=_SURROGATE, limit_chars=ID_LIMIT_CHARS), counts)
    fit = changed(fit, messages=tuple(part for message in fit.messages for part in _apart(message)))
    fit = changed(fit, messages=tuple(_moved_pictures(fit.messages, counts)))
    return without_empty(fit, counts, _is_empty), notes_of(counts)


_WIRE = Wire(
    form=FORM,
    takes_thinking=lambda part: "field" in part.extra.get(FORM, {}),
    takes_text=bool,
    takes_result_text=lambda _text, _alone: True,
    is_malformed=is_malformed,
    side_limit_px=lambda _pictures: MAX_SIDE_PX,
)


def _apart(message: Message) -> Iterator[Message]:
    """Give every result a message of its own, before what else the message says."""
    results = tuple(message.of(ToolResult))
    if not results or (message.role == "tool" and len(results) == 1):
        yield message
        return
    yield from (Message(role="tool", parts=(result,)) for result in results)
    rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    if rest:
        yield with_parts(message, rest)


def _moved_pictures(messages: tuple[Message, ...], counts: Counts) -> Iterator[Message]:
    """Move pictures out of results into the next user message, after the whole run of tool messages."""
    moved: list[AnyPart] = []
    for message in messages:
        if message.role == "tool":
            result = next(message.of(ToolResult))
            moved += _labelled(result, counts)
            yield with_parts(message, (_without_pictures(result),))
        elif moved and message.role == "user":
            yield with_parts(message, (*moved, *message.parts))
            moved.clear()
        else:
            yield from _own_message(moved)
            yield message
    yield from _own_message(moved)


def _own_message(moved: list[AnyPart]) -> Iterator[Message]:
    if moved:
        yield Message(role="user", parts=tuple(moved))
        moved.clear()


def _labelled(result: ToolResult, counts: Counts) -> tuple[AnyPart, ...]:
    pictures = tuple(part for part in result.content if isinstance(part, Image))
    counts["picture(s) moved from results to the next user message"] += len(pictures)
    label = f"[{len(pictures)} picture(s) from the result of call {result.call_id}:]"
    return (Text(text=label), *pictures) if pictures else ()


def _without_pictures(result: ToolResult) -> ToolResult:
    if not any(isinstance(part, Image) for part in result.content):
        return result
    content = tuple(Text(text=POINTER) if isinstance(part, Image) else part for part in result.content)
    return msgspec.structs.replace(result, content=content)


def _is_empty(message: Message) -> bool:
    fields = message.extra.get(FORM, {}).get("fields", {})
    speaks = message.role == "assistant" and any(fields.get(name) for name in SPEAKS_WITHOUT_CONTENT)
    return not speaks and all(isinstance(part, Thinking) for part in message.parts)
