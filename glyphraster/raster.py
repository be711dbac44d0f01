"""draw, render, iter_pages: from text and a model's name to pages."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from glyphraster.chain import FontChain, font_chain
from glyphraster.choice import PLAIN, TAILED, TAILS, font_for_text
from glyphraster.clean import cleaned
from glyphraster.decor import Decor
from glyphraster.engine import Engine, chosen_engine, draw_glyphs
from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont, Fonts, load_font, load_fonts
from glyphraster.geometry import PageGeometry, page_geometry
from glyphraster.layout import PagePlan, iter_plans
from glyphraster.page import Page
from glyphraster.profiles import CellChoice, PageProfile, page_profile, reading_cell
from glyphraster.rows import height_px, page_room

Tier = Literal["auto", "dense", "legible"]
"""How small the glyphs may be: a key of :data:`TIERS`, or ``auto``."""
TIERS: dict[str, int] = {"dense": 1, "legible": 2}
"""Tier and the scale at which it draws the font; ``auto`` takes the one with evidence for the model."""


def draw(plan: PagePlan, font: BitmapFont, geometry: PageGeometry, engine: Engine = "auto") -> npt.NDArray[np.uint8]:
    """Draw one planned page.

    Returns
    -------
    uint8 (height_px, width_px)
        0 ink on 255 paper; as high as ``geometry`` says, whatever rows the plan uses.

    Raises
    ------
    ArgumentError
        When the plan has more rows or columns than the page.
    """
    room = page_room(geometry, font)
    used_px, columns = height_px(plan.bands, room.leading_px), plan.glyphs.shape[1]
    if used_px > room.height_px or columns > room.columns:
        raise ArgumentError(
            f"a plan of {columns} columns and rows of {used_px} glyph px does not fit a page of {room.columns} and "
            f"{room.height_px}: draw it with its own geometry"
        )
    return draw_glyphs(plan.glyphs, plan.bands, font, geometry, engine)


def render(
    text: str,
    model: str,
    *,
    route: str | None = None,
    fonts: Fonts | None = None,
    layout: str = "flow",
    tier: Tier = "auto",
    scale: int | None = None,
    pitch_px: tuple[int, int] | None = None,
    caption: str | None = None,
    line_numbers: bool = False,
    clean: str | None = None,
    engine: Engine = "auto",
    after: Page | None = None,
) -> list[Page]:
    """Lay a text out on the pages that suit a model.

    Parameters
    ----------
    text
        Any string; every character of it can be read back from the pages.
    model, route
        The model's id as ``route`` spells it; ``route=None`` is its maker's own API.
    fonts
        Fonts, or their names or paths, in order of preference: a character takes its glyph from the first that has it,
        and a row that holds taller glyphs than those of the first font becomes taller. By default the font that the
        evidence for the model names, or ``"glyph5x9"`` in place of ``"glyph5x8"`` for text with many tails (ș, ą, ģ).
    layout
        ``"flow"`` wastes no row end, ``"lines"`` starts a row with each line, ``"columns"`` sets them in newspaper
        columns.
    tier
        ``"auto"`` takes the smallest cell with evidence of reading, ``"dense"`` 5x8 px, ``"legible"`` 10x16 px.
    scale
        Side in px of the square that draws one glyph pixel; None for that of the tier.
    pitch_px
        Distance from one cell to the next in glyph pixels, before ``scale``, rows first, at least the font's cell:
        ``(9, 5)`` puts a row of paper between the rows of ``glyph5x8``, ``(10, 5)`` two. None for the pitch that the
        evidence for the model names, or the font's cell.
    caption
        A label for a row that names page and source lines; "" for the row without a label, None for no row.
    line_numbers
        Number the source lines in a margin; for ``layout="lines"``.
    clean
        A view of :mod:`glyphraster.clean` that trades exactness for readability: ``"terminal"`` or ``"typographic"``.
        The pages then hold, and read back to, the cleaned text; each records the view and what it changed.
    engine
        ``"auto"``, ``"numba"`` or ``"numpy"``: the same pixels.
    after
        The page that these continue: numbers and offsets go on from it.

    Returns
    -------
    list of Page
        Drawn on demand; none for the empty string.

    Raises
    ------
    ArgumentError
        When an argument is not one of those named here.
    EngineError
        When ``engine="numba"`` and numba cannot run.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"render takes a string, got {type(text).__name__}; iter_pages takes strings in order")
    view = cleaned(text, clean) if clean else None
    pages = iter_pages(
        view.text if view else text,
        model,
        route=route,
        fonts=fonts,
        layout=layout,
        tier=tier,
        scale=scale,
        pitch_px=pitch_px,
        caption=caption,
        line_numbers=line_numbers,
        engine=engine,
        after=after,
    )
    if not view:
        return list(pages)
    return [replace(page, clean=clean, changed_chars=view.changed_chars) for page in pages]


def iter_pages(
    text: str | Iterable[str],
    model: str,
    *,
    route: str | None = None,
    fonts: Fonts | None = None,
    layout: str = "flow",
    tier: Tier = "auto",
    scale: int | None = None,
    pitch_px: tuple[int, int] | None = None,
    caption: str | None = None,
    line_numbers: bool = False,
    engine: Engine = "auto",
    after: Page | None = None,
) -> Iterator[Page]:
    """Yield pages as they fill, holding about one page of text; the pages are those of :func:`render`.

    Parameters
    ----------
    text
        A string, or strings in order.

    Other parameters and errors as :func:`render`.
    """
    chosen_engine(engine, len(text) if isinstance(text, str) else 0)  # a long text loads the kernels
    if caption is not None and not isinstance(caption, str):
        raise ArgumentError(f"caption must be a string or None, got {caption!r:.200}")
    if after is not None and not isinstance(after, Page):
        raise ArgumentError(f"after must be the page before, or None, got {type(after).__name__}")
    if isinstance(text, bytes) or not isinstance(text, Iterable):
        raise ArgumentError(f"iter_pages takes a string, or strings in order, got {type(text).__name__}")
    choice = reading_cell(model)
    setting = _Setting(
        choice=choice,
        profile=page_profile(model, route),
        scale=_scale(choice, tier, scale),
        pitch_px=pitch_px,
        layout=layout,
        decor=Decor(caption=caption, line_numbers=line_numbers),
        engine=engine,
        after=after,
    )
    chunks = (text,) if isinstance(text, str) else _strings(text)
    if fonts is None:
        return setting.pages_in_best_font(chunks, choice.font)
    return setting.pages(chunks, font_chain(load_fonts(fonts)))


def _scale(choice: CellChoice, tier: str, scale: int | None) -> int:
    if tier != "auto" and tier not in TIERS:
        raise ArgumentError(f"no tier {tier!r}; there is auto, {', '.join(TIERS)}")
    own = choice.scale if tier == "auto" else TIERS[tier]
    if scale is not None and tier != "auto":
        raise ArgumentError(f"tier {tier!r} is scale {own}, and scale {scale!r} is given as well: give one of the two")
    return own if scale is None else scale


def _measured_pitch_px(choice: CellChoice, font: BitmapFont) -> tuple[int, int] | None:
    """Return the pitch that the evidence for the model names, where it is about this font or the first of a chain."""
    plain = font.fonts[0] if isinstance(font, FontChain) else font
    return (choice.pitch_y_px, choice.pitch_x_px) if plain.name == choice.font else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """How pages are set, whatever the text and the font."""

    choice: CellChoice
    profile: PageProfile
    scale: int
    pitch_px: tuple[int, int] | None
    layout: str
    decor: Decor
    engine: Engine
    after: Page | None

    def pages(self, chunks: Iterable[str], font: BitmapFont) -> Iterator[Page]:
        """Yield the pages of a text in one font, whose wide glyphs stay whole on wider columns."""
        geometry = self._geometry(font)
        if font.spans.max() > 1:
            font = font_chain([font], cell_width_px=geometry.pitch_x_px)
        for plan in self._plans(chunks, font):
            yield self._page(plan, font, geometry)

    def pages_in_best_font(self, chunks: Iterable[str], default: str) -> Iterator[Page]:
        """Yield the pages of a text in the font that suits its letters, or in that of the page that they continue.

        Only the text of the first page is asked, and only as far as it is sealed when the page is: text that is
        appended later changes no full page.
        """
        font, tails = load_font(default), load_font(TAILS)
        rows, columns = self._geometry(font).grid
        if default == PLAIN and self.after is not None:
            font = tails if self.after.font.name == TAILS else font
        elif default == PLAIN and (self.pitch_px is None or self.pitch_px[0] >= tails.cell_height_px):
            head, chunks = _head(chunks, rows * columns)
            if any(letter in head for letter in TAILED):
                first = next(self._plans((head,), tails))
                font = load_font(font_for_text(head[: first.stop]))
        yield from self.pages(chunks, font)

    def _plans(self, chunks: Iterable[str], font: BitmapFont) -> Iterator[PagePlan]:
        before = self.after.plan if self.after else None
        return iter_plans(
            chunks, font, self._geometry(font), self.layout, decor=self.decor, after=before, engine=self.engine
        )

    def _geometry(self, font: BitmapFont) -> PageGeometry:
        pitch_px = _measured_pitch_px(self.choice, font) if self.pitch_px is None else self.pitch_px
        return page_geometry(self.profile, font, scale=self.scale, pitch_px=pitch_px)

    def _page(self, plan: PagePlan, font: BitmapFont, geometry: PageGeometry) -> Page:
        page = Page(plan=plan, font=font, geometry=geometry, engine=self.engine, png_mode=self.profile.png_mode)
        height_px = self.profile.cropped_height_px(page.cropped().geometry.height_px)
        return replace(page, geometry=replace(geometry, height_px=height_px))


def _strings(chunks: Iterable[str]) -> Iterator[str]:
    for chunk in chunks:
        if not isinstance(chunk, str):
            raise ArgumentError(f"iter_pages takes strings in order, and one of them is {type(chunk).__name__}")
        yield chunk


def _head(chunks: Iterable[str], count: int) -> tuple[str, Iterator[str]]:
    """Return the first ``count`` characters, and all chunks again."""
    source, taken, length = iter(chunks), list[str](), 0
    for chunk in source:
        taken.append(chunk)
        length += len(chunk)
        if length >= count:
            break
    return "".join(taken)[:count], itertools.chain(taken, source)
