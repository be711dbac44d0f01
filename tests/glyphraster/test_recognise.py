"""Pages without a record: font, pitch, scale and layout are found, or the page is refused by what happened to it."""

import io
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from wide_font import tall_font, wide_font

import glyphraster as gr
from glyphraster.decor import Decor
from glyphraster.errors import ArgumentError, ReadError
from glyphraster.font import shipped_fonts
from glyphraster.layout import LAYOUTS, plan_pages
from glyphraster.page import Page

MODEL = "claude-fable-5"
CODE = "".join(f"    def f{n}(x):\n\treturn x * {n}  # rocket \U0001f680\n\n" for n in range(60))
PROSE = "".join(f"Sentence {n} of a text that goes on and on, é and ř; " for n in range(300))
TEXTS = st.lists(
    st.sampled_from(
        ["a", "bc", " ", "   ", "    ", "\n", "\n\n", "é", "\U0001f680", "\t", "  \n", "x" * 200, "\x00", "1"]
    ),
    min_size=1,
    max_size=80,
).map("".join)


def page_of(font, layout="flow", decor=None, *, scale=1, leading=0, tracking=0, text=CODE, height=400, width=1960):
    geometry = gr.PageGeometry(
        height_px=height * scale,
        width_px=width,
        scale=scale,
        pitch_y_px=font.line_height_px + leading,
        pitch_x_px=font.cell_width_px + tracking,
    )
    plan = plan_pages(text, font, geometry, layout, decor=decor or Decor())[0]
    page = Page(plan=plan, font=font, geometry=geometry)
    height_px = gr.page_profile(MODEL).cropped_height_px(page.cropped().geometry.height_px)
    return replace(page, geometry=replace(geometry, height_px=height_px))


def saved(pixels, kind, **options):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def read_or_refused(pixels):
    try:
        return gr.read(pixels)
    except ReadError as error:
        return "several texts" if "reads as several texts" in str(error) else str(error)


class TestBarePixels:
    @pytest.mark.parametrize(("name", "layout", "scale"), list(itertools.product(shipped_fonts(), LAYOUTS, (1, 2, 3))))
    def test_read_back_in_every_font_layout_and_scale(self, name, layout, scale):
        page = page_of(gr.load_font(name), layout, Decor(caption="src/a.py"), scale=scale, text=CODE)
        assert gr.read(page.pixels, partial=True) == CODE[: page.stop]

    @pytest.mark.parametrize(
        ("name", "pitch"),
        [
            ("glyph5x8", (8, 5)),
            ("glyph5x8", (9, 5)),
            ("glyph5x8", (10, 5)),
            ("glyph5x9", (10, 5)),
            ("glyph6x10", (11, 6)),
            ("glyph8x13", (16, 8)),
            ("glyph8x13", (22, 8)),
            ("glyph8x13", (16, 11)),
            ("glyph8x13", (16, 9)),
        ],
    )
    def test_read_back_at_every_pitch_in_use(self, name, pitch):
        font = gr.load_font(name)
        leading, tracking = pitch[0] - font.cell_height_px, pitch[1] - font.cell_width_px
        page = page_of(font, "lines", leading=leading, tracking=tracking)
        assert gr.read(page.pixels) == CODE[: page.stop]

    @given(TEXTS, st.sampled_from(LAYOUTS), st.sampled_from([None, "", "a"]), st.booleans())
    def test_read_as_their_text_or_are_refused_when_few_glyphs_fit_two_pitches(self, text, layout, caption, numbered):
        decor = Decor(caption=caption, line_numbers=numbered and layout == "lines")
        page = page_of(gr.load_font("glyph5x8"), layout, decor, text=text, height=160)
        assert read_or_refused(page.pixels) in (text[: page.stop], "several texts")

    def test_with_line_numbers_give_back_the_text_without_them(self):
        page = page_of(gr.load_font("glyph5x8"), "lines", Decor(line_numbers=True))
        assert gr.read(page.pixels) == CODE[: page.stop]

    def test_that_only_look_numbered_keep_their_numbers(self):
        text = "".join(f"{n:3} line\n" for n in range(1, 40))
        page = page_of(gr.load_font("glyph5x8"), "lines", text=text)
        assert gr.read(page.pixels) == text

    def test_of_every_page_of_a_render_read_in_the_order_given(self):
        pages = gr.render(PROSE * 20, MODEL, tier="dense")
        assert len(pages) > 1
        assert gr.read([page.pixels for page in pages]) == PROSE * 20

    def test_with_captions_are_put_in_order_and_missed(self):
        pages = [page.pixels for page in gr.render(PROSE * 40, MODEL, tier="dense", caption="x")]
        assert gr.read(reversed(pages)) == PROSE * 40
        with pytest.raises(ReadError, match="pages 2 to 2 are missing, by the captions"):
            gr.read([pages[0], *pages[2:]])
        with pytest.raises(ReadError, match="pages 1 to 1 are missing, by its caption, before page 1 of those given"):
            gr.read(pages[1:])
        with pytest.raises(ReadError, match="are both page 1 by their captions"):
            gr.read([pages[0], pages[0]])

    def test_of_a_chain_read_back_with_its_fonts(self):
        cjk = tall_font(range(0x4E00, 0x4E20))
        text = "plain\n一丁 and more\n\nplain again\n" * 9
        for layout in LAYOUTS:
            (page,) = gr.render(text, MODEL, fonts=["glyph5x8", cjk], layout=layout, caption="丂")
            assert gr.read(page.pixels, fonts=["glyph5x8", cjk]) == text

    def test_of_a_chain_that_end_where_a_wide_glyph_has_no_room_read_back(self):
        text = "a" + "一" * 3_000
        pages = gr.render(text, "gpt-4o", fonts=["glyph5x8", tall_font([0x4E00])])
        assert len(pages) > 1
        assert gr.read([page.pixels for page in pages], fonts=["glyph5x8", tall_font([0x4E00])]) == text

    def test_of_a_chain_in_newspaper_columns_read_back(self):
        cjk = tall_font(range(0x4E00, 0x4E20))
        font = gr.chain.font_chain([gr.load_font("glyph5x8"), cjk])
        page = page_of(font, "columns", Decor(caption="x"), text="short\n一\nshort\n" * 40, height=120, width=1960)
        assert page.plan.columns > 1
        assert gr.read(page.pixels, fonts=font, partial=True) == ("short\n一\nshort\n" * 40)[: page.stop]

    def test_may_be_bool_or_rgb_as_picture_libraries_give_them(self):
        page = page_of(gr.load_font("glyph5x8"))
        with Image.open(io.BytesIO(page.png("gray1"))) as picture:
            assert gr.read(np.asarray(picture)) == CODE[: page.stop]
            assert gr.read(np.asarray(picture.convert("RGB"))) == CODE[: page.stop]
            assert gr.read(np.asarray(picture.convert("RGBA"))) == CODE[: page.stop]

    @pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "LA"])
    def test_of_a_png_that_pillow_saved_anew_read_back(self, mode):
        page = page_of(gr.load_font("glyph5x8"))
        with Image.open(io.BytesIO(page.png("gray1"))) as picture:
            anew = io.BytesIO()
            picture.convert("L").convert(mode).save(anew, "PNG")
        assert gr.read(anew.getvalue()) == CODE[: page.stop]

    def test_of_another_kind_are_refused(self):
        with pytest.raises(ArgumentError, match=r"pixels of shape \(3,\) and float64 are no page"):
            gr.read(np.zeros(3))

    def test_and_pages_that_carry_their_place_do_not_mix(self):
        page = page_of(gr.load_font("glyph5x8"))
        with pytest.raises(ArgumentError, match=r"1 page\(s\) carry their place and 1 are bare pixels"):
            gr.read([page, page.pixels])

    def test_that_read_as_several_texts_are_refused(self):
        font, text = wide_font(gr.load_font("glyph5x8")), "x" * 391 + "\n漢"
        page = page_of(font, "lines", text=text)
        with pytest.raises(ReadError, match="reads as several texts, of 392 to 393 characters: give the PNG"):
            gr.read(page.pixels, fonts=font)
        assert gr.read(page.png(), fonts=font) == text

    @pytest.mark.parametrize("text", ["name\tvalue", "abcdef\tx", "a b c\td", "\t\tx\n"])
    def test_of_one_line_with_tabs_read_back(self, text):
        assert gr.read(page_of(gr.load_font("glyph5x8"), "lines", text=text).pixels) == text

    def test_of_a_chain_with_a_margin_read_back_with_their_geometry(self):
        font = gr.chain.font_chain([gr.load_font("glyph5x8"), tall_font(range(0x4E00, 0x4E20))])
        geometry = gr.PageGeometry(height_px=42, width_px=781, pitch_y_px=9, pitch_x_px=5, margin_px=5)
        plan = plan_pages("a一\n" * 20, font, geometry)[0]
        assert gr.read(gr.draw(plan, font, geometry), fonts=font, geometry=geometry) == "a一\n" * 20

    def test_of_a_chain_of_thousands_of_rows_read_back_with_their_geometry(self):
        font = gr.chain.font_chain([gr.load_font("glyph5x8"), tall_font(range(0x4E00, 0x4E20))])
        geometry = gr.PageGeometry(height_px=18_000, width_px=200, pitch_y_px=8, pitch_x_px=5)
        text = "a\n一\n\n" * 500
        plan = plan_pages(text, font, geometry, "lines")[0]
        assert len(plan.bands) == 1_500
        assert gr.read(gr.draw(plan, font, geometry), fonts=font, geometry=geometry) == text

    def test_of_wide_glyphs_on_wider_columns_read_back(self):
        fonts = ["glyph5x8", tall_font(range(0x4E00, 0x4E20))]
        pages = gr.render("a一\n" * 50, MODEL, fonts=fonts, pitch_px=(8, 6))
        assert gr.read([page.pixels for page in pages], fonts=fonts) == "a一\n" * 50

    @pytest.mark.parametrize(
        "text", ["x" * 390 + "\n" + "y" * 390, ("x" * 392 + "\n") * 5, "x" * 391 + "\n" + "y" * 392]
    )
    def test_of_full_lines_are_told_from_flowing_text(self, text):
        assert gr.read(page_of(gr.load_font("glyph5x8"), "lines", text=text).pixels) == text
        flowing = text.replace("\n", " ")
        assert gr.read(page_of(gr.load_font("glyph5x8"), "flow", text=flowing).pixels) == flowing


class TestAnEnlargedPage:
    @pytest.mark.parametrize("factor", [2, 3, 5])
    def test_reads_back_with_its_record_and_without(self, factor):
        page = gr.render(CODE, MODEL)[0]
        large = page.pixels.repeat(factor, axis=0).repeat(factor, axis=1)
        assert gr.read(gr.png.encode_png(large, "gray1", page.record)) == gr.read(large) == CODE


class TestAnAlteredPage:
    """What a gateway, a chat window or a screenshot does to a page, on the PNG and on bare pixels."""

    PAGE = page_of(gr.load_font("glyph5x8"), text=PROSE)

    def refused(self, pixels):
        errors = []
        for page in (pixels, gr.png.encode_png(pixels, "gray8", self.PAGE.record)):
            with pytest.raises(ReadError) as caught:
                gr.read(page)
            errors.append(str(caught.value))
        return errors

    def test_is_named_inverted(self):
        for said in self.refused(255 - self.PAGE.pixels):
            assert "something inverted it: its text is white on black" in said

    def test_is_named_recompressed_as_jpeg(self):
        decoded = np.asarray(Image.open(io.BytesIO(saved(self.PAGE.pixels, "JPEG", quality=85))))
        for said in self.refused(decoded):
            assert "something recompressed it, such as to JPEG: " in said

    @pytest.mark.parametrize("ratio", [0.5, 0.95, 1.3])
    def test_is_named_resized(self, ratio):
        picture = Image.fromarray(self.PAGE.pixels)
        size = round(picture.width * ratio), round(picture.height * ratio)
        bare, placed = self.refused(np.asarray(picture.resize(size, Image.Resampling.LANCZOS)))
        assert "something resized or recompressed it" in bare
        assert f"something resized it to {ratio:.0%}" in placed

    def test_is_named_resized_when_no_grey_came_of_it(self):
        picture = Image.fromarray(self.PAGE.pixels)
        size = round(picture.width * 0.9), round(picture.height * 0.9)
        bare, placed = self.refused(np.asarray(picture.resize(size, Image.Resampling.NEAREST)))
        assert "at any whole scale: something resized or cropped it" in bare
        assert "something resized it to 90%" in placed

    @pytest.mark.parametrize("cut", [np.s_[:, :-100], np.s_[:, 35:], np.s_[3:, 2:], np.s_[:80], np.s_[80:]])
    def test_is_named_cropped(self, cut):
        for said in self.refused(self.PAGE.pixels[cut]):
            assert "something cropped" in said

    def test_is_named_cropped_when_a_row_is_cut_through(self):
        bare, placed = self.refused(self.PAGE.pixels[:-4])
        assert "cropped or padded it" in bare
        assert "something cropped it" in placed

    def test_is_named_blank(self):
        with pytest.raises(ReadError, match="page 1 of those given does not read: it is blank"):
            gr.read(np.full((100, 1960), 255, np.uint8))

    @pytest.mark.parametrize("kind", ["JPEG", "GIF", "WEBP"])
    def test_as_another_kind_of_file_is_named_by_it(self, kind):
        with pytest.raises(gr.errors.PngError, match=f"is a {kind} file, no PNG"):
            gr.read(saved(self.PAGE.pixels, kind))
