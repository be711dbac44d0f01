"""``contextkit compact``, ``restore`` and ``recall``, as a user runs them on the sessions of tests/cases."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import contextkit as ck
import glyphraster as gr
from contextkit import cli
from glyphraster.png import decode_png

CASES = Path(__file__).parents[1] / "cases"
DEMO = CASES / "demo" / "session.jsonl"
SESSIONS = sorted([*CASES.glob("*/session.jsonl"), *CASES.glob("*/request.json")])
FABLE = ("--model", "claude-fable-5")
TIGHT = ("--window", "60000")
ONE_BIT = ["claude-opus-4-8", "claude-sonnet-4-5", "gpt-5.5", "gpt-4o", "gemini-3.8-flash"]
EIGHT_BIT = ["grok-4.7", "qwen3.8-max"]


class Ran:
    """What a command left behind: exit code, standard output and error."""

    def __init__(self, code, out, err):
        self.code, self.raw, self.out, self.err = code, out, out.decode(), err.decode()


@pytest.fixture
def contextkit(capfdbinary, monkeypatch, tmp_path):
    """The command line, run in this process from an empty directory; wide enough for a row of the table per line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["contextkit", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ran(ended.value.code or 0, *capfdbinary.readouterr())

    return run


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The output directory of the demo session for Claude, and what the command printed."""
    directory = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-m", "contextkit", "compact", DEMO, "--model", "claude-opus-4-8", *TIGHT]
    done = subprocess.run(
        [*command, "--out", directory], capture_output=True, env={**os.environ, "COLUMNS": "300"}, check=False
    )
    return directory, Ran(done.returncode, done.stdout, done.stderr)


def as_json(path):
    return json.loads(Path(path).read_bytes())


def tree(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


def pages_on_disk(directory):
    return [path.read_bytes() for path in sorted((directory / "pages").iterdir())]


def images_of(request):
    """The image blocks of a request of either wire, with their bytes."""
    blocks = [
        block for message in request["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    sources = [(block, block["source"]["data"]) for block in blocks if block["type"] == "image"]
    urls = [
        (block, block["image_url"]["url"].partition("base64,")[2]) for block in blocks if block["type"] == "image_url"
    ]
    return [(block, base64.b64decode(text)) for block, text in sources + urls]


def table_rows(printed):
    """The rows of the table of steps: rung, what it took, tokens before and after."""
    lines = [line for line in printed.splitlines() if line.startswith("│")]
    return [tuple(cell.strip() for cell in line.strip("│").split("│")) for line in lines]


class TestOutput:
    def test_it_ends_with_0_and_says_nothing_on_standard_error(self, demo):
        _, ran = demo
        assert (ran.code, ran.err) == (0, "")

    def test_the_request_is_json_with_model_messages_and_the_reserve_as_cap_of_the_answer(self, demo):
        directory, _ = demo
        request, report = as_json(directory / "request.json"), as_json(directory / "report.json")
        assert request["model"] == "claude-opus-4-8"
        assert request["messages"]
        assert request["max_tokens"] == report["budget"]["reserve_tokens"]

    def test_the_request_breaks_no_rule_of_its_provider(self, demo):
        directory, _ = demo
        assert ck.violations(as_json(directory / "request.json"), "anthropic") == []

    def test_the_pages_read_back_to_the_source(self, demo):
        directory, _ = demo
        assert gr.read((directory / "pages").iterdir()) == (directory / "source.txt").read_text(encoding="utf-8")

    def test_the_numbers_of_every_step_in_the_report_are_those_printed(self, demo):
        directory, ran = demo
        steps = as_json(directory / "report.json")["steps"]
        numbers = [(step["rung"], f"{step['tokens_before']:,}", f"{step['tokens_after']:,}") for step in steps]
        assert [(rung, before, after) for rung, _, before, after in table_rows(ran.out)] == numbers

    def test_the_totals_of_the_report_are_those_printed(self, demo):
        directory, ran = demo
        report = as_json(directory / "report.json")
        budget = report["budget"]
        for number in (
            report["tokens_before"],
            report["tokens_after"],
            budget["window_tokens"],
            budget["limit_tokens"],
            budget["trigger_tokens"],
            budget["target_tokens"],
        ):
            assert f"{number:,}" in ran.out
        assert f"{len(report['pages'])} page(s)" in ran.out

    def test_every_handle_of_the_report_is_in_the_recall_store(self, demo):
        directory, _ = demo
        named = {edit["handle"] for step in as_json(directory / "report.json")["steps"] for edit in step["edits"]}
        assert named
        assert named == {path.stem for path in (directory / "recall").glob("r*.json")}

    def test_the_transcript_loads_and_says_what_the_request_says(self, demo):
        directory, _ = demo
        transcript = ck.load_transcript(directory / as_json(directory / "report.json")["transcript"])
        encoded = ck.encode(transcript.conversation, "anthropic")
        assert encoded["messages"] == as_json(directory / "request.json")["messages"]

    def test_the_report_states_form_size_and_digest_of_the_input(self, demo):
        directory, _ = demo
        said = as_json(directory / "report.json")["input"]
        assert (said["form"], said["bytes"]) == ("claude-code", DEMO.stat().st_size)

    def test_the_report_counts_the_bytes_of_the_request(self, demo):
        directory, _ = demo
        assert as_json(directory / "report.json")["request_bytes"] == (directory / "request.json").stat().st_size

    def test_one_line_names_model_cell_evidence_and_the_way_to_the_originals(self, demo):
        directory, ran = demo
        (line,) = [line for line in ran.out.splitlines() if "contextkit recall" in line]
        assert re.search(r"Opus 4\.8 in cells of \d+x\d+ px .*\[.+, \d{4}-\d\d-\d\d\]", line)
        assert f"contextkit recall {directory} HANDLE" in line

    def test_without_pages_the_line_says_so_and_names_the_way_to_the_originals(self, contextkit):
        asked = ("--model", "claude-opus-4-8", "--window", "140000", "--rungs", "elide")
        said = contextkit("compact", DEMO, *asked, "--out", "out").out
        assert "Nothing is on pages. Everything taken is a handle away: contextkit recall out HANDLE" in said

    def test_when_nothing_was_taken_the_line_says_so(self, contextkit):
        said = contextkit("compact", DEMO, "--model", "claude-opus-4-8", "--out", "out").out
        assert "Nothing is on pages. Nothing was taken." in said

    def test_the_default_output_stands_here_and_is_named_after_the_session(self, contextkit, tmp_path):
        contextkit("compact", DEMO, "--model", "claude-opus-4-8")
        assert [path.name for path in tmp_path.iterdir()] == ["session-compact"]

    def test_a_second_run_replaces_the_first_and_leaves_no_page_of_it(self, contextkit, tmp_path):
        contextkit("compact", DEMO, "--model", "gpt-5.5", *TIGHT, "--out", "out")
        contextkit("compact", DEMO, "--model", "claude-fable-5", *TIGHT, "--out", "out")
        named = [Path(page["file"]).name for page in as_json("out/report.json")["pages"]]
        assert sorted(path.name for path in Path("out/pages").iterdir()) == named
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


class TestPages:
    @pytest.mark.parametrize("model", [*ONE_BIT, *EIGHT_BIT])
    def test_no_page_is_resized_and_each_costs_what_the_profile_bills(self, model, contextkit):
        report = json.loads(contextkit("compact", DEMO, "--model", model, *TIGHT, "--out", "out", "--json").out)
        profile = gr.page_profile(model)
        assert report["pages"]
        for page in report["pages"]:
            height, width = decode_png(Path("out", page["file"]).read_bytes())[0].shape
            assert (height, width) == (page["height_px"], page["width_px"])
            assert profile.resized(height_px=height, width_px=width) == (height, width)
            assert page["tokens"] == profile.tokens(height_px=height, width_px=width)

    @pytest.mark.parametrize("model", ONE_BIT)
    def test_where_one_bit_is_taken_the_request_holds_the_very_files(self, model, contextkit):
        contextkit("compact", DEMO, "--model", model, *TIGHT, "--out", "out")
        assert [png for _, png in images_of(as_json("out/request.json"))] == pages_on_disk(Path("out"))

    @pytest.mark.parametrize("model", EIGHT_BIT)
    def test_where_eight_bit_is_needed_the_request_holds_the_same_pixels_at_eight_bit(self, model, contextkit):
        contextkit("compact", DEMO, "--model", model, *TIGHT, "--out", "out")
        sent, kept = [png for _, png in images_of(as_json("out/request.json"))], pages_on_disk(Path("out"))
        assert {png[24] for png in sent} == {8}
        assert {png[24] for png in kept} == {1}
        for one, other in zip(sent, kept, strict=True):
            assert (decode_png(one)[0] == decode_png(other)[0]).all()

    def test_claude_pages_on_its_own_route_turn_a_silent_downscale_into_an_error(self, demo):
        directory, _ = demo
        blocks = [block for block, _ in images_of(as_json(directory / "request.json"))]
        assert [block["transformations"] for block in blocks] == [{"oversized_image": "error"}] * len(blocks)

    def test_claude_pages_on_another_route_carry_no_such_field(self, contextkit):
        options = ("--model", "anthropic/claude-opus-4.8", "--route", "openrouter", *TIGHT, "--out", "out")
        contextkit("compact", DEMO, *options)
        assert {tuple(sorted(block)) for block, _ in images_of(as_json("out/request.json"))} == {("image_url", "type")}

    def test_snapshot_alone_draws_pages(self, contextkit):
        contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--rungs", "snapshot", "--out", "out")
        report = as_json("out/report.json")
        assert [step["rung"] for step in report["steps"]] == ["snapshot"]
        assert gr.read(Path("out/pages").iterdir()) == Path("out/source.txt").read_text(encoding="utf-8")


class TestRoutes:
    def test_openrouter_takes_an_openai_chat_request(self, contextkit):
        options = ("--model", "anthropic/claude-opus-4.8", "--route", "openrouter", *TIGHT, "--out", "out")
        contextkit("compact", DEMO, *options)
        request = as_json("out/request.json")
        assert (request["model"], as_json("out/report.json")["model"]["wire"]) == (
            "anthropic/claude-opus-4.8",
            "openai-chat",
        )
        assert ck.violations(request, "openai-chat") == []

    def test_an_unknown_model_is_taken_for_one_that_does_not_see_and_the_output_says_so(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "nobody-knows-1", *TIGHT, "--summarizer", "extractive")
        assert ran.code == 0
        assert "nobody-knows-1 (default)" in ran.out
        assert "nobody-knows-1 does not see images, as far as is known" in ran.out

    def test_square_brackets_in_a_model_id_are_printed_as_they_are(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "we[/red]ird", *TIGHT, "--summarizer", "extractive")
        assert "we[/red]ird does not see images" in ran.out


class TestDryRun:
    def test_it_prints_the_rows_of_the_real_run(self, contextkit):
        options = ("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--out", "out")
        dry, real = contextkit(*options, "--dry-run"), contextkit(*options)
        assert table_rows(dry.out)
        assert table_rows(dry.out) == table_rows(real.out)

    def test_it_writes_nothing(self, contextkit, tmp_path):
        contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--dry-run")
        assert list(tmp_path.iterdir()) == []

    def test_it_leaves_an_earlier_output_as_it_was(self, contextkit, tmp_path):
        contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--out", "out")
        before = tree(tmp_path)
        contextkit("compact", DEMO, "--model", "gpt-5.5", *TIGHT, "--out", "out", "--dry-run")
        assert tree(tmp_path) == before


class TestJson:
    def test_standard_output_is_one_document_and_the_report_on_disk(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--out", "out", "--json")
        assert json.loads(ran.out) == as_json("out/report.json")

    def test_a_dry_run_reports_the_steps_of_the_real_run(self, contextkit):
        options = ("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--json")
        dry, real = json.loads(contextkit(*options, "--dry-run").out), json.loads(contextkit(*options).out)
        assert (dry["steps"], dry["pages"]) == (real["steps"], real["pages"])

    def test_a_session_that_does_not_fit_is_reported_with_the_reason(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--rungs", "elide", "--json")
        report = json.loads(ran.out)
        assert (ran.code, report["fits"]) == (3, False)
        assert f"contextkit: {report['why_not']}\n" == ran.err


class TestLimits:
    def test_above_the_target_it_fits_with_a_warning_that_names_the_numbers(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "claude-opus-4-8", "--window", 120_000, "--rungs", "elide")
        report = as_json("session-compact/report.json")
        after, budget = report["tokens_after"], report["budget"]
        assert budget["target_tokens"] < after <= budget["limit_tokens"]
        assert ran.code == 0
        assert (
            f"warning: {after:,} tokens fit the limit of {budget['limit_tokens']:,} but stay above the target of "
            f"{budget['target_tokens']:,}"
        ) in ran.out

    def test_no_warning_is_given_when_the_target_is_met(self, demo):
        directory, ran = demo
        assert as_json(directory / "report.json")["meets_target"]
        assert "warning" not in ran.out

    def test_below_the_trigger_there_is_nothing_to_do_and_nothing_leaves(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "claude-opus-4-8", "--out", "out")
        assert "nothing to do: it is below the trigger" in ran.out
        assert contextkit("recall", "out").out == ""

    def test_the_written_request_needs_nothing_more(self, demo, contextkit):
        directory, _ = demo
        request = directory / "request.json"
        ran = contextkit("compact", request, "--model", "claude-opus-4-8", *TIGHT, "--out", "again")
        assert "nothing to do: it is below the trigger" in ran.out
        assert as_json("again/request.json") == as_json(request)

    def test_what_cannot_fit_ends_with_3_and_one_line_with_the_numbers_and_the_remedies(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--rungs", "elide")
        assert ran.code == 3
        assert ran.err.count("\n") == 1
        assert re.search(r"over the limit of 48,000 \(window 60,000 less 12,000 for the answer\)", ran.err)
        assert "--rungs images,snapshot,summary" in ran.err
        assert "a larger window than 60,000 (--window)" in ran.err

    def test_what_cannot_fit_writes_nothing(self, contextkit, tmp_path):
        contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--rungs", "elide", "--out", "out")
        assert list(tmp_path.iterdir()) == []

    def test_what_cannot_fit_leaves_an_earlier_output_byte_for_byte(self, contextkit, tmp_path):
        contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--out", "out")
        before = tree(tmp_path)
        contextkit("compact", DEMO, "--model", "claude-opus-4-8", *TIGHT, "--rungs", "elide", "--out", "out")
        assert tree(tmp_path) == before


class TestSummaries:
    def test_a_model_that_does_not_see_fits_with_the_extractive_summary(self, contextkit):
        ran = contextkit("compact", DEMO, "--model", "deepseek-chat", *TIGHT, "--summarizer", "extractive")
        report = as_json("session-compact/report.json")
        assert ran.code == 0
        assert report["tokens_after"] <= report["budget"]["limit_tokens"]
        assert (report["steps"][-1]["rung"], report["pages"]) == ("summary", [])

    def test_without_a_summariser_it_ends_with_3_and_names_the_options(self, contextkit, tmp_path):
        ran = contextkit("compact", DEMO, "--model", "deepseek-chat", *TIGHT)
        assert (ran.code, ran.err.count("\n"), list(tmp_path.iterdir())) == (3, 1, [])
        assert "a summariser (--summarizer openai|anthropic|extractive|module:callable)" in ran.err
        assert "a model that sees images (--model)" in ran.err

    def test_the_table_names_the_options_in_full_however_narrow_it_is(self, contextkit, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        ran = contextkit("compact", DEMO, "--model", "deepseek-chat", *TIGHT)
        assert "…" not in ran.out

    def test_a_callable_of_ones_own_is_asked(self, tmp_path):
        (tmp_path / "mine.py").write_text(
            "def summarize(request):\n    return f'{len(request.text)} characters, said in brief.'\n", encoding="utf-8"
        )
        command = [sys.executable, "-m", "contextkit", "compact", DEMO, "--model", "deepseek-chat", *TIGHT]
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [*command, "--summarizer", "mine:summarize", "--out", tmp_path / "out"],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"characters, said in brief." in (tmp_path / "out" / "request.json").read_bytes()

    def test_the_printed_total_is_that_of_the_summary_as_it_came_out(self, contextkit, monkeypatch, tmp_path):
        (tmp_path / "brief.py").write_text("def summarize(request):\n    return 'In brief.'\n", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        ran = contextkit("compact", DEMO, "--model", "deepseek-chat", *TIGHT, "--summarizer", "brief:summarize")
        report = as_json("session-compact/report.json")
        assert report["tokens_after"] < report["steps"][-1]["tokens_after"]
        assert f"about {report['tokens_after']:,} tokens, ready to POST" in ran.out


class TestOriginals:
    def test_restore_gives_the_session_back_byte_for_byte(self, demo, contextkit):
        directory, _ = demo
        assert contextkit("restore", directory).raw == DEMO.read_bytes()

    def test_restore_writes_a_file_when_told_where(self, demo, contextkit):
        directory, _ = demo
        ran = contextkit("restore", directory, "--out", "session.jsonl")
        assert (ran.raw, Path("session.jsonl").read_bytes()) == (b"", DEMO.read_bytes())

    def test_a_session_from_a_pipe_is_kept_whole(self, tmp_path):
        command = [sys.executable, "-m", "contextkit", "compact", "/dev/stdin", "--model", "claude-opus-4-8"]
        subprocess.run(
            [*command, "--out", tmp_path / "out"], input=DEMO.read_bytes(), stdout=subprocess.DEVNULL, check=True
        )
        assert (tmp_path / "out" / "recall" / "input").read_bytes() == DEMO.read_bytes()

    def test_recall_lists_every_handle(self, demo, contextkit):
        directory, _ = demo
        listed = contextkit("recall", directory).out.splitlines()
        edits = [edit for step in as_json(directory / "report.json")["steps"] for edit in step["edits"]]
        assert listed == sorted({edit["handle"] for edit in edits})

    def test_recall_prints_the_text_of_an_original(self, demo, contextkit):
        directory, _ = demo
        steps = as_json(directory / "report.json")["steps"]
        edit = next(edit for step in steps for edit in step["edits"] if edit["action"] == "elide")
        results = ck.load(DEMO).messages[edit["first_message"]].of(ck.ToolResult)
        texts = [part.text for result in results for part in result.content if isinstance(part, ck.Text)]
        printed = contextkit("recall", directory, edit["handle"]).out
        assert any(text in printed for text in texts)

    def test_recall_prints_the_exact_original_as_json(self, demo, contextkit):
        directory, _ = demo
        handle = contextkit("recall", directory).out.splitlines()[0]
        assert json.loads(contextkit("recall", directory, handle, "--json").out) == as_json(
            directory / "recall" / f"{handle}.json"
        )

    def test_the_imaged_messages_come_back_as_they_were(self, demo, contextkit):
        directory, _ = demo
        steps = as_json(directory / "report.json")["steps"]
        edit = next(edit for step in steps for edit in step["edits"] if edit["action"] == "snapshot")
        kept = json.loads(contextkit("recall", directory, edit["handle"], "--json").out)["messages"]
        assert len(kept) == edit["last_message"] - edit["first_message"] + 1


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.parent.name)
class TestEverySession:
    """Each session of tests/cases, in a window a tenth larger than itself, so that the ladder has to act."""

    @pytest.fixture
    def ran(self, session, contextkit):
        whole = json.loads(contextkit("compact", session, "--model", "claude-opus-4-8", "--dry-run", "--json").out)
        window = int(whole["tokens_before"] * 1.1)
        return contextkit("compact", session, "--model", "claude-opus-4-8", "--window", window, "--out", "out")

    def test_it_fits_or_one_line_says_why_not_and_nothing_is_written(self, session, ran):
        if ran.code == 0:
            assert ck.violations(as_json("out/request.json"), "anthropic") == []
        else:
            assert (ran.code, ran.err.count("\n"), Path("out").exists()) == (3, 1, False)

    def test_as_it_stands_it_gives_a_sound_request_for_either_wire(self, session, contextkit):
        for model, wire in (("claude-opus-4-8", "anthropic"), ("gpt-5.5", "openai-chat")):
            contextkit("compact", session, "--model", model, "--out", wire)
            assert ck.violations(as_json(f"{wire}/request.json"), wire) == []

    def test_restore_gives_it_back_byte_for_byte(self, session, contextkit):
        contextkit("compact", session, "--model", "claude-opus-4-8", "--out", "out")
        assert contextkit("restore", "out").raw == session.read_bytes()


def a_request(*messages):
    Path("request.json").write_text(json.dumps({"model": "m", "max_tokens": 9, "messages": messages}), encoding="utf-8")


class TestWhatAReviewFound:
    def test_reasoning_that_the_wire_cannot_carry_is_told(self, contextkit):
        thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        spoken = [thought, {"type": "text", "text": "Yes."}]
        a_request(
            {"role": "user", "content": "Well?"},
            {"role": "assistant", "content": spoken},
            {"role": "user", "content": "Go."},
        )
        assert "note: 1 reasoning block(s) dropped" in contextkit("compact", "request.json", "--model", "gpt-4o").out

    def test_a_text_with_bytes_that_were_no_text_is_the_same_in_the_source_and_read_from_the_pages(self, contextkit):
        said = [{"role": role, "content": f"{role} \udc85 " + "word " * 6000} for role in ("user", "assistant") * 2]
        a_request(*said, {"role": "user", "content": "Go on."})
        contextkit("compact", "request.json", *FABLE, "--window", "30000", "--rungs", "snapshot", "--out", "out")
        read = subprocess.run(
            [sys.executable, "-m", "glyphraster.cli", "read", *sorted(Path("out/pages").iterdir())],
            capture_output=True,
            check=True,
        )
        assert b"\x85" in read.stdout
        assert read.stdout == Path("out/source.txt").read_bytes()

    @pytest.mark.parametrize("place", ["pages/notes.txt", "recall/notes.txt"])
    def test_an_output_with_a_file_of_the_users_in_it_is_not_replaced(self, contextkit, place):
        ran = contextkit("compact", DEMO, *FABLE, "--out", "out")
        Path("out", place).write_text("mine", encoding="utf-8")
        ran = contextkit("compact", DEMO, *FABLE, "--out", "out")
        assert ran.code == 2
        assert "out exists and is no earlier output" in ran.err
        assert Path("out", place).read_text(encoding="utf-8") == "mine"

    def test_a_report_without_its_input_is_refused_in_one_line(self, contextkit):
        Path("bad").mkdir()
        Path("bad/report.json").write_text('{"schema": "contextkit-report", "version": 1}', encoding="utf-8")
        ran = contextkit("restore", "bad")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "is no report of version 1" in ran.err

    @pytest.mark.parametrize(
        "arguments", [("compact",), ("compact", "x"), ("compact", "x", "--model", "m", "--window", "abc"), ("bake",)]
    )
    def test_a_command_line_that_does_not_parse_is_answered_in_one_line(self, contextkit, arguments):
        ran = contextkit(*arguments)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert ran.err.endswith("; see contextkit --help\n")
