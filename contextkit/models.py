"""What a model's window, answer, wire and text are: the rows of ``models.toml``, and glyphraster's page profile.

>>> model = resolve("anthropic/claude-opus-5.5", route="openrouter")
>>> model.window_tokens, model.wire, model.page.key
(1000000, 'openai-chat', 'anthropic-high')
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import glyphraster
from contextkit.errors import ArgumentError, TableError
from glyphraster import PageProfile

Match = Literal["known", "assumed", "default"]

GATEWAY_WIRE: Literal["openai-chat"] = "openai-chat"
"""What gateways speak for every model: all of glyphraster's routes but Bedrock and Vertex document such an endpoint."""

_WIRES = ("anthropic", "openai-chat")
_LIMITS = ("window_tokens", "max_output_tokens")
_FACTS = ("source", "as_of")
_DEFAULT = (*_LIMITS, "chars_per_token", "wire", *_FACTS)
_FAMILY = ("name", "wire", "chars_per_token", "models", *_FACTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """Hold what is known of one model on one route.

    Attributes
    ----------
    id, route
        The model id as given, and the gateway or host when it is not the maker's own.
    match
        ``"known"``: a source lists the version; ``"assumed"``: its family's numbers; ``"default"``: no row.
    window_tokens, max_output_tokens
        What the prompt may take, and the answer.
    vision
        Whether the model is listed as seeing images.
    wire
        The request format: ``"anthropic"``, or ``"openai-chat"`` (the OpenAI-compatible endpoint, Gemini's included).
    chars_per_token
        Characters of English text that one token holds.
    binds_thinking
        Whether thinking blocks are bound to everything before them, so that an edit invalidates those after it.
    page
        What the provider does with an image, and bills for it.
    source, as_of
        Where the numbers come from, and the date of that copy.
    """

    id: str
    route: str | None
    match: Match
    window_tokens: int
    max_output_tokens: int
    vision: bool
    wire: Literal["anthropic", "openai-chat"]
    chars_per_token: float
    binds_thinking: bool
    page: PageProfile
    source: str
    as_of: str


def resolve(model: str, route: str | None = None, *, window: int | None = None) -> ModelProfile:
    """Return what is known of ``model`` reached by ``route``.

    Parameters
    ----------
    model
        A model id as the caller writes it, gateway prefixes, dates and suffixes included.
    route
        The way to the model, such as ``"anthropic"``, ``"bedrock"`` or ``"openrouter"``; None means the maker's own,
        unless the id names a gateway.
    window
        Tokens that the prompt may take, where the caller knows better (a host of open weights, a beta).

    Returns
    -------
    ModelProfile
        An id without a row gets the default one, with ``match="default"``.

    Raises
    ------
    ArgumentError
        When ``model`` is empty or no string, ``route`` is unknown, or ``window`` is no positive integer.
    """
    if window is not None and (type(window) is not int or window < 1):
        raise ArgumentError(f"window must be a positive number of tokens, got {window!r}; or None for the model's own")
    try:
        page = glyphraster.page_profile(model, route)
    except glyphraster.GlyphrasterError as error:
        raise ArgumentError(str(error)) from error
    return _shipped().resolve(model, page, window)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """Hold the numbers of one row, and the pattern that leads to it.

    Attributes
    ----------
    hits
        Pattern of the ids of the row.
    window_tokens, max_output_tokens, chars_per_token, binds_thinking, source, as_of
        As in :class:`ModelProfile`.
    wire, wire_routes
        The request format, and the routes on which it holds beside the maker's own; none listed means all.
    assumed
        Whether no source lists the versions of the row.

    Raises
    ------
    TableError
        When a value is outside what is allowed.
    """

    hits: re.Pattern[str]
    window_tokens: int
    max_output_tokens: int
    chars_per_token: float
    wire: Literal["anthropic", "openai-chat"]
    wire_routes: tuple[str, ...] = ()
    binds_thinking: bool = False
    assumed: bool = False
    source: str
    as_of: str

    def __post_init__(self) -> None:
        where = f"model row {self.hits.pattern!r}"
        for name in _LIMITS:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise TableError(f"{where}: {name} must be a positive integer, got {value!r}")
        if not self.chars_per_token > 0:
            raise TableError(f"{where}: chars_per_token must be positive, got {self.chars_per_token!r}")
        if self.wire not in _WIRES:
            raise TableError(f"{where}: wire must be one of {', '.join(_WIRES)}, got {self.wire!r}")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", self.as_of):
            raise TableError(f"{where}: as_of must be a date such as '2026-11-30', got {self.as_of!r}")

    def wire_on(self, route: str | None) -> Literal["anthropic", "openai-chat"]:
        """Return the request format on ``route``, None being the maker's own."""
        return self.wire if route is None or not self.wire_routes or route in self.wire_routes else GATEWAY_WIRE


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """Hold every row of a table of models, in the order in which they are tried.

    Attributes
    ----------
    rows, default
        The models, and the row for ids without one.
    caps
        By route: limits in tokens that lower a model's own.
    """

    rows: tuple[ModelRow, ...]
    default: ModelRow
    caps: Mapping[str, Mapping[str, int]]

    def resolve(self, model: str, page: PageProfile, window: int | None = None) -> ModelProfile:
        """Return what the table says of ``model``, whose images ``page`` describes."""
        name = model.strip().lower()
        row = next((row for row in self.rows if row.hits.search(name)), self.default)
        caps = self.caps.get(page.route or "", {})
        window_tokens, max_output_tokens = (min(getattr(row, key), caps.get(key, getattr(row, key))) for key in _LIMITS)
        return ModelProfile(
            id=model,
            route=page.route,
            match=_match(row, self.default, page),
            window_tokens=window or window_tokens,
            max_output_tokens=max_output_tokens,
            vision=page.vision,
            wire=row.wire_on(page.route),
            chars_per_token=row.chars_per_token,
            binds_thinking=row.binds_thinking,
            page=page,
            source=row.source,
            as_of=row.as_of,
        )


def _match(row: ModelRow, default: ModelRow, page: PageProfile) -> Match:
    if row is default:
        return "default"
    return "assumed" if row.assumed or page.match == "assumed" else "known"


def parse_models(text: str) -> ModelTable:
    """Read a table of models in the form of the shipped ``models.toml``.

    Parameters
    ----------
    text
        TOML.

    Returns
    -------
    ModelTable
        Its rows, checked.

    Raises
    ------
    TableError
        When the text is no TOML, a key is unknown (the message names the known ones) or missing, or a value is not
        allowed.
    """
    try:
        top = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"the table of models is no TOML: {error}") from error
    _check_keys(top, where="the table of models", required=("default", "route", "family"))
    _check_keys(top["default"], where="default", required=_DEFAULT)
    return ModelTable(
        rows=tuple(row for family in top["family"] for row in _family(family)),
        default=ModelRow(hits=re.compile(""), **top["default"]),
        caps=dict(_cap(row) for row in top["route"]),
    )


@functools.cache
def _shipped() -> ModelTable:
    return parse_models(resources.files("contextkit").joinpath("models.toml").read_text(encoding="utf-8"))


def _family(family: Mapping[str, Any]) -> list[ModelRow]:
    where = f"family {family.get('name', 'without name')}"
    _check_keys(family, where=where, required=_FAMILY, optional=("wire_routes",))
    shared = {key: family[key] for key in ("wire", "chars_per_token", *_FACTS)}
    shared["wire_routes"] = tuple(family.get("wire_routes", ()))
    for row in family["models"]:
        _check_keys(row, where=where, required=("match", *_LIMITS), optional=("binds_thinking", "assumed"))
    return [
        ModelRow(hits=_pattern(row["match"], where), **shared, **{key: row[key] for key in row if key != "match"})
        for row in family["models"]
    ]


def _cap(row: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
    _check_keys(row, where=f"route {row.get('name', 'without name')}", required=("name", *_FACTS), optional=_LIMITS)
    return row["name"], {key: row[key] for key in _LIMITS if key in row}


def _pattern(text: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise TableError(f"{where}: {text!r} is no regular expression: {error}") from error


def _check_keys(
    row: Mapping[str, Any],
    *,
    where: str,
    required: Collection[str],
    optional: Collection[str] = (),
) -> None:
    for key in row:
        if key not in required and key not in optional:
            raise TableError(f"{where}: unknown key {key!r}; known: {', '.join([*required, *optional])}")
    missing = [key for key in required if key not in row]
    if missing:
        raise TableError(f"{where}: missing {', '.join(missing)}")
