"""Fonts that others drew: any BDF, PCF, OTB, TTF, OTF, WOFF or GNU .hex at a pixel size, as a font of cells.

A page is read back by its pixels, so no two glyphs of a font may look the same. What cannot be told from another glyph
is left out, drawn as an escape on the page, and listed in the :class:`ImportReport`; so is everything else that did
not come along as the file has it.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from glyphraster.charset import check_codec
from glyphraster.distance import Pair, closest_pairs
from glyphraster.errors import ArgumentError, FontError
from glyphraster.fitting import cell_of, cells_taken, even_part, fit, marks_in
from glyphraster.font import MARK_BASE, BitmapFont, Mark, shipped_fonts
from glyphraster.fontfile import (
    HEX_ROWS,
    MAX_CELL_PX,
    Glyph,
    Ink,
    Typeface,
    check_freetype_may_open,
    is_hex,
    parse_hex,
    read_font_file,
)
from glyphraster.precedence import by_use
from glyphraster.typeface import open_typeface

MAX_BITMAP_BYTES = 256 << 20
"""Most bytes of packed cells; only a hostile file comes near: the 57,086 glyphs of Unifont take 1.5 MB at 16 px."""

LEAST_OUTLINE_PX = 9
"""Outlines below this lose strokes: the importer warns."""

NEEDED = " 0123456789ABCDEF"
"""Characters that every page needs, for blanks and escapes."""

_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
_EXAMPLES = 8

Codes = tuple[int, ...]
Cells = tuple[bytes, ...]
"""The one or two cells of a glyph, packed as :mod:`glyphraster.font` says."""


_MEANING = {
    "blank": "left out: no ink (the space alone may be blank)",
    "combining": "left out: combining marks, which have no cell of their own",
    "invisible": "left out: controls, joiners and other blanks, which are escapes on a page",
    "too_wide": "left out: wider than two cells",
    "uneven": "left out: not as wide as the CJK, in a font that is proportional otherwise",
    "ambiguous": "left out: wide, with pixels that can also be read as other glyphs",
    "no_room": f"left out: a font holds {MAX_BITMAP_BYTES >> 20} MiB of pixels; choose characters or a smaller size",
    "broken": "left out: damaged or oversized in the file",
    "unmapped": "left out: codes that the file's charset does not know",
    "missing": "asked for and not in the file",
    "overlapping": "cut at the side of the cell",
    "clipped": "cut above or below the cell",
}
"""The lists of a report, in the order in which it prints them, and what it calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """Say what became of every glyph of a file; code points are ascending.

    Attributes
    ----------
    source
        Path of the file.
    glyphs, wide
        Characters in the font, marks not counted, and those of two cells among them.
    cell_height_px, cell_width_px
        The cell.
    duplicates
        Pairs of a code point left out and the one that has the same picture and stands: a mark (from
        :data:`~glyphraster.font.MARK_BASE` on), or the one that :func:`~glyphraster.precedence.by_use` names first.
    closest
        The pair of ASCII characters that differ in the fewest pixels; None when there are no two.
    warnings
        Sentences on the font as a whole.

    All others are code points (``unmapped``: codes of the file's charset); ``overlapping`` and ``clipped`` are in the
    font all the same.
    """

    source: str
    glyphs: int
    wide: int
    cell_height_px: int
    cell_width_px: int
    duplicates: tuple[tuple[int, int], ...]
    closest: Pair | None
    warnings: tuple[str, ...]
    blank: Codes = ()
    combining: Codes = ()
    invisible: Codes = ()
    too_wide: Codes = ()
    uneven: Codes = ()
    ambiguous: Codes = ()
    no_room: Codes = ()
    broken: Codes = ()
    unmapped: Codes = ()
    missing: Codes = ()
    overlapping: Codes = ()
    clipped: Codes = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        cell = f"{self.cell_height_px}x{self.cell_width_px}"
        yield f"{self.glyphs:,} glyphs in cells of {cell} px from {self.source}, {self.wide:,} of them wide"
        if self.duplicates:
            twins = ", ".join(f"{_show(code)}={_show(twin)}" for code, twin in self.duplicates[:_EXAMPLES])
            yield f"{len(self.duplicates):,} left out: the picture of another glyph: {twins}"
        for key, meaning in _MEANING.items():
            if codes := getattr(self, key):
                show = hex if key == "unmapped" else _show
                yield f"{len(codes):,} {meaning}: {', '.join(map(show, codes[:_EXAMPLES]))}"
        if self.closest:
            yield (f"closest in ASCII: {_show(self.closest.first)} and {_show(self.closest.second)}, "
                   f"{self.closest.distance_px:g} px apart")
        yield from (f"warning: {warning}" for warning in self.warnings)


def _show(code: int) -> str:
    if code >= MARK_BASE:
        return f"the mark {Mark(code).name}"
    alone = chr(code).isprintable() and not chr(code).isspace() and not unicodedata.combining(chr(code))
    return f"U+{code:04X} {chr(code)}" if alone else f"U+{code:04X}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImportedFont(BitmapFont):
    """A :class:`~glyphraster.font.BitmapFont` and the ``report`` of its import; ``save`` writes the font alone."""

    report: ImportReport


def import_font(
    path: str | Path,
    *,
    size_px: int | None = None,
    name: str | None = None,
    encoding: str | None = None,
    characters: Iterable[str] | None = None,
) -> ImportedFont:
    """Import a fixed-width font file, black and white, in cells of one size; CJK takes two.

    Of a CJK font whose other letters are proportional, what is as wide as its CJK comes along.

    Parameters
    ----------
    path
        BDF, PCF, OTB, TTF, OTF or WOFF (through FreeType, the extra ``fonts``), or GNU .hex; also gzipped.
    size_px
        Pixels per em; needed for outlines and files of several sizes.
    name
        What to call the font; by default after the file.
    encoding
        A Python codec, for a file in a legacy charset that does not name it.
    characters
        What to import besides the blank and ``0-9A-F``; everything by default.

    Returns
    -------
    ImportedFont
        With the marks of a page, taken from ``glyph5x8``, and a report of all that did not come along as drawn.

    Raises
    ------
    FontError
        When the file is damaged, hostile, proportional, or its ``0`` looks like its ``O``; the message has the path.
    ArgumentError
        When the file is not there, or an argument is not one of those named here.
    """
    path = Path(path)
    _check_arguments(size_px, name)
    wanted = None if characters is None else frozenset(map(ord, "".join(characters))) | set(map(ord, NEEDED))
    face = _open(path, size_px, encoding and check_codec(encoding))
    try:
        return _Import(face, path, wanted).font(name or _name(face))
    except FontError as error:
        raise FontError(f"{path}: {error}") from error


def _check_arguments(size_px: int | None, name: str | None) -> None:
    if size_px is not None and not (isinstance(size_px, int) and 1 <= size_px <= MAX_CELL_PX):
        raise ArgumentError(f"size_px is {size_px!r}; it must be a whole number from 1 to {MAX_CELL_PX}")
    if name is not None and (not name.isprintable() or not name.strip() or name in shipped_fonts()):
        raise ArgumentError(f"name is {name!r}; it must be printable words and none of {', '.join(shipped_fonts())}")


def _name(face: Typeface) -> str:
    """Return the name that the file suggests, never that of a font of ours."""
    name = "".join(character for character in face.name if character.isprintable()).strip() or "imported"
    return f"{name}-imported" if name in shipped_fonts() else name


def _open(path: Path, size_px: int | None, encoding: str | None) -> Typeface:
    content = read_font_file(path)
    if is_hex(content):
        if size_px not in (None, HEX_ROWS):
            raise ArgumentError(f"{path} holds bitmaps of {HEX_ROWS} px, and size_px is {size_px}: give that or none")
        return parse_hex(content, path)
    check_freetype_may_open(content, path)
    return open_typeface(content, path, size_px, encoding)


def _packed(ink: Ink, width_px: int) -> Cells:
    cells = ink.reshape(len(ink), -1, width_px).swapaxes(0, 1)
    return tuple(cell.tobytes() for cell in np.packbits(cells, axis=-1))


def _ambiguous(glyphs: dict[int, Cells]) -> set[int]:
    """Return the wide glyphs that a reader, trying two cells before one, could see in other glyphs.

    Such a glyph has a left half that is a glyph by itself, and a right half that another glyph begins with. When that
    other is wide and no letter, it goes and a letter stays: Unifont's U+4E00, else "─" and half of U+290D.
    """
    single = {cells[0] for cells in glyphs.values() if len(cells) == 1}
    begins: dict[bytes, list[int]] = {}
    for code, cells in glyphs.items():
        begins.setdefault(cells[0], []).append(code)
    dropped: set[int] = set()
    for code, (left, *right) in glyphs.items():
        if right and left in single and (others := begins.get(right[0], [])):
            yields = not chr(code).isalpha() or right[0] in single or any(chr(other).isalpha() for other in others)
            dropped |= {code} if yields else set(others)
    return dropped


class _Import:
    """One import under way: glyphs that stand, and for each reason the code points left out.

    The cell is that of the whole file, whatever characters are wanted of it.
    """

    def __init__(self, face: Typeface, path: Path, wanted: frozenset[int] | None) -> None:
        self.face, self.path, self.wanted = even_part(face), path, wanted
        self.cell = cell_of(self.face)
        self.kept = {mark: _packed(ink, self.cell.width_px) for mark, ink in marks_in(self.cell).items()}
        self.twins = {cells: mark for mark, cells in self.kept.items()}
        self.duplicates: list[tuple[int, int]] = []
        self.lists: dict[str, list[int]] = {key: [] for key in _MEANING}
        self.lists["broken"] = self._wanted(face.broken)
        self.lists["uneven"] = self._wanted(face.glyphs.keys() - self.face.glyphs.keys())
        self.lists["unmapped"] = list(face.unmapped)
        self.lists["missing"] = list((wanted or set()) - face.glyphs.keys() - set(face.broken) - {0x20})
        self.room_cells = MAX_BITMAP_BYTES // math.prod(self.cell.packed_shape) - len(self.kept) - 1

    def _wanted(self, codes: Iterable[int]) -> list[int]:
        return [code for code in codes if self.wanted is None or code in self.wanted]

    def font(self, name: str) -> ImportedFont:
        """Sort every glyph into the font or into a list, and pack the font."""
        self.kept[0x20] = (bytes(math.prod(self.cell.packed_shape)),)
        for code in by_use(self._wanted(self.face.glyphs)):
            if reason := self._left_out(code, self.face.glyphs[code]):
                self.lists[reason].append(code)
        self._drop_ambiguous()
        self._check_needed()
        return self._pack(name)

    def _left_out(self, code: int, glyph: Glyph) -> str | None:
        """Take a glyph in, or return the list that it belongs to."""
        category, span = unicodedata.category(chr(code)), cells_taken(glyph, self.cell)
        if code == 0x20:
            return None
        if category in _INVISIBLE:
            return "invisible"
        if category in ("Mn", "Me") or span == 0:
            return "combining"
        if span > 2:
            return "too_wide"
        if not glyph.ink.any():
            return "blank"
        return self._take(code, glyph, span)

    def _take(self, code: int, glyph: Glyph, span: int) -> str | None:
        fitted = fit(glyph, self.cell, span, slides=chr(code).isalpha())
        if not fitted.ink.any():
            return "blank"
        cells = _packed(fitted.ink, self.cell.width_px)
        if (twin := self.twins.get(cells)) is not None:
            self.duplicates.append((code, twin))
            return None
        if span > self.room_cells:
            return "no_room"
        self.kept[code], self.twins[cells], self.room_cells = cells, code, self.room_cells - span
        self.lists["overlapping"] += [code] * fitted.overlaps
        self.lists["clipped"] += [code] * fitted.clipped
        return None

    def _drop_ambiguous(self) -> None:
        """Leave out what :func:`_ambiguous` names, and what was left out as its twin."""
        dropped = _ambiguous(self.kept)
        self.kept = {code: cells for code, cells in self.kept.items() if code not in dropped}
        self.lists["ambiguous"] = [*dropped, *(code for code, twin in self.duplicates if twin in dropped)]
        self.duplicates = [(code, twin) for code, twin in self.duplicates if twin not in dropped]
        for key in ("overlapping", "clipped"):
            self.lists[key] = [code for code in self.lists[key] if code in self.kept]

    def _check_needed(self) -> None:
        alike = dict(self.duplicates)
        if alike.get(ord("O")) == ord("0"):
            raise FontError("0 and O have the same picture: ids could not be read; take another font or size")
        if lost := [code for code in map(ord, NEEDED) if code in alike]:
            raise FontError(f"{chr(lost[0])!r} and {_show(alike[lost[0]])} have the same picture: escapes need both")
        if self.kept.keys() <= set(Mark) | {0x20}:
            raise FontError(f"0 of {len(self.face.glyphs)} glyphs can be imported: blank, combining or too wide")

    def _pack(self, name: str) -> ImportedFont:
        codes = sorted(self.kept)
        cells = [self.kept[code] for code in codes]
        font = BitmapFont(
            name=name, licence=self.face.licence or f"not stated in {self.path.name}",
            cell_height_px=self.cell.height_px, cell_width_px=self.cell.width_px, baseline_px=self.cell.baseline_px,
            codepoints=np.array(codes, np.uint32), spans=np.array([len(each) for each in cells], np.uint8),
            bitmaps=np.frombuffer(b"".join(itertools.chain(*cells)), np.uint8).reshape(-1, *self.cell.packed_shape),
        )
        return ImportedFont(**{each.name: getattr(font, each.name) for each in fields(font)}, report=self._report(font))

    def _report(self, font: BitmapFont) -> ImportReport:
        ascii_there = [chr(code) for code in range(0x21, 0x7F) if code in self.kept]
        return ImportReport(
            source=str(self.path),
            glyphs=len(font.codepoints) - len(Mark),
            wide=int((font.spans == 2).sum()),
            cell_height_px=self.cell.height_px, cell_width_px=self.cell.width_px,
            duplicates=tuple(sorted(self.duplicates)),
            closest=closest_pairs(font, ascii_there, 1)[0] if len(ascii_there) > 1 else None,
            warnings=tuple(_warnings(self.face, font)),
            **{key: tuple(sorted(codes)) for key, codes in self.lists.items()},
        )


def _warnings(face: Typeface, font: BitmapFont) -> Iterator[str]:
    if face.outline_px is not None and face.outline_px < LEAST_OUTLINE_PX:
        yield f"outlines at {face.outline_px} px lose strokes; take {LEAST_OUTLINE_PX} px or more, or a bitmap font"
    if face.grey_share:
        yield (f"{face.grey_share:.0%} of ASCII's pixels are covered in part and were rounded: this is no pixel font, "
               "or not at its own size")
    if lacking := [character for character in NEEDED if ord(character) not in font.codepoints]:
        yield (f"{len(lacking)} of the {len(NEEDED)} characters that a page needs are missing "
               f"({''.join(lacking)}): the font cannot carry pages alone")
