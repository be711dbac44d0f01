"""Fallback chains: rows as high as their glyphs ask for, columns as wide as the first font's, all of it read back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wide_font import tall_font, wide_font

import glyphraster as gr
from glyphraster.chain import FontChain, font_chain
from glyphraster.decor import Decor
from glyphraster.errors import ArgumentError, FontError, ReadError
from glyphraster.font import Mark, shipped_fonts
from glyphraster.layout import LAYOUTS, iter_plans, plan_pages
from glyphraster.page import Page

PLAIN = gr.load_font("glyph5x8")
CJK = tall_font(range(0x4E00, 0x4E20))
KANA = tall_font(range(0x3041, 0x3051), name="kana", height=16, width=8, baseline=14, seed=1)
CHAIN = font_chain([PLAIN, CJK, KANA])
TEXTS = st.lists(
    st.sampled_from(
        [*map(chr, range(0x4E00, 0x4E04)), "ぁ", "い", "a", "bcd", " ", "    ", "\n", "\t", "é", "\U0001f680"]
    ),
    max_size=150,
).map("".join)
GEOMETRIES = st.builds(
    lambda height, columns, scale, leading: gr.PageGeometry(
        height_px=height * scale, width_px=columns * 5 * scale, pitch_y_px=8 + leading, pitch_x_px=5, scale=scale
    ),
    st.integers(64, 110),
    st.sampled_from([31, 64, 90, 130]),
    st.integers(1, 3),
    st.integers(0, 2),
)


@st.composite
def settings_of_a_page(draw):
    layout = draw(st.sampled_from(LAYOUTS))
    numbered = draw(st.booleans()) and layout == "lines"
    return layout, Decor(caption=draw(st.sampled_from([None, "", "一.py"])), line_numbers=numbered)


def pages_of(text, geometry, layout="lines", decor=None, font=CHAIN):
    plans = plan_pages(text, font, geometry, layout, decor=decor or Decor())
    return [Page(plan=plan, font=font, geometry=geometry).cropped() for plan in plans]


def with_bitmaps(font, bitmaps):
    return gr.BitmapFont(**{name: getattr(font, name) for name in font.__slots__ if name != "bitmaps"}, bitmaps=bitmaps)


def heights(page):
    return np.diff(page.plan.bands.astype(int), axis=1)[:, 0].tolist()


WIDE_PAGE = gr.PageGeometry(height_px=200, width_px=1960, pitch_y_px=8, pitch_x_px=5)


class TestAChain:
    def test_of_one_font_is_that_font(self):
        assert font_chain([PLAIN]) is PLAIN

    def test_takes_each_character_from_the_first_font_that_has_it(self):
        both = tall_font([ord("a"), 0x4E00])
        chain = font_chain([PLAIN, both])
        page, alone = pages_of("a", WIDE_PAGE, font=chain)[0], pages_of("a", WIDE_PAGE, font=PLAIN)[0]
        assert np.array_equal(page.pixels, alone.pixels)

    def test_draws_plain_text_as_the_first_font_does(self):
        text = "def f(x):\n    return x  # \U0001f680\n" * 40
        for layout in LAYOUTS:
            chained, alone = (pages_of(text, WIDE_PAGE, layout, font=font) for font in (CHAIN, PLAIN))
            assert [page.png() for page in chained] != []
            assert all(np.array_equal(one.pixels, other.pixels) for one, other in zip(chained, alone, strict=True))

    def test_makes_only_rows_with_taller_glyphs_taller(self):
        (page,) = pages_of("one\ntwo 一 2\nthree\nぁ\n一ぁ", WIDE_PAGE)
        assert heights(page) == [8, 12, 8, 16, 16]

    def test_draws_a_tall_glyph_whole_on_the_common_baseline(self):
        (page,) = pages_of("a一", WIDE_PAGE)
        expected = np.unpackbits(CJK.bitmaps[:2], axis=-1, count=6).transpose(1, 0, 2).reshape(12, 12)
        assert np.array_equal(page.pixels[:, 5:17] == 0, expected.astype(bool))
        letter = np.unpackbits(PLAIN.bitmaps[PLAIN.cell(ord("a"))], axis=-1, count=5).astype(bool)
        top = CJK.baseline_px - PLAIN.baseline_px
        assert np.array_equal(page.pixels[top : top + 8, :5] == 0, letter)

    def test_gives_a_glyph_as_many_columns_as_it_is_wide(self):
        chain = font_chain([gr.load_font("glyph6x10"), CJK])
        assert [int(font.spans[font.codepoints.tolist().index(0x4E00)]) for font in (CHAIN, chain)] == [3, 2]

    def test_keeps_wide_glyphs_whole_on_wider_columns(self):
        font = font_chain([wide_font(PLAIN)], cell_width_px=7)
        geometry = gr.PageGeometry(height_px=80, width_px=70, pitch_y_px=8, pitch_x_px=7)
        (page,) = pages_of("漢", geometry, font=font)
        (close,) = pages_of(
            "漢", gr.PageGeometry(height_px=80, width_px=70, pitch_y_px=8, pitch_x_px=5), font=wide_font(PLAIN)
        )
        assert np.array_equal(page.pixels[:, :10], close.pixels[:, :10])

    def test_leaves_rows_low_for_a_fallback_glyph_whose_ink_is_low(self):
        bitmaps = tall_font([0x4E00]).bitmaps.copy()
        bitmaps[:, :4] = bitmaps[:, 11:] = 0
        low = with_bitmaps(tall_font([0x4E00]), bitmaps)
        assert heights(pages_of("一", WIDE_PAGE, font=font_chain([PLAIN, low]))[0]) == [8]

    def test_moves_a_glyph_that_a_reader_could_not_tell_from_another(self):
        bitmaps = tall_font([0x4E00, 0x5000]).bitmaps.copy()
        bitmaps[2:4] = bitmaps[:2]
        chain = font_chain([PLAIN, with_bitmaps(tall_font([0x4E00, 0x5000]), bitmaps)])
        assert gr.read(pages_of("一倀", WIDE_PAGE, font=chain)) == "一倀"
        page = pages_of("一倀", WIDE_PAGE, font=chain)[0].pixels
        assert np.array_equal(page[:, :14], page[:, 16:30])
        assert heights(pages_of("一倀", WIDE_PAGE, font=chain)[0]) == [12]

    def test_tells_ink_high_in_one_cell_from_ink_low_in_the_next(self):
        high, low = [1, 8, 2, 4, 0, 0, 0, 0] + [0] * 8, [0] * 8 + [1, 8, 2, 4, 0, 0, 0, 0]
        pictures = [[[row << 3] for row in rows] for rows in (high, [0] * 16, low, [0] * 16)]
        font = with_bitmaps(tall_font([0x4E00, 0x5000], width=5, height=16), np.array(pictures, np.uint8))
        text = " 一 倀 倀一 一倀"
        assert gr.read(pages_of(text, WIDE_PAGE, font=font_chain([PLAIN, font]))) == text

    def test_leaves_out_a_glyph_that_looks_like_full_blocks_wherever_it_is_moved(self):
        solid = tall_font([0x4E00, 0x5000], width=5, span=3, height=8, baseline=7)
        chain = font_chain([PLAIN, with_bitmaps(solid, np.full_like(solid.bitmaps, 0xF8))])
        (page,) = pages_of("一倀", WIDE_PAGE, font=chain)
        assert not np.isin([0x4E00, 0x5000], chain.codepoints).any()
        assert gr.read(page) == "一倀"

    def test_has_the_marks_of_its_first_font_only(self):
        assert [int(code) for code in CHAIN.codepoints if code >= 0x110000] == [int(mark) for mark in Mark]

    def test_is_no_file(self, tmp_path):
        with pytest.raises(
            FontError, match=r"a chain of 3 fonts has no packed form: save each of glyph5x8\+tall\+kana"
        ):
            CHAIN.save(tmp_path / "chain.npz")
        assert list(tmp_path.iterdir()) == []

    def test_refuses_no_font_and_columns_too_narrow(self):
        with pytest.raises(ArgumentError, match="no font given"):
            font_chain([])
        with pytest.raises(ArgumentError, match="columns of 4 px are narrower than the cell of font 'glyph5x8', 5 px"):
            font_chain([PLAIN], cell_width_px=4)

    def test_is_built_once_for_equal_fonts(self):
        assert font_chain([PLAIN, tall_font(range(0x4E00, 0x4E20))]) is font_chain([PLAIN, CJK])

    def test_may_not_start_with_a_font_that_lacks_marks(self):
        with pytest.raises(
            FontError, match=r"font 'tall' cannot set a page alone: .* as in fonts=\['glyph5x8', 'tall'\]"
        ):
            gr.render("一", "claude-fable-5", fonts=CJK)

    @pytest.mark.parametrize("fonts", [3, [3], {"glyph5x8"}])
    def test_is_refused_when_it_is_of_something_else(self, fonts):
        with pytest.raises(ArgumentError, match="fonts must be fonts, their names or paths, one or several in a list"):
            gr.render("a", "claude-fable-5", fonts=fonts)

    def test_of_more_cells_than_sixteen_bits_count_reads_back(self):
        many = tall_font(range(0x4E00, 0x4E00 + 25_000), name="many")
        chain = font_chain([PLAIN, many])
        assert len(chain.bitmaps) > 65_535
        text = "".join(map(chr, range(0x4E00, 0x4E00 + 25_000, 97)))
        for layout in LAYOUTS:
            assert gr.read([page.png() for page in pages_of(text, WIDE_PAGE, layout, font=chain)], fonts=chain) == text


class TestPagesOfAChain:
    @given(TEXTS, GEOMETRIES, settings_of_a_page())
    def test_read_back_from_their_png_bytes(self, text, geometry, setting):
        pages = pages_of(text, geometry, *setting)
        assert gr.read([page.png() for page in reversed(pages)], fonts=[PLAIN, CJK, KANA]) == text

    @given(TEXTS, GEOMETRIES, settings_of_a_page())
    def test_fill_the_page_and_never_overflow_it(self, text, geometry, setting):
        pages = pages_of(text, geometry, *setting)
        leading = geometry.pitch_y_px - 8
        for page in pages:
            used = sum(height + leading for height in heights(page))
            assert page.geometry.height_px == used * geometry.scale <= geometry.height_px
        for page in pages[:-1]:
            assert geometry.height_px // geometry.scale - sum(height + leading for height in heights(page)) < 2 * (
                16 + 2
            )

    @given(TEXTS, TEXTS, GEOMETRIES, settings_of_a_page())
    def test_are_sealed_when_full_and_the_same_for_a_stream(self, text, more, geometry, setting):
        layout, decor = setting
        before, after = (pages_of(all_of_it, geometry, layout, decor) for all_of_it in (text, text + more))
        for one, other in zip(before[:-1], after, strict=False):
            assert one.png() == other.png()
        streamed = list(iter_plans(iter(text + more), CHAIN, geometry, layout, decor=decor))
        assert [plan.glyphs.tobytes() + plan.bands.tobytes() for plan in streamed] == [
            page.plan.glyphs.tobytes() + page.plan.bands.tobytes() for page in after
        ]

    def test_have_taller_rows_in_newspaper_columns_only_where_a_taller_glyph_stands(self):
        geometry = gr.PageGeometry(height_px=80, width_px=650, pitch_y_px=8, pitch_x_px=5)
        pages = pages_of("short\n" * 20 + "一\n" * 30 + "short\n" * 40, geometry, "columns")
        tall = CHAIN.cell(0x4E00) + np.arange(3)
        for page in pages:
            assert page.plan.columns > 1
            assert heights(page) == [12 if np.isin(row, tall).any() else 8 for row in page.plan.glyphs]
        assert {8, 12} in [set(heights(page)) for page in pages]

    def test_hold_nearly_as_much_in_columns_for_one_taller_glyph(self):
        geometry = gr.PageGeometry(height_px=1904, width_px=1960, pitch_y_px=8, pitch_x_px=5)
        lines = "short\n" * 6_000
        plain, one = (pages_of(text, geometry, "columns")[0] for text in (lines, "一\n" + lines))
        assert heights(one).count(12) == 1
        assert one.plan.stop > 0.98 * plain.plan.stop

    def test_name_the_fonts_that_a_reader_lacks(self):
        (page,) = pages_of("一", WIDE_PAGE)
        with pytest.raises(
            ReadError, match=r"drawn with font 'tall' \(digest [0-9a-f]{16}\), not shipped here: give it"
        ):
            gr.read(page.png())
        assert gr.read(page.png(), fonts=[KANA, CJK]) == "一"

    def test_are_refused_when_a_record_names_rows_that_the_page_cannot_have(self):
        (page,) = pages_of("一", WIDE_PAGE)
        from glyphraster.png import encode_png

        with pytest.raises(
            ReadError, match=r"a record that makes no sense \(rows \[\[9, 0, 16\]\] on a page 12 px high"
        ):
            gr.read(encode_png(page.pixels, "gray1", page.record | {"bands": [[9, 0, 16]]}), fonts=CHAIN)


class TestRender:
    def test_takes_a_chain_by_names_paths_and_fonts(self, tmp_path):
        CJK.save(tmp_path / "cjk12.npz")
        text = "plain\n一丁 mixed\n" * 30
        pages = gr.render(text, "claude-fable-5", fonts=["glyph5x8", tmp_path / "cjk12.npz"], layout="lines")
        assert [page.png() for page in pages] == [
            page.png() for page in gr.render(text, "claude-fable-5", fonts=[PLAIN, CJK], layout="lines")
        ]
        assert set(heights(pages[0])) == {8, 12}
        assert gr.read(pages) == gr.read([page.png() for page in pages], fonts=str(tmp_path / "cjk12.npz")) == text

    @pytest.mark.parametrize("name", shipped_fonts())
    def test_chains_every_font_with_a_taller_one(self, name):
        text = "".join(map(chr, range(0x4E00, 0x4E20))) + "\tplain\n"
        pages = gr.render(text * 20, "claude-fable-5", fonts=[name, CJK])
        assert isinstance(pages[0].font, FontChain)
        assert gr.read([page.png() for page in pages], fonts=CJK) == text * 20
