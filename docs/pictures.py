"""Make the pictures of the README from the product itself: ``make pictures``."""

import io
from pathlib import Path

from PIL import Image

import glyphraster as gr
from glyphraster.font import shipped_fonts
from glyphraster.specimen import specimen

IMAGES = Path(__file__).parent / "images"
MAGNIFIED, WIDTH_PX = 3, 330


SOURCE = (Path(gr.__file__).parent / "layout.py").read_text(encoding="utf-8")


def magnified_pages() -> None:
    """Draw this package's own source and show a corner of the page, magnified: in each layout, and in each font."""
    corner("page", SOURCE)
    code = SOURCE[SOURCE.index("def iter_plans") :]
    corner("lines", code, layout="lines", line_numbers=True, caption="layout.py")
    corner("columns", SOURCE * 8, layout="columns", caption="layout.py", middle=True)
    for name in shipped_fonts():
        corner(f"{name}-page", code, layout="lines", line_numbers=True, caption=name, fonts=name)


def corner(name: str, text: str, *, middle: bool = False, **options: str | bool) -> None:
    """Save the upper left corner of a first page, or the middle of its top."""
    pixels = gr.render(text, "claude-fable-5", **options)[0].pixels[:128]
    left = (pixels.shape[1] - WIDTH_PX) // 2 if middle else 0
    shown = Image.fromarray(pixels[:, left : left + WIDTH_PX])
    enlarged = shown.resize((shown.width * MAGNIFIED, shown.height * MAGNIFIED), Image.Resampling.NEAREST)
    enlarged.convert("1").save(IMAGES / f"{name}.png", optimize=True)


def font_specimens() -> None:
    """Draw every glyph of every font."""
    for name in shipped_fonts():
        with Image.open(io.BytesIO(specimen(gr.load_font(name), scale=3))) as picture:
            picture.save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    magnified_pages()
    font_specimens()
