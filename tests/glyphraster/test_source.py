"""The readable font source: what it can say, and what it says about a mistake."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphraster.errors import FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark, load_font, shipped_fonts
from glyphraster.source import build, parse
from glyphraster.source_format import format_font

HEADER = """\
name tiny
height 4
width 3
baseline 3
licence MIT
"""
LETTERS = """
@ a b           // two letters side by side
... #..
.## #..
#.# ##.
.## ##.
"""
BASE = HEADER + LETTERS


def picture(font: BitmapFont, character: str | Mark) -> list[str]:
    code = ord(character) if isinstance(character, str) else int(character)
    first = font.cell(code)
    span = int(font.spans[font.codepoints.tolist().index(code)])
    bits = np.unpackbits(font.bitmaps[first:first + span], axis=-1, count=font.cell_width_px)
    return ["".join(".#"[bit] for bit in row) for row in np.concatenate(list(bits), axis=1).tolist()]


def same(one: BitmapFont, other: BitmapFont) -> bool:
    return one.digest == other.digest and all(
        getattr(one, key) == getattr(other, key)
        for key in ("name", "cell_height_px", "cell_width_px", "baseline_px", "licence")
    )


class TestASource:
    def test_draws_glyphs_side_by_side(self):
        font = parse(BASE)
        assert font.codepoints.tolist() == [ord("a"), ord("b")]
        assert picture(font, "a") == ["...", ".##", "#.#", ".##"]
        assert picture(font, "b") == ["#..", "#..", "##.", "##."]

    def test_gives_the_font_its_header(self):
        font = parse(BASE)
        assert (font.name, font.cell_height_px, font.cell_width_px, font.baseline_px) == ("tiny", 4, 3, 3)
        assert font.licence == "MIT"

    def test_names_odd_characters_by_code_and_marks_by_name(self):
        font = parse(HEADER + "@ U+0219 mark:escape-open /\n### #.# ..#\n... #.# .#.\n### #.# .#.\n... #.# #..\n")
        assert font.codepoints.tolist() == [ord("/"), 0x219, Mark.ESCAPE_OPEN]
        assert picture(font, Mark.ESCAPE_OPEN) == ["#.#"] * 4

    def test_takes_a_picture_of_twice_the_width_for_a_wide_glyph(self):
        font = parse(HEADER + "@ a 日\n... ######\n.## #....#\n#.# #....#\n.## ######\n")
        assert font.spans.tolist() == [1, 2]
        assert picture(font, "日") == ["######", "#....#", "#....#", "######"]
        assert font.bitmaps.shape == (3, 4, 1)

    def test_composes_a_glyph_from_a_base_and_its_accents(self):
        font = parse(BASE + "accent dot 0: .#.\naccent bar 3: ###\ncompose á = a + dot + bar\n")
        assert picture(font, "á") == [".#.", ".##", "#.#", "###"]

    def test_raises_a_base_by_rows(self):
        assert picture(parse(BASE + "compose c = a^1\n"), "c") == [".##", "#.#", ".##", "..."]

    def test_composes_from_a_glyph_composed_above(self):
        font = parse(BASE + "accent dot 0: .#.\naccent bar 3: ###\ncompose c = a + dot\ncompose d = c + bar\n")
        assert picture(font, "d") == [".#.", ".##", "#.#", "###"]

    def test_prefers_a_drawn_glyph_to_a_composed_one_wherever_it_stands(self):
        drawn = "@ á\n###\n###\n###\n###\n"
        recipe = "accent dot 0: .#.\ncompose á = a + dot\n"
        for text in (BASE + drawn + recipe, BASE + recipe + drawn):
            assert picture(parse(text), "á") == ["###"] * 4

    def test_keeps_parts_out_of_the_font(self):
        font = parse(HEADER + "@ part:stem\n...\n.#.\n.#.\n.#.\naccent dot 0: .#.\ncompose i = part:stem + dot\n")
        assert font.codepoints.tolist() == [ord("i")]
        assert picture(font, "i") == [".#."] * 4


BLANK = "\n...\n...\n...\n...\n"
HEIGHTLESS = "name x\nwidth 3\n@ a\n...\n"


class TestAMistake:
    @pytest.mark.parametrize(("text", "message"), [
        (BASE + "glyph c\n", r"line 12: starts with 'glyph'; .* one of @, accent, compose, rule, include, name"),
        (HEADER + "@ a b\n... ...\n", r"line 6: 'the end' where row 2 of the block at line 6 belongs; a block has 4"),
        (HEADER + "@ a\n...\n...\n...\n@ b\n", r"line 10: '@ b' where row 4 of the block at line 6 belongs"),
        (BASE + "...\n", r"line 12: starts with '\.\.\.'"),
        (HEADER + "@ a b\n...\n", r"line 7: 1 pictures in a row of the block at line 6; it names 2 glyphs"),
        (HEADER + "@ a\n....\n", r"line 7: picture row '\.\.\.\.' of 4 pixels; it must be 3 or 6"),
        (HEADER + "@ a\n...\n......\n...\n...\n", r"line 6: glyph 'a' has rows of \[3, 6\] pixels"),
        (HEADER + "@\n", r"line 6: a block without glyph names"),
        (HEADER + "@ mark:newlin" + BLANK, r"line 6: unknown glyph name 'mark:newlin'; marks are mark:newline, "),
        (HEADER + "@ ab" + BLANK, r"line 6: unknown glyph name 'ab'; a name is one character, U\+0000 to U\+10FFFF"),
        (HEADER + "@ U+110000" + BLANK, r"line 6: unknown glyph name 'U\+110000'"),
        (BASE + "@ U+0061\n...\n...\n...\n...\n", r"line 12: glyph 'U\+0061' is drawn again; line 7 drew it"),
        (BASE + "accent dot .#.\n", r"line 12: accent 'dot \.#\.' is not understood"),
        (BASE + "accent dot 3: .#. .#.\n", r"line 12: accent 'dot' covers rows 3 to 4; a cell has rows 0 to 3"),
        (BASE + "accent dot 0: .#\n", r"line 12: picture row '\.#' of 2 pixels; it must be 3"),
        (BASE + "accent dot 0: .x.\n", r"line 12: picture row '\.x\.' of 3 pixels"),
        (BASE + "accent dot 0: .#.\naccent dot 1: .#.\n", r"line 13: accent 'dot' is given again"),
        (BASE + "compose c a\n", r"line 12: compose 'c a' is not understood"),
        (BASE + "compose c = a + dot\n", r"line 12: unknown accent 'dot'; accents are none"),
        (BASE + "accent bar 0: ###\ncompose c = a + dot\n", r"line 13: unknown accent 'dot'; accents are bar"),
        (BASE + "compose c = d\n", r"line 12: base 'd' has no picture"),
        (BASE + "compose c = b^1\n", r"line 12: base 'b' has ink in its top 1 rows"),
        (BASE + "compose c = a\ncompose c = b\n", r"line 13: glyph 'c' is composed again; line 12 composed it"),
        (BASE + "name again\n", r"line 12: second header line `name`"),
        ("height -4\n", r"line 1: `height` is '-4'; it must be a whole number above 0"),
        ("licence\n", r"line 1: `licence` is ''; it must be some words"),
        (HEIGHTLESS, r"line 3: comes before the header line `height`"),
        ("name x\n", r"no header line `height`; it must give name, height, width, baseline, licence"),
        (HEADER, r"draws 0 glyphs"),
    ])
    def test_is_told_with_its_line_what_was_found_and_what_is_allowed(self, text, message):
        with pytest.raises(FontError, match=message):
            parse(text)

    def test_in_an_accent_on_a_wide_base_is_told_with_both_widths(self):
        wide = "@ 日\n......\n######\n######\n######\naccent dot 0: .#.\ncompose 月 = 日 + dot\n"
        with pytest.raises(FontError, match="line 12: accent 'dot' on a base 6 pixels wide; a base of accents has 3"):
            parse(HEADER + wide)


class TestBuild:
    def test_saves_what_it_returns(self, tmp_path):
        source = tmp_path / "tiny.glyphs"
        source.write_text(BASE, encoding="utf-8")
        assert same(build(source, tmp_path / "tiny.npz"), load_font(tmp_path / "tiny.npz"))

    def test_names_the_file_of_a_mistake(self, tmp_path):
        source = tmp_path / "bad.glyphs"
        source.write_text("glyph\n", encoding="utf-8")
        with pytest.raises(FontError, match=r"bad\.glyphs: line 1: starts with 'glyph'"):
            build(source, tmp_path / "bad.npz")
        assert not (tmp_path / "bad.npz").exists()

    def test_says_that_a_source_is_missing_or_is_not_text(self, tmp_path):
        (tmp_path / "bytes.glyphs").write_bytes(b"\xff\xfe")
        for name in ("absent", "bytes"):
            with pytest.raises(FontError, match=rf"{name}\.glyphs cannot be read as a font source"):
                build(tmp_path / f"{name}.glyphs", tmp_path / "out.npz")


@st.composite
def fonts(draw) -> BitmapFont:
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 17))
    code = st.one_of(st.integers(0, MARK_BASE - 1), st.sampled_from(Mark))
    codes = sorted(draw(st.sets(code, min_size=1, max_size=20)))
    spans = np.array([draw(st.integers(1, 2)) for _ in codes], np.uint8)
    bits = np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, 2, (int(spans.sum()), height, width))
    return BitmapFont(
        name="any font", cell_height_px=height, cell_width_px=width, baseline_px=height, licence="MIT, https://example.org",
        codepoints=np.array(codes, np.uint32), spans=spans, bitmaps=np.packbits(bits.astype(np.uint8), axis=-1),
    )


class TestARule:
    def test_draws_what_the_source_does_not(self):
        font = parse(BASE + "rule box\n@ ─\n...\n...\n###\n...\n")
        assert picture(font, "─") == ["...", "...", "###", "..."]
        assert picture(font, "│") == [".#."] * 4

    @pytest.mark.parametrize(("width", "character", "rows"), [
        (5, "╬", ["##.##", ".....", "##.##"]),
        (5, "╞", ["..###", "..#..", "..###"]),
        (5, "╟", [".#.#.", ".#.##", ".#.#."]),
        (5, "┿", ["#####", "#####", "#####"]),
        (6, "╮", ["......", "##....", ".#...."]),
    ])
    def test_joins_lines_of_every_weight_in_the_middle_of_the_cell(self, width, character, rows):
        drawn = picture(parse(BASE.replace("width 3", f"width {width}").replace("height 4", "height 9")
                              .split("@")[0] + "rule box\n"), character)
        assert drawn[3:6] == rows

    def test_is_refused_when_nobody_knows_it(self):
        with pytest.raises(FontError, match=r"line 12: unknown rule 'boxes'; rules are box, blocks, braille"):
            parse(BASE + "rule boxes\n")


class TestAnIncludedSource:
    ACCENTS = "accent dot 0: .#.\n"

    def test_gives_its_glyphs_and_blank_rows_below_them(self, tmp_path):
        (tmp_path / "low.glyphs").write_text(BASE)
        font = parse(HEADER.replace("height 4", "height 5") + "include low.glyphs\n", tmp_path)
        assert picture(font, "a") == ["...", ".##", "#.#", ".##", "..."]
        assert font.cell_height_px == 5

    def test_loses_against_what_the_source_draws_and_composes(self, tmp_path):
        (tmp_path / "other.glyphs").write_text(BASE + self.ACCENTS + "compose á = a + dot\ncompose c = b\n")
        own = "include other.glyphs\n@ a c\n... ...\n### ...\n### ...\n### ###\ncompose b = a\n"
        font = parse(HEADER + own, tmp_path)
        assert picture(font, "á") == [".#.", "###", "###", "###"]
        assert picture(font, "b") == ["...", "###", "###", "###"]
        assert picture(font, "c") == ["...", "...", "...", "###"]

    def test_may_hold_recipes_alone_for_accents_of_the_one_that_includes_it(self, tmp_path):
        (tmp_path / "recipes.glyphs").write_text("compose á = a + dot\n")
        font = parse(BASE + self.ACCENTS + "include recipes.glyphs\n", tmp_path)
        assert picture(font, "á") == [".#.", ".##", "#.#", ".##"]

    def test_moves_a_base_up_for_an_accent_that_says_so(self):
        font = parse(BASE + "accent tail 3 ^1: .#.\ncompose c = a + tail\n")
        assert picture(font, "c") == [".##", "#.#", ".##", ".#."]

    @pytest.mark.parametrize(("files", "text", "message"), [
        ({}, BASE + "include none.glyphs\n", r"line 12: includes 'none.glyphs'; .*none.glyphs cannot be read"),
        ({"a.glyphs": "include a.glyphs\n"}, BASE + "include a.glyphs\n", r"a source may not include itself"),
        ({"a.glyphs": "glyph\n"}, BASE + "include a.glyphs\n", r"line 12: includes 'a.glyphs'; line 1: starts with"),
        ({"a.glyphs": "compose é = e + dot\n"}, BASE + "include a.glyphs\n", r"a.glyphs, line 1: unknown accent 'dot'"),
        ({"a.glyphs": BASE}, HEADER.replace("height 4", "height 3") + "include a.glyphs\n",
         r"its cell of 4x3 pixels does not fit into 3x3"),
    ])
    def test_is_told_with_its_name_what_is_wrong(self, tmp_path, files, text, message):
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        with pytest.raises(FontError, match=message):
            parse(text, tmp_path)

    def test_needs_a_folder(self):
        with pytest.raises(FontError, match=r"line 12: includes 'a.glyphs'; only a source in a file"):
            parse(BASE + "include a.glyphs\n")


class TestFormatFont:
    @given(fonts())
    def test_writes_any_font_so_that_it_reads_back_equal(self, font):
        assert same(parse(format_font(font)), font)

    @pytest.mark.parametrize("name", shipped_fonts())
    def test_writes_a_shipped_font_so_that_it_reads_back_equal(self, name):
        font = load_font(name)
        assert same(parse(format_font(font)), font)

    def test_changes_nothing_when_it_is_read_and_written_again(self):
        text = format_font(parse(BASE))
        assert format_font(parse(text)) == text

    @pytest.mark.parametrize("licence", ["two\nlines", "MIT // or not", "", " MIT"])
    def test_refuses_a_licence_that_no_header_line_can_hold(self, licence):
        font = parse(BASE)
        odd = replace(font, licence=licence)
        with pytest.raises(FontError, match="must be one line of words"):
            format_font(odd)

    def test_shows_sixteen_glyphs_a_block(self):
        lines = format_font(load_font("glyph5x8")).splitlines()
        assert max(len(line.split()) for line in lines if line.startswith("@")) == 17
