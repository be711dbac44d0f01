"""Content parts, tool calls and tools of Chat Completions <-> values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from contextkit.codecs._extra import PROVIDER_SIDE, Shape, dressed, extra_of, hints_of
from contextkit.codecs._json import Json
from contextkit.codecs._shape import keys_of, need_object, type_of
from contextkit.codecs._text import utf8_json
from contextkit.codecs.jsonl import parse
from contextkit.errors import FormatError
from contextkit.messages import AnyPart, Image, Opaque, Part, Text, Tool, ToolCall

FORM = "openai-chat"
Block = dict[str, Any]

PARAGRAPH = "\n\n"
_SPELLING = frozenset({"keys", "fields", "spelt"})


def read_content(content: Json) -> tuple[AnyPart, ...]:
    """Decode message content: a string, a list of parts, or nothing."""
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    return tuple(map(_read_part, content)) if isinstance(content, list) else ()


def is_malformed(part: Json) -> bool:
    """Return whether ``part`` is of no kind, or of a kind that is understood but not in its shape."""
    kind = type_of(part)
    return not kind or (kind in _READERS and _READERS[kind](part) is None)


def write_content(parts: Sequence[Part], *, as_list: bool = False, between: str = PARAGRAPH) -> str | list[Any] | None:
    """Encode content: a string when all parts are plain texts, else a list; ``None`` when there are none."""
    if as_list or not all(map(is_plain_text, parts)):
        return [_WRITERS[type(part)](part) for part in parts]
    return between.join(part.text for part in parts if isinstance(part, Text)) if parts else None


def is_plain_text(part: Part) -> bool:
    """Return whether ``part`` is a text without a spelling of its own."""
    return isinstance(part, Text) and not part.extra.get(FORM, {}).keys() & _SPELLING


def lists_plain_texts(content: object, parts: Sequence[Part]) -> bool:
    """Return whether ``content`` is a list that would canonically be written as a string."""
    return isinstance(content, list) and all(map(is_plain_text, parts))


def _read_part(part: Json) -> AnyPart:
    read = _READERS.get(type_of(part))
    value = read(part) if read else None
    return Opaque(form=FORM, value=part) if value is None else value


def _read_text(part: Block) -> Text | None:
    text = part.get("text")
    if not isinstance(text, str):
        return None
    return Text(text=text, extra=extra_of(FORM, hints_of(part, {"type": "text", "text": text})))


def _write_text(part: Text) -> Block:
    return dressed({"type": "text", "text": part.text}, part.extra.get(FORM, {}))


_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)


def _read_image(part: Block) -> Image | None:
    picture = part.get("image_url")
    url = picture.get("url") if isinstance(picture, dict) else picture
    if not isinstance(url, str):
        return None
    inner = hints_of(picture, {"url": url}) if isinstance(picture, dict) else {"bare": True}
    hints = hints_of(part, {"type": "image_url", "image_url": picture}) | ({"image_url": inner} if inner else {})
    found = _DATA_URL.fullmatch(url)
    if found is None:
        return Image(url=url, extra=extra_of(FORM, hints))
    return Image(media_type=found[1], data=found[2], extra=extra_of(FORM, hints))


def _write_image(part: Image) -> Block:
    hints = part.extra.get(FORM, {})
    inner = hints.get("image_url", {})
    url = part.url if part.data is None else f"data:{part.media_type};base64,{part.data}"
    return dressed({"type": "image_url", "image_url": url if "bare" in inner else dressed({"url": url}, inner)}, hints)


def _write_opaque(part: Opaque) -> Json:
    return part.value


_READERS: dict[str, Callable[[Block], AnyPart | None]] = {"text": _read_text, "image_url": _read_image}
_WRITERS: dict[type[Part], Callable[[Any], Any]] = {Text: _write_text, Image: _write_image, Opaque: _write_opaque}


def _arguments(raw: Json) -> dict[str, Any]:
    """Read the arguments of a call; what is no JSON object is kept under one key."""
    value = raw
    if isinstance(raw, str):
        if not raw.strip():
            return {}
        try:
            value = parse(raw)
        except (ValueError, RecursionError):
            value = raw
    return value if isinstance(value, dict) else {"arguments": value}


def is_json(text: Json) -> bool:
    """Return whether ``text`` is a string that holds JSON."""
    try:
        parse(text)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _any_kind(_raw: Json) -> str:
    """Read a ``type`` that says nothing which its neighbours do not say."""
    return ""


_CALL = Shape(
    defaults={"id": "", "type": "function"}, always=frozenset({"id", "type"}), readers={"type": _any_kind},
)
_FUNCTION = Shape(readers={"arguments": _arguments})


def read_call(raw: Json, place: str) -> ToolCall:
    """Decode one entry of ``tool_calls``.

    Raises
    ------
    FormatError
        When it names neither a function nor a custom tool.
    """
    call = need_object(raw, place, FORM)
    key = call["id"] if isinstance(call.get("id"), str) else ""
    if isinstance(call.get("custom"), dict):
        return _read_custom(call, key)
    function = call.get("function")
    if not isinstance(function, dict):
        raise FormatError(f"{place} has {keys_of(call)}; a call needs an id, a type and a function")
    name, arguments = _as_text(function.get("name")), _arguments(function.get("arguments"))
    inner = hints_of(function, {"name": name, "arguments": _written(arguments)}, _FUNCTION)
    if not is_json(function.get("arguments")):
        inner.pop("spelt", None)
    hints = hints_of(call, {"id": key, "type": "function", "function": function}, _CALL)
    extra = extra_of(FORM, hints | ({"function": inner} if inner else {}))
    return ToolCall(id=key, name=name, arguments=arguments, extra=extra)


def _read_custom(call: Block, key: str) -> ToolCall:
    custom = call["custom"]
    name, text = _as_text(custom.get("name")), _as_text(custom.get("input"))
    hints = hints_of(call, {"id": key, "type": "custom", "custom": custom}, _CALL)
    inner = hints_of(custom, {"name": name, "input": text})
    return ToolCall(id=key, name=name, arguments={"input": text}, extra={FORM: {**hints, "custom": inner}})


def _written(arguments: Json) -> str:
    return json.dumps(utf8_json(dict(arguments)), ensure_ascii=False)


def write_call(call: ToolCall) -> Block:
    """Encode one call."""
    hints = call.extra.get(FORM, {})
    if "custom" in hints and list(call.arguments) == ["input"]:
        custom = dressed({"name": call.name, "input": call.arguments["input"]}, hints["custom"])
        return dressed({"id": call.id, "type": "custom", "custom": custom}, hints, _CALL)
    function = dressed({"name": call.name, "arguments": _written(call.arguments)}, hints.get("function", {}), _FUNCTION)
    return dressed({"id": call.id, "type": "function", "function": function}, hints, _CALL)


def _as_text(raw: Json) -> str:
    return raw if isinstance(raw, str) else ""


def _as_schema(raw: Json) -> Block:
    return raw if isinstance(raw, dict) else {}


_TOOL = Shape(defaults={"type": "function"}, always=frozenset({"type"}), readers={"type": _any_kind})
_DECLARED = Shape(
    defaults={"description": "", "parameters": {}}, readers={"description": _as_text, "parameters": _as_schema},
)


def read_tool(raw: Json, place: str) -> Tool:
    """Decode one entry of ``tools``; one that is no function is kept as it is, for this form only.

    Raises
    ------
    FormatError
        When it is no object, or a function without a name.
    """
    tool = need_object(raw, place, FORM)
    function = tool.get("function")
    if not isinstance(function, dict):
        return Tool(name=str(tool.get("type")), extra={FORM: {PROVIDER_SIDE: True, "raw": tool}})
    if not isinstance(function.get("name"), str):
        raise FormatError(f"{place}.function has {keys_of(function)}; every function needs a name")
    name, description = function["name"], _as_text(function.get("description"))
    parameters = _as_schema(function.get("parameters"))
    inner = hints_of(function, {"name": name, "description": description, "parameters": parameters}, _DECLARED)
    hints = hints_of(tool, {"type": "function", "function": function}, _TOOL)
    extra = extra_of(FORM, hints | ({"function": inner} if inner else {}))
    return Tool(name=name, description=description, parameters=parameters, extra=extra)


def write_tool(tool: Tool) -> Block:
    """Encode one tool."""
    hints = tool.extra.get(FORM, {})
    if "raw" in hints:
        return dict(hints["raw"])
    declared = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    function = dressed(declared, hints.get("function", {}), _DECLARED)
    return dressed({"type": "function", "function": function}, hints, _TOOL)
