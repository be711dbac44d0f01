"""``glyphraster bench`` says what was measured; never how much, since no test reads the clock."""

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

from glyphraster import bench, cli
from glyphraster.errors import ArgumentError, EngineError

TEXT = "def f(x):\n        return x + 1  # ě 漢\n" * 50
TIMES = ("draw_cpu_s", "read_cpu_s", "cells_cpu_s", "pixels_cpu_s", "deflate_cpu_s")


@pytest.fixture
def ran(capfd, monkeypatch, tmp_path):
    """Run ``glyphraster bench`` on a short file; return exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text(TEXT, encoding="utf-8")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["glyphraster", "bench", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code or 0, *capfd.readouterr()

    return run


@pytest.fixture
def no_numba(monkeypatch):
    def refuse(engine, job_chars=0):
        if engine == "numba":
            raise EngineError("engine 'numba' cannot run here: No module named 'numba'")
        return engine

    monkeypatch.setattr(bench, "chosen_engine", refuse)


class TestCommand:
    def test_the_table_has_a_row_for_each_engine_and_says_what_was_drawn(self, ran):
        code, out, err = ran("file")
        assert (code, err) == (0, "")
        rows = re.findall(r"│ (numba|numpy) +│ +[\d.]+ Mchar/s │ +[\d.]+ Mchar/s │ +\d+\.\d\d │(?: +\d+% │){3}", out)
        assert rows == ["numba", "numpy"]
        assert f"{len(TEXT):,} characters on 1 page(s), drawn and read back exactly by numpy" in out

    def test_json_has_every_figure_of_each_engine(self, ran):
        said = json.loads(ran("file", "--json")[1])
        assert [each["engine"] for each in said] == ["numba", "numpy"]
        assert {(each["chars"], each["pages"], each["exact"]) for each in said} == {(len(TEXT), 1, True)}
        assert len({each["png_bytes"] for each in said}) == 1
        for each in said:
            assert all(each[name] > 0 for name in TIMES)
            assert each["draw_chars_per_cpu_s"] == len(TEXT) / each["draw_cpu_s"]
            assert each["read_chars_per_cpu_s"] == len(TEXT) / each["read_cpu_s"]
            assert each["bytes_per_char"] == each["png_bytes"] / len(TEXT)

    @pytest.mark.usefixtures("no_numba")
    def test_an_engine_that_cannot_run_is_named_with_the_reason(self, ran):
        code, out, _ = ran("file")
        assert code == 0
        assert re.search(r"│ numba +│ +cannot run │", out)
        assert "\nengine 'numba' cannot run here: No module named 'numba'\n" in out

    @pytest.mark.usefixtures("no_numba")
    def test_json_says_which_engine_cannot_run(self, ran):
        absent = json.loads(ran("file", "--json")[1])[0]
        assert absent == {"engine": "numba", "reason": "engine 'numba' cannot run here: No module named 'numba'"}

    def test_without_a_file_the_source_of_the_package_is_drawn(self, ran, monkeypatch):
        monkeypatch.setattr(bench, "own_source", lambda: bench.Path(bench.__file__).read_text(encoding="utf-8"))
        chars = len(Path(bench.__file__).read_text(encoding="utf-8"))
        assert {each["chars"] for each in json.loads(ran("--json")[1])} == {chars}

    def test_text_that_does_not_come_back_is_an_error(self, ran, monkeypatch):
        monkeypatch.setattr(bench, "read", lambda pngs: "something else")
        code, out, err = ran("file")
        assert (code, "exactly" in out) == (1, False)
        assert "did not read back to the text that was drawn" in err


class TestSpeeds:
    def test_the_source_is_as_long_as_asked_and_starts_with_a_module(self):
        assert [len(bench.own_source(chars)) for chars in (10, 1_000_000)] == [10, 1_000_000]
        assert bench.own_source(1000).startswith('"""')

    @pytest.mark.parametrize(("text", "runs", "said"), [
        ("", 5, "0 characters in 5 runs"), ("a", 0, "1 characters in 0 runs"),
    ])
    def test_nothing_to_measure_is_refused_with_its_numbers(self, text, runs, said):
        with pytest.raises(ArgumentError, match=said):
            list(bench.speeds(text, "claude-fable-5", runs=runs))

    def test_one_run_is_enough(self):
        found = list(bench.speeds("text", "claude-fable-5", runs=1))
        assert [(each.engine, each.chars, each.exact) for each in found] == [("numba", 4, True), ("numpy", 4, True)]

    def test_what_was_measured_cannot_be_changed(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            next(bench.speeds("text", "claude-fable-5", runs=1)).chars = 5
