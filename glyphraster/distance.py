"""Which glyphs of a font look most alike, and the gates that keep the glyphs of a font apart."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glyphraster.errors import ArgumentError
from glyphraster.font import MARK_BASE, BitmapFont, Mark

REDUCTION = 0.8
"""Size of a page that something made smaller, for the blurred distance: the factor of fonts.md, section 3."""
PHASES = 5
"""Positions of a glyph against the grid of the smaller page, in steps of one pixel of the page."""
_PAPER_PX = 4
"""Paper around a glyph while it is reduced: more than a reduced pixel covers."""
_AT_ONCE = 16
"""Glyphs compared at a time, so that 200 of them take 2 MB and not 30."""

ASCII = "".join(map(chr, range(0x21, 0x7F)))
ALPHABETS = MappingProxyType({
    "cs+sk": "áäčďéěíĺľňóôŕřšťúůýž",
    "ro": "ăâîșț",
    "de": "äöüß",
    "pl": "ąćęłńóśźż",
    "hu": "áéíóöőúüű",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "es": "áéíñóúü¿¡",
    "hr": "čćđšž",
    "tr": "çğıİöşüâîû",
    "vi": "ăâđêôơư",
})
"""Letters beyond ASCII of the languages whose texts stand in one page with code; their capitals count too."""
SCRIPTS = MappingProxyType({"Latin": (0x41, 0x24F), "Greek": (0x370, 0x3FF), "Cyrillic": (0x400, 0x52F)})

BLUR_MINIMA_PX = MappingProxyType({
    "glyph5x8": (1.2, 1.57),
    "glyph5x9": (1.16, 1.56),
    "glyph6x10": (1.3, 1.61),
    "glyph8x13": (1.92, 1.92),
})
"""By font, the least blurred distance within ASCII and within its letters and digits: what the drawings reach today,
rounded down, so that a later drawing may only be better."""


_BLUR_PX = (1.0, 1.2)
"""The same for a font that promises nothing: the gate of fonts.md, section 3."""


class Pair(NamedTuple):
    """Two glyphs of one cell, and the number of pixels in which they differ."""

    distance_px: float
    first: int
    second: int


class Gate(NamedTuple):
    """One demand on a font: the pairs of ``characters`` (all glyphs when None) differ by ``least_px`` or more."""

    name: str
    characters: str | None
    least_px: float
    blurred: bool = False
    marks_only: bool = False
    """Only pairs with a reserved mark count."""


class Finding(NamedTuple):
    """What a gate found: the nearest pairs, and whether they are far enough apart."""

    gate: Gate
    worst: tuple[Pair, ...]
    passed: bool


def with_capitals(letters: str) -> str:
    """Add the capitals of ``letters``; none for ``ß``, whose capital is two letters."""
    return letters + "".join(letter.upper() for letter in letters if len(letter.upper()) == 1)


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

    Returns
    -------
    list of Pair
        ``distance_px`` is the Hamming distance, a whole number of pixels.

    Raises
    ------
    ArgumentError
        When ``most`` is below 0.
    FontError
        When the font lacks one of ``characters``.
    """
    codes, ink = _inks(font, characters, most)
    return _nearest(codes, _hamming(ink), most)


def closest_blurred_pairs(
    font: BitmapFont, characters: Iterable[str] | None = None, most: int | None = 10
) -> list[Pair]:
    """Return the pairs that differ least after the page was made smaller, nearest first, then by code point.

    Each glyph is reduced by :data:`REDUCTION` with an area filter at :data:`PHASES` positions; the distance is the
    mean over these of the sum of the differences, where 1.0 is a pixel of the smaller page that is black in one glyph
    and white in the other. It falls as character errors rise when pages are resized (fonts.md, sections 2 and 3).

    Parameters and errors are those of :func:`closest_pairs`.
    """
    codes, ink = _inks(font, characters, most)
    return _nearest(codes, _blurred(ink), most)


def gates(font: BitmapFont) -> Iterator[Gate]:
    """Give every demand on ``font``; a set that the font does not hold in full is cut down to what it holds."""
    held = {chr(code) for code in font.codepoints.tolist() if code < MARK_BASE}
    yield Gate("all glyphs", None, 1)
    yield Gate("marks from all glyphs", None, 3, marks_only=True)
    yield Gate("ASCII", ASCII, 3)
    for language, letters in ALPHABETS.items():
        yield Gate(f"ASCII + {language}", _only(held, ASCII + with_capitals(letters)), 3)
    for script, (first, last) in SCRIPTS.items():
        letters = "".join(character for character in map(chr, range(first, last + 1)) if character.isalpha())
        yield Gate(script, _only(held, letters), 2)
    for case, letters in (("lower", "abcdef"), ("upper", "ABCDEF")):
        yield Gate(f"hexadecimal digits, {case} case", string.digits + letters, 4)
    ascii_px, alphanumeric_px = BLUR_MINIMA_PX.get(font.name, _BLUR_PX)
    yield Gate("ASCII, blurred", ASCII, ascii_px, blurred=True)
    yield Gate("letters and digits, blurred", string.ascii_letters + string.digits, alphanumeric_px, blurred=True)


def check(font: BitmapFont, most: int = 5) -> list[Finding]:
    """Hold ``font`` against its :func:`gates`; each finding lists at most ``most`` of the nearest pairs.

    Raises
    ------
    FontError
        When the font lacks an ASCII character.
    """
    return [_find(font, gate, most) for gate in gates(font)]


def report(findings: Iterable[Finding]) -> str:
    """Return one line for each finding: the verdict, the demand, what was found and the nearest pairs."""
    return "\n".join(_line(finding) for finding in findings)


def _find(font: BitmapFont, gate: Gate, most: int) -> Finding:
    codes, ink = _inks(font, gate.characters, most)
    distance = _blurred(ink) if gate.blurred else _hamming(ink)
    pairs = _nearest(codes, distance, most, MARK_BASE if gate.marks_only else 0)
    return Finding(gate, tuple(pairs), not pairs or pairs[0].distance_px >= gate.least_px)


def _line(finding: Finding) -> str:
    verdict = "pass" if finding.passed else "FAIL"
    pairs = "  ".join(f"{_name(pair.first)} {_name(pair.second)} {pair.distance_px:g}" for pair in finding.worst)
    found = f"{finding.worst[0].distance_px:.3g}" if finding.worst else "no pairs"
    return f"{verdict}  {finding.gate.name}: {found} px, at least {finding.gate.least_px:g}   {pairs}"


def _name(code: int) -> str:
    return f"mark:{Mark(code).name.lower()}" if code >= MARK_BASE else chr(code)


def _only(held: set[str], characters: str) -> str:
    return "".join(character for character in characters if character in held)


def _inks(
    font: BitmapFont, characters: Iterable[str] | None, most: int | None
) -> tuple[list[int], npt.NDArray[np.uint8]]:
    """Return the codes of the one-cell glyphs and their pixels, (N, height, width) of 0 and 1."""
    if most is not None and most < 0:
        raise ArgumentError(f"most is {most}; it must be None or at least 0")
    codes = font.codepoints if characters is None else sorted({ord(character) for character in characters})
    if missing := set(map(int, codes)) - set(font.codepoints.tolist()):
        font.cell(min(missing))
    index = np.searchsorted(font.codepoints, codes)
    index = index[font.spans[index] == 1]
    bitmaps = font.bitmaps[font.first_cells[index]]
    return font.codepoints[index].tolist(), np.unpackbits(bitmaps, axis=-1, count=font.cell_width_px)


def _hamming(ink: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Return (N, N) numbers of pixels that differ; float32 is exact below 16 million and multiplies fastest."""
    flat = ink.reshape(len(ink), -1).astype(np.float32)
    alone = flat.sum(axis=1)
    return np.asarray(alone[:, None] + alone[None, :] - 2 * (flat @ flat.T))


def _blurred(ink: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    distance = np.zeros((len(ink), len(ink)))
    for phase in range(PHASES):
        reduced = _reduced(ink, phase).reshape(len(ink), -1)
        for start in range(0, len(ink), _AT_ONCE):
            part = reduced[start:start + _AT_ONCE, None]
            distance[start:start + _AT_ONCE] += np.abs(part - reduced[None]).sum(axis=2)
    return distance / PHASES


def _nearest(
    codes: list[int], distance: npt.NDArray[np.floating], most: int | None, second_from: int = 0
) -> list[Pair]:
    """Return the nearest pairs; of each pair the second code is ``second_from`` or more."""
    late = int(np.searchsorted(codes, second_from))
    first, second = (index for index in np.triu_indices(len(codes), k=1))
    first, second = first[second >= late], second[second >= late]
    apart = distance[first, second]
    order = np.argsort(apart, kind="stable")[:most]
    nearest = zip(apart[order].tolist(), first[order], second[order], strict=True)
    return [Pair(px, codes[i], codes[j]) for px, i, j in nearest]


def _reduced(ink: npt.NDArray[np.uint8], phase: int) -> npt.NDArray[np.float64]:
    """Return the glyphs on paper, reduced; ``phase`` pixels of paper more are above and left of them."""
    before = _PAPER_PX + phase
    page = np.pad(ink, ((0, 0), (before, _PAPER_PX), (before, _PAPER_PX)))
    down, across = (_area_weights(size) for size in page.shape[1:])
    return np.asarray(down @ page @ across.T)


def _area_weights(size: int) -> npt.NDArray[np.float64]:
    """Return (reduced, size): the part of each reduced pixel that each pixel covers."""
    reduced = round(size * REDUCTION)
    edges = np.arange(reduced + 1) * size / reduced
    pixels = np.arange(size)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.asarray(covered.clip(0) * reduced / size)
