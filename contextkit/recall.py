"""The store of originals: every part that left a request has a handle, and the handle gives it back.

A handle is ``r`` and the first 16 hex digits of the SHA-256 of the original's JSON, so equal originals are kept once
and a damaged one is noticed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from contextkit.errors import RecallError
from contextkit.messages import AnyPart, Message
from glyphraster.output import write_atomically

_HANDLE = re.compile(r"r[0-9a-f]{16}")


class Original(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages or parts as they were before a rung took them."""

    messages: tuple[Message, ...] = ()
    parts: tuple[AnyPart, ...] = ()

    @property
    def handle(self) -> str:
        """Name of this original; the same for equal originals."""
        return _handle(_encode(self))


class DirectoryRecallStore:
    """Keep originals as files of one directory, written atomically, private to the user.

    Parameters
    ----------
    path
        The directory; made on the first write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, original: Original) -> str:
        """Keep an original and return its handle; a file that was altered is written anew."""
        encoded = _encode(original)
        handle = _handle(encoded)
        if not self._file(handle).is_file() or self._file(handle).read_bytes() != encoded:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self._file(handle), encoded)
        return handle

    def get(self, handle: str) -> Original:
        """Return an original.

        Raises
        ------
        RecallError
            When the handle is malformed or unknown, or its file was altered.
        """
        if not _HANDLE.fullmatch(handle):
            raise RecallError(f"{handle!r} is no recall handle: they are 'r' and 16 hexadecimal digits")
        if not self._file(handle).is_file():
            raise RecallError(f"no original {handle} in {self.path}: it holds {len(self.handles())}")
        encoded = self._file(handle).read_bytes()
        if _handle(encoded) != handle:
            raise RecallError(f"the file of {handle} in {self.path} was altered: its content is {_handle(encoded)}")
        return msgspec.convert(json.loads(encoded), Original)

    def handles(self) -> Sequence[str]:
        """Return every handle, sorted."""
        return sorted(file.stem for file in self.path.glob("r*.json"))

    def _file(self, handle: str) -> Path:
        return self.path / f"{handle}.json"


def _encode(original: Original) -> bytes:
    """Encode with the standard library: lone surrogates and numbers beyond 64 bits survive."""
    return json.dumps(msgspec.to_builtins(original), sort_keys=True, separators=(",", ":")).encode("ascii")


def _handle(encoded: bytes) -> str:
    return "r" + hashlib.sha256(encoded).hexdigest()[:16]
