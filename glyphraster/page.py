"""Page: a plan and its font, drawn on demand."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.chain import FontChain
from glyphraster.checksum import crc32
from glyphraster.engine import Engine, draw_glyphs, packed_page
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.layout import PagePlan, text_crc32
from glyphraster.png import PngMode, encode_packed, encode_png
from glyphraster.rows import height_px, page_room, run_lengths

RECORD_VERSION = 2
"""2: pages name all their fonts, and what each row shows of its cells."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Page:
    """A page of glyphs. Nothing is drawn before it is asked for, and nothing drawn is kept.

    Attributes
    ----------
    plan, font, geometry
        What is drawn, with which glyphs, where.
    engine
        Which kernel draws; the pixels do not depend on it.
    png_mode
        The mode that the profile's row asks for; what :meth:`png` writes unless told otherwise.
    clean, changed_chars
        The view of :mod:`glyphraster.clean` that the source was drawn through, if any, and how many characters of the
        whole source it changed; the latter is in no record, for it grows with what is appended.
    """

    plan: PagePlan
    font: BitmapFont
    geometry: PageGeometry
    engine: Engine = "auto"
    png_mode: PngMode = "gray1"
    clean: str | None = None
    changed_chars: int = 0

    @property
    def index(self) -> int:
        """Number of the page, from 1."""
        return self.plan.index

    @property
    def start(self) -> int:
        """First character of the source on this page."""
        return self.plan.start

    @property
    def stop(self) -> int:
        """One past the last character of the source on this page."""
        return self.plan.stop

    @property
    def pixels(self) -> npt.NDArray[np.uint8]:
        """Draw the page: uint8 (height_px, width_px), 0 ink on 255 paper, read-only."""
        pixels = draw_glyphs(self.plan.glyphs, self.plan.bands, self.font, self.geometry, self.engine)
        pixels.setflags(write=False)
        return pixels

    @property
    def record(self) -> dict[str, Any]:
        """What a reader needs to know, as JSON values: it travels in the PNG's text chunk."""
        geometry, font = self.geometry, self.font
        fonts = font.fonts if isinstance(font, FontChain) else (font,)
        return {
            "version": RECORD_VERSION,
            "index": self.index,
            "start": self.start,
            "stop": self.stop,
            "layout": self.plan.layout,
            "columns": self.plan.columns,
            "caption_rows": self.plan.caption_rows,
            "margin_cells": self.plan.margin_cells,
            "lines": [self.plan.start_line, self.plan.stop_line],
            "source_crc32": [self.plan.start_crc32, self.plan.stop_crc32],
            "fonts": [[font.name, font.digest] for font in fonts],
            "column_px": self.font.cell_width_px,
            "bands": run_lengths(self.plan.bands),
            "clean": self.clean,
            "cells_crc32": crc32(self.plan.glyphs.data),
            "geometry": {name: getattr(geometry, name) for name in geometry.__slots__},
        }

    def cropped(self) -> Page:
        """Return the page as one that ends below its last row."""
        used_px = height_px(self.plan.bands, page_room(self.geometry, self.font).leading_px) * self.geometry.scale
        below_px = used_px + 2 * self.geometry.margin_px
        if below_px == self.geometry.height_px:
            return self
        return replace(self, geometry=replace(self.geometry, height_px=below_px))

    def behind(self, before: Page | None, text: str) -> Page:
        """Return the page, which shows ``text``, as the one that follows ``before``, or as the first."""
        start, crc = (before.stop, before.plan.stop_crc32) if before else (0, 0)
        if (self.start, self.plan.start_crc32) == (start, crc):
            return self
        placed = replace(
            self.plan,
            start=start,
            stop=start + self.stop - self.start,
            start_crc32=crc,
            stop_crc32=text_crc32(text, crc),
        )
        return replace(self, plan=placed)

    def png(self, mode: PngMode | None = None, *, small: bool = False) -> bytes:
        """Return the page as PNG bytes.

        Parameters
        ----------
        mode
            ``"gray1"`` or ``"gray8"``; by default :attr:`png_mode`.
        small
            Take several times as long for some 6 % fewer bytes.
        """
        mode = mode or self.png_mode
        if mode != "gray1":
            return encode_png(self.pixels, mode, self.record, small=small)
        page = packed_page(self.plan.glyphs, self.plan.bands, self.font, self.geometry, self.engine)
        return encode_packed(page, self.geometry.width_px, self.record, small=small)

    def data_url(self, mode: PngMode | None = None) -> str:
        """Return the page as a ``data:`` URL (RFC 2397) that holds the PNG in base64.

        Parameters
        ----------
        mode
            As for :meth:`png`.
        """
        return f"data:image/png;base64,{base64.b64encode(self.png(mode)).decode()}"
