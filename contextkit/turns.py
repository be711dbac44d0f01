"""What travels together, and where a cut may fall.

A **group** is a message, or an assistant message with calls and everything that answers them: a cut falls only between
groups. **Protected** groups are taken by no rung: the first and the newest thing the user said, what stands at the very
start unless it is larger than the tail, an open call, and the newest groups up to the budget's tail.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from contextkit.messages import Image, Message, Text, ToolCall, ToolResult, machine_made
from contextkit.tokens import TokenEstimator


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Messages ``start`` to ``stop`` of a conversation, which travel together."""

    start: int
    stop: int
    has_open_call: bool = False


def groups(messages: Sequence[Message]) -> tuple[Group, ...]:
    """Split messages into groups, in order and without gaps."""
    found, start = [], 0
    while start < len(messages):
        open_calls = {call.id for call in messages[start].of(ToolCall)}
        stop = start + 1
        while open_calls and stop < len(messages) and (answered := open_calls & _answers(messages[stop])):
            open_calls -= answered
            stop += 1
        found.append(Group(start=start, stop=stop, has_open_call=bool(open_calls)))
        start = stop
    return tuple(found)


def protected(messages: Sequence[Message], estimator: TokenEstimator, tail_tokens: int) -> tuple[bool, ...]:
    """Say of each message whether no rung may take it.

    Parameters
    ----------
    tail_tokens
        How many tokens of the newest groups are left alone; a newest group larger than that is not.
    """
    said = [at for at, message in enumerate(messages) if user_said(message)]
    spoken = {said[0], said[-1]} if said else set()
    every = groups(messages)
    sizes = [estimator.messages(tuple(messages[group.start : group.stop])) for group in every]
    keeps = [_must_stay(group, messages, spoken) for group in every]
    if every:
        keeps[0] |= sizes[0] <= tail_tokens
        keeps[-1] |= every[-1].has_open_call
    for place in range(len(every) - 1, -1, -1):
        tail_tokens -= sizes[place]
        if tail_tokens < 0:
            break
        keeps[place] = True
    return tuple(keep for group, keep in zip(every, keeps, strict=True) for _ in range(group.start, group.stop))


def _must_stay(group: Group, messages: Sequence[Message], spoken: Collection[int]) -> bool:
    span = range(group.start, group.stop)
    return messages[group.start].role == "system" or any(at in spoken for at in span)


def regions(kept: Sequence[bool]) -> tuple[range, ...]:
    """Return the runs of messages that are not protected: the middles that a rung may rewrite."""
    found, start = [], None
    for at, is_kept in enumerate((*kept, True)):
        if is_kept and start is not None:
            found.append(range(start, at))
            start = None
        elif not is_kept and start is None:
            start = at
    return tuple(found)


def user_said(message: Message) -> bool:
    """Say whether a person speaks in this message, rather than a tool or a host through it."""
    return message.role == "user" and not machine_made(message) and any(True for _ in message.of(Text, Image))


def _answers(message: Message) -> set[str]:
    return {result.call_id for result in message.of(ToolResult)}
