"""The wheel carries all that it needs, and works where nothing but it is installed."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"
UNREACHABLE = re.compile(r"Retrying \(|ConnectionError|NameResolutionError|ConnectTimeout|ProxyError|EnvironmentError")
"""What pip says when it cannot reach a registry, as opposed to one that does not have what was asked for."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built once from this checkout by the backend that pyproject.toml names."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", out],
        cwd=ROOT, check=True, capture_output=True,
    )
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel, tmp_path_factory):
    """A clean environment elsewhere, with the wheel and what it asks for, at the versions of the lock file."""
    home = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
    pins = re.findall(r"^\S+==[^\\\n]+", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M)
    (home / "constraints.txt").write_text("\n".join(pins), encoding="utf-8")
    command = [home / "venv" / BIN / "python", "-m", "pip", "install", "--disable-pip-version-check", "--retries", "1"]
    done = subprocess.run(
        [*command, "--constraint", home / "constraints.txt", wheel],
        cwd=home, env=_bare(), capture_output=True, text=True, check=False,
    )
    if done.returncode and UNREACHABLE.search(done.stdout + done.stderr):
        pytest.skip("the package registry cannot be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    return home


def _bare():
    """The environment without anything that would lead back to this checkout."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(elsewhere, cwd, script, *arguments):
    done = subprocess.run(
        [elsewhere / "venv" / BIN / script, *arguments], cwd=cwd, env=_bare(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def in_checkout(*patterns):
    return {str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)}


class TestContent:
    def test_it_carries_every_module_font_and_table(self, wheel):
        wanted = in_checkout(
            "glyphraster/**/*.py", "contextkit/**/*.py", "glyphraster/data/*.npz", "glyphraster/*.toml",
            "contextkit/*.toml", "*/py.typed",
        )
        assert {"glyphraster/data/glyph5x8.npz", "glyphraster/profiles.toml", "contextkit/models.toml"} <= wanted
        assert wanted - set(zipfile.ZipFile(wheel).namelist()) == set()

    def test_it_is_typed(self, wheel):
        assert {"glyphraster/py.typed", "contextkit/py.typed"} <= set(zipfile.ZipFile(wheel).namelist())

    def test_it_carries_the_licences_of_the_code_and_of_the_font(self, wheel):
        with zipfile.ZipFile(wheel) as opened:
            held = [name for name in opened.namelist() if ".dist-info/licenses/" in name]
            texts = {opened.read(name) for name in held}
        assert texts == {(ROOT / "LICENSE").read_bytes(), (ROOT / "fonts" / "LICENSE").read_bytes()}

    def test_it_carries_nothing_but_the_two_packages(self, wheel):
        tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {"glyphraster", "contextkit"}

    def test_it_brings_both_commands(self, wheel):
        with zipfile.ZipFile(wheel) as opened:
            (name,) = [name for name in opened.namelist() if name.endswith("entry_points.txt")]
            commands = re.findall(r"^(\w+) = ", opened.read(name).decode(), re.M)
        assert sorted(commands) == ["contextkit", "glyphraster"]


class TestElsewhere:
    def test_a_page_is_rendered_and_read_back_from_another_directory(self, elsewhere, tmp_path):
        text = "Wherever it is installed: ½ ș → 漢\n".encode() * 40
        (tmp_path / "text").write_bytes(text)
        run(elsewhere, tmp_path, "glyphraster", "render", "text", "--model", "claude-fable-5", "--out", "pages")
        assert run(elsewhere, tmp_path, "glyphraster", "read", "pages/page-001.png") == text

    def test_a_session_is_compacted_and_restored_from_another_directory(self, elsewhere, tmp_path):
        session = ROOT / "tests" / "cases" / "demo" / "session.jsonl"
        options = ("--model", "claude-opus-4-8", "--window", "60000", "--out", "out")
        run(elsewhere, tmp_path, "contextkit", "compact", session, *options)
        assert run(elsewhere, tmp_path, "contextkit", "restore", "out") == session.read_bytes()

    def test_the_code_that_ran_is_that_of_the_wheel(self, elsewhere, tmp_path):
        where = run(elsewhere, tmp_path, "python", "-c", "import glyphraster; print(glyphraster.__file__)").decode()
        assert Path(where.strip()).is_relative_to(elsewhere / "venv")
