"""The ``glyphraster`` command: arguments in, one library call, text out."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import glyphraster as gr
from glyphraster.cells import escape_cost
from glyphraster.clean import cleaned
from glyphraster.commandline import run_command
from glyphraster.errors import EXIT_BAD_INPUT, EXIT_CHECK_FAILED, ArgumentError
from glyphraster.files import FileResult, RenderOptions, holds_only_pages, write_pages
from glyphraster.output import staged_directory, text_bytes, write_atomically

if TYPE_CHECKING:
    from glyphraster.bench import Absent, EngineSpeed

app = typer.Typer(
    help="Turn text into dense pages of pixel glyphs, and back.", no_args_is_help=True, pretty_exceptions_enable=False
)
font_app = typer.Typer(help="Build and look at bitmap fonts.")
app.add_typer(font_app, name="font")


FontsOfYourOwn = Annotated[
    list[str] | None, typer.Option(help="Path of a font that the pages were drawn with and that is not shipped.")
]


@app.command()
def render(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Any files; bytes that are not UTF-8 survive as well.")
    ],
    model: Annotated[str, typer.Option(help="Model id as the route spells it.")],
    out: Annotated[
        Path, typer.Option(help="Directory for page-001.png and on; of several files each gets one of its own in it.")
    ],
    route: Annotated[
        str | None, typer.Option(help="The API that carries the request; its maker's own by default.")
    ] = None,
    layout: Annotated[str, typer.Option(help="flow, lines or columns.")] = "flow",
    tier: Annotated[str, typer.Option(help="auto, dense or legible.")] = "auto",
    scale: Annotated[int | None, typer.Option(help="Side of a glyph pixel in px; that of the tier by default.")] = None,
    font: Annotated[
        list[str] | None,
        typer.Option(help="A font's name or path; give it again for fallbacks, such as a taller one with CJK."),
    ] = None,
    pitch: Annotated[
        str | None, typer.Option(help="Glyph px from row to row x from column to column, as in 9x5; the font's cell.")
    ] = None,
    caption: Annotated[str | None, typer.Option(help="Label of a caption row with page and source lines.")] = None,
    line_numbers: Annotated[bool, typer.Option("--line-numbers", help="Number the lines; for --layout lines.")] = False,
    clean: Annotated[str | None, typer.Option(help="terminal or typographic: readable, no longer exact.")] = None,
    engine: Annotated[str, typer.Option(help="auto, numba or numpy.")] = "auto",
    workers: Annotated[int | None, typer.Option(min=1, help="Threads that draw; one a core by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON report.")] = False,
) -> None:
    """Draw files on pages.  Example: glyphraster render notes.txt --model claude-fable-5 --out pages."""
    options = RenderOptions(
        route=route,
        layout=layout,
        tier=tier,  # type: ignore[typeddict-item]  # checked there
        fonts=font or None,
        scale=scale,
        pitch_px=_pitch_px(pitch),
        caption=caption,
        line_numbers=line_numbers,
        clean=clean,
        engine=engine,  # type: ignore[typeddict-item]  # checked there
    )
    if len(files) > 1:
        bar = sys.stderr.isatty() and not as_json
        _report(gr.render_files(files, out, model, workers=workers, progress=bar, **options), as_json=as_json)
        return
    text = _read_text(files[0])
    pages = _written(files[0], gr.render(text, model, **options), out, workers)
    said = _figures_of(pages, gr.page_profile(model, route)) | {"characters": len(text), "out": str(out)}
    drawn = cleaned(text, clean).text if clean else text
    said["escaped_characters"], said["escape_cells"] = escape_cost(drawn, pages[0].font)
    typer.echo(json.dumps(said) if as_json else _rendered(said, model, _forced(tier, scale, pitch)))


def _written(file: Path, pages: list[gr.Page], out: Path, workers: int | None) -> list[gr.Page]:
    if not pages:
        raise ArgumentError(f"{file} is empty in the view that was asked for: there is nothing to draw")
    with staged_directory(out, holds_only_pages) as stage:
        write_pages(pages, stage, workers=workers)
    return pages


def _figures_of(pages: list[gr.Page], profile: gr.PageProfile) -> dict[str, Any]:
    tokens = sum(profile.tokens(height_px=page.geometry.height_px, width_px=page.geometry.width_px) for page in pages)
    drawn = {"pages": len(pages), "font": pages[0].font.name, "changed_characters": pages[0].changed_chars}
    return drawn | {"tokens": tokens, "profile": profile.key, "match": profile.match}


def _forced(tier: str, scale: int | None, pitch: str | None) -> str:
    forced = [tier] * (tier != "auto") + [f"scale {scale}"] * (scale is not None) + [f"pitch {pitch}"] * bool(pitch)
    return ", ".join(forced)


def _report(results: list[FileResult], *, as_json: bool) -> None:
    """Say what became of each file: those drawn on standard output, those that failed on standard error."""
    if as_json:
        typer.echo(json.dumps([_said(result) for result in results]))
    for result in results:
        if result.error:
            typer.echo(f"glyphraster: {result.path}: {' '.join(str(result.error).splitlines())}", err=True)
        elif not as_json:
            drawn = f"{result.characters:,} characters on {result.pages} page(s)"
            typer.echo(f"{result.path}: {drawn} in {result.directory}")
    if any(result.error for result in results):
        raise typer.Exit(EXIT_BAD_INPUT)


def _said(result: FileResult) -> dict[str, Any]:
    numbers = {"pages": result.pages, "characters": result.characters}
    error = None if result.error is None else str(result.error)
    return {"file": str(result.path), "out": str(result.directory), **numbers, "error": error}


def _pitch_px(pitch: str | None) -> tuple[int, int] | None:
    if pitch is None:
        return None
    if not (sides := re.fullmatch(r"(\d+)x(\d+)", pitch)):
        raise ArgumentError(f"--pitch must be glyph px from row to row x from column to column, as 9x5, got {pitch!r}")
    return int(sides[1]), int(sides[2])


def _rendered(said: dict[str, Any], model: str, forced: str) -> str:
    """Return what was drawn, what a view changed, what could only be escaped, on what evidence, a line each."""
    statement = gr.reading_cell(model).statement
    reading = f"The cell was forced ({forced}); evidence for {model}: {statement}" if forced else statement
    escaped = (
        f"{said['escaped_characters']:,} characters have no glyph in {said['font']} and take {said['escape_cells']:,} "
        "cells as escapes; --font, once more for each fallback, names fonts that have them\n"
    )
    changed = f"the view changed {said['changed_characters']:,} characters: read gives the view, not the file\n"
    return (
        f"{said['characters']:,} characters on {said['pages']} page(s) in {said['out']}: {said['tokens']:,} image "
        f"tokens for {model} (profile {said['profile']}, {said['match']})\n"
        f"{changed if said['changed_characters'] else ''}{escaped if said['escaped_characters'] else ''}{reading}"
    )


@app.command()
def read(
    pages: Annotated[list[Path], typer.Argument(help="The PNG files, in any order.")],
    out: Annotated[Path | None, typer.Option(help="Write the text here instead of to standard output.")] = None,
    partial: Annotated[bool, typer.Option(help="Read pages that do not start at the beginning.")] = False,
    font: FontsOfYourOwn = None,
) -> None:
    """Give back the exact text of pages.  Example: glyphraster read pages/page-*.png > notes.txt."""
    content = text_bytes(gr.read(pages, fonts=font or None, partial=partial))
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_atomically(out, content)


@app.command()
def verify(
    source: Annotated[Path, typer.Argument(help="The file that the pages should hold.")],
    pages: Annotated[list[Path], typer.Argument(help="The PNG files, in any order.")],
    clean: Annotated[str | None, typer.Option(help="The view that the pages were drawn through.")] = None,
    font: FontsOfYourOwn = None,
) -> None:
    """Prove that pages hold a file, else exit with code 1.  Example: glyphraster verify notes.txt pages/*.png."""
    text = _read_text(source)
    expected, found = cleaned(text, clean).text if clean else text, gr.read(pages, fonts=font or None)
    if found == expected:
        typer.echo(f"{len(pages)} page(s) hold all {len(expected):,} characters of {source}, and nothing else")
        return
    pairs = enumerate(zip(expected, found, strict=False))
    part = next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(expected), len(found)))
    sizes = f"the pages hold {len(found):,} characters, {source} {len(expected):,}"
    typer.echo(f"{sizes}; they part at character {part:,}")
    raise typer.Exit(EXIT_CHECK_FAILED)


@app.command()
def warmup(
    font: Annotated[
        list[str] | None, typer.Option(help="A font's name or path, once more for each; all shipped ones by default.")
    ] = None,
    scale: Annotated[list[int] | None, typer.Option(min=1, help="Once more for each; 1 and 2 by default.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit code 1 if a kernel is missing.")] = False,
) -> None:
    """Compile the kernels for long jobs ahead, for images and services.  Example: glyphraster warmup --check."""
    from glyphraster.warmup import warmup as warm

    warmth = warm(font or None, check=check, **({"scales": scale} if scale else {}))
    said = [f"{warmth.loaded} loaded", f"{warmth.kept} compiled and kept"]
    if warmth.lost:
        said.append(f"{warmth.lost} {'missing' if check else 'compiled but not kept: nothing can be written there'}")
    place = warmth.directory or "no directory: set NUMBA_CACHE_DIR"
    typer.echo(f"{warmth.kernels} kernels in {warmth.cpu_s:.1f} s of CPU time, in {place}: {', '.join(said)}")
    if warmth.lost:
        raise typer.Exit(EXIT_CHECK_FAILED)


@app.command()
def bench(
    file: Annotated[Path | None, typer.Argument(help="What to draw; by default this program's own source.")] = None,
    model: Annotated[str, typer.Option(help="Model id whose pages are drawn, at the dense tier.")] = "claude-fable-5",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON report.")] = False,
) -> None:
    """Say how fast pages are drawn and read here, and where the time goes.  Example: glyphraster bench."""
    from glyphraster.bench import EngineSpeed, own_source, speeds

    found = list(speeds(own_source() if file is None else _read_text(file), model))
    ran = [each for each in found if isinstance(each, EngineSpeed)]
    typer.echo(json.dumps([_figures(each) for each in found]) if as_json else _benched(found), nl=as_json)
    if not all(each.exact for each in ran):
        typer.echo("glyphraster: pages did not read back to the text that was drawn; report this", err=True)
        raise typer.Exit(EXIT_CHECK_FAILED)


def _figures(speed: EngineSpeed | Absent) -> dict[str, Any]:
    """Return what was measured as JSON values, what follows from it included."""
    derived = ("draw_chars_per_cpu_s", "read_chars_per_cpu_s", "bytes_per_char")
    return dataclasses.asdict(speed) | {name: getattr(speed, name) for name in derived if hasattr(speed, name)}


def _benched(found: list[EngineSpeed | Absent]) -> str:
    """Return a table of what each engine does, and of where its time goes."""
    from rich.console import Console
    from rich.table import Table

    from glyphraster.bench import Absent

    table = Table(title="on one core, CPU time")
    for name in ("engine", "text to PNG", "PNG to text", "bytes a character", "of drawing: cells", "pixels", "deflate"):
        table.add_column(name, justify="left" if name == "engine" else "right")
    for each in found:
        if isinstance(each, Absent):
            table.add_row(each.engine, "cannot run")
            continue
        rates = [f"{rate / 1e6:.1f} Mchar/s" for rate in (each.draw_chars_per_cpu_s, each.read_chars_per_cpu_s)]
        parts = [part / each.draw_cpu_s for part in (each.cells_cpu_s, each.pixels_cpu_s, each.deflate_cpu_s)]
        table.add_row(each.engine, *rates, f"{each.bytes_per_char:.2f}", *(f"{part:.0%}" for part in parts))
    out = io.StringIO()
    Console(file=out, width=100).print(table)
    notes = [each.reason for each in found if isinstance(each, Absent)]
    notes += [
        f"{each.chars:,} characters on {each.pages} page(s), drawn and read back exactly by {each.engine}"
        for each in found if not isinstance(each, Absent) and each.exact
    ]
    return out.getvalue() + "".join(f"{note}\n" for note in notes)


@font_app.command("build")
def font_build(
    source: Annotated[Path, typer.Argument(help="A .glyphs source, or a BDF of cells.")],
    out: Annotated[Path | None, typer.Option(help="The packed font; by default the one inside the package.")] = None,
) -> None:
    """Pack a font source.  Example: glyphraster font build fonts/glyph5x8.glyphs."""
    from glyphraster.source import build

    target = out or Path(__file__).parent / "data" / f"{source.stem}.npz"
    font = build(source, target)
    typer.echo(
        f"{font.name}: {len(font.codepoints)} glyphs of {font.cell_height_px}x{font.cell_width_px} px, digest "
        f"{font.digest}, in {target}"
    )


@font_app.command("import")
def font_import(
    file: Annotated[Path, typer.Argument(help="BDF, PCF, OTB, TTF, OTF, WOFF or GNU .hex; also gzipped.")],
    out: Annotated[Path, typer.Option(help="The packed font, a .npz.")],
    size: Annotated[int | None, typer.Option(help="Pixels per em; needed for outlines.")] = None,
    name: Annotated[str | None, typer.Option(help="What to call the font; by default after the file.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Python codec of a file in an unnamed legacy charset.")] = None,
    characters: Annotated[
        Path | None, typer.Option(help="A UTF-8 text: only its characters are imported, beside blank and 0-9A-F.")
    ] = None,
) -> None:
    """Import a font that others drew.  Example: glyphraster font import 6x13.pcf.gz --out 6x13.npz."""
    wanted = None if characters is None else set(_read_text(characters)) - set("\n\r\t")
    font = gr.import_font(file, size_px=size, name=name, encoding=encoding, characters=wanted)
    font.save(out)
    typer.echo(f"{font.name} in {out}, digest {font.digest}; licence: {_shortened(font.licence)}\n{font.report}")


@font_app.command("export")
def font_export(
    font: Annotated[str, typer.Argument(help="Name of a shipped font, or path of a packed one.")],
    out: Annotated[Path, typer.Option(help="The BDF.")],
) -> None:
    """Write a font as BDF, for font editors.  Example: glyphraster font export glyph5x8 --out glyph5x8.bdf."""
    from glyphraster.bdf import to_bdf

    write_atomically(out, to_bdf(gr.load_font(font)).encode())
    typer.echo(f"BDF in {out}; build it again with: glyphraster font build {out} --out FONT.npz")


@font_app.command("show")
def font_show(
    font: Annotated[str, typer.Argument(help="Name of a shipped font, or path of a packed one.")],
    out: Annotated[Path, typer.Option(help="The specimen, a PNG.")],
    scale: Annotated[int, typer.Option(min=1, max=16, help="Side of a glyph pixel.")] = 4,
) -> None:
    """Draw every glyph of a font.  Example: glyphraster font show glyph5x8 --out specimen.png."""
    from glyphraster.specimen import specimen

    write_atomically(out, specimen(gr.load_font(font), scale))
    typer.echo(f"specimen in {out}")


@font_app.command("check")
def font_check(
    font: Annotated[str, typer.Argument(help="Name of a shipped font, or path of a packed one.")],
    worst: Annotated[int, typer.Option(min=1, help="Number of nearest pairs to print for each gate.")] = 5,
) -> None:
    """Say how far apart glyphs are; exit code 1 when a gate fails.  Example: glyphraster font check glyph5x8."""
    from glyphraster.distance import check, report

    findings = check(gr.load_font(font), worst)
    typer.echo(report(findings))
    if not all(finding.passed for finding in findings):
        raise typer.Exit(EXIT_CHECK_FAILED)


def _shortened(text: str, most_chars: int = 100) -> str:
    return text if len(text) <= most_chars else f"{text[:most_chars]}... ({len(text):,} characters)"


def _read_text(file: Path) -> str:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ArgumentError(f"cannot read {file}: {error.strerror}; give the path of a readable file") from error
    if not content:
        raise ArgumentError(f"{file} is empty (0 bytes): there is nothing to draw")
    return content.decode("utf-8", "surrogateescape")


def main() -> None:
    """Run the command line; deliberate errors become one line on standard error and their exit code."""
    run_command(app, "glyphraster")


if __name__ == "__main__":
    main()
