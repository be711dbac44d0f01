"""What the reader of a page, or a summariser, sees of a conversation.

Each part starts with a line in square brackets that says whose it is; reasoning is left out, since providers refuse it
outside its own block; pictures and unknown blocks are named. Nothing is shortened.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from contextkit.messages import (
    Image,
    Message,
    Opaque,
    Part,
    Pending,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    machine_made,
)


def plain_text(
    messages: Iterable[Message], *, first_number: int = 1, tool_names: Mapping[str, str] | None = None
) -> str:
    """Return the text of messages, numbered from ``first_number``.

    Parameters
    ----------
    tool_names
        Call id to tool name, for results whose call stands outside ``messages``.
    """
    names = dict(tool_names or {})
    pieces = []
    for number, message in enumerate(messages, first_number):
        speaker = "program" if machine_made(message) else message.role
        names |= {call.id: call.name for call in message.of(ToolCall)}
        for is_page, parts in itertools.groupby(message.parts, _is_page):
            found = [_piece(part, speaker, number, names) for part in parts]
            pieces += ["".join(found)] if is_page else found
    return "\n".join(piece for piece in pieces if piece)


def image_label(image: Image, size: tuple[int, int] | None) -> str:
    """Name a picture in words."""
    kind = image.media_type or "image"
    return f"{kind} {size[1]}x{size[0]} px" if size else kind


def result_text(result: ToolResult) -> str:
    """Return the text of a tool result; pictures and unknown blocks are named."""
    return "\n".join(part.text if isinstance(part, Text) else f"[{_name(part)}]" for part in result.content)


def _is_page(part: Part) -> bool:
    """Say whether a part shows text of ours; such parts in a row continue each other in the middle of a line."""
    return isinstance(part, Image | Pending) and bool(part.stands_for)


def _piece(part: Part, speaker: str, number: int, names: Mapping[str, str]) -> str:
    match part:
        case Text():
            return f"[{number} {speaker}]\n{part.text}" if part.text else ""
        case Thinking():
            return ""
        case ToolCall():
            return f"[{number} call {part.name}]\n{arguments_text(part.arguments)}"
        case ToolResult():
            failed = " failed" if part.is_error else ""
            return f"[{number} result {names.get(part.call_id, 'of an unknown tool')}{failed}]\n{result_text(part)}"
        case Image() | Pending() if part.stands_for:
            return part.stands_for
        case _:
            return f"[{number} {speaker}: {_name(part)}]"


def _name(part: Part) -> str:
    if isinstance(part, Image):
        return image_label(part, None) if part.data else f"image at {part.url}"
    if isinstance(part, Opaque):
        kind = part.value.get("type", "unknown") if isinstance(part.value, dict) else "unknown"
        return f"block of kind {kind}"
    return type(part).__name__.lower()


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return the text of a call's arguments, a line each; a text of several lines stands below its name as it is."""
    return "\n".join(f"{key}:{_argument(value)}" for key, value in arguments.items())


def _argument(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    if not isinstance(value, str):
        return " " + json.dumps(value, ensure_ascii=False)
    return f"\n{value}" if "\n" in value else f" {value}"
