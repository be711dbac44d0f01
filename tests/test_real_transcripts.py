"""Every real pi and Claude Code transcript beside the checkout becomes a request that fits, from one command."""

import contextlib
import importlib.util
import io
import json
import sys
from pathlib import Path

import pytest

import contextkit as ck
import glyphraster as gr
from contextkit import cli

SHARED = Path(__file__).resolve().parents[2] / "shared"
MODELS = {"claude-opus-4-8": "anthropic", "gpt-5.5": "openai-chat"}
WITHOUT_MESSAGES = {"sample-summary.jsonl", "sample-queue_operation.jsonl"}


def found(pattern):
    """The transcripts, relative to what is shared; a stand-in, whose tests are skipped, where nothing is."""
    return sorted(str(path.relative_to(SHARED)) for path in SHARED.glob(f"transcripts/{pattern}")) or ["transcripts"]


PI, CLAUDE_CODE = found("pi/*.jsonl"), found("claude-code/*.jsonl")
SESSIONS = [name for name in PI + CLAUDE_CODE if Path(name).name not in WITHOUT_MESSAGES]


def contextkit(*arguments):
    """Run the command line; return its exit code and standard error."""
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as said,
    ):
        patch.setattr(sys, "argv", ["contextkit", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return ended.value.code or 0, said.getvalue()


def compacted(shared, name, model, out, *options):
    options = ("--model", model, "--window", "60000", "--out", out, *options)
    assert contextkit("compact", shared / name, *options) == (0, "")
    return out


def as_json(path):
    return json.loads(path.read_bytes())


@pytest.fixture(scope="module")
def oracle(shared):
    """The rules of the field cases, written by others."""
    spec = importlib.util.spec_from_file_location("oracle", shared / "cases" / "tools" / "oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return request.param


@pytest.fixture(scope="module", params=SESSIONS, ids=lambda name: Path(name).stem)
def session(request):
    return request.param


@pytest.fixture(scope="module")
def output(shared, session, model, tmp_path_factory):
    """The output directory of one session for one model, made once."""
    return compacted(shared, session, model, tmp_path_factory.mktemp("real") / "out")


@pytest.fixture(scope="module", params=PI, ids=lambda name: Path(name).stem)
def pi_session(request):
    return request.param


@pytest.fixture(scope="module")
def drawn(shared, pi_session, model, tmp_path_factory):
    """The output directory of one pi session for one model, with the snapshot rung alone."""
    return compacted(shared, pi_session, model, tmp_path_factory.mktemp("pi") / "out", "--rungs", "snapshot")


class TestEverySession:
    def test_it_fits_the_limit(self, output):
        report = as_json(output / "report.json")
        assert report["tokens_after"] <= report["budget"]["limit_tokens"]

    def test_the_request_breaks_no_rule_of_its_provider(self, output, model, oracle):
        request = as_json(output / "request.json")
        assert oracle.violations(request, MODELS[model]) == []
        assert ck.violations(request, MODELS[model]) == []

    def test_the_pages_on_disk_read_back_to_the_source(self, output):
        source = (output / "source.txt").read_bytes().decode("utf-8", "surrogatepass")
        assert gr.read((output / "pages").iterdir()) == source

    def test_restore_gives_it_back_byte_for_byte(self, output, shared, session, tmp_path):
        assert contextkit("restore", output, "--out", tmp_path / "back") == (0, "")
        assert (tmp_path / "back").read_bytes() == (shared / session).read_bytes()


class TestPages:
    def test_a_pi_session_is_drawn_where_snapshot_is_the_only_rung(self, drawn):
        report = as_json(drawn / "report.json")
        assert [step["rung"] for step in report["steps"]] == ["snapshot"]
        assert len(report["pages"]) == len(list((drawn / "pages").iterdir())) > 0

    def test_its_pages_read_back_to_the_source(self, drawn):
        assert gr.read((drawn / "pages").iterdir()) == (drawn / "source.txt").read_text(encoding="utf-8")

    def test_its_pages_reach_the_model_as_they_are(self, drawn, model):
        sizes = [(page["height_px"], page["width_px"]) for page in as_json(drawn / "report.json")["pages"]]
        profile = gr.page_profile(model)
        assert [profile.resized(height_px=height, width_px=width) for height, width in sizes] == sizes

    def test_its_request_breaks_no_rule_of_its_provider(self, drawn, model, oracle):
        assert oracle.violations(as_json(drawn / "request.json"), MODELS[model]) == []


@pytest.mark.parametrize("name", sorted(WITHOUT_MESSAGES))
class TestNothingSaid:
    def test_a_log_without_a_message_is_a_format_error_of_one_line(self, name, shared):
        with pytest.raises(ck.FormatError, match=r"log without any message; its 1 record\(s\) are 1 x") as raised:
            ck.load(shared / "transcripts" / "claude-code" / name)
        assert "\n" not in str(raised.value)

    def test_the_command_says_it_in_one_line_and_writes_nothing(self, name, shared, model, tmp_path):
        session = shared / "transcripts" / "claude-code" / name
        code, said = contextkit("compact", session, "--model", model, "--out", tmp_path / "out")
        assert (code, said.count("\n"), list(tmp_path.iterdir())) == (2, 1, [])
