"""Text on its way to a wire: what counts as blank, and what UTF-8 cannot hold."""

from __future__ import annotations

from typing import Any

from contextkit.codecs._json import Json

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def is_blank(text: object) -> bool:
    """Return whether ``text`` is no string or nothing but white space."""
    return not isinstance(text, str) or not text.strip()


def utf8_text(text: str) -> str:
    """Return ``text`` with surrogate pairs joined and every lone surrogate as U+FFFD."""
    if _is_utf8(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf8_json(value: Json) -> Json:
    """Return a JSON value that can be written as UTF-8; the same object when it already can be.

    Keys that would become equal are kept apart by further U+FFFD at their end.
    """
    if isinstance(value, str):
        return utf8_text(value)
    if isinstance(value, list):
        items = [utf8_json(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        return _utf8_object(value)
    return value


def _utf8_object(value: dict[str, Any]) -> dict[str, Any]:
    items = {key: utf8_json(item) for key, item in value.items()}
    if all(map(_is_utf8, items)):
        return items if any(items[key] is not value[key] for key in items) else value
    clean: dict[str, Any] = {}
    for key, item in items.items():
        name = utf8_text(key)
        while name in clean or (name != key and name in value):
            name += REPLACEMENT
        clean[name] = item
    return clean


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
