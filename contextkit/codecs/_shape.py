"""Checks on parsed JSON at a codec's door, with errors that name the place."""

from __future__ import annotations

from typing import Any

from contextkit.codecs._json import Json
from contextkit.errors import FormatError

_NAMES = {
    dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number",
    type(None): "null",
}
_SHOWN_KEYS = 8


def need_object(value: Json, place: str, form: str) -> dict[str, Any]:
    """Return ``value`` when it is an object.

    Raises
    ------
    FormatError
        When it is not, with its place.
    """
    if isinstance(value, dict):
        return value
    raise FormatError(f"{place} is {kind_of(value)}; the {form} form needs an object there")


def need_list(value: Json, place: str, form: str) -> list[Any]:
    """Return ``value`` when it is a list.

    Raises
    ------
    FormatError
        When it is not, with its place.
    """
    if isinstance(value, list):
        return value
    raise FormatError(f"{place} is {kind_of(value)}; the {form} form needs a list there")


def need_role(message: dict[str, Any], place: str, roles: tuple[str, ...]) -> str:
    """Return the role of ``message``.

    Raises
    ------
    FormatError
        When it is none of ``roles``.
    """
    role = message.get("role")
    if isinstance(role, str) and role in roles:
        return role
    raise FormatError(f"{place} has the role {role!r}; allowed are {', '.join(roles)}")


def objects_in(value: Json) -> list[dict[str, Any]]:
    """Return the items of a list, an empty object for each that is none; nothing when there is no list."""
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def type_of(block: Json) -> str:
    """Return the ``type`` of a block; empty when it has none."""
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def kind_of(value: Json) -> str:
    """Name the JSON kind of ``value``."""
    return _NAMES.get(type(value), type(value).__name__)


def keys_of(value: dict[str, Any]) -> str:
    """List the keys of an object, the first eight of them."""
    shown = ", ".join(repr(key) for key in list(value)[:_SHOWN_KEYS])
    more = f" and {len(value) - _SHOWN_KEYS} more" if len(value) > _SHOWN_KEYS else ""
    return f"keys {shown}{more}" if value else "no keys"
