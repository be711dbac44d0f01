"""Every font goes out as BDF and comes back equal; what a BDF cannot say, or says wrong, is refused with its line."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glyphraster as gr
from glyphraster.bdf import from_bdf, to_bdf
from glyphraster.errors import FontError
from glyphraster.font import BitmapFont, Mark, shipped_fonts

SMALL = BitmapFont(
    name='a "quoted" - name', licence="none; © nobody", cell_height_px=3, cell_width_px=5, baseline_px=2,
    codepoints=np.array([0x41, 0x65E5, Mark.NEWLINE], np.uint32), spans=np.array([1, 2, 1], np.uint8),
    bitmaps=np.array([[[0x20], [0x50], [0x00]], [[0xF8], [0x80], [0xF8]], [[0xF8], [0x08], [0xF8]],
                      [[0x08], [0x28], [0x78]]], np.uint8),
)


@st.composite
def fonts(draw):
    height, width = draw(st.integers(1, 20)), draw(st.integers(1, 20))
    codes = draw(st.sets(st.integers(0, 0x10FFFF) | st.sampled_from(list(Mark)).map(int), min_size=1, max_size=8))
    spans = np.array(draw(st.lists(st.integers(1, 2), min_size=len(codes), max_size=len(codes))), np.uint8)
    seed = draw(st.integers(0, 2**32 - 1))
    pixels = np.random.default_rng(seed).integers(0, 2, (int(spans.sum()), height, width), np.uint8)
    text = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
    return BitmapFont(
        name=draw(text), licence=draw(text), cell_height_px=height, cell_width_px=width,
        baseline_px=draw(st.integers(0, height)), codepoints=np.array(sorted(codes), np.uint32), spans=spans,
        bitmaps=np.packbits(pixels, axis=-1),
    )


def same(one, other):
    fields = ("name", "licence", "cell_height_px", "cell_width_px", "baseline_px", "digest")
    return all(getattr(one, field) == getattr(other, field) for field in fields)


class TestTheRoundTrip:
    @pytest.mark.parametrize("name", shipped_fonts())
    def test_gives_a_shipped_font_back(self, name):
        assert same(from_bdf(to_bdf(gr.load_font(name))), gr.load_font(name))

    @given(fonts())
    def test_gives_any_font_back(self, font):
        assert same(from_bdf(to_bdf(font)), font)


class TestToBdf:
    def test_writes_a_glyph_as_large_as_its_cells(self):
        lines = to_bdf(SMALL).splitlines()
        start = lines.index("STARTCHAR U+65E5")
        assert lines[start : start + 10] == [
            "STARTCHAR U+65E5", "ENCODING 26085", "SWIDTH 3333 0", "DWIDTH 10 0", "BBX 10 3 0 -1", "BITMAP",
            "FFC0", "8040", "FFC0", "ENDCHAR",
        ]

    def test_writes_marks_as_named_glyphs_without_a_code(self):
        lines = to_bdf(SMALL).splitlines()
        assert lines[lines.index("STARTCHAR mark:newline") + 1] == "ENCODING -1"

    def test_quotes_the_name_and_says_the_cell(self):
        text = to_bdf(SMALL)
        assert 'FAMILY_NAME "a ""quoted"" - name"\n' in text
        assert "FONTBOUNDINGBOX 10 3 0 -1\n" in text
        assert "CELL_WIDTH 5\n" in text

    def test_announces_as_many_properties_and_glyphs_as_it_writes(self):
        lines = to_bdf(SMALL).splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("STARTPROPERTIES"))
        assert lines[first] == f"STARTPROPERTIES {lines.index('ENDPROPERTIES') - first - 1}"
        assert "CHARS 3" in lines

    def test_refuses_a_licence_of_several_lines(self):
        font = BitmapFont(**{field: getattr(SMALL, field) for field in SMALL.__slots__} | {"licence": "one\ntwo"})
        with pytest.raises(FontError, match="has 2 lines; a string of a BDF has one"):
            to_bdf(font)

    def test_is_read_by_freetype_with_the_same_pictures(self, tmp_path):
        pytest.importorskip("freetype", reason="needs the extra `fonts` (freetype-py)")
        ours = gr.load_font("glyph5x8")
        (tmp_path / "ours.bdf").write_text(to_bdf(ours))
        assert gr.import_font(tmp_path / "ours.bdf").digest == ours.digest


class TestFromBdf:
    def test_takes_a_picture_that_an_editor_cropped(self):
        whole = "BBX 5 3 0 -1\nBITMAP\n20\n50\n00"
        assert whole in to_bdf(SMALL)
        assert same(from_bdf(to_bdf(SMALL).replace(whole, "BBX 3 2 1 0\nBITMAP\n40\nA0")), SMALL)

    def test_takes_windows_line_ends(self):
        assert same(from_bdf(to_bdf(SMALL).replace("\n", "\r\n")), SMALL)

    @pytest.mark.parametrize(("old", "new", "message"), [
        ("BBX 5 3 0 -1\nBITMAP\n20", "BBX 5 3 0 -1\nBITMAP\n2", r"line 23: '2' is no row of glyph 'U\+0041'; a row"),
        ("BBX 5 3 0 -1\nBITMAP\n20", "BBX 5 3 1 -1\nBITMAP\n20", r"box \(5, 3, 1, -1\); it must lie in 3x5 px, 2 rows"),
        ("BBX 5 3 0 -1\nBITMAP\n20", "BBX 9999 3\nBITMAP\n20", "line 21: 'BBX 9999 3' is no box"),
        ("DWIDTH 5 0", "DWIDTH 7 0", r"advances by 7 px .* a DWIDTH of 5 or 10"),
        ("DWIDTH 5 0", "DWIDTH many", "line 20: 'many' where a number belongs"),
        ("ENCODING 65", "ENCODING 26085", r"glyph 'U\+65E5' is drawn again"),
        ("ENCODING 65\n", "ENCODING -1\n", r"glyph 'U\+0041' has ENCODING -1; .* -1 for mark:newline"),
        ("ENDCHAR\nENDFONT\n", "", "glyph 'mark:newline' does not end"),
        ("FONT_ASCENT 2", "FONT_ASCENT 20000000", "make 20000001 rows and a cell is 5 px wide: give 1 to 128"),
    ])
    def test_names_the_line_and_what_is_allowed(self, old, new, message):
        assert old in to_bdf(SMALL)
        with pytest.raises(FontError, match=message):
            from_bdf(to_bdf(SMALL).replace(old, new, 1))

    def test_refuses_a_text_without_glyphs(self):
        with pytest.raises(FontError, match="draws 0 glyphs"):
            from_bdf("STARTFONT 2.1\nENDFONT\n")

    @given(st.lists(st.tuples(st.integers(0, 900), st.characters(max_codepoint=0x7F)), min_size=1, max_size=5))
    def test_refuses_or_takes_a_damaged_text(self, damage):
        text = list(to_bdf(SMALL))
        for place, character in damage:
            text[place % len(text)] = character
        with contextlib.suppress(FontError):
            assert from_bdf("".join(text)).cell_width_px in range(1, 129)
