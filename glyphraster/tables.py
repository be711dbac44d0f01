"""The shipped table of facts as text, and the checks that its readers share."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from importlib import resources
from typing import Any

from glyphraster.errors import ArgumentError, ProfileError

TOP_KEYS = ("not_chat", "text_only", "default", "provider", "profile", "route", "cell", "evidence")
_OTHER_VERSION = r"(?![a-z0-9]|[.p-]\d{1,2}(?![a-z0-9]))"
"""Not followed by a letter, a digit, or one more part of a version number; a date or a mark may follow."""
_SAME_WEIGHTS = r"(?=$|[@:\[]|-(?:20\d\d-?\d\d-?\d\d|v\d+|fast|latest)(?![a-z0-9]))"
"""Followed by nothing but what names the same weights: a date, a revision, a speed, or a route's mark."""


def shipped_text() -> str:
    """Return the text of the shipped ``profiles.toml``."""
    return resources.files("glyphraster").joinpath("profiles.toml").read_text(encoding="utf-8")


@functools.cache
def shipped_table() -> dict[str, Any]:
    """Return the shipped table, read once; nobody changes it."""
    return parse_toml(shipped_text())


def parse_toml(text: str) -> dict[str, Any]:
    """Return the top of a table of profiles.

    Raises
    ------
    ProfileError
        When the text is no TOML, or a key is unknown or missing.
    """
    try:
        top = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"the table of profiles is no TOML: {error}") from error
    check_keys(top, where="the table of profiles", required=TOP_KEYS)
    return top


def check_keys(
    row: Mapping[str, Any], *, where: str, required: Collection[str], optional: Collection[str] = (),
) -> None:
    """Refuse a row with an unknown key, naming the known ones, or without a required one.

    Raises
    ------
    ProfileError
        Naming the key.
    """
    for key in row:
        if key not in required and key not in optional:
            raise ProfileError(f"{where}: unknown key {key!r}; known: {', '.join([*required, *optional])}")
    missing = [key for key in required if key not in row]
    if missing:
        raise ProfileError(f"{where}: missing {', '.join(missing)}")


def check_model(model: object) -> None:
    """Refuse a model id that is empty or no string.

    Raises
    ------
    ArgumentError
        Naming what was given.
    """
    if not isinstance(model, str) or not model.strip():
        raise ArgumentError(f"model must be a non-empty string such as 'claude-opus-5-5', got {model!r}")


def any_pattern(patterns: Iterable[str]) -> str:
    """Return one pattern that hits where any of ``patterns`` does."""
    return "|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)"


def check_patterns(patterns: Iterable[str], *, where: str) -> None:
    """Refuse patterns one of which is no regular expression.

    Raises
    ------
    ProfileError
        Naming the pattern.
    """
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ProfileError(f"{where}: {pattern!r} is no regular expression: {error}") from error


def version_pattern(names: Iterable[str]) -> str:
    """Return a pattern that hits an id of one of these versions and of no later one.

    ``-`` and ``.`` in a name stand for the spellings ``-``, ``.`` and ``p`` (Fireworks), so ``claude-opus-5`` hits
    ``anthropic/claude-opus-5:batch`` and not ``claude-opus-5.5``.
    """
    return "|".join(_spelled(name) + _OTHER_VERSION for name in names)


def weights_pattern(names: Iterable[str]) -> str:
    """Return a pattern that hits an id of exactly these models, dated or through a gateway, and of no variant."""
    return "|".join(_spelled(name) + _SAME_WEIGHTS for name in names)


def _spelled(name: str) -> str:
    return r"(?<![a-z0-9])" + r"[.p-]".join(re.escape(part) for part in re.split("[.-]", name))
