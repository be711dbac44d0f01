"""Pixels to cells: which glyph of a font a cell shows.

A cell's bits are folded into one key. A row is read from its start: where a cell and the next one are the two halves of
a wide glyph they are that glyph, else the cell is a one-cell glyph. Halves may look alike, and like other glyphs, as
long as no wide glyph is also a one-cell glyph followed by the start of another.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.errors import FontError
from glyphraster.font import BitmapFont

Keys = npt.NDArray[np.uint64]
Cells = npt.NDArray[np.uint16]

_FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that multiplication loses nothing: 2**64 over the golden ratio."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _KeyTable:
    """Sorted keys and their cells: of one-cell glyphs, and of both halves of wide ones folded."""

    narrow: Keys
    narrow_cells: Cells
    pairs: Keys
    pair_cells: Cells


def cell_keys(packed: npt.NDArray[np.uint8]) -> Keys:
    """Fold each cell's bytes into one key: as they are up to eight bytes, mixed by odd factors beyond.

    Parameters
    ----------
    packed
        uint8 (..., cell_height_px, row bytes), a set bit is ink.

    Returns
    -------
    uint64 (...)
    """
    flat = packed.reshape(*packed.shape[:-2], -1)
    width = -(-flat.shape[-1] // 8) * 8
    padded = np.zeros((*flat.shape[:-1], width), np.uint8)
    padded[..., : flat.shape[-1]] = flat
    words = padded.view("<u8")
    factors = np.array([pow(_FACTOR, place, 1 << 64) for place in range(words.shape[-1])], np.uint64)
    keys: Keys = (words * factors).sum(axis=-1, dtype=np.uint64)
    return keys


def look_up(keys: Keys, font: BitmapFont) -> tuple[Cells, npt.NDArray[Any]]:
    """Return the cell at each place of a grid of keys, and the (row, column) of those that match no glyph.

    Raises
    ------
    FontError
        When two glyphs of the font look the same, so that no page of it can be read.
    """
    table = _key_table(font)
    at = _nearest(table.narrow, keys)
    cells, known = table.narrow_cells[at], table.narrow[at] == keys
    if len(table.pairs):
        pairs = _folded(keys[:, :-1], keys[:, 1:])
        at = _nearest(table.pairs, pairs)
        rows, columns = np.nonzero(_every_other(table.pairs[at] == pairs))
        cells[rows, columns] = table.pair_cells[at[rows, columns]]
        cells[rows, columns + 1] = cells[rows, columns] + np.uint16(1)
        known[rows, columns] = known[rows, columns + 1] = True
    return cells, np.argwhere(~known)


def _every_other(halves: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Keep the first, third, ... of each run in a row: the cell behind a left half is its right half."""
    place = np.arange(halves.shape[1])
    last_other = np.maximum.accumulate(np.where(halves, -1, place), axis=1)
    kept: npt.NDArray[np.bool_] = halves & ((place - last_other) % 2 == 1)
    return kept


def _nearest(table: Keys, keys: Keys) -> npt.NDArray[np.int64]:
    return np.minimum(np.searchsorted(table, keys), len(table) - 1)


def _folded(lefts: Keys, rights: Keys) -> Keys:
    return lefts * np.uint64(_FACTOR) + rights


@functools.lru_cache(maxsize=16)
def _key_table(font: BitmapFont) -> _KeyTable:
    keys, first = cell_keys(font.bitmaps), font.first_cells
    narrow, wide = first[font.spans == 1], first[font.spans == 2]
    pairs = _folded(keys[wide], keys[wide + 1])
    for kind, found in (("one-cell", keys[narrow]), ("two-cell", pairs)):
        if len(np.unique(found)) < len(found):
            same = len(found) - len(np.unique(found))
            raise FontError(f"font {font.name!r} has {same} {kind} glyph(s) that look like another: it cannot be read")
    starts = np.append(keys[narrow], keys[wide])
    if (twofold := int((np.isin(keys[wide], keys[narrow]) & np.isin(keys[wide + 1], starts)).sum())) > 0:
        raise FontError(f"font {font.name!r} has {twofold} wide glyph(s) that look like two others: it cannot be read")
    by_key, by_pair = np.argsort(keys[narrow]), np.argsort(pairs)
    return _KeyTable(
        narrow=keys[narrow][by_key],
        narrow_cells=narrow[by_key].astype(np.uint16),
        pairs=pairs[by_pair],
        pair_cells=wide[by_pair].astype(np.uint16),
    )
