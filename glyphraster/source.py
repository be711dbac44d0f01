"""The readable font source: text that people edit, and the packed font it stands for.

A source is a text file, read line by line; ``//`` at the start of a line or after a blank begins a comment::

    name glyph5x8                   the header: name, height, width, baseline (rows from the cell top), licence
    height 8

    @ A U+0219 mark:newline         a block: glyph names, then one line per pixel row, one picture per glyph
    .##.. ..... ....#               a picture is ``width`` pixels of ``.`` (paper) and ``#`` (ink); wide: twice that

    accent acute 0: ..##. ..#..     rows that `compose` adds, the first one at row 0
    compose á = a + acute           a glyph put together; a glyph drawn in a block wins over it
    compose ş = s^1 + cedilla       the base moved up by one row first

A glyph name is one character, ``U+`` and 4 to 6 hex digits, ``mark:`` and the lower-case name of a
:class:`~glyphraster.font.Mark` with ``-`` for ``_``, or ``part:`` and any word: a base for `compose` and no glyph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from glyphraster.bdf import from_bdf
from glyphraster.errors import FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark

_Picture = npt.NDArray[np.bool_]
_Key = int | str
_Lines = Iterator[tuple[int, str]]

_NUMBERS = ("height", "width", "baseline")
_HEADER = ("name", *_NUMBERS, "licence")
_GLYPHS_A_BLOCK = 16
"""Pictures side by side that :func:`format_font` writes: 16 of 5 pixels and their blanks are 95 columns."""

_COMMENT = re.compile(r"(^|\s)//.*")
_CODE = re.compile(r"U\+([0-9A-Fa-f]{4,6})")
_RAISED = re.compile(r"(\S+)\^(\d+)")
_ACCENT = re.compile(r"(\S+)\s+(\d+)\s*:\s*(\S.*)")
_RECIPE = re.compile(r"(\S+)\s+=\s+(\S+)((?:\s+\+\s+\S+)*)")


@dataclass(slots=True)
class _Source:
    """What the lines of one source said; line numbers ride along for the errors."""

    header: dict[str, str] = field(default_factory=dict)
    drawn: dict[_Key, _Picture] = field(default_factory=dict)
    drawn_at: dict[_Key, int] = field(default_factory=dict)
    accents: dict[str, _Picture] = field(default_factory=dict)
    recipes: dict[_Key, tuple[int, str, tuple[str, ...]]] = field(default_factory=dict)

    def number(self, key: str, line: int) -> int:
        if key not in self.header:
            raise _wrong(line, f"comes before the header line `{key}`", f"give {', '.join(_NUMBERS)} first")
        return int(self.header[key])


def parse(text: str) -> BitmapFont:
    """Read a font source.

    Parameters
    ----------
    text
        The whole source, in the form that the module describes.

    Returns
    -------
    BitmapFont
        Drawn glyphs and composed ones; parts are left out.

    Raises
    ------
    FontError
        When a line is not understood; the message gives its number, what was found and what is allowed.
    """
    source = _Source()
    lines = _meaningful(text)
    for line, content in lines:
        word, _, rest = content.partition(" ")
        _reader(word, line)(source, word, rest.strip(), line, lines)
    _check_header(source)
    return _pack(source, _composed(source))


def format_font(font: BitmapFont) -> str:
    """Write a font as a source in which every glyph is drawn: ``parse(format_font(font))`` equals ``font``.

    Raises
    ------
    FontError
        When the name or the licence cannot stand on one line of a source.
    """
    header = {
        "name": font.name, "height": font.cell_height_px, "width": font.cell_width_px,
        "baseline": font.baseline_px, "licence": font.licence,
    }
    for key, value in header.items():
        if _COMMENT.search(str(value)) or str(value) != " ".join(str(value).split()) or not str(value):
            raise FontError(f"{key} {value!r} cannot be a header line: it must be one line of words without a comment")
    blocks = [_block(font, start) for start in range(0, len(font.codepoints), _GLYPHS_A_BLOCK)]
    return "\n\n".join(["\n".join(f"{key} {value}" for key, value in header.items()), *blocks]) + "\n"


def build(source_path: str | Path, out_path: str | Path) -> BitmapFont:
    """Read the source at ``source_path``, a BDF when so named, and save the packed font at ``out_path``.

    Raises
    ------
    FontError
        When the source is missing, is not UTF-8, or :func:`parse` (for ``.bdf``: :func:`glyphraster.bdf.from_bdf`)
        refuses it; the message names the file.
    """
    read = from_bdf if Path(source_path).suffix == ".bdf" else parse
    try:
        font = read(Path(source_path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise FontError(f"{source_path} cannot be read as a font source: {error}") from error
    except FontError as error:
        raise FontError(f"{source_path}: {error}") from error
    font.save(out_path)
    return font


def _meaningful(text: str) -> _Lines:
    for number, line in enumerate(text.splitlines(), start=1):
        if content := _COMMENT.sub("", line).strip():
            yield number, content


def _wrong(line: int, found: str, allowed: str) -> FontError:
    return FontError(f"line {line}: {found}; {allowed}")


_Reader = Callable[[_Source, str, str, int, _Lines], None]


def _reader(word: str, line: int) -> _Reader:
    readers: dict[str, _Reader] = {"@": _read_block, "accent": _read_accent, "compose": _read_recipe}
    readers |= dict.fromkeys(_HEADER, _read_header)
    if word not in readers:
        allowed = f"a line starts with one of {', '.join(readers)}, or is a row of a block"
        raise _wrong(line, f"starts with {word!r}", allowed)
    return readers[word]


def _read_header(source: _Source, word: str, rest: str, line: int, _lines: _Lines) -> None:
    if word in source.header:
        raise _wrong(line, f"second header line `{word}`", "one is allowed")
    if not rest or (word in _NUMBERS and not (rest.isascii() and rest.isdigit() and int(rest) > 0)):
        kind = "a whole number above 0" if word in _NUMBERS else "some words"
        raise _wrong(line, f"`{word}` is {rest!r}", f"it must be {kind}")
    source.header[word] = rest


def _check_header(source: _Source) -> None:
    if missing := [key for key in _HEADER if key not in source.header]:
        raise FontError(f"the source has no header line `{missing[0]}`; it must give {', '.join(_HEADER)}")


def _key(token: str, line: int) -> _Key:
    """Return the code of a glyph name, or the name itself for a part."""
    if len(token) == 1:
        return ord(token)
    if (code := _CODE.fullmatch(token)) and int(code[1], 16) < MARK_BASE:
        return int(code[1], 16)
    if token.startswith("part:") and len(token) > len("part:"):
        return token
    marks = {f"mark:{_mark_word(mark)}": int(mark) for mark in Mark}
    if token in marks:
        return marks[token]
    allowed = f"marks are {', '.join(marks)}" if token.startswith("mark:") else (
        "a name is one character, U+0000 to U+10FFFF, mark:<name> or part:<word>")
    raise _wrong(line, f"unknown glyph name {token!r}", allowed)


def _mark_word(mark: Mark) -> str:
    return mark.name.lower().replace("_", "-")


def _read_block(source: _Source, _word: str, rest: str, line: int, lines: _Lines) -> None:
    tokens = rest.split()
    if not tokens:
        raise _wrong(line, "a block without glyph names", "write `@ A B C`")
    rows = [_block_row(source, lines, line, index, len(tokens)) for index in range(source.number("height", line))]
    for token, pictures in zip(tokens, zip(*rows, strict=True), strict=True):
        _draw(source, _key(token, line), token, pictures, line)


def _block_row(source: _Source, lines: _Lines, block: int, index: int, columns: int) -> list[str]:
    line, content = next(lines, (block, "the end"))
    if not set(content) <= set(".# "):
        found = f"{content!r} where row {index + 1} of the block at line {block} belongs"
        raise _wrong(line, found, f"a block has {source.header['height']} rows of '.' and '#'")
    cells = content.split()
    if len(cells) != columns:
        raise _wrong(line, f"{len(cells)} pictures in a row of the block at line {block}", f"it names {columns} glyphs")
    for cell in cells:
        _check_width(source, cell, line, (1, 2))
    return cells


def _check_width(source: _Source, cell: str, line: int, spans: Sequence[int]) -> None:
    widths = [span * source.number("width", line) for span in spans]
    if len(cell) not in widths or not set(cell) <= set(".#"):
        allowed = " or ".join(str(width) for width in widths)
        raise _wrong(line, f"picture row {cell!r} of {len(cell)} pixels", f"it must be {allowed} of '.' and '#'")


def _draw(source: _Source, key: _Key, token: str, rows: Sequence[str], line: int) -> None:
    if key in source.drawn:
        drawn = f"line {source.drawn_at[key]} drew it, and once is allowed"
        raise _wrong(line, f"glyph {token!r} is drawn again", drawn)
    if len(widths := sorted({len(row) for row in rows})) > 1:
        raise _wrong(line, f"glyph {token!r} has rows of {widths} pixels", "all must be equal")
    source.drawn[key] = _picture(rows)
    source.drawn_at[key] = line


def _picture(rows: Sequence[str]) -> _Picture:
    return np.array([[pixel == "#" for pixel in row] for row in rows])


def _read_accent(source: _Source, _word: str, rest: str, line: int, _lines: _Lines) -> None:
    match = _ACCENT.fullmatch(rest)
    if match is None:
        raise _wrong(line, f"accent {rest!r} is not understood", "write `accent acute 0: ..##. ..#..`")
    name, first, rows = match[1], int(match[2]), match[3].split()
    height, width = source.number("height", line), source.number("width", line)
    if name in source.accents:
        raise _wrong(line, f"accent {name!r} is given again", "once is allowed")
    if (last := first + len(rows) - 1) >= height:
        raise _wrong(line, f"accent {name!r} covers rows {first} to {last}", f"a cell has rows 0 to {height - 1}")
    for row in rows:
        _check_width(source, row, line, (1,))
    source.accents[name] = np.zeros((height, width), np.bool_)
    source.accents[name][first:last + 1] = _picture(rows)


def _read_recipe(source: _Source, _word: str, rest: str, line: int, _lines: _Lines) -> None:
    match = _RECIPE.fullmatch(rest)
    if match is None:
        raise _wrong(line, f"compose {rest!r} is not understood", "write `compose á = a + acute`")
    key = _key(match[1], line)
    if key in source.recipes:
        raise _wrong(line, f"glyph {match[1]!r} is composed again", f"line {source.recipes[key][0]} composed it")
    accents = tuple(word for word in match[3].split() if word != "+")
    source.recipes[key] = (line, match[2], accents)


def _composed(source: _Source) -> dict[_Key, _Picture]:
    """Return the drawn pictures and the composed ones; a recipe may use what stands above it."""
    pictures = dict(source.drawn)
    for key, (line, base, accents) in source.recipes.items():
        picture = _base(pictures, base, line).copy()
        for name in accents:
            picture |= _accent(source, name, line, picture.shape[1])
        pictures.setdefault(key, picture)
    return pictures


def _base(pictures: dict[_Key, _Picture], token: str, line: int) -> _Picture:
    raised = _RAISED.fullmatch(token)
    name, rows = (raised[1], int(raised[2])) if raised else (token, 0)
    picture = pictures.get(_key(name, line))
    if picture is None:
        raise _wrong(line, f"base {name!r} has no picture", "draw it in a block, or compose it on a line above")
    if rows and picture[:rows].any():
        raise _wrong(line, f"base {name!r} has ink in its top {rows} rows", "raise it by fewer")
    return np.roll(picture, -rows, axis=0)


def _accent(source: _Source, name: str, line: int, width_px: int) -> _Picture:
    if name not in source.accents:
        raise _wrong(line, f"unknown accent {name!r}", f"accents are {', '.join(source.accents) or 'none'}")
    accent = source.accents[name]
    if accent.shape[1] != width_px:
        allowed = f"a base of accents has {accent.shape[1]}"
        raise _wrong(line, f"accent {name!r} on a base {width_px} pixels wide", allowed)
    return accent


def _pack(source: _Source, pictures: dict[_Key, _Picture]) -> BitmapFont:
    codes = sorted(key for key in pictures if isinstance(key, int))
    height, width, baseline = (int(source.header[key]) for key in _NUMBERS)
    cells = [np.split(pictures[code], pictures[code].shape[1] // width, axis=1) for code in codes]
    if not codes:
        raise FontError("the source draws 0 glyphs; it must draw at least one, in a block `@ A`")
    return BitmapFont(
        name=source.header["name"], cell_height_px=height, cell_width_px=width, baseline_px=baseline,
        codepoints=np.array(codes, np.uint32), spans=np.array([len(glyph) for glyph in cells], np.uint8),
        bitmaps=np.packbits(np.array([cell for glyph in cells for cell in glyph]), axis=-1),
        licence=source.header["licence"],
    )


def _block(font: BitmapFont, start: int) -> str:
    """Return one block of up to 16 glyphs from index ``start`` on."""
    codes = font.codepoints[start:start + _GLYPHS_A_BLOCK].tolist()
    pictures = [_rows(font, code, int(font.spans[start + index])) for index, code in enumerate(codes)]
    rows = [" ".join(cells) for cells in zip(*pictures, strict=True)]
    return "\n".join(["@ " + " ".join(_token(code) for code in codes), *rows])


def _rows(font: BitmapFont, code: int, span: int) -> list[str]:
    first = font.cell(code)
    bits = np.unpackbits(font.bitmaps[first:first + span], axis=-1, count=font.cell_width_px)
    return ["".join(".#"[bit] for bit in row) for row in np.concatenate(list(bits), axis=1).tolist()]


def _token(code: int) -> str:
    if code >= MARK_BASE:
        return f"mark:{_mark_word(Mark(code))}"
    character = chr(code)
    return character if character.isprintable() and not character.isspace() else f"U+{code:04X}"
