"""The rules of the Chat Completions request that make its provider answer 400.

Source: the provider's reference and its error texts, as collected in the project's notes on formats (2.2). A request
that passes may still be refused for another reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextkit.codecs._chat_blocks import is_json, is_malformed
from contextkit.codecs._chat_fit import ID_LIMIT_CHARS, SPEAKS_WITHOUT_CONTENT
from contextkit.codecs._images import image_fault
from contextkit.codecs._json import Json
from contextkit.codecs._shape import keys_of, objects_in
from contextkit.codecs._values import value_faults

Block = dict[str, Any]
Faults = Iterator[str]

_ROLES = ("system", "developer", "user", "assistant", "tool")


def violations(request: dict[str, Any]) -> list[str]:
    """Return every rule that ``request`` breaks, each with its place; empty when the provider would take it."""
    messages = objects_in(request.get("messages"))
    if not messages:
        return ["messages: none; at least one is needed"]
    faults = list(_pair_faults(messages))
    seen: set[str] = set()
    for at, message in enumerate(messages):
        place = f"messages[{at}]"
        faults += _message_faults(message, place)
        faults += _part_faults(message, place)
        faults += _call_faults(message, place, seen)
    return [*faults, *value_faults(request)]


def _pair_faults(messages: list[Block]) -> Faults:
    waiting: list[Any] = []
    for at, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                yield f"messages[{at}]: tool message {message.get('tool_call_id')!r} without its call just before"
            continue
        if waiting:
            yield f"messages[{at}]: {len(waiting)} call(s) unanswered before it: {_names(waiting)}"
        waiting = [call.get("id") for call in _calls(message)]
    if waiting:
        yield f"messages end: {len(waiting)} call(s) unanswered: {_names(waiting)}"


def _names(keys: list[Any]) -> str:
    return ", ".join(map(repr, keys))


def _calls(message: Block) -> list[Block]:
    return objects_in(message.get("tool_calls"))


def _message_faults(message: Block, place: str) -> Faults:
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        yield f"{place}: the role is {role!r}; allowed are {', '.join(_ROLES)}"
    if role in ("user", "system", "developer") and not content:
        yield f"{place}: an empty {role} message"
    if "tool_calls" in message and not message["tool_calls"]:
        yield f"{place}: tool_calls is empty; leave it out"
    speaks = content or _calls(message) or any(message.get(name) for name in SPEAKS_WITHOUT_CONTENT)
    if role == "assistant" and not speaks:
        yield f"{place}: an assistant message with nothing in it"


def _part_faults(message: Block, place: str) -> Faults:
    role = message.get("role")
    for at, part in enumerate(objects_in(message.get("content"))):
        if is_malformed(part):
            yield f"{place}.content[{at}]: a part with {keys_of(part)}; it is not in the shape of a known one"
        elif part["type"] == "text" and not part["text"] and role != "tool":
            yield f"{place}.content[{at}]: empty text"
        elif part["type"] == "image_url":
            if role != "user":
                yield f"{place}.content[{at}]: a picture in a {role} message; only user messages carry pictures"
            yield from _image_faults(part.get("image_url"), f"{place}.content[{at}]")


def _image_faults(picture: Json, place: str) -> Faults:
    url = picture.get("url") if isinstance(picture, dict) else picture
    if not url:
        yield f"{place}: picture: it has no url"
    elif str(url).startswith("data:"):
        kind, _, base64_text = url[5:].partition(";base64,")
        fault = image_fault(kind, base64_text)
        if fault:
            yield f"{place}: picture: {fault}"


def _call_faults(message: Block, place: str, seen: set[str]) -> Faults:
    for at, call in enumerate(_calls(message)):
        key = call.get("id")
        if not isinstance(key, str) or not 0 < len(key) <= ID_LIMIT_CHARS:
            yield f"{place}.tool_calls[{at}]: the id is {key!r}; allowed are 1 to {ID_LIMIT_CHARS} characters"
        if str(key) in seen:
            yield f"{place}.tool_calls[{at}]: the id {key!r} is used twice"
        seen.add(str(key))
        function = call["function"] if isinstance(call.get("function"), dict) else {}
        made = call["custom"] if isinstance(call.get("custom"), dict) else function
        if not made.get("name") or not isinstance(made["name"], str):
            yield f"{place}.tool_calls[{at}]: the name is {made.get('name')!r}; every call needs one"
        if made is function and not is_json(function.get("arguments")):
            yield f"{place}.tool_calls[{at}]: the arguments are not JSON"
