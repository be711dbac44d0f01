"""The transcript: what goes in comes out, and no failure costs what stood there."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextkit.errors import TranscriptError
from contextkit.transcript import Transcript, load_transcript, save_transcript
from tests.contextkit.strategies import JSON_VALUES, call, calls, conversations, says, talk, user

KEYS = st.text(max_size=9).filter(lambda key: key not in {"schema", "version", *Transcript.__struct_fields__})


def transcript(*messages, **fields):
    return Transcript(conversation_id="c-1", agent="main", conversation=talk(*messages), **fields)


SAVED = transcript(user("Go."), says("Done."), recall="recall")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "main.json"


class TestRoundTrip:
    @given(conversation=conversations(may_stay_open=False))
    def test_any_conversation_comes_back_as_it_was(self, tmp_path_factory, conversation):
        path = tmp_path_factory.mktemp("transcript") / "main.json"
        saved = Transcript(conversation_id="c-1", agent="main", conversation=conversation, recall="recall")
        save_transcript(saved, path)
        assert load_transcript(path) == saved

    @given(unknown=st.dictionaries(KEYS, JSON_VALUES, max_size=3))
    def test_keys_of_another_release_survive(self, tmp_path_factory, unknown):
        path = tmp_path_factory.mktemp("transcript") / "main.json"
        save_transcript(transcript(user("Go."), unknown=unknown), path)
        save_transcript(load_transcript(path), path)
        assert load_transcript(path).unknown == unknown

    @pytest.mark.parametrize("value", [2**64, -(2**70), 0.1, "\ud800 \udfff", "\x00", [], {}, None, True])
    def test_odd_arguments_survive(self, path, value):
        saved = transcript(calls(call("a", "read", value=value)), user("Stop."))
        save_transcript(saved, path)
        (found,) = load_transcript(path).conversation.messages[0].parts
        assert repr(found.arguments) == repr({"value": value})

    def test_saving_what_was_loaded_writes_the_same_bytes(self, path):
        save_transcript(SAVED, path)
        before = path.read_bytes()
        save_transcript(load_transcript(path), path)
        assert path.read_bytes() == before

    def test_a_later_save_replaces_an_earlier_one(self, path):
        save_transcript(SAVED, path)
        save_transcript(transcript(user("Anew.")), path)
        assert load_transcript(path) == transcript(user("Anew."))

    def test_missing_directories_are_made(self, tmp_path):
        save_transcript(SAVED, tmp_path / "deep" / "er" / "main.json")
        assert load_transcript(tmp_path / "deep" / "er" / "main.json") == SAVED

    def test_the_file_names_schema_and_version(self, path):
        save_transcript(SAVED, path)
        written = json.loads(path.read_bytes())
        assert (written["schema"], written["version"]) == ("contextkit-transcript", 1)


def written(**fields):
    return json.dumps({"schema": "contextkit-transcript", "version": 1, **fields}).encode()


BAD_FILES = {
    "empty": (b"", r"main\.json is not JSON"),
    "cut": (written(conversation_id="c-1")[:-9], r"is not JSON .*: it is left as it is"),
    "binary": (b"\x89PNG\r\n\xff\xfe", r"is not JSON"),
    "nested": (b"[" * 200_000, r"is not JSON"),
    "a list": (b"[]", r"no transcript: its schema is 'list'"),
    "foreign": (b'{"schema": "other"}', r"no transcript: its schema is 'other', not 'contextkit-transcript'"),
    "newer": (written().replace(b"1", b"2"), r"has version 2, this release reads 1"),
    "without version": (b'{"schema": "contextkit-transcript"}', r"has version None, this release reads 1"),
    "without conversation": (written(conversation_id="c-1", agent="main"), r"of version 1 holds: .*conversation"),
    "wrong part": (
        written(conversation_id="c", agent="m", conversation={"messages": [{"role": "user", "parts": [{"kind": 1}]}]}),
        r"of version 1 holds: .*messages\[0\]\.parts\[0\]",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
class TestWhatIsNoTranscript:
    def test_it_is_refused_with_what_it_is(self, path, content, message):
        path.write_bytes(content)
        with pytest.raises(TranscriptError, match=message):
            load_transcript(path)

    def test_a_save_over_it_is_refused_and_leaves_every_byte(self, path, content, message):
        path.write_bytes(content)
        with pytest.raises(TranscriptError, match=message):
            save_transcript(SAVED, path)
        assert path.read_bytes() == content


class TestPlaces:
    def test_a_missing_file_is_named(self, path):
        with pytest.raises(TranscriptError, match=r"cannot read .*main\.json: No such file"):
            load_transcript(path)

    def test_a_directory_is_no_transcript(self, tmp_path):
        with pytest.raises(TranscriptError, match="Is a directory"):
            load_transcript(tmp_path)

    def test_a_directory_is_not_replaced(self, tmp_path):
        with pytest.raises(TranscriptError, match="Is a directory"):
            save_transcript(SAVED, tmp_path)
        assert tmp_path.is_dir()

    def test_a_file_cannot_be_a_directory_of_transcripts(self, path):
        path.write_text("a file")
        with pytest.raises(TranscriptError, match=r"cannot save .*main\.json/main\.json"):
            save_transcript(SAVED, path / "main.json")


class TestFailingWrite:
    def fail(self, *_):
        raise OSError(28, "No space left on device")

    def test_it_leaves_the_old_file_and_nothing_else(self, path, monkeypatch):
        save_transcript(SAVED, path)
        before = path.read_bytes()
        monkeypatch.setattr(Path, "replace", self.fail)
        with pytest.raises(TranscriptError, match=r"No space left on device; what stood there is unchanged"):
            save_transcript(transcript(user("Anew.")), path)
        assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {"main.json": before}

    def test_a_first_save_that_fails_leaves_nothing(self, path, monkeypatch):
        monkeypatch.setattr(Path, "replace", self.fail)
        with pytest.raises(TranscriptError, match="No space left on device"):
            save_transcript(SAVED, path)
        assert list(path.parent.iterdir()) == []


class TestTurnBoundary:
    def test_a_save_in_the_middle_of_a_turn_is_refused_with_its_place(self, path):
        with pytest.raises(TranscriptError, match=r"middle of a turn: message 2 of 2 has a call without a result"):
            save_transcript(transcript(user("Go."), calls(call("a", "read"))), path)
        assert not path.exists()

    def test_a_call_that_was_given_up_earlier_does_not_hinder(self, path):
        given_up = transcript(user("Go."), calls(call("a", "read")), user("Stop."))
        save_transcript(given_up, path)
        assert load_transcript(path) == given_up
