"""Rung 1: old tool results in which nothing happened become one line each. Free; every word of the narrative stays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from contextkit import turns
from contextkit.messages import Conversation, Image, Opaque, Text, ToolCall, ToolResult
from contextkit.plaintext import result_text
from contextkit.protocols import Budget, Step
from contextkit.recall import Original
from contextkit.rungs.rewrite import Taken, calls_by_id, part_step

READ_TOOLS = frozenset({"read", "read_file", "readfile", "view", "view_file", "cat", "open_file", "notebookread"})
WRITE_TOOLS = frozenset(
    {
        "write",
        "write_file",
        "edit",
        "edit_file",
        "multiedit",
        "str_replace",
        "create_file",
        "apply_patch",
        "notebookedit",
    }
)
PATH_ARGUMENTS = ("path", "file_path", "filename", "file", "notebook_path")
PART_ARGUMENTS = ("offset", "limit", "start", "end", "start_line", "end_line", "view_range", "lines", "pages")

_NOTHING_FOUND = re.compile(
    r"\s*\(?(?:no (?:matches|results|files|output)(?: were)?(?: found)?|0 (?:matches|results)|nothing found)"
    r"(?: (?:for|in|matching|with|under)\b[^\n;:,]{0,200})?[.!)]*\s*",
    re.I,
)
_WRITTEN = re.compile(
    r"\s*(?:successfully|file (?:created|written|updated|saved)|(?:created|wrote|updated|applied|edited|replaced)\b|"
    r"the file [^\n]* has been (?:created|updated|written)|todos have been modified|ok\b|done\b)[^\n]*\s*",
    re.I,
)

_STAND_IN = re.compile(r"\[elided: [\d,]+ characters that .* returned; .*; recall r[0-9a-f]{16}\]", re.S)
"""What :func:`elided` writes; another line for it would be no shorter, and its handle would name this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A successful result with its call, and the successful ones that came later."""

    call: ToolCall
    text: str
    later: tuple[tuple[ToolCall, str], ...]


def _empty(candidate: Candidate) -> bool:
    return not candidate.text.strip()


def _nothing_found(candidate: Candidate) -> bool:
    return bool(_NOTHING_FOUND.fullmatch(candidate.text))


def _only_confirms(candidate: Candidate) -> bool:
    return candidate.call.name.lower() in WRITE_TOOLS and bool(_WRITTEN.fullmatch(candidate.text))


def _repeated(candidate: Candidate) -> bool:
    return any(
        call.name == candidate.call.name and call.arguments == candidate.call.arguments and text == candidate.text
        for call, text in candidate.later
    )


def _superseded(candidate: Candidate) -> bool:
    path = _path(candidate.call)
    if path is None or candidate.call.name.lower() not in READ_TOOLS:
        return False
    return any(
        call.name.lower() in READ_TOOLS
        and _path(call) == path
        and (call.arguments == candidate.call.arguments or not any(name in call.arguments for name in PART_ARGUMENTS))
        for call, _ in candidate.later
    )


RULES: tuple[tuple[str, Callable[[Candidate], bool]], ...] = (
    ("no output", _empty),
    ("nothing found", _nothing_found),
    ("the write succeeded", _only_confirms),
    ("superseded by a later read", _superseded),
    ("repeated word for word later", _repeated),
)
"""Why a result is uneventful, and the test; the first that holds is the reason given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elide:
    """Replace uneventful results by a line that names tool, target, size and handle.

    Never taken: errors, pictures, open calls, protected groups, and a result whose line would not be shorter.
    """

    name: str = "elide"

    def plan(self, conversation: Conversation, budget: Budget) -> Step:
        """Say which results would go."""
        kept = turns.protected(conversation.messages, budget.estimator, budget.tail_tokens)
        taken = [item for item in _uneventful(conversation) if not kept[item.message]]
        return part_step(
            self.name, conversation, budget, [item for item in taken if _shrinks(item, conversation, budget)]
        )


def _shrinks(item: Taken, conversation: Conversation, budget: Budget) -> bool:
    result = conversation.messages[item.message].parts[item.part]
    return budget.estimator.part(item.replacement) < budget.estimator.part(result)


def _uneventful(conversation: Conversation) -> Iterator[Taken]:
    """Yield uneventful results, newest first: each is compared with those after it."""
    calls = calls_by_id(conversation.messages)
    later: dict[str, list[tuple[ToolCall, str]]] = {}
    for at in range(len(conversation.messages) - 1, -1, -1):
        parts = conversation.messages[at].parts
        for place in range(len(parts) - 1, -1, -1):
            result = parts[place]
            if not isinstance(result, ToolResult) or result.call_id not in calls or _stays(result):
                continue
            call, text = calls[result.call_id], result_text(result)
            alike = later.setdefault(_path(call) or call.name, [])
            reason = next(
                (reason for reason, holds in RULES if holds(Candidate(call=call, text=text, later=tuple(alike)))), None
            )
            alike.append((call, text))
            if reason:
                yield _taken(at, place, result, call, text, reason)


def _stays(result: ToolResult) -> bool:
    """Say whether a result is an error, holds more than text, or is a stand-in already."""
    holds_more = any(isinstance(part, Image | Opaque) for part in result.content)
    return result.is_error or holds_more or bool(_STAND_IN.fullmatch(result_text(result)))


def _taken(at: int, place: int, result: ToolResult, call: ToolCall, text: str, reason: str) -> Taken:
    return Taken(
        message=at,
        part=place,
        replacement=elided(result, call, len(text), reason),
        action="elide",
        what=f"result of {call.name} {target(call)}".rstrip(),
        reason=reason,
    )


def elided(result: ToolResult, call: ToolCall, chars: int, reason: str) -> ToolResult:
    """Return the one-line stand-in of a result: deterministic, and not to be mistaken for something the tool said."""
    handle = Original(parts=(result,)).handle
    line = (
        f"[elided: {chars:,} characters that {call.name} {target(call)}".rstrip()
        + f" returned; {reason}; recall {handle}]"
    )
    return ToolResult(call_id=result.call_id, content=(Text(text=line),))


def target(call: ToolCall) -> str:
    """Name what a call was about: its path, or the start of its first argument."""
    value = _path(call) or next(iter(call.arguments.values()), "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"


def _path(call: ToolCall) -> str | None:
    return next((value for name in PATH_ARGUMENTS if isinstance(value := call.arguments.get(name), str)), None)
