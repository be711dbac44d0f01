"""What one form said is sent in another: nothing foreign reaches the wire, and what is lost is told."""

import base64
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextkit import codecs
from contextkit.codecs._ids import fitted_ids
from contextkit.codecs._text import utf8_json
from contextkit.messages import Conversation, Image, Message, Opaque, Text, Thinking, Tool, ToolCall, ToolResult

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mP4z8DA8B8ABgAB/2U0+PcAAAAASUVORK5CYII="


def user(*parts):
    return Message(role="user", parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


def says(*parts):
    return Message(role="assistant", parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


def call(key, **arguments):
    return ToolCall(id=key, name="run", arguments=arguments)


def answer(key, *content):
    parts = tuple(Text(text=part) if isinstance(part, str) else part for part in content)
    return Message(role="tool", parts=(ToolResult(call_id=key, content=parts),))


def talk(*messages, **fields):
    return Conversation(messages=messages, **fields)


def sent(conversation, form):
    return codecs.encode(conversation, form)["messages"]


def notes(conversation, form):
    return codecs.repaired(conversation, form)[1]


class TestToAnthropic:
    def test_tool_messages_and_the_user_message_after_them_become_one_with_the_results_first(self):
        messages = sent(
            talk(user("go"), says(call("a"), call("b")), answer("a", "1"), answer("b", "2"), user("now?")), "anthropic"
        )
        assert messages[2] == {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                {"type": "text", "text": "now?"},
            ],
        }

    def test_ids_that_do_not_fit_are_mapped_alike_in_call_and_result(self):
        messages = sent(
            talk(user("go"), says(call("Bash:0"), call("ok_1")), answer("Bash:0"), answer("ok_1")), "anthropic"
        )
        calls = [block["id"] for block in messages[1]["content"]]
        assert calls == [block["tool_use_id"] for block in messages[2]["content"]]
        assert calls[0].startswith("Bash_0_")
        assert calls[1] == "ok_1"

    def test_a_system_message_among_the_others_becomes_user_text_that_says_so(self):
        messages = sent(
            talk(user("go"), Message(role="system", parts=(Text(text="be brief"),)), says("ok")), "anthropic"
        )
        assert messages[1]["content"] == [
            {"type": "text", "text": "[system message]"},
            {"type": "text", "text": "be brief"},
        ]

    def test_unsigned_and_foreign_reasoning_is_dropped_and_told(self):
        thoughts = (
            Thinking(text="a"),
            Thinking(text="b", signature=""),
            Thinking(text="c", signature="s", extra={"gemini": {}}),
            Thinking(text="d", signature="s"),
        )
        conversation = talk(user("go"), says(*thoughts, "yes"))
        assert [block["type"] for block in sent(conversation, "anthropic")[1]["content"]] == ["thinking", "text"]
        assert notes(conversation, "anthropic") == ("3 reasoning block(s) dropped: not signed for this form",)

    def test_blank_texts_and_what_they_leave_empty_are_dropped(self):
        conversation = talk(user("go"), says(" ", "\n"), user("on", ""))
        assert [message["content"] for message in sent(conversation, "anthropic")] == ["go", "on"]
        assert notes(conversation, "anthropic") == ("3 blank text(s) dropped", "1 empty message(s) dropped")

    def test_an_assistant_message_in_front_gets_a_user_message_before_it(self):
        first, second = sent(talk(says("hello")), "anthropic")
        assert (first["role"], second) == ("user", {"role": "assistant", "content": "hello"})

    def test_white_space_after_the_last_answer_is_taken_off(self):
        assert sent(talk(user("go"), says("First, \n")), "anthropic")[-1]["content"] == "First,"

    def test_a_picture_is_sent_as_what_it_is(self):
        conversation = talk(user(Image(media_type="image/jpeg", data=PNG)))
        assert sent(conversation, "anthropic")[0]["content"][0]["source"]["media_type"] == "image/png"
        assert notes(conversation, "anthropic") == ("1 picture(s) that said image/jpeg sent as image/png",)

    @pytest.mark.parametrize(
        ("picture", "why"),
        [
            (Image(media_type="image/png", data="no base64"), "the data is not base64"),
            (Image(media_type="image/png", data=""), "the picture is empty"),
            (Image(media_type="image/bmp", data=base64.b64encode(b"BM1234").decode()), "it starts with 424d3132"),
            (Image(media_type="image/png", data=PNG[:24]), "the PNG is cut off after 18 bytes"),
            (Image(), "it has no readable data"),
            (Image(url="data:image/png,raw"), "it has no readable data"),
        ],
    )
    def test_a_picture_that_would_be_refused_becomes_a_label_with_the_reason(self, picture, why):
        (message,) = sent(talk(user("look", picture)), "anthropic")
        assert message["content"][1]["text"].startswith(f"[picture left out: {why}")

    def test_a_picture_that_is_too_large_becomes_a_label_with_its_size(self):
        raw = bytearray(base64.b64decode(PNG))
        raw[16:24] = struct.pack(">II", 9000, 10)
        (message,) = sent(
            talk(user("look", Image(media_type="image/png", data=base64.b64encode(raw).decode()))), "anthropic"
        )
        assert message["content"][1]["text"] == (
            "[picture left out: 10 x 9000 pixels (height x width), at most 8000 a side are allowed]"
        )

    def test_of_more_than_twenty_pictures_those_over_2000_pixels_become_labels(self):
        raw = bytearray(base64.b64decode(PNG))
        raw[16:24] = struct.pack(">II", 2048, 2)
        wide = Image(media_type="image/png", data=base64.b64encode(raw).decode())
        kinds = [
            {part["type"] for part in sent(talk(user(*[wide] * count)), "anthropic")[0]["content"]}
            for count in (20, 21)
        ]
        assert kinds == [{"image"}, {"text"}]

    def test_fields_put_on_a_part_are_written_on_its_block(self):
        page = Image(
            media_type="image/png",
            data=PNG,
            extra={"anthropic": {"fields": {"transformations": {"oversized_image": "error"}}}},
        )
        (block,) = sent(talk(user(page)), "anthropic")[0]["content"]
        assert list(block) == ["type", "source", "transformations"]

    def test_of_more_than_four_cache_marks_the_oldest_are_taken_off(self):
        marked = [
            Text(text=str(n), extra={"anthropic": {"fields": {"cache_control": {"type": "ephemeral"}}}})
            for n in range(6)
        ]
        conversation = talk(*(user(text) for text in marked))
        contents = [message["content"] for message in sent(conversation, "anthropic")]
        assert [isinstance(content, list) and "cache_control" in content[0] for content in contents] == [False] * 2 + [
            True
        ] * 4
        assert notes(conversation, "anthropic") == ("2 cache mark(s) taken off, the oldest first: 4 are allowed",)

    def test_cache_marks_on_results_their_content_and_unknown_blocks_count_too(self):
        mark = {"cache_control": {"type": "ephemeral"}}
        extra = {"anthropic": {"fields": mark}}
        held = ToolResult(call_id="a", content=(Text(text="1", extra=extra),), extra=extra)
        paper = Opaque(form="anthropic", value={"type": "document", **mark})
        last = [Text(text=word, extra=extra) for word in "abcd"]
        conversation = talk(user("go"), says(call("a")), user(held, paper, *last))
        result, document, *texts = sent(conversation, "anthropic")[2]["content"]
        assert result == {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]}
        assert document == {"type": "document"}
        assert all("cache_control" in text for text in texts)

    def test_half_of_a_provider_side_pair_is_dropped_in_either_direction(self):
        use = Opaque(form="anthropic", value={"type": "server_tool_use", "id": "s", "name": "web", "input": {}})
        told = Opaque(form="anthropic", value={"type": "web_tool_result", "tool_use_id": "s", "content": []})
        for parts in ((use, "x"), (told, "x"), (told, use, "x")):
            assert sent(talk(user("go"), says(*parts)), "anthropic")[1]["content"] == "x"
        assert len(sent(talk(user("go"), says(use, told, "x")), "anthropic")[1]["content"]) == 3

    def test_a_conversation_of_empty_messages_says_so(self):
        assert sent(talk(user("")), "anthropic") == [{"role": "user", "content": "[every message was empty]"}]


class TestToChat:
    def test_pictures_in_results_move_to_the_next_user_message_after_the_whole_run(self):
        shot = Image(media_type="image/png", data=PNG)
        conversation = talk(
            user("go"), says(call("a"), call("b")), answer("a", "seen", shot), answer("b", "2"), user("and?")
        )
        messages = sent(conversation, "openai-chat")
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
        assert messages[2]["content"] == "seen\n[picture: in the next user message]"
        assert [part.get("text", part["type"]) for part in messages[4]["content"]] == [
            "[1 picture(s) from the result of call a:]",
            "image_url",
            "and?",
        ]
        assert notes(conversation, "openai-chat") == ("1 picture(s) moved from results to the next user message",)

    def test_pictures_get_a_user_message_of_their_own_when_none_follows(self):
        shot = Image(media_type="image/png", data=PNG)
        messages = sent(talk(user("go"), says(call("a")), answer("a", shot), says("I see")), "openai-chat")
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user", "assistant"]

    def test_results_at_the_head_of_a_user_message_become_tool_messages(self):
        head = ToolResult(call_id="a", content=(Text(text="1"),))
        messages = sent(talk(user("go"), says("so", call("a", n=1)), user(head, "and?")), "openai-chat")
        assert messages[1:] == [
            {
                "role": "assistant",
                "content": "so",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "user", "content": "and?"},
        ]

    def test_content_is_null_beside_calls_alone(self):
        assert sent(talk(user("go"), says(call("a")), answer("a")), "openai-chat")[1]["content"] is None

    def test_long_ids_are_cut_to_forty_characters_and_stay_different(self):
        keys = ["k" * 70 + "1", "k" * 70 + "2"]
        messages = sent(talk(user("go"), says(*map(call, keys)), *map(answer, keys)), "openai-chat")
        ids = [made["id"] for made in messages[1]["tool_calls"]]
        assert [len(key) for key in ids] == [40, 40]
        assert len(set(ids)) == 2
        assert ids == [message["tool_call_id"] for message in messages[2:]]

    def test_reasoning_of_this_form_goes_back_in_its_field_and_other_reasoning_is_dropped(self):
        own = Thinking(text="hm", extra={"openai-chat": {"field": "reasoning_content"}})
        messages = sent(talk(user("go"), says(own, Thinking(text="x", signature="s"), "yes")), "openai-chat")
        assert messages[1] == {"role": "assistant", "content": "yes", "reasoning_content": "hm"}

    def test_a_provider_side_search_is_told_as_text_and_its_sealed_result_dropped(self):
        use = Opaque(
            form="anthropic",
            value={"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "fair"}},
        )
        told = Opaque(
            form="anthropic", value={"type": "web_search_tool_result", "tool_use_id": "s", "content": "SEALED"}
        )
        conversation = talk(user("go"), says(use, told, "In May."))
        text = json.dumps(sent(conversation, "openai-chat"))
        assert "web_search" in text
        assert "SEALED" not in text

    def test_texts_of_one_message_are_joined_to_a_string(self):
        assert sent(talk(user("one", "two")), "openai-chat") == [{"role": "user", "content": "one\n\ntwo"}]

    def test_system_texts_become_one_system_message(self):
        conversation = talk(user("go"), system=(Text(text="a"), Text(text="b")))
        assert sent(conversation, "openai-chat")[0] == {"role": "system", "content": "a\n\nb"}

    def test_a_picture_of_the_assistant_becomes_a_label(self):
        messages = sent(talk(user("go"), says("see", Image(media_type="image/png", data=PNG))), "openai-chat")
        assert messages[1]["content"] == "see\n\n[picture left out: assistant messages cannot carry pictures]"

    def test_calls_with_arguments_that_are_no_json_are_sent_as_json(self):
        made = {"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"broken'}}
        request = {
            "messages": [
                {"role": "assistant", "content": None, "tool_calls": [made]},
                {"role": "tool", "tool_call_id": "a", "content": ""},
            ]
        }
        (sent_call,) = sent(codecs.decode(request, "openai-chat"), "openai-chat")[0]["tool_calls"]
        assert json.loads(sent_call["function"]["arguments"]) == {"arguments": '{"broken'}

    def test_custom_calls_come_back_and_a_changed_one_becomes_a_function(self):
        made = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "***"}}
        request = {
            "messages": [
                {"role": "assistant", "content": None, "tool_calls": [made]},
                {"role": "tool", "tool_call_id": "a", "content": ""},
            ]
        }
        assert codecs.encode(codecs.decode(request, "openai-chat"), "openai-chat") == request


class TestBothWays:
    @pytest.mark.parametrize("form", codecs.WIRE_FORMS)
    def test_fields_of_other_forms_and_of_ours_never_reach_the_wire(self, form):
        extra = {name: {"fields": {"leak": 1}, "keys": ["leak"]} for name in ("smoke", "contextkit", "pi")}
        conversation = Conversation(
            messages=(Message(role="user", parts=(Text(text="x", extra=extra),), extra=extra),),
            system=(Text(text="s", extra=extra),),
            tools=(Tool(name="t", extra=extra),),
            extra=extra,
        )
        assert "leak" not in json.dumps(codecs.encode(conversation, form))

    @pytest.mark.parametrize(("here", "there"), [codecs.WIRE_FORMS, codecs.WIRE_FORMS[::-1]])
    def test_an_unusual_request_can_be_sent_in_the_other_form(self, cases, here, there):
        request = json.loads((cases / f"{here}-unusual" / "request.json").read_text(encoding="utf-8"))
        crossed = codecs.encode(codecs.decode(request, here), there)
        assert codecs.violations(crossed, there) == []
        assert set(crossed) <= {"messages", "tools", "system"}

    @pytest.mark.parametrize("form", codecs.WIRE_FORMS)
    def test_a_request_with_unusual_fields_comes_back_to_the_last_key(self, cases, form):
        raw = (cases / f"{form}-unusual" / "request.json").read_bytes()
        loaded = codecs.load_bytes(raw)
        assert loaded.form == form
        assert json.dumps(codecs.encode(loaded.conversation, form)) == json.dumps(json.loads(raw))

    def test_tools_that_a_provider_runs_are_not_offered_to_another(self, cases):
        request = json.loads((cases / "anthropic-unusual" / "request.json").read_text(encoding="utf-8"))
        tools = codecs.encode(codecs.decode(request), "openai-chat")["tools"]
        assert [tool["function"]["name"] for tool in tools] == ["query"]

    @pytest.mark.parametrize("form", codecs.WIRE_FORMS)
    def test_a_spelling_does_not_survive_a_change_of_what_it_spelt(self, form):
        made = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"n":1}'}}],
        }
        request = {
            "messages": [{"role": "user", "content": "x"}, made, {"role": "tool", "tool_call_id": "a", "content": ""}]
        }
        conversation = codecs.decode(request, "openai-chat")
        (old,) = conversation.messages[1].parts
        new = ToolCall(id="a", name="run", arguments={"n": 2}, extra=old.extra)
        messages = (conversation.messages[0], Message(role="assistant", parts=(new,)), *conversation.messages[2:])
        assert '"n": 2' in json.dumps(sent(Conversation(messages=messages), form)).replace('\\"', '"')


class TestSurrogates:
    @pytest.mark.parametrize("form", codecs.WIRE_FORMS)
    def test_lone_surrogates_become_replacement_characters_everywhere(self, form):
        conversation = talk(user("half \ud83d"), says(call("a", **{"k\ud800": "\udc00"})), answer("a", "\udcff"))
        request = json.dumps(codecs.encode(conversation, form), ensure_ascii=False).replace("\\", "")
        assert request.encode().decode() == request
        assert all(piece in request for piece in ("half \ufffd", '"k\ufffd"', '"\ufffd"'))

    def test_proper_pairs_become_one_character(self):
        assert utf8_json(["\ud83d\ude00 \ud83d"]) == ["\U0001f600 \ufffd"]

    def test_keys_that_would_become_equal_stay_apart(self):
        odd = dict(zip(("k\ud800", "k\ud801", "k\ufffd"), (1, 2, 3), strict=True))
        assert list(utf8_json(odd).items()) == [("k\ufffd\ufffd", 1), ("k\ufffd\ufffd\ufffd", 2), ("k\ufffd", 3)]

    def test_a_value_that_needs_nothing_is_the_same_object(self):
        value = {"a": [{"b": "\u2028é"}, 1, None]}
        assert utf8_json(value) is value


class TestIds:
    @given(st.lists(st.text(st.characters(exclude_categories=()), max_size=80)))
    def test_different_ids_stay_different_and_all_fit(self, ids):
        names = fitted_ids(ids, forbidden=r"[^a-zA-Z0-9_-]", limit_chars=40)
        final = [names.get(key, key) for key in dict.fromkeys(ids)]
        assert len(set(final)) == len(final)
        assert all(0 < len(key) <= 40 and all(char.isascii() for char in key) for key in final)

    def test_ids_that_fit_stay_as_they_are(self):
        assert fitted_ids(["call_1", "toolu-2"], forbidden=r"[^a-zA-Z0-9_-]", limit_chars=40) == {}

    def test_an_id_that_another_would_become_is_not_taken_twice(self):
        (made,) = fitted_ids(["a:b"], forbidden=":", limit_chars=40).values()
        names = fitted_ids(["a:b", made], forbidden=":", limit_chars=40)
        assert made not in names
        assert names["a:b"] != made


class TestBlocksOfAnUnknownShape:
    @pytest.mark.parametrize(
        "block",
        [
            {"type": "text", "text": None},
            {"type": "thinking", "thinking": None},
            {"type": "redacted_thinking"},
            {"type": "image", "source": "a.png"},
            {"type": "image", "source": {"type": "base64", "data": PNG}},
            {"type": "tool_use", "id": "a"},
            {"type": "tool_result"},
            {"type": ["odd"]},
            {"no": "type"},
            "a string",
        ],
        ids=str,
    )
    def test_it_is_kept_as_it_is_and_echoed_to_its_own_form(self, block):
        conversation = codecs.decode({"messages": [{"role": "user", "content": [block]}]}, "anthropic")
        assert conversation.messages[0].parts == (Opaque(form="anthropic", value=block),)

    @pytest.mark.parametrize(
        "part", [{"type": "text"}, {"type": "image_url", "image_url": {}}, {"type": 5}, 5], ids=str
    )
    def test_so_is_a_part_of_chat_content(self, part):
        conversation = codecs.decode({"messages": [{"role": "user", "content": [part]}]}, "openai-chat")
        assert conversation.messages[0].parts == (Opaque(form="openai-chat", value=part),)

    def test_a_call_inside_of_a_result_is_not_taken_for_a_call(self):
        inner = {"type": "tool_use", "id": "b", "name": "run", "input": {}}
        content = [{"type": "tool_result", "tool_use_id": "a", "content": [inner]}]
        conversation = codecs.decode({"messages": [{"role": "user", "content": content}]}, "anthropic")
        assert conversation.messages[0].parts[0].content == (Opaque(form="anthropic", value=inner),)

    def test_a_system_prompt_with_a_foreign_block_comes_back(self):
        request = {
            "system": [{"type": "text", "text": "s"}, {"type": "document"}],
            "messages": [{"role": "user", "content": "x"}],
        }
        assert codecs.encode(codecs.decode(request), "anthropic") == request
