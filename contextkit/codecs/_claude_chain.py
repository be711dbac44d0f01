"""Which records of a Claude Code session make up its conversation, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from contextkit.codecs._anthropic_blocks import read_content
from contextkit.codecs._fit import Counts
from contextkit.codecs._tree import walk
from contextkit.codecs.jsonl import Record
from contextkit.messages import AnyPart, ToolResult


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
    """The records of one session, by place in the file.

    Attributes
    ----------
    used
        Records that the conversation is made of.
    broken
        Lines of messages without readable content.
    counts
        What was left out.
    """

    def __init__(self, records: Sequence[Record], damaged: Sequence[int]) -> None:
        self.records, self.damaged = records, damaged
        self.used: set[int] = set()
        self.broken: list[int] = []
        self.counts: Counts = Counter()
        self.spoken = {at: said for at, record in enumerate(records) if (said := self.read(record)) is not None}
        self.live = self.last_occurrences()
        self.by_uuid = {self.value(at)["uuid"]: at for at in self.live if isinstance(self.value(at).get("uuid"), str)}

    def value(self, at: int) -> dict[str, Any]:
        return self.records[at].value

    def read(self, record: Record) -> Said | None:
        """Return what a record says; a broken one is written down and says nothing."""
        if record.value.get("type") not in ("user", "assistant"):
            return None
        message = record.value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else content
        parts = read_content(blocks) if isinstance(blocks, str | list) else ()
        if parts:
            return Said(record, parts)
        self.broken.append(record.line)
        return None

    def last_occurrences(self) -> list[int]:
        """Return the records in file order, of several with one uuid the last that can be read."""
        last: dict[Any, int] = {}
        for at in self.linked():
            last[self.value(at).get("uuid") or at] = at
        return sorted(last.values())

    def linked(self) -> Iterator[int]:
        """Yield the records that can be part of a chain: messages that can be read, and other records with a uuid."""
        for at, record in enumerate(self.records):
            if at in self.spoken or (record.value.get("type") not in ("user", "assistant") and isinstance(record.value.get("uuid"), str)):
                yield at

    def said(self) -> Iterator[Said]:
        """Yield the messages of the conversation in order, all blocks and results in their place."""
        main = [at for at in self.live if at in self.spoken and not self.value(at).get("isSidechain")]
        main = main or [at for at in self.live if at in self.spoken]
        order = self.with_siblings(self.path(main), main) if self.has_links(main) else main
        self.used = set(order)
        self.counts["message(s) of side chains and left branches not part of the conversation"] += len(set(self.live) & set(self.spoken)) - len(order)
        return (self.spoken[at] for at in order)

    def has_links(self, main: list[int]) -> bool:
        """Return whether any message names a parent that is in the file; else the file is linear."""
        return any(self.value(at).get("parentUuid") in self.by_uuid for at in main)

    def path(self, main: list[int]) -> list[int]:
        """Return the messages from the root to the newest one that is not meta."""
        leaf = next((at for at in reversed(main) if not self.value(at).get("isMeta")), main[-1])
        side = bool(self.value(leaf).get("isSidechain"))
        walked = [at for at in self.live if bool(self.value(at).get("isSidechain")) == side]
        lines = {at: self.records[at].line for at in walked}
        by_uuid = {key: at for key, at in self.by_uuid.items() if at in lines}
        found = walk(leaf, by_uuid, self.parents(walked), lines, self.damaged)
        return [at for at in found if at in self.spoken]

    def parents(self, walked: list[int]) -> dict[int, Any]:
        """Return the parent of every record, as compactions changed it."""
        parents: dict[int, Any] = {at: self.value(at).get("parentUuid") for at in walked}
        for at in walked:
            if self.value(at).get("subtype") == "compact_boundary":
                self.relink(self.value(at), parents)
        return parents

    def relink(self, boundary: dict[str, Any], parents: dict[int, Any]) -> None:
        """Hang the messages that a compaction kept under its summary, and what followed the summary under them."""
        anchor, kept = _preserved(boundary)
        spots = [self.by_uuid[key] for key in kept if key in self.by_uuid and self.by_uuid[key] in parents]
        if anchor not in self.by_uuid or not spots:
            return
        for at, parent in parents.items():
            if parent == anchor and at > self.by_uuid[anchor] and at not in spots:
                parents[at] = self.value(spots[-1])["uuid"]
        for at, parent in zip(spots, (anchor, *(self.value(spot)["uuid"] for spot in spots)), strict=False):
            parents[at] = parent

    def with_siblings(self, path: list[int], main: list[int]) -> list[int]:
        """Put back the other blocks of each answer, and the results of its calls, that hang beside the way."""
        on_path = set(path)
        blocks: dict[str, list[int]] = {}
        results: dict[Any, list[int]] = {}
        for at in main:
            said = self.spoken[at]
            if said.message_id is not None:
                blocks.setdefault(said.message_id, []).append(at)
            elif said.role == "user" and any(isinstance(part, ToolResult) for part in said.parts):
                results.setdefault(self.value(at).get("parentUuid"), []).append(at)
        order: dict[int, None] = {}
        for at in path:
            group = blocks.get(self.spoken[at].message_id or "", [at])
            order |= dict.fromkeys(group)
            answers = (answer for block in group for answer in results.get(self.value(block).get("uuid"), ()))
            order |= dict.fromkeys(sorted(answer for answer in answers if answer in on_path or self.spoken[answer].is_results))
        return list(order)


def _preserved(boundary: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return the anchor (the summary) and the uuids, in order, of the messages that a compaction kept."""
    told = boundary.get("compactMetadata")
    told = told if isinstance(told, dict) else {}
    messages, segment = told.get("preservedMessages"), told.get("preservedSegment")
    if isinstance(messages, dict) and isinstance(messages.get("uuids"), list):
        return messages.get("anchorUuid"), messages["uuids"]
    return (segment.get("anchorUuid"), [segment.get("headUuid")]) if isinstance(segment, dict) else (None, [])
