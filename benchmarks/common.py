"""What all benchmarks share: pages of one size, clocks of CPU time, a fixed job that tells the pace of the machine."""

import collections
import os
import random
import resource
import statistics
import time
import zlib

import glyphraster as gr
from glyphraster.layout import iter_plans
from glyphraster.page import Page

PAGE = gr.PageGeometry(height_px=1568, width_px=1568, pitch_y_px=8, pitch_x_px=5)
"""The page that the peers draw: 196 rows of 313 cells."""

CALIBRATION_MS = 12.0
"""What :func:`calibration_ms` took on the machine, at its usual pace, on which the peers were first measured."""


def pages_of(text, engine, font="glyph5x8"):
    """Plan pages of the peers' size."""
    chosen = gr.load_font(font)
    for plan in iter_plans((text,), chosen, PAGE, engine=engine):
        yield Page(plan=plan, font=chosen, geometry=PAGE, engine=engine).cropped()


def drawn_from(page):
    """Return what the engine draws a page from."""
    return page.plan.glyphs, page.plan.bands, page.font, page.geometry


def pngs_of(text, engine, **options):
    return [page.png(**options) for page in pages_of(text, engine)]


def drain(pages):
    """Take all there is and keep nothing: for a list, each page is fresh memory, and drawing takes a third longer."""
    collections.deque(pages, maxlen=0)


def cpu_clock():
    """Return CPU seconds so far of this process, all its threads, and its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cpu_times(job, runs=5):
    """Return the CPU seconds of each run of a job, after one to warm up."""
    job()
    return [_timed(job, cpu_clock) for _ in range(runs)]


def cpu_s(job, runs=5):
    """Return the median CPU seconds of a job, after one run to warm up."""
    return statistics.median(cpu_times(job, runs))


def in_turn(jobs, runs=5, pick=statistics.median, clock=cpu_clock):
    """Return the median seconds of each job, after one run to warm up.

    They run in turn: what other work on the machine takes, it takes from all, and their ratios stay.
    """
    times = [[_timed(job, clock) for job in jobs] for _ in range(runs + 1)][1:]
    return [pick(column) for column in zip(*times, strict=True)]


def _timed(job, clock):
    start = clock()
    job()
    return clock() - start


def calibration_ms():
    """Return the CPU ms of a fixed zlib job now, median of nine: compare runs only at similar values."""
    letters = random.Random(1).choices(b"abcdefghijklmnopqrstuvwxyz     ", k=300_000)
    return 1000 * cpu_s(lambda: zlib.compress(bytes(letters), 6), 9)


class Calibrated:
    """Time the fixed job before and after what is measured, and say so."""

    def __enter__(self):
        self.before_ms = calibration_ms()
        return self

    def __exit__(self, *_):
        self.after_ms = calibration_ms()

    def __str__(self):
        return (
            f"calibration, a fixed zlib job: {self.before_ms:.1f} ms before, {self.after_ms:.1f} ms after "
            f"({CALIBRATION_MS:g} ms where the peers were first measured); "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        )
