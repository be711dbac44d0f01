"""What all benchmarks share: texts, a clock of CPU time, and pages of one size."""

import random
import statistics
import sysconfig
import time
import unicodedata
import zlib
from pathlib import Path

import glyphraster as gr
from glyphraster.layout import iter_plans
from glyphraster.page import Page

PAGE = gr.PageGeometry(height_px=1568, width_px=1568, pitch_y_px=8, pitch_x_px=5)
"""The page that the peers draw: 196 rows of 313 cells."""

SCRIPTS = (
    "LATIN",
    "GREEK",
    "CYRILLIC",
    "ARMENIAN",
    "HEBREW",
    "ARABIC",
    "DEVANAGARI",
    "THAI",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
    "CJK",
    "BOX",
    "BRAILLE",
)
"""First words of the Unicode names of their characters."""


def code_text(chars):
    """Source code: the standard library, as often as it takes."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    text = "".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    return (text * (chars // len(text) + 1))[:chars]


def unicode_text(chars):
    """Words of 14 scripts with emoji, marks, tabs and terminal colours between them; the same on every machine."""
    letters = {script: [] for script in SCRIPTS}
    for code in range(0xA1, 0x1FFFF):
        name = unicodedata.name(chr(code), "")
        if (script := name.split(" ")[0]) in letters and unicodedata.category(chr(code))[0] in "LSN":
            letters[script].append(chr(code))
    draw, pieces, length = random.Random(1), [], 0
    while length < chars:
        script = draw.choice(SCRIPTS)
        words = ("".join(draw.choices(letters[script], k=draw.randint(2, 9))) for _ in range(draw.randint(3, 12)))
        line = " ".join(words) + draw.choice(["\n", "\n", " \U0001f680\n", "\t\x1b[31m!\x1b[0m\n", " e\u0301\u200d\n"])
        pieces.append(line)
        length += len(line)
    return "".join(pieces)[:chars]


def pages_of(text, engine, font="glyph5x8"):
    """Plan pages of the peers' size."""
    chosen = gr.load_font(font)
    for plan in iter_plans((text,), chosen, PAGE, engine=engine):
        yield Page(plan=plan, font=chosen, geometry=PAGE, engine=engine).cropped()


def pngs_of(text, engine, **options):
    return [page.png(**options) for page in pages_of(text, engine)]


def cpu_s(job, runs=5):
    """Median CPU seconds of this process for a job, after one run to warm up."""
    job()
    return statistics.median(_timed(job, time.process_time) for _ in range(runs))


def wall_s(job, runs=5):
    job()
    return statistics.median(_timed(job, time.perf_counter) for _ in range(runs))


def interleaved_s(jobs, runs=9):
    """Least CPU seconds of each job, run in turn."""
    times = [[_timed(job, time.process_time) for job in jobs] for _ in range(runs + 1)][1:]
    return [min(column) for column in zip(*times, strict=True)]


def _timed(job, clock):
    start = clock()
    job()
    return clock() - start


def calibration_ms():
    """How long a fixed zlib job takes now: compare runs only at similar values."""
    block = bytes(range(256)) * 4096
    return 1000 * min(_timed(lambda: zlib.compress(block, 6), time.process_time) for _ in range(5))
