"""How a codec remembers the spelling of a JSON object beside the value it decoded, and writes it back.

A codec describes an object as its *full* form: every key it understands, in canonical order. What the original said
beyond that is kept as hints, a JSON-able mapping with up to three entries:

``keys``
    The original key order, when it is not the canonical one.
``fields``
    Keys the codec does not understand, with their values.
``spelt``
    Understood keys whose value is written another way (``null`` for an empty list, say). A spelling counts only as long
    as it still means the value it stands for, so a part that was changed never gets its old text back.

An object without hints is written canonically.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contextkit.codecs._json import Json

PROVIDER_SIDE = "provider_side"
"""Hint on a tool that its provider runs itself, so that no other form can offer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a codec says about one kind of object.

    Attributes
    ----------
    defaults
        Keys that are left out when they hold this value, unless the original had them.
    always
        Those of them that the canonical form writes all the same.
    readers
        How to decode the keys that may be spelt in several ways.
    """

    defaults: Mapping[str, Any] = field(default_factory=dict)
    always: frozenset[str] = frozenset()
    readers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


PLAIN = Shape()
"""An object whose understood keys all stand in it, in one spelling."""


def hints_of(original: Mapping[str, Any], full: Mapping[str, Any], shape: Shape = PLAIN) -> dict[str, Any]:
    """Return what ``full`` does not say about ``original``; empty when it says everything."""
    fields = {key: value for key, value in original.items() if key not in full}
    spelt = {key: original[key] for key in full if key in original and not same_json(original[key], full[key])}
    hints: dict[str, Any] = {}
    if list(original) != list(dressed({**full, **fields}, {}, shape)):
        hints["keys"] = list(original)
    return hints | {name: found for name, found in (("fields", fields), ("spelt", spelt)) if found}


def dressed(full: Mapping[str, Any], hints: Mapping[str, Any], shape: Shape = PLAIN) -> dict[str, Any]:
    """Return ``full`` (every understood key, in canonical order) in the spelling that ``hints`` remember."""
    values = {**full, **_spelt(full, hints, shape)}
    values |= {key: value for key, value in hints.get("fields", {}).items() if key not in full}
    keys = hints.get("keys", ())
    kept = () if keys else shape.always
    optional = {key: value for key, value in shape.defaults.items() if key not in kept}
    order = [*keys, *(key for key in values if key not in keys)]
    return {
        key: values[key] for key in order
        if key in values and (key in keys or key not in optional or not same_json(values[key], optional[key]))
    }


def _spelt(full: Mapping[str, Any], hints: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    return {
        key: raw for key, raw in hints.get("spelt", {}).items()
        if key in full and key in shape.readers and same_json(shape.readers[key](raw), shape.readers[key](full[key]))
    }


def same_json(one: Json, two: Json) -> bool:
    """Return whether two values are the same JSON, telling 1 from 1.0 and from true, and minding key order."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if isinstance(one, dict | list):
        return json.dumps(one) == json.dumps(two)
    return bool(one == two)


def extra_of(form: str, found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return an ``extra`` that holds ``found`` for ``form``; empty when there is nothing to hold."""
    return {form: dict(found)} if found else {}
