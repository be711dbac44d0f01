"""Keep long LLM conversations alive: elide, drop images, snapshot to pages, summarise."""

from pathlib import Path

from contextkit.codecs import decode, encode, load_path, violations
from contextkit.errors import ContextkitError, DoesNotFitError, FormatError, RequestError
from contextkit.ladder import Plan, Result, apply, fit, plan
from contextkit.messages import Conversation, Image, Message, Opaque, Text, Thinking, Tool, ToolCall, ToolResult
from contextkit.models import ModelProfile, resolve
from contextkit.protocols import Budget, Edit, Step, SummaryRequest
from contextkit.tokens import count_tokens
from contextkit.transcript import Transcript, load_transcript, save_transcript

__all__ = [
    "Budget",
    "ContextkitError",
    "Conversation",
    "DoesNotFitError",
    "Edit",
    "FormatError",
    "Image",
    "Message",
    "ModelProfile",
    "Opaque",
    "Plan",
    "RequestError",
    "Result",
    "Step",
    "SummaryRequest",
    "Text",
    "Thinking",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Transcript",
    "apply",
    "count_tokens",
    "decode",
    "encode",
    "fit",
    "load",
    "load_transcript",
    "plan",
    "resolve",
    "save_transcript",
    "violations",
]


def load(path: str | Path) -> Conversation:
    """Read a conversation from a file of any known form, told apart by its content.

    Raises
    ------
    FormatError
        When the file cannot be read or is no conversation; the message says what it is and what would be read.
    """
    return load_path(path).conversation
