"""The readable font source: text that people edit, and the packed font it stands for.

A source is a text file, read line by line; ``//`` at the start of a line or after a blank begins a comment::

    name glyph5x8                   the header: name, height, width, baseline (rows from the cell top), licence
    height 8

    @ A U+0219 mark:newline         a block: glyph names, then one line per pixel row, one picture per glyph
    .##.. ..... ....#               a picture is ``width`` pixels of ``.`` (paper) and ``#`` (ink); wide: twice that

    accent acute 0: ..##. ..#..     rows that `compose` adds, the first one at row 0
    accent comma 7 ^1: .##..        an accent that needs the base moved up by one row first
    compose á = a + acute           a glyph put together; a glyph drawn in a block wins over it
    compose ş = s^1 + cedilla       the base moved up by one row by the recipe itself

    rule box                        glyphs that :mod:`glyphraster.rules` draws to fit the cell; all others win
    include glyph5x8.glyphs         another source, beside this one

A glyph name is one character, ``U+`` and 4 to 6 hex digits, ``mark:`` and the lower-case name of a
:class:`~glyphraster.font.Mark` with ``-`` for ``_``, or ``part:`` and any word: a base for `compose` and no glyph.

What a source says wins over what it includes, name by name, and recipes use what won: a source that draws ``g``
anew and includes the rest has a new ``ğ`` as well. An included cell may be lower; it gets blank rows below.
A source that gives only recipes needs no header and serves cells of any size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from glyphraster.bdf import from_bdf
from glyphraster.errors import FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark
from glyphraster.rules import RULES

_Picture = npt.NDArray[np.bool_]
_Key = int | str
_K = TypeVar("_K", int | str, str)
_Lines = Iterator[tuple[int, str]]

_NUMBERS = ("height", "width", "baseline")
_HEADER = ("name", *_NUMBERS, "licence")

COMMENT = re.compile(r"(^|\s)//.*")
_CODE = re.compile(r"U\+([0-9A-Fa-f]{4,6})")
_RAISED = re.compile(r"(\S+)\^(\d+)")
_ACCENT = re.compile(r"(\S+)\s+(\d+)(?:\s+\^(\d+))?\s*:\s*(\S.*)")
_RECIPE = re.compile(r"(\S+)\s+=\s+(\S+)((?:\s+\+\s+\S+)*)")


class _Recipe(NamedTuple):
    where: str
    base: str
    accents: tuple[str, ...]


@dataclass(slots=True)
class _Source:
    """What the lines of one source said; line numbers ride along for the errors."""

    files: tuple[Path, ...] = ()
    """The file itself and those that include it; empty when the source is a text without a place."""
    folder: Path | None = None
    header: dict[str, str] = field(default_factory=dict)
    drawn: dict[_Key, _Picture] = field(default_factory=dict)
    drawn_at: dict[_Key, int] = field(default_factory=dict)
    accents: dict[str, tuple[int, _Picture]] = field(default_factory=dict)
    """Rows to raise the base by, and the ink."""
    recipes: dict[_Key, _Recipe] = field(default_factory=dict)
    rules: dict[_Key, _Picture] = field(default_factory=dict)
    included: list[_Source] = field(default_factory=list)

    def number(self, key: str, line: int) -> int:
        if key not in self.header:
            raise _wrong(line, f"comes before the header line `{key}`", f"give {', '.join(_NUMBERS)} first")
        return int(self.header[key])


def parse(text: str, folder: str | Path | None = None) -> BitmapFont:
    """Read a font source.

    Parameters
    ----------
    text
        The whole source, in the form that the module describes.
    folder
        Where the files of its `include` lines are; without one the source may include nothing.

    Returns
    -------
    BitmapFont
        Drawn glyphs and composed ones; parts are left out.

    Raises
    ------
    FontError
        When a line is not understood; the message gives its number, what was found and what is allowed.
    """
    source = _read(text, _Source(folder=None if folder is None else Path(folder)))
    _check_header(source)
    return _pack(source, _composed(source))


def build(source_path: str | Path, out_path: str | Path) -> BitmapFont:
    """Read the source at ``source_path``, a BDF when so named, and save the packed font at ``out_path``.

    Raises
    ------
    FontError
        When the source is missing, is not UTF-8, or :func:`parse` (for ``.bdf``: :func:`glyphraster.bdf.from_bdf`)
        refuses it; the message names the file.
    """
    path = Path(source_path)
    text = _text(path)
    try:
        font = from_bdf(text) if path.suffix == ".bdf" else parse(text, path.parent)
    except FontError as error:
        raise FontError(f"{source_path}: {error}") from error
    font.save(out_path)
    return font


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FontError(f"{path} cannot be read as a font source: {error}") from error


def _read(text: str, source: _Source) -> _Source:
    """Fill ``source`` with what the lines say, and lay that over what they include."""
    lines = _meaningful(text)
    for line, content in lines:
        word, _, rest = content.partition(" ")
        _reader(word, line)(source, word, rest.strip(), line, lines)
    _lay_over_included(source)
    return source


def _meaningful(text: str) -> _Lines:
    for number, line in enumerate(text.splitlines(), start=1):
        if content := COMMENT.sub("", line).strip():
            yield number, content


def _wrong(where: int | str, found: str, allowed: str) -> FontError:
    return FontError(f"{where if isinstance(where, str) else f'line {where}'}: {found}; {allowed}")


_Reader = Callable[[_Source, str, str, int, _Lines], None]


def _reader(word: str, line: int) -> _Reader:
    readers: dict[str, _Reader] = {"@": _read_block, "accent": _read_accent, "compose": _read_recipe,
                                  "rule": _read_rule, "include": _read_include}
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


def _key(token: str, line: int | str) -> _Key:
    """Return the code of a glyph name, or the name itself for a part."""
    if len(token) == 1:
        return ord(token)
    if (code := _CODE.fullmatch(token)) and int(code[1], 16) < MARK_BASE:
        return int(code[1], 16)
    if token.startswith("part:") and len(token) > len("part:"):
        return token
    marks = {f"mark:{mark_word(mark)}": int(mark) for mark in Mark}
    if token in marks:
        return marks[token]
    allowed = f"marks are {', '.join(marks)}" if token.startswith("mark:") else (
        "a name is one character, U+0000 to U+10FFFF, mark:<name> or part:<word>")
    raise _wrong(line, f"unknown glyph name {token!r}", allowed)


def mark_word(mark: Mark) -> str:
    """Return the word that names ``mark`` in a source, after ``mark:``."""
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
    name, first, raised, rows = match[1], int(match[2]), int(match[3] or 0), match[4].split()
    height, width = source.number("height", line), source.number("width", line)
    if name in source.accents:
        raise _wrong(line, f"accent {name!r} is given again", "once is allowed")
    if (last := first + len(rows) - 1) >= height:
        raise _wrong(line, f"accent {name!r} covers rows {first} to {last}", f"a cell has rows 0 to {height - 1}")
    for row in rows:
        _check_width(source, row, line, (1,))
    picture = np.zeros((height, width), np.bool_)
    picture[first:last + 1] = _picture(rows)
    source.accents[name] = (raised, picture)


def _read_recipe(source: _Source, _word: str, rest: str, line: int, _lines: _Lines) -> None:
    match = _RECIPE.fullmatch(rest)
    if match is None:
        raise _wrong(line, f"compose {rest!r} is not understood", "write `compose á = a + acute`")
    key = _key(match[1], line)
    if key in source.recipes:
        raise _wrong(line, f"glyph {match[1]!r} is composed again", f"{source.recipes[key].where} composed it")
    accents = tuple(word for word in match[3].split() if word != "+")
    source.recipes[key] = _Recipe(f"line {line}", match[2], accents)


def _read_rule(source: _Source, _word: str, rest: str, line: int, _lines: _Lines) -> None:
    if rest not in RULES:
        raise _wrong(line, f"unknown rule {rest!r}", f"rules are {', '.join(RULES)}")
    for code, picture in RULES[rest](source.number("height", line), source.number("width", line)).items():
        source.rules[code] = picture


def _read_include(source: _Source, _word: str, rest: str, line: int, _lines: _Lines) -> None:
    if source.folder is None:
        raise _wrong(line, f"includes {rest!r}", "only a source in a file, or parsed with a folder, may include others")
    path = (source.folder / rest).resolve()
    if path in source.files:
        raise _wrong(line, f"includes {rest!r}", "that file is being read already: a source may not include itself")
    try:
        source.included.append(_read(_text(path), _Source(folder=path.parent, files=(*source.files, path))))
    except FontError as error:
        raise _wrong(line, f"includes {rest!r}", str(error)) from error


def _lay_over_included(source: _Source) -> None:
    said = source.recipes.keys() | source.rules.keys()
    for part in reversed(source.included):
        where = f"{part.files[-1].name}, "
        source.rules = _fitted(source, part, part.rules) | source.rules
        inks = _fitted(source, part, {name: ink for name, (_, ink) in part.accents.items()})
        source.accents = {name: (part.accents[name][0], ink) for name, ink in inks.items()} | source.accents
        unsaid = {key: ink for key, ink in part.drawn.items() if key not in said}
        source.drawn = _fitted(source, part, unsaid) | source.drawn
        recipes = {key: recipe._replace(where=where + recipe.where) for key, recipe in part.recipes.items()}
        source.recipes = recipes | source.recipes


def _fitted(source: _Source, part: _Source, pictures: dict[_K, _Picture]) -> dict[_K, _Picture]:
    """Return pictures of an included source with blank rows below, up to the height of the cell."""
    if not pictures:
        return {}
    (height, width), (high, wide) = (
        [int(one.header.get(key, 0)) for key in ("height", "width")] for one in (source, part)
    )
    if wide != width or high > height:
        raise FontError(f"its cell of {high}x{wide} pixels does not fit into {height}x{width}: "
                        f"include a source of the same width that is no higher")
    return {key: np.pad(picture, ((0, height - high), (0, 0))) for key, picture in pictures.items()}


def _composed(source: _Source) -> dict[_Key, _Picture]:
    """Return all pictures: drawn ones win over composed ones, and these over rules; recipes use what stands above."""
    pictures = source.rules | source.drawn
    for key, recipe in source.recipes.items():
        if key not in source.drawn:
            pictures[key] = _compose(source, pictures, recipe)
    return pictures


def _compose(source: _Source, pictures: dict[_Key, _Picture], recipe: _Recipe) -> _Picture:
    accents = [_accent(source, name, recipe.where) for name in recipe.accents]
    picture = _base(pictures, recipe, max((raised for raised, _ in accents), default=0)).copy()
    for name, (_, ink) in zip(recipe.accents, accents, strict=True):
        if ink.shape != picture.shape:
            found = f"accent {name!r} on a base {picture.shape[1]} pixels wide"
            raise _wrong(recipe.where, found, f"a base of accents has {ink.shape[1]}")
        picture |= ink
    return picture


def _base(pictures: dict[_Key, _Picture], recipe: _Recipe, raised_by_accent: int) -> _Picture:
    raised = _RAISED.fullmatch(recipe.base)
    name, rows = (raised[1], int(raised[2])) if raised else (recipe.base, 0)
    rows += raised_by_accent
    picture = pictures.get(_key(name, recipe.where))
    if picture is None:
        found = f"base {name!r} has no picture"
        raise _wrong(recipe.where, found, "draw it in a block, or compose it on a line above")
    if rows and picture[:rows].any():
        raise _wrong(recipe.where, f"base {name!r} has ink in its top {rows} rows", "raise it by fewer")
    return np.roll(picture, -rows, axis=0)


def _accent(source: _Source, name: str, where: str) -> tuple[int, _Picture]:
    if name not in source.accents:
        raise _wrong(where, f"unknown accent {name!r}", f"accents are {', '.join(source.accents) or 'none'}")
    return source.accents[name]


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
