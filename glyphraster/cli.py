"""The ``glyphraster`` command: arguments in, one library call, text out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

import glyphraster as gr
from glyphraster.errors import ArgumentError, GlyphrasterError
from glyphraster.output import staged_directory, write_atomically

app = typer.Typer(
    help="Turn text into dense pages of pixel glyphs, and back.", no_args_is_help=True, pretty_exceptions_enable=False
)
font_app = typer.Typer(help="Build and look at bitmap fonts.", no_args_is_help=True)
app.add_typer(font_app, name="font")

EXIT_GATE_FAILED = 1
EXIT_BAD_INPUT = 2


@app.command()
def render(
    file: Annotated[Path, typer.Argument(help="Any file; bytes that are not UTF-8 survive as well.")],
    model: Annotated[str, typer.Option(help="Model id as the route spells it.")],
    out: Annotated[Path, typer.Option(help="Directory for page-001.png and on.")],
    route: Annotated[
        str | None, typer.Option(help="The API that carries the request; its maker's own by default.")
    ] = None,
    tier: Annotated[str, typer.Option(help="auto, dense or legible.")] = "auto",
    engine: Annotated[str, typer.Option(help="auto, numba or numpy.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON report.")] = False,
) -> None:
    """Draw a file on pages.  Example: glyphraster render notes.txt --model claude-fable-5 --out pages."""
    text = _read_text(file)
    pages = gr.render(text, model, route=route, tier=tier, engine=engine)  # type: ignore[arg-type]  # checked there
    with staged_directory(out, _holds_only_pages) as stage:
        for page in pages:
            write_atomically(stage / f"page-{page.index:03d}.png", page.png("gray1"))
    profile, choice = gr.page_profile(model, route), gr.reading_cell(model)
    tokens = sum(profile.tokens(height_px=page.geometry.height_px, width_px=page.geometry.width_px) for page in pages)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "pages": len(pages),
                    "characters": len(text),
                    "tokens": tokens,
                    "profile": profile.key,
                    "match": profile.match,
                    "out": str(out),
                }
            )
        )
    else:
        typer.echo(
            f"{len(text):,} characters on {len(pages)} page(s) in {out}: {tokens:,} image tokens for {model} (profile "
            f"{profile.key}, "
            f"{profile.match})"
        )
        typer.echo(
            choice.statement
            if tier == "auto"
            else f"The cell was forced ({tier}); evidence for {model}: {choice.statement}"
        )


@app.command()
def read(
    pages: Annotated[list[Path], typer.Argument(help="The PNG files, in any order.")],
    out: Annotated[Path | None, typer.Option(help="Write the text here instead of to standard output.")] = None,
    partial: Annotated[bool, typer.Option(help="Read pages that do not start at the beginning.")] = False,
) -> None:
    """Give back the exact text of pages.  Example: glyphraster read pages/page-*.png > notes.txt."""
    content = _bytes_of(gr.read(pages, partial=partial))
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_atomically(out, content)


@font_app.command("build")
def font_build(
    source: Annotated[Path, typer.Argument(help="A .glyphs source.")],
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
        raise typer.Exit(EXIT_GATE_FAILED)


def _read_text(file: Path) -> str:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ArgumentError(f"cannot read {file}: {error.strerror}; give the path of a readable file") from error
    if not content:
        raise ArgumentError(f"{file} is empty (0 bytes): there is nothing to draw")
    return content.decode("utf-8", "surrogateescape")


def _bytes_of(text: str) -> bytes:
    """Return the bytes of the file that was drawn; of a text that no file can hold (a lone surrogate) the nearest."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _holds_only_pages(directory: Path) -> bool:
    return all(entry.name.startswith("page-") and entry.suffix == ".png" for entry in directory.iterdir())


def _fail(message: str) -> NoReturn:
    typer.echo(f"glyphraster: {message}", err=True)
    raise SystemExit(EXIT_BAD_INPUT)


def main() -> None:
    """Run the command line; deliberate errors become one line on standard error and exit code 2."""
    try:
        app()
    except GlyphrasterError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'output'}: {error.strerror}")


if __name__ == "__main__":
    main()
