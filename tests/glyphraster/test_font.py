"""The packed font value, the shipped font, and how far apart its glyphs are."""

import contextlib
import itertools
import math
import os
import string
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from glyphraster.cli import app
from glyphraster.distance import (
    ALPHABETS,
    ASCII,
    BLUR_MINIMA_PX,
    PHASES,
    REDUCTION,
    SCRIPTS,
    check,
    closest_blurred_pairs,
    closest_pairs,
    report,
)
from glyphraster.errors import ArgumentError, FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark, load_font, shipped_fonts
from glyphraster.source import build

REPOSITORY = Path(__file__).parents[2]
PACKED = REPOSITORY / "glyphraster" / "data" / "glyph5x8.npz"

# The look-alikes that ruff warns of are what this file is about.
# ruff: noqa: RUF001

TEXT = " " + ASCII
LATIN = "".join(
    character for character in map(chr, range(0x250))
    if character.isalpha() and (ord(character) < 0x180 or character in "ȘșȚț")
)


def span(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


EVERYWHERE = {
    "ASCII": TEXT,
    "Latin-1": "".join(character for character in span(0xA1, 0xFF) if character != "\xad"),
    "Latin Extended-A": span(0x100, 0x17F),
    "Romanian comma letters": "ȘșȚț",
    "Vietnamese": span(0x1EA0, 0x1EF9) + "ƠơƯư",
    "Greek": span(0x391, 0x3A1) + span(0x3A3, 0x3CE) + "ΆΈΉΊΌΎΏΐ",
    "Cyrillic": span(0x400, 0x45F) + "Ґґ",
    "punctuation": "–—‘’‚“”„…•‹›†‡‰‖′″‐‑",
    "currency": "€₤₦₩₪₫₭₱₴₸₹₺₽₿",
    "superscripts and subscripts": "⁰⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ" + span(0x2080, 0x208E),
    "number forms": "⅓⅔⅕⅛⅜⅝⅞" + span(0x2160, 0x216B) + span(0x2170, 0x217B),
    "arrows": "←↑→↓↔↕↖↗↘↙↦↩↪↳⇐⇑⇒⇓⇔",
    "mathematics": "−×÷≤≥≠≈≡∞√∑∏∫∂∇∈∉∀∃∅∧∨∩∪⊂⊃⊆⊇⌈⌉⌊⌋⟨⟩",
    "keyboard signs": "⌘⌥⇧⌃⎋⏎⌫⌦⏏",
    "shapes and check marks": "■□▲△▶▼◀◆◇○●★☆☐☑☒✓✔✗✘⚠",
    "box drawing": span(0x2500, 0x257F),
    "blocks": span(0x2580, 0x259F),
    "Braille": span(0x2801, 0x28FF),
    "replacement": "\N{REPLACEMENT CHARACTER}",
}
SHIPPED = {"glyph5x8": (8, 5, 7), "glyph5x9": (9, 5, 7), "glyph6x10": (10, 6, 8), "glyph8x13": (13, 8, 11)}
"""Cell height, cell width and baseline, in px."""


@pytest.fixture(scope="module")
def font() -> BitmapFont:
    return load_font("glyph5x8")


@pytest.fixture(scope="module", params=shipped_fonts())
def each(request) -> BitmapFont:
    """Every font that the package ships: a new one is covered by being there."""
    return load_font(request.param)


def picture(font: BitmapFont, code: int) -> list[str]:
    """The rows of one glyph, decoded pixel by pixel: byte column // 8, high bit leftmost."""
    rows = font.bitmaps[font.cell(code)]
    return [
        "".join(".#"[row[x // 8] >> (7 - x % 8) & 1] for x in range(font.cell_width_px))
        for row in rows.tolist()
    ]


def nearest(font: BitmapFont, characters=None, *, least: int) -> list[tuple[int, str]]:
    """The pairs that differ in fewer than `least` pixels, readable in a failure."""
    pairs = closest_pairs(font, characters, None)
    return [(p.distance_px, f"{name(p.first)} {name(p.second)}") for p in pairs if p.distance_px < least]


def differ(one: list[str], other: list[str]) -> int:
    """The number of pixels in which two pictures differ."""
    return sum(a != b for rows in zip(one, other, strict=True) for a, b in zip(*rows, strict=True))


def twin_of(font: BitmapFont, character: str, other: str) -> BitmapFont:
    """The font with one character drawn as another."""
    bitmaps = font.bitmaps.copy()
    bitmaps[font.cell(ord(character))] = bitmaps[font.cell(ord(other))]
    return replace(font, bitmaps=bitmaps)


def slow_blur(one: list[str], other: list[str]) -> float:
    """The blurred distance of two pictures, pixel by pixel of the smaller page."""
    total = 0.0
    for phase in range(PHASES):
        sizes = [size + 8 + phase for size in (len(one), len(one[0]))]
        smaller = [round(size * REDUCTION) for size in sizes]
        ratios = [size / small for size, small in zip(sizes, smaller, strict=True)]
        for y, x in itertools.product(*map(range, smaller)):
            cell = 0.0
            for row, (a, b) in enumerate(zip(one, other, strict=True)):
                for column in range(len(a)):
                    sign = (a[column] == "#") - (b[column] == "#")
                    cell += sign * math.prod(
                        max(0.0, min((at + 1) * ratio, place + 1) - max(at * ratio, place)) / ratio
                        for at, ratio, place in zip((y, x), ratios, (row + 4 + phase, column + 4 + phase), strict=True)
                    )
            total += abs(cell)
    return total / PHASES


def name(code: int) -> str:
    return Mark(code).name if code >= MARK_BASE else chr(code)


def tiny(**changes) -> BitmapFont:
    fields = {
        "name": "tiny", "cell_height_px": 2, "cell_width_px": 3, "baseline_px": 2, "licence": "MIT",
        "codepoints": np.array([65, 66], np.uint32), "spans": np.array([1, 2], np.uint8),
        "bitmaps": np.arange(6, dtype=np.uint8).reshape(3, 2, 1),
    }
    return BitmapFont(**(fields | changes))


class TestTheShippedFonts:
    def test_are_those_that_the_sources_make(self):
        named = {path.stem for path in (REPOSITORY / "fonts").glob("glyph*.glyphs")}
        assert set(shipped_fonts()) == set(SHIPPED) == set(BLUR_MINIMA_PX) == named

    def test_are_what_their_sources_build_byte_for_byte(self, each, tmp_path):
        build(REPOSITORY / "fonts" / f"{each.name}.glyphs", tmp_path / "fresh.npz")
        assert (tmp_path / "fresh.npz").read_bytes() == (PACKED.parent / f"{each.name}.npz").read_bytes()

    def test_say_their_cell_their_baseline_and_their_licence(self, each):
        assert (each.cell_height_px, each.cell_width_px, each.baseline_px) == SHIPPED[each.name]
        assert each.licence.startswith("MIT")

    def test_store_the_top_row_first_and_the_leftmost_pixel_in_the_high_bit(self, font):
        assert font.bitmaps[font.cell(ord("L"))].tolist() == [[0], [0x80], [0x80], [0x80], [0x80], [0x80], [0xF0], [0]]
        assert picture(font, ord("R")) == [
            ".....",
            "###..",
            "#..#.",
            "###..",
            "#.#..",
            "#..#.",
            "#..#.",
            ".....",
        ]

    def test_stand_capitals_and_digits_on_the_baseline(self, each):
        for character in string.ascii_uppercase + string.digits:
            rows = picture(each, ord(character))
            assert "#" in rows[each.baseline_px - 1], character
            assert "#" not in rows[each.baseline_px], character

    @pytest.mark.parametrize("family", EVERYWHERE)
    def test_draw_every_character_of(self, each, family):
        held = set(each.codepoints.tolist())
        assert [f"U+{ord(c):04X}" for c in EVERYWHERE[family] if ord(c) not in held] == []

    @pytest.mark.parametrize(
        "code", [0x09, 0x0A, 0x0D, 0x7F, 0xA0, 0xAD, 0x0301, 0x200B, 0x200D, 0x202E, 0x202F, 0x2800, 0x3000, 0xFE0F,
                 0xFEFF])
    def test_have_no_glyph_for_what_nobody_can_see(self, each, code):
        with pytest.raises(FontError, match=f"U\\+{code:04X}"):
            each.cell(code)

    def test_have_no_glyph_for_a_character_that_stands_on_another_or_is_a_blank(self, each):
        characters = [chr(code) for code in each.codepoints.tolist() if 0x20 < code < MARK_BASE]
        assert [f"U+{ord(c):04X}" for c in characters if unicodedata.category(c)[0] in "MZC"] == []

    def test_have_a_one_cell_glyph_for_every_mark(self, each):
        codes = each.codepoints.tolist()
        assert [mark.name for mark in Mark if mark not in codes] == []
        assert set(each.spans.tolist()) == {1}

    def test_leave_only_the_space_blank(self, each):
        assert [code for code in each.codepoints.tolist() if not each.bitmaps[each.cell(code)].any()] == [0x20]

    def test_keep_the_gap_column_free_in_small_letters_and_digits(self, each):
        for character in set(string.ascii_lowercase) - set("mw") | set(string.digits):
            assert all(row.endswith(".") for row in picture(each, ord(character))), character

    def test_join_lines_across_cells(self, each):
        middle, centre = (each.cell_height_px - 1) // 2, (each.cell_width_px - 1) // 2
        assert picture(each, ord("─"))[middle] == "#" * each.cell_width_px
        assert [row[centre] for row in picture(each, ord("│"))] == ["#"] * each.cell_height_px
        for character in map(chr, range(0x250C, 0x254C)):
            words = unicodedata.name(character)
            rows = picture(each, ord(character))
            reaches = {
                "LEFT": rows[middle][0], "RIGHT": rows[middle][-1], "UP": rows[0][centre], "DOWN": rows[-1][centre],
            }
            horizontal, vertical = "HORIZONTAL" in words, "VERTICAL" in words
            for side, pixel in reaches.items():
                through = horizontal if side in ("LEFT", "RIGHT") else vertical
                assert (pixel == "#") == (through or side in words), (character, side)


    def test_rule_a_margin_of_dots_that_goes_on_evenly_in_the_row_below(self, each):
        rows = picture(each, Mark.MARGIN)
        assert len({row.index("#") for row in rows if "#" in row}) == 1
        assert max(row.count("#") for row in rows) == 1
        dots = [y for y, row in enumerate(2 * rows) if "#" in row]
        steps = [below - above for above, below in itertools.pairwise(dots)]
        assert 2 <= min(steps) <= max(steps) <= 3
        assert min(steps) == max(steps) or each.cell_height_px == 13  # a prime number of rows has no even step


class TestTheGlyphsStayApart:
    def test_no_two_share_a_picture(self, each):
        assert nearest(each, least=1) == []

    def test_within_ascii_by_3_pixels(self, each):
        assert nearest(each, TEXT, least=3) == []

    @pytest.mark.parametrize("language", ALPHABETS)
    def test_within_ascii_and_one_alphabet_by_3_pixels(self, each, language):
        letters = ALPHABETS[language]
        capitals = (letter.upper() for letter in letters if len(letter.upper()) == 1)
        assert nearest(each, [*TEXT, *letters, *capitals], least=3) == []

    def test_within_latin_by_2_pixels(self, each):
        assert nearest(each, LATIN, least=2) == []

    @pytest.mark.parametrize("script", SCRIPTS)
    def test_within_one_script_by_2_pixels(self, each, script):
        first, last = SCRIPTS[script]
        letters = [chr(c) for c in each.codepoints.tolist() if first <= c <= last and chr(c).isalpha()]
        assert nearest(each, letters, least=2) == []

    def test_within_vietnamese_by_2_pixels(self, each):
        assert nearest(each, EVERYWHERE["Vietnamese"] + string.ascii_letters, least=2) == []

    @pytest.mark.parametrize("digits", [string.digits + "abcdef", string.digits + "ABCDEF"], ids=["lower", "upper"])
    def test_within_hexadecimal_digits_by_4_pixels(self, each, digits):
        assert nearest(each, digits, least=4) == []

    def test_zero_differs_from_both_other_rounds_by_far(self, each):
        assert nearest(each, "0Oo", least=8) == []

    @pytest.mark.parametrize("alike", ["1lI|", "5S", "8B", "2Z", "KH", "'`\"", "-–—−", "‘’“”„‚"])
    def test_lookalikes_by_3_pixels(self, each, alike):
        assert nearest(each, alike, least=3) == []

    def test_marks_from_every_other_glyph_by_3_pixels(self, each):
        pairs = closest_pairs(each, None, 8000)
        assert pairs[-1].distance_px >= 3
        assert [p for p in pairs if p.second >= MARK_BASE and p.distance_px < 3] == []

    def test_count_digits_from_plain_digits_by_7_pixels(self, each):
        digits = [picture(each, ord(digit)) for digit in string.digits]
        counts = [picture(each, mark) for mark in Mark if mark >= Mark.COUNT_0]
        assert min(differ(plain, count) for plain in digits for count in counts) >= 7

    @pytest.mark.parametrize(("mark", "bracket"), [(Mark.ESCAPE_OPEN, "["), (Mark.ESCAPE_CLOSE, "]")])
    def test_escape_brackets_from_square_ones_by_6_pixels(self, each, mark, bracket):
        assert differ(picture(each, mark), picture(each, ord(bracket))) >= 6

    def test_on_a_smaller_page_as_far_as_the_font_has_promised(self, each):
        ascii_px, alphanumeric_px = BLUR_MINIMA_PX[each.name]
        assert closest_blurred_pairs(each, ASCII, 1)[0].distance_px >= ascii_px >= 1.0
        letters = string.ascii_letters + string.digits
        assert closest_blurred_pairs(each, letters, 1)[0].distance_px >= alphanumeric_px >= 1.2


class TestCheck:
    def test_passes_every_shipped_font(self, each):
        assert [finding.gate.name for finding in check(each) if not finding.passed] == []

    def test_fails_a_font_in_which_two_glyphs_are_alike(self, font):
        twin = twin_of(font, "O", "0")
        failed = [finding for finding in check(twin) if not finding.passed]
        assert "all glyphs" in [finding.gate.name for finding in failed]
        assert {"0", "O"} == {chr(failed[0].worst[0].first), chr(failed[0].worst[0].second)}

    def test_counts_only_pairs_with_a_mark_for_marks(self, font):
        finding = next(finding for finding in check(font, 3) if finding.gate.marks_only)
        assert len(finding.worst) == 3
        assert all(pair.second >= MARK_BASE for pair in finding.worst)

    def test_is_told_in_one_line_a_gate_with_the_numbers_and_the_pairs(self, font):
        lines = report(check(twin_of(font, "O", "0"), 2)).splitlines()
        assert lines[0].startswith("FAIL  all glyphs: 0 px, at least 1   0 O 0")
        assert any(line.startswith("pass  ") and "mark:" in line for line in lines)

    @pytest.mark.parametrize(("name", "code"), [("glyph5x8", 0), ("twin", 1)])
    def test_on_the_command_line_ends_with_0_or_1(self, font, tmp_path, name, code):
        twin_of(font, "O", "0").save(tmp_path / "twin.npz")
        given = name if name in shipped_fonts() else str(tmp_path / "twin.npz")
        result = CliRunner().invoke(app, ["font", "check", given])
        assert result.exit_code == code
        assert "hexadecimal digits" in result.stdout


class TestClosestBlurredPairs:
    def test_agree_with_a_slow_reduction_of_every_pixel(self, font):
        pairs = closest_blurred_pairs(font, "ceo8", None)
        for pair in pairs:
            assert pair.distance_px == pytest.approx(slow_blur(picture(font, pair.first), picture(font, pair.second)))

    def test_call_one_pixel_about_as_far_as_one_pixel_of_the_page(self, font):
        pair = closest_blurred_pairs(font, "oо", None)[0]
        assert 0.5 < pair.distance_px < 1.0

    def test_name_a_character_that_the_font_lacks(self, font):
        with pytest.raises(FontError, match=r"U\+65E5"):
            closest_blurred_pairs(font, "a日")


class TestClosestPairs:
    def test_agree_with_counting_pixel_by_pixel(self, font):
        letters = "acegnoqu"
        slow = sorted(
            sum(a != b for rows in zip(picture(font, ord(x)), picture(font, ord(y)), strict=True)
                for a, b in zip(*rows, strict=True))
            for x, y in itertools.combinations(letters, 2)
        )
        assert [pair.distance_px for pair in closest_pairs(font, letters, None)] == slow

    def test_come_nearest_first_and_no_more_than_asked(self, font):
        pairs = closest_pairs(font, ASCII, 5)
        assert len(pairs) == 5
        assert [pair.distance_px for pair in pairs] == sorted(pair.distance_px for pair in pairs)

    def test_leave_wide_glyphs_out(self):
        assert closest_pairs(tiny()) == []

    def test_refuse_a_negative_number(self, font):
        with pytest.raises(ArgumentError, match="most is -1"):
            closest_pairs(font, most=-1)

    def test_name_a_character_that_the_font_lacks(self, font):
        with pytest.raises(FontError, match=r"U\+65E5"):
            closest_pairs(font, "a日")


class TestLoadFont:
    def test_finds_the_shipped_font_by_name(self):
        assert "glyph5x8" in shipped_fonts()
        assert load_font("glyph5x8").digest == load_font(PACKED).digest

    def test_names_the_shipped_fonts_when_there_is_no_such_font(self):
        with pytest.raises(ArgumentError, match=r"no font 'glyph9x9': shipped fonts are .*glyph5x8"):
            load_font("glyph9x9")

    @pytest.mark.parametrize("content", [b"", b"not a font", b"PK\x03\x04 cut short"])
    def test_refuses_a_file_that_is_not_a_packed_font(self, tmp_path, content):
        path = tmp_path / "broken.npz"
        path.write_bytes(content)
        with pytest.raises(FontError, match=rf"broken\.npz is not a packed font \({len(content)} bytes\)"):
            load_font(path)

    def test_refuses_a_packed_font_that_was_cut(self, tmp_path):
        path = tmp_path / "cut.npz"
        path.write_bytes(PACKED.read_bytes()[:-200])
        with pytest.raises(FontError, match="is not a packed font"):
            load_font(path)

    @given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), min_size=1, max_size=3))
    def test_refuses_a_damaged_file_or_loads_the_same_font(self, tmp_path_factory, damage):
        content = bytearray(PACKED.read_bytes())
        for position, byte in damage:
            content[position] = byte
        path = tmp_path_factory.mktemp("damaged") / "font.npz"
        path.write_bytes(content)
        whole = load_font(PACKED).digest
        with contextlib.suppress(FontError):
            assert load_font(path).digest == whole

    def test_refuses_an_archive_without_the_arrays_of_a_font(self, tmp_path):
        np.savez(tmp_path / "other.npz", numbers=np.arange(3))
        with pytest.raises(FontError, match="is not a packed font"):
            load_font(tmp_path / "other.npz")


class TestABitmapFont:
    def test_comes_back_equal_from_a_file(self, tmp_path):
        font = tiny()
        font.save(tmp_path / "tiny.npz")
        again = load_font(tmp_path / "tiny.npz")
        assert again.digest == font.digest
        assert (again.name, again.baseline_px, again.licence) == ("tiny", 2, "MIT")

    def test_makes_the_same_file_every_time(self, tmp_path):
        for path in ("one.npz", "two.npz"):
            tiny().save(tmp_path / path)
        assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()

    def test_that_cannot_be_saved_to_the_end_leaves_the_earlier_file(self, tmp_path, monkeypatch):
        def full(descriptor):
            raise OSError(28, "No space left on device")

        tiny().save(tmp_path / "tiny.npz")
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device.*tiny\.npz"):
            tiny(bitmaps=np.zeros((3, 2, 1), np.uint8)).save(tmp_path / "tiny.npz")
        assert load_font(tmp_path / "tiny.npz").digest == tiny().digest
        assert [file.name for file in tmp_path.iterdir()] == ["tiny.npz"]

    def test_counts_two_cells_for_a_wide_glyph(self):
        font = tiny(codepoints=np.array([65, 66, 67], np.uint32), spans=np.array([1, 2, 1], np.uint8),
                    bitmaps=np.zeros((4, 2, 1), np.uint8))
        assert font.first_cells.tolist() == [0, 1, 3]
        assert font.cell(67) == 3

    def test_cannot_be_drawn_over(self, font):
        with pytest.raises(ValueError, match="read-only"):
            font.bitmaps[0] = 0

    def test_has_a_digest_that_follows_the_pictures_and_not_the_name(self):
        assert tiny(name="other").digest == tiny().digest
        assert tiny(bitmaps=np.zeros((3, 2, 1), np.uint8)).digest != tiny().digest

    @pytest.mark.parametrize(("changes", "message"), [
        ({"codepoints": np.array([66, 65], np.uint32)}, "2 code points, which must be at least one and strictly asc"),
        ({"codepoints": np.array([65, 65], np.uint32)}, "strictly ascending"),
        ({"codepoints": np.array([65, 66], np.int64)}, "got int64, uint8, uint8"),
        ({"spans": np.array([1, 17], np.uint8)}, "spans must be 2 values from 1 to 16"),
        ({"spans": np.array([1], np.uint8)}, r"got shape \(1,\)"),
        ({"bitmaps": np.zeros((2, 2, 1), np.uint8)}, r"shape \(3, 2, 1\), got \(2, 2, 1\)"),
    ])
    def test_refuses_arrays_that_do_not_agree(self, changes, message):
        with pytest.raises(FontError, match=message):
            tiny(**changes)
