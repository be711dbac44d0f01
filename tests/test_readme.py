"""What README.md shows runs, and what it points to is there."""

import base64
import re
import subprocess
import sys
from pathlib import Path

import anthropic.types
import numpy as np
import openai.types.chat
import pydantic
import pytest

import contextkit as ck
import glyphraster as gr

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
LINKS = sorted({
    link for link in re.findall(r"\]\(([^)\s]+)", README) if not re.match(r"[a-z]+:|#", link)
})


def test_it_shows_an_example_in_python():
    assert BLOCKS


def test_it_shows_a_picture():
    assert [link for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)", README) if link.endswith(".png")]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"block{BLOCKS.index(block) + 1}")
def test_an_example_runs_from_the_checkout(block):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


EMBEDDING = re.findall(
    r"^```python\n(.*?)^```$", README.partition("## In another tool\n")[2].partition("\n## ")[0], re.M | re.S
)


def shown(word):
    """The names that the one example which uses ``word`` leaves behind."""
    (block,) = [block for block in EMBEDDING if word in block]
    names = {}
    exec(block, names)  # its own README
    return names


class TestEmbedding:
    @pytest.mark.parametrize("block", EMBEDDING, ids=lambda block: f"block{EMBEDDING.index(block) + 1}")
    def test_it_takes_five_lines(self, block):
        lines = [line for line in block.splitlines() if line and not line.startswith("assert")]
        assert len(lines) <= 5

    def test_a_page_is_an_array_and_bytes(self):
        names = shown("pixels = pages[0].pixels")
        assert (names["pixels"].dtype, names["pixels"].ndim, names["png"][:4]) == (np.uint8, 2, b"\x89PNG")

    def test_a_page_is_a_picture_and_a_url(self):
        names = shown("Image.fromarray")
        assert (names["picture"].size, names["picture"].mode) == (names["page"].pixels.shape[::-1], "L")
        assert np.array_equal(np.asarray(names["picture"]), names["page"].pixels)
        assert text_of(names["url"]) == "any text"

    def test_anthropic_takes_the_blocks(self):
        names = shown('"media_type"')
        for block in names["blocks"]:
            assert pydantic.TypeAdapter(anthropic.types.ImageBlockParam).validate_python(block, strict=True) == block
        request = {"model": "claude-fable-5", "max_tokens": 100, "messages": [names["message"]]}
        assert ck.violations(request, "anthropic") == []
        assert [text_of(block["source"]["data"]) for block in names["blocks"]] == ["any text"]

    def test_openai_takes_the_blocks(self):
        names = shown('"image_url"')
        param = openai.types.chat.ChatCompletionContentPartImageParam
        for block in names["blocks"]:
            assert pydantic.TypeAdapter(param).validate_python(block, strict=True) == block
        assert ck.violations({"model": "gpt-5.4", "messages": [names["message"]]}, "openai-chat") == []
        assert [text_of(block["image_url"]["url"]) for block in names["blocks"]] == ["any text"]

    def test_gemini_gets_the_blocks_of_its_reference(self):
        names = shown('"inline_data"')
        assert [set(part) for part in names["message"]["parts"]] == [{"inline_data"}, {"text"}]
        assert [block["inline_data"]["mime_type"] for block in names["blocks"]] == ["image/png"]
        assert [text_of(block["inline_data"]["data"]) for block in names["blocks"]] == ["any text"]


def text_of(encoded):
    """The text of a page in base64, behind the head of a data URL or not."""
    return gr.read(base64.b64decode(encoded.removeprefix("data:image/png;base64,"), validate=True))


@pytest.mark.parametrize("link", LINKS)
def test_what_it_points_to_is_in_the_checkout(link):
    assert (ROOT / link.partition("#")[0]).exists()
