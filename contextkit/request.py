"""From a conversation to a request that is ready to be posted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contextkit import codecs
from contextkit.messages import Conversation, Tool, ToolCall
from contextkit.models import ModelProfile

_OUTPUT_FIELDS = {"anthropic": ("max_tokens",), "openai-chat": ("max_completion_tokens", "max_tokens")}
"""Fields that cap the answer, the one to write first."""


def build_request(conversation: Conversation, model: ModelProfile, *, max_tokens: int) -> dict[str, Any]:
    """Return the JSON body for the model's wire, validated by that wire's own rules.

    Parameters
    ----------
    max_tokens
        Cap of the answer, written unless the conversation came with one.

    Raises
    ------
    RequestError
        When a provider rule is still broken; the error carries all violations.
    """
    encoded = codecs.encode(_with_tools(conversation), model.wire)
    request = {"model": model.id, **{key: value for key, value in encoded.items() if key != "model"}}
    names = _OUTPUT_FIELDS[model.wire]
    if not any(name in request for name in names):
        request[names[0]] = max_tokens
    return request


def adaptations(conversation: Conversation, model: ModelProfile) -> tuple[str, ...]:
    """Return a line for each thing that the model's wire cannot carry as it is, such as another maker's reasoning."""
    return codecs.repaired(_with_tools(conversation), model.wire)[1]


def _with_tools(conversation: Conversation) -> Conversation:
    """Declare the tools of a log, which holds calls but no definitions: providers ask for them beside tool blocks."""
    if conversation.tools:
        return conversation
    names = dict.fromkeys(_called(conversation))
    tools = tuple(
        Tool(
            name=name,
            description="Recorded in the imported session; its parameters were not.",
            parameters={"type": "object"},
        )
        for name in names
    )
    return msgspec.structs.replace(conversation, tools=tools) if tools else conversation


def _called(conversation: Conversation) -> Iterator[str]:
    return (call.name for message in conversation.messages for call in message.of(ToolCall))
