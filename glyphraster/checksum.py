"""CRC-32 as in PNG and zlib."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable


def crc32(data: bytes | memoryview, before: int = 0) -> int:
    """Return the CRC-32 of all bytes so far, given that of those before ``data``."""
    return _fastest()(data, before)


@functools.cache
def _fastest() -> Callable[[bytes | memoryview, int], int]:
    """Return ISA-L's where its wheel is installed (4 us for the 182 kB of a page), else zlib's (26 us)."""
    try:
        from isal.isal_zlib import crc32 as found
    except ImportError:
        return zlib.crc32
    return found
