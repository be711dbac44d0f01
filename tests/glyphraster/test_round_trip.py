"""Whatever string goes in, the pages hold all of it and the reader gives back exactly it."""

import io
import itertools
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from wide_font import wide_font

import glyphraster as gr
from glyphraster.errors import ArgumentError, PngError, ReadError
from glyphraster.font import Mark
from glyphraster.page import Page
from glyphraster.png import decode_png, encode_png

FONT = gr.load_font("glyph5x8")
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=400)
SPACED_TEXT = st.lists(
    st.sampled_from(
        ["a", " ", "  ", "   ", "    ", "         ", " " * 37, "\n", "\t", "\r", "é", "☃", "\ud8ab", "\x00", "0", "F"]
    ),
    max_size=120,
).map("".join)
GEOMETRIES = st.builds(
    lambda rows, columns, margin, leading, tracking, scale: gr.PageGeometry(
        height_px=2 * margin + rows * (8 + leading) * scale,
        width_px=2 * margin + columns * (5 + tracking) * scale,
        margin_px=margin,
        pitch_y_px=8 + leading,
        pitch_x_px=5 + tracking,
        scale=scale,
    ),
    st.integers(3, 9),
    st.integers(8, 23),
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(1, 3),
)


def pages_of(text, geometry, engine="numpy"):
    return [
        Page(plan=plan, font=FONT, geometry=geometry, engine=engine).cropped()
        for plan in gr.plan_pages(text, FONT, geometry)
    ]


@given(ANY_TEXT | SPACED_TEXT, GEOMETRIES)
def test_any_text_reads_back_from_the_png_bytes_on_any_page_in_any_order(text, geometry):
    pages = pages_of(text, geometry)
    assert gr.read([page.png() for page in reversed(pages)]) == text


@given(ANY_TEXT | SPACED_TEXT, GEOMETRIES)
def test_each_page_decodes_alone_to_its_own_span_of_the_source(text, geometry):
    for page in pages_of(text, geometry):
        assert gr.read(page, partial=True) == text[page.start : page.stop]


@given(SPACED_TEXT, GEOMETRIES, st.lists(st.integers(0, 120), max_size=6))
def test_pages_of_a_stream_are_those_of_the_whole_text(text, geometry, cuts):
    from glyphraster.layout import iter_plans

    marks = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:stop] for start, stop in itertools.pairwise(marks)]
    streamed = list(iter_plans(chunks, FONT, geometry))
    whole = gr.plan_pages(text, FONT, geometry)
    assert [plan.stop for plan in streamed] == [plan.stop for plan in whole]
    assert all(np.array_equal(one.glyphs, other.glyphs) for one, other in zip(streamed, whole, strict=True))


@given(SPACED_TEXT, SPACED_TEXT, GEOMETRIES)
def test_appending_text_leaves_every_full_page_as_it_was(text, more, geometry):
    before, after = gr.plan_pages(text, FONT, geometry), gr.plan_pages(text + more, FONT, geometry)
    assert all(np.array_equal(old.glyphs, new.glyphs) for old, new in zip(before[:-1], after, strict=False))


@settings(max_examples=30)
@given(ANY_TEXT | SPACED_TEXT, GEOMETRIES)
def test_numba_and_numpy_draw_the_same_pixels(text, geometry):
    for ours, twin in zip(pages_of(text, geometry, "numba"), pages_of(text, geometry, "numpy"), strict=True):
        assert np.array_equal(ours.pixels, twin.pixels)


@given(ANY_TEXT, GEOMETRIES)
def test_a_page_is_what_a_slow_twin_draws_pixel_by_pixel(text, geometry):
    for page in pages_of(text[:60], geometry):
        expected = np.full((page.geometry.height_px, page.geometry.width_px), 255, np.uint8)
        for (row, column), cell in np.ndenumerate(page.plan.glyphs):
            for y in range(8):
                for x in range(5):
                    if FONT.bitmaps[cell, y, 0] & (0x80 >> x):
                        top = geometry.margin_px + (row * geometry.pitch_y_px + y) * geometry.scale
                        left = geometry.margin_px + (column * geometry.pitch_x_px + x) * geometry.scale
                        expected[top : top + geometry.scale, left : left + geometry.scale] = 0
        assert np.array_equal(page.pixels, expected)


def test_two_letters_look_as_drawn():
    geometry = gr.PageGeometry(height_px=8, width_px=150, pitch_y_px=8, pitch_x_px=5)
    (page,) = pages_of("H i", geometry)
    picture = ["".join("#" if pixel == 0 else "." for pixel in line) for line in page.pixels[:, :15]]
    assert picture == [
        "...............",
        "#..#.......#...",
        "#..#...........",
        "#..#......##...",
        "####.......#...",
        "#..#.......#...",
        "#..#.......##..",
        "...............",
    ]


def test_pillow_decodes_our_png_to_the_same_pixels_in_both_modes():
    import io

    from PIL import Image

    (page,) = pages_of(
        "def f():\n        return 'é'", gr.PageGeometry(height_px=80, width_px=103, pitch_y_px=8, pitch_x_px=5)
    )
    for mode in ("gray1", "gray8"):
        with Image.open(io.BytesIO(page.png(mode))) as picture:
            assert np.array_equal(np.array(picture.convert("L")), page.pixels)
        assert np.array_equal(decode_png(page.png(mode))[0], page.pixels)


def test_png_bytes_are_the_same_every_time():
    geometry = gr.PageGeometry(height_px=80, width_px=100, pitch_y_px=8, pitch_x_px=5)
    assert pages_of("same", geometry)[0].png() == pages_of("same", geometry)[0].png()


def test_a_run_of_a_million_spaces_takes_a_handful_of_cells():
    (page,) = gr.render("a" + " " * 1_000_000 + "b", "claude-fable-5")
    assert page.plan.glyphs.shape[0] == 1
    assert gr.read(page) == "a" + " " * 1_000_000 + "b"


def test_the_empty_text_has_no_pages():
    assert gr.render("", "claude-fable-5") == []
    assert gr.read([]) == ""


def test_bare_pixels_read_back_with_their_font_and_geometry():
    geometry = gr.PageGeometry(height_px=80, width_px=100, pitch_y_px=8, pitch_x_px=5)
    pages = pages_of("trailing   ", geometry)
    assert gr.read([page.pixels for page in pages], fonts=FONT, geometry=pages[0].geometry) == "trailing   "
    with pytest.raises(ReadError, match=r"page 1 of those given does not read: .* 8x100 px are no profile's page"):
        gr.read(pages[0].pixels)


LONG = "\n".join(f"line {number} of a text that takes several pages" for number in range(120))
SMALL = gr.PageGeometry(height_px=160, width_px=200, pitch_y_px=8, pitch_x_px=5)


def test_missing_doubled_and_foreign_pages_are_named():
    pngs = [page.png() for page in pages_of(LONG, SMALL)]
    with pytest.raises(ReadError, match="characters 800 to 1600 are missing"):
        gr.read([pngs[0], *pngs[2:]])
    with pytest.raises(ReadError, match="characters 0 to 800"):
        gr.read(pngs[1:])
    with pytest.raises(ReadError, match="both hold characters 800 to 1600"):
        gr.read([*pngs, pngs[1]])
    assert gr.read(pngs[1:3], partial=True) == LONG[800:2400]


def test_pages_of_two_texts_with_equal_spans_do_not_mix():
    one, other = pages_of(LONG, SMALL), pages_of(LONG.replace("several", "another"), SMALL)
    with pytest.raises(ReadError, match="follows another text than that of"):
        gr.read([one[0].png(), other[1].png(), *(page.png() for page in one[2:])])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda pixels: pixels[:-8], "something cropped it: it is 152x200 px and was drawn as 160x200 px"),
        (lambda pixels: 255 - pixels, "something inverted it: its text is white on black"),
        (lambda pixels: np.roll(pixels, 1, axis=1), "cells match no glyph"),
    ],
)
def test_an_altered_page_is_refused_not_guessed_at(damage, said):
    page = pages_of(LONG, SMALL)[0]
    altered = encode_png(damage(page.pixels), "gray8", page.record)
    with pytest.raises(ReadError, match=said):
        gr.read(altered)


def test_a_glyph_swapped_for_another_is_noticed():
    page = pages_of(LONG, SMALL)[0]
    pixels = page.pixels.copy()
    pixels[:8, :5] = pixels[:8, 5:10]
    with pytest.raises(ReadError, match="CRC"):
        gr.read(encode_png(pixels, "gray1", page.record))


def test_grey_from_a_resize_is_refused():
    page = pages_of(LONG, SMALL)[0]
    pixels = np.where(page.pixels == 0, 0, 250).astype(np.uint8)
    with pytest.raises(ReadError, match="recompressed it, such as to JPEG: 25,708 of its 32,000 pixels are grey"):
        gr.read(encode_png(pixels, "gray8", page.record))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "0 bytes"),
        (b"GIF89a" + bytes(30), "is a GIF file, no PNG"),
        (encode_png(np.zeros((8, 8), np.uint8))[:40], "cut off at byte"),
        (encode_png(np.zeros((8, 8), np.uint8)).replace(b"IDAT", b"IDAX"), "damaged or cut off"),
    ],
)
def test_bytes_that_are_no_page_are_refused_with_their_size(data, said):
    with pytest.raises(PngError, match=said):
        gr.read(data)


def test_a_png_without_our_record_is_refused():
    with pytest.raises(ReadError, match="carries no record"):
        gr.read(_foreign_png())


def _foreign_png():
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (40, 40), 255).save(out, "PNG")
    return out.getvalue()


def test_wrong_arguments_are_named_with_what_is_allowed():
    with pytest.raises(ArgumentError, match="no layout 'spiral'; there is flow"):
        gr.render("x", "claude-fable-5", layout="spiral")
    with pytest.raises(ArgumentError, match="no engine 'gpu'; there is auto, numba, numpy"):
        gr.render("x", "claude-fable-5", engine="gpu")
    with pytest.raises(ArgumentError, match="no tier 'tiny'"):
        gr.render("x", "claude-fable-5", tier="tiny")
    with pytest.raises(ArgumentError, match="pitch of 7x5 px is below the cell"):
        gr.plan_pages("x", FONT, gr.PageGeometry(height_px=70, width_px=50, pitch_y_px=7, pitch_x_px=5))
    with pytest.raises(ArgumentError, match="grid of 1 rows by 4 columns for text has 4 cells; 22 are needed"):
        gr.plan_pages("x", FONT, gr.PageGeometry(height_px=8, width_px=20, pitch_y_px=8, pitch_x_px=5))
    with pytest.raises(ArgumentError, match="scale must be an integer of at least 1, got 0"):
        gr.PageGeometry(height_px=8, width_px=20, pitch_y_px=8, pitch_x_px=5, scale=0)


def test_a_png_drawn_with_a_font_of_your_own_is_read_with_it():
    wide = wide_font(FONT)
    geometry = gr.PageGeometry(height_px=40, width_px=60, pitch_y_px=8, pitch_x_px=5)
    (plan,) = gr.plan_pages("漢a", wide, geometry)
    png = Page(plan=plan, font=wide, geometry=geometry).cropped().png()
    assert gr.read(png, fonts=wide) == "漢a"
    with pytest.raises(ReadError, match=r"drawn with font 'wide' .*: give it as fonts="):
        gr.read(png)


def test_pages_can_continue_earlier_ones():
    first = gr.render("one\n" * 30, "claude-fable-5")
    second = gr.render("two\n" * 30, "claude-fable-5", after=first[-1])
    assert [page.index for page in (*first, *second)] == [1, 2]
    assert gr.read([*first, *second]) == "one\n" * 30 + "two\n" * 30


def test_a_wide_glyph_takes_two_cells_and_never_straddles_a_row():
    wide = wide_font(FONT)
    geometry = gr.PageGeometry(height_px=40, width_px=35, pitch_y_px=8, pitch_x_px=5)
    text = "漢a漢bc漢漢漢 x漢"
    plans = gr.plan_pages(text, wide, geometry)
    left = wide.cell(0x6F22)
    assert all((plan.glyphs[:, -1] != left).all() for plan in plans)
    pages = [Page(plan=plan, font=wide, geometry=geometry).cropped() for plan in plans]
    assert gr.read(pages) == text


@pytest.mark.parametrize("mode", ["gray1", "gray8"])
@pytest.mark.parametrize(("missing", "encoder"), [((), "libdeflate-6"), (("deflate",), "zlib-9")])
def test_a_small_png_has_fewer_bytes_and_the_same_pixels(mode, missing, encoder, monkeypatch):
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    page = gr.render(LONG * 9, "claude-fable-5")[0]
    small, plain = page.png(mode, small=True), page.png(mode)
    assert len(small) < len(plain)
    assert decode_png(small)[1]["encoder"] == encoder
    with Image.open(io.BytesIO(small)) as ours, Image.open(io.BytesIO(plain)) as other:
        assert ours.tobytes() == other.tobytes()
    assert gr.read(small) == LONG * 9


def test_without_isal_pages_are_deflated_and_read_by_zlib(monkeypatch):
    page = gr.render(LONG, "claude-fable-5")[0]
    monkeypatch.setitem(sys.modules, "isal", None)
    assert decode_png(page.png())[1]["encoder"] == "zlib-2"
    assert gr.read(page.png()) == LONG


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("run", [1, 2, 3, 4, 9, 10, 40, 1000])
def test_no_page_ends_inside_a_count(engine, run):
    geometry = gr.PageGeometry(height_px=32, width_px=150, pitch_y_px=8, pitch_x_px=5)
    for before in range(112, 122):
        for text in ("x" * before + " " * run + "y" * 130, "\ud800" + "x" * (before - 6) + " " * run + "é\ud800"):
            plans = gr.plan_pages(text, FONT, geometry, engine=engine)
            assert gr.read([Page(plan=plan, font=FONT, geometry=geometry) for plan in plans]) == text


TAMPERED = {
    "bands": [[[1, 0, 300]], [[10**12, 0, 8]], [[2 * 10**9, 0, 0]], [[1, 8, 0]], [], 3, [[1, 0]]],
    "start": [float("inf"), -1, "0", None],
    "columns": [0, -1, 10**6, 2],
    "layout": ["bogus", 3],
    "source_crc32": [[], 3],
    "column_px": [0, 10**6, 4],
    "caption_rows": [-1, 2],
    "margin_cells": [-1, 10**6],
    "stop": [1, 0],
    "geometry": [{}, {"height_px": 1}, 3],
    "fonts": [[], [[]], 3, [["glyph5x8", "0"]]],
    "version": [None, 1, "2"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in TAMPERED.items() for value in values])
def test_a_record_that_was_tampered_with_is_refused(key, value):
    page = pages_of(LONG, SMALL)[0]
    with pytest.raises((ReadError, ArgumentError)):
        gr.read(encode_png(page.pixels, "gray1", page.record | {key: value}))


def test_pngs_are_named_by_the_number_in_their_record():
    pngs = [page.png() for page in pages_of(LONG, SMALL)]
    with pytest.raises(ReadError, match=r"page 2 \(a file of \d+ bytes\) and page 2 \(a file of \d+ bytes\) both hold"):
        gr.read([*pngs, pngs[1]])


def test_a_page_that_continues_an_open_line_says_so():
    before = gr.render("one\ntwo", "claude-fable-5", layout="lines", line_numbers=True)
    after = gr.render(" goes on\nthree", "claude-fable-5", layout="lines", line_numbers=True, after=before[-1])
    whole = gr.render("one\ntwo goes on\nthree", "claude-fable-5", layout="lines", line_numbers=True)
    assert gr.read([*before, *after]) == gr.read(whole)
    assert after[0].plan.glyphs[0, 4] == FONT.cell(Mark.CONTINUATION)
    assert [int(cell) for cell in after[0].plan.glyphs[1, :3]] == [int(cell) for cell in whole[0].plan.glyphs[2, :3]]


@pytest.mark.parametrize(("options", "said"), [
    ({"caption": 5}, "caption must be a string or None, got 5"), ({"after": "x"}, "after must be the page before"),
])
def test_arguments_of_another_kind_are_refused(options, said):
    with pytest.raises(ArgumentError, match=said):
        gr.render("x", "claude-fable-5", **options)


@pytest.mark.parametrize("text", [b"abc", 5, None, [1], ["a", b"b"]])
def test_a_stream_of_something_else_is_refused(text):
    with pytest.raises(ArgumentError, match="string"):
        list(gr.iter_pages(text, "claude-fable-5"))


STDLIB = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


@pytest.mark.parametrize("layout", ["flow", "lines", "columns"])
def test_the_sources_of_the_standard_library_read_back_from_png_bytes(layout):
    for file in STDLIB:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        pages = gr.render(text, "claude-fable-5", layout=layout)
        assert gr.read([page.png() for page in pages]) == text, file.name


def test_every_shared_transcript_reads_back_from_png_bytes(shared):
    files = [file for file in sorted((shared / "transcripts").rglob("*")) if file.is_file()]
    assert files
    for file in files:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        assert gr.read([page.png() for page in gr.render(text, "claude-fable-5")]) == text, file.name


def test_emoji_sequences_read_back_in_every_layout():
    text = "\U0001f469\u200d\U0001f4bb \U0001f1e8\U0001f1ff 1\ufe0f\u20e3 \U0001f44d\U0001f3fd\n" * 40
    for layout in ("flow", "lines", "columns"):
        assert gr.read([page.png() for page in gr.render(text, "claude-fable-5", layout=layout)]) == text
