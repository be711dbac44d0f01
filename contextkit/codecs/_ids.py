"""Call ids for a wire that is stricter than the one they come from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_DIGEST_CHARS = 12


def fitted_ids(ids: Iterable[str], *, forbidden: str, limit_chars: int) -> dict[str, str]:
    """Map every id that does not fit to one that does; different ids stay different.

    Parameters
    ----------
    ids
        All call ids of a conversation. Those that fit are not in the result.
    forbidden
        A regular expression for one character that the wire refuses.
    limit_chars
        The longest id it takes.
    """
    known = dict.fromkeys(ids)
    misfits = [key for key in known if not key or len(key) > limit_chars or re.search(forbidden, key)]
    taken = set(known) - set(misfits)
    fitted: dict[str, str] = {}
    for key in misfits:
        fitted[key] = _fitted(key, forbidden, limit_chars, taken)
        taken.add(fitted[key])
    return fitted


def _fitted(key: str, forbidden: str, limit_chars: int, taken: set[str]) -> str:
    """Return the readable start of ``key`` and a digest of the whole; the first of them that is free."""
    start = re.sub(forbidden, "_", key)[: limit_chars - _DIGEST_CHARS - 1]
    salt = 0
    while True:
        told = key if not salt else f"{key}#{salt}"
        name = f"{start}_{hashlib.sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_CHARS]}"
        if name not in taken:
            return name
        salt += 1
