"""The font that a text is read best in."""

import pytest

from glyphraster.choice import TAILED, font_for_text
from glyphraster.font import load_font, shipped_fonts

# The letters under test look like others.
# ruff: noqa: RUF001

ENGLISH = "The build failed again: three tests time out on the slow machine, and nobody knows why. "


class TestFontForText:
    @pytest.mark.parametrize("text", [
        "Bună ziua! Aceștia sunt pașii și țintele proiectului.",
        "Şimdi derleme başarısız oldu, üç test zaman aşımına uğradı.",
        "Zażółć gęślą jaźń.",
        "Ķirurgs ņēma ģitāru un ļāva runāt.",
    ], ids=["Romanian", "Turkish", "Polish", "Latvian"])
    def test_is_the_one_with_tails_for(self, text):
        assert font_for_text(text) == "glyph5x9"

    @pytest.mark.parametrize("text", ["", "0123 {}", ENGLISH, "Příliš žluťoučký kůň", "Voilà, ça marche", "Größe"])
    def test_is_the_default_for_texts_without_tailed_letters(self, text):
        assert font_for_text(text) == "glyph5x8"

    def test_is_the_default_when_tailed_letters_are_rare(self):
        assert font_for_text(ENGLISH * 20 + "Author: Ștefan") == "glyph5x8"

    def test_turns_at_one_tailed_letter_in_500(self):
        assert font_for_text("a" * 499 + "ș") == "glyph5x9"
        assert font_for_text("a" * 500 + "ș") == "glyph5x8"

    def test_leaves_any_other_default_alone(self):
        assert font_for_text("ștț", default="glyph6x10") == "glyph6x10"

    def test_names_fonts_that_are_shipped_and_hold_the_letters(self):
        assert "glyph5x9" in shipped_fonts()
        assert set(map(ord, TAILED)) <= set(load_font("glyph5x9").codepoints.tolist())
