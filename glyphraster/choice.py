"""Which shipped font a text is read best in."""

from __future__ import annotations

PLAIN, TAILS = "glyph5x8", "glyph5x9"
"""The same glyphs, with tails of one row and of two."""

TAILED = frozenset("șțşţąęįųģķļņŗȘȚŞŢĄĘĮŲĢĶĻŅŖ")
"""Letters told from their plain ones only by what hangs below: a cell of 8 rows leaves one row for that."""

SHARE = 1 / 500
"""Least share of the letters of a text. In the Romanian sample of the bench (fonts/README.md) 1 letter in
36 is tailed; a name or two in an English log stays below. The higher cell costs an eighth more area."""


def font_for_text(text: str, default: str = PLAIN) -> str:
    """Choose the shipped font for a text.

    Romanian, Turkish, Polish and Latvian are read better in ``glyph5x9``: OCR misses 18 of the 39 ``ș`` of a sample
    where it misses all of them in ``glyph5x8`` (``fonts/README.md`` has the table).

    Parameters
    ----------
    text
        What will be drawn; a sample of it serves as well.
    default
        The font for all other texts. Only ``"glyph5x8"`` is ever replaced: larger cells have room for tails.

    Returns
    -------
    str
        ``"glyph5x9"`` when at least one letter in 500 is tailed and ``default`` is ``"glyph5x8"``, else ``default``.
    """
    if default != PLAIN:
        return default
    tailed = sum(map(text.count, TAILED))
    return TAILS if tailed and tailed >= SHARE * sum(map(str.isalpha, text)) else default
