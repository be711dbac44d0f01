"""draw, render, iter_pages: from text and a model's name to pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from glyphraster.clean import cleaned
from glyphraster.decor import Decor
from glyphraster.engine import Engine, chosen_engine, draw_glyphs
from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont, load_font
from glyphraster.geometry import PageGeometry, page_geometry
from glyphraster.layout import PagePlan, iter_plans
from glyphraster.page import Page
from glyphraster.profiles import PageProfile, page_profile, reading_cell

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
    if any(used > there for used, there in zip(plan.glyphs.shape, geometry.grid, strict=True)):
        raise ArgumentError(
            f"a plan of {plan.glyphs.shape} cells does not fit a page of {geometry.grid}: draw it with its own geometry"
        )
    return draw_glyphs(plan.glyphs, font, geometry, engine)


def render(
    text: str,
    model: str,
    *,
    route: str | None = None,
    fonts: str | Sequence[str] | None = None,
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
        Name or path of a font; by default the one that the evidence for the model names.
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
        engine=chosen_engine(engine, len(text)),
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
    fonts: str | Sequence[str] | None = None,
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
    profile = page_profile(model, route)
    font, scale = _font(model, fonts), _scale(model, tier, scale)
    pitch_px = _measured_pitch_px(model, font) if pitch_px is None else pitch_px
    geometry = page_geometry(profile, font, scale=scale, pitch_px=pitch_px)
    engine, chunks = chosen_engine(engine), (text,) if isinstance(text, str) else text
    decor = Decor(caption=caption, line_numbers=line_numbers)
    plans = iter_plans(chunks, font, geometry, layout, decor=decor, after=after.plan if after else None)
    return (_page(plan, font, geometry, profile, engine) for plan in plans)


def _page(plan: PagePlan, font: BitmapFont, geometry: PageGeometry, profile: PageProfile, engine: Engine) -> Page:
    height_px = profile.cropped_height_px(geometry.cropped(plan.glyphs.shape[0]).height_px)
    return Page(
        plan=plan, font=font, geometry=replace(geometry, height_px=height_px), engine=engine, png_mode=profile.png_mode
    )


def _font(model: str, fonts: str | Sequence[str] | None) -> BitmapFont:
    names = [fonts] if isinstance(fonts, str) else list(fonts or ())
    if len(names) > 1:
        raise ArgumentError(f"{len(names)} fonts given; one at a time is drawn")
    return load_font(names[0] if names else reading_cell(model).font)


def _scale(model: str, tier: str, scale: int | None) -> int:
    if tier != "auto" and tier not in TIERS:
        raise ArgumentError(f"no tier {tier!r}; there is auto, {', '.join(TIERS)}")
    own = reading_cell(model).scale if tier == "auto" else TIERS[tier]
    if scale is not None and tier != "auto":
        raise ArgumentError(f"tier {tier!r} is scale {own}, and scale {scale!r} is given as well: give one of the two")
    return own if scale is None else scale


def _measured_pitch_px(model: str, font: BitmapFont) -> tuple[int, int] | None:
    """Return the pitch that the evidence for the model names, where it is about this font."""
    choice = reading_cell(model)
    return (choice.pitch_y_px, choice.pitch_x_px) if font.name == choice.font else None
