"""Which of several characters that look the same stays in a font: the one that people write."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

from glyphraster.distance import ALPHABETS, with_capitals
from glyphraster.font import load_font

_COMMON = {
    "Latin-1": range(0xA0, 0x100), "Greek": range(0x386, 0x3CF), "Cyrillic": range(0x400, 0x460),
    "punctuation": range(0x2010, 0x2040), "lines and blocks": range(0x2500, 0x25A0),
}
"""Before what looks like them elsewhere: 6x13 draws U+0138 like kappa, Galmuri11 U+2223 like the line U+2502."""

_LETTERS = ("Lu", "Ll", "Lt", "Lo")
"""Not Lm: modifier letters look like common signs, U+02BC like the apostrophe U+2019."""


def by_use(codes: Iterable[int]) -> list[int]:
    """Sort code points, those that people write first.

    ASCII leads, then the letters of :data:`~glyphraster.distance.ALPHABETS` in its order, the rest of Latin-1, Greek,
    Cyrillic, punctuation, lines and blocks, what else our own ``glyph5x8`` draws, other letters, and all others;
    equals go by code point.

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
    groups = [range(0x80), *alphabets, *_COMMON.values(), load_font("glyph5x8").codepoints.tolist()]
    return {code: rank for rank, codes in reversed(list(enumerate(groups))) for code in codes}
