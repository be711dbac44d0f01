"""Any conversation can be sent: calls and results pair up, nothing is lost, nothing sound is touched."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextkit import codecs
from contextkit.codecs.repair import NO_RESULT, repair
from contextkit.errors import ArgumentError, RequestError
from contextkit.messages import (
    Conversation,
    Image,
    Message,
    Opaque,
    Pending,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mP4z8DA8B8ABgAB/2U0+PcAAAAASUVORK5CYII="


def user(*parts):
    return Message(role="user", parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


def asks(*keys, text=""):
    said = (Text(text=text),) if text else ()
    return Message(
        role="assistant", parts=(*said, *(ToolCall(id=key, name="Bash", arguments={"of": key}) for key in keys))
    )


def answers(*keys, text=None):
    results = (ToolResult(call_id=key, content=(Text(text=text or f"result of {key}"),)) for key in keys)
    return Message(role="tool", parts=tuple(results))


def talk(*messages):
    return Conversation(messages=messages)


def shape(conversation):
    """Tell each message as its role and what its parts are."""
    return [(message.role, *map(told, message.parts)) for message in conversation.messages]


def told(part):
    if isinstance(part, ToolCall):
        return f"call {part.id}"
    if isinstance(part, ToolResult):
        return f"{part.call_id}: {part.content[0].text}"
    return part.text


any_text = st.text(st.characters(exclude_categories=()), max_size=6) | st.sampled_from(["", " ", "\n", "\ud83d", "ok "])
keys = st.sampled_from(["a", "b", "c", "x:0", "x|0", "", "k" * 70, "k" * 69 + "j", "\udc80"])
arguments = st.dictionaries(any_text, any_text | st.none() | st.lists(any_text, max_size=2), max_size=2)
images = st.builds(
    Image,
    media_type=st.sampled_from(["image/png", "image/jpeg", None]),
    data=st.sampled_from([PNG, "", "not base64", "AAAA", None]),
    url=st.sampled_from([None, "https://example.org/a.png", "data:text/plain,hi"]),
)
opaques = st.builds(
    Opaque,
    form=st.sampled_from(["anthropic", "openai-chat", "pi"]),
    value=st.sampled_from(
        [
            {"type": "document", "source": {}},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
        ]
    ),
)
texts = st.builds(
    Text,
    text=any_text,
    extra=st.sampled_from([{}, {"anthropic": {"fields": {"cache_control": {"type": "ephemeral"}}}}]),
)
thoughts = st.builds(
    Thinking,
    text=any_text,
    signature=st.sampled_from([None, "", "signed"]),
    extra=st.sampled_from(
        [{}, {"anthropic": {"redacted": "sealed"}}, {"openai-chat": {"field": "reasoning_content"}}, {"gemini": {}}]
    ),
)
calls = st.builds(ToolCall, id=keys, name=st.sampled_from(["Bash", "Read", ""]), arguments=arguments)
results = st.builds(
    ToolResult,
    call_id=keys,
    content=st.lists(texts | images | opaques, max_size=2).map(tuple),
    is_error=st.booleans(),
)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    parts=st.lists(texts | images | opaques | thoughts | calls | results, max_size=4).map(tuple),
)
conversations = st.builds(
    Conversation,
    messages=st.lists(messages, min_size=1, max_size=7).map(tuple),
    system=st.lists(st.builds(Text, text=any_text), max_size=2).map(tuple),
    tools=st.lists(st.builds(Tool, name=st.just("Bash")), max_size=1).map(tuple),
)


@pytest.mark.parametrize("form", codecs.WIRE_FORMS)
class TestEveryWire:
    def test_any_conversation_becomes_a_request_that_breaks_no_rule(self, form, oracle_violations):
        @settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
        @given(conversations)
        def check(conversation):
            request = codecs.encode(conversation, form)
            assert codecs.violations(request, form) == []
            assert oracle_violations(request, form) == []

        check()

    def test_encoding_twice_gives_the_same_request(self, form):
        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(conversations)
        def check(conversation):
            assert json.dumps(codecs.encode(conversation, form)) == json.dumps(codecs.encode(conversation, form))

        check()

    def test_a_repaired_conversation_needs_no_further_repair(self, form):
        @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
        @given(conversations)
        def check(conversation):
            fixed, _ = codecs.repaired(conversation, form)
            assert codecs.repaired(fixed, form) == (fixed, ())

        check()

    def test_a_conversation_without_messages_is_refused_with_the_rule_it_breaks(self, form):
        with pytest.raises(RequestError, match=r"breaks 1 provider rule.*messages: none; at least one is needed"):
            codecs.encode(Conversation(messages=()), form)

    def test_a_number_that_json_does_not_know_is_refused(self, form):
        call = ToolCall(id="a", name="Bash", arguments={"n": float("nan")})
        broken = talk(user("go"), Message(role="assistant", parts=(call,)), answers("a"))
        with pytest.raises(RequestError, match=r"1 number\(s\) that JSON does not know|arguments are not JSON"):
            codecs.encode(broken, form)

    def test_pending_parts_are_refused_with_their_number(self, form):
        planned = talk(user("go", Pending(key="page-1", tokens=10), Pending(key="page-2", tokens=10)))
        with pytest.raises(ArgumentError, match=r"holds 2 pending part\(s\).*apply the plan first"):
            codecs.encode(planned, form)


def test_an_unknown_form_is_refused_with_the_allowed_ones():
    with pytest.raises(ArgumentError, match=r"unknown wire form 'smoke'; allowed are anthropic, openai-chat"):
        codecs.encode(talk(user("go")), "smoke")


def test_a_log_form_cannot_be_written():
    with pytest.raises(ArgumentError, match=r"'pi'.*a log form can be read only"):
        codecs.encode(talk(user("go")), "pi")


class TestRepair:
    def test_a_sound_conversation_comes_back_as_the_same_object(self):
        sound = talk(user("go"), asks("a", "b"), answers("a"), answers("b"), user("thanks"))
        assert repair(sound)[0] is sound

    def test_results_at_the_head_of_a_user_message_are_sound(self):
        sound = talk(user("go"), asks("a"), user(ToolResult(call_id="a"), "and now"))
        assert repair(sound)[0] is sound

    def test_an_unanswered_call_gets_a_result_that_says_so(self):
        fixed, notes = repair(talk(user("go"), asks("a", "b"), answers("a")))
        assert shape(fixed) == [
            ("user", "go"),
            ("assistant", "call a", "call b"),
            ("tool", "a: result of a"),
            ("tool", f"b: {NO_RESULT}"),
        ]
        assert fixed.messages[-1].parts[0].is_error
        assert notes == ("1 unanswered call(s) given a result that says so",)

    def test_a_result_without_a_call_becomes_user_text_with_its_content(self):
        fixed, notes = repair(talk(user("go"), answers("zz", text="precious")))
        assert shape(fixed) == [
            ("user", "go"),
            ("user", "[result of a call that is not part of this conversation: zz]", "precious"),
        ]
        assert notes == ("1 result(s) without a call turned into text",)

    def test_of_two_results_the_first_stays_and_the_second_becomes_text(self):
        fixed, _ = repair(talk(user("go"), asks("a"), answers("a", text="first"), answers("a", text="second")))
        assert shape(fixed)[2:] == [("tool", "a: first"), ("user", "[one more result of call a]", "second")]

    def test_a_late_result_is_moved_up_to_its_call(self):
        fixed, notes = repair(talk(asks("a"), user("are you there?"), answers("a")))
        assert shape(fixed) == [("assistant", "call a"), ("tool", "a: result of a"), ("user", "are you there?")]
        assert notes == ("1 result(s) moved up to their call",)

    def test_a_late_result_joins_those_that_are_in_their_place(self):
        fixed, _ = repair(
            talk(asks("a", "b"), user(ToolResult(call_id="b", content=(Text(text="b"),)), "hm"), answers("a"))
        )
        assert shape(fixed) == [("assistant", "call a", "call b"), ("user", "b: b", "a: result of a", "hm")]

    def test_results_of_two_answers_in_a_row_go_to_their_own_calls(self):
        fixed, _ = repair(talk(asks("a"), asks("b"), answers("b"), answers("a")))
        assert shape(fixed) == [
            ("assistant", "call a"),
            ("tool", "a: result of a"),
            ("assistant", "call b"),
            ("tool", "b: result of b"),
        ]

    def test_an_id_used_again_is_renamed_with_its_result(self):
        fixed, notes = repair(talk(asks("a"), answers("a", text="one"), asks("a"), answers("a", text="two")))
        assert shape(fixed) == [
            ("assistant", "call a"),
            ("tool", "a: one"),
            ("assistant", "call a_2"),
            ("tool", "a_2: two"),
        ]
        assert notes == ("1 call(s) renamed: the id was missing or used before",)

    def test_a_result_answers_the_latest_of_the_open_calls_with_its_id(self):
        fixed, _ = repair(talk(asks("a"), user("never mind"), asks("a"), answers("a", text="late")))
        assert shape(fixed) == [
            ("assistant", "call a"),
            ("tool", f"a: {NO_RESULT}"),
            ("user", "never mind"),
            ("assistant", "call a_2"),
            ("tool", "a_2: late"),
        ]

    def test_two_calls_of_one_message_with_one_id_are_paired_by_position(self):
        twice = Message(
            role="assistant",
            parts=(
                ToolCall(id="a", name="Bash", arguments={"n": 1}),
                ToolCall(id="a", name="Bash", arguments={"n": 2}),
            ),
        )
        fixed, _ = repair(talk(twice, answers("a", text="one"), answers("a", text="two")))
        assert shape(fixed) == [("assistant", "call a", "call a_2"), ("tool", "a: one"), ("tool", "a_2: two")]

    def test_a_call_doubled_in_one_message_is_sent_once(self):
        fixed, notes = repair(talk(asks("a", "a"), answers("a")))
        assert shape(fixed) == [("assistant", "call a"), ("tool", "a: result of a")]
        assert notes == ("1 call(s) that stood twice in one message, sent once",)

    def test_calls_without_ids_get_some_and_keep_their_results(self):
        calls = tuple(ToolCall(id="", name="Bash", arguments={"n": n}) for n in (1, 2))
        fixed, _ = repair(
            talk(Message(role="assistant", parts=calls), answers("", text="one"), answers("", text="two"))
        )
        assert shape(fixed) == [
            ("assistant", "call call_2", "call call_3"),
            ("tool", "call_2: one"),
            ("tool", "call_3: two"),
        ]

    def test_a_call_from_the_user_becomes_text(self):
        fixed, _ = repair(talk(user(ToolCall(id="a", name="Bash", arguments={"q": "é"}))))
        assert shape(fixed) == [("user", '[call of Bash: {"q": "é"}]')]

    def test_no_text_of_a_result_is_lost(self):
        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(conversations)
        def check(conversation):
            before = sorted(all_result_texts(conversation))
            after = sorted(all_texts(repair(conversation)[0]))
            assert all(after.count(text) >= before.count(text) for text in before)

        check()


def all_result_texts(conversation):
    results = [part for message in conversation.messages for part in message.parts if isinstance(part, ToolResult)]
    return [part.text for result in results for part in result.content if isinstance(part, Text)]


def all_texts(conversation):
    own = [part.text for message in conversation.messages for part in message.parts if isinstance(part, Text)]
    return own + all_result_texts(conversation)
