"""Decode then encode gives back every valid request, to the last key."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextkit import codecs

CASES = Path(__file__).parents[2] / "cases"
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

words = st.text(min_size=1, max_size=12).filter(str.strip)
names = st.sampled_from(["Bash", "Read", "Edit"])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=3)
unknown_fields = st.dictionaries(st.sampled_from(["x_note", "annotations", "index", "vendor"]), values, max_size=2)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mP4z8DA8B8ABgAB/2U0+PcAAAAASUVORK5CYII="


@st.composite
def shuffled(draw, fields):
    """Give ``fields`` in any key order, some of the optional ones left out, with fields nobody knows."""
    return dict(draw(st.permutations([*fields.items(), *draw(unknown_fields).items()])))


def one_of_lists(draw, items, most):
    return draw(st.lists(items, min_size=1, max_size=most))


@st.composite
def anthropic_text(draw):
    marked = {"citations": draw(values)} if draw(st.booleans()) else {}
    return draw(shuffled({"type": "text", "text": draw(words), **marked}))


@st.composite
def anthropic_image(draw):
    source = draw(
        st.sampled_from(
            [
                {"type": "base64", "media_type": "image/png", "data": PNG},
                {"data": PNG, "type": "base64", "media_type": "image/png"},
                {"type": "url", "url": "https://example.org/a.png"},
                {"type": "file", "file_id": "file_1"},
            ]
        )
    )
    return draw(shuffled({"type": "image", "source": source}))


thinking_blocks = st.one_of(
    st.builds(lambda text, sign: {"type": "thinking", "thinking": text, "signature": sign}, st.text(), words),
    st.builds(lambda sealed: {"data": sealed, "type": "redacted_thinking"}, words),
)
unknown_blocks = objects.flatmap(lambda inner: shuffled({"type": "document", "source": inner}))


@st.composite
def anthropic_results(draw, keys):
    results = []
    for key in draw(st.permutations(keys)):
        result = {"type": "tool_result", "tool_use_id": key}
        content = draw(st.sampled_from(["none", "null", "text", "list", "empty"]))
        if content != "none":
            parts = st.lists(anthropic_text() | anthropic_image() | unknown_blocks, max_size=3)
            result["content"] = (
                {"null": None, "empty": ""}.get(content)
                if content in ("null", "empty")
                else draw(st.text() if content == "text" else parts)
            )
        if draw(st.booleans()):
            result["is_error"] = draw(st.sampled_from([True, False, None]))
        results.append(draw(shuffled(result)))
    return results


@st.composite
def anthropic_requests(draw):
    messages, number = [], 0
    for _ in range(draw(st.integers(1, 4))):
        blocks = st.lists(anthropic_text() | anthropic_image() | unknown_blocks, min_size=1, max_size=3)
        messages.append(draw(shuffled({"role": "user", "content": draw(words | blocks)})))
        keys = [f"toolu_{number + step}" for step in range(draw(st.integers(0, 3)))]
        number += len(keys)
        said = [*draw(st.lists(thinking_blocks, max_size=2)), draw(anthropic_text())]
        calls = [
            draw(shuffled({"type": "tool_use", "id": key, "name": draw(names), "input": draw(objects)})) for key in keys
        ]
        plain = st.sampled_from(["done.", "yes"])
        messages.append(draw(shuffled({"role": "assistant", "content": [*said, *calls] if calls else draw(plain)})))
        if keys:
            after = draw(st.lists(anthropic_text(), max_size=1))
            messages.append(draw(shuffled({"role": "user", "content": [*draw(anthropic_results(keys)), *after]})))
    request = {"model": "m", "max_tokens": 1, "messages": messages}
    if draw(st.booleans()):
        request["system"] = draw(words | st.lists(anthropic_text(), max_size=2) | st.just(""))
    if draw(st.booleans()):
        request["tools"] = draw(st.lists(anthropic_tools(), max_size=2))
    return draw(shuffled(request))


@st.composite
def anthropic_tools(draw):
    tool = {"name": draw(names)}
    if draw(st.booleans()):
        tool["description"] = draw(st.text(max_size=5))
    if draw(st.booleans()):
        tool["input_schema"] = draw(objects)
    else:
        tool["type"] = "web_search_20250305"
    return draw(shuffled(tool))


@st.composite
def chat_text(draw):
    return draw(shuffled({"type": "text", "text": draw(words)}))


@st.composite
def chat_image(draw):
    url = draw(st.sampled_from([f"data:image/png;base64,{PNG}", "https://example.org/a.png"]))
    detail = {"detail": "low"} if draw(st.booleans()) else {}
    picture = draw(shuffled({"url": url, **detail}))
    return draw(shuffled({"type": "image_url", "image_url": draw(st.sampled_from([picture, url]))}))


other_parts = objects.flatmap(lambda inner: shuffled({"type": "input_audio", "input_audio": inner}))


@st.composite
def chat_calls(draw, keys):
    calls = []
    for key in keys:
        spacing = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
        arguments = json.dumps(draw(objects | values), ensure_ascii=draw(st.booleans()), separators=spacing)
        function = draw(shuffled({"name": draw(names), "arguments": arguments}))
        kind = {"type": "function"} if draw(st.booleans()) else {}
        calls.append(draw(shuffled({"id": key, **kind, "function": function})))
    return calls


@st.composite
def chat_turn(draw, number):
    user = draw(words | st.lists(chat_text() | chat_image() | other_parts, min_size=1, max_size=3))
    named = {"name": "ann"} if draw(st.booleans()) else {}
    messages = [draw(shuffled({"role": "user", "content": user, **named}))]
    keys = [f"call_{number}_{step}" for step in range(draw(st.integers(0, 3)))]
    answer = {"role": "assistant"}
    content = draw(
        words | st.lists(chat_text() | st.just({"type": "refusal", "refusal": "no"}), min_size=1, max_size=2)
    )
    nothing = draw(st.sampled_from([{"content": None}, {"content": ""}, {}, {"content": []}]))
    answer |= nothing if keys and draw(st.booleans()) else {"content": content}
    if draw(st.booleans()):
        answer |= {draw(st.sampled_from(["reasoning_content", "reasoning"])): draw(st.text(max_size=5) | st.none())}
    if keys:
        answer["tool_calls"] = draw(chat_calls(keys))
    messages.append(draw(shuffled(answer)))
    for key in draw(st.permutations(keys)):
        result = draw(st.text(max_size=6) | st.none() | st.lists(chat_text(), max_size=2))
        messages.append(draw(shuffled({"role": "tool", "tool_call_id": key, "content": result})))
    if draw(st.booleans()):
        messages.append(draw(chat_system()))
    return messages


@st.composite
def chat_system(draw):
    content = draw(words | st.lists(chat_text(), min_size=1, max_size=2))
    return draw(shuffled({"role": draw(st.sampled_from(["system", "developer"])), "content": content}))


@st.composite
def chat_requests(draw):
    messages = draw(st.lists(chat_system(), max_size=3))
    for number in range(draw(st.integers(1, 3))):
        messages += draw(chat_turn(number))
    request = {"model": "m", "messages": messages}
    if draw(st.booleans()):
        request["tools"] = draw(st.lists(chat_tools(), max_size=2))
    return draw(shuffled(request))


@st.composite
def chat_tools(draw):
    if draw(st.booleans()):
        return draw(shuffled({"type": "custom", "custom": {"name": "apply_patch"}}))
    function = {"name": draw(names)}
    if draw(st.booleans()):
        function["description"] = draw(st.text(max_size=5) | st.none())
    if draw(st.booleans()):
        function |= {"parameters": draw(objects), "strict": True}
    return draw(shuffled({"type": "function", "function": draw(shuffled(function))}))


REQUESTS = {"anthropic": anthropic_requests(), "openai-chat": chat_requests()}


@pytest.mark.parametrize("form", codecs.WIRE_FORMS)
class TestEveryWire:
    def test_decode_then_encode_is_the_identity_on_valid_requests(self, form):
        @SLOW
        @given(REQUESTS[form])
        def check(request):
            assert codecs.violations(request, form) == []
            assert json.dumps(codecs.encode(codecs.decode(request, form), form)) == json.dumps(request)

        check()

    def test_a_valid_conversation_needs_no_repair_and_is_the_same_object(self, form):
        @SLOW
        @given(REQUESTS[form])
        def check(request):
            conversation = codecs.decode(request, form)
            assert codecs.repaired(conversation, form) == (conversation, ())
            assert codecs.repaired(conversation, form)[0] is conversation

        check()

    def test_decoding_does_not_modify_the_request(self, form):
        @SLOW
        @given(REQUESTS[form])
        def check(request):
            before = json.dumps(request)
            codecs.encode(codecs.decode(request, form), form)
            assert json.dumps(request) == before

        check()

    def test_everything_in_extra_is_json(self, form):
        @SLOW
        @given(REQUESTS[form])
        def check(request):
            conversation = codecs.decode(request, form)
            extras = [conversation.extra, *(message.extra for message in conversation.messages)]
            extras += [part.extra for message in conversation.messages for part in message.parts]
            assert json.loads(json.dumps(extras)) == extras

        check()
