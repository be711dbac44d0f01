"""The packed font value, the shipped font, and how far apart its glyphs are."""

import contextlib
import itertools
import string
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphraster.distance import closest_pairs
from glyphraster.errors import ArgumentError, FontError
from glyphraster.font import MARK_BASE, BitmapFont, Mark, load_font, shipped_fonts
from glyphraster.source import build

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "fonts" / "glyph5x8.glyphs"
PACKED = REPOSITORY / "glyphraster" / "data" / "glyph5x8.npz"

# The look-alikes that ruff warns of are what this file is about.
# ruff: noqa: RUF001

ASCII = "".join(map(chr, range(0x20, 0x7F)))
ALPHABETS = {
    "cs+sk": "áäčďéěíĺľňóôŕřšťúůýž",
    "ro": "ăâîșț",
    "de": "äöüß",
    "pl": "ąćęłńóśźż",
    "hu": "áéíóöőúüű",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "es": "áéíñóúü¿¡",
    "hr": "čćđšž",
    "tr": "çğıİöşüâîû",
}
LATIN = "".join(
    character for character in map(chr, range(0x250))
    if character.isalpha() and (ord(character) < 0x180 or character in "ȘșȚț")
)
FAMILIES = {
    "Latin-1": "".join(chr(code) for code in range(0xA1, 0x100) if code != 0xAD),
    "Latin Extended-A": "".join(map(chr, range(0x100, 0x180))),
    "Romanian comma letters": "ȘșȚț",
    "punctuation": "–—‘’‚“”„…•‹›†‡‰€",
    "arrows": "←↑→↓↔↕⇐⇒⇔",
    "mathematics": "−×÷≤≥≠≈∞√✓✗",
    "box drawing": "".join(map(chr, range(0x2500, 0x2580))),
    "blocks": "".join(map(chr, range(0x2580, 0x25A0))),
    "replacement": "\N{REPLACEMENT CHARACTER}",
}


@pytest.fixture(scope="module")
def font() -> BitmapFont:
    return load_font("glyph5x8")


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


def name(code: int) -> str:
    return Mark(code).name if code >= MARK_BASE else chr(code)


def tiny(**changes) -> BitmapFont:
    fields = {
        "name": "tiny", "cell_height_px": 2, "cell_width_px": 3, "baseline_px": 2, "licence": "MIT",
        "codepoints": np.array([65, 66], np.uint32), "spans": np.array([1, 2], np.uint8),
        "bitmaps": np.arange(6, dtype=np.uint8).reshape(3, 2, 1),
    }
    return BitmapFont(**(fields | changes))


class TestTheShippedFont:
    def test_is_what_its_source_builds_byte_for_byte(self, tmp_path):
        build(SOURCE, tmp_path / "fresh.npz")
        assert (tmp_path / "fresh.npz").read_bytes() == PACKED.read_bytes()

    def test_stores_the_top_row_first_and_the_leftmost_pixel_in_the_high_bit(self, font):
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

    def test_says_its_cell_its_baseline_and_its_licence(self, font):
        assert (font.name, font.cell_height_px, font.cell_width_px, font.baseline_px) == ("glyph5x8", 8, 5, 7)
        assert font.licence.startswith("MIT")

    def test_stands_capitals_and_digits_on_the_baseline(self, font):
        for character in string.ascii_uppercase + string.digits:
            rows = picture(font, ord(character))
            assert "#" in rows[font.baseline_px - 1], character
            assert "#" not in rows[font.baseline_px], character

    @pytest.mark.parametrize("characters", [ASCII, *FAMILIES.values()], ids=["ASCII", *FAMILIES])
    def test_draws_every_character_of(self, font, characters):
        assert [f"U+{ord(c):04X}" for c in characters if ord(c) not in set(font.codepoints.tolist())] == []

    @pytest.mark.parametrize("code", [0x09, 0x0A, 0x0D, 0x7F, 0xA0, 0xAD, 0x200B, 0x202F, 0xFEFF])
    def test_has_no_glyph_for_what_nobody_can_see(self, font, code):
        with pytest.raises(FontError, match=f"U\\+{code:04X}"):
            font.cell(code)

    def test_has_a_one_cell_glyph_for_every_mark(self, font):
        codes = font.codepoints.tolist()
        assert [mark.name for mark in Mark if mark not in codes] == []
        assert set(font.spans.tolist()) == {1}

    def test_leaves_only_the_space_blank(self, font):
        assert [code for code in font.codepoints.tolist() if not font.bitmaps[font.cell(code)].any()] == [0x20]

    def test_keeps_the_gap_column_free_in_small_letters_and_digits(self, font):
        for character in set(string.ascii_lowercase) - set("mw") | set(string.digits):
            assert all(row.endswith(".") for row in picture(font, ord(character))), character

    def test_joins_lines_across_cells(self, font):
        assert picture(font, ord("─"))[3] == "#####"
        assert [row[2] for row in picture(font, ord("│"))] == ["#"] * 8
        for character in map(chr, range(0x250C, 0x254C)):
            words = unicodedata.name(character)
            rows = picture(font, ord(character))
            reaches = {
                "LEFT": rows[3][0], "RIGHT": rows[3][4], "UP": rows[0][2], "DOWN": rows[7][2],
            }
            horizontal, vertical = "HORIZONTAL" in words, "VERTICAL" in words
            for side, pixel in reaches.items():
                through = horizontal if side in ("LEFT", "RIGHT") else vertical
                assert (pixel == "#") == (through or side in words), (character, side)


class TestTheGlyphsStayApart:
    def test_no_two_share_a_picture(self, font):
        assert nearest(font, least=1) == []

    def test_within_ascii_by_3_pixels(self, font):
        assert nearest(font, ASCII, least=3) == []

    @pytest.mark.parametrize("language", ALPHABETS)
    def test_within_ascii_and_one_alphabet_by_3_pixels(self, font, language):
        letters = ALPHABETS[language]
        capitals = (letter.upper() for letter in letters if len(letter.upper()) == 1)
        assert nearest(font, [*ASCII, *letters, *capitals], least=3) == []

    def test_within_latin_by_2_pixels(self, font):
        assert nearest(font, LATIN, least=2) == []

    @pytest.mark.parametrize("digits", [string.digits + "abcdef", string.digits + "ABCDEF"], ids=["lower", "upper"])
    def test_within_hexadecimal_digits_by_4_pixels(self, font, digits):
        assert nearest(font, digits, least=4) == []

    def test_zero_differs_from_both_other_rounds_by_far(self, font):
        assert nearest(font, "0Oo", least=8) == []

    @pytest.mark.parametrize("alike", ["1lI|", "5S", "8B", "2Z", "KH", "'`\"", "-–—−", "‘’“”„‚"])
    def test_lookalikes_by_3_pixels(self, font, alike):
        assert nearest(font, alike, least=3) == []

    def test_marks_from_every_other_glyph_by_3_pixels(self, font):
        pairs = closest_pairs(font, None, None)
        assert [p for p in pairs if p.second >= MARK_BASE and p.distance_px < 3] == []

    def test_count_digits_from_plain_digits_by_7_pixels(self, font):
        tall = {p.distance_px for p in closest_pairs(font, None, None)
                if chr(min(p.first, 0x10FFFF)) in string.digits and p.second >= Mark.COUNT_0}
        assert min(tall) >= 7

    @pytest.mark.parametrize(("mark", "bracket"), [(Mark.ESCAPE_OPEN, "["), (Mark.ESCAPE_CLOSE, "]")])
    def test_escape_brackets_from_square_ones_by_6_pixels(self, font, mark, bracket):
        rows = zip(picture(font, mark), picture(font, ord(bracket)), strict=True)
        assert sum(a != b for pair in rows for a, b in zip(*pair, strict=True)) >= 6


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
        ({"spans": np.array([1, 3], np.uint8)}, "spans must be 2 values of 1 or 2"),
        ({"spans": np.array([1], np.uint8)}, r"got shape \(1,\)"),
        ({"bitmaps": np.zeros((2, 2, 1), np.uint8)}, r"shape \(3, 2, 1\), got \(2, 2, 1\)"),
    ])
    def test_refuses_arrays_that_do_not_agree(self, changes, message):
        with pytest.raises(FontError, match=message):
            tiny(**changes)
