"""Makes the calls and results of any conversation pair up, and tells what it did.

Calls are paired with results by id, and by position where an id stands more than once. What has no partner is not lost:
an unanswered call gets a result that says so, a result without a call becomes user text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from contextkit.codecs._fit import Counts, changed, notes_of, with_parts
from contextkit.codecs._json import Json
from contextkit.messages import AnyPart, Conversation, Message, Text, ToolCall, ToolResult

NO_RESULT = "[no result was recorded: interrupted]"
"""Content of the result that an unanswered call gets."""

Place = tuple[int, int]


def repair(conversation: Conversation) -> tuple[Conversation, tuple[str, ...]]:
    """Return a conversation in which every call is answered directly after its message, and what had to change.

    Every call id stands once in the result. A conversation that needs no repair comes back as the same object.
    """
    counts: Counts = Counter()
    pairing = _paired(conversation.messages, counts)
    fixed = changed(conversation, messages=tuple(_Rebuilder(conversation.messages, pairing, counts).messages()))
    return fixed, notes_of(counts)


@dataclass(slots=True)
class _Slot:
    """A call, where it stands, and the result that answers it."""

    place: Place
    call: ToolCall
    id: str
    result: Place | None = None


@dataclass(slots=True)
class _Pairing:
    """Which call each result answers, which calls are doubled, and the slots of every message."""

    slots: dict[int, list[_Slot]] = field(default_factory=dict)
    answers: dict[Place, _Slot] = field(default_factory=dict)
    doubled: set[Place] = field(default_factory=set)

    def open_for(self, key: str) -> _Slot | None:
        """Return the first open call with that id in the latest message that has one."""
        for slots in reversed(self.slots.values()):
            hit = next((slot for slot in slots if slot.call.id == key and slot.result is None), None)
            if hit is not None:
                return hit
        return None


def _paired(messages: tuple[Message, ...], counts: Counts) -> _Pairing:
    pairing = _Pairing()
    for at, message in enumerate(messages):
        for spot, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and message.role == "assistant":
                _add_call(pairing, (at, spot), part, counts)
            elif isinstance(part, ToolResult) and (slot := pairing.open_for(part.call_id)) is not None:
                slot.result = (at, spot)
                pairing.answers[at, spot] = slot
    _name(pairing, counts)
    return pairing


def _add_call(pairing: _Pairing, place: Place, call: ToolCall, counts: Counts) -> None:
    slots = pairing.slots.setdefault(place[0], [])
    twins = (slot.call for slot in slots if call.id and slot.call.id == call.id)
    if any(twin.name == call.name and twin.arguments == call.arguments for twin in twins):
        pairing.doubled.add(place)
        counts["call(s) that stood twice in one message, sent once"] += 1
    else:
        slots.append(_Slot(place, call, call.id))


def _name(pairing: _Pairing, counts: Counts) -> None:
    """Give a new id to every call without one, and to those whose id is already taken."""
    known = {slot.call.id for slots in pairing.slots.values() for slot in slots}
    taken: set[str] = set()
    for slot in (slot for slots in pairing.slots.values() for slot in slots):
        if not slot.id or slot.id in taken:
            slot.id = _free_id(slot.call.id or "call", known)
            counts["call(s) renamed: the id was missing or used before"] += 1
        taken.add(slot.id)
        known.add(slot.id)


def _free_id(start: str, known: set[str]) -> str:
    number = 2
    while f"{start}_{number}" in known:
        number += 1
    return f"{start}_{number}"


class _Rebuilder:
    """Writes the messages again, with every result directly after its calls."""

    def __init__(self, messages: tuple[Message, ...], pairing: _Pairing, counts: Counts) -> None:
        self.old, self.pairing, self.counts = messages, pairing, counts
        self.called = {slot.call.id for slots in pairing.slots.values() for slot in slots}

    def messages(self) -> Iterator[Message]:
        at = 0
        while at < len(self.old):
            slots = self.pairing.slots.get(at)
            if not slots:
                yield from self.alone(at)
                at += 1
                continue
            yield from self.asking(at)
            stop = self.end_of_home(at)
            yield from self.answering(range(at + 1, stop), slots)
            at = stop

    def end_of_home(self, at: int) -> int:
        """Return the end of the messages that may hold the results of ``at``: tool messages, then one user message."""
        stop = at + 1
        while stop < len(self.old) and self.old[stop].role == "tool":
            stop += 1
        return stop + (stop < len(self.old) and self.old[stop].role == "user" and _starts_with_result(self.old[stop]))

    def alone(self, at: int) -> Iterator[Message]:
        """Write a message in which no result has its place."""
        message = self.old[at]
        parts = tuple(self.texts(at))
        if parts or not message.parts:
            yield Message(role="user", parts=parts) if message.role == "tool" else with_parts(message, parts)

    def asking(self, at: int) -> Iterator[Message]:
        """Write an assistant message with its calls, each once and under its final id."""
        ids = {slot.place: slot.id for slot in self.pairing.slots[at]}
        parts: list[AnyPart] = []
        for spot, part in enumerate(self.old[at].parts):
            if (at, spot) in ids:
                parts.append(_with_id(part, ids[at, spot]))
            elif (at, spot) not in self.pairing.doubled:
                parts += self.without_result(at, spot)
        yield with_parts(self.old[at], tuple(parts))

    def answering(self, home: range, slots: list[_Slot]) -> Iterator[Message]:
        """Write the messages of a home: what is there in its place, then what comes from elsewhere, then the rest."""
        waiting = {slot.place: slot for slot in slots}
        tools: list[Message] = []
        texts: list[AnyPart] = []
        for at in (at for at in home if self.old[at].role == "tool"):
            kept = tuple(self.settled(at, waiting))
            tools += [with_parts(self.old[at], kept)] if kept else []
            texts += self.leftovers(at, slots)
        yield from tools
        if home and self.old[home[-1]].role == "user":
            yield self.shared(home[-1], waiting, slots, texts)
            return
        missing = tuple(map(self.fetched, waiting.values()))
        yield from (Message(role="tool", parts=(result,)) for result in missing)
        yield from (Message(role="user", parts=tuple(texts)),) if texts else ()

    def shared(self, at: int, waiting: dict[Place, _Slot], slots: list[_Slot], texts: list[AnyPart]) -> Message:
        """Write a user message that begins with results: results first, also those from elsewhere, then the rest."""
        head = tuple(self.settled(at, waiting))
        missing = tuple(map(self.fetched, waiting.values()))
        return with_parts(self.old[at], (*head, *missing, *texts, *self.leftovers(at, slots)))

    def settled(self, at: int, waiting: dict[Place, _Slot]) -> Iterator[ToolResult]:
        """Yield the results of message ``at`` that answer a waiting call, under its final id."""
        for spot, part in enumerate(self.old[at].parts):
            slot = self.pairing.answers.get((at, spot))
            if slot is not None and waiting.pop(slot.place, None) is not None:
                yield _named(part, slot.id)

    def leftovers(self, at: int, slots: list[_Slot]) -> Iterator[AnyPart]:
        """Yield what else message ``at`` of a home holds."""
        mine = {slot.result for slot in slots}
        for spot in range(len(self.old[at].parts)):
            if (at, spot) not in mine:
                yield from self.without_result(at, spot)

    def fetched(self, slot: _Slot) -> ToolResult:
        """Return the result of a call from wherever it stands, or one that says there is none."""
        if slot.result is None:
            self.counts["unanswered call(s) given a result that says so"] += 1
            return ToolResult(call_id=slot.id, content=(Text(text=NO_RESULT),), is_error=True)
        self.counts["result(s) moved up to their call"] += 1
        at, spot = slot.result
        return _named(self.old[at].parts[spot], slot.id)

    def texts(self, at: int) -> Iterator[AnyPart]:
        for spot in range(len(self.old[at].parts)):
            yield from self.without_result(at, spot)

    def without_result(self, at: int, spot: int) -> Iterator[AnyPart]:
        """Yield a part that stands where no result and no call may stand."""
        part = self.old[at].parts[spot]
        if isinstance(part, ToolResult):
            if (at, spot) not in self.pairing.answers:
                self.counts["result(s) without a call turned into text"] += 1
                yield Text(text=self.marker(part.call_id))
                yield from part.content
        elif isinstance(part, ToolCall) and self.old[at].role != "assistant":
            self.counts["call(s) outside of an assistant message turned into text"] += 1
            yield Text(text=f"[call of {part.name}: {json.dumps(part.arguments, ensure_ascii=False, default=str)}]")
        else:
            yield part

    def marker(self, key: str) -> str:
        if key in self.called:
            return f"[one more result of call {key}]"
        return f"[result of a call that is not part of this conversation: {key or 'no id'}]"


def _with_id(call: Json, key: str) -> ToolCall:
    named: ToolCall = call if call.id == key else msgspec.structs.replace(call, id=key)
    return named


def _starts_with_result(message: Message) -> bool:
    return bool(message.parts) and isinstance(message.parts[0], ToolResult)


def _named(result: Json, key: str) -> ToolResult:
    named: ToolResult = result if result.call_id == key else msgspec.structs.replace(result, call_id=key)
    return named
