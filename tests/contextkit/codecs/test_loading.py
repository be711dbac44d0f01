"""Bytes are told apart by content; what cannot be read says where, why, and what to do."""

import json

import pytest

from contextkit import codecs
from contextkit.errors import ArgumentError, FormatError

USER = {
    "type": "user",
    "uuid": "u",
    "parentUuid": None,
    "sessionId": "s",
    "message": {"role": "user", "content": "one"},
}
NEXT = {**USER, "uuid": "v", "parentUuid": "u", "message": {"role": "user", "content": "two"}}
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def lines(*records):
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()


def heard(loaded):
    return [part.text for message in loaded.conversation.messages for part in message.parts]


class TestSniffing:
    def test_a_request_may_stand_on_one_line_or_on_many(self):
        for indent in (None, 2):
            assert heard(codecs.load_bytes(json.dumps(REQUEST, indent=indent).encode())) == ["hi"]

    @pytest.mark.parametrize(
        ("form", "sign"),
        [
            ("anthropic", {"system": "s"}),
            (
                "anthropic",
                {
                    "messages": [
                        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "n", "input": {}}]}
                    ]
                },
            ),
            ("anthropic", {"tools": [{"name": "n", "input_schema": {}}]}),
            ("openai-chat", {"messages": [{"role": "developer", "content": "x"}]}),
            (
                "openai-chat",
                {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]},
            ),
            ("openai-chat", {"tools": [{"type": "function", "function": {"name": "n"}}]}),
            ("openai-chat", {"max_completion_tokens": 5}),
        ],
    )
    def test_a_request_is_known_by_its_content(self, form, sign):
        assert codecs.load_bytes(json.dumps({**REQUEST, **sign}).encode()).form == form

    def test_a_log_of_one_line_is_a_log(self):
        assert codecs.load_bytes(lines(USER)).form == "claude-code"

    def test_a_form_can_be_named(self):
        assert codecs.decode(REQUEST, "openai-chat").extra == {
            "openai-chat": {"keys": ["model", "messages"], "fields": {"model": "m"}}
        }

    def test_an_unknown_form_is_refused_with_the_known_ones(self):
        with pytest.raises(ArgumentError, match="'smoke'; allowed are anthropic, openai-chat, claude-code, pi"):
            codecs.decode(REQUEST, "smoke")

    def test_a_log_of_one_record_can_be_named_too(self):
        assert len(codecs.decode(USER, "claude-code").messages) == 1

    def test_a_list_of_records_is_no_request(self):
        with pytest.raises(FormatError, match="list of 1 records; anthropic needs one object with 'messages'"):
            codecs.decode([USER], "anthropic")

    def test_a_byte_order_mark_and_windows_line_ends_are_accepted(self):
        raw = b"\xef\xbb\xbf" + lines(USER, NEXT).replace(b"\n", b"\r\n")
        assert (heard(codecs.load_bytes(raw)), codecs.load_bytes(raw).notes) == (["one", "two"], ())

    def test_unicode_line_separators_do_not_end_a_record(self):
        text = "a\u2028b\u2029c\u0085d\x1ce"
        raw = lines(json.dumps({**USER, "message": {"role": "user", "content": text}}, ensure_ascii=False), NEXT)
        assert heard(codecs.load_bytes(raw)) == [text, "two"]


class TestExactness:
    def test_numbers_and_lone_surrogates_come_back_as_they_are(self):
        call = {
            "type": "tool_use",
            "id": "a",
            "name": "n",
            "input": {"big": 10**40, "one": 1, "float": 1.0, "half": "\ud83d"},
        }
        raw = json.dumps({"messages": [{"role": "assistant", "content": [call]}]}).encode()
        arguments = codecs.load_bytes(raw).conversation.messages[0].parts[0].arguments
        assert json.dumps(arguments) == json.dumps(call["input"])

    def test_a_key_that_stands_twice_is_noted(self):
        loaded = codecs.load_bytes(b'{"model": "a", "model": "b", "messages": [{"role": "user", "content": "hi"}]}')
        assert loaded.notes == ("key 'model' stands more than once in 1 object(s); the last one counts",)
        assert loaded.conversation.extra["anthropic"]["fields"] == {"model": "b"}

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
    def test_numbers_that_are_not_json_are_refused(self, number):
        with pytest.raises(FormatError, match=f"{number} is not JSON"):
            codecs.load_bytes(f'{{"temperature": {number}, "messages": []}}'.encode())


class TestRefusals:
    @pytest.mark.parametrize(
        ("raw", "message"),
        [
            (b"", r"^chat\.json is empty \(0 bytes"),
            (b" \n\0\0", r"is empty \(4 bytes"),
            (b"\x89PNG\r\n\x1a\n\xff\xfe", r"no UTF-8 text: byte 0x89 at offset 0 of 10"),
            (b'{"messages": ["caf\xe9"]}', r"byte 0xe9 at offset 18 of 22"),
            (
                b'{"model": "m",\n "messages": [',
                r"no JSON: .* at line 2, column 15 \(character 29 of 29\); is it cut off\?",
            ),
            (b"[1, 2]", r"is a list; a request \(anthropic, openai-chat\) needs an object with 'messages'"),
            (b"42", r"is a number; .* a log record \(claude-code, pi\) needs a 'type'"),
            (b'{"contents": [], "model": "g"}', r"an object with keys 'contents', 'model'"),
            (b"{}", r"an object with no keys"),
            (b'{"a": 1}\n{"b": 2}', r"none of its 2 record\(s\) is of a known log form; line 1 has keys 'a'"),
            (b'{"messages": {}}', r"an object with keys 'messages'"),
            (b"hello", r"no JSON: .* at line 1, column 1"),
            (b"[" * 100_000, r"nested too deeply"),
        ],
    )
    def test_what_cannot_be_read_says_why_in_one_line(self, raw, message):
        with pytest.raises(FormatError, match=message) as caught:
            codecs.load_bytes(raw, name="chat.json")
        assert "\n" not in str(caught.value)
        assert "chat.json" in str(caught.value)

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            ({"messages": ["hi"]}, r"messages\[0\] is a string; the anthropic form needs an object there"),
            (
                {"messages": [{"role": "critic"}]},
                r"messages\[0\] has the role 'critic'; allowed are user, assistant, system",
            ),
            ({"messages": [{"role": "user", "content": 5}]}, r"messages\[0\]\.content is a number"),
            ({"messages": [], "system": "s", "tools": [{}]}, r"tools\[0\]\.name is null; every tool needs a name"),
        ],
    )
    def test_a_malformed_anthropic_request_says_where(self, request_, message):
        with pytest.raises(FormatError, match=message):
            codecs.decode(request_, "anthropic")

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            (
                {"messages": [{"role": "critic"}]},
                r"messages\[0\] has the role 'critic'; allowed are system, developer, user",
            ),
            (
                {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]},
                r"messages\[0\]\.tool_calls\[0\] has keys 'id'",
            ),
            ({"messages": [{"role": "assistant", "tool_calls": 1}]}, r"messages\[0\]\.tool_calls is a number"),
            ({"messages": [], "tools": [{"type": "function", "function": {}}]}, r"tools\[0\]\.function has no keys"),
            ({"messages": None}, r"messages is null; the openai-chat form needs a list there"),
        ],
    )
    def test_a_malformed_chat_request_says_where(self, request_, message):
        with pytest.raises(FormatError, match=message):
            codecs.decode(request_, "openai-chat")

    def test_a_log_without_messages_names_its_records(self):
        raw = lines(
            {"type": "summary", "leafUuid": "x"},
            {"type": "queue-operation", "sessionId": "s"},
            {"type": "summary", "leafUuid": "y"},
        )
        with pytest.raises(
            FormatError, match=r"log without any message; its 3 record\(s\) are 2 x summary, 1 x queue-operation"
        ):
            codecs.load_bytes(raw)

    def test_an_empty_list_is_no_log(self):
        with pytest.raises(FormatError, match=r"none of its 0 record\(s\)"):
            codecs.decode([])

    def test_a_mostly_unreadable_log_is_refused_with_its_numbers(self):
        with pytest.raises(FormatError, match=r"3 of 5 lines are no records \(lines 2, 3, 4\)"):
            codecs.load_bytes(lines(USER, "??", "[1]", "{", NEXT))

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(FormatError, match=r"gone\.jsonl does not exist; check the path"):
            codecs.load_path(tmp_path / "gone.jsonl")

    def test_a_directory_is_named(self, tmp_path):
        with pytest.raises(FormatError, match="is a directory; give the path of a file in it"):
            codecs.load_path(tmp_path)

    def test_a_path_that_no_system_takes_is_refused(self):
        with pytest.raises(FormatError, match="cannot be read"):
            codecs.load_path("a\0b")


class TestDamage:
    def test_a_torn_last_line_is_left_out_and_noted(self):
        loaded = codecs.load_bytes(lines(USER, NEXT, '{"type": "user", "mess'))
        assert (heard(loaded), loaded.notes) == (["one", "two"], ("line 3: the last line is cut off, skipped",))

    def test_zero_bytes_are_taken_out(self):
        loaded = codecs.load_bytes(lines(USER, "\0" * 300, "\0\0" + json.dumps(NEXT)))
        assert (heard(loaded), loaded.notes) == (["one", "two"], ("lines 2, 3: zero bytes taken out",))

    def test_two_records_on_one_line_are_both_read(self):
        loaded = codecs.load_bytes(lines(json.dumps(USER) + json.dumps(NEXT)) + b"\n")
        assert (heard(loaded), loaded.notes) == (["one", "two"], ("line 1: damaged, its whole records recovered",))

    def test_a_whole_record_after_a_torn_start_is_read(self):
        loaded = codecs.load_bytes(lines(USER, json.dumps(NEXT)[:60] + json.dumps(NEXT)) + b"\n")
        assert heard(loaded) == ["one", "two"]

    def test_an_object_inside_of_a_torn_record_is_no_record(self):
        torn = json.dumps({**NEXT, "message": {"role": "user", "content": [{"type": "text", "text": "part"}]}})[:-2]
        loaded = codecs.load_bytes(lines(USER, torn, NEXT))
        assert (heard(loaded), loaded.notes) == (["one", "two"], ("line 2: not JSON, skipped",))

    def test_lines_that_are_no_objects_are_noted(self):
        loaded = codecs.load_bytes(lines(USER, "42", NEXT, '"x"', {"type": "summary", "leafUuid": "v"}))
        assert loaded.notes[0] == "lines 2, 4: JSON but no object, skipped"

    def test_bytes_that_are_not_utf_8_become_replacement_characters_in_their_place(self):
        raw = lines(USER, NEXT).replace(b"two", b"t\xe9o")
        loaded = codecs.load_bytes(raw)
        assert (heard(loaded), loaded.notes) == (
            ["one", "t\ufffdo"],
            ("line 2: bytes that are not UTF-8 read as U+FFFD",),
        )

    def test_more_than_five_lines_are_counted(self):
        raw = lines(*[USER, "1"] * 7, USER, USER)
        assert codecs.load_bytes(raw).notes[0] == "lines 2, 4, 6, 8, 10 and 2 more: JSON but no object, skipped"

    @pytest.mark.parametrize("cut", range(3, 40))
    def test_a_log_cut_anywhere_in_its_last_record_gives_what_was_before(self, cut):
        assert heard(codecs.load_bytes(lines(USER, json.dumps(NEXT)[:cut]))) == ["one"]
