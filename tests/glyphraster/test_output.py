"""Files and directories appear whole, or what was there before stays."""

import os
import stat
from pathlib import Path

import pytest

from glyphraster.errors import ArgumentError
from glyphraster.output import staged_directory, write_atomically, write_staged


def tree(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


def anything(directory):
    return True


def nothing(directory):
    return False


class BlockError(Exception):
    """What a block fails with here."""


def write_half_and_fail(out, error):
    with staged_directory(out, anything) as stage:
        (stage / "new").write_bytes(b"half")
        raise error


class TestFile:
    def test_a_new_file_holds_the_content(self, tmp_path):
        write_atomically(tmp_path / "file", b"content")
        assert tree(tmp_path) == {"file": b"content"}

    def test_a_new_file_is_private(self, tmp_path):
        write_atomically(tmp_path / "file", b"content")
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600

    def test_an_earlier_file_is_replaced_and_keeps_its_mode(self, tmp_path):
        file = tmp_path / "file"
        file.write_bytes(b"a longer content than the next")
        file.chmod(0o644)
        write_atomically(file, b"content")
        assert (tree(tmp_path), stat.S_IMODE(file.stat().st_mode)) == ({"file": b"content"}, 0o644)

    def test_who_has_the_earlier_file_open_goes_on_reading_it(self, tmp_path):
        (tmp_path / "file").write_bytes(b"before")
        with (tmp_path / "file").open("rb") as opened:
            write_atomically(tmp_path / "file", b"after")
            assert opened.read() == b"before"

    def test_a_link_stays_a_link_and_its_target_is_renewed(self, tmp_path):
        (tmp_path / "target").write_bytes(b"before")
        (tmp_path / "link").symlink_to("target")
        write_atomically(tmp_path / "link", b"after")
        assert ((tmp_path / "link").is_symlink(), (tmp_path / "target").read_bytes()) == (True, b"after")

    def test_a_link_to_nowhere_gets_its_target(self, tmp_path):
        (tmp_path / "link").symlink_to("target")
        write_atomically(tmp_path / "link", b"content")
        assert (tmp_path / "target").read_bytes() == b"content"

    def test_a_pipe_is_written_to_and_stays_a_pipe(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        write_atomically(pipe, b"content")
        received = os.read(reading, 100)
        os.close(reading)
        assert (received, pipe.is_fifo(), [path.name for path in tmp_path.iterdir()]) == (b"content", True, ["pipe"])

    @pytest.mark.parametrize("name", ["missing/file", "directory", "file/below"])
    def test_what_cannot_be_written_is_named_and_leaves_nothing_behind(self, name, tmp_path):
        (tmp_path / "directory").mkdir()
        (tmp_path / "file").write_bytes(b"before")
        with pytest.raises(OSError, match=r"\[Errno \d+\]") as raised:
            write_atomically(tmp_path / name, b"content")
        assert raised.value.filename == str(tmp_path / name)
        assert tree(tmp_path) == {"directory": None, "file": b"before"}

    def test_a_write_that_fails_half_way_leaves_the_earlier_file(self, tmp_path, monkeypatch):
        def full(descriptor):
            raise OSError(28, "No space left on device")

        (tmp_path / "file").write_bytes(b"before")
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"\[Errno 28\] No space left on device: '.*file'"):
            write_atomically(tmp_path / "file", b"after")
        assert tree(tmp_path) == {"file": b"before"}


class TestStagedFile:
    def test_it_is_new_whole_and_private(self, tmp_path):
        write_staged(tmp_path / "file", b"content")
        assert tree(tmp_path) == {"file": b"content"}
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600

    def test_an_earlier_file_stays(self, tmp_path):
        (tmp_path / "file").write_bytes(b"before")
        with pytest.raises(FileExistsError) as raised:
            write_staged(tmp_path / "file", b"after")
        assert (raised.value.filename, tree(tmp_path)) == (str(tmp_path / "file"), {"file": b"before"})


class TestDirectory:
    def test_what_the_block_wrote_stands_there_when_it_ends(self, tmp_path):
        with staged_directory(tmp_path / "out", nothing) as stage:
            (stage / "file").write_bytes(b"content")
        assert tree(tmp_path) == {"out": None, "out/file": b"content"}

    def test_nothing_stands_there_before_the_block_ends(self, tmp_path):
        with staged_directory(tmp_path / "out", nothing) as stage:
            (stage / "file").write_bytes(b"content")
            assert not (tmp_path / "out").exists()

    def test_missing_parents_are_made(self, tmp_path):
        with staged_directory(tmp_path / "a" / "b" / "out", nothing):
            pass
        assert (tmp_path / "a" / "b" / "out").is_dir()

    def test_an_earlier_result_of_ours_is_replaced_whole(self, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "old").write_bytes(b"old")
        with staged_directory(tmp_path / "out", anything) as stage:
            (stage / "new").write_bytes(b"new")
        assert tree(tmp_path) == {"out": None, "out/new": b"new"}

    def test_an_empty_directory_is_replaced_whosever_it_is(self, tmp_path):
        (tmp_path / "out").mkdir()
        with staged_directory(tmp_path / "out", nothing) as stage:
            (stage / "new").write_bytes(b"new")
        assert tree(tmp_path) == {"out": None, "out/new": b"new"}

    @pytest.mark.parametrize("error", [BlockError, KeyboardInterrupt])
    def test_a_block_that_fails_leaves_the_earlier_result_and_no_other_file(self, error, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "old").write_bytes(b"old")
        with pytest.raises(error):
            write_half_and_fail(tmp_path / "out", error)
        assert tree(tmp_path) == {"out": None, "out/old": b"old"}

    def test_a_block_that_fails_leaves_nothing_where_nothing_was(self, tmp_path):
        with pytest.raises(BlockError):
            write_half_and_fail(tmp_path / "out", BlockError)
        assert tree(tmp_path) == {}

    def test_a_move_that_fails_puts_the_earlier_result_back(self, tmp_path, monkeypatch):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "old").write_bytes(b"old")
        real = Path.rename

        def rename(path, target):
            if (path / "new").exists():
                raise OSError(5, "Input/output error")
            return real(path, target)

        monkeypatch.setattr(Path, "rename", rename)
        with (
            pytest.raises(OSError, match=r"\[Errno 5\] Input/output error"),
            staged_directory(tmp_path / "out", anything) as stage,
        ):
            (stage / "new").write_bytes(b"new")
        assert tree(tmp_path) == {"out": None, "out/old": b"old"}

    def test_a_directory_of_someone_else_is_refused_before_the_block_begins(self, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis").write_bytes(b"years of work")
        with (
            pytest.raises(ArgumentError, match=r"out exists and is no earlier output: name another place"),
            staged_directory(tmp_path / "out", nothing),
        ):
            raise BlockError
        assert tree(tmp_path) == {"out": None, "out/thesis": b"years of work"}

    def test_a_file_in_the_way_is_refused_whatever_is_ours(self, tmp_path):
        (tmp_path / "out").write_bytes(b"a file")
        with (
            pytest.raises(ArgumentError, match=r"out exists and is no earlier output"),
            staged_directory(tmp_path / "out", anything),
        ):
            raise BlockError
        assert tree(tmp_path) == {"out": b"a file"}

    def test_a_parent_that_is_a_file_is_refused(self, tmp_path):
        (tmp_path / "file").write_bytes(b"a file")
        with (
            pytest.raises(ArgumentError, match=r"cannot write beside .*file/out: .*; name a place that can be written"),
            staged_directory(tmp_path / "file" / "out", anything),
        ):
            raise BlockError
        assert tree(tmp_path) == {"file": b"a file"}

    def test_a_link_gives_way_to_the_result_and_what_it_led_to_stays(self, tmp_path):
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "old").write_bytes(b"old")
        (tmp_path / "out").symlink_to("kept")
        with staged_directory(tmp_path / "out", anything) as stage:
            (stage / "new").write_bytes(b"new")
        assert not (tmp_path / "out").is_symlink()
        assert tree(tmp_path) == {"kept": None, "kept/old": b"old", "out": None, "out/new": b"new"}

    def test_a_link_to_nowhere_is_refused(self, tmp_path):
        (tmp_path / "out").symlink_to("nowhere")
        with (
            pytest.raises(ArgumentError, match=r"out exists and is no earlier output"),
            staged_directory(tmp_path / "out", anything),
        ):
            raise BlockError
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def test_a_relative_place_is_the_one_of_the_moment_when_the_block_began(self, tmp_path, monkeypatch):
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        with staged_directory(Path("out"), nothing):
            monkeypatch.chdir(tmp_path / "elsewhere")
        assert (tmp_path / "out").is_dir()
