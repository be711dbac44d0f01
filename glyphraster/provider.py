"""PageProfile: what one model's provider does with an image, and the page that passes it untouched."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from glyphraster import billing
from glyphraster.billing import Rule
from glyphraster.errors import ArgumentError, ProfileError

Match = Literal["known", "assumed", "default"]
_CROPS, _PNG_MODES = ("rows", "none"), ("gray1", "gray8")
LIMITS = (
    "max_images", "max_image_bytes", "max_request_bytes", "max_side_px", "max_patches", "many_images_over",
    "many_images_side_px",
)
"""Fields of a profile that hold an integer, or None where no limit is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageProfile:
    """Hold what one model's provider does with an image, and the page that passes it untouched.

    Attributes
    ----------
    key, provider
        The row, and the maker whose rules it follows.
    route
        The way to the model when it is not the maker's own, else None.
    match
        ``"known"``: a source names this version; ``"assumed"``: another version of a known family; ``"default"``: none.
    vision
        Whether a row says that the model sees images; a catalogue's flag for the exact id outranks False.
    billing, resizing
        The formula and the resize rule, with their numbers.
    page_height_px, page_width_px
        The page that the provider leaves alone, chosen for characters per token.
    crop
        ``"rows"`` when a page may end below its last row, see :meth:`cropped_height_px`; ``"none"`` when a part page
        would cost as much, or when nobody knows what it costs.
    png_mode
        ``"gray1"`` where production use of 1-bit PNG is on record (snapcompact 18.2.11 with Claude, GPT and Gemini),
        else ``"gray8"``.
    max_images, max_image_bytes, max_request_bytes
        Images in a request; bytes of one image as sent (base64) and of a request. None where no limit is published.
    max_side_px, max_patches
        Longest side of a page, and patches of one image above which it is refused.
    many_images_over, many_images_side_px
        With more images than the first in a request, none may have a side longer than the second.
    text_chars_per_token
        Characters of English text that one token holds, to compare with.
    guard_json
        Fields that make the provider refuse an image rather than shrink it, as JSON; see ``guard``.
    source, as_of, confidence
        Where the numbers come from, the date of that copy, and how sure they are.

    Raises
    ------
    ProfileError
        When a value is outside what is allowed.
    """

    key: str
    provider: str
    route: str | None = None
    match: Match
    vision: bool
    billing: Rule
    resizing: Rule
    page_height_px: int
    page_width_px: int
    crop: Literal["rows", "none"] = "rows"
    png_mode: Literal["gray1", "gray8"] = "gray8"
    max_images: int | None = None
    max_image_bytes: int | None = None
    max_request_bytes: int | None = None
    max_side_px: int | None = None
    max_patches: int | None = None
    many_images_over: int | None = None
    many_images_side_px: int | None = None
    text_chars_per_token: float
    guard_json: str | None = None
    source: str
    as_of: str
    confidence: str

    def __post_init__(self) -> None:
        for name in ("page_height_px", "page_width_px", *LIMITS):
            value = getattr(self, name)
            if value is not None and not (type(value) is int and value > 0):
                raise ProfileError(f"profile {self.key}: {name} must be a positive integer, got {value!r}")
        for name, value, allowed in (("crop", self.crop, _CROPS), ("png_mode", self.png_mode, _PNG_MODES)):
            if value not in allowed:
                raise ProfileError(f"profile {self.key}: {name} must be one of {', '.join(allowed)}, got {value!r}")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", self.as_of):
            raise ProfileError(f"profile {self.key}: as_of must be a date such as '2026-11-30', got {self.as_of!r}")

    @property
    def guard(self) -> dict[str, Any] | None:
        """Fields to put on an image block so that an oversized image is refused, not shrunk, or None."""
        fields: dict[str, Any] | None = json.loads(self.guard_json) if self.guard_json else None
        return fields

    def resized(self, *, height_px: int, width_px: int) -> tuple[int, int]:
        """Return the size that the model gets of an image of this size.

        Parameters
        ----------
        height_px, width_px
            The image as sent.

        Returns
        -------
        tuple of int
            (height, width) in px; the same size when the provider leaves the image alone.

        Raises
        ------
        ArgumentError
            When a side is no positive integer.
        """
        _check_size(height_px, width_px)
        return billing.resize(self.resizing, height_px, width_px)

    def cropped_height_px(self, rows_px: int) -> int:
        """Return the height of a page of which only the upper part is used.

        Parameters
        ----------
        rows_px
            Height of the rows used, margins included.

        Returns
        -------
        int
            The least height that holds them and that the provider leaves alone: whole patches where it bills by patch,
            since it bills (and pads) a part one as a whole. At most ``page_height_px``, which it is where ``crop`` is
            ``"none"``.

        Raises
        ------
        ArgumentError
            When the rows are no positive integer of px, or higher than the page.
        """
        if not isinstance(rows_px, int) or not 1 <= rows_px <= self.page_height_px:
            raise ArgumentError(f"rows_px must be an integer from 1 to {self.page_height_px}, got {rows_px!r}")
        step_px = billing.patch_px(self.billing) if self.crop == "rows" else self.page_height_px
        heights = range(-(-rows_px // step_px) * step_px, self.page_height_px, step_px)
        width_px = self.page_width_px
        return next((h for h in heights if self.resized(height_px=h, width_px=width_px) == (h, width_px)),
                    self.page_height_px)

    def tokens(self, *, height_px: int, width_px: int) -> int:
        """Return the tokens billed for one image of this size, constants included.

        Parameters
        ----------
        height_px, width_px
            The image as sent; the documented resize happens first.

        Returns
        -------
        int
            Input tokens.

        Raises
        ------
        ArgumentError
            When a side is no positive integer.
        """
        return billing.bill(self.billing, (height_px, width_px), self.resized(height_px=height_px, width_px=width_px))


def _check_size(height_px: int, width_px: int) -> None:
    for name, side in (("height_px", height_px), ("width_px", width_px)):
        if not isinstance(side, int) or side < 1:
            raise ArgumentError(f"{name} must be a positive integer, got {side!r}")
