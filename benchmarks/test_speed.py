"""Each stage by itself, for pytest-benchmark: ``make bench``."""

import subprocess
import sys
import time

import common
import pytest
from texts import TEXTS

import glyphraster as gr
from glyphraster.cells import encode_cells
from glyphraster.engine import draw_glyphs, packed_page
from glyphraster.png import encode_packed

PAGES = {"code": TEXTS["code"](120_000), "unicode": TEXTS["unicode"](60_000)}
ENGINES = ["numpy", "numba"]
pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.fixture(params=PAGES)
def text(request):
    return PAGES[request.param]


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "numba":
        pytest.importorskip("numba")
    return request.param


@pytest.fixture
def grid(text, engine):
    return *common.drawn_from(next(common.pages_of(text, engine))), engine


def test_cells(benchmark, text):
    benchmark(encode_cells, text, gr.load_font("glyph5x8"))


def test_plans(benchmark, text, engine):
    benchmark(lambda: list(common.pages_of(text, engine)))


def test_blit_of_bits(benchmark, grid):
    benchmark(packed_page, *grid)


def test_blit_of_bytes(benchmark, grid):
    benchmark(draw_glyphs, *grid)


@pytest.mark.parametrize("small", [False, True])
def test_encode(benchmark, grid, small):
    benchmark(encode_packed, packed_page(*grid), grid[3].width_px, small=small)


def test_end_to_end(benchmark, text, engine):
    benchmark(common.pngs_of, text, engine)


def test_read(benchmark, text, engine):
    benchmark(gr.read, common.pngs_of(text, engine))


@pytest.mark.benchmark(timer=common.cpu_clock)
@pytest.mark.parametrize("code", ["pass", "import numpy", "import glyphraster", "import glyphraster.cli"])
def test_import(benchmark, code):
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", code],), {"check": True}, rounds=5)
