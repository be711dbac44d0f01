"""Every layout holds all of the text, page by page, with or without caption and line numbers."""

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wide_font import font_with_shared_halves, wide_font

import glyphraster as gr
from glyphraster.decor import Decor
from glyphraster.errors import ArgumentError
from glyphraster.font import shipped_fonts
from glyphraster.layout import LAYOUTS, iter_plans, plan_pages
from glyphraster.page import Page

FONT = gr.load_font("glyph5x8")
WORDS = ["a", "bc", " ", "   ", "    ", "\n", "\n\n", "é", "☃", "\U0001f680", "\U0001d4b3", "\t", "\t\t", "\r", "  \n"]
TEXTS = st.lists(st.sampled_from([*WORDS, "x" * 33, " " * 33, "\ud8ab", "\x00"]), max_size=60).map("".join)
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
GEOMETRIES = st.builds(
    lambda rows, columns, scale: gr.PageGeometry(
        height_px=rows * 8 * scale, width_px=columns * 5 * scale, pitch_y_px=8, pitch_x_px=5, scale=scale
    ),
    st.integers(4, 8),
    st.sampled_from([24, 25, 31, 64, 90, 130]),
    st.integers(1, 3),
)


@st.composite
def settings_of_a_page(draw):
    layout = draw(st.sampled_from(LAYOUTS))
    numbered = draw(st.booleans()) and layout == "lines"
    return layout, Decor(caption=draw(st.sampled_from([None, "", "src/a.py\n"])), line_numbers=numbered)


def pages_of(text, geometry, layout, decor):
    plans = plan_pages(text, FONT, geometry, layout, decor=decor)
    return [Page(plan=plan, font=FONT, geometry=geometry).cropped() for plan in plans]


def rows_of(page):
    """The page as text, one character a cell; marks as their names' first letters."""
    letters = {
        cell: chr(code)
        for code, cell in zip(FONT.codepoints.tolist(), FONT.first_cells, strict=True)
        if code < 0x110000
    }
    return ["".join(letters.get(int(cell), "¤") for cell in row).rstrip() for row in page.plan.glyphs]


@given(TEXTS | ANY_TEXT, GEOMETRIES, settings_of_a_page())
def test_any_text_reads_back_from_the_png_bytes(text, geometry, setting):
    pages = pages_of(text, geometry, *setting)
    assert gr.read([page.png() for page in reversed(pages)]) == text


@given(TEXTS, GEOMETRIES, settings_of_a_page())
def test_each_page_decodes_alone_to_its_own_span(text, geometry, setting):
    for page in pages_of(text, geometry, *setting):
        assert gr.read(page, partial=True) == text[page.start : page.stop]


@given(TEXTS, GEOMETRIES, settings_of_a_page(), st.lists(st.integers(0, 200), max_size=5))
def test_a_stream_gives_the_pages_of_the_whole_text(text, geometry, setting, cuts):
    layout, decor = setting
    marks = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:stop] for start, stop in itertools.pairwise(marks)]
    streamed = list(iter_plans(chunks, FONT, geometry, layout, decor=decor))
    whole = plan_pages(text, FONT, geometry, layout, decor=decor)
    assert len(streamed) == len(whole)
    assert all(np.array_equal(one.glyphs, other.glyphs) for one, other in zip(streamed, whole, strict=True))


@given(TEXTS, TEXTS, GEOMETRIES, settings_of_a_page())
def test_appending_text_leaves_every_full_page_as_it_was(text, more, geometry, setting):
    layout, decor = setting
    before = plan_pages(text, FONT, geometry, layout, decor=decor)
    after = plan_pages(text + more, FONT, geometry, layout, decor=decor)
    assert all(np.array_equal(old.glyphs, new.glyphs) for old, new in zip(before[:-1], after, strict=False))


WIDE = gr.PageGeometry(height_px=80, width_px=200, pitch_y_px=8, pitch_x_px=5)


def test_lines_keeps_indentation_and_blank_lines_where_they_are():
    (page,) = pages_of("def f():\n    if x:\n\n        return 1\n", WIDE, "lines", Decor())
    assert rows_of(page) == ["def f():", "    if x:", "", "        return 1¤"]


def test_a_wrapped_row_starts_with_a_continuation_mark():
    (page,) = pages_of("a" * 45 + "\nb", WIDE, "lines", Decor())
    assert rows_of(page) == ["a" * 40, "¤" + "a" * 5, "b"]


def test_a_tab_takes_the_blanks_to_its_stop():
    (page,) = pages_of("a\tb\n\tc", WIDE, "lines", Decor())
    assert rows_of(page) == ["a¤      b", "¤       c"]


def test_blanks_before_a_line_end_are_counted():
    (page,) = pages_of("a   \nb", WIDE, "lines", Decor())
    assert rows_of(page) == ["a¤", "b"]


def test_line_numbers_stand_on_the_rows_that_start_a_line():
    (page,) = pages_of("one\n" + "x" * 40 + "\ntwo", WIDE, "lines", Decor(line_numbers=True))
    assert rows_of(page) == ["  1¤one", "  2¤" + "x" * 36, "   ¤¤xxxx", "  3¤two"]


def test_a_caption_names_page_lines_and_label_but_never_the_total():
    pages = pages_of("\n".join(str(number) for number in range(1, 21)), WIDE, "lines", Decor(caption="src/a.py"))
    assert [rows_of(page)[0] for page in pages] == [
        "¤page 1 lines 1-9 src/a.py",
        "¤page 2 lines 10-18 src/a.py",
        "¤page 3 lines 19-20 src/a.py",
    ]


def test_columns_takes_the_count_that_holds_the_most_text():
    geometry = gr.PageGeometry(height_px=80, width_px=5 * 130, pitch_y_px=8, pitch_x_px=5)
    narrow = plan_pages("short\n" * 200, FONT, geometry, "columns")
    broad = plan_pages(("w" * 120 + "\n") * 200, FONT, geometry, "columns")
    assert (narrow[0].columns, broad[0].columns) == (3, 1)


def test_a_symbol_without_a_glyph_is_called_by_its_name_where_unicode_has_a_settled_one():
    (page,) = pages_of("\U0001f680\U0001d4b3", WIDE, "flow", Decor())
    assert rows_of(page) == ["¤rocket¤¤1D4B3¤"]


def test_line_numbers_are_refused_where_there_is_no_margin():
    with pytest.raises(ArgumentError, match="layout 'flow' has no margin for line numbers"):
        gr.render("x", "claude-fable-5", line_numbers=True)


def test_two_cell_glyphs_never_straddle_a_row_of_a_line():
    wide = wide_font(FONT)
    geometry = gr.PageGeometry(height_px=80, width_px=5 * 24, pitch_y_px=8, pitch_x_px=5)
    for text in ("漢" * 30 + "\nx漢", "a" + "漢" * 30, "a" * 23 + "漢b\n" + "a" * 46 + "漢漢"):
        for layout in LAYOUTS:
            plans = plan_pages(text, wide, geometry, layout)
            assert all((plan.glyphs[:, -1] != wide.cell(0x6F22)).all() for plan in plans)
            pages = [Page(plan=plan, font=wide, geometry=geometry).cropped() for plan in plans]
            assert gr.read(pages) == text


WIDE_TEXTS = st.lists(st.sampled_from([*map(chr, range(0x4E00, 0x4E06)), *"AB \n\t", "é"]), max_size=120).map("".join)


@given(WIDE_TEXTS, GEOMETRIES, st.sampled_from(LAYOUTS))
def test_two_cell_glyphs_that_share_halves_with_each_other_and_with_letters_read_back(text, geometry, layout):
    shared = font_with_shared_halves(FONT)
    plans = plan_pages(text, shared, geometry, layout)
    pages = [Page(plan=plan, font=shared, geometry=geometry).cropped() for plan in plans]
    assert gr.read([page.png() for page in pages], fonts=shared) == text


@pytest.mark.parametrize("name", shipped_fonts())
@given(text=TEXTS | ANY_TEXT, setting=settings_of_a_page(), scale=st.integers(1, 3), leading=st.integers(0, 2))
def test_every_font_reads_back_at_every_scale_and_pitch(name, text, setting, scale, leading):
    font, (layout, decor) = gr.load_font(name), setting
    pitch_y, pitch_x = font.cell_height_px + leading, font.cell_width_px
    geometry = gr.PageGeometry(
        height_px=6 * pitch_y * scale,
        width_px=40 * pitch_x * scale,
        pitch_y_px=pitch_y,
        pitch_x_px=pitch_x,
        scale=scale,
    )
    plans = plan_pages(text, font, geometry, layout, decor=decor)
    pages = [Page(plan=plan, font=font, geometry=geometry).cropped() for plan in plans]
    assert gr.read([page.png() for page in pages]) == text


@pytest.mark.parametrize("layout", ["flow", "lines"])
def test_every_assigned_code_point_reads_back(layout):
    text = "".join(chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) != "Cn")
    assert gr.read(gr.render(text, "claude-fable-5", layout=layout)) == text
