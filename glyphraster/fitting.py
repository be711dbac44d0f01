"""A typeface into cells of one size: which cell its letters ask for, and what each glyph looks like inside it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from glyphraster.errors import FontError
from glyphraster.font import BitmapFont, Mark, load_font
from glyphraster.fontfile import MAX_CELL_PX, Glyph, Ink, Typeface

FIXED_SHARE = 0.9
"""Share of letters and digits that must have one advance for a face to count as fixed; all of Debian's 6x13 has it."""

MARK_HEIGHT_PX, MARK_WIDTH_PX = 8, 5
"""Smallest cell: the one that the marks are drawn in (``glyph5x8``)."""


class Cell(NamedTuple):
    """The cell of a typeface: its size, rows above the baseline, columns left of the pen, and the unrounded advance."""

    height_px: int
    width_px: int
    baseline_px: int
    left_px: int
    advance_px: float

    @property
    def packed_shape(self) -> tuple[int, int]:
        """Rows, and bytes of a row: the shape of a packed cell, as :mod:`glyphraster.font` has it."""
        return self.height_px, -(-self.width_px // 8)


class Fitted(NamedTuple):
    """A glyph inside its cell or cells, and whether ink was cut off at the sides, or above and below."""

    ink: Ink
    overlaps: bool
    clipped: bool


def cell_of(face: Typeface) -> Cell:
    """Return the cell that the ink of the letters needs.

    Declared ascent and descent are not asked: Cozette and scientifica keep tails one row below them. Rows come from
    the ink of ASCII, Latin letters and CJK; columns from the advance and ink of ASCII letters and digits, or from half
    the advance of CJK where a face has no ASCII.

    Raises
    ------
    FontError
        When the face is proportional, or the cell is smaller than the marks or larger than :data:`MAX_CELL_PX`.
    """
    if not any(glyph.ink.any() for glyph in face.glyphs.values()):
        raise FontError(f"none of its {len(face.glyphs)} glyphs has ink: there is no letter to take the cell from")
    advance, width, widest = _advance(face)
    boxes = [box for code in _reference(face) if (box := _box(face.glyphs[code]))]
    across = [box for code in widest if (box := _box(face.glyphs[code]))]
    top, bottom = max(box.top for box in boxes), min(box.bottom for box in boxes)
    left = min(0, *(box.left for box in across)) if across else 0
    right = max(width, *(box.right for box in across)) if across else width
    cell = Cell(top - bottom, right - left, top, left, advance)
    _check_cell(cell)
    return cell


class _Box(NamedTuple):
    """Edges of the ink: rows above the baseline, columns right of the pen."""

    top: int
    bottom: int
    left: int
    right: int


def _box(glyph: Glyph) -> _Box | None:
    rows, columns = np.flatnonzero(glyph.ink.any(axis=1)), np.flatnonzero(glyph.ink.any(axis=0))
    if not len(rows):
        return None
    return _Box(
        glyph.top_px - int(rows[0]), glyph.top_px - int(rows[-1]) - 1,
        glyph.left_px + int(columns[0]), glyph.left_px + int(columns[-1]) + 1,
    )


def even_part(face: Typeface) -> Typeface:
    """Return a face as it is, but of a CJK face whose other letters are proportional only what is as wide as its CJK.

    WenQuanYi and Galmuri are such faces. Half an alphabet is of no use, and would make the cells of Galmuri11 15 rows
    high where its CJK needs 11. Glyphs without an advance stay: they are listed for that reason, as in any face.
    """
    small, wide = _small(face), _wide(face)
    if not small or 2 * len(wide) <= len(face.glyphs) or _is_fixed(face, small) or not _is_fixed(face, wide):
        return face
    full_px = _common_advance(face, wide)
    return face._replace(glyphs={
        code: glyph for code, glyph in face.glyphs.items() if glyph.advance_px in (0, full_px)})


def _advance(face: Typeface) -> tuple[float, int, list[int]]:
    """Return the advance of one cell, also as columns, and the glyphs whose ink must fit between its sides."""
    small, wide = _small(face), _wide(face)
    advance = _common_advance(face, small or wide or list(face.glyphs))
    if wide and not small:
        return advance / 2, -(-round(advance) // 2), []     # two cells must hold an odd number of columns
    return advance, round(advance), small


def _small(face: Typeface) -> list[int]:
    return [code for code in face.glyphs if code < 0x80 and chr(code).isalnum()]


def _wide(face: Typeface) -> list[int]:
    return [code for code in face.glyphs if _is_wide(code)]


def _advances(face: Typeface, codes: list[int]) -> Counter[float]:
    return Counter(face.glyphs[code].advance_px for code in codes)


def _is_fixed(face: Typeface, codes: list[int]) -> bool:
    return max(_advances(face, codes).values()) >= FIXED_SHARE * len(codes)


def _common_advance(face: Typeface, codes: list[int]) -> float:
    advances = _advances(face, codes)
    advance, count = advances.most_common(1)[0]
    if advance <= 0:
        raise FontError(f"{count} of its {len(codes)} letters advance by {advance:g} px: it has no cells")
    if not _is_fixed(face, codes):
        raise FontError(
            f"is proportional: {len(codes)} letters advance by {min(advances):g} to {max(advances):g} px, {count} of "
            f"them by {advance:g}; a page needs a fixed-width font, in which at least {FIXED_SHARE:.0%} agree"
        )
    return advance


def _is_wide(code: int) -> bool:
    return code > 0xFF and unicodedata.east_asian_width(chr(code)) in "WF" and chr(code).isalpha()


def _reference(face: Typeface) -> Iterable[int]:
    """Return the code points whose ink the cell must hold: ASCII, Latin letters, CJK; all where there is none."""
    inked = [code for code, glyph in face.glyphs.items() if glyph.ink.any()]
    letters = [code for code in inked if 0x20 < code < 0x7F or (code < 0x180 and chr(code).isalpha())]
    return letters + [code for code in inked if _is_wide(code)] or inked


def _check_cell(cell: Cell) -> None:
    size = f"its letters need a cell of {cell.height_px}x{cell.width_px} px"
    if cell.height_px < MARK_HEIGHT_PX or cell.width_px < MARK_WIDTH_PX:
        raise FontError(f"{size}; the marks of a page need {MARK_HEIGHT_PX}x{MARK_WIDTH_PX}: take a "
                        f"larger size or another font")
    if cell.height_px > MAX_CELL_PX or cell.width_px > MAX_CELL_PX:
        raise FontError(f"{size}; at most {MAX_CELL_PX}x{MAX_CELL_PX} are drawn: take a smaller size")


def cells_taken(glyph: Glyph, cell: Cell) -> int:
    """Return how many cells an advance comes to; 0 for a mark without one."""
    return 0 if glyph.advance_px <= 0 else max(1, round(glyph.advance_px / cell.advance_px))


def fit(glyph: Glyph, cell: Cell, span: int, *, slides: bool = False) -> Fitted:
    """Place a glyph in ``span`` cells; ink outside is cut off, unless the glyph ``slides`` and has room at a side."""
    out = np.zeros((cell.height_px, cell.width_px * span), np.bool_)
    top, left = cell.baseline_px - glyph.top_px, glyph.left_px - cell.left_px
    left = _slid(glyph.ink, left, out.shape[1]) if slides else left
    rows, columns = glyph.ink.shape
    up, down = max(0, -top), max(0, min(rows, cell.height_px - top))
    start, stop = max(0, -left), max(0, min(columns, out.shape[1] - left))
    inside = glyph.ink[up:down, start:stop]
    out[top + up : top + up + inside.shape[0], left + start : left + start + inside.shape[1]] = inside
    return Fitted(
        out,
        overlaps=bool(glyph.ink[:, :start].any() or glyph.ink[:, stop:].any()),
        clipped=bool(glyph.ink[:up].any() or glyph.ink[down:].any()),
    )


def _slid(ink: Ink, left: int, width: int) -> int:
    """Return the column nearest to ``left`` that puts all ink inside ``width`` columns; ``left`` if there is none."""
    columns = np.flatnonzero(ink.any(axis=0))
    least, most = -int(columns[0]), width - 1 - int(columns[-1])
    return min(max(left, least), most) if least <= most else left


def marks_in(cell: Cell) -> dict[int, Ink]:
    """Return the reserved marks of ``glyph5x8`` in a cell: enlarged by a whole factor, on the baseline, centred."""
    ours = load_font("glyph5x8")
    factor = min(cell.height_px // MARK_HEIGHT_PX, cell.width_px // MARK_WIDTH_PX)
    above = cell.baseline_px - ours.baseline_px * factor
    top = min(max(0, above), cell.height_px - MARK_HEIGHT_PX * factor)
    left = (cell.width_px - MARK_WIDTH_PX * factor) // 2
    marks = {}
    for mark in Mark:
        drawn = _unpacked(ours, mark).repeat(factor, axis=0).repeat(factor, axis=1)
        marks[int(mark)] = np.pad(drawn, (
            (top, cell.height_px - top - drawn.shape[0]), (left, cell.width_px - left - drawn.shape[1])))
    return marks


def _unpacked(font: BitmapFont, code: int) -> Ink:
    bits = np.unpackbits(font.bitmaps[font.cell(code)], axis=-1, count=font.cell_width_px)
    return bits.view(np.bool_)
