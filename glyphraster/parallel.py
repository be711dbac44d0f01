"""encode_pages: PNG bytes of many pages, drawn and deflated on every core.

numpy, the numba kernels, ISA-L and zlib let go of the interpreter's lock, so threads are enough: nothing is copied to
another process, and nothing has to be picklable.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import methodcaller
from typing import TYPE_CHECKING, TypeVar

from glyphraster.errors import ArgumentError
from glyphraster.page import Page
from glyphraster.png import PngMode

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD_PER_WORKER = 2
"""Pages under way for each thread: one that it draws, and one that waits, so that it need not wait for a plan."""


def worker_count(workers: int | None) -> int:
    """Return how many threads to use: ``workers``, or by default one for each core that this process may use.

    Raises
    ------
    ArgumentError
        When ``workers`` is not a positive integer.
    """
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ArgumentError(f"workers must be an integer of at least 1, or None for one a core, got {workers!r}")
    return workers


def encode_pages(
    pages: Iterable[Page], mode: PngMode | None = None, *, small: bool = False, workers: int | None = None
) -> Iterator[bytes]:
    """Yield the PNG bytes of pages, in order, as :meth:`glyphraster.Page.png` gives them.

    Pages are planned by the caller's thread, as the iterator gives them, and drawn and deflated by others. At most
    :data:`AHEAD_PER_WORKER` pages a thread are under way, however many there are. The threads end with the iterator:
    when it is exhausted, closed or dropped.

    Parameters
    ----------
    pages
        Such as :func:`glyphraster.iter_pages` yields; there may be no end of them.
    mode, small
        As for :meth:`glyphraster.Page.png`.
    workers
        Threads; None for one for each core that this process may use, 1 for none beside the caller's.

    Raises
    ------
    ArgumentError
        When ``workers`` is not a positive integer.
    Exception
        What the pages, or drawing one, raised: in its place, after the bytes of all pages before it.
    """
    return mapped(methodcaller("png", mode, small=small), pages, workers)


def mapped(task: Callable[[Item], Result], items: Iterable[Item], workers: int | None = None) -> Iterator[Result]:
    """Yield what a task returns for each item, in order, on threads of its own; the rest as :func:`encode_pages`."""
    count = worker_count(workers)
    return _on_threads(task, items, count) if count > 1 else map(task, items)


def _on_threads(task: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    with thread_pool(workers) as pool:
        yield from in_order(pool, task, items, AHEAD_PER_WORKER * workers)


def thread_pool(workers: int) -> ThreadPoolExecutor:
    """Return a pool of so many threads."""
    from concurrent.futures import ThreadPoolExecutor  # late: 10 ms that a root import does not need

    return ThreadPoolExecutor(workers, thread_name_prefix="glyphraster")


def in_order(pool: Executor, task: Callable[[Item], Result], items: Iterable[Item], ahead: int) -> Iterator[Result]:
    """Yield what a task returns for each item, in order, with at most ``ahead`` items under way.

    An error of the task or of the items is raised in its place. What has not started when the iterator is closed never
    does.
    """
    waiting = deque["Future[Result]"]()
    try:
        for future in _submitted(pool, task, items):
            waiting.append(future)
            if len(waiting) == ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _submitted(pool: Executor, task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Future[Result]]:
    """Submit each item; an error of the items is the last result."""
    from concurrent.futures import Future

    try:
        for item in items:
            yield pool.submit(task, item)
    except Exception as error:  # noqa: BLE001  (it is raised later, in its place)
        failed = Future[Result]()
        failed.set_exception(error)
        yield failed
