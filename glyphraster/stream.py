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
        wanted = count + max(1, beyond)
        while self._holds(wanted):
            end = self._run_end(self._position + count)
            if end + beyond <= len(self._text) and end < len(self._text):
                return self._text[self._position : end + beyond], False
            count = end - self._position
            wanted = count + max(1, beyond, count // 8)  # a run of spaces is not joined piece by piece
        return self._text[self._position :], True

    def skip(self, count: int) -> None:
        """Drop characters from the front."""
        self._position += count

    def _run_end(self, position: int) -> int:
        return _SPACES.match(self._text, position).end()  # type: ignore[union-attr]  # the pattern matches everywhere

    def _holds(self, count: int) -> bool:
        """Read until ``count`` characters are at hand; say whether there are so many."""
        held = len(self._text) - self._position
        if held >= count:
            return True
        pieces = [self._text[self._position :]] if held else []  # one string alone is not copied
        while held < count and (chunk := next(self._chunks, None)) is not None:
            pieces.append(chunk)
            held += len(chunk)
        self._text, self._position = "".join(pieces), 0
        return held >= count
