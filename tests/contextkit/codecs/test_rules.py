"""Every provider rule has a request that breaks it; the checker written apart from this package agrees."""

import json
import re

import pytest

from contextkit import codecs

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mP4z8DA8B8ABgAB/2U0+PcAAAAASUVORK5CYII="
WIDE = "iVBORw0KGgoAAAANSUhEUgAACAAAAAACCAAAAABX3VL4AAAADklEQVR42mP4z8DA8B8ABgAB/2U0+PcAAAAASUVORK5CYII="
"""The same with a header that says 2048 pixels of width."""


def user(*content):
    return {"role": "user", "content": list(content)}


def says(*content):
    return {"role": "assistant", "content": list(content)}


def text(words="hi"):
    return {"type": "text", "text": words}


def use(key, **more):
    return {"type": "tool_use", "id": key, "name": "Bash", "input": {}, **more}


def result(key, content="ok"):
    return {"type": "tool_result", "tool_use_id": key, "content": content}


def image(data=PNG, kind="image/png"):
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def calls(*keys, arguments="{}"):
    made = [{"id": key, "type": "function", "function": {"name": "run", "arguments": arguments}} for key in keys]
    return {"role": "assistant", "content": None, "tool_calls": made}


def tool(key):
    return {"role": "tool", "tool_call_id": key, "content": "ok"}


def chat(role, content):
    return {"role": role, "content": content}


def picture(url):
    return {"type": "image_url", "image_url": {"url": url}}


MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
ANTHROPIC = [
    ([], "messages: none"),
    ([says(text())], "the first message must be the user's"),
    ([user(text(" "))], r"messages\[0\]\.content\[0\]: blank text"),
    ([user()], r"messages\[0\]: no content"),
    ([{"role": "system", "content": "x"}], "the role is system; allowed are user and assistant"),
    ([user(text()), says(text("x  "))], "the last answer ends in 2 characters of white space"),
    ([user(text()), says(use("a"))], "tool_use 'a' without its tool_result in the next message"),
    ([user(text()), says(use("a")), user(text())], "tool_use 'a' without its tool_result"),
    ([user(result("a"))], "tool_result 'a' without its tool_use in the message before"),
    ([user(text()), says(use("a")), user(result("a"), result("a"))], "2 results for tool_use 'a'"),
    ([user(text()), says(use("a")), user(text(), result("a"))], "a tool_result after other content"),
    ([user(text()), says(use("a")), user(result("a", [text("")]))], "blank text in a tool_result"),
    ([user(text()), says(use("a:0")), user(result("a:0"))], "id 'a:0'; allowed are 1 to 64 of a-z"),
    ([user(text()), says(use("a", input=[])), user(result("a"))], "the input of tool_use 'a' is no object"),
    ([user(text()), *[says(use("a")), user(result("a"))] * 2], "tool_use id 'a' is used twice"),
    ([user(use("a")), user(result("a"))], "tool_use 'a' in a user message"),
    (
        [user(text()), says({"type": "server_tool_use", "id": "s"}), user(text())],
        "provider-side call 's' without its result",
    ),
    ([user(text()), says({"type": "web_search_tool_result", "tool_use_id": "s"})], "'s' without its call before it"),
    ([user(image("AAAA"))], r"starts with 000000, which is no PNG"),
    ([user(image("!"))], "the data is not base64"),
    ([user(image(""))], "the picture is empty"),
    ([user(image(kind="image/jpeg"))], "it says image/jpeg and is image/png"),
    ([user(image(PNG + "A" * 5 * 2**20))], r"at most 5242880 are allowed|not base64"),
    ([user(*[MARKED] * 5)], "5 cache_control marks; 4 are allowed"),
    ([user(text("\ud800"))], "which UTF-8 cannot write"),
    (
        [user(text()), says(use("a", input={"n": float("nan")})), user(result("a"))],
        r"1 number\(s\) that JSON does not know",
    ),
]
CHAT = [
    ([], "messages: none"),
    ([tool("a")], "tool message 'a' without its call just before"),
    ([calls("a")], r"1 call\(s\) unanswered: 'a'"),
    ([calls("a"), chat("user", "x"), tool("a")], r"1 call\(s\) unanswered before it: 'a'"),
    ([chat("function", "x")], "the role is 'function'"),
    ([chat("user", "")], "an empty user message"),
    ([chat("user", [text("")])], r"content\[0\]: empty text"),
    ([chat("user", "x"), chat("assistant", None)], "an assistant message with nothing in it"),
    ([chat("user", "x"), {**chat("assistant", "y"), "tool_calls": []}], "tool_calls is empty"),
    ([calls("k" * 41), tool("k" * 41)], "allowed are 1 to 40 characters"),
    ([calls("a", "a"), tool("a"), tool("a")], "the id 'a' is used twice"),
    ([calls("a", arguments="{"), tool("a")], "the arguments are not JSON"),
    ([chat("assistant", [picture("https://example.org")])], "a picture in a assistant message"),
    ([chat("user", [picture("data:image/png;base64,AAAA")])], "picture: it starts with 000000"),
    ([chat("user", "\udc00")], "which UTF-8 cannot write"),
]
BROKEN = [("anthropic", *row) for row in ANTHROPIC] + [("openai-chat", *row) for row in CHAT]
STRICTER = [
    (
        "anthropic",
        [user(text()), says({"type": "thinking", "thinking": "x"}, text())],
        "thinking without its signature",
    ),
    (
        "anthropic",
        [user(text()), says({"type": "thinking", "thinking": "x", "signature": "s"})],
        "is thinking; an answer must",
    ),
    ("anthropic", [user(text()), says(image())], "a picture in an assistant message"),
    ("anthropic", [user(text()), says(use("k" * 65)), user(result("k" * 65))], "allowed are 1 to 64"),
    ("openai-chat", [calls("a"), tool("a"), calls("a"), tool("a")], "the id 'a' is used twice"),
]


def shown(case):
    return case if isinstance(case, str) else ""


@pytest.mark.parametrize(("form", "messages", "message"), BROKEN + STRICTER, ids=shown)
def test_a_broken_rule_is_found_and_told_with_its_place(form, messages, message):
    faults = codecs.violations({"messages": messages}, form)
    assert any(re.search(message, fault) for fault in faults), faults


@pytest.mark.parametrize(("form", "messages", "message"), BROKEN, ids=shown)
def test_the_other_checker_finds_it_too(oracle, form, messages, message):
    assert oracle.violations({"messages": messages}, form)


@pytest.mark.parametrize("form", codecs.WIRE_FORMS)
def test_a_sound_request_breaks_no_rule(cases, form):
    request = json.loads((cases / f"{form}-unusual" / "request.json").read_text(encoding="utf-8"))
    assert codecs.violations(request, form) == []


def test_pictures_must_be_smaller_once_there_are_more_than_twenty():
    few, many = [{"messages": [user(*[image(WIDE)] * count)]} for count in (20, 21)]
    assert codecs.violations(few, "anthropic") == []
    assert len(codecs.violations(many, "anthropic")) == 21
    assert "at most 2000 a side are allowed" in codecs.violations(many, "anthropic")[0]


def test_a_provider_side_call_and_its_result_are_a_pair_whatever_their_kind():
    pair = says({"type": "mcp_tool_use", "id": "m"}, {"type": "mcp_tool_result", "tool_use_id": "m"}, text())
    assert codecs.violations({"messages": [user(text()), pair]}, "anthropic") == []


def test_custom_calls_need_no_json_arguments():
    call = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}, tool("a")]
    assert codecs.violations({"messages": messages}, "openai-chat") == []
