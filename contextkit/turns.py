"""What travels together, and where a cut may fall.

A **group** is a message, or an assistant message with calls and everything that answers them: a cut falls only between
groups. **Protected** groups are taken by no rung: the head up to the first thing the user said, the newest thing the
user said, an open call, and the newest groups up to the budget's tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextkit.messages import Image, Message, Text, ToolCall, ToolResult
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
    kept = [False] * len(messages)
    all_groups = groups(messages)
    said = [at for at, message in enumerate(messages) if user_said(message)]
    for group in all_groups:
        is_head = group.start <= (said[0] if said else 0)
        holds_newest = bool(said) and group.start <= said[-1] < group.stop
        speaks_as_system = messages[group.start].role == "system"
        if is_head or holds_newest or speaks_as_system or (group.has_open_call and group is all_groups[-1]):
            kept[group.start : group.stop] = [True] * (group.stop - group.start)
    for group in reversed(all_groups):
        tail_tokens -= sum(estimator.message(message) for message in messages[group.start : group.stop])
        if tail_tokens < 0:
            break
        kept[group.start : group.stop] = [True] * (group.stop - group.start)
    return tuple(kept)


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
    """Say whether the user speaks in this message, rather than a tool through it."""
    return message.role == "user" and any(True for _ in message.of(Text, Image))


def _answers(message: Message) -> set[str]:
    return {result.call_id for result in message.of(ToolResult)}
