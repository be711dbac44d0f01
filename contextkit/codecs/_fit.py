"""What both wires do to a conversation that came from elsewhere: leave out what they cannot say, and tell.

Every step takes and returns a conversation (the same object when there is nothing to do) and counts what it did.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from contextkit.codecs._extra import PROVIDER_SIDE
from contextkit.codecs._images import image_fault, true_media_type
from contextkit.codecs._json import Json
from contextkit.messages import AnyPart, Conversation, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult

Counts = Counter[str]

NAMELESS = "unknown"
"""Name of a tool whose call lost it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What one wire takes.

    Attributes
    ----------
    form
        Its name.
    takes_thinking
        Whether a reasoning part may be sent.
    takes_text
        Whether a text may stand in a message.
    takes_result_text
        Whether a text may stand in a result; the second argument says whether it stands there alone.
    is_malformed
        Whether a block of this form is one that the form does not take.
    side_limit_px
        Longest side of a picture, from the number of pictures in the request.
    """

    form: str
    takes_thinking: Callable[[Thinking], bool]
    takes_text: Callable[[str], bool]
    takes_result_text: Callable[[Text, bool], bool]
    is_malformed: Callable[[Json], bool]
    side_limit_px: Callable[[int], int]


def fit_parts(conversation: Conversation, wire: Wire, counts: Counts) -> Conversation:
    """Leave out or replace the parts that ``wire`` does not take."""
    fitter = _Fitter(wire, wire.side_limit_px(sum(1 for _ in pictures(conversation))), counts)
    messages = tuple(map(fitter.message, conversation.messages))
    system = fitter.kept(conversation.system)
    tools = tuple(tool for tool in conversation.tools if not _is_foreign(tool.extra, wire.form))
    counts["tool(s) left out: their provider runs them itself"] += len(conversation.tools) - len(tools)
    return changed(conversation, messages=messages, system=system, tools=tools)


def _is_foreign(extra: Mapping[str, Mapping[str, Any]], form: str) -> bool:
    return any(PROVIDER_SIDE in hints for name, hints in extra.items() if name != form)


def pictures(conversation: Conversation) -> Iterator[Image]:
    """Yield every picture whose bytes are part of the conversation."""
    for message in conversation.messages:
        for part in message.parts:
            inner = part.content if isinstance(part, ToolResult) else (part,)
            yield from (image for image in inner if isinstance(image, Image) and image.data is not None)


class _Fitter:
    """One pass over the parts; ``counts`` says what was done."""

    def __init__(self, wire: Wire, side_limit_px: int, counts: Counts) -> None:
        self.wire, self.side_limit_px, self.counts = wire, side_limit_px, counts

    def message(self, message: Message) -> Message:
        parts: list[AnyPart] = []
        for part in message.parts:
            parts += self.fitted(part, message.role)
        return with_parts(message, tuple(parts))

    def fitted(self, part: AnyPart, role: str) -> tuple[AnyPart, ...]:
        if isinstance(part, Thinking):
            taken = role == "assistant" and self.wire.takes_thinking(part)
            return self.take(part, taken=taken, why="reasoning block(s) dropped: not signed for this form")
        if isinstance(part, Text):
            return self.kept((part,))
        if isinstance(part, ToolResult):
            return (self.result(part),)
        if isinstance(part, Image) and role not in ("user", "tool"):
            return self.label(f"{role} messages cannot carry pictures")
        if isinstance(part, ToolCall) and not part.name:
            self.counts[f"call(s) without a name sent as {NAMELESS}"] += 1
            return (msgspec.structs.replace(part, name=NAMELESS),)
        return self.either(part)

    def kept(self, texts: tuple[Text, ...]) -> tuple[Text, ...]:
        kept = tuple(text for text in texts if self.wire.takes_text(text.text))
        self.counts["blank text(s) dropped"] += len(texts) - len(kept)
        return kept if len(kept) != len(texts) else texts

    def result(self, result: ToolResult) -> ToolResult:
        content: list[Any] = []
        for part in result.content:
            if isinstance(part, Text):
                taken = self.wire.takes_result_text(part, len(result.content) == 1)
                content += self.take(part, taken=taken, why="blank text(s) dropped")
            else:
                content += self.either(part)
        if same_items(content, result.content):
            return result
        return msgspec.structs.replace(result, content=tuple(content))

    def either(self, part: Json) -> tuple[Any, ...]:
        """Fit what may stand in a message and in a result alike."""
        if isinstance(part, Image):
            return self.image(part)
        if not isinstance(part, Opaque):
            return (part,)
        if part.form != self.wire.form:
            return self.foreign(part)
        malformed = self.wire.is_malformed(part.value)
        return self.take(part, taken=not malformed, why="block(s) of an unknown shape dropped")

    def take(self, part: Json, *, taken: bool, why: str) -> tuple[Any, ...]:
        self.counts[why] += not taken
        return (part,) if taken else ()

    def image(self, image: Image) -> tuple[Image | Text, ...]:
        if image.data is None:
            served = bool(image.url) and not str(image.url).startswith("data:")
            return (image,) if served else self.label("it has no readable data")
        kind = true_media_type(image.data) or image.media_type
        fault = image_fault(kind, image.data, side_limit_px=self.side_limit_px)
        if fault:
            return self.label(fault)
        if kind == image.media_type:
            return (image,)
        self.counts[f"picture(s) that said {image.media_type} sent as {kind}"] += 1
        return (msgspec.structs.replace(image, media_type=kind),)

    def label(self, why: str) -> tuple[Text, ...]:
        self.counts[f"picture(s) replaced by a label: {why}"] += 1
        return (Text(text=f"[picture left out: {why}]"),)

    def foreign(self, part: Opaque) -> tuple[Text, ...]:
        value = part.value if isinstance(part.value, dict) else {}
        kind = value.get("type")
        if isinstance(value.get("name"), str) and "input" in value:
            self.counts[f"{part.form} {kind} block(s) told as text"] += 1
            return (Text(text=f"[{kind}: {value['name']} {json.dumps(value['input'], ensure_ascii=False)}]"),)
        self.counts[f"{part.form} {kind} block(s) dropped: this form has no such block"] += 1
        return ()


def with_parts(message: Message, parts: tuple[AnyPart, ...]) -> Message:
    """Return ``message`` with ``parts``, the same object when they are the same."""
    return message if same_items(parts, message.parts) else msgspec.structs.replace(message, parts=parts)


def changed(conversation: Conversation, **fields: tuple[Any, ...]) -> Conversation:
    """Return ``conversation`` with ``fields``, the same object when every item of them is the same."""
    new = {name: items for name, items in fields.items() if not same_items(items, getattr(conversation, name))}
    return msgspec.structs.replace(conversation, **new) if new else conversation


def same_items(one: Json, two: Json) -> bool:
    """Return whether two sequences hold the very same objects."""
    return len(one) == len(two) and all(a is b for a, b in zip(one, two, strict=True))


def renamed_calls(conversation: Conversation, names: Mapping[str, str], counts: Counts) -> Conversation:
    """Give calls and their results the ids in ``names``."""
    if not names:
        return conversation
    counts["call id(s) renamed: this form does not take them"] += len(names)
    return changed(conversation, messages=tuple(
        with_parts(message, tuple(_renamed(part, names) for part in message.parts)) for message in conversation.messages
    ))


def _renamed(part: AnyPart, names: Mapping[str, str]) -> AnyPart:
    if isinstance(part, ToolCall) and part.id in names:
        return msgspec.structs.replace(part, id=names[part.id])
    if isinstance(part, ToolResult) and part.call_id in names:
        return msgspec.structs.replace(part, call_id=names[part.call_id])
    return part


def call_ids(conversation: Conversation) -> Iterator[str]:
    """Yield the id of every call and result, in order."""
    for message in conversation.messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                yield part.id
            elif isinstance(part, ToolResult):
                yield part.call_id


def without_empty(conversation: Conversation, counts: Counts, is_empty: Callable[[Message], bool]) -> Conversation:
    """Drop messages with nothing left in them; when that were all of them, say so in one user message."""
    kept = tuple(message for message in conversation.messages if not is_empty(message))
    dropped = len(conversation.messages) - len(kept)
    counts["empty message(s) dropped"] += dropped
    if dropped and not kept:
        kept = (Message(role="user", parts=(Text(text="[every message was empty]"),)),)
    return changed(conversation, messages=kept)


def notes_of(counts: Counts) -> tuple[str, ...]:
    """Return one line for everything that was counted."""
    return tuple(f"{count} {what}" for what, count in counts.items() if count)

