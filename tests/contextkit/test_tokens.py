"""What anything costs in tokens, and how close that is to what a provider counted."""

import base64
import dataclasses
import io
import itertools
import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from contextkit.messages import Image, Pending, Text, Thinking, ToolResult
from contextkit.models import resolve
from contextkit.tokens import UNSIZED_IMAGE_TOKENS, TokenEstimator, count_tokens, image_size
from tests.contextkit.strategies import ANY_CHARACTER, conversations, picture, png_base64, talk, user

MODELS = ("claude-opus-4-5", "claude-opus-4-8", "gpt-5.5", "gemini-3-pro", "deepseek-chat", "some-model")
ANY_TEXT = st.text(ANY_CHARACTER, max_size=300)


def estimator(model="claude-opus-4-8"):
    return TokenEstimator(resolve(model))


@pytest.mark.parametrize("model", MODELS)
class TestLawsForEveryModel:
    def test_reasoning_costs_only_where_the_wire_carries_it(self, model):
        count, carried = estimator(model), resolve(model).wire == "anthropic"
        assert (count.part(Thinking(text="a long thought", signature="sig")) > 0) == carried
        assert count.part(Thinking(text="a long thought")) == 0

    @given(first=ANY_TEXT, second=ANY_TEXT)
    def test_texts_put_together_cost_their_sum_but_for_rounding(self, model, first, second):
        count = estimator(model).text
        assert count(first) + count(second) - 1 <= count(first + second) <= count(first) + count(second)

    @given(text=ANY_TEXT, more=ANY_TEXT)
    def test_more_text_never_costs_less(self, model, text, more):
        assert estimator(model).text(text) <= estimator(model).text(text + more)

    @given(text=st.text(ANY_CHARACTER, min_size=1))
    def test_a_text_costs_at_least_a_token(self, model, text):
        assert estimator(model).text(text) >= 1

    def test_an_empty_text_is_free(self, model):
        assert estimator(model).text("") == 0

    @given(conversation=conversations())
    def test_a_conversation_costs_its_fixed_parts_and_its_messages(self, model, conversation):
        ruler = estimator(model)
        assert count_tokens(conversation, resolve(model)) == ruler.fixed(conversation) + sum(
            ruler.message(message) for message in conversation.messages
        )

    @given(conversation=conversations())
    def test_every_message_costs_more_than_its_parts(self, model, conversation):
        ruler = estimator(model)
        assert all(ruler.message(message) > ruler.parts(message.parts) for message in conversation.messages)

    @given(height_px=st.integers(1, 3_000), width_px=st.integers(1, 3_000))
    def test_a_picture_costs_what_the_page_profile_says(self, model, height_px, width_px):
        billed = resolve(model).page.tokens(height_px=height_px, width_px=width_px)
        assert estimator(model).part(picture(height_px, width_px)) == billed


class TestPrices:
    def test_a_denser_tokenizer_costs_more_for_the_same_text(self):
        model = resolve("claude-opus-4-8")
        half = dataclasses.replace(model, chars_per_token=model.chars_per_token / 2)
        text = "The same words for both. " * 40
        assert TokenEstimator(half).text(text) == pytest.approx(2 * TokenEstimator(model).text(text), abs=2)

    def test_digits_cost_more_than_words_of_the_same_length(self):
        assert estimator().text("7312904455" * 9) > 2 * estimator().text("characters" * 9)

    def test_a_lone_surrogate_has_a_price(self):
        assert estimator().text("\ud800") == 2

    def test_a_promised_part_costs_what_was_promised(self):
        assert estimator().part(Pending(key="page-001", tokens=4_763, stands_for="long " * 999)) == 4_763

    def test_a_page_of_ours_costs_its_picture_not_its_text(self):
        page = Image(media_type="image/png", data=png_base64(280, 280), stands_for="long " * 9_999)
        assert estimator().part(page) == 103

    @pytest.mark.parametrize(
        "image",
        [Image(url="https://example.org/a.png"), Image(data="no picture"), Image(data="AAAA"), Image(data="é\ud800")],
        ids=["url", "no base64", "no image", "no ascii"],
    )
    def test_a_picture_of_unknown_size_has_a_flat_price(self, image):
        assert estimator().part(image) == UNSIZED_IMAGE_TOKENS

    def test_a_result_costs_its_content_and_its_frame(self):
        parts = (Text(text="words " * 9), picture())
        ruler = estimator()
        assert ruler.part(ToolResult(call_id="a", content=parts)) == 10 + ruler.parts(parts)

    def test_what_has_no_price_is_refused_by_its_name(self):
        with pytest.raises(TypeError, match="no price for a object"):
            estimator().part(object())

    def test_an_empty_conversation_is_free(self):
        assert count_tokens(talk(), resolve("gpt-5.5")) == 0

    def test_words_beside_a_picture_cost_both(self):
        ruler = estimator()
        assert ruler.message(user("Look.", picture())) == 4 + ruler.text("Look.") + ruler.part(picture())


def noise_base64(form, **options):
    """Return a picture of noise, whose file is longer than any header, as base64."""
    pixels = np.random.default_rng(7).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    drawn = io.BytesIO()
    Pillow.fromarray(pixels).save(drawn, form, **options)
    return base64.b64encode(drawn.getvalue()).decode("ascii")


def png_header_base64(height_px, width_px):
    """Return a PNG that claims a size and holds no pixels, as base64."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width_px, height_px, 8, 0, 0, 0, 0)), (b"IDAT", b"")]
    framed = (struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks)  # fmt: skip
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(framed)).decode("ascii")


class TestImageSize:
    @pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
    def test_the_size_of_a_large_file_is_read(self, form):
        assert image_size(Image(data=noise_base64(form))) == (300, 400)

    def test_a_long_preamble_hides_no_size(self):
        assert image_size(Image(data=noise_base64("JPEG", exif=b"Exif\0\0" + b"x" * 60_000))) == (300, 400)

    def test_base64_in_lines_is_read(self):
        encoded = noise_base64("PNG")
        lines = "\n".join(encoded[start : start + 76] for start in range(0, len(encoded), 76))
        assert image_size(Image(data=lines)) == (300, 400)

    def test_height_comes_before_width(self):
        assert image_size(Image(data=png_base64(30, 70))) == (30, 70)

    def test_a_very_large_picture_is_read_without_a_warning(self):
        assert image_size(Image(data=png_header_base64(10_000, 12_000))) == (10_000, 12_000)

    def test_an_absurd_size_is_not_believed(self):
        assert image_size(Image(data=png_header_base64(100_000, 100_000))) is None

    def test_nothing_has_no_size(self):
        assert image_size(Image(url="https://example.org/a.png")) is None


def usage_samples(path):
    """Yield the texts of tool results and what the provider counted for them: see transcripts/README.md."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    ends = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    for first, second in itertools.pairwise(ends):
        results, pair = messages[first + 1 : second], (messages[first], messages[second])
        if not results or any(message["role"] != "toolResult" for message in results):
            continue
        if any(not is_sample(message) for message in pair):
            continue
        measured = prompt_tokens(pair[1]) - prompt_tokens(pair[0]) - pair[0]["usage"]["output"]
        yield [part["text"] for message in results for part in message["content"]], len(results), measured


def is_sample(message):
    thinks = any(part["type"] == "thinking" for part in message["content"])
    return message["stopReason"] in ("stop", "toolUse") and "claude" in message["model"] and not thinks


def prompt_tokens(message):
    return sum(message["usage"][name] for name in ("input", "cacheRead", "cacheWrite"))


@pytest.mark.parametrize("name", ["before-compaction", "large-session"])
class TestAgainstProviderCounts:
    def samples(self, shared, name):
        ruler = estimator("claude-opus-4-5")
        found = list(usage_samples(shared / "transcripts" / "pi" / f"{name}.jsonl"))
        assert len(found) > 250
        estimated = [sum(map(ruler.text, texts)) + 10 * count for texts, count, _ in found]
        return np.array(estimated), np.array([measured for _, _, measured in found])

    def test_all_results_together_are_within_five_percent(self, shared, name):
        estimated, measured = self.samples(shared, name)
        assert estimated.sum() == pytest.approx(measured.sum(), rel=0.05)

    def test_half_of_the_long_results_are_within_seven_percent_and_nine_in_ten_within_twenty(self, shared, name):
        estimated, measured = self.samples(shared, name)
        long = measured > 150
        errors = np.abs(estimated[long] / measured[long] - 1)
        assert np.median(errors) < 0.07
        assert np.quantile(errors, 0.9) < 0.20
