"""The transcript: one JSON file per (conversation, agent) pair, saved at turn boundaries only, atomically."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from contextkit import turns
from contextkit.errors import TranscriptError
from contextkit.messages import Conversation
from glyphraster.output import write_atomically

SCHEMA = "contextkit-transcript"
SCHEMA_VERSION = 1


class Transcript(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one agent's run resumes from.

    Attributes
    ----------
    conversation_id, agent
        The pair that the file belongs to.
    conversation
        The messages as they are sent.
    recall
        Where the originals of what left the conversation are kept, relative to the file; empty when nothing left.
    unknown
        Keys of the file that this release does not know; they are written back.
    """

    conversation_id: str
    agent: str
    conversation: Conversation
    recall: str = ""
    unknown: dict[str, Any] = {}


def save_transcript(transcript: Transcript, path: Path) -> None:
    """Write a transcript; a reader sees all of it or the one before.

    Raises
    ------
    TranscriptError
        When the conversation ends with an open call (no turn boundary), what stands at ``path`` is no transcript that
        this release can read, or when the file cannot be written. Whatever stood there stays.
    """
    groups = turns.groups(transcript.conversation.messages)
    if groups and groups[-1].has_open_call:
        raise TranscriptError(
            f"the conversation ends in the middle of a turn: message {groups[-1].start + 1} of "
            f"{len(transcript.conversation.messages)} "
            f"has a call without a result; save when it is answered"
        )
    if path.exists():
        load_transcript(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _encode(transcript))
    except OSError as error:
        raise TranscriptError(f"cannot save {path}: {error.strerror}; what stood there is unchanged") from error


def load_transcript(path: Path) -> Transcript:
    """Read a transcript.

    Raises
    ------
    TranscriptError
        When the file is missing, damaged, no transcript, or of a newer version; the file is left as it is.
    """
    try:
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise TranscriptError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise TranscriptError(
            f"{path} is not JSON ({error}): it is left as it is; set it aside to start anew"
        ) from error
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        raise TranscriptError(
            f"{path} is no transcript: its schema is "
            f"{raw.get('schema') if isinstance(raw, dict) else type(raw).__name__!r}, "
            f"not {SCHEMA!r}"
        )
    version = raw.get("version")
    if version != SCHEMA_VERSION:
        raise TranscriptError(
            f"{path} has version {version!r}, this release reads {SCHEMA_VERSION}: use the release that wrote it"
        )
    fields = set(Transcript.__struct_fields__) - {"unknown"}
    unknown = {key: value for key, value in raw.items() if key not in fields | {"schema", "version"}}
    try:
        known = {key: value for key, value in raw.items() if key in fields}
        return msgspec.structs.replace(msgspec.convert(known, Transcript), unknown=unknown)
    except msgspec.ValidationError as error:
        raise TranscriptError(f"{path} does not hold what a transcript of version {version} holds: {error}") from error


def _encode(transcript: Transcript) -> bytes:
    """Encode with the standard library: lone surrogates and numbers beyond 64 bits survive."""
    values = msgspec.to_builtins(msgspec.structs.replace(transcript, unknown={}))
    return json.dumps({"schema": SCHEMA, "version": SCHEMA_VERSION, **transcript.unknown, **values}, indent=1).encode(
        "ascii"
    )
