"""Compiled kernels survive their process, and nothing about the place they are kept in can break a page.

Each test starts interpreters of its own: whether a kernel is compiled or loaded is a matter of the process.
"""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = "Text, é ☃ and    spaces\n" * 40
DRAW = f"""
import glyphraster as gr
from glyphraster import _kernel_cache
from glyphraster.png import decode_rows
def draw(fonts="glyph5x8", scale=1, engine="numba"):
    (page,) = gr.render({TEXT!r}, "claude-fable-5", fonts=fonts, scale=scale, engine=engine)
    return page.png()
def uses():
    return sorted({{(use.kernel, use.how) for use in _kernel_cache.USES}})
def same(png, **setting):
    twin = draw(engine="numpy", **setting)
    return gr.read([png]) == {TEXT!r} and bool((decode_rows(png)[0] == decode_rows(twin)[0]).all())
"""
REPORT = "import json; print(json.dumps([same(draw()), uses()]))"
KEPT, LOADED, LOST = ([[kernel, how] for kernel in ("bits-5", "flow")] for how in ("kept", "loaded", "not kept"))


def start(code, cache, **environment):
    """Start Python on ``code``, its kernels in ``cache``, every warning an error."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    place = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", DRAW + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**own, "PYTHONPATH": str(ROOT), **place, **environment}, cwd=ROOT,
    )


def said(process):
    """What a process printed, as JSON; it must have ended well and silently."""
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    return json.loads(out)


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache that holds the kernels of a page, and what the process that filled it said."""
    cache = tmp_path_factory.mktemp("warm")
    return cache, said(start(REPORT, cache))


@pytest.fixture
def copied(warm, tmp_path):
    return shutil.copytree(warm[0], tmp_path / "cache")


def kernels_in(cache):
    return sorted(cache.rglob("*.kernel"))


class TestCache:
    def test_what_one_process_compiles_the_next_one_loads(self, warm):
        cache, first = warm
        assert first == [True, KEPT]
        assert said(start(REPORT, cache)) == [True, LOADED]

    def test_it_lies_in_the_cache_directory_of_the_user(self, tmp_path):
        code = "import json; print(json.dumps(str(_kernel_cache.cache_directory())))"
        place = said(start(code, None, XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path)))
        assert Path(place).is_relative_to(tmp_path)
        assert "glyphraster" in Path(place).parts

    def test_nothing_is_written_beside_the_source(self, warm):
        assert list((ROOT / "glyphraster").rglob("*.nb[ic]")) == []

    def test_the_widths_of_one_cache_are_told_apart(self, copied):
        fonts = ("glyph5x8", "glyph6x10", "glyph8x13")
        settings = [{"fonts": font, "scale": scale} for font in fonts for scale in (1, 2)]
        code = f"import json; print(json.dumps([[same(draw(**each), **each) for each in {settings}], uses()]))"
        right, first = said(start(code, copied))
        again, second = said(start(code, copied))
        assert (right, again) == ([True] * 6, [True] * 6)
        assert {kernel for kernel, _ in second} == {"flow", "bits-5", "bits-6", "bits-8"}
        assert {how for _, how in second} == {"loaded"}
        assert ["bits-6", "kept"] in first

    def test_each_kernel_is_compiled_for_one_signature_only(self, copied):
        settings = [{"fonts": font, "scale": scale} for font in ("glyph5x8", "glyph6x10") for scale in (1, 2)]
        code = f"""
import json
for each in {settings}:
    for layout in ("flow", "lines", "columns"):
        (page,) = gr.render({TEXT!r}, "claude-fable-5", layout=layout, caption="a", engine="numba", **each)
        page.pixels
        gr.read([page.png()])
kernels = [use.kernel for use in _kernel_cache.USES]
print(json.dumps([sorted(kernels), sorted(set(kernels))]))
"""
        every, distinct = said(start(code, copied))
        assert every == distinct
        assert len(every) == 5

    def test_a_damaged_file_is_compiled_again(self, copied):
        for file, content in zip(kernels_in(copied), (b"", b"x" * 50_000), strict=True):
            file.write_bytes(content)
        assert said(start(REPORT, copied)) == [True, KEPT]
        assert said(start(REPORT, copied)) == [True, LOADED]

    def test_another_version_of_numba_does_not_use_it(self, copied):
        code = "import numba; numba.__version__ = '0.1.0'\n" + REPORT
        assert said(start(code, copied)) == [True, KEPT]

    def test_other_sources_do_not_use_it(self, copied, tmp_path):
        shutil.copytree(ROOT / "glyphraster", tmp_path / "other" / "glyphraster")
        with (tmp_path / "other" / "glyphraster" / "_lanes.py").open("a") as lanes:
            lanes.write("\n# changed\n")
        code = "print(json.dumps([gr.__file__, uses()]))"
        place, uses = said(start(f"import json; draw(); {code}", copied, PYTHONPATH=str(tmp_path / "other"),
                                 PYTHONSAFEPATH="1"))
        assert Path(place).is_relative_to(tmp_path)
        assert uses == KEPT

    def test_bounds_checks_are_not_left_out_for_want_of_a_fresh_kernel(self, copied):
        assert said(start(REPORT, copied, NUMBA_BOUNDSCHECK="1")) == [True, KEPT]

    def test_the_configuration_of_numba_stays_as_it_was(self, warm):
        code = """
import json
from numba.core import config
before = {name: str(getattr(config, name)) for name in dir(config) if name.isupper()}
draw()
print(json.dumps({name: str(getattr(config, name)) for name in before} == before))
"""
        assert said(start(code, warm[0]))


class TestPlaces:
    def test_a_cache_that_may_only_be_read_is_read(self, warm, tmp_path):
        cache = shutil.copytree(warm[0], tmp_path / "cache")
        for place in [cache, *cache.rglob("*")]:
            place.chmod(0o555 if place.is_dir() else 0o444)
        assert said(start(REPORT, cache)) == [True, LOADED]

    @pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc, where nobody can make a directory")
    def test_a_home_that_cannot_be_written_costs_the_cache_and_nothing_else(self):
        assert said(start(REPORT, None, HOME="/proc/self", XDG_CACHE_HOME="/proc/self/cache")) == [True, LOST]

    def test_a_file_where_the_directory_should_be_costs_the_cache_and_nothing_else(self, tmp_path):
        (tmp_path / "file").touch()
        assert said(start(REPORT, tmp_path / "file")) == [True, LOST]

    def test_a_full_disk_costs_the_cache_and_leaves_no_part_of_a_file(self, tmp_path):
        resource = pytest.importorskip("resource")
        code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, {resource.RLIM_INFINITY}))\n"
        process = start(code + REPORT, tmp_path)
        assert said(process) == [True, LOST]
        assert [file for file in tmp_path.rglob("*") if file.is_file()] == []

    @pytest.mark.skipif(os.name != "posix", reason="needs a system where a process can have no home")
    def test_without_a_home_nothing_is_written_where_the_process_happens_to_be(self, warm, tmp_path):
        code = f"""
import json, os, pathlib
os.chdir({str(tmp_path)!r})
os.path.expanduser = lambda path: path
print(json.dumps([str(_kernel_cache.cache_directory()), os.listdir()]))
"""
        assert said(start(code, None, HOME="")) == ["None", []]


class TestCompany:
    def test_many_processes_may_start_on_an_empty_cache(self, tmp_path):
        processes = [start(REPORT, tmp_path) for _ in range(3)]
        assert [said(process)[0] for process in processes] == [True] * 3
        assert said(start(REPORT, tmp_path)) == [True, LOADED]
        assert sorted(file for file in tmp_path.rglob("*") if file.is_file()) == kernels_in(tmp_path)

    def test_threads_may_meet_in_the_first_compile(self, tmp_path):
        code = """
import json, threading
from concurrent.futures import ThreadPoolExecutor
gate = threading.Barrier(4)
def work(_):
    gate.wait()
    return draw()
with ThreadPoolExecutor(4) as pool:
    print(json.dumps([same(png) for png in pool.map(work, range(4))]))
"""
        assert said(start(code, tmp_path)) == [True] * 4
        assert said(start(code, tmp_path)) == [True] * 4

    @pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
    def test_workers_draw_after_their_parent_has(self, method, warm, tmp_path):
        if method not in multiprocessing.get_all_start_methods():
            pytest.skip(f"no {method} on this system")
        script = tmp_path / "workers.py"
        script.write_text(DRAW + f"""
import json, multiprocessing
def work(_):
    return same(draw())
if __name__ == "__main__":
    assert same(draw())
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(json.dumps(pool.map(work, range(4))))
""")
        process = subprocess.Popen(
            [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(warm[0])},
        )
        assert said(process) == [True] * 4


class TestWithoutCompiling:
    def test_auto_draws_in_numpy(self, tmp_path):
        code = """
import json
from glyphraster import engine
engine.NUMBA_PAYS_FROM_CHARS = 1
print(json.dumps([same(draw(engine="auto")), engine.chosen_engine("auto", 10**9)]))
"""
        assert said(start(code, tmp_path, NUMBA_DISABLE_JIT="1")) == [True, "numpy"]

    def test_numba_says_why_it_cannot(self, tmp_path):
        code = """
import json
try:
    draw()
except gr.GlyphrasterError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""
        kind, message = said(start(code, tmp_path, NUMBA_DISABLE_JIT="1"))
        assert kind == "EngineError"
        assert "NUMBA_DISABLE_JIT is set" in message
        assert "use engine='numpy'" in message

    @pytest.mark.parametrize("error", ["ImportError", "OSError"])
    def test_a_numba_that_does_not_load_is_named_or_done_without(self, error, tmp_path):
        (tmp_path / "numba").mkdir()
        (tmp_path / "numba" / "__init__.py").write_text(f"raise {error}('no such library')")
        code = """
import json, glyphraster as gr
from glyphraster.engine import chosen_engine
try:
    gr.render("x", "claude-fable-5", engine="numba")
except gr.GlyphrasterError as error:
    print(json.dumps([str(error), chosen_engine("auto", 10**9)]))
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        )
        message, chosen = json.loads(done.stdout)
        assert "engine 'numba' cannot run here: no such library" in message
        assert chosen == "numpy"


def warm_up(*arguments, cache):
    """What ``glyphraster warmup`` says, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "glyphraster.cli", "warmup", *arguments], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache)}, cwd=ROOT,
    )
    assert done.stderr == ""
    return done.stdout, done.returncode


class TestWarmup:
    def test_a_page_after_it_compiles_nothing(self, tmp_path):
        out, code = warm_up(cache=tmp_path)
        assert code == 0
        assert f"{len(kernels_in(tmp_path))} compiled and kept" in out
        assert str(tmp_path) in out
        fonts = ("glyph5x9", "glyph6x10", "glyph8x13")
        settings = [{"fonts": font, "scale": scale} for font in fonts for scale in (1, 2)]
        uses = said(start(f"import json; [draw(**each) for each in {settings}]; print(json.dumps(uses()))", tmp_path))
        assert {how for _, how in uses} == {"loaded"}
        assert warm_up("--check", cache=tmp_path)[1] == 0

    def test_a_check_names_what_is_missing_and_writes_nothing(self, copied):
        before = kernels_in(copied)
        out, code = warm_up("--check", "--font", "glyph5x8", cache=copied)
        assert "2 loaded, 0 compiled and kept, 1 missing" in out
        assert code == 1
        assert kernels_in(copied) == before

    def test_a_cache_that_cannot_be_written_is_an_error(self, tmp_path):
        (tmp_path / "file").touch()
        out, code = warm_up("--font", "glyph5x8", "--scale", "1", cache=tmp_path / "file")
        assert "3 compiled but not kept: nothing can be written there" in out
        assert code == 1
