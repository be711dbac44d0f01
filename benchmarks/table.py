"""The whole table of speed in one command: ``python benchmarks/table.py [--json FILE]`` (``make table``).

Each row has the figure reached and the figure asked, as a ratio in this run: same text, same pages of 1568x1568 px in
cells of 5x8, CPU time of one thread unless the row says otherwise. Peers count where PEERS_DIR names them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import common
import numpy as np
import peers

import glyphraster as gr
from glyphraster.engine import draw_glyphs, packed_page

CODE, UNICODE = common.code_text(4_000_000), common.unicode_text(1_000_000)


@dataclass
class Row:
    what: str
    reached: float | None
    least: float
    aim: float
    unit: str = "x"
    more_is_better: bool = True

    @property
    def verdict(self):
        if self.reached is None:
            return "no peer here"
        better = (lambda asked: self.reached >= asked) if self.more_is_better else (lambda asked: self.reached <= asked)
        return "aim met" if better(self.aim) else "met" if better(self.least) else "MISSED"


def against_peers():
    rows = peers.measured({"code": CODE, "unicode": UNICODE})
    speed = {(row["peer"], row["text"]): row["chars_per_cpu_s"] for row in rows}

    def ratio(ours, peer, text):
        return speed[ours, text] / speed[peer, text] if (peer, text) in speed else None

    yield Row("code against snapcompact, native", ratio("ours, numba", "snapcompact", "code"), 40, 60)
    yield Row(
        "code against Pillow, bitmap font in mode 1", ratio("ours, numba", "Pillow bitmap, mode 1", "code"), 40, 60
    )
    yield Row("code against Pillow, TrueType", ratio("ours, numba", "Pillow TrueType", "code"), 200, 200)
    yield Row("Unicode against snapcompact", ratio("ours, numba", "snapcompact", "unicode"), 80, 120)
    yield Row("Unicode against 0.27 Mchar/s (pxpipe)", speed["ours, numba", "unicode"] / 0.27e6, 150, 150)
    yield Row("code in numpy alone against snapcompact", ratio("ours, numpy", "snapcompact", "code"), 25, 30)


def stages():
    pages = list(common.pages_of(CODE[:1_000_000], "numba"))
    grids = [(page.plan.glyphs, page.plan.bands, page.font, page.geometry) for page in pages]
    rows = [packed_page(*grid, "numba") for grid in grids]
    cells = common.cpu_s(lambda: list(common.pages_of(CODE[:1_000_000], "numba")))
    packing = common.cpu_s(lambda: [packed_page(*grid, "numba") for grid in grids])
    drawing = common.cpu_s(lambda: [draw_glyphs(*grid, "numba") for grid in grids])
    page = np.empty((1568, 1568), np.uint8)
    filling = common.cpu_s(lambda: [page.fill(255) for _ in grids])
    encoder = isal_or_zlib()
    deflating = common.cpu_s(lambda: [encoder(each.data, 2) for each in rows])
    yield Row(
        "text to cells and drawing, of the time of deflate",
        (cells + packing) / deflating,
        0.25,
        0.1,
        more_is_better=False,
    )
    yield Row("drawing a uint8 page, of ndarray.fill", drawing / filling, 3, 2, more_is_better=False)
    yield Row("drawing 1-bit rows, times as fast as uint8", drawing / packing, 1, 3)
    sizes = [sum(len(zlib.compress(each.data, level)) for each in rows) for level in (2,)]
    yield Row(
        "bytes, of zlib level 2",
        sum(len(encoder(each.data, 2)) for each in rows) / sizes[0],
        1,
        1,
        more_is_better=False,
    )


def isal_or_zlib():
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.compress
    return isal_zlib.compress


def reading():
    for engine in ("numba", "numpy"):
        pngs = common.pngs_of(CODE[:1_000_000], engine)
        ratio = common.cpu_s(lambda pngs=pngs: gr.read(pngs)) / common.cpu_s(
            lambda engine=engine: common.pngs_of(CODE[:1_000_000], engine)
        )
        yield Row(f"reading back, of the time of drawing in {engine}", ratio, 3, 1, more_is_better=False)


def threads():
    def two():
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda page: page.png(), common.pages_of(CODE, "numba")))

    one = common.wall_s(lambda: common.pngs_of(CODE, "numba"))
    yield Row("two threads on two cores, wall time", one / common.wall_s(two), 1.6, 1.9)


def growth():
    long = common.code_text(10_000_000)
    lines = long.replace("\n", " ")
    for engine in ("numba", "numpy"):
        jobs = [lambda text=text, engine=engine: common.pngs_of(text, engine) for text in (long[:100_000], long, lines)]
        short, whole, one_line = common.interleaved_s(jobs)
        yield Row(f"10 MB, of 100 x 100 kB, {engine}", whole / short / 100, 1.15, 1.15, more_is_better=False)
        yield Row(f"one line of 10 MB, of short lines, {engine}", one_line / whole, 1.0, 1.0, more_is_better=False)


STREAM = """
import re, sys
import glyphraster as gr
def size(what):
    with open("/proc/self/status") as status:
        return int(re.search(what + r":\\s+(\\d+)", status.read())[1])
piece = open(sys.argv[1], encoding="utf-8", newline="").read()
for page in gr.iter_pages(piece[:300_000], "claude-fable-5", tier="dense", engine=sys.argv[3]): page.png()
with open("/proc/self/clear_refs", "w") as peaks:
    peaks.write("5")
idle = size("VmRSS")
chunks = (piece for _ in range(int(sys.argv[2])))
for page in gr.iter_pages(chunks, "claude-fable-5", tier="dense", engine=sys.argv[3]): page.png()
print((size("VmHWM") - idle) / 1024)
"""
FIRST_PAGE = "import glyphraster; glyphraster.render('text ' * 2000, 'claude-fable-5')[0].png()"


def processes():
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "piece")
        file.write_text(CODE[:1_000_000], encoding="utf-8", newline="")
        for millions in (20, 100):
            grown = child(STREAM, file, millions, "numba")
            yield Row(
                f"peak memory over idle, a stream of {millions} MB", float(grown), 40, 20, "MB", more_is_better=False
            )
    bare, first = (min(child_cpu(code) for _ in range(5)) for code in ("pass", FIRST_PAGE))
    yield Row("first page, fresh process, over bare Python", first - bare, 0.25, 0.2, "s", more_is_better=False)


def child(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def child_cpu(code):
    timer = "import time, runpy\nexec(compile({!r}, 'job', 'exec'))\nprint(time.process_time())"
    return float(child(timer.format(code)))


def smaller():
    rows = [
        packed_page(page.plan.glyphs, page.plan.bands, page.font, page.geometry, "numba")
        for page in common.pages_of(CODE[:1_000_000], "numba")
    ]
    pngs = common.pngs_of(CODE[:1_000_000], "numba", small=True)
    yield Row(
        "bytes of small=True, of zlib level 6",
        sum(map(len, pngs)) / sum(len(zlib.compress(r.data, 6)) for r in rows),
        1,
        1,
        more_is_better=False,
    )


def show(rows):
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "reached", "at least", "aim", "", title="glyphraster, measured in this run")
    for row in rows:
        sign, reached = ("" if row.more_is_better else "at most "), "-" if row.reached is None else f"{row.reached:.2f}"
        table.add_row(row.what, f"{reached} {row.unit}", f"{sign}{row.least:g}", f"{row.aim:g}", row.verdict)
    Console(width=110).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    options = parser.parse_args()
    before = common.calibration_ms()
    groups = (against_peers, stages, reading, threads, processes, smaller, growth)
    rows = [row for group in groups for row in group()]
    show(rows)
    print(f"calibration (a fixed zlib job): {before:.1f} ms before, {common.calibration_ms():.1f} ms after")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) | {"verdict": row.verdict} for row in rows], indent=1))


if __name__ == "__main__":
    main()
