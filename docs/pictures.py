"""Make the pictures of the README from the product itself: ``make pictures``."""

import io
from pathlib import Path

from PIL import Image

import glyphraster as gr
from glyphraster.font import shipped_fonts
from glyphraster.specimen import specimen

IMAGES = Path(__file__).parent / "images"
MAGNIFIED = 3


def magnified_pages() -> None:
    """Draw this package's own source at 5x8 px in two layouts and show a corner of each page, magnified."""
    source = (Path(gr.__file__).parent / "layout.py").read_text(encoding="utf-8")
    for layout, name in (("flow", "page"), ("lines", "lines")):
        page = gr.render(source, "claude-fable-5", layout=layout)[0]
        corner = Image.fromarray(page.pixels[:128, :330])
        enlarged = corner.resize((corner.width * MAGNIFIED, corner.height * MAGNIFIED), Image.Resampling.NEAREST)
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
