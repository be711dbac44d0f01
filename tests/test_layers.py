"""Who may import whom, what a root import loads, and what the roots offer: docs and code cannot drift apart."""

import ast
import graphlib
import importlib.util
import inspect
import itertools
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import contextkit
import glyphraster

ROOT = Path(__file__).parents[1]
LAYERS = {
    "glyphraster": [
        "errors",
        "font png _lanes tables billing stream escapes clean fontfile charset rules choice output checksum",
        "bdf distance legibility provider _kernel_cache _vectors celltables",
        "source cells geometry typeface fitting precedence profiles _kernels",
        "lookup",
        "importer source_format chain",
        "rows",
        "flow lines decor scan engine",
        "layout",
        "page recognise",
        "alteration parallel",
        "raster reader specimen commandline",
        "files",
        "warmup bench",
        "__init__",
        "cli",
    ],
    "contextkit": [
        "errors",
        "messages models",
        "tokens plaintext recall turns",
        "protocols",
        "codecs rungs summarizers transcript",
        "ladder",
        "request",
        "report",
        "__init__",
        "cli __main__",
    ],
}
"""From the ground up; a module may import from the lines above its own. A package is one module here."""

SIDEWAYS = {
    ("glyphraster.font", "glyphraster.output"),
    ("glyphraster.png", "glyphraster._lanes"),
    ("glyphraster.png", "glyphraster.checksum"),
    ("contextkit.turns", "contextkit.tokens"),
    ("contextkit.__main__", "contextkit.cli"),
}
"""The imports within a line, importer first; none goes the other way."""

OPEN_TO_CONTEXTKIT = {f"glyphraster.{module}" for module in ("__init__", "errors", "output", "commandline")}
WRITERS = {"write_bytes", "write_text", "tofile", "savez", "savez_compressed", "savetxt"}
OPENERS = {"open", "fdopen"}
SLOW_TO_LOAD = {"numba", "llvmlite", "PIL", "freetype", "sqlalchemy", "rich", "typer", "click", "anthropic", "openai"}


def files():
    return [file for package in LAYERS for file in sorted((ROOT / package).rglob("*.py"))]


def dotted(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def imported(file):
    """The dotted names that a file imports, at the top and inside functions; those of ours as files."""
    package = ".".join(file.relative_to(ROOT).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {_file_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            found |= {_from(module, alias.name) for alias in node.names}
    return found


def _from(module, name):
    """``from glyphraster import tables`` imports a module, ``from glyphraster import read`` from the root."""
    inside = ROOT.joinpath(*module.split("."), name)
    return _file_of(f"{module}.{name}" if inside.is_dir() or inside.with_suffix(".py").is_file() else module)


def _file_of(module):
    return f"{module}.__init__" if ROOT.joinpath(*module.split("."), "__init__.py").is_file() else module


IMPORTS = {dotted(file): imported(file) for file in files()}


def unit(name):
    """A module, or the package inside a package that it belongs to: ``contextkit.codecs``."""
    return ".".join(name.split(".")[:2])


def height(name):
    package, module = unit(name).split(".")
    return next((at for at, line in enumerate(LAYERS[package]) if module in line.split()), None)


def edges(of, to):
    """Every import between the units of two packages."""
    ours = {(unit(name), unit(target)) for name, targets in IMPORTS.items() for target in targets if within(target, to)}
    return {(name, target) for name, target in ours if within(name, of) and name != target}


def within(name, package):
    return name.split(".")[0] == package


class TestLayers:
    @pytest.mark.parametrize("package", LAYERS)
    def test_every_module_has_its_place(self, package):
        assert [name for name in IMPORTS if within(name, package) and height(name) is None] == []

    @pytest.mark.parametrize("package", LAYERS)
    def test_every_place_has_its_module(self, package):
        listed = {f"{package}.{module}" for line in LAYERS[package] for module in line.split()}
        assert listed == {unit(name) for name in IMPORTS if within(name, package)}

    @pytest.mark.parametrize("package", LAYERS)
    def test_imports_go_upwards_only(self, package):
        level_or_down = {
            (name, target) for name, target in edges(package, package) if height(target) >= height(name)
        }
        assert level_or_down <= SIDEWAYS

    def test_every_exception_within_a_line_is_in_use(self):
        there = {edge for package in LAYERS for edge in edges(package, package)}
        assert there >= SIDEWAYS

    def test_no_import_comes_back_to_where_it_started(self):
        ours = {name: {target for target in targets if target in IMPORTS} for name, targets in IMPORTS.items()}
        assert len(list(graphlib.TopologicalSorter(ours).static_order())) == len(IMPORTS)

    def test_glyphraster_has_never_heard_of_contextkit(self):
        assert edges("glyphraster", "contextkit") == set()

    def test_contextkit_uses_glyphraster_through_its_root_and_what_is_open_to_it(self):
        assert {target for _, target in edges("contextkit", "glyphraster")} <= OPEN_TO_CONTEXTKIT

    def test_only_output_opens_files_to_write(self):
        writers = {dotted(file) for file in files() if writes(file)}
        assert writers == {"glyphraster.output"}

    def test_only_the_kernels_and_what_they_stand_on_import_numba(self):
        users = {name for name, targets in IMPORTS.items() if any(within(target, "numba") for target in targets)}
        assert users == {f"glyphraster.{module}" for module in ("_kernels", "_kernel_cache", "_vectors")}

    def test_all_code_is_within_the_size_of_a_file(self):
        longest = {dotted(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files()}
        assert {name: lines for name, lines in longest.items() if lines > 400} == {}


def writes(file):
    """Whether a file of ours calls what would leave half a file behind when it fails."""
    calls = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return any(_called(call) in WRITERS or (_called(call) in OPENERS and _mode(call) & set("wax+")) for call in calls)


def _called(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _mode(call):
    """Every letter of the short strings among the arguments: the mode is one of them, `"r"` when there is none."""
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    words = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return {letter for word in words if set(word) <= set("rwaxbt+") for letter in word}


def modules_loaded(*command):
    """The top-level names of all modules that a Python run imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True, cwd=ROOT
    )
    names = re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", done.stderr, re.M)
    assert "sys" in names or "site" in names
    return {name.split(".")[0] for name in names}


class TestLoading:
    def test_the_roots_and_what_the_commands_share_load_nothing_slow(self):
        loaded = modules_loaded("-c", "import contextkit, glyphraster, glyphraster.commandline")
        assert {"contextkit", "glyphraster"} <= loaded
        assert loaded & SLOW_TO_LOAD == set()

    @pytest.mark.parametrize("name", ["contextkit", "glyphraster"])
    def test_the_help_of_a_command_does_not_load_numba_or_a_provider(self, name):
        script = Path(sysconfig.get_path("scripts")) / name
        assert modules_loaded(script, "--help") & {"numba", "llvmlite", "PIL", "anthropic", "openai"} == set()

    @pytest.mark.parametrize(("name", "commands"), [
        ("contextkit", ["compact", "restore", "recall"]),
        ("glyphraster", ["render", "read", "warmup", "font", "bench"]),
    ])
    def test_the_help_of_a_command_names_its_commands(self, name, commands):
        script = Path(sysconfig.get_path("scripts")) / name
        said = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
        assert [command for command in commands if not re.search(rf"\b{command}\b", said)] == []


ROOTS = [(glyphraster, 20), (contextkit, 32)]
EXPORTS = [(package, name) for package, _ in ROOTS for name in package.__all__]


class TestExports:
    @pytest.mark.parametrize(("package", "most"), ROOTS, ids=lambda value: getattr(value, "__name__", ""))
    def test_a_root_offers_no_more_names_than_it_may(self, package, most):
        assert len(package.__all__) <= most

    @pytest.mark.parametrize(("package", "most"), ROOTS, ids=lambda value: getattr(value, "__name__", ""))
    def test_a_root_offers_each_name_once(self, package, most):
        assert sorted(set(package.__all__)) == sorted(package.__all__)

    @pytest.mark.parametrize(("package", "name"), EXPORTS, ids=[f"{root.__name__}.{name}" for root, name in EXPORTS])
    def test_an_offered_name_exists_and_is_documented(self, package, name):
        assert documentation(getattr(package, name)) or name in documented_constants()

    @pytest.mark.parametrize("package", [package for package, _ in ROOTS])
    def test_a_root_lists_what_it_offers_and_has_nothing_else(self, package):
        assert {*package.__all__} <= {*dir(package)}
        with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
            package.no_such_name  # noqa: B018


def documentation(value):
    """The docstring that someone wrote for a class or a function; not one that is inherited or made up."""
    if inspect.isclass(value):
        written = vars(value).get("__doc__") or ""
        return "" if written.startswith(f"{value.__name__}(") else written
    return value.__doc__ if inspect.isfunction(value) else ""


def documented_constants():
    """Names of all constants with a docstring below them, as Sphinx reads it."""
    found = set()
    for file in files():
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for node, below in itertools.pairwise(body):
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                targets = getattr(node, "targets", [getattr(node, "target", None)])
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found
