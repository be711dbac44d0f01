"""The font that a text is read best in, and that it is drawn in."""

import pytest

import glyphraster as gr
from glyphraster.choice import TAILED, font_for_text
from glyphraster.font import load_font, shipped_fonts
from glyphraster.layout import LAYOUTS

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


ROMANIAN = "Bună ziua! Aceștia sunt pașii și țintele proiectului; așa că începem. "
MODEL = "claude-fable-5"


def fonts_of(text, **options):
    return {page.font.name for page in gr.render(text, MODEL, **options)}


class TestRender:
    @pytest.mark.parametrize(("text", "font"), [(ROMANIAN * 9, "glyph5x9"), (ENGLISH * 9, "glyph5x8")])
    def test_takes_the_font_that_suits_the_text(self, text, font):
        assert fonts_of(text) == {font}
        assert gr.read([page.png() for page in gr.render(text, MODEL)]) == text

    def test_keeps_to_a_font_a_pitch_or_a_model_that_has_none_of_it(self):
        assert fonts_of(ROMANIAN, fonts="glyph5x8") == fonts_of(ROMANIAN, pitch_px=(8, 5)) == {"glyph5x8"}
        assert fonts_of(ROMANIAN, pitch_px=(9, 5)) == {"glyph5x9"}

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize(("first", "then"), [(ROMANIAN, ENGLISH), (ENGLISH, ROMANIAN), ("Ș" + ENGLISH, ROMANIAN)])
    def test_never_draws_a_full_page_anew_for_what_is_appended(self, first, then, layout):
        text = f"{first}\n" * 700 + f"{then}\n" * 700
        sealed = []
        for stop in range(80_000, len(text), 3_001):
            pngs = [page.png() for page in gr.render(text[:stop], MODEL, layout=layout, tier="dense")]
            assert pngs[: len(sealed)] == sealed
            sealed = pngs[:-1]
        assert sealed

    def test_continues_in_the_font_of_the_page_before(self):
        (page,) = gr.render(ROMANIAN, MODEL)
        (following,) = gr.render(ENGLISH, MODEL, after=page)
        assert following.font.name == "glyph5x9"
        assert gr.read([page, following]) == ROMANIAN + ENGLISH

    def test_of_a_stream_asks_no_more_than_the_first_page(self):
        chunks = iter([ROMANIAN * 2_000, *[ENGLISH * 2_000] * 3, "unread"])
        pages = gr.iter_pages(chunks, MODEL)
        assert next(pages).font.name == "glyph5x9"
        assert "unread" in list(chunks)
