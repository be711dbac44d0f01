"""Scale and pitch can be chosen: the pages stay as large as the provider takes them, and read back."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glyphraster as gr
from glyphraster.errors import ArgumentError
from glyphraster.font import shipped_fonts
from glyphraster.layout import LAYOUTS
from glyphraster.png import decode_png

TEXTS = st.lists(st.sampled_from(["word ", "\n", "     ", "é", "☃", "x" * 60, "\tif y:\n"]), max_size=40).map("".join)
LEADINGS, TRACKINGS = (0, 1, 2, 3, 9), (0, 1, 3)
"""Of glyph5x8 the documented 9x5 and 10x5, of glyph8x13 16x8, 22x8, 16x11 and 16x9."""
MODELS = ["claude-fable-5", "claude-haiku-4-5", "gpt-5.4", "gpt-4o", "gemini-3-pro", "minimax-m3"]


class TestCells:
    @pytest.mark.parametrize(("name", "scale"), [*itertools.product(shipped_fonts(), [1, 2, 3])])
    @settings(max_examples=15)
    @given(
        text=TEXTS, model=st.sampled_from(MODELS), layout=st.sampled_from(LAYOUTS),
        leading=st.sampled_from(LEADINGS), tracking=st.sampled_from(TRACKINGS),
    )
    def test_pages_read_back_from_their_bytes_and_stay_within_the_page(
        self, name, scale, text, model, layout, leading, tracking
    ):
        font, profile = gr.load_font(name), gr.page_profile(model)
        pitch_px = font.cell_height_px + leading, font.cell_width_px + tracking
        pages = gr.render(text, model, fonts=name, layout=layout, scale=scale, pitch_px=pitch_px)
        for page in pages:
            height_px, width_px = page.pixels.shape
            assert (height_px <= profile.page_height_px, width_px) == (True, profile.page_width_px)
            assert (page.geometry.scale, page.geometry.pitch_y_px, page.geometry.pitch_x_px) == (scale, *pitch_px)
        assert gr.read([page.png() for page in pages]) == text

    def test_a_row_of_leading_is_paper_between_two_rows(self):
        (page,) = gr.render("####\n####", "claude-fable-5", layout="lines", pitch_px=(9, 5))
        dense = gr.render("####\n####", "claude-fable-5", layout="lines")[0].pixels
        assert (page.pixels[:8] == dense[:8]).all()
        assert (page.pixels[8] == 255).all()
        assert (page.pixels[9:17] == dense[8:16]).all()

    def test_a_scale_of_two_draws_each_pixel_as_a_square(self):
        (page,), (dense,) = (gr.render("#", "claude-fable-5", scale=scale) for scale in (2, 1))
        assert (page.pixels[:16, :10] == dense.pixels[:8, :5].repeat(2, axis=0).repeat(2, axis=1)).all()

    def test_the_record_carries_them(self):
        (page,) = gr.render("x", "claude-fable-5", scale=3, pitch_px=(10, 6))
        geometry = decode_png(page.png())[1]["geometry"]
        assert (geometry["scale"], geometry["pitch_y_px"], geometry["pitch_x_px"]) == (3, 10, 6)

    @pytest.mark.parametrize("fonts", [None, *shipped_fonts()])
    def test_without_them_the_cell_is_that_of_the_tier_and_the_font(self, fonts):
        font = gr.load_font(fonts or "glyph5x8")
        for model, tier, scale in (("claude-fable-5", "auto", 1), ("gpt-4o", "auto", 2), ("gpt-4o", "dense", 1)):
            geometry = gr.render("x", model, fonts=fonts, tier=tier)[0].geometry
            assert (geometry.cell_height_px, geometry.cell_width_px) == (
                font.cell_height_px * scale, font.cell_width_px * scale
            )

    def test_pages_as_they_fill_are_those_of_the_whole(self):
        chunks = ["some text\n" * 40] * 60
        streamed = gr.iter_pages(chunks, "gpt-4o", scale=1, pitch_px=(10, 5))
        whole = gr.render("".join(chunks), "gpt-4o", scale=1, pitch_px=(10, 5))
        assert len(whole) > 1
        assert [page.png() for page in streamed] == [page.png() for page in whole]


class TestErrors:
    @pytest.mark.parametrize(("pitch_px", "said"), [
        ((7, 5), "a pitch of 7x5 px is below the cell of font 'glyph5x8', 8x5 px: raise the pitch"),
        ((8, 4), "a pitch of 8x4 px is below the cell"),
        ((0, 0), "pitch_y_px must be an integer of at least 1, got 0"),
        ((9.0, 5), "pitch_y_px must be an integer of at least 1, got 9.0"),
        ((3000, 5), r"no cell of 3000x5 px fits a page of 1904x1960 px.*lower the scale or the pitch"),
        ((), r"pitch_px must be two integers, rows first, such as \(8, 5\), got \(\)"),
        ((9, 5, 1), r"such as \(8, 5\), got \(9, 5, 1\)"), ("95", "got '95'"), (9, "got 9"),
    ])
    def test_a_pitch_that_cannot_be_drawn_is_refused(self, pitch_px, said):
        with pytest.raises(ArgumentError, match=said):
            gr.render("x", "claude-fable-5", pitch_px=pitch_px)

    @pytest.mark.parametrize(("scale", "said"), [
        (0, "scale must be an integer of at least 1, got 0"), (1.5, "scale must be an integer of at least 1, got 1.5"),
        (300, "no cell of 2400x1500 px fits a page of 1904x1960 px"),
        (200, "a grid of 1 rows by 1 columns for text has 1 cells; 22 are needed"),
    ])
    def test_a_scale_that_cannot_be_drawn_is_refused(self, scale, said):
        with pytest.raises(ArgumentError, match=said):
            gr.render("x", "claude-fable-5", scale=scale)

    def test_a_scale_beside_a_tier_is_refused(self):
        with pytest.raises(ArgumentError, match="tier 'dense' is scale 1, and scale 2 is given as well: give one"):
            gr.render("x", "claude-fable-5", tier="dense", scale=2)
