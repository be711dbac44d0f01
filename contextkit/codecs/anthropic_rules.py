"""The rules of the Anthropic Messages request that make its provider answer 400.

Source: the provider's reference and its error texts, as collected in the project's notes on formats (2.1). A request
that passes may still be refused for another reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextkit.codecs._anthropic_blocks import is_malformed
from contextkit.codecs._anthropic_fit import ID_FORBIDDEN, ID_LIMIT_CHARS, MAX_CACHE_MARKS, server_result, server_use
from contextkit.codecs._images import MANY_IMAGES, MAX_SIDE_MANY_PX, MAX_SIDE_PX, image_fault
from contextkit.codecs._json import Json
from contextkit.codecs._shape import keys_of, objects_in
from contextkit.codecs._text import is_blank
from contextkit.codecs._values import value_faults

Block = dict[str, Any]
Faults = Iterator[str]


def violations(request: dict[str, Any]) -> list[str]:
    """Return every rule that ``request`` breaks, each with its place; empty when the provider would take it."""
    messages = objects_in(request.get("messages"))
    if not messages:
        return ["messages: none; at least one is needed"]
    faults = [*_order_faults(messages), *_system_faults(request.get("system"))]
    seen: set[str] = set()
    for at, message in enumerate(messages):
        place = f"messages[{at}]"
        faults += _message_faults(message, place)
        faults += _call_faults(message, place, seen)
        faults += _pair_faults(messages, at, place)
        faults += _server_faults(message, place)
    return [*faults, *_image_faults(messages), *_mark_faults(request), *value_faults(request)]


def blocks_of(message: Block) -> list[Block]:
    """Return the content of a message as blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return objects_in(content)


def _order_faults(messages: list[Block]) -> Faults:
    if messages[0].get("role") != "user":
        yield f"messages[0]: the role is {messages[0].get('role')}; the first message must be the user's"
    texts = [block for block in blocks_of(messages[-1]) if block.get("type") == "text"]
    text = str(texts[-1].get("text", "")) if texts else ""
    if messages[-1].get("role") == "assistant" and text != text.rstrip():
        blanks = len(text) - len(text.rstrip())
        yield f"messages[{len(messages) - 1}]: the last answer ends in {blanks} characters of white space"


def _system_faults(system: Json) -> Faults:
    for at, block in enumerate(objects_in(system)):
        if is_malformed(block):
            yield f"system[{at}]: a block with {keys_of(block)}; it is not in the shape of a known one"
        elif block.get("type") == "text" and is_blank(block.get("text")):
            yield f"system[{at}]: blank text"


def _message_faults(message: Block, place: str) -> Faults:
    role, blocks = message.get("role"), blocks_of(message)
    if role not in ("user", "assistant"):
        yield f"{place}: the role is {role}; allowed are user and assistant"
    if not blocks:
        yield f"{place}: no content"
    if role == "assistant" and blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        yield f"{place}: the last of its {len(blocks)} block(s) is {blocks[-1]['type']}; an answer must follow"
    late = False
    for at, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "tool_result" and late:
            yield f"{place}.content[{at}]: a tool_result after other content; results stand first"
        late = late or (role == "user" and kind != "tool_result")
        yield from _block_faults(block, role, f"{place}.content[{at}]")


def _block_faults(block: Block, role: Json, place: str) -> Faults:
    kind = block.get("type")
    if is_malformed(block):
        yield f"{place}: a block of the type {kind!r} with {keys_of(block)}; it is not in the shape of a known one"
    elif kind == "text" and is_blank(block.get("text")):
        yield f"{place}: blank text"
    if kind == "thinking" and not block.get("signature"):
        yield f"{place}: thinking without its signature"
    if kind == "image" and role == "assistant":
        yield f"{place}: a picture in an assistant message; only user messages carry pictures"
    if kind == "tool_result":
        yield from _result_faults(objects_in(block.get("content")), place)


def _result_faults(blocks: list[Block], place: str) -> Faults:
    for at, block in enumerate(blocks):
        if is_malformed(block):
            yield f"{place}.content[{at}]: a block with {keys_of(block)}; it is not in the shape of a known one"
        elif block.get("type") == "text" and is_blank(block.get("text")):
            yield f"{place}.content[{at}]: blank text in a tool_result"


def _call_faults(message: Block, place: str, seen: set[str]) -> Faults:
    for block in blocks_of(message):
        if block.get("type") != "tool_use":
            continue
        key = block.get("id")
        if message.get("role") != "assistant":
            yield f"{place}: tool_use {key!r} in a {message.get('role')} message"
        if not isinstance(key, str) or not key or re.search(ID_FORBIDDEN, key) or len(key) > ID_LIMIT_CHARS:
            yield f"{place}: tool_use id {key!r}; allowed are 1 to {ID_LIMIT_CHARS} of a-z A-Z 0-9 _ -"
        if str(key) in seen:
            yield f"{place}: tool_use id {key!r} is used twice"
        seen.add(str(key))
        if not block.get("name"):
            yield f"{place}: tool_use {key!r} has no name"
        if not isinstance(block.get("input"), dict):
            yield f"{place}: the input of tool_use {key!r} is no object"


def _pair_faults(messages: list[Block], at: int, place: str) -> Faults:
    follows_answer = at > 0 and messages[at - 1].get("role") == "assistant"
    asked_before = _ids(messages[at - 1], "tool_use", "id") if follows_answer else []
    answered = _ids(messages[at], "tool_result", "tool_use_id")
    answered_after = _ids(messages[at + 1], "tool_result", "tool_use_id") if at + 1 < len(messages) else []
    for key in sorted({key for key in answered if answered.count(key) > 1}):
        yield f"{place}: {answered.count(key)} results for tool_use {key!r}"
    for key in answered:
        if key not in asked_before:
            yield f"{place}: tool_result {key!r} without its tool_use in the message before"
    for key in _ids(messages[at], "tool_use", "id"):
        if key not in answered_after:
            yield f"{place}: tool_use {key!r} without its tool_result in the next message"


def _ids(message: Block, kind: str, field: str) -> list[str]:
    return [str(block.get(field)) for block in blocks_of(message) if block.get("type") == kind]


def _server_faults(message: Block, place: str) -> Faults:
    asked: list[str] = []
    answered: list[str] = []
    for block in blocks_of(message):
        use, result = server_use(block), server_result(block)
        if use is not None:
            asked.append(use)
        if result is not None:
            answered.append(result)
            if result not in asked:
                yield f"{place}: {block['type']} {result!r} without its call before it"
    for key in asked:
        if key not in answered:
            yield f"{place}: provider-side call {key!r} without its result"


def _image_faults(messages: list[Block]) -> Faults:
    sources = [(at, block["source"]) for at, message in enumerate(messages) for block in _pictures(blocks_of(message))]
    inline = sum(source.get("type") == "base64" for _, source in sources)
    side_limit_px = MAX_SIDE_MANY_PX if inline > MANY_IMAGES else MAX_SIDE_PX
    for at, source in sources:
        fault = _source_fault(source, side_limit_px)
        if fault:
            yield f"messages[{at}]: picture: {fault}"


def _source_fault(source: Block, side_limit_px: int) -> str | None:
    if source.get("type") == "base64":
        said = str(source.get("media_type") or "nothing")
        return image_fault(said, str(source.get("data") or ""), side_limit_px=side_limit_px)
    url = source.get("url") if source.get("type") == "url" else "not asked for"
    served = url and not str(url).startswith("data:")
    return None if served else f"the url is {str(url)[:20]!r}; it must be one that somebody serves"


def _pictures(blocks: list[Block]) -> Iterator[Block]:
    for block in blocks:
        if block.get("type") == "image" and isinstance(block.get("source"), dict):
            yield block
        yield from _pictures(objects_in(block.get("content")))


def _mark_faults(request: Block) -> Faults:
    marks = _marks(request)
    if marks > MAX_CACHE_MARKS:
        yield f"{marks} cache_control marks; {MAX_CACHE_MARKS} are allowed"


def _marks(value: Json) -> int:
    """Count cache marks outside of tool inputs and schemas, where the name is a user's own."""
    if isinstance(value, dict):
        inside = (item for key, item in value.items() if key not in ("input", "input_schema"))
        return ("cache_control" in value) + sum(map(_marks, inside))
    return sum(map(_marks, value)) if isinstance(value, list) else 0
