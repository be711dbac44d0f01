"""Text to dense pages of pixel glyphs, and back to the exact text."""

from glyphraster.errors import GlyphrasterError
from glyphraster.font import BitmapFont, load_font
from glyphraster.geometry import PageGeometry
from glyphraster.importer import import_font
from glyphraster.layout import PagePlan, plan_pages
from glyphraster.page import Page
from glyphraster.profiles import PageProfile, page_profile, reading_cell
from glyphraster.raster import TIERS, Tier, draw, iter_pages, render
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
]
__version__ = "0.1.0"
