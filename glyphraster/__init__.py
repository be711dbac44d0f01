"""Text to dense pages of pixel glyphs, and back to the exact text."""

import importlib
from typing import TYPE_CHECKING, Any

from glyphraster.errors import GlyphrasterError
from glyphraster.font import BitmapFont, load_font
from glyphraster.geometry import PageGeometry
from glyphraster.layout import PagePlan, plan_pages
from glyphraster.page import Page
from glyphraster.profiles import PageProfile, page_profile, reading_cell
from glyphraster.raster import TIERS, Tier, draw, iter_pages, render

if TYPE_CHECKING:
    from glyphraster.files import render_files
    from glyphraster.importer import import_font
    from glyphraster.reader import read

__all__ = [
    "TIERS",
    "BitmapFont",
    "GlyphrasterError",
    "Page",
    "PageGeometry",
    "PagePlan",
    "PageProfile",
    "Tier",
    "draw",
    "import_font",
    "iter_pages",
    "load_font",
    "page_profile",
    "plan_pages",
    "read",
    "reading_cell",
    "render",
    "render_files",
]
__version__ = "0.1.0"

_LATE = {
    "import_font": "glyphraster.importer",
    "read": "glyphraster.reader",
    "render_files": "glyphraster.files",
}
"""What a process that only draws does without: 13 ms of the 67 that all but numpy takes to import."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import a name of :data:`_LATE` when it is first asked for."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    """Return all names, those to come included."""
    return sorted({*globals(), *__all__})
