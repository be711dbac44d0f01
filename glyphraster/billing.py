"""What providers do to an image before the model sees it, and what they bill for it.

Every rule is a small function of a size in pixels, rows before columns; its keyword arguments are the numbers that a
row of ``profiles.toml`` gives. ``RESIZE_RULES`` return (height, width) as the model gets it, ``FORMULAS`` tokens.
"""

from __future__ import annotations

import inspect
import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glyphraster.errors import ProfileError

Size = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Name one rule of this module and hold its numbers.

    Attributes
    ----------
    name
        A key of ``RESIZE_RULES`` or ``FORMULAS``.
    options
        The rule's keyword arguments, as pairs.
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()


def parse_rule(row: Mapping[str, Any], rules: Mapping[str, Callable[..., Any]], *, where: str) -> Rule:
    """Return the rule that the inline table ``row`` names.

    Raises
    ------
    ProfileError
        When ``rule`` is unknown, or a number is missing, unknown, or no positive integer (or table of them).
    """
    numbers = dict(row)
    name = numbers.pop("rule", None)
    if name not in rules:
        raise ProfileError(f"{where}: unknown rule {name!r}; known: {', '.join(rules)}")
    parameters = inspect.signature(rules[name]).parameters.items()
    wanted = {key: parameter.default for key, parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    _check_numbers(numbers, wanted, where=f"{where}, rule {name!r}")
    return Rule(name=name, options=tuple((key, _frozen(value)) for key, value in sorted(numbers.items())))


def _check_numbers(numbers: Mapping[str, Any], wanted: Mapping[str, Any], *, where: str) -> None:
    for key, value in numbers.items():
        if key not in wanted:
            raise ProfileError(f"{where}: unknown key {key!r}; known: {', '.join(wanted)}")
        if not isinstance(value, list) and not (type(value) is int and value > 0):
            raise ProfileError(f"{where}: {key} must be a positive integer, got {value!r}")
    missing = [key for key, default in wanted.items() if default is inspect.Parameter.empty and key not in numbers]
    if missing:
        raise ProfileError(f"{where}: missing {', '.join(missing)}")


def _frozen(value: Any) -> Any:  # noqa: ANN401 - a TOML value: an integer, or a list of lists of them
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def resize(rule: Rule, height_px: int, width_px: int) -> Size:
    """Return the (height, width) in pixels that the model gets of an image of this size."""
    return RESIZE_RULES[rule.name](height_px, width_px, **dict(rule.options))


def bill(formula: Rule, sent_px: Size, resized_px: Size) -> int:
    """Return the tokens of an image, counted on the resized size unless the formula goes by the size that was sent."""
    height_px, width_px = sent_px if formula.name in BILLED_AS_SENT else resized_px
    return FORMULAS[formula.name](height_px, width_px, **dict(formula.options))


def patch_px(formula: Rule) -> int:
    """Return the side of the square patch that the formula counts, or 1 where it counts none."""
    side: int = dict(formula.options)["cell_px"] if formula.name in BILLED_BY_PATCH else 1
    return side


def _cells(height_px: int, width_px: int, cell_px: int) -> int:
    return -(-height_px // cell_px) * -(-width_px // cell_px)


def _scaled(height_px: int, width_px: int, scale: float) -> Size:
    return max(1, round(height_px * scale)), max(1, round(width_px * scale))


# --- what the model gets ---


def keep(height_px: int, width_px: int) -> Size:
    """Leave the image alone.

    OpenAI's guide (images and vision, 2026-10-05) for ``original`` without a budget; elsewhere none is published.
    """
    return height_px, width_px


def fit_cells(height_px: int, width_px: int, *, edge_px: int, cell_px: int, max_cells: int) -> Size:
    """Shrink to the largest size of the same aspect that takes at most ``max_cells`` cells and ``edge_px`` a side.

    Anthropic's vision page (2026-09-29): both limits hold for the size padded to whole 28 px cells; the long edge is
    the largest that fits, the short edge rounds half to even. Its worked examples are the tests' vectors.
    """
    long_px, short_px = max(height_px, width_px), min(height_px, width_px)

    def fitted(edge: int) -> Size:
        return edge, max(1, round(Fraction(edge * short_px, long_px)))

    edge = bisect_right(range(1, min(long_px, edge_px) + 1), max_cells, key=lambda edge: _cells(*fitted(edge), cell_px))
    if edge == long_px:
        return height_px, width_px
    long_px, short_px = fitted(max(1, edge))
    return (long_px, short_px) if height_px >= width_px else (short_px, long_px)


def fit_patch_budget(height_px: int, width_px: int, *, edge_px: int, cell_px: int, max_cells: int) -> Size:
    """Shrink to ``edge_px`` a side, then by the square root of the patch budget, one side ending on a whole patch.

    OpenAI's guide (images and vision, 2026-10-05): ``s = sqrt(32^2 * B / (w*h))``, times
    ``min(floor(w*s/32) / (w*s/32), floor(h*s/32) / (h*s/32))``. Rounding to pixels follows LiteLLM 1.110.2.
    """
    height_px, width_px = _scaled(height_px, width_px, min(1.0, edge_px / max(height_px, width_px)))
    if _cells(height_px, width_px, cell_px) <= max_cells:
        return height_px, width_px
    scale = math.sqrt(cell_px**2 * max_cells / (height_px * width_px))
    rows, columns = height_px * scale / cell_px, width_px * scale / cell_px
    scale *= min(max(1, math.floor(rows)) / rows, max(1, math.floor(columns)) / columns)
    return _scaled(height_px, width_px, scale)


def fit_sides(height_px: int, width_px: int, *, long_px: int, short_px: int) -> Size:
    """Shrink until the long side is at most ``long_px`` and the short side at most ``short_px``.

    OpenAI's guide: inside 2048x2048, then the short side to 768. Down only, as in LiteLLM 1.110.2; the guide's wording
    does not exclude that a shorter side is stretched.
    """
    scale = min(Fraction(1), Fraction(long_px, max(height_px, width_px)), Fraction(short_px, min(height_px, width_px)))
    return max(1, math.floor(height_px * scale)), max(1, math.floor(width_px * scale))


def nearest_cells(height_px: int, width_px: int, *, cell_px: int, max_px: int, min_px: int = 1) -> Size:
    """Resample both sides to the nearest multiple of ``cell_px``, with an area of ``min_px`` to ``max_px``.

    ``smart_resize`` of the open Qwen, GLM and MiniMax processors (transformers 5.24.0); Qwen also in the sample code of
    Alibaba's Model Studio documentation.
    """
    height, width = (max(1, round(side / cell_px)) * cell_px for side in (height_px, width_px))
    if height * width > max_px:
        ratio = math.sqrt(height_px * width_px / max_px)
        height, width = (max(1, math.floor(side / ratio / cell_px)) * cell_px for side in (height_px, width_px))
    elif height * width < min_px:
        ratio = math.sqrt(min_px / (height_px * width_px))
        height, width = (math.ceil(side * ratio / cell_px) * cell_px for side in (height_px, width_px))
    return height, width


def whole_cells(height_px: int, width_px: int, *, edge_px: int, cell_px: int) -> Size:
    """Shrink to ``edge_px`` a side, then resample both sides up to whole cells.

    mistral-common 1.13.1, ``ImageEncoder``.
    """
    ratio = max(1.0, max(height_px, width_px) / edge_px)
    height, width = max(1, round(height_px / ratio)), max(1, round(width_px / ratio))
    return -(-height // cell_px) * cell_px, -(-width // cell_px) * cell_px


def fit_area(height_px: int, width_px: int, *, min_px: int, cell_px: int, max_tokens: int) -> Size:
    """Enlarge to an area of ``min_px``, or shrink until rows with breaks take at most ``max_tokens``.

    DeepSeek's vision guide (September 2026): up below 544x544 px of area, down above 1,024 tokens. The largest
    whole-pixel long side that fits is our reading of it.
    """
    if height_px * width_px < min_px:
        scale = math.sqrt(min_px / (height_px * width_px))
        return math.ceil(height_px * scale), math.ceil(width_px * scale)
    long_px = max(height_px, width_px)

    def tokens(edge: int) -> int:
        return rows_with_breaks(*_scaled(height_px, width_px, edge / long_px), cell_px=cell_px, constant_tokens=2)

    edge = max(1, bisect_right(range(1, long_px + 1), max_tokens, key=tokens))
    return (height_px, width_px) if edge == long_px else _scaled(height_px, width_px, edge / long_px)


def fill_grid(height_px: int, width_px: int, *, tokens: int, cell_px: int) -> Size:
    """Resample, up or down, to the token grid of the image's aspect.

    The open Gemma 4 processor (transformers 5.24.0), one token for 48x48 px; inferred for the hosted Gemini 3 and 4,
    which share its token count.
    """
    rows, columns = _grid(height_px, width_px, tokens)
    return rows * cell_px, columns * cell_px


def square(height_px: int, width_px: int, *, side_px: int) -> Size:  # noqa: ARG001 - whatever the size was
    """Resample to a square: the open Gemma 3 processor (transformers 5.24.0)."""
    return side_px, side_px


def zoom_tiles(height_px: int, width_px: int, *, tile_px: int, small_px: int) -> Size:
    """Enlarge by the factor that brings one crop unit to ``tile_px``; images within ``small_px`` a side stay.

    Google's image understanding page (2026): each tile is resampled to 768x768.
    """
    if max(height_px, width_px) <= small_px:
        return height_px, width_px
    return _scaled(height_px, width_px, tile_px / _crop_unit(height_px, width_px, tile_px))


# --- what it costs ---


def patches(
    height_px: int, width_px: int, *, cell_px: int, multiplier_percent: int = 100, constant_tokens: int = 0,
) -> int:
    """Count square patches, part ones too: ``ceil(multiplier * ceil(w/cell) * ceil(h/cell)) + constant``.

    Anthropic's vision page (28 px) and OpenAI's guide (32 px and a multiplier per model, 2026-10-05); the constants are
    measurements, named in their rows. The multiplier is in hundredths, so that no float rounds a whole number up.
    """
    return -(-_cells(height_px, width_px, cell_px) * multiplier_percent // 100) + constant_tokens


def rows_with_breaks(height_px: int, width_px: int, *, cell_px: int, constant_tokens: int = 0) -> int:
    """Count patches and one break a row: ``ceil(h/cell) * (ceil(w/cell) + 1) + constant``.

    mistral-common 1.13.1; DeepSeek's vision guide (September 2026).
    """
    return -(-height_px // cell_px) * (-(-width_px // cell_px) + 1) + constant_tokens


def tiles(height_px: int, width_px: int, *, tile_px: int, base_tokens: int, tile_tokens: int) -> int:
    """Count a base and whole tiles: ``base + per tile * ceil(w/tile) * ceil(h/tile)``.

    OpenAI's guide (images and vision, 2026-10-05).
    """
    return base_tokens + tile_tokens * _cells(height_px, width_px, tile_px)


def crop_tiles(height_px: int, width_px: int, *, tile_px: int, tile_tokens: int, small_px: int) -> int:
    """Count one tile within ``small_px`` a side, else the crops of a unit of two thirds of the short side.

    Google's image understanding page (2026), Gemini 2.x: the unit is ``floor(min(w, h) / 1.5)``, from 256 to 768.
    """
    if max(height_px, width_px) <= small_px:
        return tile_tokens
    return tile_tokens * _cells(height_px, width_px, _crop_unit(height_px, width_px, tile_px))


def _crop_unit(height_px: int, width_px: int, tile_px: int) -> int:
    return max(256, min(2 * min(height_px, width_px) // 3, tile_px))


def aspect_grid(height_px: int, width_px: int, *, tokens: int) -> int:
    """Count ``floor(sqrt(N*w/h)) * floor(sqrt(N*h/w))``, which depends on the aspect alone.

    Gemini 3 and 4 bill about N whatever the size (media resolution page, 2026); the closed form is the open Gemma 4
    processor's and meets all seven counts that pxpipe measured on gemini-3.6-flash (2026-07-21).
    """
    rows, columns = _grid(height_px, width_px, tokens)
    return rows * columns


def _grid(height_px: int, width_px: int, tokens: int) -> tuple[int, int]:
    """Rows and columns; the integer square root of the integer part is the exact floor."""
    return max(1, math.isqrt(tokens * height_px // width_px)), max(1, math.isqrt(tokens * width_px // height_px))


def flat(height_px: int, width_px: int, *, tokens: int) -> int:  # noqa: ARG001 - whatever the size is
    """Count the same for every image: Amazon's Nova 2 user guide (2026); the open Gemma 3 processor."""
    return tokens


def tiles_and_view(height_px: int, width_px: int, *, tile_px: int, tile_tokens: int) -> int:
    """Count tiles, a view of the whole where there are several, and one token.

    The open Llama 4 processor (transformers 5.24.0): 144 for each 336 px tile, plus 145, or 1 for a single tile.
    """
    count = _cells(height_px, width_px, tile_px)
    return tile_tokens * count + (tile_tokens + 1 if count > 1 else 1)


def capped_tiles(height_px: int, width_px: int, *, tile_px: int, tile_tokens: int, max_tiles: int) -> int:
    """Count tiles up to a cap: Together's documentation (2026), 1,601 for each 560 px tile, at most four."""
    return tile_tokens * min(max_tiles, _cells(height_px, width_px, tile_px))


def ocr_tiles(
    height_px: int, width_px: int, *, tile_px: int, tile_tokens: int, view_tokens: int, min_tiles: int, max_tiles: int,
) -> int:
    """Count one view, and ``min_tiles`` to ``max_tiles`` tiles once a side exceeds one tile, and one token.

    DeepSeek-OCR-2 (transformers 5.24.0): 256 + 144 * n + 1, n from 2 to 6; 257 within 768 px.
    """
    if max(height_px, width_px) <= tile_px:
        return view_tokens + 1
    return view_tokens + tile_tokens * min(max_tiles, max(min_tiles, _cells(height_px, width_px, tile_px))) + 1


def side_modes(
    height_px: int, width_px: int, *, modes: tuple[Size, ...], tile_px: int, tile_tokens: int, view_tokens: int,
) -> int:
    """Count the tokens of the smallest mode that holds the long side, else tiles and one view.

    DeepSeek-OCR (arXiv 2510.18234): 512, 640, 1024 and 1280 px take 64, 100, 256 and 400; beyond, tiles and a view.
    """
    for side_px, tokens in modes:
        if max(height_px, width_px) <= side_px:
            return tokens
    return tile_tokens * _cells(height_px, width_px, tile_px) + view_tokens


def by_area(height_px: int, width_px: int, *, points: tuple[Size, ...]) -> int:
    """Interpolate between published (area in px, tokens) points; in proportion outside them.

    Amazon's Nova user guide (2026) prints five sizes with "about" as many tokens.
    """
    area = height_px * width_px
    for (low_px, low), (high_px, high) in itertools.pairwise(points):
        if low_px <= area <= high_px:
            return math.ceil(low + Fraction((high - low) * (area - low_px), high_px - low_px))
    end_px, end = points[0] if area < points[0][0] else points[-1]
    return math.ceil(Fraction(end * area, end_px))


RESIZE_RULES: dict[str, Callable[..., Size]] = {
    rule.__name__: rule
    for rule in (
        keep, fit_cells, fit_patch_budget, fit_sides, nearest_cells, whole_cells, fit_area, fill_grid, square,
        zoom_tiles,
    )
}
FORMULAS: dict[str, Callable[..., int]] = {
    formula.__name__: formula
    for formula in (
        patches, rows_with_breaks, tiles, crop_tiles, aspect_grid, flat, tiles_and_view, capped_tiles, ocr_tiles,
        side_modes, by_area,
    )
}
BILLED_BY_PATCH = frozenset({"patches", "rows_with_breaks"})
"""Formulas that count square patches of ``cell_px`` a side, part ones as whole."""
BILLED_AS_SENT = frozenset({"crop_tiles", "aspect_grid", "flat", "ocr_tiles", "side_modes", "by_area"})
"""Formulas that go by the size as sent; the others by the size that the model gets."""
