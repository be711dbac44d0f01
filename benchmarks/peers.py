"""Every peer that is present, on the same text in the same run: ``python benchmarks/peers.py [--json FILE]``.

Nothing is installed here. Pillow is always there. Where PEERS_DIR names a directory (``peers`` by default), these are
looked for in it: ``venv`` with un-locc and pixelprompt, ``node_modules`` with @oh-my-pi/snapcompact and bun, and ``px``
with pxpipe-lib.mjs. Bun and Node may be on the PATH; where there is only Node, snapcompact's Rust renderer runs alone.
"""

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import common
from drive_python import run
from loss import Probe
from PIL import BdfFontFile, Image, ImageDraw, ImageFont
from texts import TEXTS

import glyphraster as gr
from glyphraster.bdf import to_bdf

RUNS = 5
CHARS = 4_000_000
HERE = Path(__file__).parent
HOME = Path(os.environ.get("PEERS_DIR", "peers")).resolve()
DEJAVU = "DejaVuSansMono.ttf"


@dataclass(frozen=True)
class Peer:
    """``drawn`` takes a job and returns what drive_python.py says; ``chars`` is how much text it gets: a slice."""

    name: str
    drawn: object
    chars: int
    samples: int = 120


class Ours:
    """Every page is read back: what is not lost is proved, not sampled."""

    def __init__(self, engine):
        self.engine = engine

    def __call__(self, job):
        assert gr.read(common.pngs_of(job["text"], self.engine)) == job["text"]
        return run(lambda text: common.pngs_of(text, self.engine), job | {"probes": []}, common.cpu_clock)


class Pillow:
    """Two lines of Pillow a row: text packed into full rows, a newline drawn as a mark."""

    def __init__(self, font, mode, row_px):
        self.font, self.mode, self.row_px = font, mode, row_px

    def __call__(self, job):
        return run(self.draw, job, common.cpu_clock)

    def draw(self, text):
        packed = text.replace("\n", "\u00b6").replace("\t", " ").replace("\r", " ")  # the last is an error to Pillow
        if self.mode == "1":
            packed = packed.encode("latin-1", "replace").decode("latin-1")
        columns, rows = int(1568 // self.font.getlength("M")), 1568 // self.row_px
        lines = [packed[at : at + columns] for at in range(0, len(packed), columns)]
        return [self.page(lines[first : first + rows]) for first in range(0, len(lines), rows)]

    def page(self, lines):
        page, out = Image.new(self.mode, (1568, 1568), 1 if self.mode == "1" else 255), io.BytesIO()
        pen = ImageDraw.Draw(page)
        for row, line in enumerate(lines):
            pen.text((0, row * self.row_px), line, fill=0, font=self.font)
        page.save(out, "PNG")
        return out.getvalue()


class Child:
    """A peer in a process of its own, driven by a script beside this one."""

    def __init__(self, *command):
        self.command = command

    def __call__(self, job):
        with tempfile.TemporaryDirectory() as place:
            file = Path(place, "job.json")
            file.write_text(json.dumps(job), encoding="utf-8")
            keeps_nothing = os.environ | {"PXPIPE_RENDER_CACHE_BYTES": "0"}
            ran = subprocess.run(
                [*self.command, file], capture_output=True, text=True, check=True, cwd=place, env=keeps_nothing
            )
        return json.loads(ran.stdout.splitlines()[-1])


def bitmap_font():
    """Return our own 5x8 as Pillow's bitmap font."""
    with tempfile.TemporaryDirectory() as place:
        BdfFontFile.BdfFontFile(io.BytesIO(to_bdf(gr.load_font("glyph5x8")).encode())).save(f"{place}/font")
        return ImageFont.load(f"{place}/font.pil")


def present():
    """Yield the peers that can run here, ours first."""
    if imports(sys.executable, "numba"):
        yield Peer("ours, numba", Ours("numba"), CHARS)
    yield Peer("ours, numpy", Ours("numpy"), CHARS)
    yield Peer("Pillow bitmap, mode 1", Pillow(bitmap_font(), "1", 8), CHARS // 10)
    try:
        yield Peer("Pillow TrueType", Pillow(ImageFont.truetype(DEJAVU, 8), "L", 9), CHARS // 40)
    except OSError:
        absent("Pillow TrueType", f"no {DEJAVU}")
    yield from in_javascript()
    python = HOME / "venv/bin/python"
    for name in ("un-locc", "pixelprompt"):
        if python.exists() and imports(python, name.replace("-", "_")):
            yield Peer(name, Child(python, HERE / "drive_python.py", name), CHARS // 200, samples=40)
        else:
            absent(name, "not in venv")


def in_javascript():
    modules, script = HOME / "node_modules", HERE / "drive_js.mjs"
    bun = shutil.which("bun", path=f"{modules}/.bin") or shutil.which("bun")
    node = shutil.which("node")
    name = "snapcompact" if bun else "snapcompact, renderer alone"
    if (modules / "@oh-my-pi/snapcompact").exists() and (bun or node):
        yield Peer(name, Child(bun or node, script, name, modules), CHARS // 4)
    else:
        absent("snapcompact", "no @oh-my-pi/snapcompact in node_modules" if bun or node else "neither Bun nor Node")
    if (HOME / "px/pxpipe-lib.mjs").exists() and node:
        yield Peer("pxpipe", Child(node, script, "pxpipe", HOME / "px"), CHARS // 10)
    else:
        absent("pxpipe", "no px/pxpipe-lib.mjs")


def imports(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def absent(name, reason):
    print(f"{name} is left out: {reason}", file=sys.stderr)


def measured(labels=tuple(TEXTS), *, loss=True):
    """Return one row a peer and text: median characters per CPU second, bytes a character, share of them lost."""
    rows = []
    peers, texts = list(present()), {label: TEXTS[label](CHARS) for label in labels}
    for label, text in texts.items():
        for peer in peers:
            part = text[: peer.chars]
            probe = Probe(part, peer.samples if loss else 0)
            try:
                got = peer.drawn({"text": part, "runs": RUNS, "probes": probe.texts if loss else []})
            except (subprocess.CalledProcessError, ValueError, OSError) as error:
                print(f"{peer.name} fails on {label}: {getattr(error, 'stderr', error)!s:.300}", file=sys.stderr)
                continue
            rows.append({
                "peer": peer.name,
                "text": label,
                "chars": len(part),
                "pages": got["pages"],
                "chars_per_cpu_s": len(part) / statistics.median(got["times"]),
                "bytes_per_char": got["bytes"] / len(part),
                "lost": 0.0 if isinstance(peer.drawn, Ours) else probe.lost(got["probes"]) if loss else None,
            })  # fmt: skip
    return rows


def show(rows):
    from rich.console import Console
    from rich.table import Table

    table = Table("peer", "text", "Mchar per CPU s", "bytes a char", "lost", "ours is", title="text to PNG, one core")
    best = {row["text"]: row["chars_per_cpu_s"] for row in reversed(rows) if row["peer"].startswith("ours")}
    for row in rows:
        ratio, ours = best[row["text"]] / row["chars_per_cpu_s"], row["peer"].startswith("ours")
        lost = "-" if row["lost"] is None else "none, read back" if ours else f"{row['lost']:.0%}"
        speed, size = f"{row['chars_per_cpu_s'] / 1e6:.3f}", f"{row['bytes_per_char']:.2f}"
        table.add_row(row["peer"], row["text"], speed, size, lost, f"{ratio:.1f}x", end_section=row is rows[-1])
    Console(width=100).print(table)
    print("lost: of 120 characters (40 of slow peers), those whose change changes no page; give or take a tenth")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    parser.add_argument("--no-loss", action="store_true", help="do not probe what is lost: half the time")
    options = parser.parse_args()
    with common.Calibrated() as machine:
        rows = measured(loss=not options.no_loss)
    show(rows)
    print(machine)
    if options.json:
        options.json.write_text(json.dumps({"peers": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
