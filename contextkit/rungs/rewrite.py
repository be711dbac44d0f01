"""What the rungs share: taking parts or runs of messages out of a conversation, and saying so in edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from contextkit.messages import AnyPart, Conversation, Message, ToolCall
from contextkit.protocols import Budget, Edit, Step
from contextkit.recall import Original


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One part that goes, and what stands in its place."""

    message: int
    part: int
    replacement: AnyPart
    action: str
    what: str
    reason: str


def calls_by_id(messages: Iterable[Message]) -> dict[str, ToolCall]:
    """Return every call by its id."""
    return {call.id: call for message in messages for call in message.of(ToolCall)}


def part_step(rung: str, conversation: Conversation, budget: Budget, taken: Sequence[Taken]) -> Step:
    """Return the step that puts replacements in the place of parts; empty when nothing is taken."""
    before = budget.estimator.conversation(conversation)
    if not taken:
        return Step(rung=rung, conversation=conversation, tokens_before=before, tokens_after=before)
    originals = [Original(parts=(conversation.messages[item.message].parts[item.part],)) for item in taken]
    after = with_parts(conversation, {(item.message, item.part): item.replacement for item in taken})
    return Step(
        rung=rung,
        conversation=after,
        tokens_before=before,
        tokens_after=budget.estimator.conversation(after),
        edits=tuple(_edit(item, original, budget) for item, original in zip(taken, originals, strict=True)),
        originals={original.handle: original for original in originals},
    )


def _edit(item: Taken, original: Original, budget: Budget) -> Edit:
    return Edit(
        action=item.action,
        what=item.what,
        reason=item.reason,
        first_message=item.message,
        last_message=item.message,
        tokens_before=budget.estimator.parts(original.parts),
        tokens_after=budget.estimator.part(item.replacement),
        handle=original.handle,
    )


def with_parts(conversation: Conversation, replacements: Mapping[tuple[int, int], AnyPart]) -> Conversation:
    """Return the conversation with other parts at (message, part) places; untouched messages stay the same objects."""
    touched = {at for at, _ in replacements}
    return msgspec.structs.replace(
        conversation,
        messages=tuple(
            message
            if at not in touched
            else msgspec.structs.replace(
                message, parts=tuple(replacements.get((at, place), part) for place, part in enumerate(message.parts))
            )
            for at, message in enumerate(conversation.messages)
        ),
    )


def with_regions(conversation: Conversation, replacements: Mapping[range, Message]) -> Conversation:
    """Return the conversation with one message in the place of each region."""
    starts = {region.start: message for region, message in replacements.items()}
    gone = {at for region in replacements for at in region}
    messages = []
    for at, message in enumerate(conversation.messages):
        if at in starts:
            messages.append(starts[at])
        if at not in gone:
            messages.append(message)
    return msgspec.structs.replace(conversation, messages=tuple(messages))
