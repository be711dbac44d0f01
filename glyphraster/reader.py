"""read: pages, PNG bytes or files back to the exact text.

Every cell is cut out by the grid and looked up by its bits; the page is then drawn again from what was found and
compared pixel by pixel, so a page that something resized, recompressed or painted over is refused, never guessed at.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster._lanes import Pixels, pack_pixels
from glyphraster.alteration import altered_page, altered_pixels
from glyphraster.cells import decode_cells
from glyphraster.chain import FontChain, font_chain
from glyphraster.checksum import crc32
from glyphraster.engine import packed_page
from glyphraster.errors import ArgumentError, PngError, ReadError
from glyphraster.font import BitmapFont, Fonts, load_font, load_fonts, shipped_fonts
from glyphraster.geometry import PageGeometry
from glyphraster.layout import LAYOUTS, text_crc32, unrolled
from glyphraster.lines import column_counts
from glyphraster.page import RECORD_VERSION, Page
from glyphraster.png import decode_rows, read_record, unpacked
from glyphraster.recognise import TRACKINGS_PX, Reading, recognise
from glyphraster.rows import Bands, from_run_lengths, height_px, page_room
from glyphraster.scan import scan

Readable = Page | bytes | str | Path | npt.NDArray[Any]


def read(
    pages: Readable | Iterable[Readable],
    *,
    fonts: Fonts | None = None,
    geometry: PageGeometry | None = None,
    partial: bool = False,
) -> str:
    """Read pages back to the text they were drawn from.

    Parameters
    ----------
    pages
        One page or several, each a :class:`Page`, PNG bytes, the path of a PNG file, or pixels: uint8 (height_px,
        width_px) of 0 and 255, or bool of ink (False) and paper. They may be enlarged by a whole factor. PNGs may come
        in any order: each carries its place. Bare pixels are taken in the order of their captions, without captions
        in the order given.
    fonts
        Needed for pages drawn with fonts of your own, in the order that :func:`render` got.
    geometry
        For bare pixels whose page is no profile's: how they were drawn.
    partial
        Read pages that do not start at the beginning of the source.

    Raises
    ------
    ReadError
        When pages are missing, doubled, altered or of several texts; the message names them, and says where it can
        whether a page was resized, cropped, recompressed or inverted. Also when bare pixels read as several texts.
        Pages missing at the end cannot be noticed, for no page says that it is the last, since text may yet follow; nor
        bare pixels cut off below a row that a page could end with.
    PngError
        When bytes are no PNG of ours.
    ArgumentError
        When a file does not exist, or an argument is none of those named here.
    """
    several = [pages] if isinstance(pages, Page | bytes | str | Path | np.ndarray) else pages
    if not isinstance(several, Iterable):
        raise ArgumentError(f"cannot read pages from {type(pages).__name__}; give pages, PNG bytes, paths or pixels")
    given = load_fonts(fonts) if fonts is not None else []
    opened = [_opened(page, given, at, geometry) for at, page in enumerate(several, start=1)]
    placed = [page for page in opened if isinstance(page, _Placed)]
    bare = [page for page in opened if isinstance(page, _Bare)]
    if placed and bare:
        raise ArgumentError(
            f"{len(placed)} page(s) carry their place and {len(bare)} are bare pixels: give all of them as PNGs, or "
            "all as pixels"
        )
    if bare:
        return "".join(page.reading.text for page in _in_order_of_captions(bare, partial=partial))
    placed.sort(key=lambda page: page.start)
    _check_order(placed, partial=partial)
    return "".join(_read_placed(page) for page in placed)


@dataclass(frozen=True, slots=True, eq=False)
class _Picture:
    """Rows as a PNG holds them, at one bit or one byte a pixel."""

    rows: Pixels
    width_px: int

    @classmethod
    def of_page(cls, page: Page) -> _Picture:
        """Draw a page."""
        rows = packed_page(page.plan.glyphs, page.plan.bands, page.font, page.geometry, page.engine)
        return cls(rows, page.geometry.width_px)

    @property
    def pixels(self) -> Pixels:
        """Return uint8 (height_px, width_px)."""
        return unpacked(self.rows, self.width_px)

    def packed(self, size: tuple[int, int]) -> Pixels | None:
        """Return the rows at one bit a pixel when the picture has this size, or a whole multiple, and no greys."""
        if (len(self.rows), self.width_px) == size and self.rows.shape[1] < 1 + self.width_px:
            return self.rows
        pixels = _reduced(self.pixels, size)
        black_or_white = pixels.shape == size and ((pixels == 0) | (pixels == 255)).all()
        return pack_pixels(pixels) if black_or_white else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Placed:
    """Pixels, and what the page or its record says of them."""

    name: str
    picture: Callable[[], _Picture]
    font: BitmapFont
    geometry: PageGeometry
    bands: Bands
    start: int
    stop: int
    cells_crc32: int
    layout: str
    columns: int
    caption_rows: int
    margin_cells: int
    source_crc32: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bare:
    """A page of bare pixels, read."""

    name: str
    reading: Reading


def _opened(page: Readable, fonts: Sequence[BitmapFont], at: int, geometry: PageGeometry | None) -> _Placed | _Bare:
    if isinstance(page, Page):
        return _placed(f"page {page.index}", lambda: _Picture.of_page(page), page.record, page.font)
    if isinstance(page, np.ndarray):
        return _bare(f"page {at} of those given", _levels(page), fonts, geometry)
    if isinstance(page, bytes):
        return _opened_png(lambda: page, f"a file of {len(page)} bytes", fonts, geometry)
    if not isinstance(page, str | Path):
        raise ArgumentError(f"cannot read a page from {type(page).__name__}; give Page, PNG bytes, a path or pixels")
    path = Path(page)
    if not path.is_file():
        raise ArgumentError(f"no page file {str(path)!r}: give the PNG files that `glyphraster render` wrote")
    return _opened_png(path.read_bytes, path.name, fonts, geometry)


def _opened_png(
    load: Callable[[], bytes], name: str, fonts: Sequence[BitmapFont], geometry: PageGeometry | None
) -> _Placed | _Bare:
    """Read the record of a PNG; its pixels are decoded when it is their turn, so that one page is held at a time."""

    def picture() -> _Picture:
        try:
            rows, width_px, _ = decode_rows(load())
        except PngError as error:
            raise PngError(f"{name}: {error}") from error
        return _Picture(rows, width_px)

    try:
        record = read_record(load())
    except PngError as error:
        raise PngError(f"{name}: {error}") from error
    if record is None:
        return _bare(f"{name} (which carries no record)", picture().pixels, fonts, geometry)
    if record.get("version") != RECORD_VERSION:
        raise ReadError(
            f"{name} has a record of version {record.get('version')!r}; this release reads {RECORD_VERSION}"
        )
    name = f"page {record.get('index')} ({name})"
    try:
        return _placed(name, picture, record, _font_of(record, name, fonts))
    except ReadError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, IndexError) as error:
        raise ReadError(f"{name} has a record that makes no sense ({error}): render the page again") from error


def _placed(name: str, picture: Callable[[], _Picture], record: dict[str, Any], font: BitmapFont) -> _Placed:
    geometry = PageGeometry(**record["geometry"])
    room, layout = page_room(geometry, font), record["layout"]
    bands = from_run_lengths(record["bands"], font.cell_height_px, room.height_px)
    if room.leading_px < 0 or height_px(bands, room.leading_px) > room.height_px:
        raise ValueError(f"rows {record['bands']!r:.100} on a page {geometry.height_px} px high")
    start, stop, crc32_of_cells = (_number(record, name, 0, 1 << 62) for name in ("start", "stop", "cells_crc32"))
    caption_rows, margin_cells = _number(record, "caption_rows", 0, 1), _number(record, "margin_cells", 0, room.columns)
    columns = _number(record, "columns", 1, column_counts(room.columns)[-1] if layout == "columns" else 1)
    before, behind = record["source_crc32"]
    if layout not in LAYOUTS or stop <= start:
        raise ValueError(f"layout {layout!r:.100}, characters {start} to {stop}")
    return _Placed(
        name=name,
        picture=picture,
        font=font,
        geometry=geometry,
        bands=bands,
        start=start,
        stop=stop,
        cells_crc32=crc32_of_cells,
        layout=layout,
        columns=columns,
        caption_rows=caption_rows,
        margin_cells=margin_cells,
        source_crc32=(int(before), int(behind)),
    )


def _number(record: dict[str, Any], key: str, least: int, most: int) -> int:
    value = record[key]
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{key} is {value!r:.100}, which must be a whole number from {least} to {most}")
    return value


def _bare(name: str, pixels: Pixels, fonts: Sequence[BitmapFont], geometry: PageGeometry | None) -> _Bare:
    tried = _on_columns(font_chain(fonts)) if fonts else [load_font(shipped) for shipped in shipped_fonts()]
    try:
        reading = recognise(pixels, tried, geometry)
    except ReadError as error:
        raise ReadError(f"{name} {error}") from error
    if reading is None:
        raise ReadError(f"{name} does not read: {altered_pixels(pixels, tried)}; fetch or render it again")
    return _Bare(name=name, reading=reading)


def _on_columns(font: BitmapFont) -> list[BitmapFont]:
    """Return a font on columns of each width that is tried, where it has glyphs that several columns cut."""
    if font.spans.max() == 1 and not isinstance(font, FontChain):
        return [font]
    return [font_chain([font], cell_width_px=font.cell_width_px + tracking) for tracking in TRACKINGS_PX]


def _levels(array: npt.NDArray[Any]) -> Pixels:
    """Return pixels as uint8 of 0 and 255, from what picture libraries give for a page."""
    if array.ndim == 3 and array.shape[2] in (3, 4) and (array[..., :3] == array[..., :1]).all():
        array = array[..., 0]
    if array.ndim != 2 or array.dtype not in (np.uint8, np.bool_) or not array.size:
        raise ArgumentError(
            f"pixels of shape {array.shape} and {array.dtype} are no page: give uint8 (height_px, width_px) of 0 ink "
            "on 255 paper, or bool (True is paper)"
        )
    return array * np.uint8(255) if array.dtype == np.bool_ else array


def _reduced(pixels: Pixels, drawn: tuple[int, int]) -> Pixels:
    """Return pixels at the size they were drawn at when something enlarged each by a whole factor, else as they are."""
    factor = pixels.shape[0] // drawn[0]
    if factor < 2 or pixels.shape != (drawn[0] * factor, drawn[1] * factor):
        return pixels
    small = pixels[::factor, ::factor]
    return small if np.array_equal(small.repeat(factor, axis=0).repeat(factor, axis=1), pixels) else pixels


def _font_of(record: dict[str, Any], name: str, given: Sequence[BitmapFont]) -> BitmapFont:
    members = [one for font in given for one in (font.fonts if isinstance(font, FontChain) else (font,))]
    fonts = [_member(wanted, digest, name, members) for wanted, digest in record["fonts"]]
    geometry = PageGeometry(**record["geometry"])
    return font_chain(fonts, cell_width_px=_number(record, "column_px", 1, geometry.pitch_x_px))


def _member(wanted: str, digest: str, name: str, given: Sequence[BitmapFont]) -> BitmapFont:
    if (font := next((font for font in given if font.digest == digest), None)) is not None:
        return font
    if wanted not in shipped_fonts():
        raise ReadError(
            f"{name} was drawn with font {wanted!r} (digest {digest}), not shipped here: give it as fonts= (--font)"
        )
    font = load_font(wanted)
    if font.digest != digest:
        raise ReadError(
            f"{name} was drawn with another version of {wanted!r} (digest {digest}, here {font.digest}): read it with "
            "the release that drew it"
        )
    return font


# ------------------------------------------------------------------------------------------------------ order of pages


def _check_order(pages: list[_Placed], *, partial: bool) -> None:
    if pages and pages[0].start != 0 and not partial:
        raise ReadError(
            f"the pages before {pages[0].name} are missing: characters 0 to {pages[0].start} (partial=True reads on "
            "without them)"
        )
    for before, after in itertools.pairwise(pages):
        if after.start < before.stop:
            raise ReadError(
                f"{before.name} and {after.name} both hold characters {after.start} to {min(before.stop, after.stop)}: "
                "give each page once, and pages of one text only"
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


def _in_order_of_captions(pages: list[_Bare], *, partial: bool) -> list[_Bare]:
    """Sort pages whose captions all name a number, and see that none is missing or doubled; leave others as given."""
    numbered = [(page.reading.index, page) for page in pages if page.reading.index is not None]
    if len(numbered) < len(pages):
        return pages
    numbered.sort(key=lambda pair: pair[0])
    if numbered[0][0] != 1 and not partial:
        raise ReadError(
            f"pages 1 to {numbered[0][0] - 1} are missing, by its caption, before {numbered[0][1].name} (partial=True "
            "reads on without them)"
        )
    for (number, before), (following, after) in itertools.pairwise(numbered):
        if following == number:
            raise ReadError(f"{before.name} and {after.name} are both page {number} by their captions: give each once")
        if following != number + 1:
            raise ReadError(f"pages {number + 1} to {following - 1} are missing, by the captions: give all pages")
    return [page for _, page in numbered]


# ------------------------------------------------------------------------------------------------------- text of pages


def _read_placed(page: _Placed) -> str:
    glyphs = _glyphs(page)
    if crc32(glyphs.data) != page.cells_crc32:
        raise ReadError(
            f"{page.name}: the glyphs read have CRC {crc32(glyphs.data):08x}, its record says "
            f"{page.cells_crc32:08x}: something altered it; fetch or render it again"
        )
    body = glyphs[page.caption_rows :, page.margin_cells :]
    text = decode_cells(unrolled(body, page.font, page.layout, page.columns), page.font)
    if len(text) != page.stop - page.start or text_crc32(text, page.source_crc32[0]) != page.source_crc32[1]:
        raise ReadError(
            f"{page.name} reads as {len(text)} characters that are not the {page.stop - page.start} of its record: "
            "something altered it"
        )
    return text


def _glyphs(page: _Placed) -> npt.NDArray[Any]:
    """Return the cells of a page, proved by drawing them again."""
    geometry, bands, picture = page.geometry, page.bands, page.picture()
    packed = picture.packed((geometry.height_px, geometry.width_px))
    if packed is not None:
        glyphs, unknown = scan(packed, bands, page.font, geometry)
        if not len(unknown) and np.array_equal(packed_page(glyphs, bands, page.font, geometry, "auto"), packed):
            return glyphs
    said = altered_page(picture.pixels, bands, page.font, geometry)
    raise ReadError(f"{page.name} does not read: {said}; fetch or render it again")
