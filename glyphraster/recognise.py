"""Bare pixels, which carry no record: find font, pitch, scale and layout, and prove them.

Whatever fits is tried; a setting is believed only when the text that it gives, set and drawn again, is the page to the
last pixel. Where two settings give two texts, neither is taken.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glyphraster._lanes import Pixels
from glyphraster.cells import decode_cells
from glyphraster.celltables import Cells, cell_tables
from glyphraster.chain import FontChain
from glyphraster.engine import draw_glyphs
from glyphraster.errors import ReadError
from glyphraster.font import BitmapFont, Mark
from glyphraster.geometry import PageGeometry
from glyphraster.layout import set_again, unrolled
from glyphraster.lines import NARROWEST_COLUMN_CELLS, column_counts
from glyphraster.profiles import every_profile
from glyphraster.rows import Bands, height_px, plain_rows, row_bands
from glyphraster.scan import scan_pixels

LEADINGS_PX = (0, 1, 2, 3, 9)
TRACKINGS_PX = (0, 1, 3)
"""Blank glyph px below and right of a cell that are tried: pitches 8 to 10 of ``glyph5x8``, and 16x8, 22x8, 16x9 and
16x11 of ``glyph8x13``."""

LARGEST_SCALE = 16
_CAPTION = re.compile(r"page (\d+) lines ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Hold what a page of bare pixels says: its text, and its number where a caption names it."""

    text: str
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Hold a font and a geometry that draw a page, and the cells that stand on it."""

    font: BitmapFont
    geometry: PageGeometry
    glyphs: Cells
    bands: Bands


def recognise(pixels: Pixels, fonts: Sequence[BitmapFont], geometry: PageGeometry | None = None) -> Reading | None:
    """Read a page of bare pixels, or return None when no font and geometry draw it.

    Parameters
    ----------
    pixels
        uint8 (height_px, width_px), 0 ink on 255 paper.
    fonts
        Those to try.
    geometry
        The only one to try, whatever its height; by default all of a profile's page width.

    Raises
    ------
    ReadError
        When the page reads as several texts.
    """
    found: set[Reading] = set()
    for font in fonts:
        own = [replace(geometry, height_px=pixels.shape[0])] if geometry else _page_geometries(pixels, font)
        drawn = (fit for fit in fits(pixels, font, own) if geometry or _is_whole(fit))
        found.update(reading for fit in drawn for reading in _readings(fit))
    if len({reading.text for reading in found}) > 1:
        lengths = sorted(len(reading.text) for reading in found)
        raise ReadError(
            f"reads as several texts, of {lengths[0]} to {lengths[-1]} characters: give the PNG, whose record says how "
            "it was set, or else fonts= and geometry="
        )
    return next(iter(found), None)


def fits(pixels: Pixels, font: BitmapFont, geometries: Sequence[PageGeometry]) -> Iterator[Fit]:
    """Yield every one of these geometries at which ``font`` draws exactly these pixels."""
    for geometry in geometries:
        for bands in _bands(pixels, font, geometry):
            glyphs, unknown = scan_pixels(pixels, bands, font, geometry)
            if not len(unknown) and np.array_equal(draw_glyphs(glyphs, bands, font, geometry, "auto"), pixels):
                yield Fit(font=font, geometry=geometry, glyphs=glyphs, bands=bands)


def likely_geometries(pixels: Pixels, font: BitmapFont) -> list[PageGeometry]:
    """Return the geometries, at any scale and pitch that is tried, at which the first row may be one of ``font``."""
    height_px, width_px = pixels.shape
    found = []
    for scale in _scales(pixels):
        for tracking in TRACKINGS_PX:
            geometries = [
                PageGeometry(
                    height_px=height_px,
                    width_px=width_px,
                    scale=scale,
                    pitch_y_px=font.line_height_px + leading,
                    pitch_x_px=font.cell_width_px + tracking,
                )
                for leading in LEADINGS_PX
                if height_px >= (font.line_height_px + leading) * scale
                and width_px >= (font.cell_width_px + tracking) * scale
            ]
            if geometries and any(_row(pixels, band, font, geometries[0]) is not None for band in _row_kinds(font)):
                found += geometries
    return found


def _page_geometries(pixels: Pixels, font: BitmapFont) -> list[PageGeometry]:
    """Return the likely geometries whose width, at a whole factor of the scale, is that of some profile's page."""
    width_px, widths = pixels.shape[1], {profile.page_width_px for profile in every_profile()}
    return [
        geometry
        for geometry in likely_geometries(pixels, font)
        if any(width_px == enlarged * width for width in widths for enlarged in _divisors(geometry.scale))
    ]


def _is_whole(fit: Fit) -> bool:
    """Say whether some profile crops a page of these rows to this height: else something cut it off."""
    tables, geometry = cell_tables(fit.font), fit.geometry
    inked = np.flatnonzero((fit.glyphs != tables.blank).any(axis=1))
    used = fit.bands[: int(inked[-1]) + 1] if len(inked) else fit.bands[:0]
    rows_px = height_px(used, geometry.pitch_y_px - fit.font.line_height_px) * geometry.scale
    return any(
        geometry.width_px == enlarged * profile.page_width_px
        and geometry.height_px == enlarged * profile.cropped_height_px(rows_px // enlarged)
        for enlarged in _divisors(geometry.scale)
        for profile in every_profile()
        if 0 < rows_px // enlarged <= profile.page_height_px
    )


def _scales(pixels: Pixels) -> list[int]:
    """Return the scales at which no glyph pixel is cut: divisors of every place where ink begins or ends."""
    across = np.flatnonzero((pixels[:, 1:] != pixels[:, :-1]).any(axis=0)) + 1
    down = np.flatnonzero((pixels[1:] != pixels[:-1]).any(axis=1)) + 1
    common = math.gcd(*across.tolist(), *down.tolist())
    return [scale for scale in _divisors(common) if scale <= LARGEST_SCALE]


def _divisors(number: int) -> list[int]:
    return [one for one in range(1, min(number, LARGEST_SCALE) + 1) if number % one == 0]


# ----------------------------------------------------------------------------------------------------- rows of a page


def _bands(pixels: Pixels, font: BitmapFont, geometry: PageGeometry) -> Iterator[Bands]:
    """Yield each way to part the page into rows."""
    if not isinstance(font, FontChain):
        yield plain_rows(geometry.grid[0], font)
        return
    inked = np.flatnonzero((pixels != 255).any(axis=1))
    text_px = (int(inked[-1]) - geometry.margin_px) // geometry.scale + 1 if len(inked) else 0
    for kinds in _parted(pixels, font, geometry, text_px):
        yield np.array(kinds, np.uint8).reshape(-1, 2)


def _parted(pixels: Pixels, font: FontChain, geometry: PageGeometry, text_px: int) -> Iterator[list[tuple[int, int]]]:
    """Yield each way to part ``text_px`` glyph rows into page rows as high as the glyphs that stand in them ask for."""
    leading_px, begun = geometry.pitch_y_px - font.line_height_px, [(0, list[tuple[int, int]]())]
    while begun:
        top_px, rows = begun.pop()
        if top_px >= text_px:
            yield rows
            continue
        below = pixels[top_px * geometry.scale :]
        for band in _row_kinds(font):
            glyphs = _row(below, band, font, geometry)
            if glyphs is not None and tuple(row_bands(glyphs, font)[0].tolist()) == band:
                begun.append((top_px + band[1] - band[0] + leading_px, [*rows, band]))


@functools.lru_cache(maxsize=16)
def _row_kinds(font: BitmapFont) -> list[tuple[int, int]]:
    """Return what rows of a font can show of its cells: one kind, or all that the fonts of a chain can ask for."""
    if not isinstance(font, FontChain):
        return [(0, font.cell_height_px)]
    (tops, lasts), ((plain_top, plain_last),) = font.bands.T, plain_rows(1, font).tolist()
    return [
        (top, last)
        for top in np.unique(tops).tolist()
        for last in np.unique(lasts).tolist()
        if top <= plain_top and last >= plain_last
    ]


def _row(pixels: Pixels, band: tuple[int, int], font: BitmapFont, geometry: PageGeometry) -> Cells | None:
    """Return the cells of the topmost row, or None when it does not show glyphs."""
    height_px = band[1] - band[0] + geometry.pitch_y_px - font.line_height_px
    if height_px * geometry.scale > pixels.shape[0]:
        return None
    row = pixels[: geometry.margin_px + height_px * geometry.scale]
    glyphs, unknown = scan_pixels(row, np.array([band], np.uint8), font, geometry)
    return None if len(unknown) else glyphs


# -------------------------------------------------------------------------------------------------- layouts of a page


def _readings(fit: Fit) -> Iterator[Reading]:
    """Yield the text of a page in each layout in which that text would be set as it stands there."""
    tables = cell_tables(fit.font)
    inked = np.flatnonzero((fit.glyphs != tables.blank).any(axis=1))
    if not len(inked):
        return
    used, caption_rows = fit.glyphs[: int(inked[-1]) + 1], int(fit.glyphs[0, 0] == fit.font.cell(Mark.CAPTION))
    index = _number(used[0], fit.font) if caption_rows else None
    margin_cells = _margin_cells(used[caption_rows:], fit.font)
    body = used[caption_rows:, margin_cells:]
    newspapers = [("columns", columns) for columns in column_counts(body.shape[1])[1:]]
    layouts = [("lines", 1)] if margin_cells else [("flow", 1), ("lines", 1), *newspapers]
    for layout, columns in layouts:
        if (text := _text(body, fit.font, layout, columns)) is not None:
            yield Reading(text=text, index=index)


def _text(body: Cells, font: BitmapFont, layout: str, columns: int) -> str | None:
    """Return what a page says in one layout, or None when it was not set in that one."""
    try:
        text = decode_cells(unrolled(body, font, layout, columns), font)
    except ReadError:
        return None
    mid_line = bool(body.size and body[0, 0] == cell_tables(font).continuation)
    again = set_again(text, font, body.shape, layout, columns, mid_line=mid_line) if text else body[:0]
    return text if np.array_equal(again, body) else None


def _margin_cells(body: Cells, font: BitmapFont) -> int:
    """Return how many cells left of the text hold line numbers: up to a rule nearer than those between columns."""
    ruled = (body[:, :NARROWEST_COLUMN_CELLS] == font.cell(Mark.MARGIN)).all(axis=0)
    return int(ruled.argmax()) + 1 if ruled.any() else 0


def _number(caption: Cells, font: BitmapFont) -> int | None:
    """Return the page number that a caption row names."""
    codes = cell_tables(font).code_of[caption[1:]]
    match = _CAPTION.match("".join(chr(code) for code in codes.tolist() if code < 0x110000))
    return int(match[1]) if match else None
