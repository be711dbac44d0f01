"""A conversation from anywhere -> one that the Anthropic Messages request can say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from contextkit.codecs._anthropic_blocks import FORM, is_malformed
from contextkit.codecs._fit import (
    Counts,
    Wire,
    call_ids,
    changed,
    fit_parts,
    notes_of,
    renamed_calls,
    same_items,
    with_parts,
    without_empty,
)
from contextkit.codecs._ids import fitted_ids
from contextkit.codecs._images import MANY_IMAGES, MAX_SIDE_MANY_PX, MAX_SIDE_PX
from contextkit.codecs._json import Json
from contextkit.codecs._shape import type_of
from contextkit.codecs._text import is_blank
from contextkit.messages import AnyPart, Conversation, Message, Opaque, Text, Thinking, ToolResult

ID_LIMIT_CHARS = 64
ID_FORBIDDEN = r"[^a-zA-Z0-9_-]"
"""Anthropic Messages reference: a tool_use id matches ^[a-zA-Z0-9_-]{1,64}$."""
MAX_CACHE_MARKS = 4
"""Anthropic prompt caching reference: at most four cache_control breakpoints in a request."""

OPENING = "[The conversation goes on from here.]"
SYSTEM_MARK = "[system message]"


def adapted(conversation: Conversation) -> tuple[Conversation, tuple[str, ...]]:
    """Return ``conversation`` as this form can say it, and what had to change; the same object when nothing had."""
    counts: Counts = Counter()
    fit = fit_parts(conversation, _WIRE, counts)
    fit = changed(fit, messages=tuple(_with_server_pairs(message, counts) for message in fit.messages))
    fit = changed(fit, messages=tuple(_ended(message, counts) for message in fit.messages))
    fit = renamed_calls(fit, fitted_ids(call_ids(fit), forbidden=ID_FORBIDDEN, limit_chars=ID_LIMIT_CHARS), counts)
    fit = changed(fit, messages=tuple(_merged(tuple(_spoken(message, counts) for message in fit.messages))))
    fit = without_empty(fit, counts, lambda message: not message.parts)
    fit = changed(fit, messages=_opened(_stripped_end(fit.messages, counts), counts))
    return _few_marks(fit, counts), notes_of(counts)


def is_signed(part: Thinking) -> bool:
    """Return whether this form made the block and takes it back: it has a signature, or is redacted."""
    if "redacted" in part.extra.get(FORM, {}):
        return True
    return bool(part.signature) and (not part.extra or FORM in part.extra)


def _takes_result_text(text: Text, alone: bool) -> bool:
    """Return whether a text may stand in a result: a blank one only as its whole content, written as a string."""
    return not is_blank(text.text) or (alone and not text.extra.get(FORM))


_WIRE = Wire(
    form=FORM,
    takes_thinking=is_signed,
    takes_text=lambda text: not is_blank(text),
    takes_result_text=_takes_result_text,
    is_malformed=is_malformed,
    side_limit_px=lambda pictures: MAX_SIDE_MANY_PX if pictures > MANY_IMAGES else MAX_SIDE_PX,
)


def server_use(block: Json) -> str | None:
    """Return the id of a call that the provider runs (``server_tool_use``, ``mcp_tool_use``, ...), else ``None``."""
    return str(block.get("id")) if type_of(block).endswith("_tool_use") else None


def server_result(block: Json) -> str | None:
    """Return the id that a result of such a call (``..._tool_result``) answers, else ``None``."""
    return str(block.get("tool_use_id")) if type_of(block).endswith("_tool_result") else None


def _with_server_pairs(message: Message, counts: Counts) -> Message:
    """Drop a provider-side call without its result, and a result without its call before it."""
    blocks = [part.value if isinstance(part, Opaque) else None for part in message.parts]
    asked = {key: at for at, block in reversed(list(enumerate(blocks))) if (key := server_use(block)) is not None}
    told = {key: at for at, block in enumerate(blocks) if (key := server_result(block)) is not None}
    paired = {key for key in asked if key in told and asked[key] < told[key]}
    keys = [server_use(block) or server_result(block) for block in blocks]
    kept = tuple(part for part, key in zip(message.parts, keys, strict=True) if key is None or key in paired)
    counts["provider-side call(s) or result(s) dropped: the other half is missing"] += len(message.parts) - len(kept)
    return with_parts(message, kept)


def _ended(message: Message, counts: Counts) -> Message:
    """Drop reasoning after which an answer says nothing more: it may not stand last."""
    stop = len(message.parts)
    while stop and isinstance(message.parts[stop - 1], Thinking):
        stop -= 1
    counts["reasoning block(s) dropped: nothing followed them"] += len(message.parts) - stop
    return with_parts(message, message.parts[:stop])


def _spoken(message: Message, counts: Counts) -> Message:
    """Turn a system message among the others into a user message that says so."""
    if message.role != "system":
        return message
    counts["system message(s) sent as user text"] += 1
    return Message(role="user", parts=(Text(text=SYSTEM_MARK), *message.parts) if message.parts else ())


def _merged(messages: tuple[Message, ...]) -> Iterator[Message]:
    """Join every run of tool messages, and the user message after it, into one user message with the results first."""
    run: list[AnyPart] = []
    for message in messages:
        if message.role == "tool":
            run += message.parts
        elif run and message.role == "user":
            yield msgspec.structs.replace(message, parts=(*run, *message.parts))
            run = []
        else:
            yield from _closed(run)
            run = []
            yield message
    yield from _closed(run)


def _closed(run: list[AnyPart]) -> Iterator[Message]:
    if run:
        yield Message(role="user", parts=tuple(run))


def _stripped_end(messages: tuple[Message, ...], counts: Counts) -> tuple[Message, ...]:
    """Take trailing white space off the last text when the assistant speaks last."""
    last = messages[-1] if messages else None
    at = _last_text(last) if last is not None and last.role == "assistant" else None
    if last is None or at is None:
        return messages
    text = last.parts[at]
    stripped = msgspec.structs.replace(text, text=text.text.rstrip())  # type: ignore[union-attr]
    if stripped == text:
        return messages
    counts["trailing white space taken off the last answer"] += 1
    return (*messages[:-1], with_parts(last, (*last.parts[:at], stripped, *last.parts[at + 1 :])))


def _last_text(message: Message) -> int | None:
    return next((at for at in reversed(range(len(message.parts))) if isinstance(message.parts[at], Text)), None)


def _opened(messages: tuple[Message, ...], counts: Counts) -> tuple[Message, ...]:
    """Put a short user message in front when the assistant would speak first."""
    if not messages or messages[0].role == "user":
        return messages
    counts["user message(s) put in front: the first message must be the user's"] += 1
    return (Message(role="user", parts=(Text(text=OPENING),)), *messages)


def _few_marks(conversation: Conversation, counts: Counts) -> Conversation:
    """Take the oldest cache marks off the messages when there are more than four."""
    parts = (part for message in conversation.messages for part in message.parts)
    carriers = (*conversation.system, *conversation.tools, *parts)
    surplus = sum(map(_marks, carriers)) + _is_marked(conversation) - MAX_CACHE_MARKS
    if surplus <= 0:
        return conversation
    remover = _Unmarker(surplus)
    fit = changed(conversation, messages=tuple(
        with_parts(message, tuple(map(remover.part, message.parts))) for message in conversation.messages
    ))
    counts[f"cache mark(s) taken off, the oldest first: {MAX_CACHE_MARKS} are allowed"] += surplus - remover.left
    return fit


def _marks(carrier: Json) -> int:
    inner = carrier.content if isinstance(carrier, ToolResult) else ()
    return _is_marked(carrier) + sum(map(_marks, inner))


def _is_marked(carrier: Json) -> bool:
    if isinstance(carrier, Opaque):
        return isinstance(carrier.value, dict) and _MARK in carrier.value
    return _MARK in carrier.extra.get(FORM, {}).get("fields", {})


class _Unmarker:
    """Takes ``left`` cache marks off the parts it is shown, in order."""

    def __init__(self, left: int) -> None:
        self.left = left

    def part(self, part: Json) -> Json:
        if isinstance(part, ToolResult):
            content = tuple(map(self.part, part.content))
            part = part if same_items(content, part.content) else msgspec.structs.replace(part, content=content)
        if self.left <= 0 or not _is_marked(part):
            return part
        self.left -= 1
        if isinstance(part, Opaque):
            return msgspec.structs.replace(part, value=_unmarked(part.value))
        hints = part.extra[FORM]
        fewer = {**hints, "fields": _unmarked(hints["fields"])}
        return msgspec.structs.replace(part, extra={**part.extra, FORM: fewer})


_MARK = "cache_control"


def _unmarked(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != _MARK}
