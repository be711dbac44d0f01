"""Rows of a page: how high each is, how many fit, and where each lies.

Heights are in glyph pixels, before the page's scale.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glyphraster.celltables import Cells
from glyphraster.chain import FontChain
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry

SPACE = 0x20

Bands = npt.NDArray[np.uint8]
"""uint8 (rows, 2): first and last + 1 row of the font's cells that each page row shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a page has for text.

    Attributes
    ----------
    height_px
        Glyph pixels from top to bottom.
    columns
        Cells side by side.
    leading_px
        Blank glyph pixels below each row.
    """

    height_px: int
    columns: int
    leading_px: int

    def rows(self, line_height_px: int) -> int:
        """Return how many rows of one height fit."""
        return self.height_px // (line_height_px + self.leading_px)

    def rows_of(self, bands: Bands, line_height_px: int) -> int:
        """Return how many rows fit that start with these; those behind them are as high as plain text."""
        ends_px = np.cumsum(np.diff(bands.astype(np.int64), axis=1)[:, 0] + self.leading_px)
        fitting = int(np.searchsorted(ends_px, self.height_px, "right"))
        if fitting < len(ends_px):
            return fitting
        left_px = self.height_px - int(ends_px[-1:].sum())
        return fitting + left_px // (line_height_px + self.leading_px)


    def rows_abreast(self, bands: Bands, columns: int, font: BitmapFont) -> int:
        """Return the most rows of a page whose newspaper columns take these rows, one behind another."""
        most = self.rows(font.line_height_px)
        return next(rows for rows in range(most, -1, -1) if self.holds(abreast(bands, rows, columns, font)))

    def holds(self, bands: Bands) -> bool:
        """Say whether all these rows fit."""
        return height_px(bands, self.leading_px) <= self.height_px


class Strip(NamedTuple):
    """Rows of one height, one under another: which, where on the page (glyph px), and what of their cells is shown."""

    rows: slice
    top_px: int
    band: tuple[int, int]


def page_room(geometry: PageGeometry, font: BitmapFont) -> Room:
    """Return the room of an empty page."""
    return Room(
        height_px=(geometry.height_px - 2 * geometry.margin_px) // geometry.scale,
        columns=geometry.grid[1],
        leading_px=geometry.pitch_y_px - font.line_height_px,
    )


def plain_rows(count: int, font: BitmapFont) -> Bands:
    """Return what rows of plain text show."""
    band = font.bands[font.cell(SPACE)] if isinstance(font, FontChain) else (0, font.cell_height_px)
    rows = np.empty((count, 2), np.uint8)
    rows[:] = band
    return rows


def row_bands(glyphs: Cells, font: BitmapFont) -> Bands:
    """Return what each row of a grid shows: all that one of its cells asks for."""
    if not isinstance(font, FontChain):
        return plain_rows(len(glyphs), font)
    asked = font.bands[glyphs]
    return np.stack([asked[..., 0].min(axis=1), asked[..., 1].max(axis=1)], axis=1)


def placed_bands(cells: Cells, rows: npt.NDArray[Any], font: FontChain) -> Bands:
    """Return what each row up to the last shows, given the row of each cell; blank rows are rows of plain text."""
    bands = plain_rows(int(rows.max(initial=-1)) + 1, font)
    taller = np.flatnonzero((font.bands != font.bands[font.cell(SPACE)]).any(axis=1)[cells])
    np.minimum.at(bands[:, 0], rows[taller], font.bands[cells[taller], 0])
    np.maximum.at(bands[:, 1], rows[taller], font.bands[cells[taller], 1])
    return bands


def abreast(bands: Bands, rows: int, columns: int, font: BitmapFont) -> Bands:
    """Return what the rows of a page show whose newspaper columns take these rows, one behind another."""
    beside = plain_rows(rows * columns, font)
    beside[: len(bands)] = bands[: rows * columns]
    beside = beside.reshape(columns, rows, 2)
    return np.stack([beside[..., 0].min(axis=0), beside[..., 1].max(axis=0)], axis=1)


def strips(bands: Bands, leading_px: int) -> Iterator[Strip]:
    """Yield the rows of a page in strips of one height."""
    start = top_px = 0
    for rows, first, last in _runs(bands.tobytes()):
        yield Strip(slice(start, start + rows), top_px, (first, last))
        start += rows
        top_px += rows * (last - first + leading_px)


def run_lengths(bands: Bands) -> list[list[int]]:
    """Return the bands of a page as [rows, first, last + 1] for each strip."""
    return [list(run) for run in _runs(bands.tobytes())]


@functools.lru_cache(maxsize=64)
def _runs(bands: bytes) -> tuple[tuple[int, int, int], ...]:
    """Return rows, first and last + 1 of each strip. Most pages have the same bands: reckoning takes 16 us a page."""
    pairs = zip(bands[::2], bands[1::2], strict=True)
    return tuple((len(list(same)), *pair) for pair, same in itertools.groupby(pairs))


def from_run_lengths(runs: list[list[int]], cell_height_px: int, most_rows: int) -> Bands:
    """Return the bands that :func:`run_lengths` wrote.

    Raises
    ------
    ValueError
        When they are of no page with such cells and so many rows at most.
    """
    if not runs or any(not (rows > 0 and 0 <= first < last <= cell_height_px) for rows, first, last in runs):
        raise ValueError(f"rows {runs!r:.100} of cells {cell_height_px} px high")
    rows = [run[0] for run in runs]
    if sum(rows) > most_rows:
        raise ValueError(f"{sum(rows)} rows where {most_rows} fit")
    return np.repeat(np.array([run[1:] for run in runs], np.uint8), rows, axis=0)


def height_px(bands: Bands, leading_px: int) -> int:
    """Return the height of all rows, blank pixels below each included."""
    return sum(rows * (last - first + leading_px) for rows, first, last in _runs(bands.tobytes()))
