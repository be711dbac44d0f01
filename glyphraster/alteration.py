"""What happened to a page that does not read: inverted, resized, cropped, recompressed, or painted over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glyphraster._lanes import Pixels
from glyphraster.font import BitmapFont
from glyphraster.geometry import PageGeometry
from glyphraster.recognise import likely_geometries
from glyphraster.rows import Bands, plain_rows
from glyphraster.scan import scan_pixels

_MOVED_ROWS_PX = 200
"""Rows of a page that are searched for a grid that starts elsewhere: some twenty lines of text."""

_SAME_RATIO = 0.01
"""Two sides that were resized alike differ by rounding only."""


def altered_page(pixels: Pixels, bands: Bands, font: BitmapFont, geometry: PageGeometry) -> str:
    """Say what happened to a page whose record tells how it was drawn.

    Parameters
    ----------
    pixels
        uint8 (height_px, width_px).
    bands, font, geometry
        How it was drawn.
    """
    drawn = (geometry.height_px, geometry.width_px)
    if pixels.shape != drawn:
        return _other_size(pixels, drawn, font)
    if said := _grey(pixels):
        return f"something recompressed it, such as to JPEG: {said}"
    glyphs, unknown = scan_pixels(255 - pixels, bands, font, geometry)
    if not len(unknown):
        return "something inverted it: its text is white on black"
    glyphs, unknown = scan_pixels(pixels, bands, font, geometry)
    if len(unknown):
        row, column = unknown[0].tolist()
        return (
            f"something altered it: {len(unknown)} of its {glyphs.size} cells match no glyph of {font.name!r}, the "
            f"first at row {row}, column {column}"
        )
    return "something altered it: pixels between its glyphs are not blank"


def altered_pixels(pixels: Pixels, fonts: Sequence[BitmapFont]) -> str:
    """Say what happened to bare pixels that no font and geometry draw."""
    if (pixels == pixels[0, 0]).all():
        return "it is blank: all its pixels are alike"
    if said := _grey(pixels):
        sharp = np.where(pixels < 128, 0, 255).astype(np.uint8)
        happened = "recompressed it, such as to JPEG" if _shows_glyphs(sharp, fonts) else "resized or recompressed it"
        return f"something {happened}: {said}"
    if _shows_glyphs(255 - pixels, fonts):
        return "something inverted it: its text is white on black"
    height_px, width_px = pixels.shape
    if _shows_glyphs(pixels, fonts):
        return (
            f"its glyphs are whole, but its {height_px}x{width_px} px are no profile's page: something cropped or "
            "padded it, or it has a size of its own, then give geometry="
        )
    if (place := _moved(pixels, fonts)) is not None:
        return f"something cropped or padded it: its grid is off by {place[0]}x{place[1]} px"
    return (
        f"its {height_px}x{width_px} px show no glyphs of {', '.join(font.name for font in fonts)} at any whole scale: "
        "something resized or cropped it, or it has a font or pitch of its own, then give fonts= and geometry="
    )


def _other_size(pixels: Pixels, drawn: tuple[int, int], font: BitmapFont) -> str:
    ratios = [side / whole for side, whole in zip(pixels.shape, drawn, strict=True)]
    sizes = f"it is {pixels.shape[0]}x{pixels.shape[1]} px and was drawn as {drawn[0]}x{drawn[1]} px"
    if abs(ratios[0] - ratios[1]) < _SAME_RATIO and _moved(pixels, [font]) is None:
        return f"something resized it to {ratios[0]:.0%}: {sizes}"
    happened = "cropped" if max(ratios) <= 1 else "padded" if min(ratios) >= 1 else "resized"
    return f"something {happened} it: {sizes}"


def _grey(pixels: Pixels) -> str | None:
    grey = int(((pixels != 0) & (pixels != 255)).sum())
    return f"{grey:,} of its {pixels.size:,} pixels are grey, and pages are black and white" if grey else None


def _moved(pixels: Pixels, fonts: Sequence[BitmapFont]) -> tuple[int, int] | None:
    """Return rows and columns of pixels before the grid, when glyphs stand on one that starts further in."""
    for font in fonts:
        for down, right in np.ndindex(font.line_height_px, font.cell_width_px):
            if _shows_glyphs(pixels[down:_MOVED_ROWS_PX, right:], [font]):
                return down, right
    return None


def _shows_glyphs(pixels: Pixels, fonts: Sequence[BitmapFont]) -> bool:
    """Say whether every cell of some grid shows a glyph of one of the fonts, and some of them ink."""
    if not (pixels == 0).any() or _grey(pixels):
        return False
    return any(
        not len(scan_pixels(pixels, plain_rows(geometry.grid[0], font), font, geometry)[1])
        for font in fonts
        for geometry in likely_geometries(pixels, font)
    )
