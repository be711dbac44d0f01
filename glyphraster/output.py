"""Writing without half-written results: a file or a directory appears whole, or what was there before stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from glyphraster.errors import ArgumentError


def text_bytes(text: str) -> bytes:
    """Return a text as the bytes of a file.

    Bytes that were no UTF-8 come back as they were (``surrogateescape``); a text with other lone surrogates, which no
    file holds, is written with all of them encoded (``surrogatepass``).
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees all of it or what was there before.

    A new file is private (mode 0600); an existing one keeps its mode; a link stays a link and its target is renewed;
    a device or a pipe (``/dev/null``, ``/dev/stdout``) is written to and stays what it is.

    Raises
    ------
    OSError
        When the file cannot be written; it names ``path``, and nothing is left behind.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
        else:
            _renew(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_staged(path: Path, content: bytes) -> None:
    """Write a new private file (mode 0600) into a staged directory, where nobody sees it before it is whole.

    It is not forced to the disk: 1,000 pages would wait 1,000 times.

    Raises
    ------
    OSError
        When the file exists or cannot be written; it names ``path``.
    """
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _renew(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if path.exists():
                Path(temporary).chmod(path.stat().st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def staged_directory(path: Path, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield an empty directory beside ``path`` that takes its place when the block ends well.

    Parameters
    ----------
    path
        Where the result shall stand. What stands there is replaced only if it is an empty directory or ``is_ours``.
    is_ours
        Says whether a directory holds an earlier result and nothing else.

    Raises
    ------
    ArgumentError
        When something else stands there, or the place cannot be written; what stands there is left alone.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100  (resolve() would follow a link at the end)
    if os.path.lexists(path) and not (path.is_dir() and (not any(path.iterdir()) or is_ours(path))):
        raise ArgumentError(f"{path} exists and is no earlier output: name another place, or remove it yourself")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise ArgumentError(
            f"cannot write beside {path}: {error.strerror}; name a place that can be written"
        ) from error
    try:
        yield stage
        _swap(stage, path)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _swap(stage: Path, path: Path) -> None:
    """Move the stage into place; the earlier result goes only after the new one stands."""
    if not path.exists():
        stage.rename(path)
        return
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.old."))
    path.rename(aside / path.name)
    try:
        stage.rename(path)
    except BaseException:
        (aside / path.name).rename(path)
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)
