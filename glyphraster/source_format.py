"""A font written as a source that people can edit: the way back from :mod:`glyphraster.source`."""

from __future__ import annotations

import numpy as np

from glyphraster.errors import FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark
from glyphraster.source import COMMENT, mark_word

_GLYPHS_A_BLOCK = 16
"""Pictures side by side that :func:`format_font` writes: 16 of 5 pixels and their blanks are 95 columns."""


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
        if COMMENT.search(str(value)) or str(value) != " ".join(str(value).split()) or not str(value):
            raise FontError(f"{key} {value!r} cannot be a header line: it must be one line of words without a comment")
    blocks = [_block(font, start) for start in range(0, len(font.codepoints), _GLYPHS_A_BLOCK)]
    return "\n\n".join(["\n".join(f"{key} {value}" for key, value in header.items()), *blocks]) + "\n"


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
        return f"mark:{mark_word(Mark(code))}"
    character = chr(code)
    return character if character.isprintable() and not character.isspace() else f"U+{code:04X}"
