"""What model lines have been shown to read, and the cell that follows from it."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from glyphraster import tables
from glyphraster.errors import ArgumentError, ProfileError

Need = Literal["gist", "exact"]
"""``gist`` is recall of what happened, ``exact`` is copying strings."""

FONT = "glyph5x8"
FONT_HEIGHT_PX, FONT_WIDTH_PX = 8, 5
DENSE_SCALE, PLAIN_SCALE = 1, 2
"""5x8 px only where a measurement supports it, else 10x16 px, at which Claude Opus 4.8 copied 19 of 20 identifiers
(2 of 20 at 5x8; pxpipe, FINDINGS.md, 2026-08-20)."""

_VERDICTS = ("no longer reads", "now and then miscopies", "copies", "still holds")
_NEEDS = ("exact", "gist", "none")
_ROW_KEYS = ("line", "models", "results", "source", "as_of")
_RESULT_KEYS = ("cell", "content", "score", "need")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Hold one published measurement of what a model line reads.

    Attributes
    ----------
    line
        The model line as people call it.
    models
        The measured ids; another version of the line was not measured.
    cell
        Width x height of the glyph cell in px, such as ``"5x8"``.
    content
        What was to be read.
    score
        The result as published.
    need
        What the result supports: ``"exact"`` (which includes gist), ``"gist"``, or ``"none"`` where it shows a failure.
    source, as_of
        Who measured, and the date of the copy.
    """

    line: str
    models: tuple[str, ...]
    cell: str
    content: str
    score: str
    need: str
    source: str
    as_of: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", self.cell):
            raise ProfileError(f"evidence for {self.line}: cell must be WIDTHxHEIGHT such as '5x8', got {self.cell!r}")
        if self.need not in _NEEDS:
            raise ProfileError(f"evidence for {self.line}: need must be one of {', '.join(_NEEDS)}, got {self.need!r}")

    @property
    def area_px(self) -> int:
        """Area of the cell in px."""
        width, height = self.cell.split("x")
        return int(width) * int(height)

    def covers(self, model: str) -> bool:
        """Return whether ``model`` names the measured weights."""
        return _weights(self.models).search(model.lower()) is not None

    def supports(self, need: Need) -> bool:
        """Return whether the result supports ``need``; exact includes gist."""
        return self.need == need or self.need == "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChoice:
    """Say in which cell a model's pages are drawn, and why.

    Attributes
    ----------
    font, scale
        The font, and the side in px of the square that draws one glyph pixel.
    evidence
        The measurements that the statement quotes.
    statement
        One line for people: what the model no longer reads exactly in this cell, with figures and source.
    """

    font: str
    scale: int
    evidence: tuple[Evidence, ...]
    statement: str

    @property
    def cell_height_px(self) -> int:
        """Height of the cell in px."""
        return FONT_HEIGHT_PX * self.scale

    @property
    def cell_width_px(self) -> int:
        """Width of the cell in px."""
        return FONT_WIDTH_PX * self.scale


def reading_cell(model: str, need: Need = "gist") -> CellChoice:
    """Choose the cell that ``model`` has been shown to read.

    The dense cell is chosen only where a measurement of exactly this version supports ``need``; every other model gets
    four times the area. The choice follows the weights, never the price.

    Parameters
    ----------
    model
        A model id as the caller writes it.
    need
        ``"gist"`` or ``"exact"``.

    Returns
    -------
    CellChoice
        Font, scale, evidence, and one line that says what is lost.

    Raises
    ------
    ArgumentError
        When ``model`` is empty or no string, or ``need`` is neither of the two.
    """
    tables.check_model(model)
    if need not in get_args(Need):
        raise ArgumentError(f"need must be one of {', '.join(get_args(Need))}, got {need!r}")
    own = tuple(row for row in shipped_evidence() if row.covers(model))
    dense = any(row.cell == _cell(DENSE_SCALE) and row.supports(need) for row in own)
    return _choice(model, DENSE_SCALE if dense else PLAIN_SCALE, own)


def parse_evidence(rows: list[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    """Return the measurements of the ``[[evidence]]`` rows, in their order.

    Raises
    ------
    ProfileError
        When a row has an unknown key or lacks one, or a value is outside what is allowed.
    """
    found: list[Evidence] = []
    for number, row in enumerate(rows, start=1):
        where = f"evidence row {number} ({row.get('line', 'no line')})"
        tables.check_keys(row, where=where, required=_ROW_KEYS)
        shared = {"line": row["line"], "models": tuple(row["models"]), "source": row["source"], "as_of": row["as_of"]}
        for result in row["results"]:
            tables.check_keys(result, where=where, required=_RESULT_KEYS)
            found.append(Evidence(**shared, **result))
    return tuple(found)


@functools.cache
def shipped_evidence() -> tuple[Evidence, ...]:
    """Return every shipped measurement."""
    return parse_evidence(tables.shipped_table()["evidence"])


@functools.cache
def _weights(models: tuple[str, ...]) -> re.Pattern[str]:
    return tables.weights_pattern(models)


def _cell(scale: int) -> str:
    return f"{FONT_WIDTH_PX * scale}x{FONT_HEIGHT_PX * scale}"


def _choice(model: str, scale: int, own: tuple[Evidence, ...]) -> CellChoice:
    cell = _cell(scale)
    rows = tuple(row for row in own if row.cell == cell)
    if rows:
        statement = f"{_described(rows)}."
    else:
        rows = _nearest(own or shipped_evidence(), FONT_HEIGHT_PX * FONT_WIDTH_PX * scale**2)
        statement = (f"{model} in cells of {cell} px was not measured, so what it no longer reads exactly is unknown; "
                     f"the nearest measurement: {_described(rows)}.")
    return CellChoice(font=FONT, scale=scale, evidence=rows, statement=statement)


def _nearest(rows: tuple[Evidence, ...], area_px: int) -> tuple[Evidence, ...]:
    """Return the rows of the line and cell nearest in area, as a ratio."""
    best = min(rows, key=lambda row: abs(math.log(row.area_px / area_px)))
    return tuple(row for row in rows if (row.line, row.cell) == (best.line, best.cell))


def _described(rows: tuple[Evidence, ...]) -> str:
    told: dict[str, list[str]] = {verdict: [] for verdict in _VERDICTS}
    for row in rows:
        told[_verdict(row)].append(f"{row.content} ({row.score})")
    parts = [f"{verdict} {', '.join(results)}" for verdict, results in told.items() if results]
    sources = dict.fromkeys(f"{row.source}, {row.as_of}" for row in rows)
    return f"{rows[0].line} in cells of {rows[0].cell} px {'; '.join(parts)} [{'; '.join(sources)}]"


def _verdict(row: Evidence) -> str:
    if row.need == "exact" and re.match(r"(\d+)/\1(?!\d)", row.score):
        return "copies"
    return {"none": "no longer reads", "exact": "now and then miscopies", "gist": "still holds"}[row.need]
