"""The way from a leaf of a log to its root."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any


def walk(
    leaf: int, by_id: Mapping[str, int], parents: Mapping[int, Any], lines: Mapping[int, int], damaged: Sequence[int],
) -> list[int]:
    """Return the entries from the root to ``leaf``.

    A parent that is not in the file ends the walk; when damage lies before the entry, the parent may have been lost
    in it, and the walk goes on with the entry before.

    Parameters
    ----------
    leaf
        Where to start.
    by_id
        Entry of each id.
    parents
        Parent id of each entry, ``None`` at a root. Its keys are the entries that may be walked, in file order.
    lines
        Line of each entry.
    damaged
        Lines of which a record may be missing, ascending.
    """
    order = list(parents)
    before = dict(zip(order[1:], order, strict=False))
    path: list[int] = []
    seen: set[int] = set()
    at: int | None = leaf
    while at is not None and at not in seen:
        seen.add(at)
        path.append(at)
        parent = parents[at]
        if parent is None:
            break
        at = by_id.get(parent) if isinstance(parent, str) else None
        if at is None and bisect_left(damaged, lines[path[-1]]) > 0:
            at = before.get(path[-1])
    return path[::-1]
