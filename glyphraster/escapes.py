"""What stands between the brackets of an escape: a code point in hexadecimal, or a name where that reads better.

A code point is written in upper case (``1F468``), a name in lower case (``rocket``), so that one is never taken for
the other.
Names are used only in blocks that Unicode has filled for good, where every Python knows the same ones.
"""

from __future__ import annotations

import functools
import unicodedata

from glyphraster.errors import ReadError

LONGEST_BODY_CHARS = 20
"""A longer name gives way to its code point."""

_NAMED = ((0x2600, 0x27BF), (0x1F300, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F90C, 0x1F9FF))
"""Symbols, dingbats, pictographs, emoticons, transport, supplemental pictographs: complete since Unicode 13, which the
oldest Python supported here knows; names never change (Unicode stability policy)."""

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789 -")


@functools.lru_cache(maxsize=4096)
def escape_body(code: int) -> str:
    """Return what stands between the brackets for a code point."""
    if any(first <= code <= last for first, last in _NAMED):
        name = unicodedata.name(chr(code), "").lower()
        if 0 < len(name) <= LONGEST_BODY_CHARS and name[0].isalpha() and _NAME_CHARS.issuperset(name):
            return name
    return f"{code:X}"


@functools.lru_cache(maxsize=4096)
def named_code(name: str) -> int:
    """Return the code point that a lower-case name stands for.

    Raises
    ------
    ReadError
        When Unicode has no such name.
    """
    try:
        return ord(unicodedata.lookup(name))
    except (KeyError, TypeError) as error:
        raise ReadError(f"an escape names {name!r}, which no Unicode character is called") from error
