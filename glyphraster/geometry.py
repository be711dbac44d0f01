"""Page geometry, and the one that a profile and a cell ask for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from glyphraster.errors import ArgumentError
from glyphraster.font import BitmapFont
from glyphraster.provider import PageProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class PageGeometry:
    """Say where the cells of a page lie, in pixels, rows before columns.

    Attributes
    ----------
    height_px, width_px
        Size of the page.
    margin_px
        Paper on every side.
    pitch_y_px, pitch_x_px
        Distance from one cell to the next in glyph pixels, before ``scale``; at least the font's cell.
    scale
        Side of the square that draws one glyph pixel.

    Raises
    ------
    ArgumentError
        When a value is not a positive integer (``margin_px`` may be 0) or not one cell fits.
    """

    height_px: int
    width_px: int
    margin_px: int = 0
    pitch_y_px: int
    pitch_x_px: int
    scale: int = 1

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, least = getattr(self, field.name), 0 if field.name == "margin_px" else 1
            if not isinstance(value, int) or value < least:
                raise ArgumentError(f"{field.name} must be an integer of at least {least}, got {value!r}")
        if min(self.grid) < 1:
            raise ArgumentError(
                f"no cell of {self.cell_height_px}x{self.cell_width_px} px fits a page of {self.height_px}x"
                f"{self.width_px} px with a margin of {self.margin_px} px: enlarge the page or lower the scale or the "
                "pitch"
            )

    @property
    def cell_height_px(self) -> int:
        """Height of one cell on the page."""
        return self.pitch_y_px * self.scale

    @property
    def cell_width_px(self) -> int:
        """Width of one cell on the page."""
        return self.pitch_x_px * self.scale

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        return (
            (self.height_px - 2 * self.margin_px) // self.cell_height_px,
            (self.width_px - 2 * self.margin_px) // self.cell_width_px,
        )

    def without_margin(self) -> PageGeometry:
        """Return the page that is left between the margins."""
        height_px, width_px = self.height_px - 2 * self.margin_px, self.width_px - 2 * self.margin_px
        return dataclasses.replace(self, height_px=height_px, width_px=width_px, margin_px=0)


def page_geometry(
    profile: PageProfile, font: BitmapFont, *, scale: int = 1, pitch_px: tuple[int, int] | None = None
) -> PageGeometry:
    """Return the page of ``profile`` filled with cells of ``font``.

    Parameters
    ----------
    scale
        Side in px of the square that draws one glyph pixel.
    pitch_px
        Distance from one cell to the next in glyph pixels, before ``scale``, rows first; None is the font's cell.

    Raises
    ------
    ArgumentError
        When a number is no positive integer, the pitch is no pair, or not one cell fits.
    """
    cell_px = font.line_height_px, font.cell_width_px
    if pitch_px is not None and (not isinstance(pitch_px, tuple | list) or len(pitch_px) != 2):
        raise ArgumentError(f"pitch_px must be two integers, rows first, such as {cell_px}, got {pitch_px!r}")
    pitch_y_px, pitch_x_px = pitch_px or cell_px
    return PageGeometry(
        height_px=profile.page_height_px,
        width_px=profile.page_width_px,
        pitch_y_px=pitch_y_px,
        pitch_x_px=pitch_x_px,
        scale=scale,
    )
