"""What the reader of a page sees: everything but reasoning, and whose it is."""

import json

import pytest
from hypothesis import given

from contextkit.messages import Image, Message, Opaque, Pending, Text, Thinking, ToolCall, ToolResult
from contextkit.plaintext import arguments_text, image_label, plain_text, result_text
from tests.contextkit.strategies import answers, call, calls, conversations, machine, picture, result, run, says, user


class TestNothingIsLost:
    @given(conversations())
    def test_every_text_stands_in_it(self, conversation):
        shown = plain_text(conversation.messages)
        assert all(part.text in shown for message in conversation.messages for part in message.of(Text))

    @given(conversations())
    def test_every_text_of_a_result_stands_in_it(self, conversation):
        shown = plain_text(conversation.messages)
        results = [part for message in conversation.messages for part in message.of(ToolResult)]
        assert all(inner.text in shown for part in results for inner in part.content if isinstance(inner, Text))

    @given(conversations())
    def test_every_argument_stands_in_it(self, conversation):
        shown = plain_text(conversation.messages)
        for message in conversation.messages:
            for made in message.of(ToolCall):
                assert all(f"{key}:" in shown for key in made.arguments)
                assert all(spelt(value) in shown for value in made.arguments.values())

    @given(conversations())
    def test_every_call_and_result_has_a_line_of_its_own(self, conversation):
        lines = plain_text(conversation.messages).split("\n")
        for number, message in enumerate(conversation.messages, 1):
            for made in message.of(ToolCall):
                assert f"[{number} call {made.name}]" in lines


def spelt(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class TestForm:
    def test_each_part_says_number_and_speaker(self):
        assert plain_text([user("Go."), says("Done.")]) == "[1 user]\nGo.\n[2 assistant]\nDone."

    def test_what_a_program_wrote_in_the_users_role_is_a_programs(self):
        assert plain_text([machine("$ ls")]) == "[1 program]\n$ ls"

    def test_numbers_go_on_from_the_first(self):
        assert plain_text([user("Go.")], first_number=41) == "[41 user]\nGo."

    def test_a_result_names_its_tool(self):
        assert plain_text(run("a", "bash", "out", command="ls")) == (
            "[1 call bash]\ncommand: ls\n[2 result bash]\nout"
        )

    def test_a_result_whose_call_stands_elsewhere_is_named_all_the_same(self):
        assert plain_text([answers(result("a", "out"))], tool_names={"a": "bash"}) == "[1 result bash]\nout"

    def test_a_result_of_no_known_call_says_so(self):
        assert plain_text([answers(result("a", "out"))]) == "[1 result of an unknown tool]\nout"

    def test_a_failure_says_so(self):
        shown = plain_text([calls(call("a", "bash")), answers(result("a", "out", is_error=True))])
        assert "[2 result bash failed]\nout" in shown

    def test_an_argument_of_several_lines_stands_below_its_name(self):
        assert arguments_text({"path": "a.py", "text": "one\ntwo", "n": [1, "é"]}) == (
            'path: a.py\ntext:\none\ntwo\nn: [1, "é"]'
        )

    def test_an_empty_text_leaves_no_line(self):
        assert plain_text([user(""), says("Done.")]) == "[2 assistant]\nDone."

    def test_no_messages_are_no_text(self):
        assert plain_text([]) == ""


class TestWhatIsNoText:
    def test_reasoning_is_left_out(self):
        thought = Message(role="assistant", parts=(Thinking(text="secret", signature="c2ln"), Text(text="Done.")))
        assert plain_text([thought]) == "[1 assistant]\nDone."

    @pytest.mark.parametrize(
        ("part", "label"),
        [
            (picture(), "[1 user: image/png]"),
            (Image(url="https://example.org/a.png"), "[1 user: image at https://example.org/a.png]"),
            (Opaque(form="anthropic", value={"type": "document"}), "[1 user: block of kind document]"),
            (Opaque(form="anthropic", value=["odd"]), "[1 user: block of kind unknown]"),
        ],
    )
    def test_pictures_and_unknown_blocks_are_named(self, part, label):
        assert plain_text([Message(role="user", parts=(part,))]) == label

    def test_those_in_a_result_are_named_in_their_place(self):
        assert result_text(result("a", "Before:", picture(), "After.")) == "Before:\n[image/png]\nAfter."

    @pytest.mark.parametrize(("size", "label"), [((900, 800), "image/png 800x900 px"), (None, "image/png")])
    def test_a_label_says_the_size_where_it_is_known(self, size, label):
        assert image_label(picture(), size) == label


class TestOurOwnPages:
    @pytest.mark.parametrize(
        "page",
        [
            lambda text: Image(media_type="image/png", data="AAAA", stands_for=text),
            lambda text: Pending(key="page-001", tokens=9, stands_for=text),
        ],
        ids=["drawn", "promised"],
    )
    def test_pages_in_a_row_show_their_text_without_a_seam(self, page):
        pages = Message(role="user", parts=(Text(text="Pages:"), page("the first half of a wo"), page("rd\n")))
        assert plain_text([pages]) == "[1 user]\nPages:\nthe first half of a word\n"
