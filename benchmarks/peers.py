"""Every peer that is present, on the same text in the same run: ``python benchmarks/peers.py [--json FILE]``.

Nothing is installed here. Pillow is always there. Where PEERS_DIR names a directory, its ``venv`` is asked for un-locc
and pixelprompt, and its ``node_modules`` for bun with snapcompact (@oh-my-pi/snapcompact).
"""

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import common
from PIL import BdfFontFile, Image, ImageDraw, ImageFont

import glyphraster as gr
from glyphraster.bdf import to_bdf

RUNS = 5
DEJAVU = "DejaVuSansMono.ttf"
CHARS = {
    "ours, numba": 4_000_000,
    "ours, numpy": 4_000_000,
    "snapcompact": 1_000_000,
    "Pillow bitmap, mode 1": 400_000,
    "Pillow TrueType": 100_000,
    "un-locc": 20_000,
    "pixelprompt": 20_000,
}
"""Characters that each gets: slices of one text, for slow peers short ones."""

SNAPCOMPACT = """
import { readFileSync } from "node:fs";
const S = await import(process.argv[2] + "/@oh-my-pi/snapcompact/src/index.ts");
const text = readFileSync(process.argv[3], "utf8");
const shape = { ...S.resolveShape({ api: "anthropic-messages" }, "5x8-bw"), frameSize: 1568 };
const cpu = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };
const times = []; let pages = [];
for (let run = 0; run <= +process.argv[4]; run++) {
    const start = cpu(); pages = await S.renderMany(text, { shape }); if (run) times.push(cpu() - start);
}
const bytes = pages.reduce((sum, page) => sum + Buffer.from(page.data, "base64").length, 0);
console.log(JSON.stringify({ times, bytes, pages: pages.length, kept: [...S.normalize(text, { shape })].length }));
"""

IN_A_VENV = {
    "un-locc": """
        import base64
        from un_locc import UnLOCC
        peer = UnLOCC(api_key="none")
        def draw(text):
            urls = peer._generate_images(text, **peer.default_compression)
            return [base64.b64decode(url.split(",", 1)[1]) for url in urls]
    """,
    "pixelprompt": """
        from pixelprompt import PixelPrompt, RenderConfig
        peer = PixelPrompt(RenderConfig.for_content("code"))
        def draw(text):
            return [picture.png_bytes() for picture in peer.render(text)]
    """,
}
DRIVER = """
import contextlib, io, json, sys, textwrap, time
text, runs, times = open(sys.argv[1], encoding="utf-8", newline="").read(), int(sys.argv[2]), []
with contextlib.redirect_stdout(io.StringIO()):
    for run in range(runs + 1):
        start = time.process_time(); pages = draw(text); times.append(time.process_time() - start)
print(json.dumps({"times": times[1:], "bytes": sum(map(len, pages)), "pages": len(pages), "kept": None}))
"""


def ours(engine):
    def measure(text):
        pngs = common.pngs_of(text, engine)
        assert gr.read(pngs) == text
        times = [common.cpu_s(lambda: common.pngs_of(text, engine), 1) for _ in range(RUNS)]
        return {"times": times, "bytes": sum(map(len, pngs)), "pages": len(pngs), "kept": len(text)}

    return measure


def pillow(font, mode, row_px):
    """Two lines of Pillow a row: text packed into full rows, a newline drawn as a mark."""

    def draw(text):
        columns, rows = int(1568 // font.getlength("M")), 1568 // row_px
        packed = text.replace("\n", "\u00b6")
        lines = [packed[at : at + columns] for at in range(0, len(packed), columns)]
        pngs = []
        for first in range(0, len(lines), rows):
            page = Image.new(mode, (1568, 1568), 1 if mode == "1" else 255)
            pen = ImageDraw.Draw(page)
            for row, line in enumerate(lines[first : first + rows]):
                pen.text((0, row * row_px), line, fill=0, font=font)
            out = io.BytesIO()
            page.save(out, "PNG")
            pngs.append(out.getvalue())
        return pngs

    def measure(text):
        if mode == "1":
            text = text.encode("latin-1", "replace").decode("latin-1")
        pngs = draw(text.replace("\t", " ").replace("\r", " "))
        times = [common.cpu_s(lambda: draw(text.replace("\t", " ").replace("\r", " ")), 1) for _ in range(RUNS)]
        return {"times": times, "bytes": sum(map(len, pngs)), "pages": len(pngs), "kept": None}

    return measure


def bitmap_font():
    """Our own 5x8 as Pillow's bitmap font."""
    with tempfile.TemporaryDirectory() as place:
        BdfFontFile.BdfFontFile(io.BytesIO(to_bdf(gr.load_font("glyph5x8")).encode())).save(f"{place}/font")
        return ImageFont.load(f"{place}/font.pil")


def child(command):
    """Measure in a child process that gets the text as a file."""

    def measure(text):
        with tempfile.TemporaryDirectory() as place:
            file = Path(place, "text.txt")
            file.write_bytes(text.encode("utf-8", "replace"))
            ran = subprocess.run(command(place, file), capture_output=True, text=True, check=True, cwd=place)
        return json.loads(ran.stdout.splitlines()[-1])

    return measure


def present():
    """Return the peers that can run here, ours first."""
    found = {"ours, numba": ours("numba"), "ours, numpy": ours("numpy")}
    found["Pillow bitmap, mode 1"] = pillow(bitmap_font(), "1", 8)
    try:
        found["Pillow TrueType"] = pillow(ImageFont.truetype(DEJAVU, 8), "L", 9)
    except OSError:
        print(f"no {DEJAVU} here: Pillow TrueType is left out", file=sys.stderr)
    home = Path(os.environ.get("PEERS_DIR", "peers")).resolve()
    python, bun, modules = home / "venv/bin/python", home / "node_modules/.bin/bun", home / "node_modules"
    for name, code in IN_A_VENV.items():
        module = name.replace("-", "_")
        if python.exists() and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            body = "\n".join(line[8:] for line in code.splitlines()) + DRIVER
            found[name] = child(lambda _, file, body=body: [python, "-c", body, file, str(RUNS)])
    if bun.exists() and (modules / "@oh-my-pi/snapcompact").exists():

        def command(place, file):
            script = Path(place, "bench.ts")
            script.write_text(SNAPCOMPACT)
            return [bun, script, modules, file, str(RUNS)]

        found["snapcompact"] = child(command)
    return found


def measured(texts):
    """Return one row a peer and text: median characters per CPU second, bytes and characters lost."""
    rows = []
    for label, text in texts.items():
        for name, measure in present().items():
            part = text[: CHARS[name]]
            try:
                got = measure(part)
            except (subprocess.CalledProcessError, ValueError, OSError) as error:
                print(f"{name} fails on {label}: {getattr(error, 'stderr', error)!s:.300}", file=sys.stderr)
                continue
            rows.append(
                {
                    "peer": name,
                    "text": label,
                    "chars": len(part),
                    "pages": got["pages"],
                    "chars_per_cpu_s": len(part) / statistics.median(got["times"]),
                    "bytes_per_char": got["bytes"] / len(part),
                    "lost": None if got["kept"] is None else len(part) - got["kept"],
                }
            )
    return rows


def show(rows):
    from rich.console import Console
    from rich.table import Table

    table = Table("peer", "text", "Mchar per CPU s", "bytes a char", "lost", "ours is", title="text to PNG, one core")
    best = {row["text"]: row["chars_per_cpu_s"] for row in reversed(rows) if row["peer"].startswith("ours")}
    for row in rows:
        ratio = best[row["text"]] / row["chars_per_cpu_s"]
        lost = "not told" if row["lost"] is None else f"{row['lost'] / row['chars']:.1%}"
        speed, size = f"{row['chars_per_cpu_s'] / 1e6:.3f}", f"{row['bytes_per_char']:.2f}"
        table.add_row(row["peer"], row["text"], speed, size, lost, f"{ratio:.1f}x")
    Console(width=100).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    options = parser.parse_args()
    before = common.calibration_ms()
    rows = measured({"code": common.code_text(4_000_000), "unicode": common.unicode_text(1_000_000)})
    show(rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"calibration (zlib) {before:.1f} ms before, {common.calibration_ms():.1f} ms after; peak RSS here {peak} MB")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
