"""A window on a stream of text."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPACES = re.compile(" *")


class TextStream:
    """Text that arrives in pieces: grows on demand and drops what was taken.

    Parameters
    ----------
    chunks
        Strings in order.
    """

    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks, self._text, self._position = iter(chunks), "", 0

    def peek(self, count: int, *, beyond: int = 0) -> tuple[str, bool]:
        """Return ``count`` characters, on to the end of a run of spaces and ``beyond``; and whether that is all."""
        while self._holds(count + max(1, beyond)):
            end = self._run_end(self._position + count)
            if end + beyond <= len(self._text) and end < len(self._text):
                return self._text[self._position : end + beyond], False
            count = end - self._position
        return self._text[self._position :], True

    def skip(self, count: int) -> None:
        """Drop characters from the front."""
        self._position += count

    def _run_end(self, position: int) -> int:
        return _SPACES.match(self._text, position).end()  # type: ignore[union-attr]  # the pattern matches everywhere

    def _holds(self, count: int) -> bool:
        """Read until ``count`` characters are at hand; say whether there are so many."""
        while len(self._text) - self._position < count:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self._text, self._position = self._text[self._position :] + chunk, 0
        return True
