"""The rungs: the laws that all of them obey, and what each of them does."""

import copy

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextkit import turns
from contextkit.messages import Image, Pending, ToolCall, ToolResult
from contextkit.models import resolve
from contextkit.plaintext import plain_text
from contextkit.protocols import Budget
from contextkit.rungs import DropImages, Elide, Snapshot, Summarise
from tests.contextkit.strategies import (
    CODE_LINE,
    PROSE,
    answers,
    call,
    calls,
    conversations,
    outputs,
    picture,
    result,
    run,
    says,
    session,
    talk,
    user,
    worked,
)

RUNGS = (Elide(), DropImages(), Snapshot(), Summarise(available=True))
MODELS = ("claude-opus-4-8", "claude-fable-5", "gpt-5.5", "deepseek-chat")
WORKED, WORKED_WINDOW = worked(), 12_000
WINDOWS = st.integers(200, 12_000)


def budget_of(model="claude-opus-4-8", window=1_000):
    return Budget.of(resolve(model, window=window))


def given_and_kept(conversation, budget):
    keeps = turns.protected(conversation.messages, budget.estimator, budget.tail_tokens)
    return [message for message, is_kept in zip(conversation.messages, keeps, strict=True) if is_kept]


def stood_at(edit, conversation):
    return conversation.messages[edit.first_message : edit.last_message + 1]


def on_every_conversation(law):
    law = example(conversation=WORKED, window=WORKED_WINDOW)(law)
    return settings(max_examples=25)(given(conversation=conversations(), window=WINDOWS)(law))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
class TestLawsOfEveryRung:
    @on_every_conversation
    def test_it_never_adds_tokens(self, rung, model, conversation, window):
        step = rung.plan(conversation, budget_of(model, window))
        assert step.tokens_after <= step.tokens_before

    @on_every_conversation
    def test_its_numbers_are_what_the_estimator_says(self, rung, model, conversation, window):
        budget = budget_of(model, window)
        step = rung.plan(conversation, budget)
        count = budget.estimator.conversation
        assert (step.tokens_before, step.tokens_after) == (count(conversation), count(step.conversation))

    @on_every_conversation
    def test_a_step_without_edits_gives_back_the_very_same_conversation(self, rung, model, conversation, window):
        step = rung.plan(conversation, budget_of(model, window))
        assert (step.conversation is conversation) == (not step.edits)

    @on_every_conversation
    def test_it_keeps_calls_with_their_results(self, rung, model, conversation, window):
        after = rung.plan(conversation, budget_of(model, window)).conversation.messages
        had_result = {part.call_id for message in conversation.messages for part in message.of(ToolResult)}
        for group in turns.groups(after):
            inside = after[group.start : group.stop]
            answered = {part.call_id for message in inside for part in message.of(ToolResult)}
            made = {part.id for message in inside for part in message.of(ToolCall)}
            assert answered == made & had_result

    @on_every_conversation
    def test_protected_messages_stay_the_same_objects_in_the_same_order(self, rung, model, conversation, window):
        budget = budget_of(model, window)
        after = iter(rung.plan(conversation, budget).conversation.messages)
        assert all(any(message is other for other in after) for message in given_and_kept(conversation, budget))

    @on_every_conversation
    def test_system_text_and_tools_stay(self, rung, model, conversation, window):
        after = rung.plan(conversation, budget_of(model, window)).conversation
        assert (after.system, after.tools) == (conversation.system, conversation.tools)

    @on_every_conversation
    def test_every_edit_has_an_original_that_is_what_stood_there(self, rung, model, conversation, window):
        step = rung.plan(conversation, budget_of(model, window))
        for edit in step.edits:
            original, stood = step.originals[edit.handle], stood_at(edit, conversation)
            assert original.handle == edit.handle
            assert original.messages == stood if original.messages else original.parts[0] in stood[0].parts

    @on_every_conversation
    def test_planning_changes_nothing_and_always_says_the_same(self, rung, model, conversation, window):
        before, budget = copy.deepcopy(conversation), budget_of(model, window)
        once, again = rung.plan(conversation, budget), rung.plan(conversation, budget)
        assert conversation == before
        assert (once.conversation, once.edits, once.refused) == (again.conversation, again.edits, again.refused)

    @on_every_conversation
    def test_a_second_time_it_adds_no_tokens_either(self, rung, model, conversation, window):
        budget = budget_of(model, window)
        step = rung.plan(conversation, budget)
        assert rung.plan(step.conversation, budget).tokens_after <= step.tokens_after


@pytest.mark.parametrize("rung", [Elide(), DropImages()], ids=lambda rung: rung.name)
@on_every_conversation
def test_a_second_time_there_is_nothing_to_elide_or_drop(rung, conversation, window):
    budget = budget_of("claude-opus-4-8", window)
    assert rung.plan(rung.plan(conversation, budget).conversation, budget).edits == ()


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
@pytest.mark.parametrize("model", MODELS)
def test_every_rung_has_something_to_do_in_a_worked_session(rung, model):
    blind = rung.name == "snapshot" and not resolve(model).vision
    assert bool(rung.plan(WORKED, budget_of(model, WORKED_WINDOW)).edits) != blind


def reasons(*middle):
    """Return what elide takes from a middle: message number and reason."""
    return sorted((edit.first_message, edit.reason) for edit in Elide().plan(session(*middle), budget_of()).edits)


LONG = CODE_LINE * 8


class TestElide:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("\n \n" * 40, "no output"),
            ("No matches found for " + "some pattern " * 14, "nothing found"),
            ("(no results " + "in src/ " * 20, "nothing found"),
        ],
    )
    def test_a_result_in_which_nothing_happened_is_elided(self, text, reason):
        assert reasons(*run("a", "grep", text, pattern="x")) == [(2, reason)]

    @pytest.mark.parametrize(
        "text",
        [
            "1 match found for " + "some pattern " * 14,
            "No matches found\nbut " + "see here " * 20,
            "No results for staging; production has 3 failed rows: " + "id 44117 " * 20,
            LONG,
        ],
    )
    def test_a_result_in_which_something_happened_stays(self, text):
        assert reasons(*run("a", "grep", text, pattern="x")) == []

    def test_the_confirmation_of_a_write_is_elided(self):
        done = "Successfully wrote 812 bytes to " + "very/deep/" * 20
        assert reasons(*run("a", "write", done, path="a.py")) == [(2, "the write succeeded")]

    def test_the_same_words_of_another_tool_stay(self):
        done = "Successfully wrote 812 bytes to " + "very/deep/" * 20
        assert reasons(*run("a", "bash", done, command="./build")) == []

    def test_a_write_that_says_more_than_that_it_succeeded_stays(self):
        assert reasons(*run("a", "write", "Successfully wrote a.py\n" + LONG, path="a.py")) == []

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ({"path": "a.py"}, {"path": "a.py"}),
            ({"path": "a.py", "offset": 9}, {"path": "a.py", "offset": 9}),
            ({"path": "a.py", "offset": 9}, {"path": "a.py"}),
            ({"file_path": "a.py"}, {"path": "a.py"}),
        ],
    )
    def test_a_read_is_superseded_by_a_later_one_that_covers_it(self, first, second):
        found = reasons(*run("a", "read", LONG, **first), *run("b", "read", LONG + "new", **second))
        assert found == [(2, "superseded by a later read")]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ({"path": "a.py"}, {"path": "b.py"}),
            ({"path": "a.py"}, {"path": "a.py", "offset": 9}),
            ({"path": "a.py", "offset": 9}, {"path": "a.py", "offset": 10}),
            ({"command": "cat a.py"}, {"path": "a.py"}),
        ],
    )
    def test_a_read_that_no_later_one_covers_stays(self, first, second):
        assert reasons(*run("a", "read", LONG, **first), *run("b", "read", LONG + "new", **second)) == []

    def test_a_later_read_that_failed_supersedes_nothing(self):
        failed = answers(result("b", "permission denied", is_error=True))
        assert reasons(*run("a", "read", LONG, path="a.py"), calls(call("b", "read", path="a.py")), failed) == []

    def test_a_later_read_without_an_answer_supersedes_nothing(self):
        assert reasons(*run("a", "read", LONG, path="a.py"), calls(call("b", "read", path="a.py"))) == []

    def test_a_tool_that_does_not_read_is_not_superseded(self):
        found = reasons(*run("a", "bash", LONG, path="a.py"), *run("b", "bash", LONG + "new", path="a.py"))
        assert found == []

    def test_of_the_same_words_from_the_same_call_the_newest_stays(self):
        again = [message for name in "abc" for message in run(name, "bash", LONG, command="make")]
        assert reasons(*again) == [(2, "repeated word for word later"), (4, "repeated word for word later")]

    @pytest.mark.parametrize(("command", "text"), [("make test", LONG), ("make", LONG + "failed")])
    def test_other_words_or_another_call_are_no_repetition(self, command, text):
        assert reasons(*run("a", "bash", LONG, command="make"), *run("b", "bash", text, command=command)) == []

    def test_an_error_is_never_elided(self):
        failed = (calls(call("a", "bash", command="make")), answers(result("a", LONG, is_error=True)))
        assert reasons(*failed, *run("b", "bash", LONG, command="make")) == []

    def test_a_result_with_a_picture_is_never_elided(self):
        shown = (calls(call("a", "read", path="a.py")), answers(result("a", LONG, picture())))
        assert reasons(*shown, *run("b", "read", LONG, path="a.py")) == []

    def test_a_result_without_its_call_is_never_elided(self):
        assert reasons(answers(result("a", "\n" * 200))) == []

    def test_a_protected_result_is_never_elided(self):
        tail = (*run("a", "read", LONG, path="a.py"), *run("b", "read", LONG, path="a.py"))
        assert Elide().plan(talk(user("Go."), *tail), budget_of(window=200_000)).edits == ()

    def test_a_line_that_would_be_longer_replaces_nothing(self):
        assert reasons(*run("a", "bash", "", command="true"), *run("b", "grep", "No matches found", pattern="x")) == []

    def test_a_line_once_written_is_never_replaced_by_another(self):
        budget = budget_of(window=4_000)
        reads = [message for name in "abcdefgh" for message in run(name, "read", LONG, path="src/deep/a.py")]
        once = Elide().plan(session(*reads), budget).conversation
        more = talk(*once.messages[:-1], *run("z", "read", LONG, path="src/deep/a.py"), says(PROSE * 99), user("So?"))
        assert [edit.first_message for edit in Elide().plan(more, budget).edits] == [2 * len("abcdefgh")]

    def test_the_line_names_tool_target_size_reason_and_handle(self):
        step = Elide().plan(session(*run("a", "read", LONG, path="a.py"), *run("b", "read", LONG, path="a.py")),
            budget_of())  # fmt: skip
        (text,) = step.conversation.messages[2].parts[0].content
        assert text.text == (
            f"[elided: {len(LONG)} characters that read a.py returned; superseded by a later read; "
            f"recall {step.edits[0].handle}]"
        )

    def test_a_long_target_is_cut_in_the_line(self):
        twice = (*run("a", "bash", LONG, command="x" * 100), *run("b", "bash", LONG, command="x" * 100))
        (edit,) = Elide().plan(session(*twice), budget_of()).edits
        assert edit.what == f"result of bash {'x' * 59}…"


def dropped(conversation, budget):
    return [edit.first_message for edit in DropImages().plan(conversation, budget).edits]


class TestDropImages:
    def test_the_oldest_go_first_and_only_as_many_as_needed(self):
        shots = session(*(user(f"Look {number}.", picture(900, 900)) for number in range(5)))
        excess = 2 * 1_092  # 33 x 33 patches of 28 px and 3 tokens an image: two of the five must go
        tokens = budget_of().estimator.conversation(shots)
        window = int((tokens - excess) / 0.8 / 0.8 / 0.8) + 3
        assert dropped(shots, budget_of(window=window)) == [1, 2, 3]

    def test_nothing_goes_once_the_target_is_met(self):
        assert dropped(session(user("Look.", picture(900, 900))), budget_of(window=60_000)) == []

    def test_a_protected_picture_stays(self):
        assert dropped(talk(user("Look.", picture(900, 900)), says("I see."), user("And?", picture(900, 900))),
            budget_of()) == []  # fmt: skip

    def test_a_page_of_ours_is_no_picture_to_drop(self):
        page = Image(media_type="image/png", data=picture(900, 900).data, stands_for="the text it shows")
        assert dropped(session(user("Pages:", page)), budget_of()) == []

    def test_pictures_in_a_tool_result_go_and_its_words_stay(self):
        shot = (calls(call("a", "shot")), answers(result("a", "Before:", picture(900, 900), "After.")))
        after = DropImages().plan(session(*shot), budget_of()).conversation
        assert [part.text for part in after.messages[2].parts[0].content if "recall" not in part.text] == [
            "Before:",
            "After.",
        ]

    def test_a_page_beside_a_picture_in_a_tool_result_stays(self):
        page = Image(media_type="image/png", data=picture(900, 900).data, stands_for="text")
        shot = (calls(call("a", "shot")), answers(result("a", picture(900, 901), page)))
        after = DropImages().plan(session(*shot), budget_of()).conversation
        assert after.messages[2].parts[0].content[1] is page

    def test_an_error_with_a_picture_stays_an_error(self):
        shot = (calls(call("a", "shot")), answers(result("a", picture(900, 900), is_error=True)))
        after = DropImages().plan(session(*shot), budget_of()).conversation
        assert after.messages[2].parts[0].is_error

    def test_the_label_names_kind_size_and_handle(self):
        step = DropImages().plan(session(user("Look.", picture(900, 800))), budget_of())
        label = step.conversation.messages[1].parts[1].text
        assert label == f"[picture dropped: image/png 800x900 px; recall {step.edits[0].handle}]"

    def test_a_picture_that_somebody_else_serves_goes_too(self):
        served = Image(url="https://example.org/shot.png")
        assert dropped(session(user("Look.", served)), budget_of()) == [1]

    def test_a_picture_cheaper_than_its_label_stays(self):
        assert dropped(session(user("Look.", picture(8, 8)), says(PROSE * 50)), budget_of()) == []


def pages_in(conversation):
    return [part for message in conversation.messages for part in message.of(Pending)]


class TestSummarise:
    def test_the_middle_becomes_one_slot_within_the_cap(self):
        step = Summarise(available=True, most_tokens=500).plan(WORKED, budget_of(window=WORKED_WINDOW))
        assert all(slot.tokens <= 500 for slot in pages_in(step.conversation))

    def test_the_cap_shrinks_with_the_room_under_the_target(self):
        conversation, budget = session(says(PROSE * 300)), budget_of(window=2_000)
        (slot,) = pages_in(Summarise(available=True).plan(conversation, budget).conversation)
        assert 128 <= slot.tokens < budget.target_tokens

    def test_a_summary_is_never_asked_to_be_shorter_than_128_tokens(self):
        conversation = session(says(PROSE * 300), newest=PROSE * 100)
        (slot,) = pages_in(Summarise(available=True).plan(conversation, budget_of(window=1_000)).conversation)
        assert slot.tokens == 128

    def test_several_middles_share_the_room(self):
        several = talk(user("Go."), says(PROSE * 200), user("Newest."), says(PROSE * 200))
        budget = budget_of(window=4_000)
        step = Summarise(available=True).plan(several, budget)
        assert len(pages_in(step.conversation)) == 2
        assert step.tokens_after <= budget.target_tokens

    def test_the_slot_stands_for_the_whole_text_of_the_middle(self):
        conversation = session(*outputs(5_000))
        (slot,) = pages_in(Summarise(available=True).plan(conversation, budget_of()).conversation)
        assert slot.stands_for == plain_text(conversation.messages[1:4], first_number=2)

    def test_without_a_summariser_it_refuses_and_names_the_choices(self):
        step = Summarise().plan(session(says(PROSE * 300)), budget_of())
        assert "--summarizer openai|anthropic|extractive|module:callable" in step.refused

    def test_a_middle_shorter_than_its_summary_is_refused_with_the_cap(self):
        step = Summarise(available=True).plan(talk(user("Go."), says("Short."), says(PROSE), user("And?")),
            budget_of(window=300))  # fmt: skip
        assert step.refused == "a summary of up to 128 tokens would not be shorter than what it replaces"

    def test_without_a_middle_there_is_nothing_to_refuse(self):
        assert Summarise().plan(talk(user("Go."), says("Done.")), budget_of(window=9_000)).refused is None
