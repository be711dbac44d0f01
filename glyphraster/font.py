"""Bitmap fonts: packed glyphs, code point lookup, load and save.

Bit order, for the whole package: one glyph cell is ``cell_height_px`` rows of ``ceil(cell_width_px / 8)`` bytes, top
row first; within a byte the **high bit is the leftmost pixel**; a set bit is ink. A glyph that spans two cells takes
two consecutive cells, left before right, and so on up to :data:`MAX_SPAN_CELLS`. ``tests/glyphraster/test_font.py``
pins this with a picture.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import importlib.resources
import io
import json
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glyphraster.errors import ArgumentError, FontError
from glyphraster.output import write_atomically

MARK_BASE = 0x110000
"""First code of the reserved marks: one past the last Unicode code point, so no character of a ``str`` is one."""


MAX_SPAN_CELLS = 16
"""Most cells that a glyph may take: a glyph of 64 px on columns of 4."""


class Mark(enum.IntEnum):
    """Reserved marks that a layout draws; none can occur in a text, so decoding is unique."""

    NEWLINE = MARK_BASE
    CARRIAGE_RETURN = MARK_BASE + 1
    TAB = MARK_BASE + 2
    ESCAPE_OPEN = MARK_BASE + 3
    ESCAPE_CLOSE = MARK_BASE + 4
    CONTINUATION = MARK_BASE + 5
    CAPTION = MARK_BASE + 6
    PAD = MARK_BASE + 7
    """Fills the end of a row that a wide glyph could not enter."""
    MARGIN = MARK_BASE + 8
    """A dotted rule between line numbers and text; cells below one another join to one line."""
    COUNT_0 = MARK_BASE + 16
    """Ten small underlined digits: one or more of them in a row are the length of a run of spaces."""
    COUNT_1 = MARK_BASE + 17
    COUNT_2 = MARK_BASE + 18
    COUNT_3 = MARK_BASE + 19
    COUNT_4 = MARK_BASE + 20
    COUNT_5 = MARK_BASE + 21
    COUNT_6 = MARK_BASE + 22
    COUNT_7 = MARK_BASE + 23
    COUNT_8 = MARK_BASE + 24
    COUNT_9 = MARK_BASE + 25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BitmapFont:
    """Hold a fixed-cell bitmap font; arrays are read-only.

    Attributes
    ----------
    name, licence
        What the font is called, and the terms it may be used under.
    cell_height_px, cell_width_px, baseline_px
        Size of one cell, and the row of the baseline counted from the cell top.
    codepoints
        uint32 (N,), strictly ascending; values from :data:`MARK_BASE` are :class:`Mark`.
    spans
        uint8 (N,), cells that each glyph takes, at most :data:`MAX_SPAN_CELLS`.
    bitmaps
        uint8 (spans.sum(), cell_height_px, ceil(cell_width_px / 8)), packed as the module says.

    Raises
    ------
    FontError
        When shapes, order or spans do not agree.
    """

    name: str
    cell_height_px: int
    cell_width_px: int
    baseline_px: int
    codepoints: npt.NDArray[np.uint32]
    spans: npt.NDArray[np.uint8]
    bitmaps: npt.NDArray[np.uint8]
    licence: str

    def __post_init__(self) -> None:
        _check(self)
        for array in (self.codepoints, self.spans, self.bitmaps):
            array.setflags(write=False)

    @property
    def first_cells(self) -> npt.NDArray[np.int64]:
        """Index into ``bitmaps`` of each glyph's first cell, int64 (N,)."""
        return np.cumsum(self.spans, dtype=np.int64) - self.spans

    @property
    def line_height_px(self) -> int:
        """Height of a row of plain text: the cell's, unless fallback fonts make some rows taller."""
        return self.cell_height_px

    @property
    def digest(self) -> str:
        """Identify the drawn result: 16 hex digits of SHA-256 over cell size, code points, spans and bitmaps."""
        return _digest(self)

    def cell(self, codepoint: int) -> int:
        """Return the index of the first cell of ``codepoint``.

        Raises
        ------
        FontError
            When the font does not hold that code point.
        """
        index = int(np.searchsorted(self.codepoints, codepoint))
        if index == len(self.codepoints) or self.codepoints[index] != codepoint:
            raise FontError(
                f"font {self.name!r} has no glyph for U+{codepoint:04X}; it holds {len(self.codepoints)} glyphs"
            )
        return int(self.first_cells[index])

    def save(self, path: str | Path) -> None:
        """Write the packed form to a file, whole or not at all.

        A new file can be read by its owner alone (mode 0600); an existing one keeps its mode.

        Raises
        ------
        OSError
            When the file cannot be written; what was there before stays.
        """
        write_atomically(Path(path), self.packed())

    def packed(self) -> bytes:
        """Return the packed form: a ``.npz`` whose bytes depend on nothing but the font."""
        meta = {key: getattr(self, key) for key in _META}
        arrays: dict[str, npt.NDArray[Any]] = {
            "meta": np.frombuffer(json.dumps(meta, sort_keys=True).encode(), np.uint8),
            "codepoints": self.codepoints,
            "spans": self.spans,
            "bitmaps": self.bitmaps,
        }
        return _zip(arrays)


Fonts = str | Path | BitmapFont | Sequence[str | Path | BitmapFont]
"""One font or several in order of preference: each itself, its name, or the path of a packed one."""

_META = ("name", "cell_height_px", "cell_width_px", "baseline_px", "licence")
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, MemoryError, SyntaxError,
               zipfile.BadZipFile, zlib.error, tokenize.TokenError)
"""All that zipfile, zlib and numpy raised for packed fonts with 1 to 3 bytes changed (6,000 tried)."""


def load_font(name_or_path: str | Path) -> BitmapFont:
    """Load a shipped font by its name, or a packed ``.npz`` by its path.

    Parameters
    ----------
    name_or_path
        The name of a font that the package ships (``"glyph5x8"``), or the path of what :meth:`BitmapFont.save` wrote.

    Raises
    ------
    ArgumentError
        When no such font is shipped and no such file exists; the message names the shipped ones.
    FontError
        When the file is not a packed font.
    """
    if isinstance(name_or_path, str) and name_or_path in shipped_fonts():
        return _load_shipped(name_or_path)
    path = Path(name_or_path)
    if not path.is_file():
        raise ArgumentError(
            f"no font {str(name_or_path)!r}: shipped fonts are {', '.join(shipped_fonts())}; "
            f"or give the path of a packed .npz file"
        )
    return _unpack(path.read_bytes(), str(path))


def load_fonts(fonts: Fonts) -> list[BitmapFont]:
    """Return one font or several, each given as itself, its name or its path; errors as :func:`load_font`."""
    several = [fonts] if isinstance(fonts, str | Path | BitmapFont) else fonts
    return [font if isinstance(font, BitmapFont) else load_font(font) for font in several]


def shipped_fonts() -> tuple[str, ...]:
    """Return the names of the fonts inside the package, sorted."""
    names = (entry.name for entry in _data().iterdir())
    return tuple(sorted(name[:-4] for name in names if name.endswith(".npz")))


@functools.cache
def _load_shipped(name: str) -> BitmapFont:
    return _unpack(_data().joinpath(f"{name}.npz").read_bytes(), name)


def _data() -> importlib.resources.abc.Traversable:
    return importlib.resources.files("glyphraster").joinpath("data")


def _unpack(packed: bytes, origin: str) -> BitmapFont:
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            meta = json.loads(arrays["meta"].tobytes())
            return BitmapFont(
                codepoints=arrays["codepoints"],
                spans=arrays["spans"],
                bitmaps=arrays["bitmaps"],
                **{key: meta[key] for key in _META},
            )
    except FontError:
        raise
    except _UNREADABLE as error:
        raise FontError(
            f"{origin} is not a packed font ({len(packed)} bytes): {error}; build one with `glyphraster font build`"
        ) from error


def _zip(arrays: dict[str, npt.NDArray[Any]]) -> bytes:
    """Return a .npz with a fixed date, so that equal fonts are equal files (np.savez stamps the clock)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, member.getvalue(), zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def _digest(font: BitmapFont) -> str:
    digest = hashlib.sha256(f"{font.cell_height_px}x{font.cell_width_px}".encode())
    for array in (font.codepoints, font.spans, font.bitmaps):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _check(font: BitmapFont) -> None:
    count = len(font.codepoints)
    shape = (int(font.spans.sum()), font.cell_height_px, -(-font.cell_width_px // 8))
    if font.codepoints.dtype != np.uint32 or font.spans.dtype != np.uint8 or font.bitmaps.dtype != np.uint8:
        raise FontError(
            f"font {font.name!r}: codepoints must be uint32, spans and bitmaps uint8; got "
            f"{font.codepoints.dtype}, {font.spans.dtype}, {font.bitmaps.dtype}"
        )
    if count == 0 or np.any(np.diff(font.codepoints.astype(np.int64)) <= 0):
        raise FontError(f"font {font.name!r}: {count} code points, which must be at least one and strictly ascending")
    if font.spans.shape != (count,) or not ((font.spans > 0) & (font.spans <= MAX_SPAN_CELLS)).all():
        raise FontError(
            f"font {font.name!r}: spans must be {count} values from 1 to {MAX_SPAN_CELLS}, got shape {font.spans.shape}"
        )
    if font.bitmaps.shape != shape:
        raise FontError(f"font {font.name!r}: bitmaps must have shape {shape}, got {font.bitmaps.shape}")
