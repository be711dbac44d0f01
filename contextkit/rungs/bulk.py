"""Bulk that gives way where a snapshot has no room: whole results, arguments and command outputs, never a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from contextkit.messages import AnyPart, Conversation, Message, Text, ToolCall, ToolResult, machine_made
from contextkit.plaintext import arguments_text, result_text
from contextkit.recall import Original
from contextkit.rungs.elide import elided, target
from contextkit.rungs.rewrite import calls_by_id

SMALLEST_BULK_CHARS = 300
"""A shorter part never gives way: its line would hardly be shorter."""

NO_ROOM = "no room on the pages"

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkItem:
    """A part that can give way, and the line that would stand for it."""

    place: Place
    chars: int
    what: str
    replacement: AnyPart


class Bulk:
    """What can give way in the middles of a conversation: largest first, oldest first among equals."""

    def __init__(self, conversation: Conversation, middle: Sequence[range]) -> None:
        self._waiting = sorted(_items(conversation, middle), key=lambda item: (-item.chars, item.place))
        self.gone: dict[Place, BulkItem] = {}

    def give_way(self, chars: int) -> bool:
        """Let parts go until ``chars`` characters are freed; say whether any went."""
        freed, count = 0, 0
        while freed < chars and count < len(self._waiting):
            item = self._waiting[count]
            self.gone[item.place] = item
            freed += item.chars
            count += 1
        del self._waiting[:count]
        return count > 0


def _items(conversation: Conversation, middle: Sequence[range]) -> Iterator[BulkItem]:
    calls = calls_by_id(conversation.messages)
    for at in (at for region in middle for at in region):
        message = conversation.messages[at]
        for place, part in enumerate(message.parts):
            item = _item((at, place), part, message, calls)
            if item is not None and item.chars >= SMALLEST_BULK_CHARS:
                yield item


def _item(place: Place, part: AnyPart, message: Message, calls: Mapping[str, ToolCall]) -> BulkItem | None:
    match part:
        case ToolResult() if part.call_id in calls:
            call, chars = calls[part.call_id], len(result_text(part))
            what, replacement = f"result of {call.name} {target(call)}", elided(part, call, chars, NO_ROOM)
            return BulkItem(place=place, chars=chars, what=what, replacement=replacement)
        case ToolCall():
            chars, what = len(arguments_text(part.arguments)), f"arguments of {part.name} {target(part)}"
            line = ToolCall(id=part.id, name=part.name, arguments={"elided": _line(part, chars, what)})
            return BulkItem(place=place, chars=chars, what=what, replacement=line)
        case Text() if machine_made(message):
            what = f"output that starts {' '.join(part.text[:60].split())!r}"
            return BulkItem(
                place=place, chars=len(part.text), what=what, replacement=Text(text=_line(part, len(part.text), what))
            )
    return None


def _line(part: AnyPart, chars: int, what: str) -> str:
    return f"[elided: {chars:,} characters, {what}; {NO_ROOM}; recall {Original(parts=(part,)).handle}]"
