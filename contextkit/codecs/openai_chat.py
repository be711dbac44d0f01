"""The OpenAI Chat Completions request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextkit.codecs._chat_blocks import (
    FORM,
    lists_plain_texts,
    read_call,
    read_content,
    read_tool,
    write_call,
    write_content,
    write_tool,
)
from contextkit.codecs._chat_fit import adapted
from contextkit.codecs._extra import Shape, dressed, extra_of, hints_of
from contextkit.codecs._json import Json
from contextkit.codecs._shape import kind_of, need_list, need_object, need_role
from contextkit.codecs._text import utf8_json
from contextkit.codecs.openai_chat_rules import violations
from contextkit.errors import FormatError
from contextkit.messages import Conversation, Message, Role, Text, Thinking, ToolCall, ToolResult

__all__ = ["FORM", "adapted", "decode", "encode", "sniff", "violations"]

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_OWN_ROLES = ("system", "developer", "tool", "function")
_OWN_FIELDS = (
    "max_completion_tokens", "response_format", "frequency_penalty", "presence_penalty", "logprobs", "reasoning_effort",
    "stream_options", "parallel_tool_calls", "functions", "seed", "n",
)
_OWN_PARTS = ("image_url", "input_audio", "file", "refusal")
_REASONING = ("reasoning_content", "reasoning")
"""Fields in which several servers of this form give reasoning, and want it back."""


def sniff(value: dict[str, Any]) -> int:
    """Count the signs that ``value`` is a request of this form; 0 when it has no messages."""
    if not isinstance(value.get("messages"), list):
        return 0
    tools = value["tools"] if isinstance(value.get("tools"), list) else []
    signs = sum(key in value for key in _OWN_FIELDS)
    signs += sum(isinstance(tool, dict) and "function" in tool for tool in tools)
    return 1 + signs + sum(_signs(message) for message in value["messages"] if isinstance(message, dict))


def _signs(message: dict[str, Any]) -> int:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    own_parts = sum(part.get("type") in _OWN_PARTS for part in parts)
    return (message.get("role") in _OWN_ROLES) + ("tool_calls" in message) + own_parts


def decode(value: dict[str, Any]) -> Conversation:
    """Return the conversation of a request.

    Raises
    ------
    FormatError
        When messages, roles, calls or tools do not have the shape of a request; the message names the place.
    """
    messages = need_list(value.get("messages"), "messages", FORM)
    objects = [need_object(message, f"messages[{at}]", FORM) for at, message in enumerate(messages)]
    tools = value["tools"] if isinstance(value.get("tools"), list) else []
    heads = list(_read_heads(objects))
    return Conversation(
        system=tuple(text for head in heads for text in head),
        tools=tuple(read_tool(tool, f"tools[{at}]") for at, tool in enumerate(tools)),
        messages=tuple(_read_message(objects[at], f"messages[{at}]") for at in range(len(heads), len(objects))),
        extra=extra_of(FORM, hints_of(value, {"messages": messages, "tools": tools}, _REQUEST)),
    )


def _listed(raw: Json) -> list[Any]:
    return raw if isinstance(raw, list) else []


_REQUEST = Shape(defaults={"tools": []}, readers={"tools": _listed})


def encode(conversation: Conversation) -> dict[str, Any]:
    """Return the request for a conversation that :func:`adapted` made fit for this form."""
    messages = [*_write_heads(conversation.system), *map(_write_message, conversation.messages)]
    full = {"messages": messages, "tools": list(map(write_tool, conversation.tools))}
    request: dict[str, Any] = utf8_json(dressed(full, conversation.extra.get(FORM, {}), _REQUEST))
    return request


def _read_heads(messages: list[dict[str, Any]]) -> Iterator[tuple[Text, ...]]:
    """Yield the texts of each leading system message, as long as they hold nothing but text.

    The first text of a message carries what the message said beyond its text, and marks where a further message begins.
    """
    for at, message in enumerate(messages):
        parts = read_content(message.get("content")) if message.get("role") in ("system", "developer") else ()
        texts = tuple(part for part in parts if isinstance(part, Text) and part.text)
        if not texts or len(texts) != len(parts):
            return
        hints = _message_hints(message, "system", parts)
        first = {**texts[0].extra.get(FORM, {}), **({"message": hints} if hints or at else {})}
        yield (Text(text=texts[0].text, extra=extra_of(FORM, first)), *texts[1:])


def _message_hints(message: dict[str, Any], role: str, parts: tuple[Any, ...]) -> dict[str, Any]:
    hints = hints_of(message, {"role": message["role"], "content": message.get("content")}, _MESSAGE)
    listed = {"list": True} if lists_plain_texts(message.get("content"), parts) else {}
    renamed = {"role": message["role"]} if message["role"] != role else {}
    return {**hints, **listed, **renamed}


def _write_heads(texts: tuple[Text, ...]) -> Iterator[dict[str, Any]]:
    groups: list[list[Text]] = []
    for text in texts:
        if not groups or "message" in text.extra.get(FORM, {}):
            groups.append([])
        groups[-1].append(text)
    for group in groups:
        hints = group[0].extra.get(FORM, {}).get("message", {})
        content = write_content(group, as_list=bool(hints.get("list")))
        yield dressed({"role": hints.get("role", "system"), "content": content}, hints, _MESSAGE)


def _nothing(raw: Json) -> Json:
    """Read content: every way to say nothing is one."""
    return raw or ""


_MESSAGE = Shape(defaults={"content": None}, always=frozenset({"content"}), readers={"content": _nothing})
_RESULT = Shape(defaults={"content": ""}, always=frozenset({"content"}), readers={"content": _nothing})


def _read_message(message: dict[str, Any], place: str) -> Message:
    role, content = need_role(message, place, _ROLES), message.get("content")
    if not isinstance(content, str | list | None):
        raise FormatError(f"{place}.content is {kind_of(content)}; the {FORM} form needs a string or a list there")
    if role in ("tool", "function"):
        return _read_result(message)
    if role == "assistant":
        return _read_assistant(message, place)
    parts = read_content(content)
    kept: Role = "user" if role == "user" else "system"
    return Message(role=kept, parts=parts, extra=extra_of(FORM, _message_hints(message, kept, parts)))


def _read_result(message: dict[str, Any]) -> Message:
    """Decode a tool message; everything it says beyond the result stays with the result."""
    key, content = message.get("tool_call_id"), message.get("content")
    parts: tuple[Any, ...] = read_content(content)
    call_id = key if isinstance(key, str) else ""
    hints = hints_of(message, {"role": message["role"], "tool_call_id": call_id, "content": content or ""}, _RESULT)
    listed = {"list": True} if lists_plain_texts(content, parts) else {}
    result = ToolResult(call_id=call_id, content=parts, extra=extra_of(FORM, {**hints, **listed}))
    return Message(role="tool", parts=(result,))


def _read_assistant(message: dict[str, Any], place: str) -> Message:
    """Decode an assistant message into its reasoning, its content and its calls, in that order."""
    calls = need_list(message.get("tool_calls") or [], f"{place}.tool_calls", FORM)
    content = message.get("content")
    said = {key: value for key, value in message.items() if key != "tool_calls" or value}
    name = next((name for name in _REASONING if isinstance(message.get(name), str) and message[name]), None)
    parts = read_content(content)
    full = {"role": "assistant", "content": content or None, **({name: message[name]} if name else {})}
    hints = hints_of(said, full | ({"tool_calls": calls} if calls else {}), _MESSAGE)
    if lists_plain_texts(content, parts):
        hints["list"] = True
    reasoning = (Thinking(text=message[name], extra={FORM: {"field": name}}),) if name else ()
    asked = (read_call(call, f"{place}.tool_calls[{at}]") for at, call in enumerate(calls))
    return Message(role="assistant", parts=(*reasoning, *parts, *asked), extra=extra_of(FORM, hints))


def _write_message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return _write_result(next(message.of(ToolResult)))
    hints = message.extra.get(FORM, {})
    said = [part for part in message.parts if not isinstance(part, Thinking | ToolCall)]
    full: dict[str, Any] = {
        "role": hints.get("role", message.role),
        "content": write_content(said, as_list=bool(hints.get("list"))),
    }
    for thought in message.of(Thinking):
        full[thought.extra[FORM]["field"]] = thought.text
    calls = [write_call(call) for call in message.of(ToolCall)]
    return dressed(full | ({"tool_calls": calls} if calls else {}), hints, _MESSAGE)


def _write_result(result: ToolResult) -> dict[str, Any]:
    hints = result.extra.get(FORM, {})
    content = write_content(result.content, as_list=bool(hints.get("list")), between="\n")
    return dressed({"role": "tool", "tool_call_id": result.call_id, "content": content or ""}, hints, _RESULT)
