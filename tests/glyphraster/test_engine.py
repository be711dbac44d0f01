"""Which engine draws when nobody says, and that a process changes over without anybody seeing it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glyphraster import engine
from glyphraster.errors import ArgumentError

ROOT = Path(__file__).parents[2]
WATCH = """
import hashlib, json, sys, glyphraster as gr
from glyphraster import engine
from glyphraster.png import decode_rows
engine.NUMBA_PAYS_FROM_CHARS = 300_000
text = "def f(x):\\n    return x  # é ☃\\n" * 20_000
def seen(page):
    rows = decode_rows(page.png())[0]
    return hashlib.sha256(rows.tobytes()).hexdigest(), "numba" in sys.modules
"""


def watched(code):
    """What a fresh process prints, as JSON, that counts a job of 300,000 characters as long."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCH + code], capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return json.loads(done.stdout)


class TestAuto:
    def test_a_stream_changes_over_once_it_has_drawn_enough(self):
        code = """
chunks = (text[at : at + 10_000] for at in range(0, len(text), 10_000))
auto = [seen(page) for page in gr.iter_pages(chunks, "claude-fable-5")]
numpy = [seen(page) for page in gr.iter_pages(text, "claude-fable-5", engine="numpy")]
print(json.dumps([auto, numpy]))
"""
        auto, numpy = watched(code)
        loaded = [numba for _, numba in auto]
        assert (loaded[0], loaded[1], loaded[-1]) == (False, False, True)
        assert loaded == sorted(loaded)
        assert [page for page, _ in auto] == [page for page, _ in numpy]

    def test_a_long_text_is_drawn_by_the_kernels_from_the_start(self):
        code = """
pages = gr.render(text, "claude-fable-5")
print(json.dumps([len(text), "numba" in sys.modules]))
"""
        chars, numba = watched(code)
        assert chars > 300_000
        assert numba

    def test_a_short_job_never_loads_numba(self):
        code = """
pages = gr.render(text[:50_000], "claude-fable-5")
print(json.dumps([seen(page)[1] for page in pages] + [gr.read(pages) == text[:50_000], "numba" in sys.modules]))
"""
        assert watched(code) == [False, True, False]

    def test_what_numpy_was_asked_to_draw_is_no_reason_to_load_numba(self):
        code = """
for page in gr.iter_pages(text, "claude-fable-5", engine="numpy"):
    page.png()
print(json.dumps(seen(gr.render("short", "claude-fable-5")[0])[1]))
"""
        assert not watched(code)

    def test_what_only_draws_loads_neither_reader_nor_importer(self):
        code = """
gr.render(text[:800], "claude-fable-5")[0].png()
others = {"glyphraster.reader", "glyphraster.importer", "glyphraster._kernels", "PIL"}
print(json.dumps(sorted(others & {*sys.modules})))
"""
        assert watched(code) == []

    def test_an_unknown_engine_is_refused_with_the_known_ones(self):
        with pytest.raises(ArgumentError, match="no engine 'gpu'; there is auto, numba, numpy"):
            engine.chosen_engine("gpu")
