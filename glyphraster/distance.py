"""Which glyphs of a font look most alike, counted in pixels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont


class Pair(NamedTuple):
    """Two glyphs of one cell, and the number of pixels in which they differ (their Hamming distance)."""

    distance_px: int
    first: int
    second: int


def closest_pairs(font: BitmapFont, characters: Iterable[str] | None = None, most: int | None = 10) -> list[Pair]:
    """Return the pairs of one-cell glyphs that differ least, nearest first, then by code point.

    Parameters
    ----------
    font
        Any font; its wide glyphs take no part.
    characters
        Characters to compare with one another; all glyphs of the font, its marks too, when None.
    most
        Number of pairs at most; all of them when None.

    Raises
    ------
    ArgumentError
        When ``most`` is below 0.
    FontError
        When the font lacks one of ``characters``.
    """
    if most is not None and most < 0:
        raise ArgumentError(f"most is {most}; it must be None or at least 0")
    codes = font.codepoints.tolist() if characters is None else sorted({ord(character) for character in characters})
    cells = {code: font.cell(code) for code in codes}
    single = [code for code in codes if font.spans[np.searchsorted(font.codepoints, code)] == 1]
    bitmaps = font.bitmaps[[cells[code] for code in single]]
    ink = np.unpackbits(bitmaps, axis=-1).reshape(len(single), -1).astype(np.int32)
    alone = ink.sum(axis=1)
    distance = alone[:, None] + alone[None, :] - 2 * (ink @ ink.T)
    first, second = np.triu_indices(len(single), k=1)
    order = np.argsort(distance[first, second], kind="stable")[:most]
    return [Pair(int(distance[i, j]), single[i], single[j]) for i, j in zip(first[order], second[order], strict=True)]
