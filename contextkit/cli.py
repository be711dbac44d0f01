"""The ``contextkit`` command: arguments in, one library call, text out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from contextkit import codecs, report
from contextkit.codecs._loading import read_file
from contextkit.errors import ArgumentError, ContextkitError
from contextkit.ladder import RUNG_NAMES, Plan, apply, does_not_fit, plan
from contextkit.summarizers import named_summarizer
from glyphraster.commandline import run_command
from glyphraster.output import write_atomically

app = typer.Typer(
    help="Keep a long conversation inside its model's context window.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command()
def compact(
    session: Annotated[
        Path,
        typer.Argument(
            help="A request (Anthropic Messages, OpenAI Chat) or a session log (Claude Code, pi), told by content."
        ),
    ],
    model: Annotated[str, typer.Option(help="Model id as the route spells it.")],
    route: Annotated[
        str | None, typer.Option(help="The API that carries the request; its maker's own by default.")
    ] = None,
    window: Annotated[int | None, typer.Option(help="Context window in tokens; the model's own by default.")] = None,
    threshold: Annotated[float, typer.Option(help="Share of the limit above which the ladder acts.")] = 0.8,
    rungs: Annotated[str, typer.Option(help="Rungs to try, in order.")] = ",".join(RUNG_NAMES),
    summarizer: Annotated[str | None, typer.Option(help="openai, anthropic, extractive or module:callable.")] = None,
    summarizer_model: Annotated[
        str | None, typer.Option(help="Model that the openai or anthropic summariser asks.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Base URL of the summariser's API.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output directory; by default the session's name with -compact, here.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Make a session fit.  Example: contextkit compact session.jsonl --model claude-opus-4-8 --window 60000.

    Exit codes: 0 it fits (a warning when above the target), 2 bad usage or unreadable input, 3 it cannot fit.
    """
    raw = read_file(session)
    loaded = codecs.load_bytes(raw, name=str(session))
    injected = named_summarizer(summarizer, model=summarizer_model, base_url=base_url) if summarizer else None
    names = [name.strip() for name in rungs.split(",") if name.strip()]
    planned = plan(
        loaded.conversation, model, route=route, window=window, threshold=threshold, rungs=names, summarizer=injected
    )
    said = report.plan_report(planned, loaded, name=session.name, raw=raw)
    target = _target(out, session)
    if planned.fits and not dry_run:
        said = report.write_output(apply(planned), loaded, target, name=session.name, raw=raw)
    if as_json:
        typer.echo(json.dumps(said, indent=1))
    else:
        _print(planned, said, None if dry_run else target)
    if not planned.fits:
        raise does_not_fit(planned)


@app.command()
def restore(
    directory: Annotated[Path, typer.Argument(help="Output directory of an earlier compact.")],
    out: Annotated[Path | None, typer.Option(help="Write the file here instead of to standard output.")] = None,
) -> None:
    """Give back the conversation, byte for byte.  Example: contextkit restore session-compact --out session.jsonl."""
    _write(report.restore(directory), out)


@app.command()
def recall(
    directory: Annotated[Path, typer.Argument(help="Output directory of an earlier compact.")],
    handle: Annotated[str | None, typer.Argument(help="A handle; without one, all handles are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it exactly, as JSON.")] = False,
) -> None:
    """Print an original by its handle.  Example: contextkit recall session-compact r0123456789abcdef."""
    store = report.recall_store(directory)
    if handle is None:
        for held in store.handles():
            typer.echo(held)
    elif as_json:
        typer.echo(json.dumps(msgspec.to_builtins(store.get(handle)), indent=1))
    else:
        _write(report.original_text(store.get(handle)).encode("utf-8", "surrogatepass"), None)


def _target(out: Path | None, session: Path) -> Path:
    """Return where the output goes: never over the directory that holds the session, whose originals would be lost."""
    target = out or Path(f"{session.stem}-compact")
    if target.resolve() in session.resolve().parents:
        raise ArgumentError(f"--out {target} holds {session} itself, and writing would replace it: name another place")
    return target


def _print(planned: Plan, said: dict[str, Any], target: Path | None) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console, budget = Console(highlight=False, soft_wrap=True), planned.budget
    table = Table("rung", title=None)
    table.add_column("what it took", overflow="fold")
    for column in ("tokens before", "tokens after"):
        table.add_column(column, justify="right", no_wrap=True)
    for rung, took, before, after in report.step_rows(planned):
        table.add_row(escape(rung), escape(took), f"{before:,}", f"{after:,}")
    for note in said["input"]["notes"]:
        console.print(f"note: {note}", markup=False)
    console.print(
        f"{said['input']['form']}, {said['input']['messages']} messages, about {planned.tokens_before:,} tokens; "
        f"{budget.model.id} "
        f"({budget.model.match}): window {budget.window_tokens:,}, limit {budget.limit_tokens:,}, acts above "
        f"{budget.trigger_tokens:,}, aims at "
        f"{budget.target_tokens:,}",
        markup=False,
    )
    if planned.steps:
        console.print(table)
    else:
        console.print("nothing to do: it is below the trigger")
    if not planned.fits:
        return
    console.print(report.reading_line(planned, str(target or "DIR")), markup=False)
    if not said["meets_target"]:
        console.print(
            f"warning: {said['tokens_after']:,} tokens fit the limit of {budget.limit_tokens:,} but stay above the "
            "target of "
            f"{budget.target_tokens:,}",
            markup=False,
        )
    if target is not None:
        pages = f"; {len(said['pages'])} page(s) in {target / 'pages'}" if said["pages"] else ""
        console.print(
            f"about {said['tokens_after']:,} tokens, ready to POST: {target / 'request.json'}{pages}", markup=False
        )


def _write(content: bytes, out: Path | None) -> None:
    if out is not None:
        write_atomically(out, content)
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def main() -> None:
    """Run the command line; deliberate errors become one line on standard error and their exit code."""
    run_command(app, "contextkit", ContextkitError)


if __name__ == "__main__":
    main()
