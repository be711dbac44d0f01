"""The seams and what passes through them: Budget, Edit, Step, Plan; Rung and Summarizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import glyphraster as gr
from contextkit.errors import ArgumentError
from contextkit.messages import Conversation
from contextkit.models import ModelProfile
from contextkit.recall import Original
from contextkit.tokens import TokenEstimator

RESERVE_MOST_TOKENS = 32_000
RESERVE_SHARE = 0.2
TARGET_SHARE = 0.8
TAIL_MOST_TOKENS = 20_000
TAIL_SHARE = 0.25


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a conversation may take, in tokens.

    Attributes
    ----------
    model
        Whose window it is.
    window_tokens
        The model's window, or the caller's.
    reserve_tokens
        Kept for the answer.
    threshold
        Share of the limit above which the ladder acts.
    tail_tokens
        How many tokens of the newest groups no rung takes; by default a quarter of the target, at most 20,000.
    """

    model: ModelProfile
    window_tokens: int
    reserve_tokens: int
    threshold: float = 0.8
    tail_tokens: int = -1

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ArgumentError(f"the threshold must lie above 0 and at most 1, got {self.threshold}")
        if not 0 <= self.reserve_tokens < self.window_tokens:
            raise ArgumentError(
                f"a reserve of {self.reserve_tokens:,} tokens leaves nothing of a window of {self.window_tokens:,}: "
                f"lower the reserve or raise the window"
            )
        if self.tail_tokens < 0:
            object.__setattr__(self, "tail_tokens", min(TAIL_MOST_TOKENS, int(self.target_tokens * TAIL_SHARE)))

    @classmethod
    def of(cls, model: ModelProfile, *, threshold: float = 0.8, reserve: int | None = None) -> Budget:
        """Return a model's budget; by default a fifth of the window is reserved, at most its output limit or 32,000."""
        window = model.window_tokens
        default = min(model.max_output_tokens, RESERVE_MOST_TOKENS, int(window * RESERVE_SHARE))
        return cls(
            model=model,
            window_tokens=window,
            reserve_tokens=default if reserve is None else reserve,
            threshold=threshold,
        )

    @property
    def limit_tokens(self) -> int:
        """What the prompt may take at most."""
        return self.window_tokens - self.reserve_tokens

    @property
    def trigger_tokens(self) -> int:
        """Above this the ladder acts."""
        return int(self.limit_tokens * self.threshold)

    @property
    def target_tokens(self) -> int:
        """The ladder climbs until this is met."""
        return int(self.trigger_tokens * TARGET_SHARE)

    @cached_property
    def estimator(self) -> TokenEstimator:
        """The ruler that everything under this budget is measured with."""
        return TokenEstimator(self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One thing taken from a conversation.

    Attributes
    ----------
    action
        ``"elide"``, ``"drop"``, ``"snapshot"``, ``"summarise"`` or ``"forget"``.
    what, reason
        What was taken, and why, for people.
    first_message, last_message
        Where it stood, counted from 0, in the conversation that the step was given.
    tokens_before, tokens_after
        Its price and the price of what stands there now.
    handle
        What gives the original back.
    """

    action: str
    what: str
    reason: str
    first_message: int
    last_message: int
    tokens_before: int
    tokens_after: int
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one rung does, and the conversation after it.

    Attributes
    ----------
    rung
        Name of the rung.
    conversation
        After the step; the very object that went in when ``edits`` is empty. May hold ``Pending`` parts.
    originals
        Everything taken, by handle.
    pages, source
        Pages still to be drawn, and the text they show.
    refused
        Why the rung would not do anything, with its numbers; None when it did, or had nothing to do.
    """

    rung: str
    conversation: Conversation
    tokens_before: int
    tokens_after: int
    edits: tuple[Edit, ...] = ()
    originals: Mapping[str, Original] = field(default_factory=dict)
    pages: tuple[gr.Page, ...] = ()
    source: str = ""
    refused: str | None = None


class Rung(Protocol):
    """One way to make a conversation smaller: a frozen value with a name and one pure method."""

    @property
    def name(self) -> str:
        """Name in plans and reports."""
        ...

    def plan(self, conversation: Conversation, budget: Budget) -> Step:
        """Say what this rung would do; an empty step when there is nothing to do."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What a summariser is asked.

    Attributes
    ----------
    text
        The history to summarise.
    previous
        The summary so far, to be brought up to date, or the empty string.
    max_tokens
        The longest summary that will be taken.
    """

    text: str
    previous: str
    max_tokens: int


class Summarizer(Protocol):
    """Write a summary: any callable that takes a :class:`SummaryRequest` and returns text."""

    def __call__(self, request: SummaryRequest, /) -> str:
        """Return the summary."""
        ...
