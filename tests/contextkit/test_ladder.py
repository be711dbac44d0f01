"""The ladder: order, early stop, refusal; what a plan says and what apply makes of it."""

import base64
import dataclasses

import pytest

import glyphraster as gr
from contextkit.errors import ArgumentError, DoesNotFitError, SummaryError
from contextkit.ladder import RUNG_NAMES, apply, fit, plan
from contextkit.messages import Image, Message, Pending, Text, Thinking
from contextkit.models import resolve
from contextkit.protocols import Edit, Step
from contextkit.recall import Original
from contextkit.rungs import Elide, Snapshot
from contextkit.rungs.rewrite import with_regions
from contextkit.summarizers import extractive_summary
from contextkit.tokens import count_tokens
from tests.contextkit.strategies import (
    CODE_LINE,
    PROSE,
    machine,
    run,
    says,
    talk,
    user,
    worked,
)

SESSION = worked()
MODEL = "claude-opus-4-8"
WINDOW = 12_000
MODELS = (MODEL, "claude-fable-5", "claude-opus-5-5", "gpt-5.5", "deepseek-chat")


def asked(planned):
    return [step.rung for step in planned.steps]


def images_of(conversation):
    return [part for message in conversation.messages for part in message.of(Image) if part.stands_for]


@dataclasses.dataclass(frozen=True)
class Spy:
    """Count how often it is asked; give back what it is told to."""

    name: str = "spy"
    makes: object = None
    seen: list = dataclasses.field(default_factory=list)

    def plan(self, conversation, budget):
        self.seen.append(conversation)
        tokens = budget.estimator.conversation(conversation)
        after, edits = self.makes(conversation) if self.makes else (conversation, ())
        return Step(rung=self.name, conversation=after, tokens_before=tokens, tokens_after=0, edits=edits)


def edit_of(conversation):
    original = Original(messages=conversation.messages[1:2])
    return Edit(action="elide", what="a message", reason="test", first_message=1, last_message=1, tokens_before=1,
        tokens_after=1, handle=original.handle)  # fmt: skip


def grown(conversation):
    more = talk(*conversation.messages, says(PROSE))
    return more, (edit_of(conversation),)


def without_the_second(conversation):
    return talk(conversation.messages[0], *conversation.messages[2:]), (edit_of(conversation),)


class TestWhatIsAsked:
    def test_below_the_trigger_no_rung_is_asked(self):
        assert plan(SESSION, MODEL).steps == ()

    def test_below_the_trigger_the_very_same_conversation_comes_back(self):
        assert fit(SESSION, MODEL).conversation is SESSION

    def test_rungs_are_asked_in_order(self):
        assert asked(plan(SESSION, MODEL, window=4_000, summarizer=extractive_summary)) == list(RUNG_NAMES)

    def test_no_later_rung_is_asked_once_the_target_is_met(self):
        spy = Spy()
        planned = plan(SESSION, MODEL, window=WINDOW, rungs=["snapshot", spy])
        assert (planned.meets_target, spy.seen) == (True, [])

    def test_the_callers_order_is_kept(self):
        planned = plan(SESSION, MODEL, window=4_000, rungs=["images", "elide"])
        assert asked(planned) == ["images", "elide"]

    def test_each_rung_gets_what_the_one_before_left(self):
        spy = Spy()
        planned = plan(SESSION, MODEL, window=4_000, rungs=["elide", spy])
        assert spy.seen[0] is planned.steps[0].conversation

    def test_what_only_refuses_leaves_the_very_same_conversation(self):
        planned = plan(SESSION, "deepseek-chat", window=20_000, rungs=["snapshot"])
        assert planned.steps[0].refused
        assert planned.conversation is SESSION

    def test_a_window_of_the_caller_counts_for_a_resolved_model_too(self):
        assert plan(SESSION, resolve(MODEL), window=WINDOW).budget.window_tokens == WINDOW


class TestRungsOfTheCaller:
    def test_a_rung_of_the_caller_does_its_step(self):
        planned = plan(SESSION, MODEL, window=4_000, rungs=[Spy(makes=without_the_second)])
        assert planned.conversation.messages == (SESSION.messages[0], *SESSION.messages[2:])

    def test_what_it_claims_is_counted_again(self):
        planned = plan(SESSION, MODEL, window=4_000, rungs=[Spy(makes=without_the_second)])
        assert planned.tokens_after == count_tokens(planned.conversation, resolve(MODEL))

    def test_a_rung_that_grows_the_request_is_refused_with_its_numbers(self):
        planned = plan(SESSION, MODEL, window=4_000, rungs=[Spy(makes=grown)])
        before, after = count_tokens(SESSION, resolve(MODEL)), count_tokens(grown(SESSION)[0], resolve(MODEL))
        assert planned.conversation is SESSION
        assert planned.steps[0].refused == f"1 edit(s) would take {before:,} tokens to {after:,}"

    def test_a_rung_that_grows_the_request_without_an_edit_is_refused_too(self):
        planned = plan(SESSION, MODEL, window=4_000, rungs=[Spy(makes=lambda given: (grown(given)[0], ()))])
        assert planned.conversation is SESSION


class TestArguments:
    @pytest.mark.parametrize("window", [4_000, None], ids=["above the trigger", "below the trigger"])
    def test_an_unknown_rung_is_refused_by_name(self, window):
        with pytest.raises(ArgumentError, match="no rung 'shrink'; there is elide, images, snapshot, summary"):
            plan(SESSION, MODEL, window=window, rungs=["shrink"])

    def test_no_rung_at_all_is_refused(self):
        with pytest.raises(ArgumentError, match="no rung given; name at least one of elide, images"):
            plan(SESSION, MODEL, rungs=[])

    @pytest.mark.parametrize("threshold", [0, -0.5, 1.01, float("nan")])
    def test_a_threshold_outside_its_range_is_refused_with_its_number(self, threshold):
        with pytest.raises(ArgumentError, match=f"above 0 and at most 1, got {threshold}"):
            plan(SESSION, MODEL, threshold=threshold)

    @pytest.mark.parametrize("window", [0, -5, "200k"])
    def test_a_window_that_is_no_positive_integer_is_refused_with_its_number(self, window):
        with pytest.raises(ArgumentError, match=f"positive number of tokens, got {window!r}"):
            plan(SESSION, MODEL, window=window)

    @pytest.mark.parametrize("reserve", [-1, 12_000, 50_000])
    def test_a_reserve_that_leaves_nothing_is_refused_with_both_numbers(self, reserve):
        with pytest.raises(ArgumentError, match=f"a reserve of {reserve:,} tokens .* window of 12,000"):
            plan(SESSION, MODEL, window=WINDOW, reserve=reserve)

    def test_every_one_of_them_is_also_a_value_error(self):
        with pytest.raises(ValueError, match="shrink"):
            plan(SESSION, MODEL, rungs=["shrink"])


class TestBudget:
    def test_limit_trigger_target_and_tail_follow_from_window_reserve_and_threshold(self):
        budget = plan(SESSION, MODEL, window=100_000, reserve=10_000, threshold=0.5).budget
        numbers = (budget.limit_tokens, budget.trigger_tokens, budget.target_tokens, budget.tail_tokens)
        assert numbers == (90_000, 45_000, 36_000, 9_000)

    @pytest.mark.parametrize(
        ("model", "window", "reserve"), [(MODEL, None, 32_000), (MODEL, 60_000, 12_000), ("gpt-4o", None, 16_384)]
    )
    def test_the_reserve_is_a_fifth_of_the_window_up_to_the_longest_answer(self, model, window, reserve):
        assert plan(SESSION, model, window=window).budget.reserve_tokens == reserve


class TestPlan:
    @pytest.mark.parametrize("model", MODELS)
    def test_planning_twice_says_the_same(self, model):
        once, again = (plan(SESSION, model, window=WINDOW, summarizer=extractive_summary) for _ in range(2))
        assert once.conversation == again.conversation
        assert [step.edits for step in once.steps] == [step.edits for step in again.steps]

    def test_planning_asks_no_summariser(self):
        planned = plan(SESSION, "deepseek-chat", window=4_000, summarizer=lambda _: pytest.fail("asked"))
        assert any(step.rung == "summary" and step.edits for step in planned.steps)

    def test_the_steps_add_up(self):
        planned = plan(SESSION, MODEL, window=4_000, summarizer=extractive_summary)
        numbers = [planned.tokens_before, *(step.tokens_after for step in planned.steps)]
        assert [step.tokens_before for step in planned.steps] == numbers[:-1]
        assert numbers[-1] == planned.tokens_after

    def test_a_plan_says_whether_it_fits(self):
        assert plan(SESSION, MODEL, window=WINDOW).fits
        assert not plan(SESSION, MODEL, window=1_000).fits

    def test_pages_that_a_later_rung_took_are_no_pages_of_the_plan(self):
        planned = plan(SESSION, MODEL, window=8_000, rungs=["snapshot", "summary"], summarizer=extractive_summary)
        assert planned.steps[0].pages
        assert (planned.pages, planned.source) == ((), "")


class TestApply:
    @pytest.mark.parametrize("rungs", [["elide"], ["images"], ["elide", "images"], ["snapshot"]])
    def test_mechanical_rungs_take_exactly_what_the_plan_says(self, rungs):
        planned = plan(SESSION, MODEL, window=45_000, rungs=rungs)
        assert planned.tokens_after < planned.tokens_before
        assert apply(planned).tokens_after == planned.tokens_after

    def test_what_apply_says_is_what_the_estimator_says(self):
        made = fit(SESSION, MODEL, window=WINDOW)
        assert made.tokens_after == count_tokens(made.conversation, resolve(MODEL))

    def test_a_summary_stays_within_the_cap_of_the_plan(self):
        planned = plan(SESSION, "deepseek-chat", window=5_000, summarizer=extractive_summary)
        assert apply(planned).tokens_after <= planned.tokens_after

    def test_a_summary_stands_where_the_plan_promised_it(self):
        made = fit(SESSION, "deepseek-chat", window=5_000, rungs=["summary"], summarizer=lambda request: "All read.")
        assert "All read." in [part.text for message in made.conversation.messages for part in message.of(Text)]

    def test_nothing_promised_is_left_over(self):
        made = fit(SESSION, MODEL, window=WINDOW, summarizer=extractive_summary)
        assert not [part for message in made.conversation.messages for part in message.of(Pending)]

    @pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-fable-5", "gpt-5.5", "gemini-3-pro"])
    def test_the_pages_read_back_exactly(self, model):
        made = fit(SESSION, model, window=WINDOW, rungs=["snapshot"])
        assert made.pages
        assert gr.read([page.png() for page in made.pages]) == made.plan.source

    def test_the_pictures_in_the_conversation_are_the_pages(self):
        made = fit(SESSION, MODEL, window=WINDOW, rungs=["snapshot"])
        sent = [base64.b64decode(image.data) for image in images_of(made.conversation)]
        assert sent == [page.png() for page in made.pages]

    def test_each_picture_stands_for_the_text_it_shows(self):
        made = fit(SESSION, MODEL, window=WINDOW, rungs=["snapshot"])
        for image in images_of(made.conversation):
            assert gr.read(base64.b64decode(image.data), partial=True) == image.stands_for

    def test_pages_that_stay_when_a_later_rung_takes_others_read_back_exactly(self):
        both = talk(user("Go."), says(PROSE * 400), user("Newest."), *run("a", "bash", CODE_LINE * 60, command="cat"))

        def first_middle_gone(conversation):
            gone = {range(1, 2): machine("[gone]")}
            return with_regions(conversation, gone), (edit_of(conversation),)

        made = fit(both, MODEL, window=12_000, rungs=[Snapshot(), Spy(makes=first_middle_gone)])
        assert [step.refused for step in made.steps] == [None, None]
        assert gr.read(made.pages) == made.plan.source == images_of(made.conversation)[0].stands_for

    def test_a_second_snapshot_is_drawn_with_its_own_pages(self):
        rungs = [Snapshot(tier="legible"), Snapshot(tier="dense")]
        made = fit(SESSION, MODEL, window=8_000, rungs=rungs)
        assert [bool(step.edits) for step in made.steps] == [True, True]
        assert gr.read(made.pages) == made.plan.source

    def test_what_met_the_target_needs_nothing_more(self):
        made = fit(SESSION, MODEL, window=WINDOW)
        again = fit(made.conversation, MODEL, window=WINDOW)
        assert again.conversation is made.conversation
        assert again.steps == ()

    def test_a_page_carries_the_guard_of_the_direct_route(self):
        made = fit(SESSION, MODEL, window=WINDOW, rungs=["snapshot"])
        guard = {"anthropic": {"fields": {"transformations": {"oversized_image": "error"}}}}
        assert [dict(image.extra) for image in images_of(made.conversation)] == [guard] * len(made.pages)

    @pytest.mark.parametrize(("model", "route"), [(MODEL, "bedrock"), ("gpt-5.5", None)])
    def test_elsewhere_a_page_carries_no_guard(self, model, route):
        made = fit(SESSION, model, route=route, window=WINDOW, rungs=["snapshot"])
        assert made.pages
        assert all(image.extra == {} for image in images_of(made.conversation))

    def test_a_plan_with_a_summary_and_no_summariser_is_refused_by_the_name_of_the_slot(self):
        planned = plan(SESSION, MODEL, window=5_000, rungs=["summary"], summarizer=extractive_summary)
        with pytest.raises(ArgumentError, match=r"promises summary-1 and was made without a summariser"):
            apply(dataclasses.replace(planned, summarizer=None))


class TestDoesNotFit:
    def test_no_summariser_and_no_vision_names_both_as_the_way_out(self):
        with pytest.raises(DoesNotFitError) as caught:
            fit(SESSION, "deepseek-chat", window=4_000)
        assert caught.value.exit_code == 3
        assert caught.value.remedies[:2] == (
            "a summariser (--summarizer openai|anthropic|extractive|module:callable)",
            "a model that sees images (--model)",
        )

    def test_it_names_tokens_limit_window_and_reserve(self):
        planned = plan(SESSION, "deepseek-chat", window=4_000)
        numbers = (
            rf"{planned.tokens_before:,} tokens come down to {planned.tokens_after:,}, over the limit of 3,200 "
            r"\(window 4,000 less 800 for the answer\)"
        )
        with pytest.raises(DoesNotFitError, match=numbers):
            apply(planned)

    def test_it_says_why_each_rung_refused(self):
        with pytest.raises(DoesNotFitError, match=r"snapshot: deepseek-chat does not see .*; summary: no summariser"):
            fit(SESSION, "deepseek-chat", window=4_000)

    def test_the_rungs_left_out_are_a_way_out(self):
        with pytest.raises(DoesNotFitError, match=r"the rungs left out \(--rungs images,snapshot,summary\)"):
            fit(SESSION, MODEL, window=4_000, rungs=["elide"])

    def test_protected_parts_over_the_window_ask_for_a_larger_one(self):
        large = talk(user(PROSE * 100), says("Yes?"), user(PROSE * 100))
        with pytest.raises(DoesNotFitError) as caught:
            fit(large, MODEL, window=2_000, summarizer=extractive_summary)
        needed = count_tokens(talk(large.messages[0], large.messages[2]), resolve(MODEL))
        assert caught.value.limit_tokens == 1_600
        assert needed <= caught.value.needed_tokens <= count_tokens(large, resolve(MODEL))
        (remedy,) = caught.value.remedies
        window = int(remedy.removeprefix("a window of at least ").removesuffix(" tokens").replace(",", ""))
        assert fit(large, MODEL, window=window, summarizer=extractive_summary).tokens_after <= window * 0.8


def fails(request):
    raise OSError(7, "the line is dead")


class TestSummaryFailure:
    @pytest.mark.parametrize(
        ("summarizer", "message"),
        [
            (fails, r"failed on characters 0 to \d+: OSError: .*the line is dead"),
            (lambda request: "", "answered with '': it must return a text"),
            (lambda request: " \n", r"answered with ' \\n'"),
            (lambda request: None, "answered with None"),
            (lambda request: 42, "answered with 42"),
            (lambda request: "word " * request.max_tokens * 3, r"the summary takes [\d,]+ tokens, at most [\d,]+ were"),
        ],
        ids=["raises", "empty", "blank", "none", "number", "too long"],
    )
    def test_a_summariser_that_fails_is_reported(self, summarizer, message):
        with pytest.raises(SummaryError, match=message):
            fit(SESSION, "deepseek-chat", window=5_000, summarizer=summarizer)

    def test_the_conversation_is_as_it_was_and_can_be_planned_again(self):
        planned = plan(SESSION, "deepseek-chat", window=5_000, summarizer=fails)
        with pytest.raises(SummaryError):
            apply(planned)
        assert planned.original is SESSION
        assert apply(dataclasses.replace(planned, summarizer=extractive_summary)).conversation is not SESSION


def thinks(text, signature="c2ln"):
    return Message(role="assistant", parts=(Thinking(text=text, signature=signature), Text(text="I see.")))


class TestBoundThinking:
    THOUGHT = talk(
        user("Go."),
        thinks("before the edit"),
        *run("a", "read", CODE_LINE * 90, path="a.py"),
        *run("b", "read", CODE_LINE * 90, path="a.py"),
        thinks("behind the edit"),
        says(PROSE * 80),
        user("And?"),
    )

    def thoughts_after(self, model):
        made = fit(self.THOUGHT, model, window=10_000, threshold=0.9, rungs=["elide"])
        assert made.tokens_after < count_tokens(self.THOUGHT, resolve(model))
        return [part.text for message in made.conversation.messages for part in message.of(Thinking)]

    def test_what_stands_behind_the_first_edit_is_forgotten(self):
        assert self.thoughts_after("claude-opus-5-5") == ["before the edit"]

    def test_models_that_bind_nothing_keep_it(self):
        assert self.thoughts_after("claude-opus-4-8") == ["before the edit", "behind the edit"]

    def test_what_is_forgotten_has_a_handle(self):
        planned = plan(self.THOUGHT, "claude-opus-5-5", window=10_000, threshold=0.9, rungs=["elide"])
        (edit,) = planned.steps[-1].edits
        assert (edit.action, edit.first_message) == ("forget", 6)
        assert planned.originals[edit.handle] == Original(parts=self.THOUGHT.messages[6].parts[:1])

    def test_nothing_is_forgotten_where_nothing_changed(self):
        assert fit(self.THOUGHT, "claude-opus-5-5").conversation is self.THOUGHT


def test_eliding_alone_can_be_enough():
    assert asked(plan(SESSION, MODEL, window=45_000, rungs=[Elide(), "snapshot"])) == ["elide"]
