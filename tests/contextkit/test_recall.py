"""The store of originals: a handle gives back exactly what was put, or says why not."""

import pytest
from hypothesis import given

from contextkit.errors import RecallError
from contextkit.messages import Text
from contextkit.recall import DirectoryRecallStore, Original
from tests.contextkit.strategies import conversations, says, user

ORIGINAL = Original(messages=(user("Go."), says("Done.")))


@pytest.fixture
def store(tmp_path):
    return DirectoryRecallStore(tmp_path / "recall")


class TestRoundTrip:
    @given(conversation=conversations())
    def test_messages_come_back_as_they_were(self, tmp_path_factory, conversation):
        store, original = DirectoryRecallStore(tmp_path_factory.mktemp("r")), Original(messages=conversation.messages)
        assert store.get(store.put(original)) == original

    @given(conversation=conversations())
    def test_parts_come_back_as_they_were(self, tmp_path_factory, conversation):
        store = DirectoryRecallStore(tmp_path_factory.mktemp("r"))
        originals = [Original(parts=message.parts) for message in conversation.messages]
        assert [store.get(store.put(original)) for original in originals] == originals

    @given(conversation=conversations())
    def test_the_handle_is_known_before_anything_is_stored(self, tmp_path_factory, conversation):
        original = Original(messages=conversation.messages)
        assert DirectoryRecallStore(tmp_path_factory.mktemp("r")).put(original) == original.handle


class TestPut:
    def test_equal_originals_are_one_file(self, store):
        store.put(ORIGINAL)
        store.put(Original(messages=(user("Go."), says("Done."))))
        assert store.handles() == [ORIGINAL.handle]

    def test_different_originals_have_different_handles(self, store):
        handles = {store.put(Original(parts=(Text(text=text),))) for text in ("a", "b", "a ", "")}
        assert sorted(handles) == store.handles()
        assert len(handles) == 4

    def test_the_same_text_as_a_part_and_as_a_message_are_two_originals(self, store):
        message = user("Go.")
        assert Original(messages=(message,)).handle != Original(parts=message.parts).handle

    def test_putting_again_mends_a_file_that_was_altered(self, store):
        file = store.path / f"{store.put(ORIGINAL)}.json"
        file.write_bytes(b"{}")
        assert store.get(store.put(ORIGINAL)) == ORIGINAL

    def test_nothing_is_made_before_the_first_put(self, store):
        assert list(store.handles()) == []
        assert not store.path.exists()

    def test_only_the_user_can_read_the_store(self, store):
        file = store.path / f"{store.put(ORIGINAL)}.json"
        assert (store.path.stat().st_mode & 0o077, file.stat().st_mode & 0o077) == (0, 0)


class TestGet:
    @pytest.mark.parametrize("content", [b"", b"{}", b'{"parts":[]}', b"\xff\x00"])
    def test_an_altered_file_is_noticed(self, store, content):
        handle = store.put(ORIGINAL)
        (store.path / f"{handle}.json").write_bytes(content)
        with pytest.raises(RecallError, match=rf"file of {handle} in .* was altered: its content is r[0-9a-f]{{16}}"):
            store.get(handle)

    @pytest.mark.parametrize(
        "handle",
        ["", "r", "../x", "r0123456789abcde", "r0123456789abcdef0", "R0123456789abcdef", "r0123456789abcdef\n",
         "../../etc/passwd", "r0123456789abcdeg", "r/../0123456789abc"],
    )  # fmt: skip
    def test_a_malformed_handle_is_refused(self, store, handle):
        with pytest.raises(RecallError, match="is no recall handle: they are 'r' and 16 hexadecimal digits"):
            store.get(handle)

    @pytest.mark.parametrize("held", [0, 2])
    def test_an_unknown_handle_says_how_many_are_held(self, store, held):
        for number in range(held):
            store.put(Original(parts=(Text(text=str(number)),)))
        with pytest.raises(RecallError, match=rf"no original r0{{16}} in .*recall: it holds {held}"):
            store.get("r" + "0" * 16)
