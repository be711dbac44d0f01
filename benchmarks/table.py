"""The whole table of speed in one command: ``python benchmarks/table.py [--json FILE] [--only GROUP ...]``.

Each row has the figure reached and the figures asked, as a ratio in this run: same text, same pages of 1568x1568 px in
cells of 5x8, CPU time of one thread unless the row says otherwise, the median of five runs at least, things compared
run in turn. Peers count where they are found (benchmarks/peers.py says where). A row whose feature does not exist yet
says so.
"""

import argparse
import functools
import importlib.util
import json
import operator
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import repeat, starmap
from pathlib import Path

import common
import numpy as np
import peers
from texts import TEXTS

import glyphraster as gr
from glyphraster.engine import draw_glyphs, packed_page
from glyphraster.page import Page

NUMBA = peers.imports(sys.executable, "numba")
ENGINES = ("numba", "numpy") if NUMBA else ("numpy",)
BEST = ENGINES[0]
MODEL = "claude-fable-5"
NO_PEER, NOT_YET, NOT_HERE = "no peer here", "not there yet", "not on this system"


@dataclass(frozen=True)
class Row:
    """``least`` and ``aim`` are None where nothing was asked; ``missing`` says why there is no figure."""

    what: str
    reached: float | None
    least: float | None = None
    aim: float | None = None
    unit: str = "x"
    at_most: bool = False
    missing: str = NO_PEER

    @property
    def verdict(self):
        if self.reached is None:
            return self.missing
        if self.least is None:
            return "for comparison"
        better = operator.le if self.at_most else operator.ge
        return "aim met" if better(self.reached, self.aim) else "met" if better(self.reached, self.least) else "MISSED"


at_most = functools.partial(Row, at_most=True)
PXPIPE_CHARS_PER_CPU_S = 0.27e6
"""Of text like ``unicode``, on the machine on which all peers were first measured: its source is on no registry."""


def against_peers():
    rows = peers.measured(loss=False)
    speed = {(row["peer"], row["text"]): row["chars_per_cpu_s"] for row in rows}
    snapcompact = next((name for name, _ in speed if name.startswith("snapcompact")), "snapcompact")

    def ratio(peer, text, engine=BEST):
        return speed[f"ours, {engine}", text] / speed[peer, text] if (peer, text) in speed else None

    slower = common.calibration_ms() / common.CALIBRATION_MS
    pxpipe = speed[f"ours, {BEST}", "unicode"] / PXPIPE_CHARS_PER_CPU_S
    yield Row("code, against snapcompact, native", ratio(snapcompact, "code"), 40, 60)
    yield Row("code, against Pillow, bitmap font in mode 1", ratio("Pillow bitmap, mode 1", "code"), 40, 60)
    yield Row("code, against Pillow, TrueType", ratio("Pillow TrueType", "code"), 200, 200)
    yield Row("unicode, against snapcompact", ratio(snapcompact, "unicode"), 80, 120)
    yield Row("unicode, against pxpipe as once measured, 0.27 Mchar/s", pxpipe, 150, 150)
    yield Row("  the same, were this machine as fast as that one", pxpipe * slower)
    yield Row("  unicode, against pxpipe in this run", ratio("pxpipe", "unicode"))
    yield Row("  words of 14 scripts, against snapcompact", ratio(snapcompact, "scripts"))
    yield Row("code, numpy alone, against snapcompact", ratio(snapcompact, "code", "numpy"), 25, 30)


def stages():
    text = TEXTS["code"](1_000_000)
    deflate = isal_deflate() or zlib.compress
    for engine in ENGINES:
        pages = [(*common.drawn_from(page), engine) for page in common.pages_of(text, engine)]
        rows, blank = [packed_page(*page) for page in pages], np.empty((1568, 1568), np.uint8)
        cells, packing, drawing, filling, deflating = common.in_turn([
            lambda engine=engine: common.drain(common.pages_of(text, engine)),
            lambda pages=pages: common.drain(starmap(packed_page, pages)),
            lambda pages=pages: common.drain(starmap(draw_glyphs, pages)),
            lambda pages=pages, blank=blank: common.drain(map(blank.fill, repeat(255, len(pages)))),
            lambda rows=rows: common.drain(map(deflate, rows, repeat(2))),
        ], 9)  # fmt: skip
        asked = (0.25, 0.1), (3, 2), (1, 3)
        first, second, third = asked if engine == BEST else [(None, None)] * 3
        both = (cells + packing) / deflating
        yield at_most(f"text to cells and 1-bit rows, of the time of deflate, {engine}", both, *first)
        yield at_most(f"  of that, text to cells, {engine}", cells / deflating)
        yield at_most(f"drawing a uint8 page, of ndarray.fill, {engine}", drawing / filling, *second)
        yield Row(f"drawing 1-bit rows, times as fast as uint8, {engine}", drawing / packing, *third)


def isal_deflate():
    try:
        from isal import isal_zlib
    except ImportError:
        return None
    return isal_zlib.compress


def bytes_written():
    """Compare streams alone: chunks and a page's record are no encoder's."""
    text = TEXTS["code"](1_000_000)
    pages = list(common.pages_of(text, BEST))
    rows = [packed_page(*common.drawn_from(page), BEST) for page in pages]
    ours = sum(stream_bytes(page.png()) for page in pages)
    yield at_most("bytes, of zlib level 2", ours / sum(len(zlib.compress(each.data, 2)) for each in rows), 1, 1)
    name, deflate = libdeflate()
    try:
        small = sum(stream_bytes(page.png(small=True)) for page in pages)
    except TypeError:
        yield at_most("bytes of small=True", None, 1, 1, missing=NOT_YET)
        return
    yield at_most(f"bytes of small=True, of {name} level 6", small / sum(len(deflate(each)) for each in rows), 1, 1)
    png = Page.png, functools.partial(Page.png, small=True)
    fast, slow = common.in_turn([lambda draw=draw: common.drain(map(draw, pages)) for draw in png])
    yield at_most("  time of small=True, of that without", slow / fast)


def stream_bytes(png):
    """Return the bytes of a PNG's IDAT chunks."""
    at, size = 8, 0
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        size += length if kind == b"IDAT" else 0
        at += 12 + length
    return size


def libdeflate():
    try:
        import deflate
    except ImportError:
        return "zlib", lambda rows: zlib.compress(rows.data, 6)
    return "libdeflate", lambda rows: deflate.zlib_compress(rows.data, 6)


def reading():
    text = TEXTS["code"](1_000_000)
    for engine in ENGINES:
        pngs = common.pngs_of(text, engine)
        jobs = [lambda pngs=pngs: gr.read(pngs), lambda engine=engine: common.pngs_of(text, engine)]
        back, forth = common.in_turn(jobs)
        yield at_most(f"reading pages back, of the time of rendering them, {engine}", back / forth, 3, 1)


def threads():
    """Measure wall time, the least of nine in turn: other work on the machine takes a core from the second thread."""
    text = TEXTS["code"](4_000_000)
    pages = list(common.pages_of(text, BEST))
    wall = functools.partial(common.in_turn, runs=9, pick=min, clock=time.perf_counter)

    def pooled(planned):
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda page: page.png(), planned))

    one, two = wall([lambda: [page.png() for page in pages], lambda: pooled(pages)])
    yield Row("two threads on two cores, wall time, pages to PNG", one / two, 1.6, 1.9)
    one, two = wall([lambda: common.pngs_of(text, BEST), lambda: pooled(common.pages_of(text, BEST))])
    yield Row("  the same, text to PNG, cells in one thread", one / two)
    helper, what = feature("encode_pages"), "  the same, text to PNG, by encode_pages"
    if helper is None:
        yield Row(what, None, missing=NOT_YET)
    else:
        one, two = wall([lambda n=n: list(helper(common.pages_of(text, BEST), workers=n)) for n in (1, 2)])
        yield Row(what, one / two)
    yield files()


def feature(name):
    """Return what a name stands for, at the root or beside it, or None where it is still to come."""
    for place in ("glyphraster", "glyphraster.parallel", "glyphraster.files"):
        if importlib.util.find_spec(place) and hasattr(module := importlib.import_module(place), name):
            return getattr(module, name)
    return None


def files():
    """Measure render_files on eight files, where it exists."""
    row = functools.partial(Row, "two workers on two cores, wall time, render_files", least=1.6, aim=1.9)
    helper = feature("render_files")
    if helper is None:
        return row(None, missing=NOT_YET)
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place, f"{number}.txt") for number in range(8)]
        for path in paths:
            path.write_text(TEXTS["code"](500_000), encoding="utf-8", newline="")

        def drawn(workers):
            with tempfile.TemporaryDirectory() as out:
                for _ in helper(paths, Path(out, "pages"), model=MODEL, workers=workers) or ():
                    pass

        try:
            one, two = common.in_turn([lambda: drawn(1), lambda: drawn(2)], 9, min, time.perf_counter)
        except TypeError as error:
            return row(None, missing=f"called wrongly: {error}")
    return row(one / two)


STREAM = """
import re, sys
import glyphraster as gr
def size_kb(what):
    with open("/proc/self/status") as status:
        return int(re.search(what + r":\\s+(\\d+)", status.read())[1])
def draw(chunks):
    for page in gr.iter_pages(chunks, "claude-fable-5", tier="dense", engine=sys.argv[3]): page.png()
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    piece = file.read()
draw([piece[:300_000]])
with open("/proc/self/clear_refs", "w") as peaks:
    peaks.write("5")
idle = size_kb("VmRSS")
draw(piece for _ in range(int(sys.argv[2])))
print((size_kb("VmHWM") - idle) / 1024)
"""
"""Idle is an engine that has drawn three pages: its tables are built, its kernels compiled."""


def memory():
    for engine in ENGINES:
        grown = []
        for millions in (10, 100):
            with tempfile.TemporaryDirectory() as place:
                file = Path(place, "piece")
                file.write_text(TEXTS["code"](1_000_000), encoding="utf-8", newline="")
                try:
                    grown.append(float(child(STREAM, file, millions, engine)))
                except subprocess.CalledProcessError:
                    yield at_most(f"peak memory over idle, a stream, {engine}", None, 40, 20, "MB", missing=NOT_HERE)
                    return
        yield at_most(f"peak memory over idle, a stream of 100 MB, {engine}", grown[1], 40, 20, "MB")
        yield at_most(f"  more than for a stream of 10 MB, {engine}", grown[1] - grown[0], 2, 2, "MB")


FIRST_PAGE = f"import glyphraster; glyphraster.render('text ' * 2000, {MODEL!r}, tier='dense')[0].png()"


def first_page():
    """Measure fresh processes in turn, the median of nine; no kernel is cached, and none is kept."""
    codes = ["pass", "import numpy", FIRST_PAGE]
    with tempfile.TemporaryDirectory() as place:
        empty = os.environ | dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"), place)
        empty["PYTHONDONTWRITEBYTECODE"] = "1"
        times = [[float(child(TIMED.format(code), env=empty)) for code in codes] for _ in range(10)][1:]
    bare, numpy, first = (statistics.median(column) for column in zip(*times, strict=True))
    yield at_most("first page, fresh process, over bare Python", first - bare, 0.25, 0.2, "s")
    yield at_most("  of that, importing numpy", numpy - bare, unit="s")


TIMED = "import time\nexec(compile({!r}, 'job', 'exec'))\nprint(time.process_time())"


def growth():
    whole = TEXTS["code"](10_000_000)
    texts = whole[:100_000], whole, whole.replace("\n", " ")
    for engine in ENGINES:
        jobs = [lambda text=text, engine=engine: common.pngs_of(text, engine) for text in texts]
        short, long, one_line = common.in_turn(jobs, 9, min)
        yield at_most(f"10 MB, of 100 times 100 kB, {engine}", long / short / 100, 1.15, 1.15)
        yield at_most(f"one line of 10 MB, of 10 MB of short lines, {engine}", one_line / long, 1, 1)


GROUPS = {
    "peers": against_peers,
    "stages": stages,
    "bytes": bytes_written,
    "reading": reading,
    "threads": threads,
    "memory": memory,
    "first": first_page,
    "growth": growth,
}


def child(code, *arguments, env=None):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.strip()


def show(rows):
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "reached", "at least", "aim", "", title="glyphraster, measured in this run")
    for row in rows:
        reached = "" if row.reached is None else f"{row.reached:.2f} {row.unit}"
        least, aim = ("" if asked is None else f"{'≤ ' * row.at_most}{asked:g}" for asked in (row.least, row.aim))
        style = {"MISSED": "bold red", "met": "green", "aim met": "bold green"}.get(row.verdict, "dim")
        table.add_row(row.what, reached, least, aim, f"[{style}]{row.verdict}[/]")
    Console(width=115).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), help="measure these alone")
    options = parser.parse_args()
    with common.Calibrated() as pace:
        rows = [row for group in options.only for row in GROUPS[group]()]
    show(rows)
    asked = [row for row in rows if row.least is not None]
    missed = [row for row in asked if row.verdict == "MISSED"]
    without = sum(row.reached is None for row in asked)
    print(f"{len(asked)} rows ask for a figure: {len(missed)} missed, {without} without one")
    if "threads" in options.only and os.getloadavg()[0] > 2.5:
        print("other work took part of the cores: wall time of two threads says nothing now")
    print(pace)
    if options.json:
        said = [asdict(row) | {"verdict": row.verdict} for row in rows]
        options.json.write_text(json.dumps({"table": said, "pace": str(pace)}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
