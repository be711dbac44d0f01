"""Each stage by itself, for pytest-benchmark: ``make bench``."""

import subprocess
import sys

import common
import pytest

import glyphraster as gr
from glyphraster.cells import encode_cells
from glyphraster.engine import draw_glyphs, packed_page
from glyphraster.png import encode_packed

TEXTS = {"code": common.code_text(120_000), "unicode": common.unicode_text(60_000)}
ENGINES = ["numpy", "numba"]


@pytest.fixture(params=TEXTS)
def text(request):
    return TEXTS[request.param]


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture
def grid(text, engine):
    page = next(common.pages_of(text, engine))
    return page.plan.glyphs, page.plan.bands, page.font, page.geometry, engine


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


def test_import(benchmark):
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", "import glyphraster"],), {"check": True}, rounds=5)
