"""The ladder: which rungs, in which order, when to stop, when to refuse.

``plan`` decides, ``apply`` executes, ``fit`` does both.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

import glyphraster as gr
from contextkit import turns
from contextkit.errors import ArgumentError, DoesNotFitError
from contextkit.messages import AnyPart, Conversation, Image, Message, Pending, Text, Thinking
from contextkit.models import ModelProfile, resolve
from contextkit.protocols import Budget, Edit, Rung, Step, Summarizer
from contextkit.recall import Original
from contextkit.rungs import DropImages, Elide, Snapshot, Summarise
from contextkit.rungs.snapshot import page_key
from contextkit.summarizers import write_summary

RUNG_NAMES = ("elide", "images", "snapshot", "summary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be done to a conversation, with its numbers; nothing is drawn and nobody is called.

    Attributes
    ----------
    original, conversation
        Before, and after every step; the same object when nothing is to be done. The latter may hold ``Pending`` parts.
    budget
        The thresholds, and the model they are for.
    steps
        One for each rung that was asked.
    tokens_before, tokens_after
        By the one estimator; a summary counts with its cap.
    """

    original: Conversation
    conversation: Conversation
    budget: Budget
    steps: tuple[Step, ...]
    tokens_before: int
    tokens_after: int
    summarizer: Summarizer | None = None

    @property
    def fits(self) -> bool:
        """Whether the result stays within the limit."""
        return self.tokens_after <= self.budget.limit_tokens

    @property
    def meets_target(self) -> bool:
        """Whether the result is as small as asked for: the target, or the trigger when no rung had to act."""
        return self.tokens_after <= (self.budget.target_tokens if self.steps else self.budget.trigger_tokens)

    @property
    def pages(self) -> tuple[gr.Page, ...]:
        """The pages that the request will hold, placed one after the other; a later rung may have taken some."""
        pages: list[gr.Page] = []
        for slot, page in _held(self):
            pages.append(page.behind(pages[-1] if pages else None, slot.stands_for))
        return tuple(pages)

    @property
    def source(self) -> str:
        """The text that the pages show."""
        return "".join(slot.stands_for for slot, _ in _held(self))

    @property
    def originals(self) -> Mapping[str, Original]:
        """Everything taken, by handle."""
        return {handle: original for step in self.steps for handle, original in step.originals.items()}


def _held(plan: Plan) -> list[tuple[Pending, gr.Page]]:
    """Return the slots that stand for pages, in order, with their pages: key and text tell them apart."""
    drawn = {(page_key(page), step.source[page.start : page.stop]): page for step in plan.steps for page in step.pages}
    slots = (part for message in plan.conversation.messages for part in message.of(Pending))
    return [(slot, drawn[slot.key, slot.stands_for]) for slot in slots if (slot.key, slot.stands_for) in drawn]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What ``apply`` made.

    Attributes
    ----------
    conversation
        The smaller conversation; the very object that went in when nothing was to be done.
    plan
        What was executed.
    tokens_after
        What it really takes: as planned, or less where a summary came out shorter than its cap.
    """

    conversation: Conversation
    plan: Plan
    tokens_after: int
    steps: tuple[Step, ...] = field(default=())
    pages: tuple[gr.Page, ...] = field(default=())

    @property
    def originals(self) -> Mapping[str, Original]:
        """Everything taken, by handle."""
        return self.plan.originals


def plan(
    conversation: Conversation,
    model: str | ModelProfile,
    *,
    route: str | None = None,
    window: int | None = None,
    threshold: float = 0.8,
    reserve: int | None = None,
    rungs: Sequence[str | Rung] | None = None,
    summarizer: Summarizer | None = None,
) -> Plan:
    """Decide how to make a conversation fit. Pure: nothing is drawn, called, written or changed.

    Parameters
    ----------
    model, route
        An id as ``route`` spells it, or an already resolved model.
    window
        The window in tokens, when the model's own shall not count.
    threshold
        Share of the limit (window less reserve) above which the ladder acts.
    reserve
        Tokens kept for the answer; by default at most a fifth of the window.
    rungs
        Names out of :data:`RUNG_NAMES` or rungs of your own, in the order to be tried; by default all four.
    summarizer
        Any callable for the summary rung.

    Raises
    ------
    ArgumentError
        When an argument is outside what is allowed; the message names it.
    """
    chosen = _rungs(rungs, summarizer)
    resolved = resolve(model, route, window=window) if isinstance(model, str) else model
    budget = Budget.of(
        resolved if window is None else replace(resolved, window_tokens=window), threshold=threshold, reserve=reserve
    )
    before = budget.estimator.conversation(conversation)
    steps: list[Step] = []
    current, tokens = conversation, before
    for rung in chosen if before > budget.trigger_tokens else ():
        if tokens <= budget.target_tokens:
            break
        steps.append(_honest(rung.plan(current, budget), current, budget))
        current, tokens = steps[-1].conversation, steps[-1].tokens_after
    if (forgotten := _forget_bound_thinking(conversation, current, budget)) is not None:
        steps.append(forgotten)
        current, tokens = forgotten.conversation, forgotten.tokens_after
    return Plan(
        original=conversation,
        conversation=current,
        budget=budget,
        steps=tuple(steps),
        tokens_before=before,
        tokens_after=tokens,
        summarizer=summarizer,
    )


def apply(plan: Plan) -> Result:
    """Execute a plan: draw its pages, ask for its summaries.

    Raises
    ------
    DoesNotFitError
        When the plan does not fit the limit; the message names the parts, the window and what would help.
    SummaryError
        When the summariser failed; the conversation that was planned for is as it was.
    """
    if not plan.fits:
        raise does_not_fit(plan)
    if plan.conversation is plan.original:
        return Result(conversation=plan.original, plan=plan, tokens_after=plan.tokens_after, steps=plan.steps)
    fillers = _page_fillers(plan)
    messages = tuple(_filled(message, plan, fillers) for message in plan.conversation.messages)
    conversation = msgspec.structs.replace(plan.conversation, messages=messages)
    return Result(
        conversation=conversation,
        plan=plan,
        tokens_after=plan.budget.estimator.conversation(conversation),
        steps=plan.steps,
        pages=plan.pages,
    )


def fit(
    conversation: Conversation,
    model: str | ModelProfile,
    *,
    route: str | None = None,
    window: int | None = None,
    threshold: float = 0.8,
    reserve: int | None = None,
    rungs: Sequence[str | Rung] | None = None,
    summarizer: Summarizer | None = None,
) -> Result:
    """Plan, then apply; arguments as :func:`plan`, errors as both."""
    return apply(
        plan(
            conversation,
            model,
            route=route,
            window=window,
            threshold=threshold,
            reserve=reserve,
            rungs=rungs,
            summarizer=summarizer,
        )
    )


def does_not_fit(plan: Plan) -> DoesNotFitError:
    """Return the error that says why a plan does not fit and what would help."""
    budget = plan.budget
    fixed, untouched = _untouchable(plan.original, budget)
    message = (
        f"{plan.tokens_before:,} tokens come down to {plan.tokens_after:,}, over the limit of {budget.limit_tokens:,} "
        "(window "
        f"{budget.window_tokens:,} less {budget.reserve_tokens:,} for the answer); system and tools take {fixed:,}, "
        "the protected head, newest "
        f"user message and tail {untouched:,}"
    )
    refusals = [f"{step.rung}: {step.refused}" for step in plan.steps if step.refused]
    return DoesNotFitError(
        "; ".join((message, *refusals)),
        limit_tokens=budget.limit_tokens,
        needed_tokens=fixed + untouched,
        remedies=tuple(_remedies(plan, fixed + untouched)),
    )


def _remedies(plan: Plan, needed: int) -> Iterable[str]:
    budget = plan.budget
    if needed > budget.limit_tokens:
        yield f"a window of at least {_window_for_protected(plan):,} tokens"
        return
    if plan.summarizer is None:
        yield "a summariser (--summarizer openai|anthropic|extractive|module:callable)"
    if not budget.model.vision:
        yield "a model that sees images (--model)"
    asked = {step.rung for step in plan.steps}
    if missing := [name for name in RUNG_NAMES if name not in asked]:
        yield f"the rungs left out (--rungs {','.join(missing)})"
    yield f"a larger window than {budget.window_tokens:,} (--window)"


def _untouchable(conversation: Conversation, budget: Budget) -> tuple[int, int]:
    """Return the tokens of system and tools, and those of protected messages."""
    kept = turns.protected(conversation.messages, budget.estimator, budget.tail_tokens)
    protected = (message for message, is_kept in zip(conversation.messages, kept, strict=True) if is_kept)
    return budget.estimator.fixed(conversation), sum(budget.estimator.message(message) for message in protected)


def _window_for_protected(plan: Plan) -> int:
    """Return a window, by tenths, that holds what no rung may touch; with the window the tail and the reserve grow."""
    window = plan.budget.window_tokens
    while True:
        window += max(1, window // 10)
        budget = Budget.of(replace(plan.budget.model, window_tokens=window), threshold=plan.budget.threshold)
        if sum(_untouchable(plan.original, budget)) <= budget.limit_tokens:
            return window


def _rungs(rungs: Sequence[str | Rung] | None, summarizer: Summarizer | None) -> list[Rung]:
    made: dict[str, Callable[[], Rung]] = {
        "elide": Elide,
        "images": DropImages,
        "snapshot": Snapshot,
        "summary": lambda: Summarise(available=summarizer is not None),
    }
    chosen: list[Rung] = []
    for rung in RUNG_NAMES if rungs is None else rungs:
        if isinstance(rung, str) and rung not in made:
            raise ArgumentError(f"no rung {rung!r}; there is {', '.join(RUNG_NAMES)}")
        chosen.append(made[rung]() if isinstance(rung, str) else rung)
    if not chosen:
        raise ArgumentError(f"no rung given; name at least one of {', '.join(RUNG_NAMES)}")
    return chosen


def _honest(step: Step, given: Conversation, budget: Budget) -> Step:
    """Count a step with the one estimator; refuse it when it does not make the conversation smaller."""
    before = budget.estimator.conversation(given)
    after = before if step.conversation is given else budget.estimator.conversation(step.conversation)
    if after < before or step.conversation is given:
        return replace(step, tokens_before=before, tokens_after=after)
    return Step(
        rung=step.rung,
        conversation=given,
        tokens_before=before,
        tokens_after=before,
        refused=f"{len(step.edits)} edit(s) would take {before:,} tokens to {after:,}",
    )


def _forget_bound_thinking(original: Conversation, current: Conversation, budget: Budget) -> Step | None:
    """Drop reasoning that stands behind the first change, for models that bind it to everything before it.

    Such a block is refused or silently dropped once its prefix differs (preserved thinking, Anthropic documentation).
    """
    if current is original or not budget.model.binds_thinking:
        return None
    first = next(
        (at for at, (old, new) in enumerate(zip(original.messages, current.messages, strict=False)) if old is not new),
        len(current.messages),
    )
    places = [at for at in range(first, len(current.messages)) if any(True for _ in current.messages[at].of(Thinking))]
    if not places:
        return None
    originals = {at: Original(parts=tuple(current.messages[at].of(Thinking))) for at in places}
    messages = tuple(
        _without_thinking(message) if at in originals else message for at, message in enumerate(current.messages)
    )
    after = msgspec.structs.replace(current, messages=messages)
    return Step(
        rung="thinking",
        conversation=after,
        tokens_before=budget.estimator.conversation(current),
        tokens_after=budget.estimator.conversation(after),
        edits=tuple(
            Edit(
                action="forget",
                what="reasoning",
                reason="bound to a history that changed",
                first_message=at,
                last_message=at,
                tokens_before=budget.estimator.parts(original.parts),
                tokens_after=0,
                handle=original.handle,
            )
            for at, original in originals.items()
        ),
        originals={original.handle: original for original in originals.values()},
    )


def _without_thinking(message: Message) -> Message:
    return msgspec.structs.replace(
        message, parts=tuple(part for part in message.parts if not isinstance(part, Thinking))
    )


def _page_fillers(plan: Plan) -> dict[tuple[str, str], gr.Page]:
    return {(slot.key, slot.stands_for): page for (slot, _), page in zip(_held(plan), plan.pages, strict=True)}


def _filled(message: Message, plan: Plan, pages: Mapping[tuple[str, str], gr.Page]) -> Message:
    """Return the message with its pending parts made; the same object when it has none."""
    if not any(True for _ in message.of(Pending)):
        return message
    parts = tuple(_made(part, plan, pages) if isinstance(part, Pending) else part for part in message.parts)
    return msgspec.structs.replace(message, parts=parts)


def _made(slot: Pending, plan: Plan, pages: Mapping[tuple[str, str], gr.Page]) -> AnyPart:
    page = pages.get((slot.key, slot.stands_for))
    if page is not None:
        guard = plan.budget.model.page.guard
        return Image(
            media_type="image/png",
            data=base64.b64encode(page.png()).decode("ascii"),
            stands_for=slot.stands_for,
            extra={"anthropic": {"fields": dict(guard)}} if guard else {},
        )
    if plan.summarizer is None:
        raise ArgumentError(
            f"the plan promises {slot.key} and was made without a summariser: plan again with summarizer="
        )
    return Text(text=write_summary(slot.stands_for, plan.summarizer, plan.budget.estimator, slot.tokens))
