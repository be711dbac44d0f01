"""The whole walk over any conversation: it fits or says that it cannot, and nothing is lost."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import glyphraster as gr
from contextkit import turns
from contextkit.errors import DoesNotFitError
from contextkit.ladder import fit, plan
from contextkit.messages import ToolCall, ToolResult
from contextkit.recall import DirectoryRecallStore
from contextkit.summarizers import extractive_summary
from tests.contextkit.strategies import conversations, worked

SESSION = worked()
MODELS = ("claude-opus-4-8", "claude-fable-5", "claude-opus-5-5", "gpt-5.5", "deepseek-chat")
WINDOW = 12_000


def said_by_people(conversation):
    return [message for message in conversation.messages if turns.user_said(message)]


def walked(conversation, model, window):
    """Return what fit makes, or None when it says that nothing fits."""
    try:
        return fit(conversation, model, window=window, summarizer=extractive_summary)
    except DoesNotFitError:
        return None


def on_every_conversation(law):
    law = example(conversation=SESSION, window=5_000)(example(conversation=SESSION, window=WINDOW)(law))
    return settings(max_examples=40)(given(conversation=conversations(), window=st.integers(300, 12_000))(law))


@pytest.mark.parametrize("model", MODELS)
class TestTheWholeWalk:
    @on_every_conversation
    def test_it_ends_within_the_limit_or_says_that_it_cannot(self, model, conversation, window):
        made = walked(conversation, model, window)
        assert made is None or made.tokens_after <= made.plan.budget.limit_tokens

    @on_every_conversation
    def test_the_first_and_newest_words_of_the_user_survive_verbatim(self, model, conversation, window):
        made, said = walked(conversation, model, window), said_by_people(conversation)
        if made is not None:
            assert all(message in made.conversation.messages for message in (*said[:1], *said[-1:]))

    @on_every_conversation
    def test_calls_stay_with_their_results(self, model, conversation, window):
        made = walked(conversation, model, window)
        for group in turns.groups(made.conversation.messages) if made else ():
            inside = made.conversation.messages[group.start : group.stop]
            results = {part.call_id for message in inside for part in message.of(ToolResult)}
            assert results <= {part.id for message in inside for part in message.of(ToolCall)}

    @on_every_conversation
    def test_the_imaged_text_reads_back_from_the_pages(self, model, conversation, window):
        made = walked(conversation, model, window)
        assert made is None or gr.read([page.png() for page in made.pages]) == made.plan.source

    @on_every_conversation
    def test_a_second_walk_never_adds_tokens(self, model, conversation, window):
        made = walked(conversation, model, window)
        again = walked(made.conversation, model, window) if made else None
        assert again is None or again.tokens_after <= made.tokens_after

    @on_every_conversation
    def test_everything_taken_comes_back_from_the_store(self, tmp_path_factory, model, conversation, window):
        planned = plan(conversation, model, window=window, summarizer=extractive_summary)
        store = DirectoryRecallStore(tmp_path_factory.mktemp("recall"))
        kept = {store.put(original) for original in planned.originals.values()}
        assert {edit.handle for step in planned.steps for edit in step.edits} == kept
        assert all(store.get(handle) == original for handle, original in planned.originals.items())
