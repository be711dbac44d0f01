"""What a page gives to those who embed it."""

import base64

import pytest

import glyphraster as gr

(PAGE,) = gr.render("any text", "claude-fable-5")


@pytest.mark.parametrize("mode", [None, "gray1", "gray8"])
def test_a_data_url_holds_the_bytes_of_the_png(mode):
    head, _, encoded = PAGE.data_url(mode).partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(encoded, validate=True) == PAGE.png(mode)
