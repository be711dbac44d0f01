"""Whatever is wrong with what a user gives, one line says what, with the number and the remedy, and nothing changes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import contextkit.cli
import glyphraster.cli

DEMO = Path(__file__).parents[1] / "cases" / "demo" / "session.jsonl"
CLAUDE = ("--model", "claude-opus-4-8")
TIGHT = (*CLAUDE, "--window", "60000")
COMMANDS = {"contextkit": contextkit.cli.main, "glyphraster": glyphraster.cli.main}


class Ran:
    """What a command left behind: exit code, standard error."""

    def __init__(self, code, err):
        self.code, self.err = code, err


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory with things that are no conversation, no page and no output of ours."""
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()
    Path("bytes").write_bytes(bytes(range(256)) * 8)
    Path("cut.json").write_bytes(b'{"model": "m", "messages": [{"role": "user", "con')
    Path("list.json").write_bytes(b"[1, 2, 3]")
    Path("other.json").write_bytes(b'{"rows": [], "columns": 5}')
    Path("log.jsonl").write_bytes(b'{"level": "info"}\n{"level": "warn"}\n')
    Path("summary.jsonl").write_bytes(b'{"type": "summary", "summary": "s", "leafUuid": "u"}\n')
    Path("text").write_text("some text\n", encoding="utf-8")
    Path("foreign").mkdir()
    Path("foreign", "thesis.txt").write_text("years of work", encoding="utf-8")
    Path("loose").symlink_to("nowhere")
    return tmp_path


@pytest.fixture
def run(place, capfd, monkeypatch):
    """Run a command in this process, there."""

    def run(command, *arguments):
        monkeypatch.setattr(sys, "argv", [command, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            COMMANDS[command]()
        return Ran(ended.value.code, capfd.readouterr().err)

    return run


def tree(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else path.lstat().st_mode
        for path in sorted(directory.rglob("*"))
    }


def refused(run, place, command, *arguments, code=2):
    """Run what must fail; return its one line, after the check that nothing was touched."""
    before = tree(place)
    ran = run(command, *arguments)
    assert ran.code == code
    assert re.fullmatch(rf"{command}: [^\n]+\n", ran.err)
    assert tree(place) == before
    return ran.err


INPUTS = [
    ("missing", r"missing does not exist; check the path"),
    ("foreign", r"foreign is a directory; give the path of a file"),
    ("empty", r"empty is empty \(0 bytes, .*\); give one wire request as JSON"),
    ("bytes", r"bytes is no UTF-8 text: byte 0x80 at offset 128 of 2048; give one wire request"),
    ("cut.json", r"cut\.json is no JSON: .* line 1, column 46 \(character 45 of 49\); is it cut off\?"),
    ("list.json", r"list\.json is a list; a request .* needs an object with 'messages'"),
    ("other.json", r"other\.json is an object with keys 'rows', 'columns'; a request"),
    ("log.jsonl", r"log\.jsonl: none of its 2 record\(s\) is of a known log form; line 1 has .*'level'"),
    ("summary.jsonl", r"summary\.jsonl is a claude-code log without any message; its 1 record\(s\) are 1 x summary"),
]


class TestSession:
    @pytest.mark.parametrize(("name", "says"), INPUTS, ids=[name for name, _ in INPUTS])
    def test_what_is_no_conversation_is_named_with_the_reason(self, name, says, run, place):
        assert re.search(says, refused(run, place, "contextkit", "compact", name, *TIGHT))

    def test_a_session_cut_off_at_any_tenth_ends_in_a_result_or_one_line(self, run, place):
        whole = DEMO.read_bytes()
        for tenth in range(1, 10):
            Path("cut.jsonl").write_bytes(whole[: len(whole) * tenth // 10])
            ran = run("contextkit", "compact", "cut.jsonl", *TIGHT, "--dry-run")
            assert (ran.code, ran.err.count("\n")) in ((0, 0), (2, 1), (3, 1))

    def test_a_request_cut_off_anywhere_is_refused_with_the_place(self, run, place):
        request = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
        for size in range(1, len(request)):
            Path("cut.json").write_bytes(request[:size])
            line = refused(run, place, "contextkit", "compact", "cut.json", *CLAUDE)
            assert re.search(rf"cut\.json is no JSON: .*character \d+ of {size}\)", line)


OPTIONS = [
    (("--model", ""), r"model must be a non-empty string such as 'claude-opus-5-5', got ''"),
    (("--model", "  "), r"model must be a non-empty string such as 'claude-opus-5-5', got '  '"),
    ((*CLAUDE, "--window", "0"), r"window must be a positive number of tokens, got 0"),
    ((*CLAUDE, "--window", "-5"), r"window must be a positive number of tokens, got -5"),
    ((*CLAUDE, "--threshold", "0"), r"threshold must lie above 0 and at most 1, got 0\.0"),
    ((*CLAUDE, "--threshold", "2"), r"threshold must lie above 0 and at most 1, got 2\.0"),
    ((*CLAUDE, "--threshold", "nan"), r"threshold must lie above 0 and at most 1, got nan"),
    ((*CLAUDE, "--rungs", "elide,melt"), r"no rung 'melt'; there is elide, images, snapshot, summary"),
    ((*CLAUDE, "--rungs", ","), r"no rung given; name at least one of elide, images, snapshot, summary"),
    ((*CLAUDE, "--route", "moon"), r"unknown route 'moon'; known: .*openrouter"),
    ((*CLAUDE, "--summarizer", "moon"), r"no summariser 'moon'; there is anthropic, openai, extractive, or module:"),
    ((*CLAUDE, "--summarizer", "no_such:f"), r"cannot import the summariser 'no_such:f': .*'no_such'"),
    ((*CLAUDE, "--summarizer", "json:nothing"), r"cannot import the summariser 'json:nothing': .*'nothing'"),
    ((*CLAUDE, "--summarizer", "json:__name__"), r"the summariser 'json:__name__' is a str, not callable"),
]


class TestOptions:
    @pytest.mark.parametrize(("options", "says"), OPTIONS, ids=[" ".join(options[-2:]) for options, _ in OPTIONS])
    def test_an_option_outside_what_is_allowed_is_named_with_what_is(self, options, says, run, place):
        assert re.search(says, refused(run, place, "contextkit", "compact", DEMO, *options))

    def test_a_summariser_whose_module_breaks_is_one_line(self, run, place, monkeypatch):
        Path("breaks.py").write_text("raise RuntimeError('first\\nsecond')\n", encoding="utf-8")
        monkeypatch.syspath_prepend(place)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        line = refused(run, place, "contextkit", "compact", DEMO, *TIGHT, "--summarizer", "breaks:f")
        assert "cannot import the summariser 'breaks:f': RuntimeError: first second" in line

    def test_a_summariser_that_fails_leaves_everything_as_it_was(self, run, place, monkeypatch):
        Path("fails.py").write_text("def f(request):\n    raise OSError('no\\nroute')\n", encoding="utf-8")
        monkeypatch.syspath_prepend(place)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        options = ("--model", "deepseek-chat", "--window", "60000", "--summarizer", "fails:f")
        line = refused(run, place, "contextkit", "compact", DEMO, *options)
        assert re.search(r"the summariser failed on characters 0 to \d+: OSError: no route", line)

    def test_a_model_id_of_two_lines_is_still_one_line(self, run, place):
        line = refused(run, place, "contextkit", "compact", DEMO, "--model", "one\ntwo", "--window", "60000", code=3)
        assert "one two does not see images" in line

    @pytest.mark.parametrize("window", [1, 100, 2_000])
    def test_a_window_smaller_than_what_must_stay_is_refused_with_its_numbers(self, window, run, place):
        line = refused(run, place, "contextkit", "compact", DEMO, *CLAUDE, "--window", window, code=3)
        reserve = window // 5
        assert f"over the limit of {window - reserve:,} (window {window:,} less {reserve:,} for the answer)" in line
        assert "what would help: " in line

    def test_a_window_below_the_protected_parts_is_told_the_least_that_would_do(self, run, place):
        asked = ("contextkit", "compact", DEMO, *CLAUDE, "--window")
        told = re.search(
            r"what would help: a window of at least ([\d,]+) tokens\n$", refused(run, place, *asked, 100, code=3)
        )
        least = int(told[1].replace(",", ""))
        assert least > 100
        assert "a window of at least" not in refused(run, place, *asked, least, code=3)

    @pytest.mark.parametrize("arguments", [(DEMO,), (DEMO, *CLAUDE, "--window", "many"), (DEMO, *CLAUDE, "--sideways")])
    def test_bad_usage_ends_with_2_and_touches_nothing(self, arguments, run, place):
        before = tree(place)
        ran = run("contextkit", "compact", *arguments)
        assert (ran.code, tree(place)) == (2, before)
        assert "Traceback" not in ran.err


OUTPUTS = [
    ("text", r"/text exists and is no earlier output: name another place"),
    ("text/below", r"cannot write beside \S*/text/below: .*; name a place that can be written"),
    ("foreign", r"/foreign exists and is no earlier output: name another place"),
    ("loose", r"/loose exists and is no earlier output: name another place"),
]


class TestOutput:
    @pytest.mark.parametrize(("out", "says"), OUTPUTS, ids=[out for out, _ in OUTPUTS])
    def test_compact_writes_over_nothing_that_is_not_its_own(self, out, says, run, place):
        assert re.search(says, refused(run, place, "contextkit", "compact", DEMO, *TIGHT, "--out", out))

    @pytest.mark.parametrize(("out", "says"), OUTPUTS, ids=[out for out, _ in OUTPUTS])
    def test_render_writes_over_nothing_that_is_not_its_own(self, out, says, run, place):
        assert re.search(says, refused(run, place, "glyphraster", "render", DEMO, *CLAUDE, "--out", out))

    def test_an_output_that_someone_added_to_is_left_alone(self, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        Path("out", "notes.txt").write_text("mine", encoding="utf-8")
        line = refused(run, place, "contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        assert re.search(r"/out exists and is no earlier output", line)

    def test_the_directory_that_holds_the_session_is_not_written_over(self, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        line = refused(run, place, "contextkit", "compact", "out/request.json", *TIGHT, "--out", "out")
        assert "--out out holds out/request.json itself" in line

    def test_pictures_of_someone_else_are_left_alone_even_when_they_are_named_like_pages(self, run, place):
        Path("scans").mkdir()
        Path("scans", "page-001.png").write_bytes(b"\x89PNG\r\n\x1a\n of a scanner")
        line = refused(run, place, "glyphraster", "render", "text", *CLAUDE, "--out", "scans")
        assert re.search(r"/scans exists and is no earlier output", line)

    @pytest.mark.parametrize(("out", "says"), [("none/x", "No such file"), ("foreign", "Is a directory")])
    def test_restore_names_the_file_that_it_cannot_write(self, out, says, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        line = refused(run, place, "contextkit", "restore", "out", "--out", out)
        assert re.search(rf"contextkit: {out}: {says}.*; name a place that can be written", line)

    @pytest.mark.parametrize(("out", "says"), [("none/x", "No such file"), ("foreign", "Is a directory")])
    def test_read_names_the_file_that_it_cannot_write(self, out, says, run, place):
        run("glyphraster", "render", "text", *CLAUDE, "--out", "pages")
        line = refused(run, place, "glyphraster", "read", "pages/page-001.png", "--out", out)
        assert re.search(rf"glyphraster: {out}: {says}.*; name a place that can be written", line)

    def test_a_name_that_is_no_text_is_printed_on_any_terminal(self, place):
        session = os.fsdecode(b"\xff.jsonl")
        Path(session).write_bytes(DEMO.read_bytes())
        done = subprocess.run(
            [sys.executable, "-m", "contextkit", "compact", session, *TIGHT],
            env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\\udcff-compact" in done.stdout


class TestOriginals:
    @pytest.mark.parametrize("command", ["restore", "recall"])
    @pytest.mark.parametrize("directory", ["missing", "text", "foreign"])
    def test_what_is_no_output_of_compact_is_named_with_the_remedy(self, command, directory, run, place):
        line = refused(run, place, "contextkit", command, directory)
        assert re.search(rf"{directory} is no output of `contextkit compact`: .*; give the directory that --out", line)

    @pytest.mark.parametrize("report", ["{}", "[]", '{"schema": "contextkit-report", "version": 99}'])
    def test_a_report_of_something_else_is_refused_with_the_version_that_is_read(self, report, run, place):
        Path("foreign", "report.json").write_text(report, encoding="utf-8")
        assert "is no report of version 1 of contextkit-report" in refused(
            run, place, "contextkit", "restore", "foreign"
        )

    def test_an_altered_input_is_not_given_back(self, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        kept = Path("out", "recall", "input")
        kept.write_bytes(kept.read_bytes()[:-1])
        line = refused(run, place, "contextkit", "restore", "out")
        assert re.search(r"input was altered: its SHA-256 is [0-9a-f]{16}…, the report says [0-9a-f]{16}…", line)

    def test_a_kept_input_that_is_gone_is_said_to_be(self, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        Path("out", "recall", "input").unlink()
        assert "input cannot be read: No such file" in refused(run, place, "contextkit", "restore", "out")

    @pytest.mark.parametrize(
        ("handle", "says"),
        [
            ("../report", r"'\.\./report' is no recall handle: they are 'r' and 16 hexadecimal digits"),
            ("r0123456789abcdef", r"no original r0123456789abcdef in out/recall: it holds [1-9]\d*"),
        ],
    )
    def test_an_unknown_handle_is_named_with_what_handles_are(self, handle, says, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        assert re.search(says, refused(run, place, "contextkit", "recall", "out", handle))

    def test_an_altered_original_is_not_given_back(self, run, place):
        run("contextkit", "compact", DEMO, *TIGHT, "--out", "out")
        kept = min(Path("out", "recall").glob("r*.json"))
        kept.write_bytes(kept.read_bytes().replace(b"e", b"a", 1))
        assert f"the file of {kept.stem} in out/recall was altered" in refused(
            run, place, "contextkit", "recall", "out", kept.stem
        )


RENDERS = [
    (("missing", *CLAUDE), r"cannot read missing: No such file or directory; give the path of a readable file"),
    (("foreign", *CLAUDE), r"cannot read foreign: Is a directory; give the path of a readable file"),
    (("empty", *CLAUDE), r"empty is empty \(0 bytes\)"),
    (("text", "--model", ""), r"model must be a non-empty string such as 'claude-opus-5-5', got ''"),
    (("text", *CLAUDE, "--route", "moon"), r"unknown route 'moon'; known: "),
    (("text", *CLAUDE, "--tier", "huge"), r"no tier 'huge'; there is auto, dense, legible"),
    (("text", *CLAUDE, "--engine", "gpu"), r"no engine 'gpu'; there is auto, numba, numpy"),
]
READS = [
    ("missing", r"no page file 'missing': give the PNG files that `glyphraster render` wrote"),
    ("foreign", r"no page file 'foreign': give the PNG files"),
    ("empty", r"empty: starts with b'', no PNG does"),
    ("bytes", r"bytes: starts with b'\\x00\\x01.*, no PNG does; give the page files"),
]
FONTS = [
    (("build", "missing.glyphs", "--out", "font.npz"), r"missing\.glyphs cannot be read as a font source"),
    (("build", "text", "--out", "font.npz"), r"text: line 1: starts with 'some'; a line starts with one of"),
    (("show", "nothing", "--out", "font.png"), r"no font 'nothing': shipped fonts are glyph5x8, .*; or give the path"),
    (("show", "text", "--out", "font.png"), r"text is not a packed font \(10 bytes\): .*; build one with"),
    (("show", "glyph5x8", "--out", "none/font.png"), r"none/font\.png: No such file or directory; name a place"),
]


class TestPages:
    @pytest.mark.parametrize(("arguments", "says"), RENDERS, ids=[" ".join(given) for given, _ in RENDERS])
    def test_render_names_what_it_cannot_draw(self, arguments, says, run, place):
        assert re.search(says, refused(run, place, "glyphraster", "render", *arguments, "--out", "pages"))

    @pytest.mark.parametrize(("name", "says"), READS, ids=[name for name, _ in READS])
    def test_read_names_what_is_no_page(self, name, says, run, place):
        assert re.search(says, refused(run, place, "glyphraster", "read", name))

    def test_read_names_the_page_that_is_cut_off(self, run, place):
        run("glyphraster", "render", DEMO, *CLAUDE, "--out", "pages")
        page = Path("pages", "page-002.png")
        page.write_bytes(page.read_bytes()[:3000])
        line = refused(run, place, "glyphraster", "read", *sorted(Path("pages").iterdir()))
        assert re.search(r"page-002\.png: the PNG of 3000 bytes is damaged or cut off at byte \d+", line)

    def test_read_names_the_characters_of_a_page_that_is_missing(self, run, place):
        run("glyphraster", "render", DEMO, *CLAUDE, "--out", "pages")
        line = refused(run, place, "glyphraster", "read", "pages/page-001.png", "pages/page-003.png")
        pages = r"between page 1 \(page-001\.png\) and page 3 \(page-003\.png\)"
        assert re.search(rf"characters \d+ to \d+ are missing {pages}", line)

    def test_a_page_with_any_byte_changed_is_refused_by_name(self, run, place):
        run("glyphraster", "render", "text", *CLAUDE, "--out", "pages")
        page = Path("pages", "page-001.png")
        whole = page.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            page.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            ran = run("glyphraster", "read", page)
            assert ran.code == 2
            assert re.fullmatch(r"glyphraster: page-001\.png[^\n]+\n", ran.err)

    @pytest.mark.parametrize(("arguments", "says"), FONTS, ids=[" ".join(given[:2]) for given, _ in FONTS])
    def test_font_names_what_it_cannot_use(self, arguments, says, run, place):
        assert re.search(says, refused(run, place, "glyphraster", "font", *arguments))
