"""Views are named, do what a screen does, and never swallow what they do not understand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glyphraster as gr
from glyphraster.clean import VIEWS, cleaned
from glyphraster.errors import ArgumentError


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("10%\r20%\r100%\nend", "100%\nend"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("abcdef\rXY", "XYcdef"),
        ("tyop\b\bpo", "typo"),
        ("\x1b[?25lhi \x1b[31mred\x1b[0m\x1b[?25h", "hi red"),
        ("\x1b]0;window title\x07ready", "ready"),
        ("\x1b]8;;http://example.test\x1b\\link\x1b]8;;\x1b\\ end", "link end"),
        ("\x1b[2K\x1b[1Gfinal", "final"),
        ("a\tb", "a       b"),
        ("cafe\u0301", "caf\u00e9"),
        ("tab\u200ble\ufe0f  \nrow ", "table\nrow"),
    ],
)
def test_the_terminal_view_shows_what_stood_on_the_screen(raw, shown):
    assert cleaned(raw, "terminal").text == shown


@pytest.mark.parametrize("start", ["\x1b]0;never ended", "\x1bP never ended", "\x9d never ended", "\x1b[12;"])
def test_a_sequence_without_an_end_swallows_nothing_behind_it(start):
    assert cleaned(start + "\nthe rest of the document", "terminal").text.endswith("the rest of the document")


def test_the_typographic_view_folds_look_alikes_and_counts_them():
    view = cleaned("\u201cSo\u201d \u2013 it\u2019s\u00a0on\u2026  \n", "typographic")
    assert (view.text, view.changed_chars) == ('"So" - it\'s on...\n', 8)


@given(st.lists(st.sampled_from(["ab", "  x", "-'", "\n"])).map("".join))
def test_a_plain_text_is_the_same_in_the_typographic_view(text):
    view = cleaned(text, "typographic")
    assert (view.text, view.changed_chars) == (text, 0)


@pytest.mark.parametrize("view", VIEWS)
@given(text=st.text(max_size=200))
def test_a_view_seen_twice_is_the_view(view, text):
    once = cleaned(text, view).text
    assert cleaned(once, view).text == once


def test_pages_hold_the_cleaned_text_and_record_what_was_changed():
    (page,) = gr.render("\x1b[31mred\x1b[0m  \n", "claude-fable-5", clean="terminal")
    assert gr.read(page.png()) == "red\n"
    assert (page.record["clean"], page.changed_chars) == ("terminal", 11)


def test_no_view_is_on_by_default():
    (page,) = gr.render("\x1b[31mred \n", "claude-fable-5")
    assert (gr.read(page), page.record["clean"]) == ("\x1b[31mred \n", None)


def test_an_unknown_view_is_refused_with_those_there_are():
    with pytest.raises(ArgumentError, match="no view 'pretty'; there is terminal, typographic"):
        cleaned("x", "pretty")


def test_appending_to_a_cleaned_text_changes_no_full_page():
    text = "\x1b[31mred\x1b[0m plain line \n" * 9_000
    before, after = (
        [page.png() for page in gr.render(source, "claude-fable-5", clean="terminal")]
        for source in (text, text + "\x1b[1mx\x1b[0m\n")
    )
    assert len(before) > 1
    assert after[: len(before) - 1] == before[:-1]
