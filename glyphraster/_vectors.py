"""What numba has no words for: vector instructions, in LLVM's terms, which it has for every processor.

Eight glyphs are joined by one permutation of 64 bytes with AVX-512, by a few of 32 or 16 without. Written with numba's
words, that is 36 shifts and masks and a transpose by exchanges, three times as slow.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Literal

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from glyphraster._lanes import GROUP

Kind = Literal["bits", "bytes"]
"""What a pixel is on the page."""

TILE_PX = 64
"""Of a row, what one store writes: 8 bytes of bits, or 64 bytes."""

_INDEX, _BYTE, _WORD = ir.IntType(32), ir.IntType(8), ir.IntType(64)
_BYTES, _BITS = ir.VectorType(_BYTE, 64), ir.VectorType(ir.IntType(1), 64)
_ROWS = ir.VectorType(_WORD, GROUP)


@functools.cache
def glyph_store(width_px: int, kind: Kind, groups: int) -> Any:  # noqa: ANN401  (numba's)
    """Return the instruction ``store(lanes, first, page, at, stride)``, for ``groups`` of eight glyphs of up to 8 px.

    It joins the glyphs whose lanes start at ``first``, and stores their 8 pixel rows at byte ``at`` of a page and
    ``stride`` bytes further each. ``lanes`` is uint64, ``page`` uint8, both contiguous.
    """

    def store(typing: Any, lanes: Any, first: Any, page: Any, at: Any, stride: Any) -> Any:  # noqa: ANN401, ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
            kinds = signature.args
            start, place, step = (
                context.cast(builder, arguments[each], kinds[each], types.intp) for each in (1, 3, 4)
            )
            words = context.make_array(kinds[0])(context, builder, arguments[0]).data
            target = context.make_array(kinds[2])(context, builder, arguments[2]).data
            tiles = _tiles(builder, builder.gep(words, [start]), width_px, groups)
            for row in range(GROUP):
                for tile, rows in enumerate(tiles):
                    shown = _shown(builder, builder.extract_element(rows, _INDEX(row)), kind)
                    for at_byte, part in _parts(builder, shown, min(GROUP, groups * width_px - GROUP * tile)):
                        offset = builder.add(place, _WORD(tile * shown.type.count + at_byte))
                        where = builder.bitcast(builder.gep(target, [offset]), part.type.as_pointer())
                        builder.store(part, where, align=1)
                place = builder.add(place, step)
            return context.get_dummy_value()

        return types.void(lanes, first, page, at, stride), generate

    return intrinsic(store)


def _tiles(builder: Any, lanes: Any, width_px: int, groups: int) -> list[Any]:  # noqa: ANN401
    """Return the pixels of eight glyphs after eight glyphs, a word a tile and row, the leftmost in the highest bit."""
    group_px = GROUP * width_px
    joined = [_joined(builder, builder.gep(lanes, [_WORD(GROUP * group)]), width_px) for group in range(groups)]
    tiles = []
    for left_px in range(0, groups * group_px, TILE_PX):
        tile = _each(0)
        for group, rows in enumerate(joined):
            right = group * group_px - left_px
            if 0 <= right < TILE_PX:
                tile = builder.or_(tile, builder.lshr(rows, _each(right)))
            elif -group_px < right < 0:
                tile = builder.or_(tile, builder.shl(rows, _each(-right)))
        tiles.append(tile)
    return tiles


def _joined(builder: Any, lanes: Any, width_px: int) -> Any:  # noqa: ANN401
    """Return 8 words, one a pixel row: the pixels of eight glyphs, the leftmost in the highest bit.

    Transposed, the lanes are a word a row with a byte a glyph. Three times, neighbours close the gap between them.
    """
    column = builder.load(builder.bitcast(lanes, _BYTES.as_pointer()), align=8)
    order = [GROUP * (GROUP - 1 - glyph) + row for row in range(GROUP) for glyph in range(GROUP)]
    rows = builder.bitcast(_shuffled(builder, column, order), _ROWS)
    for bits in (8, 16, 32):
        left = ((1 << bits) - 1 << bits) * sum(1 << 2 * bits * pair for pair in range(32 // bits))
        gap = bits - width_px * bits // 8
        if gap:
            moved = builder.shl(builder.and_(rows, _each(left >> bits)), _each(gap))
            rows = builder.or_(builder.and_(rows, _each(left)), moved)
    return rows


def _shown(builder: Any, row: Any, kind: Kind) -> Any:  # noqa: ANN401
    """Return a row of pixels as the page has it, leftmost first: 8 bytes of bits, or 64 bytes."""
    if kind == "bits":
        return _shuffled(builder, builder.bitcast(row, ir.VectorType(_BYTE, GROUP)), range(GROUP)[::-1])
    paper = builder.sext(builder.bitcast(row, _BITS), _BYTES)
    return _shuffled(builder, paper, range(TILE_PX)[::-1])


def _parts(builder: Any, shown: Any, eighths: int) -> Iterator[tuple[int, Any]]:  # noqa: ANN401
    """Yield the first so many eighths of a vector, in parts that can be stored at once, and where each starts."""
    unit, start = shown.type.count // GROUP, 0
    for size in (8, 4, 2, 1):
        if eighths & size:
            yield start, _shuffled(builder, shown, range(start, start + size * unit))
            start += size * unit


def _shuffled(builder: Any, vector: Any, order: Any) -> Any:  # noqa: ANN401
    places = ir.Constant(ir.VectorType(_INDEX, len(order)), list(order))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)


def _each(value: int) -> Any:  # noqa: ANN401
    return ir.Constant(_ROWS, [value] * GROUP)


WINDOW_CHARS = 32
"""How far :func:`equal_ahead` looks."""


@intrinsic
def equal_ahead(typing: Any, codes: Any, at: Any, code: Any) -> Any:  # noqa: ANN401, ARG001
    """Return which of the next :data:`WINDOW_CHARS` code points, uint32 and contiguous, are ``code``: a bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        window = ir.VectorType(_INDEX, WINDOW_CHARS)
        start = context.cast(builder, arguments[1], signature.args[1], types.intp)
        wanted = context.cast(builder, arguments[2], signature.args[2], types.uint32)
        first = builder.gep(context.make_array(signature.args[0])(context, builder, arguments[0]).data, [start])
        ahead = builder.load(builder.bitcast(first, window.as_pointer()), align=4)
        one = builder.insert_element(ir.Constant(window, ir.Undefined), wanted, _INDEX(0))
        same = builder.icmp_unsigned("==", ahead, _shuffled(builder, one, [0] * WINDOW_CHARS))
        return builder.zext(builder.bitcast(same, ir.IntType(WINDOW_CHARS)), _WORD)

    return types.uint64(codes, at, code), generate


@intrinsic
def lowest_bit(typing: Any, word: Any) -> Any:  # noqa: ANN401, ARG001
    """Return the place of the lowest bit of a uint64 that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401, ARG001
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate
