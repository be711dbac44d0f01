"""Real transcripts and field case inputs: each is read, or refused in one line; what is sent breaks no rule."""

import json
from pathlib import Path

import pytest

from contextkit import codecs
from contextkit.errors import FormatError
from contextkit.messages import ToolCall, ToolResult

SHARED = Path(__file__).resolve().parents[4] / "shared"
OTHER_FORMS = ("frm-02/input.json", "trm-04/input.responses.json")
WITHOUT_MESSAGES = ("sample-queue_operation.jsonl", "sample-summary.jsonl")


def found(*patterns):
    """Return the files, relative to the samples; one stand-in, whose tests are skipped, where there are no samples."""
    names = sorted(path.relative_to(SHARED).as_posix() for pattern in patterns for path in SHARED.glob(pattern))
    return [name for name in names if not name.endswith((*OTHER_FORMS, *WITHOUT_MESSAGES))] or ["samples"]


LOGS = found("transcripts/pi/*.jsonl", "transcripts/claude-code/*.jsonl")
REQUESTS = found("cases/open/*/input*.json")
CASE_LOGS = found("cases/open/*/input*.jsonl")


@pytest.mark.parametrize("name", dict.fromkeys(LOGS + REQUESTS + CASE_LOGS))
@pytest.mark.parametrize("form", codecs.WIRE_FORMS)
def test_what_is_sent_breaks_no_rule(shared, oracle, name, form):
    request = codecs.encode(codecs.load_path(shared / name).conversation, form)
    assert oracle.violations(request, form) == []
    assert codecs.violations(request, form) == []


@pytest.mark.parametrize("name", WITHOUT_MESSAGES)
def test_a_log_without_messages_is_refused_in_one_line(shared, name):
    with pytest.raises(FormatError, match="is a claude-code log without any message") as caught:
        codecs.load_path(shared / "transcripts" / "claude-code" / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", REQUESTS)
def test_both_checkers_find_fault_with_the_same_requests(shared, oracle, name):
    request, form = json.loads((shared / name).read_text(encoding="utf-8")), codecs.load_path(shared / name).form
    assert bool(codecs.violations(request, form)) == bool(oracle.violations(request, form))


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_comes_back_to_the_last_key_exactly_when_it_breaks_no_rule(shared, name):
    request, form = json.loads((shared / name).read_text(encoding="utf-8")), codecs.load_path(shared / name).form
    same = json.dumps(codecs.encode(codecs.decode(request, form), form)) == json.dumps(request)
    assert same == (codecs.violations(request, form) == [])


def test_a_long_session_keeps_every_call_and_result(shared):
    loaded = codecs.load_path(shared / "transcripts" / "pi" / "large-session.jsonl")
    parts = [part for message in loaded.conversation.messages for part in message.parts]
    assert sum(isinstance(part, ToolCall) for part in parts) == 391
    assert sum(isinstance(part, ToolResult) for part in parts) == 373
    assert len(loaded.conversation.messages) == 900


def test_the_kept_part_of_a_real_compaction_begins_with_what_the_user_said(shared):
    loaded = codecs.load_path(shared / "transcripts" / "pi" / "before-compaction.jsonl")
    summary, first = loaded.conversation.messages[:2]
    assert summary.parts[0].text.startswith("[summary of the conversation before this point]\n\n# Context Checkpoint")
    assert (first.role, first.parts[0].text) == ("user", "can leave it")


def test_a_rewound_and_compacted_session_is_read_from_its_summary_on(shared):
    loaded = codecs.load_path(shared / "transcripts" / "claude-code" / "dag_compact_after_rewind_preserved.jsonl")
    heard = [part.text for message in loaded.conversation.messages for part in message.parts]
    assert heard[0].startswith("This session is being continued")
    assert heard[1:] == ["Second answer", "Keep going", "Kept going", "After compaction", "Final answer"]
