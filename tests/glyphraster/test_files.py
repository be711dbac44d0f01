"""``render_files``: a directory of pages for each file."""

import os
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wide_font import tall_font

import glyphraster as gr
from glyphraster import files
from glyphraster.errors import ArgumentError, PngError
from glyphraster.output import text_bytes

FABLE = "claude-fable-5"
AWKWARD = {
    "crlf": b"one\r\ntwo\rthree\n\n",
    "latin-1": "Grüße\n".encode("latin-1"),
    "bom": "\ufeffș € 𝄞".encode(),
    "every byte": bytes(range(256)) * 3,
    "cut": "𝄞".encode()[:-1],
    "spaces": b" " * 70_000,
}


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=[1, 2, 5])
def workers(request):
    return request.param


def written(**contents):
    for name, content in contents.items():
        Path(name).write_bytes(content)
    return list(contents)


def read_back(directory):
    return text_bytes(gr.read(sorted(Path(directory).iterdir())))


def names(directory):
    return sorted(path.name for path in Path(directory).iterdir())


def some_text(size, seed=0):
    return "".join(random.Random(seed).choices("abcdefgh ,.;()=\n\t ș漢", k=size)).encode()


class TestPages:
    def test_every_file_reads_back_to_its_very_bytes(self, workers):
        results = gr.render_files(written(**AWKWARD), "out", FABLE, workers=workers)
        assert [result.error for result in results] == [None] * len(AWKWARD)
        assert {result.path.name: read_back(result.directory) for result in results} == AWKWARD

    @pytest.mark.parametrize("options", [
        {}, {"layout": "lines", "line_numbers": True, "caption": "file"}, {"tier": "legible"}, {"engine": "numba"},
    ], ids=lambda options: "-".join(options) or "none")
    def test_the_pages_of_a_file_are_those_of_render(self, options, workers):
        Path("file").write_bytes(some_text(300_000))
        [result] = gr.render_files(["file"], "out", "gpt-4o", workers=workers, **options)
        pages = gr.render(some_text(300_000).decode(), "gpt-4o", **options)
        assert names(result.directory) == [f"page-{page.index:03d}.png" for page in pages]
        assert [path.read_bytes() for path in sorted(result.directory.iterdir())] == [page.png() for page in pages]
        assert (result.pages, result.characters) == (len(pages), 300_000)

    def test_a_file_that_all_threads_share_reads_back(self, workers, monkeypatch):
        monkeypatch.setattr(files, "SHARED_FROM_BYTES", 1000)
        contents = {"small": b"small", "large": some_text(400_000), "next": b"next"}
        results = gr.render_files(written(**contents), "out", "gpt-4o", workers=workers)
        assert {result.path.name: read_back(result.directory) for result in results} == contents
        assert results[1].pages > 5

    @given(content=st.binary(min_size=1, max_size=60), size=st.integers(1, 7))
    def test_the_size_of_the_pieces_that_are_read_changes_nothing(self, content, size, tmp_path_factory):
        directory = tmp_path_factory.mktemp("pieces")
        (directory / "file").write_bytes(content)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "BLOCK_BYTES", size)
            [result] = gr.render_files([directory / "file"], directory / "out", FABLE, workers=1)
        assert read_back(result.directory) == content

    def test_a_pipe_is_a_file_as_well(self):
        os.mkfifo("pipe")
        writing = threading.Thread(target=Path("pipe").write_bytes, args=(b"through a pipe",))
        writing.start()
        [result] = gr.render_files(["pipe"], "out", FABLE, workers=1)
        writing.join()
        assert read_back(result.directory) == b"through a pipe"

    def test_a_cleaned_file_holds_what_the_view_shows(self):
        Path("log").write_bytes(b"\x1b[31mred\x1b[0m\n")
        [result] = gr.render_files(["log"], "out", FABLE, clean="terminal")
        assert (read_back(result.directory), result.characters) == (b"red\n", 4)

    def test_a_font_given_by_its_path_is_for_all_files(self):
        tall_font(range(0x6F00, 0x6F30)).save("tall.npz")
        contents = {f"file{number}": "漢".encode() for number in range(5)}
        results = gr.render_files(written(**contents), "out", FABLE, fonts=["glyph6x10", "tall.npz"], workers=1)
        assert [gr.read(sorted(result.directory.iterdir()), fonts="tall.npz") for result in results] == ["漢"] * 5


class TestDirectories:
    def test_a_directory_is_called_like_its_file_and_results_are_in_the_order_given(self, workers):
        given_names = [f"file-{number}" for number in (3, 1, 2, *range(4, 40))]
        results = gr.render_files(written(**dict.fromkeys(given_names, b"x")), "out", FABLE, workers=workers)
        assert [(str(result.path), result.directory) for result in results] == [
            (name, Path("out", name)) for name in given_names
        ]

    def test_equal_names_are_told_apart_in_the_order_given(self):
        for name in ("a", "b", "c", "d"):
            Path(name).mkdir()
            Path(name, "notes.txt").write_text(name, encoding="utf-8")
        paths = [Path(name, "notes.txt") for name in ("b", "a", "d", "c")]
        results = gr.render_files(paths, "out", FABLE)
        assert [result.directory.name for result in results] == [
            "notes.txt", "notes.txt-2", "notes.txt-3", "notes.txt-4",
        ]
        assert [read_back(result.directory) for result in results] == [b"b", b"a", b"d", b"c"]

    @pytest.mark.parametrize(("given_names", "expected"), [
        (["a", "x/a", "a-2"], ["a", "a-3", "a-2"]),
        (["a-2", "a", "x/a", "y/a"], ["a-2", "a", "a-3", "a-4"]),
        (["A", "x/a"], ["A", "a-2"]),
        (["x/../a", "./a"], ["a", "a-2"]),
    ])
    def test_no_name_is_taken_from_a_file_that_is_called_so(self, given_names, expected):
        Path("x").mkdir()
        Path("y").mkdir()
        for name in given_names:
            Path(name).write_bytes(b"x")
        assert [result.directory.name for result in gr.render_files(given_names, "out", FABLE)] == expected

    def test_earlier_pages_are_replaced_whole(self):
        Path("file").write_bytes(some_text(300_000))
        [before] = gr.render_files(["file"], "out", "gpt-4o")
        assert before.pages > 1
        Path("file").write_bytes(b"short")
        gr.render_files(["file"], "out", "gpt-4o")
        assert names("out/file") == ["page-001.png"]

    @pytest.mark.parametrize("name", ["page-001.png", "notes.txt"])
    def test_what_is_not_ours_stays(self, name):
        Path("file").write_bytes(b"x")
        Path("out/file").mkdir(parents=True)
        Path("out/file", name).write_bytes(b"somebody's")
        [result] = gr.render_files(["file"], "out", FABLE)
        assert "exists and is no earlier output" in str(result.error)
        assert Path("out/file", name).read_bytes() == b"somebody's"

    def test_pages_are_private_like_every_new_file(self):
        [result] = gr.render_files(written(file=b"x"), "out", FABLE)
        assert [path.stat().st_mode & 0o777 for path in result.directory.iterdir()] == [0o600]


class TestFailures:
    def test_one_failure_does_not_stop_the_rest(self, workers):
        Path("directory").mkdir()
        paths = [*written(first=b"first", empty=b""), "missing", "directory", *written(last=b"last")]
        results = gr.render_files(paths, "out", FABLE, workers=workers)
        assert [str(result.error) for result in results] == [
            "None",
            "empty is empty (0 bytes): there is nothing to draw",
            "cannot read missing: No such file or directory; give the path of a readable file",
            "cannot read directory: Is a directory; give the path of a readable file",
            "None",
        ]
        assert [(result.pages, result.characters) for result in results] == [(1, 5), (0, 0), (0, 0), (0, 0), (1, 4)]
        assert names("out") == ["first", "last"]

    def test_a_file_that_fails_half_way_leaves_the_earlier_pages(self, workers, monkeypatch):
        monkeypatch.setattr(files, "SHARED_FROM_BYTES", 1000)
        Path("file").write_bytes(some_text(300_000))
        gr.render_files(["file"], "out", "gpt-4o")
        before = {path.name: path.read_bytes() for path in Path("out/file").iterdir()}

        def png(page, mode=None, *, small=False):
            if page.index == 3:
                raise PngError("page 3 is too much")
            return b"half"

        monkeypatch.setattr(gr.Page, "png", png)
        [result] = gr.render_files(["file"], "out", "gpt-4o", workers=workers)
        assert str(result.error) == "page 3 is too much"
        assert {path.name: path.read_bytes() for path in Path("out/file").iterdir()} == before
        assert names("out") == ["file"]

    def test_a_full_disk_is_the_error_of_the_file_and_names_the_page(self, monkeypatch):
        def full(descriptor, mode):
            os.close(descriptor)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fdopen", full)
        [result] = gr.render_files(written(file=b"x"), "out", FABLE, workers=1)
        assert isinstance(result.error, OSError)
        assert "No space left on device" in str(result.error)
        assert "page-001.png" in str(result.error)
        assert names("out") == []

    @pytest.mark.parametrize(("arguments", "said"), [
        ({"workers": 0}, "workers must be an integer of at least 1, .*, got 0"),
        ({"tier": "huge"}, "no tier 'huge'"),
        ({"layout": "spiral"}, "no layout 'spiral'"),
        ({"clean": "soap"}, "no view 'soap'"),
        ({"engine": "steam"}, "no engine 'steam'"),
        ({"scale": 400}, "no cell of 3200x2000 px fits"),
        ({"after": None}, "no option after; there is route, fonts, .* engine"),
        ({"fonts": 5}, "fonts must be fonts, their names or paths"),
        ({"model": ""}, "model"),
    ], ids=lambda value: next(iter(value)) if isinstance(value, dict) else "")
    def test_an_argument_that_suits_no_file_is_refused_before_anything_is_written(self, arguments, said):
        with pytest.raises(ArgumentError, match=said):
            gr.render_files(written(file=b"x"), "out", **{"model": FABLE, **arguments})
        assert not Path("out").exists()

    def test_one_path_alone_is_refused(self):
        with pytest.raises(ArgumentError, match="takes the paths of files, got the one path 'file': give a list"):
            gr.render_files("file", "out", FABLE)

    def test_no_files_give_no_results(self, workers):
        assert gr.render_files([], "out", FABLE, workers=workers) == []
        assert not Path("out").exists()


class TestProgress:
    def test_a_bar_is_drawn_on_standard_error_when_it_is_asked_for(self, capfd):
        gr.render_files(written(file=b"x" * 3000), "out", FABLE, progress=True)
        said = capfd.readouterr()
        assert (said.out, "3.0/3.0 kB" in said.err) == ("", True)

    def test_nothing_is_said_otherwise(self, capfd):
        gr.render_files(written(file=b"x"), "out", FABLE)
        assert capfd.readouterr() == ("", "")
