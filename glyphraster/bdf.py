"""BDF, the form that font editors know, to and from a packed font.

Every glyph is written as large as its cells. The marks of a page, which have no code point of Unicode, are unencoded
glyphs (``ENCODING -1``) named ``mark:newline`` and so on; the property ``CELL_WIDTH`` holds the width of one cell, of
which a wide glyph takes two. ``from_bdf(to_bdf(font))`` has the digest of ``font``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from glyphraster.errors import FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark
from glyphraster.fontfile import MAX_CELL_PX

_Lines = Iterator[tuple[int, str]]
_Ink = npt.NDArray[np.bool_]

_BBX = re.compile(r"BBX +(\d{1,3}) +(\d{1,3}) +(-?\d{1,3}) +(-?\d{1,3})")
_PROPERTY = re.compile(r'([A-Z_]+) +(?:"(.*)"|(-?\d{1,9}))')
_MARKS = {f"mark:{mark.name.lower().replace('_', '-')}": int(mark) for mark in Mark}
_MARK_NAMES = {code: name for name, code in _MARKS.items()}


def to_bdf(font: BitmapFont) -> str:
    """Write a font as BDF 2.1.

    Raises
    ------
    FontError
        When the name or the licence holds a line break, which no string of a BDF can.
    """
    glyphs = [_char(font, index) for index in range(len(font.codepoints))]
    lines = [*_header(font), f"CHARS {len(glyphs)}", *glyphs, "ENDFONT"]
    return "\n".join(lines) + "\n"


def _header(font: BitmapFont) -> list[str]:
    height, width, descent = font.cell_height_px, font.cell_width_px, font.cell_height_px - font.baseline_px
    spacing = "P" if (font.spans == 2).any() else "C"
    family = re.sub(r"[^ -~]|-", " ", font.name)
    properties = [
        f"FAMILY_NAME {_quoted(font.name)}", f"COPYRIGHT {_quoted(font.licence)}", f"PIXEL_SIZE {height}",
        f"FONT_ASCENT {font.baseline_px}", f"FONT_DESCENT {descent}", f"CELL_WIDTH {width}",
        f'SPACING "{spacing}"', 'CHARSET_REGISTRY "ISO10646"', 'CHARSET_ENCODING "1"',
    ]
    return [
        "STARTFONT 2.1",
        f"FONT -glyphraster-{family}-medium-r-normal--{height}-{height * 10}-75-75-{spacing}-{width * 10}-iso10646-1",
        f"SIZE {height} 75 75",
        f"FONTBOUNDINGBOX {width * int(font.spans.max())} {height} 0 {-descent}",
        f"STARTPROPERTIES {len(properties)}", *properties, "ENDPROPERTIES",
    ]


def _quoted(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise FontError(f"{text[:40]!r} has {len(text.splitlines())} lines; a string of a BDF has one")
    return '"' + text.replace('"', '""') + '"'


def _char(font: BitmapFont, index: int) -> str:
    code, span = int(font.codepoints[index]), int(font.spans[index])
    first, width = font.cell(code), font.cell_width_px * span
    name, encoding = (_MARK_NAMES[code], -1) if code >= MARK_BASE else (f"U+{code:04X}", code)
    bits = np.unpackbits(font.bitmaps[first : first + span], axis=-1, count=font.cell_width_px)
    rows = np.packbits(np.concatenate(list(bits), axis=1), axis=1)
    return "\n".join([
        f"STARTCHAR {name}", f"ENCODING {encoding}", f"SWIDTH {width * 1000 // font.cell_height_px} 0",
        f"DWIDTH {width} 0", f"BBX {width} {font.cell_height_px} 0 {font.baseline_px - font.cell_height_px}", "BITMAP",
        *(row.tobytes().hex().upper() for row in rows), "ENDCHAR",
    ])


@dataclass(slots=True)
class _Char:
    """One glyph as its lines say."""

    line: int
    name: str
    encoding: int | None = None
    advance_px: int = 0
    box: tuple[int, int, int, int] | None = None
    rows: list[str] = field(default_factory=list)


def from_bdf(text: str) -> BitmapFont:
    """Read a BDF as a font of cells: one that :func:`to_bdf` wrote, or an editor saved after it.

    Fonts from elsewhere go through :func:`glyphraster.import_font`, which fits what does not fit.

    Raises
    ------
    FontError
        When a line makes no sense, or a glyph does not fill one or two cells; the message gives the line.
    """
    properties: dict[str, str] = {}
    chars: list[_Char] = []
    lines = enumerate(text.split("\n"), start=1)
    for number, line in ((number, line.strip()) for number, line in lines):
        if line.startswith("STARTCHAR "):
            chars.append(_read_char(_Char(number, line.split(" ", 1)[1].strip()), lines))
        elif match := _PROPERTY.fullmatch(line):
            properties[match[1]] = match[3] or (match[2] or "").replace('""', '"')
    return _pack(properties, chars)


def _wrong(line: int, found: str, allowed: str) -> FontError:
    return FontError(f"line {line}: {found}; {allowed}")


def _read_char(char: _Char, lines: _Lines) -> _Char:
    for number, line in lines:
        word, _, rest = line.strip().partition(" ")
        if word == "ENDCHAR":
            return char
        if word == "ENCODING":
            char.encoding = _number(rest.split(" ")[0], number)
        elif word == "DWIDTH":
            char.advance_px = _number(rest.split(" ")[0], number)
        elif word == "BBX":
            char.box = _box(line.strip(), number)
        elif word == "BITMAP":
            char.rows = _rows(char, lines)
    raise _wrong(char.line, f"glyph {char.name!r} does not end", "ENDCHAR ends it")


def _number(word: str, line: int) -> int:
    if not re.fullmatch(r"-?\d{1,7}", word):
        raise _wrong(line, f"{word[:20]!r} where a number belongs", "a whole number of at most 7 digits is allowed")
    return int(word)


def _box(line: str, number: int) -> tuple[int, int, int, int]:
    match = _BBX.fullmatch(line)
    if match is None:
        raise _wrong(number, f"{line[:40]!r} is no box", "write `BBX width height left bottom`, below 1000 each")
    width, height, left, bottom = map(int, match.groups())
    return width, height, left, bottom


def _rows(char: _Char, lines: _Lines) -> list[str]:
    """Take the pixel rows that the box announces."""
    if char.box is None:
        raise _wrong(char.line, f"glyph {char.name!r} has no BBX before its BITMAP", "give one")
    width, height, *_ = char.box
    rows = []
    for number, line in (next(lines, (char.line, "the end")) for _ in range(height)):
        if not re.fullmatch(rf"[0-9A-Fa-f]{{{-(-width // 8) * 2}}}", line.strip()):
            allowed = f"a row of {width} pixels is {-(-width // 8) * 2} hexadecimal digits, and there are {height} rows"
            raise _wrong(number, f"{line.strip()[:40]!r} is no row of glyph {char.name!r}", allowed)
        rows.append(line.strip())
    return rows


def _pack(properties: dict[str, str], chars: list[_Char]) -> BitmapFont:
    ascent, height, width = _cell(properties, chars)
    drawn: dict[int, _Ink] = {}
    for char in chars:
        code = _code(char)
        if code in drawn:
            raise _wrong(char.line, f"glyph {char.name!r} is drawn again", "once is allowed")
        drawn[code] = _placed(char, ascent, height, width)
    codes = sorted(drawn)
    cells = [np.split(drawn[code], drawn[code].shape[1] // width, axis=1) for code in codes]
    return BitmapFont(
        name=properties.get("FAMILY_NAME", "unnamed"), licence=properties.get("COPYRIGHT", "not stated"),
        cell_height_px=height, cell_width_px=width, baseline_px=ascent,
        codepoints=np.array(codes, np.uint32), spans=np.array([len(each) for each in cells], np.uint8),
        bitmaps=np.packbits(np.array([cell for each in cells for cell in each]), axis=-1),
    )


def _cell(properties: dict[str, str], chars: list[_Char]) -> tuple[int, int, int]:
    """Return baseline, height and width of the cell."""
    if not chars:
        raise FontError("the BDF draws 0 glyphs; it must draw at least one")
    narrowest = min(char.advance_px for char in chars)
    stated = [properties.get(key, "") for key in ("FONT_ASCENT", "FONT_DESCENT")]
    ascent, descent = (int(word) if re.fullmatch(r"-?\d+", word) else 0 for word in stated)
    width = int(word) if (word := properties.get("CELL_WIDTH", "")).isdecimal() else narrowest
    if not (0 < ascent + descent <= MAX_CELL_PX and 0 < width <= MAX_CELL_PX):
        raise FontError(f"FONT_ASCENT and FONT_DESCENT make {ascent + descent} rows and a cell is {width} px wide: "
                        f"give 1 to {MAX_CELL_PX} of each")
    return ascent, ascent + descent, width


def _code(char: _Char) -> int:
    if char.encoding is not None and 0 <= char.encoding < MARK_BASE:
        return char.encoding
    if char.encoding != -1 or char.name not in _MARKS:
        raise _wrong(char.line, f"glyph {char.name!r} has ENCODING {char.encoding}",
                     f"a code point of Unicode is allowed, and -1 for {', '.join(_MARKS)}")
    return _MARKS[char.name]


def _placed(char: _Char, ascent: int, height: int, width: int) -> _Ink:
    if char.box is None or char.advance_px not in (width, 2 * width):
        raise _wrong(char.line, f"glyph {char.name!r} advances by {char.advance_px} px and has the box {char.box}",
                     f"a glyph has a BBX and a DWIDTH of {width} or {2 * width}")
    columns, rows, left, bottom = char.box
    top, out = ascent - bottom - rows, np.zeros((height, char.advance_px), np.bool_)
    if top < 0 or left < 0 or top + rows > height or left + columns > char.advance_px:
        raise _wrong(char.line, f"glyph {char.name!r} has the box {char.box}",
                     f"it must lie in {height}x{char.advance_px} px, {ascent} rows of them above the baseline")
    raw = np.frombuffer(bytes.fromhex("".join(char.rows)), np.uint8).reshape(rows, -1 if rows and columns else 0)
    out[top : top + rows, left : left + columns] = np.unpackbits(raw, axis=1, count=columns).view(np.bool_)
    return out
