"""The values every rung and codec works on: parts, messages, conversations. All frozen, none with an id of ours.

``extra`` keeps what a wire or log format said beyond the fields named here. It maps a form (``"anthropic"``,
``"openai-chat"``, ...) to the leftover fields of that form, so that encoding for the same form gives them back and
encoding for another leaves them out. A part that a rung rewrites is a new part without ``extra``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
Extra = Mapping[str, Mapping[str, Any]]


class Part(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Base of everything that can stand in a message."""

    extra: Extra = {}


class Text(Part, frozen=True, kw_only=True, tag="text", omit_defaults=True):
    """Text that the model reads as it is."""

    text: str


class Thinking(Part, frozen=True, kw_only=True, tag="thinking", omit_defaults=True):
    """A model's reasoning. With a ``signature`` it is byte-opaque: kept whole or dropped whole.

    ``text`` is empty for a redacted block, whose bytes stand in ``extra``.
    """

    text: str
    signature: str | None = None


class Image(Part, frozen=True, kw_only=True, tag="image", omit_defaults=True):
    """A picture: base64 ``data`` of ``media_type``, or a ``url`` that somebody else serves.

    ``stands_for`` is the text that a snapshot page shows; it is empty for every other picture and never reaches a wire.
    """

    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    stands_for: str = ""


class ToolCall(Part, frozen=True, kw_only=True, tag="tool_call", omit_defaults=True):
    """A call the model made. ``arguments`` is the parsed JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class ToolResult(Part, frozen=True, kw_only=True, tag="tool_result", omit_defaults=True):
    """What a call gave back, paired by ``call_id``."""

    call_id: str
    content: tuple[Text | Image | Opaque, ...] = ()
    is_error: bool = False


class Opaque(Part, frozen=True, kw_only=True, tag="opaque", omit_defaults=True):
    """A block of a kind this package does not interpret: ``value`` as ``form`` spelt it, echoed to that form only."""

    form: str
    value: Any


class Pending(Part, frozen=True, kw_only=True, tag="pending", omit_defaults=True):
    """A part that a plan has promised and ``apply`` makes: a page to draw or a summary to write.

    Attributes
    ----------
    key
        Which page or summary of the plan.
    tokens
        What it will cost: exact for a page, the cap for a summary.
    stands_for
        The text that it replaces.
    """

    key: str
    tokens: int
    stands_for: str = ""


AnyPart = Text | Thinking | Image | ToolCall | ToolResult | Opaque | Pending


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. A role ``tool`` message holds results only; results may also stand first in a ``user`` message."""

    role: Role
    parts: tuple[AnyPart, ...]
    extra: Extra = {}

    def of(self, *kinds: type[Part]) -> Iterator[Any]:
        """Yield the parts of the given kinds, in order."""
        return (part for part in self.parts if isinstance(part, kinds))


MACHINE_MADE: Extra = {"contextkit": {"machine": True}}
"""``extra`` of a message in the user's role that no person wrote: a command's output, a summary, a host's notice."""


def machine_made(message: Message) -> bool:
    """Say whether a message in the user's role was written by a program."""
    return bool(message.extra.get("contextkit", {}).get("machine"))


class Tool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool the model may call; ``parameters`` is its JSON Schema."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    extra: Extra = {}


class Conversation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """System text, tools and messages; ``extra`` holds the other fields of the request or log it came from."""

    messages: tuple[Message, ...]
    system: tuple[Text, ...] = ()
    tools: tuple[Tool, ...] = ()
    extra: Extra = {}
