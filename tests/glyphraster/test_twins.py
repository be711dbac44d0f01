"""numba and numpy do the same: every kernel on random input, and every kind of page from text to PNG rows."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wide_font import font_with_shared_halves, tall_font, wide_font

import glyphraster as gr
from glyphraster import _kernels, _lanes
from glyphraster.chain import font_chain
from glyphraster.decor import Decor
from glyphraster.font import shipped_fonts
from glyphraster.layout import LAYOUTS, plan_pages
from glyphraster.page import Page
from glyphraster.png import decode_rows

GLYPHS = 40
PLAIN = gr.load_font("glyph5x8")
TALL = tall_font([0x4E00, 0x4E01, 0x4E02, 0x6F22])
FONTS = {
    **{name: gr.load_font(name) for name in shipped_fonts()},
    "wide": wide_font(PLAIN),
    "shared halves": font_with_shared_halves(PLAIN),
    "chain": font_chain([PLAIN, TALL]),
    "chain on wider columns": font_chain([PLAIN, TALL], cell_width_px=7),
    "chain below the line": font_chain([PLAIN, tall_font([0x4E00, 0x6F22], name="low", height=11, baseline=6)]),
}
SPACING = ["\n", "\t", "\r\n", " ", *(" " * run for run in (4, 9, 10, 31, 32, 33, 40, 99, 100))]
WORDS = [*SPACING, "word ", "a", "é", "x" * 37, "\u4e00", "\u4e01\u6f22", "\u2603", "\U0001d4b3", "\ud8ab", "\x00"]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=150).map("".join)


def random_glyphs(seed, rows, columns, height_px, width_px):
    random = np.random.default_rng(seed)
    bitmaps = random.integers(0, 256, (GLYPHS, height_px, -(-width_px // 8)), np.uint8)
    return random.integers(0, GLYPHS, (rows, columns)).astype(np.uint16), bitmaps


def page_and_around(height_px, row_bytes):
    """A white page with its slack rows, and the memory before and behind it, which no kernel may write."""
    memory = np.full((3, (height_px + _lanes.slack_rows(row_bytes)) * row_bytes), 0xA5, np.uint8)
    memory[1] = 255
    return memory[1].reshape(-1, row_bytes), memory[::2]


def grids():
    """Seed, rows, columns, height of a glyph, and blank rows below it."""
    return st.tuples(st.integers(0, 99), st.integers(1, 4), st.integers(1, 150), st.integers(1, 20), st.integers(0, 3))


class TestKernels:
    @pytest.mark.parametrize("width_px", range(1, 25))
    @settings(max_examples=25)
    @given(grids())
    def test_pack_glyphs_of_each_width_writes_the_rows_of_its_twin(self, width_px, grid):
        seed, rows, columns, height_px, leading_px = grid
        glyphs, bitmaps = random_glyphs(seed, rows, columns, height_px, width_px)
        pitch_px, row_bytes = height_px + leading_px, 1 + -(-columns * width_px // 8)
        drawn = []
        for kernels in (_kernels, _lanes):
            page, around = page_and_around(rows * pitch_px, row_bytes)
            table = kernels.pack_table(bitmaps, width_px, width_px, 1)
            kernels.pack_glyphs(glyphs, table, width_px, height_px, pitch_px, page)
            assert (around == 0xA5).all()
            drawn.append(page[: rows * pitch_px, 1:])
        assert np.array_equal(*drawn)

    @pytest.mark.parametrize("scale", [1, 2, 3])
    @settings(max_examples=25)
    @given(grids(), st.integers(1, 24), st.integers(0, 5), st.integers(0, 99))
    def test_draw_glyphs_at_each_scale_draws_the_pixels_of_its_twin(self, scale, grid, width_px, left_px, right_px):
        seed, rows, columns, height_px, leading_px = grid
        glyphs, bitmaps = random_glyphs(seed, rows, columns, height_px, width_px)
        pitch_px, row_px = (height_px + leading_px) * scale, columns * width_px * scale + left_px + right_px
        drawn = []
        for kernels in (_kernels, _lanes):
            page, around = page_and_around(rows * pitch_px, row_px)
            table = kernels.draw_table(bitmaps, width_px, width_px, scale)
            kernels.draw_glyphs(glyphs, table, width_px * scale, pitch_px, left_px, page)
            assert (around == 0xA5).all()
            drawn.append(page[: rows * pitch_px])
        assert np.array_equal(*drawn)


@st.composite
def settings_of_a_page(draw, font):
    scale, leading_px, spacing_px = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.integers(0, 3))
    pitch_y_px, pitch_x_px = font.line_height_px + leading_px, font.cell_width_px + spacing_px
    layout = draw(st.sampled_from(["flow", *LAYOUTS]))
    margin_px, spare_px = draw(st.sampled_from([0, 0, *range(1, 18)])), draw(st.integers(0, 9))
    geometry = gr.PageGeometry(
        height_px=draw(st.integers(5, 7)) * font.cell_height_px * scale + spare_px + 2 * margin_px,
        width_px=draw(st.integers(14 if layout == "flow" else 40, 140)) * pitch_x_px * scale + spare_px + 2 * margin_px,
        pitch_y_px=pitch_y_px, pitch_x_px=pitch_x_px, scale=scale, margin_px=margin_px,
    )
    decor = Decor(caption=draw(st.sampled_from([None, "a.py"])), line_numbers=layout == "lines" and draw(st.booleans()))
    return geometry, layout, decor


def drawn(text, font, setting, engine):
    """All that an engine makes of a text: plans as values, pixels, and the rows in both kinds of PNG."""
    geometry, layout, decor = setting
    made = []
    for plan in plan_pages(text, font, geometry, layout, decor=decor, engine=engine):
        page = Page(plan=plan, font=font, geometry=geometry, engine=engine)
        values = [getattr(plan, field.name) for field in dataclasses.fields(plan)]
        rows = [decode_rows(page.png(mode))[0] for mode in ("gray1", "gray8")]
        made += [*values, page.pixels, *rows]
    return made


class TestPages:
    @pytest.mark.parametrize("name", FONTS)
    @settings(max_examples=40)
    @given(st.data(), TEXTS)
    def test_plans_pixels_and_rows_do_not_depend_on_the_engine(self, name, data, text):
        setting = data.draw(settings_of_a_page(FONTS[name]))
        ours, twins = (drawn(text, FONTS[name], setting, engine) for engine in ("numba", "numpy"))
        assert len(ours) == len(twins)
        for one, other in zip(ours, twins, strict=True):
            assert np.array_equal(one, other)
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)

    def test_a_page_of_one_column_may_be_narrower_than_a_word(self):
        geometry = gr.PageGeometry(height_px=8 * 30, width_px=5, pitch_y_px=8, pitch_x_px=5)
        ours, twins = (drawn("narrow\n", PLAIN, (geometry, "flow", Decor()), each) for each in ("numba", "numpy"))
        assert all(np.array_equal(one, other) for one, other in zip(ours, twins, strict=True))

    @settings(max_examples=20)
    @given(st.data(), TEXTS)
    def test_fonts_of_so_many_cells_that_32_bits_count_them_do_not_either(self, data, text):
        setting = data.draw(settings_of_a_page(MANY))
        ours, twins = (drawn(text + "\U000f0000", MANY, setting, engine) for engine in ("numba", "numpy"))
        assert ours[0].dtype == np.uint32
        assert all(np.array_equal(one, other) for one, other in zip(ours, twins, strict=True))


def _with_private_use(font):
    """Return ``font`` with the 65,534 private characters from U+F0000 on, each of its number in bits."""
    count, (height_px, width_px) = 0xFFFE, (font.cell_height_px, font.cell_width_px)
    number = np.arange(1, count + 1)[:, None] >> np.arange(height_px * width_px)
    inks = (number & 1).astype(np.uint8).reshape(count, height_px, width_px)
    at = int(np.searchsorted(font.codepoints, 0xF0000))
    assert font.spans.max() == 1
    return dataclasses.replace(
        font, name="many",
        codepoints=np.insert(font.codepoints, at, np.arange(0xF0000, 0xF0000 + count)).astype(np.uint32),
        spans=np.insert(font.spans, at, np.ones(count, np.uint8)),
        bitmaps=np.insert(font.bitmaps, at, np.packbits(inks, axis=2), axis=0),
    )


MANY = _with_private_use(PLAIN)
