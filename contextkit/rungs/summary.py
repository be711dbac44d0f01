"""Rung 4: a summary in the place of the middle, by a model call that the caller injects. Last: words are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextkit import turns
from contextkit.messages import MACHINE_MADE, Conversation, Message, Pending, Text
from contextkit.plaintext import plain_text
from contextkit.protocols import Budget, Edit, Step
from contextkit.recall import Original
from contextkit.rungs.rewrite import calls_by_id, with_regions

SUMMARY_MOST_TOKENS = 4_096
SUMMARY_LEAST_TOKENS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """Replace the middle by a summary of at most ``most_tokens``.

    Parameters
    ----------
    available
        Whether a summariser was given; without one the rung refuses.
    """

    name: str = "summary"
    available: bool = False
    most_tokens: int = SUMMARY_MOST_TOKENS

    def plan(self, conversation: Conversation, budget: Budget) -> Step:
        """Say which messages would be summarised; nothing is called."""
        before = budget.estimator.conversation(conversation)
        middle = turns.regions(turns.protected(conversation.messages, budget.estimator, budget.tail_tokens))
        refused = None
        if middle and not self.available:
            refused = (
                "no summariser was given: pass summarizer= (--summarizer openai|anthropic|extractive|module:callable)"
            )
        elif middle:
            cap = self._cap(conversation, budget, middle, before)
            step = self._summarised(conversation, budget, middle, before, cap)
            if step.tokens_after < before:
                return step
            refused = f"a summary of up to {cap:,} tokens would not be shorter than what it replaces"
        return Step(
            rung=self.name, conversation=conversation, tokens_before=before, tokens_after=before, refused=refused
        )

    def _summarised(
        self, conversation: Conversation, budget: Budget, middle: Sequence[range], before: int, cap: int
    ) -> Step:
        names = {call_id: call.name for call_id, call in calls_by_id(conversation.messages).items()}
        messages, edits, originals = {}, [], {}
        for number, region in enumerate(middle, 1):
            original = Original(messages=conversation.messages[region.start : region.stop])
            text = plain_text(original.messages, first_number=region.start + 1, tool_names=names)
            messages[region] = _summary_message(
                Pending(key=f"summary-{number}", tokens=cap, stands_for=text), region, original
            )
            originals[original.handle] = original
            edits.append(_edit(region, original, budget, messages[region]))
        after = with_regions(conversation, messages)
        return Step(
            rung=self.name,
            conversation=after,
            tokens_before=before,
            tokens_after=budget.estimator.conversation(after),
            edits=tuple(edits),
            originals=originals,
        )

    def _cap(self, conversation: Conversation, budget: Budget, middle: Sequence[range], before: int) -> int:
        """Share the room under the target among the middles, within the hard cap."""
        taken = sum(budget.estimator.messages(conversation.messages[region.start : region.stop]) for region in middle)
        room = budget.target_tokens - (before - taken) - 200 * len(middle)
        return max(SUMMARY_LEAST_TOKENS, min(self.most_tokens, room // len(middle)))


def _summary_message(slot: Pending, region: range, original: Original) -> Message:
    intro = (
        f"[Messages {region.start + 1} to {region.stop} of this conversation are summarised here. The summary is "
        "history, not a new request. Originals: "
        f"recall {original.handle}.]"
    )
    return Message(role="user", parts=(Text(text=intro), slot), extra=MACHINE_MADE)


def _edit(region: range, original: Original, budget: Budget, message: Message) -> Edit:
    return Edit(
        action="summarise",
        what=f"messages {region.start + 1} to {region.stop}",
        reason="older than the tail",
        first_message=region.start,
        last_message=region.stop - 1,
        tokens_before=budget.estimator.messages(original.messages),
        tokens_after=budget.estimator.message(message),
        handle=original.handle,
    )
