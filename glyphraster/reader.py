"""read: pages, PNG bytes or files back to the exact text.

Every cell is cut out by the grid and looked up by its bits; the page is then drawn again from what was found and
compared pixel by pixel, so a page that something resized, recompressed or painted over is refused, never guessed at.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.cells import decode_cells
from glyphraster.engine import draw_glyphs
from glyphraster.errors import ArgumentError, PngError, ReadError
from glyphraster.font import BitmapFont, load_font, shipped_fonts
from glyphraster.geometry import PageGeometry
from glyphraster.layout import text_crc32, unrolled
from glyphraster.lookup import cell_keys, look_up
from glyphraster.page import RECORD_VERSION, Page
from glyphraster.png import decode_png

Pixels = npt.NDArray[np.uint8]
Readable = Page | bytes | str | Path | Pixels


def read(
    pages: Readable | Iterable[Readable],
    *,
    font: BitmapFont | None = None,
    geometry: PageGeometry | None = None,
    partial: bool = False,
) -> str:
    """Read pages back to the text they were drawn from.

    Parameters
    ----------
    pages
        One page or several, each a :class:`Page`, PNG bytes, the path of a PNG file, or pixels (uint8, rows first).
        PNGs may come in any order: each carries its place. Bare pixels are taken in the order given.
    font, geometry
        Needed for bare pixels, which carry no record; ``font`` also for PNGs drawn with a font of your own.
    partial
        Read pages that do not start at the beginning of the source.

    Raises
    ------
    ReadError
        When pages are missing, doubled, altered or of several texts; the message names them. Pages missing at the end
        cannot be noticed: no page says that it is the last, since text may yet follow.
    PngError
        When bytes are no PNG of ours.
    ArgumentError
        When bare pixels come without font and geometry, or a file does not exist.
    """
    several = [pages] if isinstance(pages, Page | bytes | str | Path | np.ndarray) else pages
    opened = [_open(page, font, geometry) for page in several]
    ordered = sorted(opened, key=lambda page: page.start) if all(page.placed for page in opened) else opened
    if ordered and ordered[0].placed:
        _check_order(ordered, partial=partial)
    return "".join(_read_page(page) for page in ordered)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Opened:
    """Pixels with all that is known about them."""

    name: str
    pixels: Pixels
    font: BitmapFont
    geometry: PageGeometry
    placed: bool = False
    start: int = 0
    stop: int = 0
    rows: int | None = None
    cells_crc32: int | None = None
    layout: str = "flow"
    columns: int = 1
    caption_rows: int = 0
    margin_cells: int = 0
    source_crc32: tuple[int, int] = (0, 0)


def _open(page: Readable, font: BitmapFont | None, geometry: PageGeometry | None) -> _Opened:
    if isinstance(page, Page):
        return _Opened(
            name=f"page {page.index}",
            pixels=page.pixels,
            font=page.font,
            geometry=page.geometry,
            placed=True,
            start=page.start,
            stop=page.stop,
            rows=page.record["rows"],
            cells_crc32=page.record["cells_crc32"],
            layout=page.plan.layout,
            columns=page.plan.columns,
            caption_rows=page.plan.caption_rows,
            margin_cells=page.plan.margin_cells,
            source_crc32=(page.plan.start_crc32, page.plan.stop_crc32),
        )
    if isinstance(page, np.ndarray):
        if font is None or geometry is None:
            raise ArgumentError(
                f"pixels of shape {page.shape} carry no record: pass font= and geometry=, or the PNG itself"
            )
        return _Opened(name="a page of bare pixels", pixels=page, font=font, geometry=geometry)
    if isinstance(page, bytes):
        return _open_png(page, f"a PNG of {len(page)} bytes", font)
    if not isinstance(page, str | Path):
        raise ArgumentError(f"cannot read a page from {type(page).__name__}; give Page, PNG bytes, a path or pixels")
    path = Path(page)
    if not path.is_file():
        raise ArgumentError(f"no page file {str(path)!r}: give the PNG files that `glyphraster render` wrote")
    return _open_png(path.read_bytes(), path.name, font)


def _open_png(data: bytes, name: str, font: BitmapFont | None) -> _Opened:
    try:
        pixels, record = decode_png(data)
    except PngError as error:
        raise PngError(f"{name}: {error}") from error
    if record is None:
        raise ReadError(
            f"{name} carries no record of a page: it was not drawn here, or something rewrote it and dropped it"
        )
    try:
        if record["version"] != RECORD_VERSION:
            raise ReadError(
                f"{name} has a record of version {record['version']!r}; this release reads {RECORD_VERSION}"
            )
        return _Opened(
            name=name,
            pixels=pixels,
            font=_font_of(record, name, font),
            geometry=PageGeometry(**record["geometry"]),
            placed=True,
            start=int(record["start"]),
            stop=int(record["stop"]),
            rows=int(record["rows"]),
            cells_crc32=int(record["cells_crc32"]),
            layout=record["layout"],
            columns=int(record["columns"]),
            caption_rows=int(record["caption_rows"]),
            margin_cells=int(record["margin_cells"]),
            source_crc32=(int(record["source_crc32"][0]), int(record["source_crc32"][1])),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{name} has a record that makes no sense ({error}): render the page again") from error


def _font_of(record: dict[str, Any], name: str, given: BitmapFont | None) -> BitmapFont:
    if given is not None and given.digest == record["font_digest"]:
        return given
    fonts = shipped_fonts()
    if record["font"] not in fonts:
        raise ReadError(f"{name} was drawn with font {record['font']!r}; here are {', '.join(fonts)}")
    font = load_font(record["font"])
    if font.digest != record["font_digest"]:
        raise ReadError(
            f"{name} was drawn with another version of {font.name!r} (digest {record['font_digest']}, here "
            f"{font.digest}): "
            f"read it with the release that drew it"
        )
    return font


def _check_order(pages: list[_Opened], *, partial: bool) -> None:
    if pages[0].start != 0 and not partial:
        raise ReadError(
            f"the pages before {pages[0].name} are missing: characters 0 to {pages[0].start} (partial=True reads on "
            "without them)"
        )
    for before, after in itertools.pairwise(pages):
        if after.start < before.stop:
            raise ReadError(
                f"{before.name} and {after.name} both hold characters {after.start} to "
                f"{min(before.stop, after.stop)}: give each page "
                f"once, and pages of one text only"
            )
        if after.start > before.stop:
            raise ReadError(
                f"characters {before.stop} to {after.start} are missing between {before.name} and {after.name}: give "
                "all pages"
            )
        if after.source_crc32[0] != before.source_crc32[1]:
            raise ReadError(
                f"{after.name} follows another text than that of {before.name} (CRC {after.source_crc32[0]:08x} where "
                f"{before.source_crc32[1]:08x} ended): give pages of one text only"
            )


def _read_page(page: _Opened) -> str:
    glyphs = _look_up(page)
    again = draw_glyphs(glyphs, page.font, page.geometry, "auto")
    if not np.array_equal(again, page.pixels):
        raise ReadError(
            f"{page.name}: {int((again != page.pixels).sum())} pixels differ from what its glyphs draw: something "
            "altered it; fetch or "
            f"render it again"
        )
    used = glyphs[: page.rows]
    if page.cells_crc32 is not None and zlib.crc32(used.data) != page.cells_crc32:
        raise ReadError(
            f"{page.name}: the glyphs read have CRC {zlib.crc32(used.data):08x}, its record says "
            f"{page.cells_crc32:08x}: something altered it"
        )
    body = used[page.caption_rows :, page.margin_cells :]
    text = decode_cells(unrolled(body, page.font, page.layout, page.columns), page.font)
    if page.placed and text_crc32(text, page.source_crc32[0]) != page.source_crc32[1]:
        raise ReadError(
            f"{page.name} reads as {len(text)} characters that are not the {page.stop - page.start} of its record: "
            "something altered it"
        )
    return text


def _look_up(page: _Opened) -> npt.NDArray[np.uint16]:
    """Return the cell index at each place of the grid, uint16 (rows, columns)."""
    geometry, font = page.geometry, page.font
    if page.pixels.shape != (geometry.height_px, geometry.width_px):
        raise ReadError(
            f"{page.name} is {page.pixels.shape[0]}x{page.pixels.shape[1]} px, drawn as "
            f"{geometry.height_px}x{geometry.width_px}: "
            f"something resized or cropped it; fetch or render it again"
        )
    found, places = look_up(cell_keys(_cut(page.pixels, geometry, font)), font)
    if len(places):
        row, column = places[0]
        raise ReadError(
            f"{page.name}: {len(places)} cells match no glyph of {font.name!r}, the first at row {row}, column "
            f"{column}: something altered it; fetch or render it again"
        )
    return found


def _cut(pixels: Pixels, geometry: PageGeometry, font: BitmapFont) -> Pixels:
    """Cut a page into packed cells: uint8 (rows, columns, cell_height_px, row bytes), 1 is ink."""
    (rows, columns), scale, margin = geometry.grid, geometry.scale, geometry.margin_px
    body = pixels[
        margin : margin + rows * geometry.cell_height_px : scale,
        margin : margin + columns * geometry.cell_width_px : scale,
    ]
    cells = body.reshape(rows, geometry.pitch_y_px, columns, geometry.pitch_x_px)[
        :, : font.cell_height_px, :, : font.cell_width_px
    ]
    return np.packbits(cells == 0, axis=3).transpose(0, 2, 1, 3)
