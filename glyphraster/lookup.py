"""Pixels to cells: which glyph of a font a cell shows.

A cell's bits are folded into one key, the keys of the cells side by side into the key of a wide glyph. A row is read
from its start: the widest glyph that the next cells show is taken. Parts of wide glyphs may look alike, and like other
glyphs, as long as no wide glyph also looks like a narrower one followed by others.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster import _lanes
from glyphraster.celltables import Cells, cell_tables
from glyphraster.errors import FontError
from glyphraster.font import BitmapFont

Keys = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

_STEP, _FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
"""Of SplitMix64 (Steele, Lea and Flood, 2014), whose mixing loses nothing and leaves no pattern: with a linear fold a
blank cell before a glyph inked low looked like a glyph inked high before a blank cell."""


class _KeyIndex:
    """Find the values of keys: an open hash table, one in eight places taken, probed for all keys at once.

    0.6 ms for 105,000 keys; a binary search among 1,800 takes 5 ms.
    """

    def __init__(self, keys: Keys, values: Cells) -> None:
        self._shift = np.uint64(64 - (8 * len(keys) - 1).bit_length())
        size = 1 << 64 - int(self._shift)
        self._at = np.full(size, len(keys), np.uint32)
        self._keys, self._values = np.append(keys, ~np.uint64(0)), np.append(values, values[:1])
        left, places = np.arange(len(keys), dtype=np.uint32), self._first_places(keys)
        while len(left):
            free = self._at[places] == len(keys)
            self._at[places[free]] = left[free]
            out = self._at[places] != left
            left, places = left[out], (places[out] + 1) % size

    def find(self, keys: Keys) -> tuple[Cells, npt.NDArray[np.bool_]]:
        """Return the value of each key, and whether it is known; values of unknown keys mean nothing."""
        flat = keys.reshape(-1)
        places = self._first_places(flat)
        found = self._at[places]
        known = self._keys[found] == flat
        left = np.flatnonzero(~known & (found < len(self._keys) - 1))
        while len(left):
            places[left] = (places[left] + 1) % len(self._at)
            found[left] = self._at[places[left]]
            known[left] = self._keys[found[left]] == flat[left]
            left = left[~known[left] & (found[left] < len(self._keys) - 1)]
        known &= found < len(self._keys) - 1
        return self._values[found].reshape(keys.shape), known.reshape(keys.shape)

    def _first_places(self, keys: Keys) -> Indices:
        return ((keys * _FACTOR) >> self._shift).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Width:
    """All glyphs of one width: by the key of their cells, the first cell of each."""

    span: int
    index: _KeyIndex


def cell_keys(lanes: Keys) -> Keys:
    """Fold the lanes of cells, uint64 (pieces, words, ...), into one key each, uint64 (...): one lane as it is."""
    return functools.reduce(_fold, lanes.reshape(-1, *lanes.shape[2:]))


def font_keys(font: BitmapFont, pitch_px: int = 0, scale: int = 1) -> Keys:
    """Return the key of each cell of a font, drawn at a pitch and a scale."""
    lanes = _lanes.lane_table(font.bitmaps, font.cell_width_px, max(pitch_px, font.cell_width_px), scale)
    return cell_keys(lanes[:-1].transpose(1, 2, 0))


def look_up(keys: Keys, font: BitmapFont, pitch_px: int, scale: int) -> tuple[Cells, npt.NDArray[Any]]:
    """Return the cell at each place of a grid of keys, and the (row, column) of those that match no glyph.

    Parameters
    ----------
    keys
        uint64 (rows, columns).
    pitch_px, scale
        Distance of columns in glyph px, and the scale, at which the page is drawn.

    Raises
    ------
    FontError
        When two glyphs of the font look the same, so that no page of it can be read.
    """
    narrow, *wider = _widths(font, pitch_px, scale)
    cells, known = narrow.index.find(keys)
    if wider:
        spans, firsts = np.zeros(keys.shape, np.uint8), cells.copy()
        for width in wider:
            found, hits = width.index.find(_folded(keys, width.span))
            spans[:, : hits.shape[1]][hits], firsts[:, : hits.shape[1]][hits] = width.span, found[hits]
        rows, columns, parts = _taken(spans)
        cells[rows, columns] = firsts[rows, columns - parts] + parts.astype(cells.dtype)
        known[rows, columns] = True
    return cells, np.argwhere(~known)


def unreadable(keys: Keys, first: Indices, spans: npt.NDArray[np.uint8], rank: Indices) -> npt.NDArray[np.bool_]:
    """Say which glyphs a reader could not tell from others.

    Parameters
    ----------
    keys
        Of each cell.
    first, spans, rank
        Of each glyph: its first cell, how many cells it takes, and its place among glyphs that look alike, of which
        only the lowest can stay.

    Returns
    -------
    bool (glyphs,)
        Glyphs that look like one of lower rank, and wide glyphs that look like a narrower one followed by others.
    """
    out = np.zeros(len(first), np.bool_)
    for span in np.unique(spans).tolist():
        glyphs = np.flatnonzero(spans == span)
        glyphs = glyphs[np.argsort(rank[glyphs], kind="stable")]
        _, kept = np.unique(_folded_at(keys, first[glyphs], span), return_index=True)
        out[np.delete(glyphs, kept)] = True
    wide = np.flatnonzero((spans > 1) & ~out)
    wide = wide[np.isin(keys[first[wide]], keys[first[~out & (spans < spans.max())]])]
    if len(wide):
        shown = [keys[at : at + span].tolist() for at, span in zip(first, spans, strict=True)]
        sequences = _Sequences(list(itertools.compress(shown, ~out)))
        out[[glyph for glyph in wide if sequences.hide(shown[glyph])]] = True
    return out


class _Sequences:
    """What rows of glyphs look like: the keys of each glyph, and all that a glyph can begin with."""

    def __init__(self, glyphs: Sequence[list[int]]) -> None:
        self.glyphs = {tuple(keys) for keys in glyphs}
        self.longest = max(map(len, glyphs))
        self.beginnings = {tuple(keys[:cut]) for keys in glyphs for cut in range(1, len(keys))}

    def hide(self, keys: list[int]) -> bool:
        """Say whether a narrower glyph and what may follow it look like the wide glyph of these keys."""
        return any(tuple(keys[:cut]) in self.glyphs and self._go_on(keys[cut:]) for cut in range(1, len(keys)))

    def _go_on(self, keys: list[int]) -> bool:
        cuts = range(1, min(len(keys), self.longest) + 1)
        return tuple(keys) in self.beginnings or any(
            tuple(keys[:cut]) in self.glyphs and (cut == len(keys) or self._go_on(keys[cut:])) for cut in cuts
        )


def _taken(spans: npt.NDArray[np.uint8]) -> tuple[Indices, Indices, Indices]:
    """Go along each row from the left and take each wide glyph that no other one reaches into.

    Returns
    -------
    rows, columns, parts : int64 (cells,)
        Where the cells of those glyphs are, and which part of its glyph each is.
    """
    rows, columns = np.nonzero(spans)
    kept, row_before, end = [], -1, 0
    places = zip(rows.tolist(), columns.tolist(), spans[rows, columns].tolist(), strict=True)
    for at, (row, column, span) in enumerate(places):
        if row != row_before or column >= end:
            row_before, end = row, column + span
            kept.append(at)
    lengths = spans[rows[kept], columns[kept]].astype(np.int64)
    parts = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(rows[kept], lengths), np.repeat(columns[kept], lengths) + parts, parts


def _folded(keys: Keys, span: int) -> Keys:
    """Return the key of each ``span`` cells side by side, (rows, columns - span + 1)."""
    places = max(0, keys.shape[1] - span + 1)
    return functools.reduce(_fold, (keys[:, part : part + places] for part in range(span)))


def _folded_at(keys: Keys, first: Indices, span: int) -> Keys:
    return functools.reduce(_fold, (keys[first + part] for part in range(span)))


def _fold(left: Keys, right: Keys) -> Keys:
    state = left + _STEP
    mixed = (state ^ (state >> np.uint64(30))) * _FACTOR
    return (mixed ^ (mixed >> np.uint64(27))) * _FACTOR + right


@functools.lru_cache(maxsize=16)
def _widths(font: BitmapFont, pitch_px: int, scale: int) -> list[_Width]:
    """Return the glyphs of each width, narrowest first."""
    keys, first, dtype = font_keys(font, pitch_px, scale), font.first_cells, cell_tables(font).cell_of.dtype
    if alike := int(unreadable(keys, first, font.spans, np.arange(len(first))).sum()):
        raise FontError(f"font {font.name!r} has {alike} glyph(s) that look like others: it cannot be read")
    cells_of = {span: first[font.spans == span] for span in np.unique(font.spans).tolist()}
    return [
        _Width(span=span, index=_KeyIndex(_folded_at(keys, cells, span), cells.astype(dtype)))
        for span, cells in cells_of.items()
    ]
