"""The Anthropic Messages request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from contextkit.codecs._anthropic_blocks import (
    FORM,
    is_malformed,
    lists_one_text,
    read_block,
    read_content,
    write_block,
    write_content,
)
from contextkit.codecs._anthropic_fit import adapted
from contextkit.codecs._extra import PROVIDER_SIDE, Shape, dressed, extra_of, hints_of
from contextkit.codecs._json import Json
from contextkit.codecs._shape import kind_of, need_list, need_object, need_role
from contextkit.codecs._text import is_blank, utf8_json
from contextkit.codecs.anthropic_rules import violations
from contextkit.errors import FormatError
from contextkit.messages import Conversation, Message, Text, Tool

__all__ = ["FORM", "adapted", "decode", "encode", "sniff", "violations"]

_ROLES = ("user", "assistant", "system")
_OWN_FIELDS = (
    "system", "max_tokens", "thinking", "stop_sequences", "anthropic_version", "context_management", "mcp_servers",
)
_OWN_BLOCKS = (
    "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use", "compaction",
)


def sniff(value: dict[str, Any]) -> int:
    """Count the signs that ``value`` is a request of this form; 0 when it has no messages."""
    if not isinstance(value.get("messages"), list):
        return 0
    tools = value["tools"] if isinstance(value.get("tools"), list) else []
    signs = sum(key in value for key in _OWN_FIELDS)
    signs += sum(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
    return 1 + signs + sum(block.get("type") in _OWN_BLOCKS for block in _blocks(value["messages"]))


def _blocks(messages: list[Any]) -> Iterator[dict[str, Any]]:
    contents = (message.get("content") for message in messages if isinstance(message, dict))
    listed = chain.from_iterable(content for content in contents if isinstance(content, list))
    return (block for block in listed if isinstance(block, dict))


def decode(value: dict[str, Any]) -> Conversation:
    """Return the conversation of a request.

    Raises
    ------
    FormatError
        When messages, roles or tools do not have the shape of a request; the message names the place.
    """
    messages = need_list(value.get("messages"), "messages", FORM)
    system = _read_system(value.get("system"))
    tools = value["tools"] if isinstance(value.get("tools"), list) else []
    as_list = lists_one_text(value.get("system"), system)
    full = {"system": _write_system(system, as_list=as_list), "tools": tools, "messages": messages}
    hints = hints_of(value, full, _REQUEST)
    return Conversation(
        system=system,
        tools=tuple(_read_tool(tool, f"tools[{at}]") for at, tool in enumerate(tools)),
        messages=tuple(_read_message(message, f"messages[{at}]") for at, message in enumerate(messages)),
        extra=extra_of(FORM, {**hints, **({"list": True} if as_list else {})}),
    )


def encode(conversation: Conversation) -> dict[str, Any]:
    """Return the request for a conversation that :func:`adapted` made fit for this form."""
    hints = conversation.extra.get(FORM, {})
    full = {
        "system": _write_system(conversation.system, as_list=bool(hints.get("list"))),
        "tools": [_write_tool(tool) for tool in conversation.tools],
        "messages": [_write_message(message) for message in conversation.messages],
    }
    request: dict[str, Any] = utf8_json(dressed(full, hints, _REQUEST))
    return request


def _read_system(raw: Json) -> tuple[Text, ...]:
    if isinstance(raw, str):
        return () if is_blank(raw) else (Text(text=raw),)
    parts = map(read_block, raw) if isinstance(raw, list) else ()
    return tuple(part for part in parts if isinstance(part, Text))


def _write_system(texts: tuple[Text, ...], *, as_list: bool) -> str | list[Any]:
    return write_content(texts, as_list=as_list) if texts or as_list else ""


def _system_texts(raw: Json) -> list[Any] | None:
    """Read a system prompt in any spelling; one with a malformed block is none."""
    if isinstance(raw, list) and any(map(is_malformed, raw)):
        return None
    return [write_block(text) for text in _read_system(raw)]


def _listed(raw: Json) -> list[Any]:
    return raw if isinstance(raw, list) else []


_REQUEST = Shape(defaults={"system": "", "tools": []}, readers={"system": _system_texts, "tools": _listed})


def _read_message(raw: Json, place: str) -> Message:
    message = need_object(raw, place, FORM)
    role, content = need_role(message, place, _ROLES), message.get("content")
    if not isinstance(content, str | list | None):
        raise FormatError(f"{place}.content is {kind_of(content)}; the {FORM} form needs a string or a list there")
    parts = read_content(content or "")
    hints = hints_of(message, {"role": role, "content": content or ""})
    listed = {"list": True} if lists_one_text(content, parts) else {}
    return Message(role=role, parts=parts, extra=extra_of(FORM, {**hints, **listed}))  # type: ignore[arg-type]


def _write_message(message: Message) -> dict[str, Any]:
    hints = message.extra.get(FORM, {})
    role = "user" if message.role == "tool" else message.role
    return dressed({"role": role, "content": write_content(message.parts, as_list=bool(hints.get("list")))}, hints)


def _as_text(raw: Json) -> str:
    return raw if isinstance(raw, str) else ""


def _as_schema(raw: Json) -> dict[str, Any]:
    return raw if isinstance(raw, dict) else {}


_TOOL = Shape(
    defaults={"description": "", "input_schema": {}}, always=frozenset({"input_schema"}),
    readers={"description": _as_text, "input_schema": _as_schema},
)
_CLIENT_TOOL = "custom"


def _read_tool(raw: Json, place: str) -> Tool:
    tool = need_object(raw, place, FORM)
    name = tool.get("name")
    if not isinstance(name, str):
        raise FormatError(f"{place}.name is {kind_of(name)}; every tool needs a name")
    description, schema = _as_text(tool.get("description")), _as_schema(tool.get("input_schema"))
    hints = hints_of(tool, {"name": name, "description": description, "input_schema": schema}, _TOOL)
    if tool.get("type", _CLIENT_TOOL) != _CLIENT_TOOL:
        hints[PROVIDER_SIDE] = True
    if tool.get("input_schema") == {}:
        hints["bare_schema"] = True
    return Tool(name=name, description=description, parameters=schema, extra=extra_of(FORM, hints))


def _write_tool(tool: Tool) -> dict[str, Any]:
    hints = tool.extra.get(FORM, {})
    bare = "keys" in hints or "bare_schema" in hints
    schema = dict(tool.parameters) or ({} if bare else {"type": "object"})
    return dressed({"name": tool.name, "description": tool.description, "input_schema": schema}, hints, _TOOL)
