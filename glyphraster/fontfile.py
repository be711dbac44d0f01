"""Font files as bytes: found, bounded, unpacked and recognised before any parser sees them; GNU .hex read right here.

Nothing in a font file is trusted. Every amount that a file claims is compared with a limit of this module first, so
that a small hostile file cannot ask for large memory.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glyphraster.errors import ArgumentError, FontError

MAX_FILE_BYTES = 64 << 20
"""Most bytes of a font file, packed or not, and of the bitmaps that a BDF announces; the largest CJK face has 33 MB."""

MAX_GLYPH_PX = 512
"""Longest side of a glyph that is looked at; the largest cell of a page is :data:`MAX_CELL_PX`."""

MAX_CELL_PX = 128

Ink = npt.NDArray[np.bool_]


class Glyph(NamedTuple):
    """One drawn character of a font file.

    ``top_px`` rows of ``ink`` stand above the baseline; its first column lies ``left_px`` right of the pen.
    """

    advance_px: float
    left_px: int
    top_px: int
    ink: Ink


class Typeface(NamedTuple):
    """What a font file holds, before it is fitted into cells; glyphs by code point, ascending."""

    name: str
    licence: str
    glyphs: dict[int, Glyph]
    outline_px: int | None = None
    """Size at which outlines were drawn; None for bitmaps."""
    grey_share: float = 0.0
    """Share of the inked pixels of ASCII that an outline covers only in part."""
    unmapped: tuple[int, ...] = ()
    """Codes of a legacy charset that are no character."""
    broken: tuple[int, ...] = ()
    """Code points whose glyph cannot be loaded, or is larger than :data:`MAX_GLYPH_PX`."""


def read_font_file(path: Path) -> bytes:
    """Return the content of a font file, unpacked when gzipped.

    Raises
    ------
    ArgumentError
        When there is no such file.
    FontError
        When the file, packed or unpacked, is empty, damaged or larger than :data:`MAX_FILE_BYTES`.
    """
    if not path.is_file():
        raise ArgumentError(f"no font file {str(path)!r}: give the path of a BDF, PCF, OTB, TTF, OTF, WOFF or .hex")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise FontError(f"{path} cannot be read: {error.strerror}") from error
    _check_size(content, path)
    return _unpacked(content, path) if content.startswith(b"\x1f\x8b") else content


def _check_size(content: bytes, path: Path) -> None:
    if not 0 < len(content) <= MAX_FILE_BYTES:
        size = f"more than {MAX_FILE_BYTES:,}" if content else "0"
        raise FontError(f"{path} holds {size} bytes; a font file has 1 to {MAX_FILE_BYTES:,}")


def _unpacked(content: bytes, path: Path) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(content, MAX_FILE_BYTES + 1)
    except zlib.error as error:
        raise FontError(f"{path} is a damaged gzip file of {len(content)} bytes: {error}") from error
    if len(unpacked) <= MAX_FILE_BYTES and not unpacker.eof:
        raise FontError(f"{path} is a gzip file cut short: {len(content)} bytes gave {len(unpacked)}; fetch it again")
    _check_size(unpacked, path)
    return unpacked


_MAGIC = {
    b"STARTFONT": "BDF", b"\x01fcp": "PCF", b"\x00\x01\x00\x00": "TrueType", b"true": "TrueType", b"OTTO": "OpenType",
    b"ttcf": "a TrueType collection", b"wOFF": "WOFF",
}
_HEX_LINE = re.compile(rb"[0-9A-Fa-f]{4,6}:(?:[0-9A-Fa-f]{32}){1,4}\s")
_BDF_BOX = re.compile(rb"[\r\n]BBX[^\r\n +]*[ +]+0*(\d+)[ +]+0*(\d+)")


def is_hex(content: bytes) -> bool:
    """Tell whether the content is a GNU .hex font: lines of a code point, a colon and 16 pixel rows."""
    return bool(_HEX_LINE.match(content))


def check_freetype_may_open(content: bytes, path: Path) -> None:
    """Refuse what is no font of a known kind, or what announces more than :data:`MAX_FILE_BYTES`."""
    kind = next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), None)
    if kind is None:
        raise FontError(
            f"{path} is no font file that can be imported: its {len(content)} bytes start with {content[:8]!r}; known "
            f"are BDF, PCF, OTB, TTF, OTF, WOFF (not WOFF2; PCF and BDF also gzipped) and GNU .hex"
        )
    announced = _announced_bytes(content, kind)
    if announced > MAX_FILE_BYTES:
        raise FontError(f"{path} ({kind}, {len(content):,} bytes) announces {announced:,} bytes of glyphs; at most "
                        f"{MAX_FILE_BYTES:,} are read")


def _announced_bytes(content: bytes, kind: str) -> int:
    """Return what FreeType would allocate because the file says so."""
    if kind == "BDF":
        boxes = ([min(int(word[:6]), 0x7FFF) for word in match.groups()] for match in _BDF_BOX.finditer(content))
        return sum(-(-width // 8) * height for width, height in boxes)      # FreeType takes 0x7FFF for what is above
    return int.from_bytes(content[16:20], "big") if kind == "WOFF" else 0


HEX_ROWS = 16
HEX_BASELINE_PX = 14
"""Rows above the baseline in GNU .hex, which states none: those of Unifont's own BDF (FONT_ASCENT 14)."""


def parse_hex(content: bytes, path: Path) -> Typeface:
    """Read a GNU .hex font: 16 rows a glyph, 8, 16, 24 or 32 columns.

    Raises
    ------
    FontError
        When a line is not of that form, or draws a code point again; the message gives its number.
    """
    glyphs: dict[int, Glyph] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip() and not line.startswith(b"#"):
            code, glyph = _hex_glyph(line.strip(), number, path)
            if code in glyphs or code > 0x10FFFF:
                raise FontError(f"{path}, line {number}: U+{code:04X} is drawn again or beyond U+10FFFF")
            glyphs[code] = glyph
    return Typeface(name=path.name.split(".")[0], licence="", glyphs=dict(sorted(glyphs.items())))


def _hex_glyph(line: bytes, number: int, path: Path) -> tuple[int, Glyph]:
    if not _HEX_LINE.fullmatch(line + b"\n"):
        raise FontError(f"{path}, line {number}: {line[:24]!r} is no glyph; write 4 to 6 hex digits, a colon and 32, "
                        f"64, 96 or 128 hex digits")
    code, _, digits = line.partition(b":")
    rows = np.frombuffer(bytes.fromhex(digits.decode()), np.uint8).reshape(HEX_ROWS, -1)
    ink = np.unpackbits(rows, axis=1).view(np.bool_)
    return int(code, 16), Glyph(float(ink.shape[1]), 0, HEX_BASELINE_PX, ink)
