"""What no JSON request can hold, whatever its form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from contextkit.codecs._json import Json


def value_faults(request: dict[str, Any]) -> Iterator[str]:
    """Yield a fault for numbers that are not JSON, and for text that is not UTF-8."""
    odd = [number for number in _floats(request) if not math.isfinite(number)]
    if odd:
        yield f"{len(odd)} number(s) that JSON does not know, the first is {odd[0]}"
    try:
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        yield f"a text holds {error.object[error.start]!r}, which UTF-8 cannot write"


def _floats(value: Json) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _floats(item)
    elif isinstance(value, list):
        for item in value:
            yield from _floats(item)
