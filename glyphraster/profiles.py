"""What each provider bills for an image, how it resizes it and what it accepts: the rows of ``profiles.toml``.

>>> profile = page_profile("anthropic/claude-opus-5.5", route="openrouter")
>>> profile.key, profile.tokens(height_px=1904, width_px=1960)
('anthropic-high', 4763)
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glyphraster import billing, tables
from glyphraster.errors import ArgumentError, ProfileError
from glyphraster.legibility import CellChoice, Evidence, reading_cell
from glyphraster.provider import LIMITS, Match, PageProfile

__all__ = ["CellChoice", "Evidence", "PageProfile", "ProfileTable", "page_profile", "parse_profiles", "reading_cell"]

_SHARED = (*LIMITS, "crop", "png_mode", "text_chars_per_token", "guard", "source", "as_of")
_OWN = ("key", "provider", "billing", "resize", "page", "confidence")
_ROUTE = ("name", "source", "as_of")
_TIGHTENED = ("max_images", "max_image_bytes", "max_request_bytes", "max_side_px")


def page_profile(model: str, route: str | None = None) -> PageProfile:
    """Return the profile of ``model`` reached by ``route``.

    Parameters
    ----------
    model
        A model id as the caller writes it, gateway prefixes, dates and suffixes included.
    route
        The way to the model, such as ``"anthropic"``, ``"bedrock"`` or ``"openrouter"``; None means the maker's own,
        unless the id names a gateway (``"azure/..."``).

    Returns
    -------
    PageProfile
        Never fails for want of a row: an id that no row covers gets the default, with ``match="default"`` and
        ``vision=False``.

    Raises
    ------
    ArgumentError
        When ``model`` is empty or no string, or ``route`` is unknown.
    """
    tables.check_model(model)
    return _shipped_profile(model, route)


@functools.lru_cache(maxsize=256)
def _shipped_profile(model: str, route: str | None) -> PageProfile:
    return _shipped().resolve(model, route)


@functools.cache
def _shipped() -> ProfileTable:
    return _parsed(tables.shipped_table())


@functools.cache
def every_profile() -> tuple[PageProfile, ...]:
    """Return every shipped profile, on its maker's route and on all others."""
    table = _shipped()
    own = [table.default, *(row.profile for row in table.rows)]
    return (*own, *(route.tightened(profile) for route in table.routes for profile in own))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """Pair a profile with the patterns that lead to it.

    Attributes
    ----------
    profile
        The profile when the version is known and the route is the maker's own.
    hits, known, direct_only
        Patterns of the ids of the row, of its known versions, and of those that see images on the maker's route only;
        not compiled: a process searches few of the 90, and all take 23 ms.
    """

    profile: PageProfile
    hits: str
    known: str | None
    direct_only: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRow:
    """Say what a route changes.

    Attributes
    ----------
    name, hits
        The route, and the pattern of the ids that name it.
    limits
        By provider, or ``"any"``: limits in px, bytes or images that tighten a profile's.
    source, as_of
        Where the numbers come from, and the date of that copy.
    """

    name: str
    hits: str
    limits: Mapping[str, Mapping[str, int]]
    source: str
    as_of: str

    def tightened(self, profile: PageProfile) -> PageProfile:
        """Return ``profile`` as this route carries it: the lower of each pair of limits, no guard, a page that fits."""
        lower: dict[str, Any] = {}
        for scope in ("any", profile.provider):
            for name, limit in self.limits.get(scope, {}).items():
                lower[name] = min(limit, lower.get(name, limit), getattr(profile, name) or limit)
        side_px = lower.get("max_side_px") or max(profile.page_height_px, profile.page_width_px)
        side_px -= side_px % billing.patch_px(profile.billing)  # a part patch would be resampled, and billed as a whole
        return dataclasses.replace(
            profile, route=self.name, guard_json=None, **lower,
            page_height_px=min(profile.page_height_px, side_px), page_width_px=min(profile.page_width_px, side_px),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTable:
    """Hold every row of a table of profiles, in the order in which they are tried.

    Attributes
    ----------
    blind
        Pattern of the ids that are no chat models, or see no images.
    rows, default
        The profiles, and the one for ids without a row.
    routes, route_names
        What routes change; every accepted spelling, with the route (or maker) it stands for.
    """

    blind: str
    rows: tuple[ProfileRow, ...]
    default: PageProfile
    routes: tuple[RouteRow, ...]
    route_names: Mapping[str, str]

    def resolve(self, model: str, route: str | None = None) -> PageProfile:
        """Return the profile of ``model`` reached by ``route``, as :func:`page_profile` does for the shipped table.

        Raises
        ------
        ArgumentError
            When ``route`` is unknown.
        """
        name = model.strip().lower()
        way = self._route(name, route)
        blind = re.search(self.blind, name)
        row = None if blind else next((row for row in self.rows if re.search(row.hits, name)), None)
        if row is None:
            return _carried(self.default, way, self.routes)
        known = row.known is None or re.search(row.known, name)
        direct = way in (None, row.profile.provider)
        found = dataclasses.replace(
            row.profile, match="known" if known else "assumed", vision=direct or not re.search(row.direct_only, name),
        )
        return found if direct else _carried(found, way, self.routes)

    def _route(self, name: str, route: str | None) -> str | None:
        if route is None:
            return next((row.name for row in self.routes if re.search(row.hits, name)), None)
        if not isinstance(route, str) or route.lower() not in self.route_names:
            known = ", ".join(sorted(self.route_names))
            raise ArgumentError(f"unknown route {route!r}; known: {known}; or None for the maker's own")
        return self.route_names[route.lower()]


def _carried(profile: PageProfile, way: str | None, routes: tuple[RouteRow, ...]) -> PageProfile:
    """Return ``profile`` on a route that is not its maker's own."""
    carrier = next((row for row in routes if row.name == way), None)
    return carrier.tightened(profile) if carrier else dataclasses.replace(profile, route=way, guard_json=None)


def parse_profiles(text: str) -> ProfileTable:
    """Read a table of profiles in the form of the shipped ``profiles.toml``.

    Parameters
    ----------
    text
        TOML.

    Returns
    -------
    ProfileTable
        Its rows, checked.

    Raises
    ------
    ProfileError
        When the text is no TOML, a key is unknown (the message names the known ones) or missing, or a value is not
        allowed.
    """
    top = tables.parse_toml(text)
    table = _parsed(top)
    _check_patterns(top)
    return table


def _check_patterns(top: Mapping[str, Any]) -> None:
    tables.check_patterns([*top["not_chat"], *top["text_only"]], where="not_chat and text_only")
    for row in top["profile"]:
        tables.check_patterns([*row["match"], *row.get("direct_vision", ())], where=f"profile {row['key']}")
    for row in top["route"]:
        tables.check_patterns(row.get("ids", ()), where=f"route {row['name']}")


def _parsed(top: Mapping[str, Any]) -> ProfileTable:
    shared: Mapping[str, Mapping[str, Any]] = top["provider"]
    for name, row in shared.items():
        tables.check_keys(row, where=f"provider {name}", required=("source", "as_of"), optional=(*_SHARED, "also"))
    return ProfileTable(
        blind=tables.any_pattern([*top["not_chat"], *top["text_only"]]),
        rows=tuple(_profile_row(row, shared) for row in top["profile"]),
        default=_profile(top["default"], {}, match="default"),
        routes=tuple(_route_row(row, {"any", *shared}) for row in top["route"]),
        route_names=_spellings({**shared, **{row["name"]: row for row in top["route"]}}),
    )


def _spellings(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {spelling: name for name, row in rows.items() for spelling in (name, *row.get("also", ()))}


def _profile_row(row: Mapping[str, Any], shared: Mapping[str, Mapping[str, Any]]) -> ProfileRow:
    own = dict(row)
    where = f"profile {own.get('key', 'without key')}"
    patterns = {key: own.pop(key, None) for key in ("match", "known", "direct_vision")}
    if own.get("provider") not in shared:
        raise ProfileError(f"{where}: unknown provider {own.get('provider')!r}; known: {', '.join(shared)}")
    if not patterns["match"]:
        raise ProfileError(f"{where}: missing match")
    return ProfileRow(
        profile=_profile(own, shared[own["provider"]], match="known"),
        hits=tables.any_pattern(patterns["match"]),
        known=tables.version_pattern(patterns["known"]) if patterns["known"] else None,
        direct_only=tables.any_pattern(patterns["direct_vision"] or ()),
    )


def _profile(own: Mapping[str, Any], shared: Mapping[str, Any], *, match: Match) -> PageProfile:
    where = f"profile {own.get('key', 'without key')}"
    tables.check_keys(own, where=where, required=_OWN, optional=(*_SHARED, "match", "known", "direct_vision"))
    row = {**{key: value for key, value in shared.items() if key != "also"}, **own}
    height_px, width_px = row.pop("page")
    guard = row.pop("guard", None)
    return PageProfile(
        match=match, vision=match != "default", page_height_px=height_px, page_width_px=width_px,
        billing=billing.parse_rule(row.pop("billing"), billing.FORMULAS, where=where),
        resizing=billing.parse_rule(row.pop("resize"), billing.RESIZE_RULES, where=where),
        guard_json=json.dumps(guard) if guard else None, **row,
    )


def _route_row(row: Mapping[str, Any], scopes: set[str]) -> RouteRow:
    where = f"route {row.get('name', 'without name')}"
    tables.check_keys(row, where=where, required=_ROUTE, optional=("also", "ids", "limits"))
    limits: Mapping[str, Mapping[str, int]] = row.get("limits", {})
    tables.check_keys(limits, where=f"{where}, limits", required=(), optional=sorted(scopes))
    for scope, pairs in limits.items():
        tables.check_keys(pairs, where=f"{where}, limits.{scope}", required=(), optional=_TIGHTENED)
    return RouteRow(
        name=row["name"], hits=tables.any_pattern(row.get("ids", ())), limits=limits,
        source=row["source"], as_of=row["as_of"],
    )
