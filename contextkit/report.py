"""What a compaction says about itself: to people as a table, to programs as JSON, on disk as a directory."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import glyphraster as gr
from contextkit import turns
from contextkit.codecs import Loaded
from contextkit.errors import RecallError
from contextkit.ladder import Plan, Result, does_not_fit
from contextkit.messages import Message
from contextkit.plaintext import plain_text
from contextkit.protocols import Step
from contextkit.recall import DirectoryRecallStore, Original
from contextkit.request import adaptations, build_request
from contextkit.rungs.snapshot import page_key, page_tokens
from contextkit.transcript import Transcript, save_transcript
from glyphraster.output import staged_directory, text_bytes, write_atomically

SCHEMA = "contextkit-report"
SCHEMA_VERSION = 1
_REPORT, _INPUT, _RECALL = "report.json", "recall/input", "recall"
_WRITTEN = re.compile(
    r"request\.json|source\.txt|transcript\.json|report\.json|pages(/page-\d+\.png)?|recall(/input|/r[0-9a-f]+\.json)?"
)
"""All that stands in an output directory; with anything else in it, it is no longer only ours to replace."""


def plan_report(plan: Plan, loaded: Loaded, *, name: str, raw: bytes) -> dict[str, Any]:
    """Return what a plan says, as JSON values."""
    budget, model = plan.budget, plan.budget.model
    return {
        "schema": SCHEMA,
        "version": SCHEMA_VERSION,
        "input": {
            "name": name,
            "form": loaded.form,
            "bytes": len(raw),
            "sha256": hashlib.sha256(raw).hexdigest(),
            "messages": len(plan.original.messages),
            "notes": list(loaded.notes),
        },
        "model": {
            "id": model.id,
            "route": model.route,
            "match": model.match,
            "wire": model.wire,
            "vision": model.vision,
            "page_profile": model.page.key,
        },
        "budget": {
            "window_tokens": budget.window_tokens,
            "reserve_tokens": budget.reserve_tokens,
            "limit_tokens": budget.limit_tokens,
            "trigger_tokens": budget.trigger_tokens,
            "target_tokens": budget.target_tokens,
        },
        "tokens_before": plan.tokens_before,
        "tokens_after": plan.tokens_after,
        "fits": plan.fits,
        "meets_target": plan.meets_target,
        "steps": [step_report(step) for step in plan.steps],
        "pages": [_page_report(page, plan) for page in plan.pages],
        "reading": reading_line(plan),
        "why_not": None if plan.fits else str(does_not_fit(plan)),
    }


def step_report(step: Step) -> dict[str, Any]:
    """Return what a step says, as JSON values."""
    return {
        "rung": step.rung,
        "tokens_before": step.tokens_before,
        "tokens_after": step.tokens_after,
        "refused": step.refused,
        "edits": [{name: getattr(edit, name) for name in edit.__slots__} for edit in step.edits],
    }


def step_rows(plan: Plan) -> list[tuple[str, str, int, int]]:
    """Return one row per step for a table: rung, what it took, tokens before and after."""
    return [(step.rung, _took(step), step.tokens_before, step.tokens_after) for step in plan.steps]


def reading_line(plan: Plan, directory: str = "DIR") -> str:
    """Say in one line what the model can no longer read exactly, on what evidence, and where the originals are."""
    reading = gr.reading_cell(plan.budget.model.id).statement if plan.pages else "Nothing is on pages."
    if not plan.originals:
        return f"{reading} Nothing was taken."
    return f"{reading} Everything taken is a handle away: contextkit recall {directory} HANDLE"


def write_output(result: Result, loaded: Loaded, out: Path, *, name: str, raw: bytes) -> dict[str, Any]:
    """Write request, pages, source, report, transcript and recall store to ``out``, all or nothing; return the report.

    Raises
    ------
    ArgumentError
        When something else than an earlier output stands at ``out``, or it cannot be written.
    RequestError
        When the request would be refused by its provider.
    """
    plan = result.plan
    request = build_request(result.conversation, plan.budget.model, max_tokens=max(1, plan.budget.reserve_tokens))
    report = plan_report(plan, loaded, name=name, raw=raw)
    encoded = json.dumps(request, ensure_ascii=False, allow_nan=False).encode("utf-8")
    met = plan.meets_target or result.tokens_after <= plan.budget.target_tokens
    report["input"]["notes"] += adaptations(result.conversation, plan.budget.model)
    report |= {"tokens_after": result.tokens_after, "meets_target": met, "request_bytes": len(encoded)}
    with staged_directory(out, _is_ours) as stage:
        write_atomically(stage / "request.json", encoded)
        write_atomically(stage / "source.txt", text_bytes(plan.source))
        _write_pages(result.pages, stage / "pages")
        _write_recall(result, raw, stage / _RECALL)
        report["transcript"] = _write_transcript(result, stage, name)
        write_atomically(stage / _REPORT, json.dumps(report, indent=1).encode("ascii"))
    return report


def restore(directory: Path) -> bytes:
    """Return the input of an earlier compaction as it was, byte for byte.

    Raises
    ------
    RecallError
        When the directory is no output of ours, or the kept input was altered.
    """
    report = _load_report(directory)
    try:
        raw = (directory / _INPUT).read_bytes()
    except OSError as error:
        raise RecallError(
            f"{directory / _INPUT} cannot be read: {error.strerror}; the original input is gone"
        ) from error
    digest = hashlib.sha256(raw).hexdigest()
    if digest != report["input"]["sha256"]:
        raise RecallError(
            f"{directory / _INPUT} was altered: its SHA-256 is {digest[:16]}…, the report says "
            f"{report['input']['sha256'][:16]}…"
        )
    return raw


def recall_store(directory: Path) -> DirectoryRecallStore:
    """Return the store of originals in an output directory."""
    _load_report(directory)
    return DirectoryRecallStore(directory / _RECALL)


def original_text(original: Original) -> str:
    """Return an original as text for people; its JSON is exact."""
    messages = original.messages or (Message(role="user", parts=original.parts),)
    return plain_text(messages) + "\n"


def _load_report(directory: Path) -> dict[str, Any]:
    try:
        report = json.loads((directory / _REPORT).read_bytes())
    except (OSError, ValueError) as error:
        raise RecallError(
            f"{directory} is no output of `contextkit compact`: its {_REPORT} cannot be read ({error}); give the "
            "directory that --out named"
        ) from error
    is_report = isinstance(report, dict) and (report.get("schema"), report.get("version")) == (SCHEMA, SCHEMA_VERSION)
    if not is_report or not isinstance(report.get("input"), dict) or "sha256" not in report["input"]:
        raise RecallError(f"{directory / _REPORT} is no report of version {SCHEMA_VERSION} of {SCHEMA}")
    found: dict[str, Any] = report
    return found


def _is_ours(directory: Path) -> bool:
    try:
        _load_report(directory)
    except RecallError:
        return False
    inside = (entry.relative_to(directory).as_posix() for entry in directory.rglob("*"))
    return all(_WRITTEN.fullmatch(name) for name in inside)


def _took(step: Step) -> str:
    if step.refused:
        return f"refused: {step.refused}"
    if not step.edits:
        return "nothing to take"
    middles = ", ".join(edit.what for edit in step.edits if edit.action in ("snapshot", "summarise"))
    counts = Counter(edit.reason for edit in step.edits if edit.action not in ("snapshot", "summarise"))
    said = (
        [f"{middles} on {len(step.pages)} page(s), {len(step.source):,} characters"]
        if step.pages
        else [middles] * bool(middles)
    )
    return "; ".join([*said, *(f"{count} x {reason}" for reason, count in counts.most_common())])


def _page_report(page: gr.Page, plan: Plan) -> dict[str, Any]:
    return {
        "file": f"pages/{page_key(page)}.png",
        "height_px": page.geometry.height_px,
        "width_px": page.geometry.width_px,
        "start": page.start,
        "stop": page.stop,
        "tokens": page_tokens(page, plan.budget),
    }


def _write_pages(pages: Sequence[gr.Page], directory: Path) -> None:
    directory.mkdir()
    for page in pages:
        write_atomically(directory / f"{page_key(page)}.png", page.png("gray1"))


def _write_recall(result: Result, raw: bytes, directory: Path) -> None:
    directory.mkdir(mode=0o700)
    write_atomically(directory / Path(_INPUT).name, raw)
    store = DirectoryRecallStore(directory)
    for original in result.originals.values():
        store.put(original)


def _write_transcript(result: Result, stage: Path, name: str) -> str | None:
    """Save the transcript, unless the session ends in the middle of a turn, which no transcript ever does."""
    groups = turns.groups(result.conversation.messages)
    if groups and groups[-1].has_open_call:
        return None
    save_transcript(
        Transcript(conversation_id=Path(name).stem, agent="main", conversation=result.conversation, recall=_RECALL),
        stage / "transcript.json",
    )
    return "transcript.json"
