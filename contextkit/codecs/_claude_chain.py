"""Which records of a Claude Code session make up its conversation, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from contextkit.codecs._anthropic_blocks import read_content
from contextkit.codecs._fit import Counts
from contextkit.codecs._json import Json
from contextkit.codecs._tree import walk
from contextkit.codecs.jsonl import Record
from contextkit.messages import AnyPart, ToolCall, ToolResult

_SPEAKERS = ("user", "assistant")
_ASIDE = "message(s) not part of the conversation: side chains, left branches, before a compaction"


@dataclass(frozen=True, slots=True)
class Said:
    """A record that says something to or from the model."""

    record: Record
    parts: tuple[AnyPart, ...]

    @property
    def role(self) -> str:
        """``user`` or ``assistant``."""
        return str(self.record.value["type"])

    @property
    def message_id(self) -> str | None:
        """Id of the answer that the record is a block of."""
        key = self.record.value["message"].get("id")
        return key if isinstance(key, str) and self.role == "assistant" else None

    @property
    def is_results(self) -> bool:
        """Whether it holds tool results and nothing else."""
        return all(isinstance(part, ToolResult) for part in self.parts)

    @property
    def usage(self) -> dict[str, Any] | None:
        """What the provider counted."""
        usage = self.record.value["message"].get("usage")
        return usage if isinstance(usage, dict) else None


class Chain:
    """The records of one session, by their place in the file.

    Attributes
    ----------
    broken
        Lines of messages without readable content.
    counts
        What was left out.
    """

    def __init__(self, records: Sequence[Record], damaged: Sequence[int]) -> None:
        self.records, self.damaged = records, damaged
        self.broken: list[int] = []
        self.counts: Counts = Counter()
        self.spoken = {at: said for at, record in enumerate(records) if (said := self._read(record)) is not None}
        self.live = self._last_occurrences()
        self.by_uuid = {key: at for at in self.live if (key := self.uuid(at)) is not None}

    def value(self, at: int) -> dict[str, Any]:
        return self.records[at].value

    def uuid(self, at: int) -> str | None:
        key = self.value(at).get("uuid")
        return key if isinstance(key, str) else None

    def parent(self, at: int) -> str | None:
        key = self.value(at).get("parentUuid")
        return key if isinstance(key, str) else None

    def _read(self, record: Record) -> Said | None:
        """Return what a record says; a broken one is written down and says nothing."""
        if record.value.get("type") not in _SPEAKERS:
            return None
        message = record.value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else content
        parts = read_content(blocks) if isinstance(blocks, str | list) else ()
        if parts:
            return Said(record, parts)
        self.broken.append(record.line)
        return None

    def _last_occurrences(self) -> list[int]:
        """Return the records that can be part of a chain, in file order; of several with one uuid the last."""
        last: dict[Any, int] = {}
        for at, record in enumerate(self.records):
            if at in self.spoken or (record.value.get("type") not in _SPEAKERS and self.uuid(at) is not None):
                last[self.uuid(at) or at] = at
        return sorted(last.values())

    def order(self) -> list[int]:
        """Return the messages of the conversation in order, all blocks and results in their place."""
        heard = [at for at in self.live if at in self.spoken]
        main = [at for at in heard if not self.value(at).get("isSidechain")] or heard
        order = self._with_siblings(self._messages_on_path(main), main) if self._has_links(main) else main
        self.counts[_ASIDE] += len(heard) - len(order)
        return order

    def _has_links(self, main: list[int]) -> bool:
        """Return whether any message names a parent that is in the file; else the file is linear."""
        return any(self.parent(at) in self.by_uuid for at in main)

    def _messages_on_path(self, main: list[int]) -> list[int]:
        """Return the messages from the root to the newest one that is not meta."""
        leaf = next((at for at in reversed(main) if not self.value(at).get("isMeta")), main[-1])
        side = bool(self.value(leaf).get("isSidechain"))
        walked = [at for at in self.live if bool(self.value(at).get("isSidechain")) == side]
        lines = {at: self.records[at].line for at in walked}
        by_uuid = {key: at for key, at in self.by_uuid.items() if at in lines}
        path = walk(leaf, by_uuid, self._parents(walked), lines, self.damaged)
        return [at for at in path if at in self.spoken]

    def _parents(self, walked: list[int]) -> dict[int, str | None]:
        """Return the parent of every record, as compactions changed it."""
        parents = {at: self.parent(at) for at in walked}
        for at in self.boundaries():
            self._relink(self.value(at), parents)
        return parents

    def boundaries(self) -> list[int]:
        """Return the compactions, in file order."""
        return [at for at in self.live if self.value(at).get("subtype") == "compact_boundary"]

    def _relink(self, boundary: dict[str, Any], parents: dict[int, str | None]) -> None:
        """Hang the messages that a compaction kept under its summary, and what followed the summary under them."""
        anchor, kept, tail = preserved(boundary)
        spots = [self.by_uuid[key] for key in kept if self.by_uuid.get(key) in parents]
        if anchor not in self.by_uuid or not spots:
            return
        inside = {*spots, self.by_uuid.get(tail)}
        followers = (at for at, parent in parents.items() if parent == anchor and at > self.by_uuid[anchor])
        parents |= dict.fromkeys([at for at in followers if at not in inside], tail)
        parents |= dict(zip(spots, (anchor, *map(self.uuid, spots)), strict=False))

    def _with_siblings(self, path: list[int], main: list[int]) -> list[int]:
        """Put back the other blocks of each answer, and the results of its calls, that hang beside the way."""
        blocks: dict[str | None, list[int]] = {}
        results: dict[str, list[int]] = {}
        for at in main:
            blocks.setdefault(self.spoken[at].message_id, []).append(at)
            for key in self._answered(at):
                results.setdefault(key, []).append(at)
        order, on_path = dict[int, None](), set(path)
        for at in path:
            answer = self.spoken[at].message_id
            group = [at] if answer is None else blocks[answer]
            order |= dict.fromkeys(group)
            order |= dict.fromkeys(self._answers(group, results, on_path))
        return list(order)

    def _answered(self, at: int) -> Iterator[str]:
        return (part.call_id for part in self.spoken[at].parts if isinstance(part, ToolResult))

    def _answers(self, group: list[int], results: dict[str, list[int]], path: set[int]) -> list[int]:
        """Return the results of a group's calls, those on the way first where a call has several."""
        found: set[int] = set()
        for part in (part for at in group for part in self.spoken[at].parts if isinstance(part, ToolCall)):
            answers = results.get(part.id, [])
            found.update([at for at in answers if at in path] or [at for at in answers if self.spoken[at].is_results])
        return sorted(found)

    def kept_by_compaction(self) -> set[str]:
        """Return the uuids of messages that were there before the last compaction."""
        last = max(self.boundaries(), default=0)
        older = {key for at in range(last) if (key := self.uuid(at)) is not None}
        return older | set(preserved(self.value(last))[1] if self.boundaries() else ())


def preserved(boundary: dict[str, Any]) -> tuple[str, list[str], str]:
    """Return the anchor (the summary), the uuids of the messages that a compaction kept, and the last of those.

    A compaction that tells only the ends of what it kept gives the first one as the only uuid.
    """
    told = _object(boundary.get("compactMetadata"))
    messages, segment = _object(told.get("preservedMessages")), _object(told.get("preservedSegment"))
    listed = messages.get("uuids")
    kept = [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
    if kept:
        return str(messages.get("anchorUuid")), kept, kept[-1]
    head = str(segment.get("headUuid"))
    return str(segment.get("anchorUuid")), [head], str(segment.get("tailUuid") or head)


def _object(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
