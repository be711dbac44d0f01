"""Content blocks of pi sessions -> parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from contextkit.codecs._fit import Counts
from contextkit.codecs._json import Json
from contextkit.codecs._shape import type_of
from contextkit.messages import AnyPart, Image, Opaque, Text, Thinking, ToolCall

FORM = "pi"
Block = dict[str, Any]

_WIRE_OF_API = {
    "anthropic-messages": "anthropic",
    "openai-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "google-generative-ai": "gemini",
}
"""Wire form that signed the reasoning of a message, by the ``api`` it was made with. Others are forms of their own."""

_BLOB = re.compile(r"blob:sha256:[0-9a-f]{64}")


class BlockReader:
    """Decodes the content of one message.

    Parameters
    ----------
    counts
        Where odd blocks are counted.
    api
        The interface an assistant message was made with; reasoning can be sent back to that one only.
    """

    def __init__(self, counts: Counts, api: str = "") -> None:
        self.counts, self.api = counts, api

    def content(self, content: Json) -> tuple[AnyPart, ...]:
        """Decode content: a string or a list of blocks; anything else is none."""
        if isinstance(content, str):
            return (Text(text=content),) if content else ()
        parts = map(self._block, content) if isinstance(content, list) else ()
        return tuple(part for part in parts if part is not None)

    def _block(self, block: Json) -> AnyPart | None:
        if not isinstance(block, dict):
            self.counts["content block(s) that are no objects left out"] += 1
            return None
        read = _READERS.get(type_of(block))
        return read(self, block) if read else Opaque(form=FORM, value=block)

    def text(self, block: Block) -> Text | None:
        text = block.get("text")
        return Text(text=text, extra=_rest(block, "text")) if isinstance(text, str) and text else None

    def thinking(self, block: Block) -> Thinking:
        """Keep the signature, and mark the reasoning with the wire form that can take it back."""
        signature = block.get("thinkingSignature")
        signature = signature if isinstance(signature, str) and signature else None
        maker = _WIRE_OF_API.get(self.api, self.api or FORM)
        extra = _rest(block, "thinking", "thinkingSignature", "redacted")
        if block.get("redacted") and signature:
            return Thinking(text="", extra={**extra, maker: {"redacted": signature}})
        return Thinking(text=str(block.get("thinking") or ""), signature=signature, extra={**extra, maker: {}})

    def call(self, block: Block) -> ToolCall:
        arguments = block.get("arguments")
        return ToolCall(
            id=str(block.get("id") or ""), name=str(block.get("name") or ""),
            arguments=arguments if isinstance(arguments, dict) else {"arguments": arguments},
            extra=_rest(block, "id", "name", "arguments"),
        )

    def image(self, block: Block) -> Image | Text:
        """Decode a picture; one that is only named (``blob:sha256:...``) becomes a label."""
        kind, raw = block.get("mimeType"), block.get("data")
        if isinstance(raw, str) and raw.startswith("blob:"):
            return self.blob(raw)
        return Image(
            media_type=kind if isinstance(kind, str) else None, data=raw if isinstance(raw, str) else "",
            extra=_rest(block, "data", "mimeType"),
        )

    def blob(self, name: str) -> Text:
        if _BLOB.fullmatch(name):
            self.counts["picture(s) kept outside of the file replaced by a label"] += 1
            return Text(text=f"[picture kept in the session's blob store as {name.removeprefix('blob:')}]")
        self.counts["picture(s) with a malformed blob name replaced by a label"] += 1
        return Text(text="[picture left out: its blob name is not sha256 and 64 hex digits]")


_READERS: dict[str, Callable[[BlockReader, Block], AnyPart | None]] = {
    "text": BlockReader.text,
    "thinking": BlockReader.thinking,
    "toolCall": BlockReader.call,
    "image": BlockReader.image,
}


def _rest(block: Block, *known: str) -> dict[str, dict[str, Any]]:
    rest = {key: value for key, value in block.items() if key not in ("type", *known)}
    return {FORM: rest} if rest else {}


def text_of_bash(message: Block) -> str:
    """Tell a command that the user ran, its output, and how it ended when not well."""
    output = str(message.get("output") or "(no output)").rstrip("\n")
    lines = ["[the user ran a shell command]", f"$ {message.get('command', '')}", output]
    if message.get("cancelled"):
        lines.append("[cancelled]")
    elif message.get("exitCode"):
        lines.append(f"[exit code {message['exitCode']}]")
    if message.get("truncated"):
        lines.append("[output truncated]")
    return "\n".join(lines)
