"""Fallback chains: several fonts as one, whose taller glyphs make the rows that hold them taller.

Every glyph stands in one box, as high as the tallest font needs, on one baseline. A page row shows the part of the box
that its glyphs ask for: a row of plain text is as high as the first font's cell, a row with a 12-px ideograph 12 px.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from glyphraster.errors import ArgumentError, FontError
from glyphraster.font import MARK_BASE, BitmapFont
from glyphraster.lookup import font_keys, unreadable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FontChain(BitmapFont):
    """Hold several fonts in one box; :func:`font_chain` makes it.

    Attributes
    ----------
    fonts
        In order of preference. The first gives marks, columns and the height of plain rows.
    bands
        uint8 (cells, 2): for each cell, first and last + 1 row of the box that its page row must show.
    """

    fonts: tuple[BitmapFont, ...]
    bands: npt.NDArray[np.uint8]

    @property
    def line_height_px(self) -> int:
        """Height of a row of plain text: the first font's cell."""
        return self.fonts[0].cell_height_px

    def packed(self) -> bytes:
        """Refuse: a chain is no file.

        Raises
        ------
        FontError
            Always.
        """
        raise FontError(f"a chain of {len(self.fonts)} fonts has no packed form: save each of {self.name}")


def font_chain(fonts: Sequence[BitmapFont], *, cell_width_px: int | None = None) -> BitmapFont:
    """Return several fonts as one: a character takes its glyph from the first font that has it.

    Parameters
    ----------
    fonts
        In order of preference; the first must have the marks.
    cell_width_px
        Width of a column; by default the first font's cell. A wider glyph takes as many columns as it needs.

    Returns
    -------
    BitmapFont
        The font itself when there is but one and its cell is as wide; else a :class:`FontChain`. A glyph that a reader
        would take for others is moved by a pixel; where that does not help, it is left out.

    Raises
    ------
    ArgumentError
        When there is no font, or ``cell_width_px`` is below the first font's cell.
    """
    members = tuple(one for font in fonts for one in (font.fonts if isinstance(font, FontChain) else (font,)))
    if not members:
        raise ArgumentError("no font given: name at least one, such as 'glyph5x8'")
    width = cell_width_px or members[0].cell_width_px
    if width < members[0].cell_width_px:
        raise ArgumentError(
            f"columns of {width} px are narrower than the cell of font {members[0].name!r}, "
            f"{members[0].cell_width_px} px: widen them"
        )
    if len(members) == 1 and width == members[0].cell_width_px:
        return members[0]
    return _chained(tuple(_Member(font.name, font.digest, font) for font in members), width)


@dataclass(frozen=True, slots=True)
class _Member:
    """A font by what it is, so that a chain is built once (0.6 s with GNU Unifont) however often its file is loaded."""

    name: str
    digest: str
    font: BitmapFont = field(compare=False)


@functools.lru_cache(maxsize=16)
def _chained(members: tuple[_Member, ...], width_px: int) -> FontChain:
    fonts = tuple(member.font for member in members)
    baseline = max(font.baseline_px for font in fonts)
    height = baseline + max(font.cell_height_px - font.baseline_px for font in fonts)
    blocks: list[_Block] = []
    known = np.zeros(0, np.uint32)
    for font in fonts:
        blocks += _blocks(font, known, fonts[0], (height, width_px), baseline)
        known = np.union1d(known, font.codepoints)
    return _told_apart(_assembled(fonts, blocks, baseline, width_px))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """Glyphs of one font and one width, cut into cells of the box.

    Attributes
    ----------
    codepoints
        uint32 (glyphs,).
    cells
        uint8 (glyphs, span, box height, row bytes).
    bands
        uint8 (glyphs, 2).
    """

    codepoints: npt.NDArray[np.uint32]
    cells: npt.NDArray[np.uint8]
    bands: npt.NDArray[np.uint8]


def _blocks(
    font: BitmapFont, known: npt.NDArray[np.uint32], plain: BitmapFont, box: tuple[int, int], baseline: int
) -> list[_Block]:
    """Return the glyphs of ``font`` that are not ``known`` yet, a block for each width."""
    wanted = ~np.isin(font.codepoints, known)
    if font is not plain:
        wanted &= font.codepoints < MARK_BASE
    found = [
        _block(font, np.flatnonzero(wanted & (font.spans == span)), plain, box, baseline)
        for span in np.unique(font.spans[wanted]).tolist()
    ]
    return [block for block in found if len(block.codepoints)]


def _block(
    font: BitmapFont, glyphs: npt.NDArray[np.int64], plain: BitmapFont, box: tuple[int, int], baseline: int
) -> _Block:
    (height, width), span = box, int(font.spans[glyphs[0]])
    first = font.first_cells[glyphs]
    inks = np.unpackbits(font.bitmaps[first[:, None] + np.arange(span)], axis=-1, count=font.cell_width_px)
    inks = inks.transpose(0, 2, 1, 3).reshape(len(glyphs), font.cell_height_px, -1)
    inked = inks.any(axis=(1, 2)) | (font is plain)
    glyphs, inks = glyphs[inked], inks[inked]
    columns, top = -(-inks.shape[2] // width), baseline - font.baseline_px
    boxed = np.zeros((len(glyphs), height, columns * width), np.uint8)
    boxed[:, top : top + font.cell_height_px, : inks.shape[2]] = inks
    cells = boxed.reshape(len(glyphs), height, columns, width).transpose(0, 2, 1, 3)
    return _Block(
        codepoints=font.codepoints[glyphs],
        cells=np.packbits(cells, axis=-1),
        bands=_bands(boxed, (top, top + font.cell_height_px), baseline - plain.baseline_px, plain.cell_height_px),
    )


def _bands(
    boxed: npt.NDArray[np.uint8], own: tuple[int, int], plain_top: int, plain_height: int
) -> npt.NDArray[np.uint8]:
    """Return the rows that each glyph asks for: those of plain text when all its ink lies there, else its font's."""
    above, below = boxed[:, :plain_top], boxed[:, plain_top + plain_height :]
    taller = np.logical_or(above.any(axis=(1, 2)), below.any(axis=(1, 2)))
    plain = (plain_top, plain_top + plain_height)
    whole = (min(own[0], plain[0]), max(own[1], plain[1]))
    return np.where(taller[:, None], np.array(whole, np.uint8), np.array(plain, np.uint8))


def _assembled(fonts: tuple[BitmapFont, ...], blocks: Sequence[_Block], baseline: int, width_px: int) -> FontChain:
    codepoints = np.concatenate([block.codepoints for block in blocks])
    spans = np.concatenate([np.full(len(block.codepoints), block.cells.shape[1], np.uint8) for block in blocks])
    order = np.argsort(codepoints)
    codepoints, spans = codepoints[order], spans[order]
    first, total = np.cumsum(spans, dtype=np.int64) - spans, int(spans.sum())
    bitmaps = np.zeros((total, *blocks[0].cells.shape[2:]), np.uint8)
    bands = np.zeros((total, 2), np.uint8)
    for block in blocks:
        places = first[np.searchsorted(codepoints, block.codepoints), None] + np.arange(block.cells.shape[1])
        bitmaps[places], bands[places] = block.cells, block.bands[:, None]
    return FontChain(
        name="+".join(font.name for font in fonts),
        licence="; ".join(dict.fromkeys(font.licence for font in fonts)),
        cell_height_px=bitmaps.shape[1],
        cell_width_px=width_px,
        baseline_px=baseline,
        codepoints=codepoints,
        spans=spans,
        bitmaps=bitmaps,
        fonts=fonts,
        bands=bands,
    )


_MOVES = ((0, 1), (1, 0), (-1, 0), (0, -1), (1, 1), (-1, 1), (0, 2))
"""Rows down and columns right, tried in this order. Of GNU Unifont behind ``glyph5x8``, 18 glyphs need one, among them
U+4E00, whose bar is that of a line drawing."""


def _told_apart(chain: FontChain) -> FontChain:
    """Move each glyph that looks like others until it does not, and leave out what still does."""
    first, ranks, bitmaps = chain.first_cells, _ranks(chain), chain.bitmaps.copy()
    alike = unreadable(font_keys(chain), first, chain.spans, ranks)
    ranks[alike] += len(chain.fonts)
    for move in _MOVES:
        if not alike.any():
            break
        for glyph in np.flatnonzero(alike).tolist():
            cells = slice(int(first[glyph]), int(first[glyph]) + int(chain.spans[glyph]))
            bitmaps[cells] = _moved(chain.bitmaps[cells], chain.cell_width_px, chain.bands[cells.start], move)
        alike = unreadable(font_keys(replace(chain, bitmaps=bitmaps.copy())), first, chain.spans, ranks)
    kept = np.repeat(~alike, chain.spans)
    return replace(
        chain,
        codepoints=chain.codepoints[~alike],
        spans=chain.spans[~alike],
        bitmaps=bitmaps[kept],
        bands=chain.bands[kept],
    )


def _moved(
    cells: npt.NDArray[np.uint8], width_px: int, band: npt.NDArray[np.uint8], move: tuple[int, int]
) -> npt.NDArray[np.uint8]:
    """Return the cells of a glyph with its ink moved, or as they are where ink would leave them or the rows shown."""
    inks = np.unpackbits(cells, axis=-1, count=width_px).transpose(1, 0, 2).reshape(cells.shape[1], -1)
    edges = np.pad(inks[band[0] : band[1]], 2)
    rolled = np.roll(edges, move, axis=(0, 1))
    moved = np.zeros_like(inks)
    moved[band[0] : band[1]] = rolled[2:-2, 2:-2]
    if moved.sum() != inks.sum():
        return cells
    return np.packbits(moved.reshape(cells.shape[1], len(cells), width_px).transpose(1, 0, 2), axis=-1)


def _ranks(chain: FontChain) -> npt.NDArray[np.int64]:
    """Return for each glyph which font it is from."""
    ranks = np.zeros(len(chain.codepoints), np.int64)
    for rank in reversed(range(len(chain.fonts))):
        ranks[np.isin(chain.codepoints, chain.fonts[rank].codepoints)] = rank
    return ranks
