"""Fonts that others drew become fonts of cells, and whatever does not come along as drawn is listed."""

import gzip
import itertools
import random
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import glyphraster as gr
from glyphraster import importer
from glyphraster.bdf import to_bdf
from glyphraster.cells import decode_cells, encode_cells
from glyphraster.errors import ArgumentError, FontError, GlyphrasterError
from glyphraster.font import MARK_BASE, Mark

# The look-alikes that ruff warns of are what this file is about.
# ruff: noqa: RUF001

OURS = gr.load_font("glyph5x8")
MISC = Path("/usr/share/fonts/X11/misc")
UNIFONT_HEX = Path("/usr/share/unifont/unifont.hex")
JETBRAINS = Path("/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf")
BOX = ["#####", "#...#", "#...#", "#...#", "#...#", "#...#", "#####", "..#.."]


@pytest.fixture(scope="session", autouse=True)
def _freetype():
    pytest.importorskip("freetype", reason="needs the extra `fonts` (freetype-py)")


def picture(font, code, span=1):
    """The rows of one glyph, as `#` and `.`."""
    first = font.cell(code)
    bits = np.unpackbits(font.bitmaps[first : first + span], axis=-1, count=font.cell_width_px)
    return ["".join(".#"[bit] for bit in row) for row in np.concatenate(list(bits), axis=1).tolist()]


ASCII = {code: picture(OURS, code) for code in range(0x20, 0x7F)}


def bits_of(row):
    return int(row.replace(".", "0").replace("#", "1"), 2)


def char(code, rows, *, advance=None, left=0, bottom=-1):
    """One glyph of a BDF, its rows given as pictures."""
    width = len(rows[0])
    digits = -(-width // 8) * 2
    bits = [f"{bits_of(row.ljust(digits * 4, '.')):0{digits}X}" for row in rows]
    advance = width if advance is None else advance
    head = [f"STARTCHAR c{code}", f"ENCODING {code}", "SWIDTH 500 0", f"DWIDTH {advance} 0"]
    return "\n".join([*head, f"BBX {width} {len(rows)} {left} {bottom}", "BITMAP", *bits, "ENDCHAR"])


def bdf(glyphs, *more, charset="ISO10646-1", properties=(), declared="FONT_ASCENT 30\nFONT_DESCENT 30"):
    """A BDF that declares nonsense as its ascent and descent, with `glyphs` as pictures and `more` as `char` gives."""
    registry, _, encoding = charset.rpartition("-")
    stated = [declared, *properties]
    if charset:
        stated += [f'CHARSET_REGISTRY "{registry}"', f'CHARSET_ENCODING "{encoding}"']
    stated = "\n".join(stated).split("\n")
    chars = [*(char(code, rows) for code, rows in glyphs.items()), *more]
    return "\n".join([
        "STARTFONT 2.1", "FONT hand-made", "SIZE 8 75 75", "FONTBOUNDINGBOX 5 8 0 -1",
        f"STARTPROPERTIES {len(stated)}", *stated, "ENDPROPERTIES", f"CHARS {len(chars)}", *chars, "ENDFONT", "",
    ])


@pytest.fixture
def imported(tmp_path):
    """Import the BDF that `bdf` writes of the same arguments; keywords of `import_font` in `how`."""
    def import_bdf(*args, how=None, **kwargs):
        path = tmp_path / "hand.bdf"
        path.write_text(bdf(*args, **kwargs))
        return gr.import_font(path, **(how or {}))
    return import_bdf


def pages_of(text, font):
    geometry = gr.PageGeometry(
        height_px=40 * font.cell_height_px, width_px=40 * font.cell_width_px,
        pitch_y_px=font.cell_height_px, pitch_x_px=font.cell_width_px,
    )
    return [gr.Page(plan=plan, font=font, geometry=geometry) for plan in gr.plan_pages(text, font, geometry)]


def reads_back(text, font):
    return gr.read([page.png() for page in pages_of(text, font)], fonts=font) == text


class TestTheCell:
    def test_is_that_of_the_letters_ink_whatever_the_file_declares(self, imported):
        font = imported(ASCII)
        assert (font.cell_height_px, font.cell_width_px, font.baseline_px) == (8, 5, 7)
        assert (font.report.cell_height_px, font.report.cell_width_px) == (8, 5)

    def test_holds_each_glyph_as_the_file_draws_it(self, imported):
        font = imported(ASCII)
        assert {code: picture(font, code) for code in ASCII} == ASCII
        assert font.report.glyphs == 95

    def test_places_a_cropped_picture_by_its_offsets(self, imported):
        font = imported(ASCII, char(0xB7, ["##", "##"], advance=5, left=2, bottom=1))
        assert picture(font, 0xB7) == [".....", ".....", ".....", ".....", "..##.", "..##.", ".....", "....."]

    def test_of_letters_too_small_for_the_marks_is_refused(self, imported):
        small = {code: [row[:4] for row in rows[:6]] for code, rows in ASCII.items()}
        with pytest.raises(FontError, match=r"hand\.bdf: its letters need a cell of 6x4 px; .* need 8x5"):
            imported(small)

    def test_of_letters_that_lie_a_world_apart_is_refused(self, imported):
        with pytest.raises(FontError, match=r"hand\.bdf: its letters need a cell of 6000[0-9]x5 px; at most 128x128"):
            imported({}, char(0x41, BOX, bottom=30000), char(0x42, BOX, bottom=-30000))

    def test_needs_letters_of_one_advance(self, imported):
        wider = {code: [row + "." * (code % 4) for row in rows] for code, rows in ASCII.items()}
        with pytest.raises(FontError, match=r"is proportional: 62 letters advance by 5 to 8 px"):
            imported(wider)

    def test_of_a_file_without_ascii_is_half_a_cjk_glyph_and_the_report_says_that_it_needs_company(self, imported):
        ink = [row + row[::-1] for row in ASCII[0x46]]
        font = imported({}, char(0x65E5, [row * 2 for row in BOX]), char(0x672C, ink))
        assert (font.cell_height_px, font.cell_width_px, font.report.wide) == (8, 5, 2)
        assert "16 of the 17 characters that a page needs are missing (0123456789ABCDEF)" in str(font.report)


    def test_of_cjk_with_an_odd_advance_holds_all_of_it(self, imported):
        odd = [row + "." + row for row in BOX]
        font = imported({}, *(char(code, odd) for code in (0x65E5, 0x672C)))
        assert (font.cell_height_px, font.cell_width_px, font.report.overlapping) == (8, 6, ())
        assert picture(font, 0x65E5, span=2) == [row + "." for row in odd]

    def test_of_cjk_beside_proportional_letters_is_half_a_cjk_glyph_and_the_letters_are_listed(self, imported):
        letters = {code: [row + "." * (code % 4) for row in rows + ["#####"] * 4] for code, rows in ASCII.items()}
        cjk = [char(code, [f"1{code % 128:07b}11".replace("0", ".").replace("1", "#")] * 8, bottom=3)
               for code in range(0x4E00, 0x4E80)]
        font = imported(letters, *cjk)
        assert (font.cell_height_px, font.cell_width_px) == (8, 5)
        assert (font.report.glyphs, font.report.wide) == (129, 128)
        assert font.report.uneven == tuple(range(0x20, 0x7F))
        assert "95 left out: not as wide as the CJK, in a font that is proportional otherwise" in str(font.report)

    def test_of_letters_beside_a_little_cjk_is_that_of_the_letters(self, imported):
        wider = {code: [row + "." * (code % 4) for row in rows] for code, rows in ASCII.items()}
        with pytest.raises(FontError, match=r"is proportional: 62 letters advance by 5 to 8 px"):
            imported(wider, *(char(code, [row * 2 for row in BOX]) for code in range(0x4E00, 0x4E20)))


class TestTheMarks:
    def test_are_those_of_our_font(self, imported):
        font = imported(ASCII)
        assert {mark: picture(font, mark) for mark in Mark} == {mark: picture(OURS, mark) for mark in Mark}

    def test_are_enlarged_by_a_whole_factor_where_the_cell_allows(self, imported):
        large = {code: ["".join(2 * bit for bit in row) for row in rows for _ in "xx"] for code, rows in ASCII.items()}
        font = imported({}, *(char(code, rows, bottom=-2) for code, rows in large.items()))
        assert (font.cell_height_px, font.cell_width_px) == (16, 10)
        expected = ["".join(2 * bit for bit in row) for row in picture(OURS, Mark.NEWLINE) for _ in "xx"]
        assert picture(font, Mark.NEWLINE) == expected

    def test_stand_on_the_baseline_in_the_middle_of_a_cell_that_is_somewhat_larger(self, imported):
        font = imported({}, *(char(code, [".....", *rows], advance=8) for code, rows in ASCII.items()),
                        char(0xC5, ["#####"] * 10))
        assert (font.cell_height_px, font.cell_width_px, font.baseline_px) == (10, 8, 9)
        assert picture(font, Mark.TAB) == ["." * 8] * 2 + [f".{row}.." for row in picture(OURS, Mark.TAB)]

    def test_stay_while_a_glyph_that_looks_like_one_is_left_out(self, imported):
        font = imported(ASCII | {0x21B5: picture(OURS, Mark.NEWLINE)})
        assert font.report.duplicates == ((0x21B5, Mark.NEWLINE),)
        assert "U+21B5 ↵=the mark NEWLINE" in str(font.report)
        assert reads_back("a\n↵\n", font)


class TestWhatDoesNotComeAlong:
    def test_a_glyph_with_the_picture_of_another_is_left_out_and_named_with_it(self, imported):
        font = imported(ASCII | {0x391: ASCII[0x41], 0x410: ASCII[0x41]})
        assert font.report.duplicates == ((0x391, 0x41), (0x410, 0x41))
        assert "2 left out: the picture of another glyph: U+0391 Α=U+0041 A, U+0410 А=U+0041 A" in str(font.report)
        assert reads_back("AΑА", font)

    @pytest.mark.parametrize(("kept", "left_out"), [
        ("ě", "ĕ"), ("Ș", "Ş"), ("đ", "ð"), ("ő", "õ"), ("`", "ʹ"), ("’", "ʼ"), ("╳", "ꓫ"), ("│", "∣"), ("—", "─"),
        ("ꓫ", "⨉"), ("⨉", "⨯"), ("Ω", "\N{OHM SIGN}"), ("µ", "μ"), ("κ", "ĸ"), ("ε", "ɛ"), ("ф", "ƃ"),
    ])
    def test_of_two_with_one_picture_the_one_that_people_write_stays(self, imported, kept, left_out):
        font = imported(ASCII | {ord(kept): BOX, ord(left_out): BOX})
        assert font.report.duplicates == ((ord(left_out), ord(kept)),)
        assert ord(kept) in font.codepoints

    def test_reports_stay_in_the_order_of_code_points(self, imported):
        boxes, blanks = dict.fromkeys(map(ord, "ŏĕě"), BOX), dict.fromkeys(map(ord, "⠀ɐΑ"), ["....."] * 8)
        font = imported(ASCII | boxes | blanks | {ord("č"): ASCII[ord("c")]})
        assert font.report.duplicates == ((0x10D, 0x63), (0x115, 0x11B), (0x14F, 0x11B))
        assert font.report.blank == (0x250, 0x391, 0x2800)

    @pytest.mark.parametrize(("other", "message"), [
        ("O", "0 and O have the same picture"), ("8", r"'8' and U\+0030 0 have the same picture"),
    ])
    def test_a_font_whose_zero_looks_like_another_is_refused(self, imported, other, message):
        with pytest.raises(FontError, match=rf"hand\.bdf: {message}"):
            imported(ASCII | {ord(other): ASCII[0x30]})

    @pytest.mark.parametrize(("code", "rows", "advance", "reason"), [
        (0x2603, ["....."] * 8, 5, "blank"),
        (0x301, ["..#..", ".#..."], 5, "combining"),
        (0x2DD, ["..#..", ".#..."], 0, "combining"),
        (0xA0, BOX, 5, "invisible"),
        (0x200D, BOX, 5, "invisible"),
        (0x2014, BOX, 15, "too_wide"),
    ])
    def test_is_listed_by_its_reason(self, imported, code, rows, advance, reason):
        font = imported(ASCII, char(code, rows, advance=advance))
        assert getattr(font.report, reason) == (code,)
        assert code not in font.codepoints
        assert f"1 left out: {'no ink' if reason == 'blank' else ''}" in str(font.report)
        assert reads_back(f"a{chr(code)}b", font)

    @pytest.mark.parametrize(("how", "reason", "shown"), [
        ({"bottom": 3}, "clipped", ["#...#", "#####", "..#..", "....."]),
        ({"left": 2}, "overlapping", ["..###", "..#..", "..#..", "..#.."]),
        ({"left": -2}, "overlapping", ["###..", "..#..", "..#..", "..#.."]),
    ])
    def test_ink_outside_the_cell_is_cut_and_listed(self, imported, how, reason, shown):
        font = imported(ASCII, char(0x25A1, BOX, advance=5, **how))
        assert getattr(font.report, reason) == (0x25A1,)
        assert picture(font, 0x25A1)[:4] == shown if reason == "overlapping" else picture(font, 0x25A1)[1:5] == shown

    @pytest.mark.parametrize(("rows", "left", "shown"), [
        (["#..#"], 2, ".#..#"), (["#..#"], -1, "#..#."), (["..##."], 2, "...##"), (["#...."], 4, "....#"),
    ])
    def test_a_letter_that_sticks_out_at_one_side_slides_to_where_the_cell_has_room(self, imported, rows, left, shown):
        font = imported(ASCII, char(0x13D, rows, advance=5, left=left))
        assert picture(font, 0x13D)[-1] == shown
        assert font.report.overlapping == ()

    def test_a_letter_that_is_wider_than_its_cell_is_cut_where_the_file_puts_it(self, imported):
        font = imported(ASCII, char(0x13E, ["#.#.#.#"], advance=5, left=-1))
        assert picture(font, 0x13E)[-1] == ".#.#."
        assert font.report.overlapping == (0x13E,)

    def test_characters_nobody_asked_for_stay_away_and_missing_ones_are_named(self, imported):
        font = imported(ASCII, how={"characters": "xyz☃"})
        assert "".join(chr(code) for code in font.codepoints if code < MARK_BASE) == " 0123456789ABCDEFxyz"
        assert font.report.missing == (0x2603,)
        assert reads_back("xyz, and the rest", font)

    def test_pixels_beyond_the_bound_stay_away_the_most_used_characters_last(self, imported, monkeypatch):
        monkeypatch.setattr(importer, "MAX_BITMAP_BYTES", 8 * (len(Mark) + len(ASCII) + 2))
        glyphs = dict(zip(map(ord, "ĕěɐ☃"), map(picture, [OURS] * 4, map(ord, "äöüß")), strict=True))
        font = imported(ASCII | glyphs)
        assert font.report.no_room == (0x250, 0x2603)
        assert "2 left out: a font holds 256 MiB of pixels; choose characters or a smaller size" in str(font.report)
        assert reads_back("ĕěɐ☃", font)

    def test_nothing_of_ascii_is_reported_for_a_whole_font(self, imported):
        assert str(imported(ASCII).report).splitlines()[1:] == ["closest in ASCII: U+0027 ' and U+0060 `, 3 px apart"]


class TestWideGlyphs:
    SUN = ("##########", "#........#", "#........#", "##########", "#........#", "#........#", "##########", "." * 10)

    def test_take_two_cells_left_before_right(self, imported):
        font = imported(ASCII, char(0x65E5, self.SUN))
        assert font.report.wide == 1
        assert picture(font, 0x65E5, span=2) == list(self.SUN)

    def test_read_back_when_no_half_is_shared(self, imported):
        assert reads_back("a日b日日\n", imported(ASCII, char(0x65E5, self.SUN)))

    def test_that_look_like_two_narrow_ones_are_left_out(self, imported):
        font = imported(ASCII, char(0x3376, [a + b for a, b in zip(ASCII[ord("p")], ASCII[ord("c")], strict=True)]))
        assert font.report.ambiguous == (0x3376,)
        assert reads_back("㍶pc", font)

    def test_stay_when_only_one_half_is_shared(self, imported):
        bracket = ["....." + row for row in BOX]
        font = imported(ASCII, char(0x300C, bracket))
        assert font.report.ambiguous == ()
        assert picture(font, 0x300C, span=2) == bracket

    def test_that_are_letters_stay_where_a_sign_can_go(self, imported):
        dash = ["....."] * 3 + ["#####"] + ["....."] * 4
        one = [row + row[:-1] + "." for row in dash]
        arrow = [half[5:] + box for half, box in zip(one, BOX, strict=True)]
        font = imported(ASCII | {0x2500: dash}, char(0x4E00, one), char(0x290D, arrow))
        assert font.report.ambiguous == (0x290D,)
        assert {0x2500, 0x4E00} <= set(font.codepoints.tolist())


class TestCharsets:
    def test_a_latin_2_file_is_mapped_by_the_charset_it_names(self, imported):
        font = imported(ASCII, char(0xE8, BOX), charset="ISO8859-2")
        assert picture(font, ord("č")) == BOX

    def test_a_double_byte_file_is_mapped_by_its_rows_and_cells(self, imported):
        font = imported({}, char(0x467C, [row * 2 for row in BOX]), charset="JISX0208.1983-0")
        assert picture(font, ord("日"), span=2) == [row * 2 for row in BOX]

    def test_codes_that_are_no_character_are_listed(self, imported):
        font = imported(ASCII, char(0xA5, BOX), charset="ISO8859-3")
        assert font.report.unmapped == (0xA5,)
        assert "1 left out: codes that the file's charset does not know: 0xa5" in str(font.report)

    @pytest.mark.parametrize(("charset", "said"), [("", "names no charset"), ("DEC-DECTECH", "charset 'DEC-DECTECH'")])
    def test_a_file_without_a_known_charset_is_refused_until_one_is_given(self, imported, charset, said):
        with pytest.raises(FontError, match=rf"hand\.bdf has no Unicode map and names .*{said[6:]}.*give encoding="):
            imported(ASCII, charset=charset)
        font = imported(ASCII, char(0xC1, BOX), charset=charset, how={"encoding": "koi8_r"})
        assert picture(font, ord("а")) == BOX

    def test_a_font_line_that_ends_in_a_charset_is_enough(self, tmp_path):
        path = tmp_path / "line.bdf"
        line = "FONT -x-y-medium-r-normal--8-80-75-75-C-50-iso10646-1"
        path.write_text(bdf(ASCII, char(0x10D, BOX), charset="").replace("FONT hand-made", line))
        assert picture(gr.import_font(path), ord("č")) == BOX

    def test_an_unknown_encoding_is_refused(self, imported):
        with pytest.raises(ArgumentError, match="encoding 'klingon' is no charset of Python"):
            imported(ASCII, how={"encoding": "klingon"})


class TestNamesAndLicences:
    def test_the_licence_comes_from_the_file(self, imported):
        assert imported(ASCII, properties=['COPYRIGHT "Public domain.  Share  and enjoy."']).licence == (
            "Public domain. Share and enjoy.")

    def test_a_file_that_states_no_licence_is_said_to_state_none(self, imported):
        assert imported(ASCII).licence == "not stated in hand.bdf"

    def test_the_name_is_the_files_or_the_callers(self, imported):
        assert imported(ASCII).name == "hand"
        assert imported(ASCII, how={"name": "mine"}).name == "mine"

    def test_no_import_takes_the_name_of_a_shipped_font(self, imported, tmp_path):
        with pytest.raises(ArgumentError, match="name is 'glyph5x8'; it must be"):
            imported(ASCII, how={"name": "glyph5x8"})
        (tmp_path / "glyph5x8.bdf").write_text(bdf(ASCII))
        assert gr.import_font(tmp_path / "glyph5x8.bdf").name == "glyph5x8-imported"

    def test_saves_and_loads_as_a_font_like_any_other(self, imported, tmp_path):
        font = imported(ASCII)
        font.save(tmp_path / "hand.npz")
        assert gr.load_font(tmp_path / "hand.npz").digest == font.digest


def hex_line(code, rows):
    """One line of GNU .hex: our 8 rows twice as high."""
    return f"{code:04X}:" + "".join(f"{bits_of(row) << 3:02X}" * 2 for row in rows) + "\n"


class TestHex:
    LINES = "".join(hex_line(code, rows) for code, rows in ASCII.items()) + f"65E5:FFFF{'8001' * 14}FFFF\n"

    def test_needs_no_freetype(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "freetype", None)
        (tmp_path / "uni.hex").write_text(self.LINES)
        font = gr.import_font(tmp_path / "uni.hex")
        assert (font.cell_height_px, font.cell_width_px, font.report.glyphs, font.report.wide) == (16, 8, 96, 1)
        assert picture(font, 0x65E5, span=2)[1] == "#" + "." * 14 + "#"
        assert reads_back("日 = 0x65E5", font)

    def test_has_one_size(self, tmp_path):
        (tmp_path / "uni.hex").write_text(self.LINES)
        assert gr.import_font(tmp_path / "uni.hex", size_px=16).cell_height_px == 16
        with pytest.raises(ArgumentError, match=r"uni\.hex holds bitmaps of 16 px, and size_px is 12"):
            gr.import_font(tmp_path / "uni.hex", size_px=12)

    def test_opens_gzipped(self, tmp_path):
        (tmp_path / "uni.hex.gz").write_bytes(gzip.compress(self.LINES.encode()))
        assert gr.import_font(tmp_path / "uni.hex.gz").report.glyphs == 96

    @pytest.mark.parametrize(("line", "message"), [
        ("0041:00FF", r"line 97: b'0041:00FF' is no glyph"), ("0041:" + "0" * 32, r"line 97: U\+0041 is drawn again"),
        ("FFFFFF:" + "0" * 32, r"line 97: U\+FFFFFF .* beyond U\+10FFFF"),
    ])
    def test_names_the_line_that_is_wrong(self, tmp_path, line, message):
        (tmp_path / "bad.hex").write_text(self.LINES + line + "\n")
        with pytest.raises(FontError, match=rf"bad\.hex, {message}"):
            gr.import_font(tmp_path / "bad.hex")


def truetype(*maps):
    """A TrueType file of two boxes, 16 and 8 px high at 16 px per em; each map is an encoding id and glyph by code."""
    def box(height):
        return struct.pack(">5hHh4B4h4h", 1, 0, 0, 600, height, 3, 0, 1, 1, 1, 1, 0, 600, 0, -600, 0, 0, height, 0)

    def subtable(glyphs):
        groups = b"".join(struct.pack(">3I", code, code, glyph) for code, glyph in glyphs.items())
        return struct.pack(">HHIII", 12, 0, 16 + len(groups), 0, len(glyphs)) + groups

    tall, low, subtables = box(1000), box(500), [subtable(glyphs) for _, glyphs in maps]
    starts = itertools.accumulate(map(len, subtables), initial=4 + 8 * len(maps))
    records = b"".join(struct.pack(">HHI", 3, one, start) for (one, _), start in zip(maps, starts, strict=False))
    return sfnt({
        b"cmap": struct.pack(">HH", 0, len(maps)) + records + b"".join(subtables),
        b"glyf": tall + low,
        b"head": struct.pack(">4I2H2Q4h2H3h", 1 << 16, 0, 0, 0x5F0F3CF5, 0, 1000, 0, 0, 0, 0, 600, 1000, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">I3hH3h3h4hhH", 1 << 16, 1000, 0, 0, 600, 0, 0, 600, 1, 0, 0, 0, 0, 0, 0, 0, 3),
        b"hmtx": struct.pack(">Hh", 600, 0) * 3,
        b"loca": struct.pack(">4I", 0, 0, len(tall), len(tall) + len(low)),
        b"maxp": struct.pack(">IH", 1 << 16, 3) + bytes(26),
    })


def sfnt(tables):
    start, head, body = 12 + 16 * len(tables), struct.pack(">IHHHH", 1 << 16, len(tables), 0, 0, 0), b""
    for tag, content in tables.items():
        head += struct.pack(">4sIII", tag, 0, start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    return head + body


def test_of_two_unicode_maps_the_one_beyond_the_first_plane_counts(tmp_path):
    (tmp_path / "maths.ttf").write_bytes(truetype((1, {0x41: 1}), (10, {0x41: 1, 0x1D538: 2})))
    font = gr.import_font(tmp_path / "maths.ttf", size_px=16)
    assert (font.cell_height_px, font.cell_width_px, font.report.glyphs) == (16, 10, 3)
    assert picture(font, 0x1D538) == ["." * 10] * 8 + ["#" * 10] * 8


class TestSizes:
    def test_a_size_that_the_bitmaps_do_not_have_is_refused_with_the_one_they_have(self, imported):
        with pytest.raises(ArgumentError, match=r"hand\.bdf holds bitmaps of 60 px, and size_px is 13"):
            imported(ASCII, how={"size_px": 13})

    @pytest.mark.parametrize("size_px", [0, -1, 129, 10**9, 12.5])
    def test_a_size_that_no_page_draws_is_refused(self, tmp_path, size_px):
        with pytest.raises(ArgumentError, match=f"size_px is {size_px}; it must be a whole number from 1 to 128"):
            gr.import_font(tmp_path / "any.ttf", size_px=size_px)


def test_importing_the_package_does_not_import_freetype():
    code = "import sys, glyphraster; glyphraster.import_font; print('freetype' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_freetype_the_error_names_the_extra(imported, monkeypatch):
    monkeypatch.setitem(sys.modules, "freetype", None)
    with pytest.raises(FontError, match=r"hand\.bdf needs FreeType.*pip install 'glyphraster\[fonts\]'"):
        imported(ASCII)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ArgumentError, match=r"no font file '/nowhere/x\.ttf'"):
        gr.import_font("/nowhere/x.ttf")


def head_of_woff(size):
    return b"wOFF\0\1\0\0" + (64).to_bytes(4, "big") + b"\0\1\0\0" + size.to_bytes(4, "big") + bytes(60)


class TestHostileFiles:
    @pytest.mark.parametrize(("content", "message"), [
        (b"", "holds 0 bytes; a font file has 1 to 67,108,864"),
        (b"\x1f\x8b", "2 bytes gave 0"),
        (b"hello, world", "is no font file that can be imported: its 12 bytes start with b'hello, w'"),
        (b"wOF2\0\1\0\0", r"start with b'wOF2.*WOFF \(not WOFF2"),
        (b"STARTFONT 2.1\n", "is a damaged font file of 14 bytes: FreeType error"),
        (b"\x00\x01\x00\x00" + bytes(100), "is a damaged font file of 104 bytes"),
        (b"\x01fcp" + b"\xff" * 100, "is a damaged font file of 104 bytes"),
        (b"ttcf\0\1\0\0\xff\xff\xff\xff" + bytes(100), "is a damaged font file of 112 bytes"),
        (gzip.compress(bytes(1000))[:-20], "is a (gzip file cut short|damaged gzip file)"),
        (gzip.compress(gzip.compress(bytes(1000))), "is no font file that can be imported"),
        (gzip.compress(b"\1fcp" + bytes(70 << 20), 1), "holds more than 67,108,864 bytes"),
        (head_of_woff(0xFFFFFFF0), "announces 4,294,967,280 bytes of glyphs; at most 67,108,864"),
        (bdf({0x41: BOX}).replace("BBX 5 8", "BBX 32767 99999999999").encode(), "announces 134,213,632 bytes"),
        (bdf({0x41: BOX}).replace("DWIDTH 5", "DWIDTH 32000").encode(), "a cell of 8x32000 px; at most 128x128"),
        (bdf({0x41: BOX}).replace("DWIDTH 5", "DWIDTH -5").encode(), "letters advance by"),
        (bdf({0x41: ["....."] * 8}).encode(), "none of its 1 glyphs has ink"),
        (bdf({0x41: BOX}).replace("STARTPROPERTIES 4", "STARTPROPERTIES 4000000000").encode(), "FreeType error"),
    ])
    def test_are_refused_with_their_path_and_a_number(self, tmp_path, content, message):
        path = tmp_path / "hostile.font"
        path.write_bytes(content)
        with pytest.raises(FontError, match=rf"hostile\.font.*({message})"):
            gr.import_font(path)

    def test_a_directory_is_no_font(self, tmp_path):
        with pytest.raises(ArgumentError, match="no font file"):
            gr.import_font(tmp_path)

    def test_a_count_of_four_billion_glyphs_costs_nothing(self, tmp_path):
        path = tmp_path / "many.bdf"
        path.write_text(bdf({0x41: BOX}).replace("CHARS 1", "CHARS 4000000000"))
        assert gr.import_font(path).report.glyphs == 2

    @settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=20), st.floats(0, 1))
    def test_a_damaged_bdf_imports_or_is_refused(self, tmp_path, damage, kept):
        check_damaged(tmp_path / "damaged.bdf", bdf(ASCII).encode(), damage, kept if kept > 0.5 else 1.0)

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.sampled_from([b"STARTFONT", b"\1fcp", b"\0\1\0\0", b"OTTO", b"ttcf", b"wOFF", b"\x1f\x8b", b"0041:"]),
           st.binary(max_size=300))
    def test_random_bytes_behind_a_known_beginning_are_refused(self, tmp_path, beginning, rest):
        path = tmp_path / "random.font"
        path.write_bytes(beginning + rest)
        with pytest.raises(GlyphrasterError, match=r"random\.font"):
            gr.import_font(path, size_px=12)


def check_damaged(path, content, damage, kept=1.0, size_px=None):
    """Change bytes at relative places, cut the end off, import: a font or an error that names the file."""
    changed = bytearray(content)
    for place, byte in damage:
        changed[int(place * len(changed))] = byte
    path.write_bytes(changed[: int(len(changed) * kept)])
    assert outcome(path, size_px).startswith(str(path))


def outcome(path, size_px):
    try:
        return gr.import_font(path, size_px=size_px).report.source
    except GlyphrasterError as error:
        return str(error)


def real(path):
    if not path.is_file():
        pytest.skip(f"needs {path} (Debian: xfonts-base, unifont, xfonts-efont-unicode, fonts-jetbrains-mono)")
    return path


def two_cells_first(cells, font):
    """A slow reader for fonts whose cells may look alike: at each place a wide glyph if both halves fit, else one."""
    keys = [cell.tobytes() for cell in font.bitmaps]
    starts = list(zip(font.first_cells.tolist(), font.spans.tolist(), strict=True))
    wide = {keys[first] + keys[first + 1]: first for first, span in starts if span == 2}
    narrow = {keys[first]: first for first, span in starts if span == 1}
    found, place, seen = [], 0, [keys[cell] for cell in cells]
    while place < len(seen):
        first = wide.get(b"".join(seen[place : place + 2]))
        found += [narrow[seen[place]]] if first is None else [first, first + 1]
        place += 1 if first is None else 2
    return decode_cells(np.array(found), font)


class TestRealFiles:
    @pytest.mark.parametrize(("name", "cell", "least"), [
        ("5x8.pcf.gz", (8, 5), 1250), ("6x13.pcf.gz", (13, 6), 3500), ("5x8-ISO8859-2.pcf.gz", (8, 5), 185),
    ])
    def test_debians_x11_fonts_read_back(self, name, cell, least):
        font = gr.import_font(real(MISC / name))
        assert (font.cell_height_px, font.cell_width_px) == cell
        assert font.report.glyphs >= least
        assert font.licence == "Public domain font. Share and enjoy."
        assert reads_back("def č(ř):\n        return 'ě', 0xDEAD\t# Ωд日\r\n", font)

    def test_every_glyph_of_6x13_reads_back(self):
        font = gr.import_font(real(MISC / "6x13.pcf.gz"))
        assert reads_back("".join(chr(code) for code in font.codepoints if code < MARK_BASE), font)

    def test_jetbrains_mono_is_drawn_in_black_and_white_and_reads_back(self):
        font = gr.import_font(real(JETBRAINS), size_px=16)
        assert font.name == "JetBrainsMono-Regular-16"
        assert "SIL Open Font License" in font.licence
        assert any("were rounded" in warning for warning in font.report.warnings)
        assert font.report.clipped
        assert reads_back("fn main() { println!(\"{}\", 0xDEAD != 0O17); }\n", font)

    def test_outlines_need_a_size_and_a_small_one_is_warned_of_or_refused(self):
        with pytest.raises(ArgumentError, match=r"JetBrainsMono-Regular\.ttf holds outlines: give size_px"):
            gr.import_font(real(JETBRAINS))
        with pytest.raises(FontError, match="have the same picture"):
            gr.import_font(JETBRAINS, size_px=8)

    def test_outlines_below_9_px_carry_a_warning(self):
        report = gr.import_font(real(JETBRAINS.with_name("JetBrainsMono-Italic.ttf")), size_px=8).report
        assert any("outlines at 8 px lose strokes; take 9 px" in warning for warning in report.warnings)

    @pytest.mark.parametrize("path", [MISC / "b12.pcf.gz", MISC / "b16.pcf.gz", MISC / "unifont.pcf.gz", UNIFONT_HEX],
                             ids=lambda path: path.name)
    def test_cjk_is_wide_and_any_text_is_told_apart_by_two_cells_first(self, path):
        font = gr.import_font(real(path))
        assert font.report.wide > 11_000
        codes = [code for code in font.codepoints.tolist() if code < MARK_BASE]
        draw = random.Random(5)
        made = ["".join(map(chr, draw.choices(codes, k=300))) for _ in range(20)]
        for text in ["「日本語」、漢字とカナ。 中文 — 한국어 A—B\n", *made]:
            assert two_cells_first(encode_cells(text, font)[0], font) == text

    def test_unifont_comes_along_as_a_whole(self):
        font = gr.import_font(real(UNIFONT_HEX))
        assert int(font.spans.sum()) > 100_000
        assert font.report.no_room == ()

    def test_a_few_characters_of_a_cjk_font_make_a_font_of_pages(self):
        font = gr.import_font(real(MISC / "b12.pcf.gz"), characters="日本語 = Nihongo")
        assert font.report.wide == 3
        assert reads_back("日本語 = Nihongo\n" * 9, font)

    def test_a_jis_file_without_a_unicode_map_finds_its_characters(self):
        font = gr.import_font(real(MISC / "jiskan16.pcf.gz"))
        assert {ord(character) for character in "日本語カナひら"} <= set(font.codepoints.tolist())

    @pytest.mark.parametrize(("tool", "arguments", "suffix"), [
        ("bdftopcf", ["-o"], ".pcf"), ("fonttosfnt", ["-o"], ".otb"),
    ])
    def test_our_font_comes_back_from_pcf_and_otb(self, tmp_path, tool, arguments, suffix):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool} (Debian: xfonts-utils)")
        source, path = tmp_path / "ours.bdf", tmp_path / f"ours{suffix}"
        source.write_text(to_bdf(OURS))
        subprocess.run([tool, *arguments, path, source], check=True, capture_output=True)
        (tmp_path / "ours.gz").write_bytes(gzip.compress(path.read_bytes()))
        assert gr.import_font(path).digest == OURS.digest
        assert gr.import_font(tmp_path / "ours.gz").digest == OURS.digest

    @settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=30), st.floats(0, 1))
    def test_a_damaged_pcf_imports_or_is_refused(self, tmp_path, damage, kept):
        content = zlib.decompress(real(MISC / "5x8-ISO8859-2.pcf.gz").read_bytes(), wbits=31)
        check_damaged(tmp_path / "damaged.pcf", content, damage, kept if kept > 0.7 else 1.0)

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=30))
    def test_a_damaged_truetype_file_imports_or_is_refused(self, tmp_path, damage):
        check_damaged(tmp_path / "damaged.ttf", real(JETBRAINS).read_bytes(), damage, size_px=12)


class TestTheCommands:
    def test_import_writes_a_packed_font_and_prints_the_report(self, tmp_path):
        from glyphraster.cli import app

        (tmp_path / "hand.bdf").write_text(bdf(ASCII | {0x391: ASCII[0x41]}))
        out = tmp_path / "hand.npz"
        done = CliRunner().invoke(app, ["font", "import", str(tmp_path / "hand.bdf"), "--out", str(out)])
        assert done.exit_code == 0
        font = gr.load_font(out)
        assert f"hand in {out}, digest {font.digest}; licence: not stated in hand.bdf" in done.output
        assert "95 glyphs in cells of 8x5 px" in done.output
        assert "U+0391 Α=U+0041 A" in done.output

    def test_import_takes_the_characters_of_a_text(self, tmp_path):
        from glyphraster.cli import app

        (tmp_path / "hand.bdf").write_text(bdf(ASCII))
        (tmp_path / "wanted.txt").write_text("xyz\n")
        arguments = ["font", "import", str(tmp_path / "hand.bdf"), "--out", str(tmp_path / "few.npz"),
                     "--characters", str(tmp_path / "wanted.txt")]
        assert CliRunner().invoke(app, arguments).exit_code == 0
        assert len(gr.load_font(tmp_path / "few.npz").codepoints) == 17 + 3 + len(Mark)

    def test_export_writes_a_bdf_that_builds_the_same_font(self, tmp_path):
        from glyphraster.cli import app

        path, out = tmp_path / "ours.bdf", tmp_path / "ours.npz"
        assert CliRunner().invoke(app, ["font", "export", "glyph5x8", "--out", str(path)]).exit_code == 0
        assert CliRunner().invoke(app, ["font", "build", str(path), "--out", str(out)]).exit_code == 0
        assert gr.load_font(out).digest == OURS.digest
