"""Session logs of our own making are read as their expected.json says."""

import json

import pytest

from contextkit import codecs
from contextkit.codecs.jsonl import Record
from contextkit.messages import Image, Text, Thinking, ToolCall, ToolResult, machine_made

LOGS = ["claude-code-parallel", "claude-code-compacted", "pi-v1", "pi-v3"]


def told(part):
    """Tell a part as plain JSON."""
    match part:
        case Text():
            return part.text
        case Thinking():
            return {"thinking": part.text, "signature": part.signature}
        case Image():
            return {"image": part.media_type, "base64_chars": len(part.data)}
        case ToolCall():
            return {"call": part.id, "name": part.name, "arguments": part.arguments}
        case ToolResult():
            failed = {"is_error": True} if part.is_error else {}
            return {"result": part.call_id, "content": [told(inner) for inner in part.content], **failed}
    raise AssertionError(part)


def read(cases, name):
    return codecs.load_path(cases / name / "session.jsonl")


def retold(loaded):
    messages = [{message.role: [told(part) for part in message.parts]} for message in loaded.conversation.messages]
    return {"form": loaded.form, "notes": list(loaded.notes), "messages": messages}


@pytest.mark.parametrize("name", LOGS)
class TestEveryLog:
    def test_it_is_read_as_expected(self, cases, name):
        expected = json.loads((cases / name / "expected.json").read_text(encoding="utf-8"))
        assert retold(read(cases, name)) == expected

    @pytest.mark.parametrize("form", codecs.WIRE_FORMS)
    def test_it_becomes_a_request_that_breaks_no_rule(self, cases, name, form):
        request = codecs.encode(read(cases, name).conversation, form)
        assert codecs.violations(request, form) == []

    def test_every_record_is_somewhere_in_the_conversation(self, cases, name):
        loaded = read(cases, name)
        conversation = loaded.conversation
        kept = [conversation.extra[loaded.form], *(message.extra[loaded.form] for message in conversation.messages)]
        text = json.dumps(kept)
        lines = (cases / name / "session.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines if line.endswith("}")]
        named = [
            record.get("uuid") or record.get("id") or record["timestamp"]
            for record in records[1:]
            if {"uuid", "id", "timestamp"} & record.keys()
        ]
        empty = [key for key in named if key not in text]
        assert empty == []

    def test_decoding_the_parsed_records_gives_the_same_messages(self, cases, name):
        lines = (cases / name / "session.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines if line.endswith("}")]
        assert codecs.decode(records).messages == read(cases, name).conversation.messages

    def test_nothing_of_the_log_but_the_talk_reaches_a_wire(self, cases, name):
        request = codecs.encode(read(cases, name).conversation, "anthropic")
        assert set(request) == {"messages"}
        assert all(set(message) == {"role", "content"} for message in request["messages"])


class TestClaudeCode:
    def test_usage_of_an_answer_is_that_of_its_record_with_the_most_output(self, cases):
        answer = read(cases, "claude-code-parallel").conversation.messages[1]
        assert answer.extra["claude-code"]["usage"]["output_tokens"] == 97
        assert len(answer.extra["claude-code"]["records"]) == 4

    def test_what_the_program_wrote_is_told_from_what_the_user_typed(self, cases):
        messages = read(cases, "claude-code-parallel").conversation.messages
        assert [machine_made(message) for message in messages if message.role == "user"] == [
            False,
            False,
            False,
            True,
            False,
            False,
        ]

    def test_messages_that_a_compaction_kept_are_marked(self, cases):
        messages = read(cases, "claude-code-compacted").conversation.messages
        marks = [message.extra["claude-code"].get("before_compaction", False) for message in messages]
        assert marks == [False, True, True, False, False]

    def test_an_unknown_record_kind_is_kept_with_its_line(self, cases):
        kept = read(cases, "claude-code-parallel").conversation.extra["claude-code"]["records"]
        (odd,) = [entry for entry in kept if entry["record"]["type"] == "weather-report"]
        assert odd["line"] == 21
        assert odd["record"]["windKnots"] == 12

    def test_messages_kept_by_a_compaction_stand_under_its_summary_though_written_before_it(self):
        records = [
            claude("u1", None, "user", "old"),
            claude("a1", "u1", "assistant", "older answer"),
            claude("u2", "a1", "user", "kept"),
            claude("a2", "u2", "assistant", "kept answer"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "cb",
                "parentUuid": None,
                "logicalParentUuid": "a2",
                "compactMetadata": {
                    "preservedSegment": {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"},
                    "preservedMessages": {"anchorUuid": "s", "uuids": ["u2", "a2"]},
                },
            },
            claude("s", "cb", "user", "summary"),
            claude("u3", "s", "user", "new"),
        ]
        assert heard(records) == ["summary", "kept", "kept answer", "new"]

    def test_a_kept_segment_told_by_its_ends_alone_stands_under_the_summary(self):
        records = [
            claude("u1", None, "user", "old"),
            claude("u2", "u1", "user", "kept"),
            claude("a2", "u2", "assistant", "yes"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "cb",
                "parentUuid": None,
                "compactMetadata": {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"}},
            },
            claude("s", "cb", "user", "summary"),
            claude("u3", "a2", "user", "new"),
        ]
        assert heard(records) == ["summary", "kept", "yes", "new"]

    def test_a_kept_tail_written_again_under_the_summary_is_not_hung_on_itself(self):
        segment = {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"}
        records = [
            claude("u1", None, "user", "old"),
            claude("u2", "u1", "user", "kept"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "cb",
                "parentUuid": None,
                "compactMetadata": {"preservedSegment": segment},
            },
            claude("s", "cb", "user", "summary"),
            claude("a2", "s", "assistant", "yes"),
            claude("u3", "a2", "user", "new"),
        ]
        assert heard(records) == ["summary", "yes", "new"]

    def test_of_records_with_one_uuid_the_last_that_can_be_read_counts(self):
        records = [
            claude("u1", None, "user", "first"),
            claude("u2", "u1", "user", "draft"),
            claude("u2", "u1", "user", "final"),
            {**claude("u2", "u1", "user", "x"), "message": "broken"},
        ]
        assert heard(records) == ["first", "final"]

    def test_a_file_in_which_no_parent_can_be_found_is_linear(self):
        records = [
            claude("a", None, "user", "one"),
            claude("b", "gone", "assistant", "two"),
            claude("c", None, "user", "3"),
        ]
        assert heard(records) == ["one", "two", "3"]

    def test_a_missing_parent_ends_the_walk(self):
        records = [
            claude("a", None, "user", "lost"),
            claude("b", "gone", "user", "two"),
            claude("c", "b", "user", "three"),
        ]
        assert heard(records) == ["two", "three"]

    def test_over_a_damaged_line_the_walk_goes_on_with_the_record_before(self):
        records = [
            claude("a", None, "user", "one"),
            claude("b", "gone", "user", "two"),
            claude("c", "b", "user", "three"),
        ]
        lines = [json.dumps(record) for record in records]
        raw = "\n".join([lines[0], '{"parentUuid": "a", "type": "us', *lines[1:]]).encode()
        loaded = codecs.load_bytes(raw)
        assert [message.parts[0].text for message in loaded.conversation.messages] == ["one", "two", "three"]
        assert loaded.notes == ("line 2: not JSON, skipped",)

    def test_a_circle_of_parents_ends(self):
        records = [claude("a", "b", "user", "one"), claude("b", "a", "user", "two")]
        assert heard(records) == ["one", "two"]

    def test_a_file_of_one_side_chain_is_a_conversation_of_its_own(self):
        records = [
            {**claude("a", None, "user", "task"), "isSidechain": True},
            {**claude("b", "a", "assistant", "report"), "isSidechain": True},
        ]
        assert heard(records) == ["task", "report"]

    def test_the_leaf_is_never_a_record_of_the_program(self):
        records = [
            claude("a", None, "user", "one"),
            claude("b", "a", "assistant", "two"),
            {**claude("m", "a", "user", "notice"), "isMeta": True},
        ]
        assert heard(records) == ["one", "two"]

    def test_what_a_command_printed_is_machine_made(self):
        (message,) = codecs.decode(
            [claude("a", None, "user", "<local-command-stdout>ok</local-command-stdout>")]
        ).messages
        assert machine_made(message)

    def test_a_result_that_hangs_on_a_hook_record_beside_the_way_is_put_back(self):
        records = [
            claude("u", None, "user", "go"),
            answer("a1", "u", {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}),
            {"type": "progress", "uuid": "p", "parentUuid": "a1", "sessionId": "s"},
            claude("r1", "p", "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "one"}]),
            answer("a2", "a1", {"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}),
            claude("r2", "a2", "user", [{"type": "tool_result", "tool_use_id": "t2", "content": "two"}]),
            claude("end", "r2", "assistant", "done"),
        ]
        results = codecs.decode(records).messages[2]
        assert [part.call_id for part in results.parts] == ["t1", "t2"]

    def test_broken_messages_are_noted_with_their_lines(self):
        records = [
            claude("a", None, "user", "one"),
            {"type": "user", "uuid": "b", "message": "error"},
            {"type": "user", "uuid": "c", "message": {"role": "user", "content": ["word"]}},
        ]
        loaded = codecs.load_bytes("\n".join(map(json.dumps, records)).encode())
        assert loaded.notes == ("lines 2, 3: a message without readable content, skipped",)


def claude(uuid, parent, role, content):
    return {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "message": {"role": role, "content": content},
    }


def answer(uuid, parent, block):
    record = claude(uuid, parent, "assistant", [block])
    record["message"]["id"] = "msg_1"
    return record


def heard(records):
    return [part.text for message in codecs.decode(records).messages for part in message.parts]


class TestPi:
    def test_usage_of_an_answer_is_kept(self, cases):
        answers = [message for message in read(cases, "pi-v1").conversation.messages if message.role == "assistant"]
        assert [message.extra["pi"]["usage"]["totalTokens"] for message in answers] == [930, 1504, 1709]

    def test_messages_that_a_compaction_kept_are_marked_so_that_their_usage_is_known_to_be_stale(self, cases):
        messages = read(cases, "pi-v3").conversation.messages
        marks = [message.extra["pi"].get("before_compaction", False) for message in messages]
        assert marks == [False, True, True, True, True, False, False, False]

    def test_the_kept_index_of_version_1_counts_the_header(self):
        records = [
            {"type": "session", "timestamp": "t"},
            *(said(text) for text in ("one", "two", "three")),
            {"type": "compaction", "timestamp": "t", "summary": "S", "firstKeptEntryIndex": 3},
            said("four"),
        ]
        assert heard(records) == ["[summary of the conversation before this point]\n\nS", "three", "four"]

    def test_only_the_last_compaction_counts(self):
        records = [
            {"type": "session", "timestamp": "t"},
            said("one"),
            summed("S1", 1),
            said("two"),
            summed("S2", 1),
            said("3"),
        ]
        assert heard(records) == ["[summary of the conversation before this point]\n\nS2", "one", "two", "3"]

    def test_a_kept_entry_that_is_not_on_the_path_keeps_nothing_and_is_noted(self):
        records = [
            node("a", None, said("one")),
            node("b", "a", {"type": "compaction", "summary": "S", "firstKeptEntryId": "zz"}),
            node("c", "b", said("two")),
        ]
        loaded = codecs.load_bytes("\n".join(map(json.dumps, records)).encode())
        assert [part.text for message in loaded.conversation.messages for part in message.parts][1:] == ["two"]
        assert "1 compaction(s) whose first kept entry is not on the path: nothing before them is kept" in loaded.notes

    def test_nothing_before_a_reset_is_part_of_the_conversation(self):
        records = [
            node("a", None, said("one")),
            node("b", "a", {"type": "reset_boundary"}),
            node("c", "b", said("two")),
        ]
        assert heard(records) == ["two"]

    def test_the_leaf_is_the_last_entry(self):
        records = [node("a", None, said("one")), node("b", "a", said("left")), node("c", "a", said("taken"))]
        assert heard(records) == ["one", "taken"]

    def test_a_title_line_before_the_header_is_tolerated(self):
        title = json.dumps({"type": "title", "title": "hives"}).ljust(255)
        raw = "\n".join(
            [
                title,
                json.dumps({"type": "session", "version": 3, "id": "x", "timestamp": "t"}),
                json.dumps(node("a", None, said("one"))),
            ]
        ).encode()
        loaded = codecs.load_bytes(raw)
        assert (loaded.form, len(loaded.conversation.messages), loaded.notes) == ("pi", 1, ())

    def test_an_unknown_message_role_is_left_out_and_noted(self):
        records = [
            Record(1, said("one")),
            Record(2, {"type": "message", "timestamp": "t", "message": {"role": "oracle"}}),
        ]
        raw = "\n".join(json.dumps(record.value) for record in records).encode()
        assert codecs.load_bytes(raw).notes == ("1 message(s) of the role 'oracle' left out",)

    def test_summaries_may_stand_as_messages_too(self):
        messages = [{"role": "branchSummary", "summary": "B"}, {"role": "compactionSummary", "summary": "C"}]
        records = [{"type": "message", "timestamp": "t", "message": message} for message in messages]
        assert [text.rpartition("\n")[2] for text in heard(records)] == ["B", "C"]

    def test_a_block_that_is_no_object_is_left_out_and_noted(self):
        loaded = codecs.load_bytes(json.dumps(said([5, {"type": "text", "text": "x"}, {"type": "odd"}])).encode())
        (message,) = loaded.conversation.messages
        assert [type(part).__name__ for part in message.parts] == ["Text", "Opaque"]
        assert loaded.notes == ("1 content block(s) that are no objects left out",)

    def test_a_cancelled_command_says_so(self):
        shell = {"role": "bashExecution", "command": "sleep 9", "output": "", "cancelled": True}
        (text,) = heard([{"type": "message", "timestamp": "t", "message": shell}])
        assert text == "[the user ran a shell command]\n$ sleep 9\n(no output)\n[cancelled]"

    def test_reasoning_of_another_interface_is_not_sent_as_signed(self):
        block = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
        sent = [sent_blocks(block, api) for api in ("anthropic-messages", "openai-responses", "my-own-api")]
        assert sent == [["thinking", "text"], ["text"], ["text"]]

    def test_redacted_reasoning_goes_back_sealed(self):
        block = {"type": "thinking", "thinking": "[redacted]", "thinkingSignature": "sealed", "redacted": True}
        assert sent_blocks(block, "anthropic-messages") == ["redacted_thinking", "text"]


def sent_blocks(block, api):
    message = {"role": "assistant", "api": api, "content": [block, {"type": "text", "text": "yes"}]}
    records = [said("go"), {"type": "message", "timestamp": "t", "message": message}]
    content = codecs.encode(codecs.decode(records), "anthropic")["messages"][1]["content"]
    return [part["type"] for part in content] if isinstance(content, list) else ["text"]


def said(text):
    return {"type": "message", "timestamp": "t", "message": {"role": "user", "content": text}}


def summed(text, index):
    return {"type": "compaction", "timestamp": "t", "summary": text, "firstKeptEntryIndex": index}


def node(key, parent, entry):
    return {"id": key, "parentId": parent, "timestamp": "t", **entry}
