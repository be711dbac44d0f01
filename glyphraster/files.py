"""render_files: from files of any size and number to a directory of pages each, on every core."""

from __future__ import annotations

import codecs
import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

from glyphraster.engine import Engine, chosen_engine
from glyphraster.errors import ArgumentError, PngError
from glyphraster.font import Fonts, load_fonts
from glyphraster.output import staged_directory, write_staged
from glyphraster.page import Page
from glyphraster.parallel import AHEAD_PER_WORKER, in_order, mapped, thread_pool, worker_count
from glyphraster.png import decode_png
from glyphraster.raster import Tier, iter_pages, render

BLOCK_BYTES = 1 << 18
"""Files are read in pieces of this size: two or three pages of 5x8 px."""

SHARED_FROM_BYTES = 1 << 20
"""Smaller files are never shared out page by page: one takes a thread 20 ms, and the others have files of their own."""

MOST_FED = 4
"""Threads that one thread keeps busy with plans: it takes a quarter of the time of drawing and deflating."""


class RenderOptions(TypedDict, total=False):
    """Options of :func:`glyphraster.render` that hold for each of several files."""

    route: str | None
    fonts: Fonts | None
    layout: str
    tier: Tier
    scale: int | None
    pitch_px: tuple[int, int] | None
    caption: str | None
    line_numbers: bool
    clean: str | None
    engine: Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult:
    """What became of one file.

    Attributes
    ----------
    path
        The file, as it was given.
    directory
        Where its pages are: ``page-001.png`` and on. When it failed nothing was written, and what stood there stays.
    pages, characters
        How many pages, and how many characters they hold; 0 when it failed.
    error
        Why it failed, or None.
    """

    path: Path
    directory: Path
    pages: int = 0
    characters: int = 0
    error: Exception | None = None


def render_files(
    paths: Iterable[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str],
    model: str,
    *,
    workers: int | None = None,
    progress: bool = False,
    **options: Unpack[RenderOptions],
) -> list[FileResult]:
    """Lay out each of several files on pages in a directory of its own.

    Files are read as UTF-8 piece by piece, and every byte comes back: those that are no UTF-8 as surrogates
    (``surrogateescape``), line ends as they are. Memory does not grow with their size, but for ``clean``, which needs
    a file whole. A directory appears with all its pages or not at all.

    Parameters
    ----------
    paths
        The files. The pages of ``a/notes.txt`` are in ``out_dir/notes.txt``; of the next file of that name, upper and
        lower case being the same, in ``notes.txt-2``, and so on in the order given, skipping what a file is called.
    out_dir
        Made when it is missing. An earlier directory of pages below it is replaced, anything else is not.
    model
        As for :func:`glyphraster.render`.
    workers
        Threads; None for one for each core that this process may use, 1 for none beside the caller's.
    progress
        Show a bar on standard error.
    options
        Those of :func:`glyphraster.render`, but for ``after``.

    Returns
    -------
    list of glyphraster.files.FileResult
        One for each file, in the order given; a file that failed has an ``error`` and did not stop the others.

    Raises
    ------
    ArgumentError
        When an argument or an option is not one of those named here or there; nothing was written then.
    EngineError
        When ``engine="numba"`` and numba cannot run.
    """
    threads, jobs = worker_count(workers), _jobs(paths, Path(out_dir))
    total_bytes = sum(job.size_bytes for job in jobs)
    options = _checked(options, model, total_bytes)
    with _bar(total_bytes, shown=progress) as read:
        one = partial(_rendered, pages_of=partial(_pages, model=model, options=options, read=read))
        return [one(job, map) for job in jobs] if threads == 1 else _shared_out(jobs, one, total_bytes, threads)


def write_pages(pages: Sequence[Page], directory: Path, *, workers: int | None = None) -> None:
    """Write pages at one bit a pixel into a staged directory: ``page-001.png`` and on.

    Parameters
    ----------
    workers
        As for :func:`glyphraster.parallel.encode_pages`.

    Raises
    ------
    OSError
        When a page cannot be written; it is named.
    """
    threads = worker_count(workers) if len(pages) > 1 else 1
    deque(mapped(partial(_write_page, directory), pages, threads), maxlen=0)


def holds_only_pages(directory: Path) -> bool:
    """Say whether a directory holds nothing but pages drawn here: another program's page-001.png is not ours."""
    return all(entry.match("page-*.png") and _is_page(entry) for entry in directory.iterdir())


def _is_page(file: Path) -> bool:
    try:
        return decode_png(file.read_bytes())[1] is not None
    except (OSError, PngError):
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    path: Path
    directory: Path
    size_bytes: int


class _Mapped(Protocol):
    """Yields what a task returns for each page, in order: ``map``, or :func:`in_order` of a pool."""

    def __call__(self, task: Callable[[Page], int], pages: Iterable[Page], /) -> Iterator[int]: ...


def _jobs(paths: Iterable[str | os.PathLike[str]], out_dir: Path) -> list[_Job]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise ArgumentError(f"render_files takes the paths of files, got the one path {paths!r}: give a list")
    files = [Path(path) for path in paths]
    sizes = map(_size_bytes, files)
    directories = (out_dir / name for name in _names_apart([_name(file) for file in files]))
    return [
        _Job(path=path, directory=directory, size_bytes=size)
        for path, directory, size in zip(files, directories, sizes, strict=True)
    ]


def _name(file: Path) -> str:
    """Return what a file is called, also where its path ends in dots."""
    return os.path.basename(os.path.abspath(file)) or "root"  # noqa: PTH100, PTH119  (resolve() would follow links)


def _names_apart(names: list[str]) -> list[str]:
    """Return different names: the second ``a`` is ``a-2``, unless there is an ``a-2`` of its own."""
    plain, taken, found = {name.casefold() for name in names}, set[str](), list[str]()
    last = dict[str, int]()
    for name in names:
        key = chosen = name.casefold()
        while chosen in taken or (chosen != key and chosen in plain):
            last[key] = last.get(key, 1) + 1
            chosen = f"{key}-{last[key]}"
        taken.add(chosen)
        found.append(name + chosen.removeprefix(key))
    return found


def _size_bytes(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0  # told when it is read


def _checked(options: RenderOptions, model: str, total_bytes: int) -> RenderOptions:
    """Refuse here what would be refused for each file, and load here what each would load."""
    if unknown := options.keys() - RenderOptions.__annotations__:
        known = ", ".join(RenderOptions.__annotations__)
        raise ArgumentError(f"no option {', '.join(sorted(unknown))}; there is {known}")
    engine, fonts = chosen_engine(options.get("engine", "auto"), total_bytes), options.get("fonts")
    checked: RenderOptions = {**options, "engine": engine, "fonts": None if fonts is None else load_fonts(fonts)}
    render("", model, **checked)
    return checked


def _shared_out(
    jobs: list[_Job], one: Callable[[_Job, _Mapped], FileResult], total_bytes: int, threads: int
) -> list[FileResult]:
    """Give small files to a thread each, and the pages of large ones, which would keep one thread too long, to all."""
    fair_bytes = total_bytes // (4 * min(threads, MOST_FED))
    alone = [job.size_bytes <= max(SHARED_FROM_BYTES, fair_bytes) for job in jobs]
    pool = thread_pool(threads)
    by_pages = partial(in_order, pool, ahead=AHEAD_PER_WORKER * threads)
    try:
        waiting = [pool.submit(one, job, map) if small else None for job, small in zip(jobs, alone, strict=True)]
        large = iter([one(job, by_pages) for job, small in zip(jobs, alone, strict=True) if not small])
        return [future.result() if future else next(large) for future in waiting]
    finally:
        pool.shutdown(cancel_futures=True)


def _rendered(job: _Job, run: _Mapped, pages_of: Callable[[Path], Iterable[Page]]) -> FileResult:
    """Render one file; whatever goes wrong is its result."""
    count = characters = 0
    try:
        with staged_directory(job.directory, holds_only_pages) as stage:
            for count, characters in enumerate(run(partial(_write_page, stage), pages_of(job.path)), 1):  # noqa: B007
                pass
            if not count:
                raise ArgumentError(f"{job.path} is empty (0 bytes): there is nothing to draw")  # noqa: TRY301
    except Exception as error:  # noqa: BLE001  (one failure shall not stop the rest)
        return FileResult(path=job.path, directory=job.directory, error=error)
    return FileResult(path=job.path, directory=job.directory, pages=count, characters=characters)


def _write_page(directory: Path, page: Page) -> int:
    """Write a page; return where it ends."""
    write_staged(directory / f"page-{page.index:03d}.png", page.png("gray1"))
    return page.stop


def _pages(path: Path, model: str, options: RenderOptions, read: Callable[[int], object]) -> Iterable[Page]:
    chunks = codecs.iterdecode(_blocks(path, read), "utf-8", "surrogateescape")
    if options.get("clean"):
        return render("".join(chunks), model, **options)
    unseen = {name: value for name, value in options.items() if name != "clean"}
    return iter_pages(chunks, model, **unseen)  # type: ignore[arg-type]  # the options of render but for one


def _blocks(path: Path, read: Callable[[int], object]) -> Iterator[bytes]:
    """Yield a file in pieces, and tell how much was read."""
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(BLOCK_BYTES):
                yield block
                read(len(block))
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}; give the path of a readable file") from error


@contextlib.contextmanager
def _bar(total_bytes: int, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """Show how much of all files was read, and yield what is told of each piece."""
    if not shown:
        yield int
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=console) as bar:
        yield partial(bar.advance, bar.add_task("pages", total=total_bytes))
