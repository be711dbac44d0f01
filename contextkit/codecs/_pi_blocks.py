"""Content blocks of pi sessions -> parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from contextkit.codecs._fit import Counts
from contextkit.codecs._json import Json
from contextkit.messages import AnyPart, Image, Opaque, Text, Thinking, ToolCall

FORM = "pi"
Block = dict[str, Any]

_WIRE_OF_API = {
    "anthropic-messages": "anthropic",
    "openai-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "google-generative-ai": "gemini",
}
"""Which wire form signed the reasoning of a message, by the ``api`` it was made with. Unlisted apis are forms of their own."""

_BLOB = re.compile(r"blob:sha256:[0-9a-f]{64}")


def read_content(content: Json, api: str, counts: Counts) -> tuple[AnyPart, ...]:
    """Decode message content: a string or a list of blocks.

    Parameters
    ----------
    content
        Anything else is no content.
    api
        The interface an assistant message was made with; reasoning can be sent back to that one only.
    counts
        Where odd blocks are counted.
    """
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    parts = (_read_block(block, api, counts) for block in content) if isinstance(content, list) else ()
    return tuple(part for part in parts if part is not None)


def _read_block(block: Json, api: str, counts: Counts) -> AnyPart | None:
    read = _READERS.get(block.get("type")) if isinstance(block, dict) else None
    if read is not None:
        return read(block, api, counts)
    if not isinstance(block, dict):
        counts["content block(s) that are no objects left out"] += 1
        return None
    return Opaque(form=FORM, value=block)


def _rest(block: Block, *known: str) -> dict[str, dict[str, Any]]:
    rest = {key: value for key, value in block.items() if key not in ("type", *known)}
    return {FORM: rest} if rest else {}


def _read_text(block: Block, api: str, counts: Counts) -> Text | None:
    text = block.get("text")
    return Text(text=text, extra=_rest(block, "text")) if isinstance(text, str) and text else None


def _read_thinking(block: Block, api: str, counts: Counts) -> Thinking:
    """Keep the signature, and mark the reasoning with the wire form that can take it back."""
    signature = block.get("thinkingSignature")
    signature = signature if isinstance(signature, str) and signature else None
    made_for = _WIRE_OF_API.get(api, api or FORM)
    extra = _rest(block, "thinking", "thinkingSignature", "redacted")
    if block.get("redacted") and signature:
        return Thinking(text="", extra={**extra, made_for: {"redacted": signature}})
    return Thinking(text=str(block.get("thinking") or ""), signature=signature, extra={**extra, made_for: {}})


def _read_call(block: Block, api: str, counts: Counts) -> ToolCall:
    arguments = block.get("arguments")
    return ToolCall(
        id=str(block.get("id") or ""), name=str(block.get("name") or "unknown"),
        arguments=arguments if isinstance(arguments, dict) else {"arguments": arguments},
        extra=_rest(block, "id", "name", "arguments"),
    )


def _read_image(block: Block, api: str, counts: Counts) -> Image | Text:
    """Decode a picture; one that is only named (``blob:sha256:...``) becomes a label."""
    data = block.get("data")
    kind = block.get("mimeType")
    if not isinstance(data, str) or not data.startswith("blob:"):
        return Image(media_type=kind if isinstance(kind, str) else None, data=data if isinstance(data, str) else "", extra=_rest(block, "data", "mimeType"))
    if _BLOB.fullmatch(data):
        counts["picture(s) kept outside of the file replaced by a label"] += 1
        return Text(text=f"[picture kept in the session's blob store as {data.removeprefix('blob:')}]")
    counts["picture(s) with a malformed blob name left out"] += 1
    return Text(text="[picture left out: its blob name is not sha256 and 64 hex digits]")


_READERS: dict[Any, Callable[[Block, str, Counts], AnyPart | None]] = {
    "text": _read_text,
    "thinking": _read_thinking,
    "toolCall": _read_call,
    "image": _read_image,
}


def text_of_bash(message: Block) -> str:
    """Tell a command that the user ran, its output, and how it ended when not well."""
    lines = ["[the user ran a shell command]", f"$ {message.get('command', '')}", str(message.get("output") or "(no output)").rstrip("\n")]
    if message.get("cancelled"):
        lines.append("[cancelled]")
    elif message.get("exitCode"):
        lines.append(f"[exit code {message['exitCode']}]")
    if message.get("truncated"):
        lines.append("[output truncated]")
    return "\n".join(lines)
