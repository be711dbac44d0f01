"""Anthropic content blocks <-> parts. Also the block shape of Claude Code session files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from contextkit.codecs._extra import Shape, dressed, extra_of, hints_of
from contextkit.codecs._json import Json
from contextkit.codecs._shape import type_of
from contextkit.messages import AnyPart, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

FORM = "anthropic"
Block = dict[str, Any]


def read_content(content: str | list[Any]) -> tuple[AnyPart, ...]:
    """Decode message content: a string or a list of blocks."""
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    return tuple(map(read_block, content))


def read_block(block: Json) -> AnyPart:
    """Decode one block; a kind or shape that is not understood becomes :class:`Opaque`."""
    read = _READERS.get(type_of(block))
    part = read(block) if read else None
    return Opaque(form=FORM, value=block) if part is None else part


def is_malformed(block: Json) -> bool:
    """Return whether ``block`` is of no kind, or of a kind that is understood but not in its shape."""
    kind = type_of(block)
    if kind == "image" and type_of(block.get("source")) not in ("", *_SOURCES):
        return False
    return not kind or (kind in _READERS and _READERS[kind](block) is None)


def write_content(parts: Sequence[AnyPart], *, as_list: bool = False) -> str | list[Block]:
    """Encode content: a string when it is one plain text, else a list of blocks."""
    if not as_list and len(parts) == 1 and is_plain_text(parts[0]):
        return str(parts[0].text)  # type: ignore[union-attr]
    return [write_block(part) for part in parts]


def write_block(part: Part) -> Json:
    """Encode one part."""
    return _WRITERS[type(part)](part)


def is_plain_text(part: Part) -> bool:
    """Return whether ``part`` is a text about which this form says nothing more."""
    return isinstance(part, Text) and not part.extra.get(FORM)


def lists_one_text(content: object, parts: Sequence[AnyPart]) -> bool:
    """Return whether ``content`` is a list that would canonically be written as a string."""
    return isinstance(content, list) and (not parts or (len(parts) == 1 and is_plain_text(parts[0])))


def _read_text(block: Block) -> Text | None:
    text = block.get("text")
    if not isinstance(text, str):
        return None
    return Text(text=text, extra=extra_of(FORM, hints_of(block, {"type": "text", "text": text})))


def _write_text(part: Text) -> Block:
    return dressed({"type": "text", "text": part.text}, part.extra.get(FORM, {}))


_THINKING = Shape(defaults={"signature": None})


def _read_thinking(block: Block) -> Thinking | None:
    text, signature = block.get("thinking"), block.get("signature")
    if not isinstance(text, str) or not isinstance(signature, str | None):
        return None
    full = {"type": "thinking", "thinking": text, "signature": signature}
    return Thinking(text=text, signature=signature, extra=extra_of(FORM, hints_of(block, full, _THINKING)))


def _read_redacted(block: Block) -> Thinking | None:
    sealed = block.get("data")
    if not isinstance(sealed, str):
        return None
    hints = hints_of(block, {"type": "redacted_thinking", "data": sealed})
    return Thinking(text="", extra={FORM: {"redacted": sealed, **hints}})


def _write_thinking(part: Thinking) -> Block:
    hints = part.extra.get(FORM, {})
    if "redacted" in hints:
        return dressed({"type": "redacted_thinking", "data": hints["redacted"]}, hints)
    return dressed({"type": "thinking", "thinking": part.text, "signature": part.signature}, hints, _THINKING)


_SOURCES = {"base64": ("media_type", "data"), "url": ("url",)}


def _read_image(block: Block) -> Image | None:
    source = block.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("type"), str):
        return None
    names = _SOURCES.get(source["type"], ())
    if not names or not all(isinstance(source.get(name), str) for name in names):
        return None
    said = {name: source[name] for name in names}
    inner = hints_of(source, {"type": source["type"], **said})
    hints = hints_of(block, {"type": "image", "source": source})
    return Image(**said, extra=extra_of(FORM, {**hints, **({"source": inner} if inner else {})}))


def _write_image(part: Image) -> Block:
    hints = part.extra.get(FORM, {})
    named = {"type": "url", "url": part.url}
    full = named if part.data is None else {"type": "base64", "media_type": part.media_type, "data": part.data}
    return dressed({"type": "image", "source": dressed(full, hints.get("source", {}))}, hints)


def _as_arguments(value: Json) -> dict[str, Any]:
    """Return the input of a call as an object; what is none is kept under one key."""
    return value if isinstance(value, dict) else {"input": value}


_TOOL_USE = Shape(defaults={"id": ""}, readers={"id": str, "input": _as_arguments})


def _read_tool_use(block: Block) -> ToolCall | None:
    key, name = block.get("id"), block.get("name")
    if not isinstance(name, str):
        return None
    call = ToolCall(id=key if isinstance(key, str) else "", name=name, arguments=_as_arguments(block.get("input")))
    hints = hints_of(block, {"type": "tool_use", "id": call.id, "name": name, "input": call.arguments}, _TOOL_USE)
    hints.pop("spelt", None)
    return ToolCall(id=call.id, name=name, arguments=call.arguments, extra=extra_of(FORM, hints))


def _write_tool_use(part: ToolCall) -> Block:
    full = {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.arguments)}
    return dressed(full, part.extra.get(FORM, {}), _TOOL_USE)


def _is_absent(content: Json) -> str:
    """Read content that is no text and no list: there is none."""
    return content if isinstance(content, str) else ""


_TOOL_RESULT = Shape(
    defaults={"content": "", "is_error": False}, always=frozenset({"content"}),
    readers={"content": _is_absent, "is_error": bool},
)


def _read_tool_result(block: Block) -> ToolResult | None:
    key, content = block.get("tool_use_id"), block.get("content")
    if not isinstance(key, str):
        return None
    parts = tuple(map(_inner, read_content(content))) if isinstance(content, str | list) else ()
    failed = bool(block.get("is_error"))
    said = content if isinstance(content, str | list) else ""
    full = {"type": "tool_result", "tool_use_id": key, "content": said, "is_error": failed}
    hints = hints_of(block, full, _TOOL_RESULT)
    listed = {"list": True} if lists_one_text(content, parts) else {}
    return ToolResult(call_id=key, content=parts, is_error=failed, extra=extra_of(FORM, {**hints, **listed}))


def _inner(part: AnyPart) -> Text | Image | Opaque:
    """Return a part that may stand in a result; calls and reasoning in there are not interpreted."""
    return part if isinstance(part, Text | Image | Opaque) else Opaque(form=FORM, value=write_block(part))


def _write_tool_result(part: ToolResult) -> Block:
    hints = part.extra.get(FORM, {})
    as_list = bool(hints.get("list"))
    content = write_content(part.content, as_list=as_list) if part.content or as_list else ""
    full = {"type": "tool_result", "tool_use_id": part.call_id, "content": content, "is_error": part.is_error}
    return dressed(full, hints, _TOOL_RESULT)


def _write_opaque(part: Opaque) -> Json:
    return part.value


_READERS: dict[str, Callable[[Block], AnyPart | None]] = {
    "text": _read_text,
    "thinking": _read_thinking,
    "redacted_thinking": _read_redacted,
    "image": _read_image,
    "tool_use": _read_tool_use,
    "tool_result": _read_tool_result,
}
_WRITERS: dict[type[Part], Callable[[Any], Any]] = {
    Text: _write_text,
    Thinking: _write_thinking,
    Image: _write_image,
    ToolCall: _write_tool_use,
    ToolResult: _write_tool_result,
    Opaque: _write_opaque,
}

