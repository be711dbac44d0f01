"""Which of several characters that look the same stays in a font: the one that people write."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

from glyphraster.distance import ALPHABETS, with_capitals
from glyphraster.font import load_font

_LATIN_1, _GREEK, _CYRILLIC = range(0xA0, 0x100), range(0x386, 0x3CF), range(0x400, 0x460)
"""Greek and Cyrillic as written today, without U+0138 and U+025B, which 6x13 draws like kappa and epsilon."""

_LETTERS = ("Lu", "Ll", "Lt", "Lo")
"""Not Lm: modifier letters look like common signs, U+02BC like the apostrophe U+2019."""


def by_use(codes: Iterable[int]) -> list[int]:
    """Sort code points, those that people write first.

    ASCII leads, then the letters of :data:`~glyphraster.distance.ALPHABETS` in its order, the rest of Latin-1, Greek,
    Cyrillic, what else our own ``glyph5x8`` draws, other letters, and all others; equals go by code point.

    Parameters
    ----------
    codes
        Unicode code points, no marks.
    """
    return sorted(codes, key=lambda code: (_rank(code), code))


def _rank(code: int) -> int:
    known = _known()
    return known.get(code, len(known) + (unicodedata.category(chr(code)) not in _LETTERS))


@functools.cache
def _known() -> dict[int, int]:
    """Return the rank of every code point that has one by itself; the number of them is above each rank."""
    alphabets = [map(ord, with_capitals(letters)) for letters in ALPHABETS.values()]
    groups = [range(0x80), *alphabets, _LATIN_1, _GREEK, _CYRILLIC, load_font("glyph5x8").codepoints.tolist()]
    return {code: rank for rank, codes in reversed(list(enumerate(groups))) for code in codes}
