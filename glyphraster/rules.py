"""Glyphs that a rule draws for any cell: lines, blocks and Braille, so that cells join without a seam."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.bool_]
Drawing = Callable[[int, int], dict[int, Picture]]

_WEIGHTS = {"LIGHT": 1, "SINGLE": 1, "HEAVY": 2, "DOUBLE": 3}
_SIDES = {"UP": "U", "RIGHT": "R", "DOWN": "D", "LEFT": "L", "VERTICAL": "UD", "HORIZONTAL": "LR"}
_OPPOSITE = {"U": "D", "D": "U", "L": "R", "R": "L"}
_DASHES = {"DOUBLE DASH": 2, "TRIPLE DASH": 3, "QUADRUPLE DASH": 4}
_BRAILLE_DOTS = ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1))
"""Row and column of the dots 1 to 8, in the order of the bits of U+2800."""
_QUADRANTS = (0b0010, 0b0001, 0b1000, 0b1011, 0b1001, 0b1110, 0b1101, 0b0100, 0b0110, 0b0111)
"""U+2596 to U+259F as upper left, upper right, lower left, lower right."""


def box(height: int, width: int) -> dict[int, Picture]:
    """Draw U+2500 to U+257F: light is one pixel, heavy three, double the two outer ones of the three."""
    return {code: _line(unicodedata.name(chr(code)), height, width) for code in range(0x2500, 0x2580)}


def blocks(height: int, width: int) -> dict[int, Picture]:
    """Draw U+2580 to U+259F; a part of a cell that is no whole number of pixels takes turns from row to row."""
    lower = {0x2580 + n: _lower(n, height, width) for n in range(1, 9)}
    left = {0x2590 - n: _left(n, height, width) for n in range(1, 8)}
    upper_half, left_half = ~lower[0x2584], left[0x258C]
    quarters = (upper_half & left_half, upper_half & ~left_half, ~upper_half & left_half, ~upper_half & ~left_half)
    quadrants = {0x2596 + index: _union(quarters, bits) for index, bits in enumerate(_QUADRANTS)}
    edges = {0x2594: ~_lower(7, height, width), 0x2595: ~_but_right_edge(height, width)}
    rest = {0x2580: upper_half, 0x2590: ~left_half, **edges}
    return lower | left | quadrants | rest | _shades(height, width)


def braille(height: int, width: int) -> dict[int, Picture]:
    """Draw U+2801 to U+28FF; the blank U+2800 has no glyph, for only the space may be blank."""
    size, pitch = (2, 3) if width >= 8 and height >= 12 else (1, 2)
    columns = (1, width - 1 - size)
    parts = np.zeros((8, height, width), np.bool_)
    for part, (row, column) in zip(parts, _BRAILLE_DOTS, strict=True):
        part[row * pitch:row * pitch + size, columns[column]:columns[column] + size] = True
    return {0x2800 + bits: _union(list(parts), bits, first_high=False) for bits in range(1, 256)}


RULES: Mapping[str, Drawing] = MappingProxyType(
    {"box": box, "blocks": blocks, "braille": braille}
)


def _union(parts: tuple[Picture, ...] | list[Picture], bits: int, *, first_high: bool = True) -> Picture:
    last = len(parts) - 1
    chosen = [part for index, part in enumerate(parts) if bits >> (last - index if first_high else index) & 1]
    return np.asarray(np.logical_or.reduce(chosen), np.bool_)


def _lower(eighths: int, height: int, width: int) -> Picture:
    picture = np.zeros((height, width), np.bool_)
    picture[height - round(eighths * height / 8):] = True
    return picture


def _left(eighths: int, height: int, width: int) -> Picture:
    """Return the left part of a cell; even rows round down and odd rows up, by a quarter of a pixel each."""
    filled = np.floor(eighths * width / 8 + np.where(np.arange(height) % 2, 0.75, 0.25))
    return np.asarray(np.arange(width) < filled[:, None])


def _but_right_edge(height: int, width: int) -> Picture:
    picture = np.ones((height, width), np.bool_)
    picture[:, round(width * 7 / 8):] = False
    picture[:, -1] = False
    return picture


def _shades(height: int, width: int) -> dict[int, Picture]:
    y, x = np.indices((height, width))
    light = (x + 2 * y) % (5 if width % 5 == 0 else 4) == 0
    return {0x2591: light, 0x2592: (x + y) % 2 == 0, 0x2593: ~light}


def _line(name: str, height: int, width: int) -> Picture:
    words = name.removeprefix("BOX DRAWINGS ")
    if "DIAGONAL" in words:
        return _diagonals(words, height, width)
    for dash, count in _DASHES.items():
        if dash in words:
            return _dashed(words.replace(f" {dash}", ""), count, height, width)
    arms = _arms(words.replace("ARC ", ""))
    picture = _joined(arms, height, width)
    if "ARC" in words:
        _round_off(picture, arms)
    return picture


def _arms(words: str) -> dict[str, int]:
    """Return the weight of each arm; a clause without a weight has that of the clause before it."""
    arms: dict[str, int] = {}
    weight = 0
    for clause in words.split(" AND "):
        terms = clause.split()
        weight = next((_WEIGHTS[term] for term in terms if term in _WEIGHTS), weight)
        arms |= dict.fromkeys("".join(_SIDES.get(term, "") for term in terms), weight)
    return arms


def _joined(arms: Mapping[str, int], height: int, width: int) -> Picture:
    """Fill double arms, hollow them out, then lay the others over them."""
    picture = np.zeros((height, width), np.bool_)
    for side in (side for side, weight in arms.items() if weight == 3):
        _arm(picture, side, 1, _reach(arms, side))[...] = True
    for side in (side for side, weight in arms.items() if weight == 3):
        _arm(picture, side, 0, 0)[...] = False
    for side, weight in arms.items():
        if weight != 3:
            _arm(picture, side, weight - 1, _reach(arms, side))[...] = True
    return picture


def _reach(arms: Mapping[str, int], side: str) -> int:
    """Return how far an arm goes past the centre: half the line that it meets, and not into a double that passes."""
    crossing = [arms.get(other, 0) for other in ("UD" if side in "LR" else "LR")]
    if arms[side] == 1 and crossing == [3, 3] and _OPPOSITE[side] not in arms:
        return -1
    return int(max(crossing) > 1)


def _arm(picture: Picture, side: str, half: int, reach: int) -> Picture:
    """Return the view of one arm, ``2 * half + 1`` pixels thick, from the edge to ``reach`` past the centre."""
    height, width = picture.shape
    y, x = (height - 1) // 2, (width - 1) // 2
    across, along = {
        "L": (slice(y - half, y + half + 1), slice(0, x + reach + 1)),
        "R": (slice(y - half, y + half + 1), slice(x - reach, width)),
        "U": (slice(0, y + reach + 1), slice(x - half, x + half + 1)),
        "D": (slice(y - reach, height), slice(x - half, x + half + 1)),
    }[side]
    return picture[across, along]


def _round_off(picture: Picture, arms: Mapping[str, int]) -> None:
    """Take the corner pixel and its neighbour on the upright away, and step over diagonally instead."""
    y, x = (size - 1 >> 1 for size in picture.shape)
    down, right = (1 if "D" in arms else -1), (1 if "R" in arms else -1)
    picture[y, x] = picture[y + down, x] = False
    picture[y + down, x + right] = True


def _dashed(words: str, count: int, height: int, width: int) -> Picture:
    picture = _joined(_arms(words), height, width)
    axis = 1 if "HORIZONTAL" in words else 0
    length = picture.shape[axis]
    gaps = [int((index + 0.5) * length / count) for index in range(count)]
    np.moveaxis(picture, axis, 0)[gaps] = False
    return picture


def _diagonals(words: str, height: int, width: int) -> Picture:
    """Draw a line from corner to corner; a cross is both."""
    falling = np.zeros((height, width), np.bool_)
    falling[np.arange(height), np.arange(height) * width // height] = True
    rising = falling[:, ::-1]
    if "CROSS" in words:
        return falling | rising
    return rising if "UPPER RIGHT TO LOWER LEFT" in words else falling
