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

_VERDICTS = ("no longer reads", "now and then miscopies", "copies", "still holds")
_NEEDS = ("exact", "gist", "none")
_ROW_KEYS = ("line", "models", "results", "source", "as_of")
_RESULT_KEYS = ("cell", "content", "score", "need")
_CELL_KEYS = ("font", "scale", "pitch", "source", "as_of")


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
        return re.search(_weights(self.models), model.lower()) is not None

    def supports(self, need: Need) -> bool:
        """Return whether the result supports ``need``; exact includes gist."""
        return self.need == need or self.need == "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Say how a page sets its glyphs.

    Attributes
    ----------
    font, scale
        The font, and the side in px of the square that draws one glyph pixel.
    pitch_y_px, pitch_x_px
        Distance from one cell to the next in glyph pixels, before ``scale``; at least the font's cell.

    Raises
    ------
    ProfileError
        When a number is no positive integer.
    """

    font: str
    scale: int
    pitch_y_px: int
    pitch_x_px: int

    def __post_init__(self) -> None:
        for name in ("scale", "pitch_y_px", "pitch_x_px"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ProfileError(f"cell of {self.font}: {name} must be a positive integer, got {value!r}")

    @property
    def cell_height_px(self) -> int:
        """Height of the cell on the page."""
        return self.pitch_y_px * self.scale

    @property
    def cell_width_px(self) -> int:
        """Width of the cell on the page."""
        return self.pitch_x_px * self.scale

    @property
    def size(self) -> str:
        """Width x height in px, as measurements name it: ``"5x8"``."""
        return f"{self.cell_width_px}x{self.cell_height_px}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChoice(Cell):
    """Say in which cell a model's pages are drawn, and why.

    Attributes
    ----------
    font, scale, pitch_y_px, pitch_x_px
        As in :class:`Cell`.
    evidence
        The measurements that the statement quotes.
    statement
        One line for people: what the model no longer reads exactly in this cell, with figures and source.
    """

    evidence: tuple[Evidence, ...]
    statement: str


def reading_cell(model: str, need: Need = "gist") -> CellChoice:
    """Choose the cell that ``model`` has been shown to read.

    Of the ``[[cell]]`` rows of ``profiles.toml`` it is the first of a size at which a measurement of exactly this
    version supports ``need``; without one it is the last. The choice follows the weights, never the price.

    Parameters
    ----------
    model
        A model id as the caller writes it.
    need
        ``"gist"`` or ``"exact"``.

    Returns
    -------
    CellChoice
        Font, scale, pitch, evidence, and one line that says what is lost.

    Raises
    ------
    ArgumentError
        When ``model`` is empty or no string, or ``need`` is neither of the two.
    """
    tables.check_model(model)
    if need not in get_args(Need):
        raise ArgumentError(f"need must be one of {', '.join(get_args(Need))}, got {need!r}")
    own = tuple(row for row in shipped_evidence() if row.covers(model))
    read = {row.cell for row in own if row.supports(need)}
    return _choice(model, next((cell for cell in shipped_cells() if cell.size in read), shipped_cells()[-1]), own)


def parse_cells(rows: list[Mapping[str, Any]]) -> tuple[Cell, ...]:
    """Return the cells of the ``[[cell]]`` rows, in their order.

    Raises
    ------
    ProfileError
        When there is no row, a row has an unknown key or lacks one, or a value is outside what is allowed.
    """
    if not rows:
        raise ProfileError("there is no [[cell]] row: the last one is what a model without evidence gets")
    found: list[Cell] = []
    for number, row in enumerate(rows, start=1):
        tables.check_keys(row, where=f"cell row {number}", required=_CELL_KEYS)
        if not isinstance(row["pitch"], list) or len(row["pitch"]) != 2:
            raise ProfileError(f"cell row {number}: pitch must be two integers, rows first, got {row['pitch']!r}")
        pitch_y_px, pitch_x_px = row["pitch"]
        found.append(Cell(font=row["font"], scale=row["scale"], pitch_y_px=pitch_y_px, pitch_x_px=pitch_x_px))
    return tuple(found)


@functools.cache
def shipped_cells() -> tuple[Cell, ...]:
    """Return every cell that :func:`reading_cell` may choose."""
    return parse_cells(tables.shipped_table()["cell"])


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
def _weights(models: tuple[str, ...]) -> str:
    return tables.weights_pattern(models)


def _choice(model: str, cell: Cell, own: tuple[Evidence, ...]) -> CellChoice:
    rows = tuple(row for row in own if row.cell == cell.size)
    if rows:
        statement = f"{_described(rows)}."
    else:
        rows = _nearest(own or shipped_evidence(), cell.cell_height_px * cell.cell_width_px)
        statement = (f"{model} in cells of {cell.size} px was not measured, so what it no longer reads exactly is "
                     f"unknown; the nearest measurement: {_described(rows)}.")
    return CellChoice(
        font=cell.font, scale=cell.scale, pitch_y_px=cell.pitch_y_px, pitch_x_px=cell.pitch_x_px, evidence=rows,
        statement=statement,
    )


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
