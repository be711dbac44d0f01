"""Font files through FreeType (the extra ``fonts``): every glyph in black and white, as the file draws it.

FreeType is reached through the raw layer of freetype-py: its comfortable layer turns each bitmap into a list of
integers, and a face of 57,086 glyphs then takes minutes. Outlines are drawn unhinted at the exact size.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glyphraster.charset import codec_of, to_unicode
from glyphraster.errors import ArgumentError, FontError
from glyphraster.fontfile import MAX_GLYPH_PX, Glyph, Ink, Typeface

_Api: TypeAlias = Any
_Face: TypeAlias = Any
_Struct: TypeAlias = Any
"""What ctypes gives: freetype-py ships no types."""

MAX_CHARACTERS = 1 << 18
"""Most characters that a face may map: 155,063 are assigned in Unicode 16, 137,468 are private."""

_NO_HINTING, _MONOCHROME, _METRICS_ONLY = 0x2, 0x2 << 16 | 0x1000, 0x400000
_RENDER_NORMAL, _RENDER_MONO = 0, 2
_SCALABLE = 1
_UNICODE, _OUTLINE = int.from_bytes(b"unic", "big"), int.from_bytes(b"outl", "big")
_MONO, _GREY = 1, 2
_ATOM = 1
_COPYRIGHT, _LICENCE, _LICENCE_URL = 0, 13, 14


_BDF_FONT = re.compile(
    rb"STARTFONT[^\r\n]*[\r\n]+(?:COMMENT[^\r\n]*[\r\n]+)*FONT -[^\r\n]{0,300}-([^-\r\n]{1,40}-[^-\r\n ]{1,40}) *[\r\n]"
)


class _BdfProperty(ctypes.Structure):
    """FreeType's BDF_PropertyRec; ``atom`` is a string only when ``type`` says so."""

    _fields_ = (("type", ctypes.c_int), ("atom", ctypes.c_char_p))


def open_typeface(content: bytes, path: Path, size_px: int | None, encoding: str | None) -> Typeface:
    """Load the glyphs of a font file.

    Parameters
    ----------
    content, path
        The checked bytes of the file, and its path for messages.
    size_px
        Pixels per em; needed for outlines, and to choose among several bitmap sizes.
    encoding
        A Python codec for a face without a Unicode map.

    Raises
    ------
    FontError
        When freetype-py is missing, FreeType refuses the file, or the face has no known charset.
    ArgumentError
        When ``size_px`` is missing or is none of the file's sizes.
    """
    with _opened(content, path) as (ft, face):
        _choose_size(ft, face, size_px, path)
        indices, unmapped = _characters(ft, face, encoding, _declared_charset(ft, face, content), path)
        loaded = {index: _load(ft, face, index) for index in set(indices.values())}
        glyphs = {code: glyph for code, index in sorted(indices.items()) if (glyph := loaded[index]) is not None}
        outline = face.contents.face_flags & _SCALABLE and not _has_strike(face, size_px)
        return Typeface(
            name=path.name.split(".")[0] + (f"-{size_px}" if outline else ""),
            licence=_licence(ft, face),
            glyphs=glyphs,
            outline_px=size_px if outline else None,
            grey_share=_grey_share(ft, face, indices) if outline else 0.0,
            unmapped=tuple(unmapped),
            broken=tuple(sorted(indices.keys() - glyphs.keys())),
        )


def _freetype(path: Path) -> _Api:
    try:
        import freetype.raw
    except (ImportError, RuntimeError, OSError) as error:
        raise FontError(
            f"{path} needs FreeType, which is not here ({error}): pip install 'glyphraster[fonts]'"
        ) from error
    return freetype.raw


@contextlib.contextmanager
def _opened(content: bytes, path: Path) -> Iterator[tuple[_Api, _Face]]:
    """Yield the raw API and the first face; all that FreeType holds is freed at the end."""
    ft = _freetype(path)
    library, face = ft.FT_Library(), ft.FT_Face()
    if error := ft.FT_Init_FreeType(ctypes.byref(library)):
        raise FontError(f"FreeType does not start: error {error}")
    try:
        if error := ft.FT_New_Memory_Face(library, content, len(content), 0, ctypes.byref(face)):
            raise FontError(f"{path} is a damaged font file of {len(content):,} bytes: FreeType error {error}")
        yield ft, face
    finally:
        ft.FT_Done_FreeType(library)


# ------------------------------------------------------------------------------------------------- sizes and charsets


def _strikes(face: _Face) -> list[tuple[int, int]]:
    """Return height and pixels per em of each bitmap size."""
    record = face.contents
    sizes = (record.available_sizes[index] for index in range(record.num_fixed_sizes))
    return [(size.height, size.y_ppem + 32 >> 6) for size in sizes]


def _has_strike(face: _Face, size_px: int | None) -> bool:
    return any(size_px == ppem for _, ppem in _strikes(face))


def _choose_size(ft: _Api, face: _Face, size_px: int | None, path: Path) -> None:
    strikes = _strikes(face)
    if face.contents.face_flags & _SCALABLE:
        if size_px is None:
            raise ArgumentError(f"{path} holds outlines: give size_px, the pixels per em to draw them at")
        error = ft.FT_Set_Pixel_Sizes(face, 0, size_px)
    else:
        error = ft.FT_Select_Size(face, _strike(strikes, size_px, path))
    if error:
        raise FontError(f"{path} cannot be set to {size_px} px: FreeType error {error}")


def _strike(strikes: list[tuple[int, int]], size_px: int | None, path: Path) -> int:
    fitting = [index for index, sizes in enumerate(strikes) if size_px is None or size_px in sizes]
    if len(strikes) == 0:
        raise FontError(f"{path} holds 0 sizes and no outlines: there is nothing to import")
    if not fitting or (size_px is None and len(strikes) > 1):
        there = ", ".join(sorted({str(height) for height, _ in strikes}, key=int))
        raise ArgumentError(f"{path} holds bitmaps of {there} px, and size_px is {size_px}: give one of those")
    return fitting[0]


def _characters(
    ft: _Api, face: _Face, encoding: str | None, charset: str, path: Path
) -> tuple[dict[int, int], list[int]]:
    """Return glyph index by code point, and the codes that the charset does not know."""
    record = face.contents
    maps = [record.charmaps[index] for index in range(record.num_charmaps)]
    if encoding is None and record.charmap and record.charmap.contents.encoding == _UNICODE:
        return _walk(ft, face, record.charmap, path), []    # FreeType's choice: all of Unicode before its first plane
    if not maps:
        raise FontError(f"{path} holds 0 character maps: nothing says which glyph is which character")
    codec = encoding or _codec(charset, path)
    indices = _walk(ft, face, maps[0], path)
    named = {code: to_unicode(code, codec) for code in indices}
    found = {point: indices[code] for code, point in reversed(named.items()) if point is not None}
    return found, [code for code, point in named.items() if point is None]


def _declared_charset(ft: _Api, face: _Face, content: bytes) -> str:
    """Return CHARSET_REGISTRY and CHARSET_ENCODING with a dash between; without them, the end of a BDF's FONT line."""
    encoding, registry = ctypes.c_char_p(), ctypes.c_char_p()
    read = getattr(ft, "FT_Get_BDF_Charset_ID", None)
    if read and not read(face, ctypes.byref(encoding), ctypes.byref(registry)) and registry.value and encoding.value:
        return (registry.value + b"-" + encoding.value).decode("latin-1")
    match = _BDF_FONT.match(content)
    return match[1].decode("latin-1") if match else ""


def _codec(charset: str, path: Path) -> str:
    codec = codec_of(charset)
    if codec is None:
        said = f"names the charset {charset[:40]!r}, which is not known here" if charset else "names no charset"
        raise FontError(f"{path} has no Unicode map and {said}: give encoding=, a Python codec such as iso8859_2")
    return codec


def _walk(ft: _Api, face: _Face, charmap: _Struct, path: Path) -> dict[int, int]:
    """Return glyph index by code of one map; a map that goes back or on and on is refused."""
    ft.FT_Set_Charmap(face, charmap)
    index, found = ctypes.c_uint(), dict[int, int]()
    code = ft.FT_Get_First_Char(face, ctypes.byref(index))
    while index.value:
        if code in found or len(found) == MAX_CHARACTERS:
            raise FontError(f"{path} maps more than {len(found):,} characters, or one twice; at most "
                            f"{MAX_CHARACTERS:,} are read")
        found[code] = index.value
        code = ft.FT_Get_Next_Char(face, ctypes.c_ulong(code), ctypes.byref(index))
    return {code: index for code, index in found.items() if 0 <= code <= 0x10FFFF}


# ------------------------------------------------------------------------------------------------------------- glyphs


def _load(ft: _Api, face: _Face, index: int, render: int = _RENDER_MONO) -> Glyph | None:
    """Return a glyph, or None when it is damaged or too large to look at."""
    flags = _NO_HINTING | _MONOCHROME
    if ft.FT_Load_Glyph(face, index, flags | _METRICS_ONLY):
        return None
    slot = face.contents.glyph
    outline = slot.contents.format == _OUTLINE
    if max(_extent(ft, slot) if outline else (slot.contents.bitmap.rows, slot.contents.bitmap.width)) > MAX_GLYPH_PX:
        return None
    failed = ft.FT_Render_Glyph(slot, render) if outline else ft.FT_Load_Glyph(face, index, flags)
    ink = None if failed else _ink(face.contents.glyph.contents.bitmap)
    slot = face.contents.glyph.contents
    return None if ink is None else Glyph(slot.advance.x / 64, slot.bitmap_left, slot.bitmap_top, ink)


def _extent(ft: _Api, slot: _Struct) -> tuple[int, int]:
    """Return how far an outline reaches from the pen, in px: an upper bound of the bitmap it would need."""
    box = ft.FT_BBox()
    ft.FT_Outline_Get_CBox(ctypes.byref(slot.contents.outline), ctypes.byref(box))
    return max(abs(box.yMin), abs(box.yMax)) >> 6, max(abs(box.xMin), abs(box.xMax)) >> 6


def _ink(bitmap: _Struct) -> Ink | None:
    """Return bool (rows, width), grey from one half on; None for colour bitmaps."""
    raw = _bytes_of(bitmap)
    if bitmap.pixel_mode == _MONO:
        return np.unpackbits(raw, axis=1, count=bitmap.width).view(np.bool_)
    return raw[:, : bitmap.width] >= 128 if bitmap.pixel_mode == _GREY else None


def _bytes_of(bitmap: _Struct) -> npt.NDArray[np.uint8]:
    """Copy a bitmap as uint8 (rows, bytes), top row first: a negative pitch means that memory starts below."""
    pitch, rows = abs(bitmap.pitch), bitmap.rows
    if not (rows and pitch and bitmap.buffer):
        return np.zeros((rows, bitmap.width), np.uint8)
    raw = np.frombuffer(ctypes.string_at(bitmap.buffer, rows * pitch), np.uint8).reshape(rows, pitch)
    return raw[::-1] if bitmap.pitch < 0 else raw


def _grey_share(ft: _Api, face: _Face, indices: dict[int, int]) -> float:
    """Return the share of ASCII's inked pixels that are not full: 0 for a pixel font at its own size."""
    drawn = (
        _bytes_of(face.contents.glyph.contents.bitmap).reshape(-1)
        for code in range(0x21, 0x7F)
        if code in indices and _load(ft, face, indices[code], _RENDER_NORMAL) is not None
    )
    levels = np.concatenate([np.zeros(0, np.uint8), *drawn])
    return float(((levels > 0) & (levels < 255)).sum() / max(1, np.count_nonzero(levels)))


# ------------------------------------------------------------------------------------------------------------ licence


def _licence(ft: _Api, face: _Face) -> str:
    """Return what the name table or the X11 properties say of licence and copyright, in one line."""
    names = _sfnt_names(ft, face)
    stated = [names.get(key, "") for key in (_LICENCE, _LICENCE_URL, _COPYRIGHT)]
    stated += [_property(ft, face, key) for key in (b"LICENSE", b"COPYRIGHT", b"NOTICE")]
    words = (" ".join("".join(letter if letter.isprintable() else " " for letter in text).split()) for text in stated)
    return "; ".join(dict.fromkeys(text for text in words if text))


def _sfnt_names(ft: _Api, face: _Face) -> dict[int, str]:
    """Return the name table by id; English of Windows wins, as it is UTF-16."""
    names: dict[int, str] = {}
    for index in range(ft.FT_Get_Sfnt_Name_Count(face)):
        record = ft.FT_SfntName()
        if not ft.FT_Get_Sfnt_Name(face, index, ctypes.byref(record)) and record.string:
            raw = ctypes.string_at(record.string, record.string_len)
            if record.platform_id == 3 and record.language_id == 0x409:
                names[record.name_id] = raw.decode("utf-16-be", "replace")
            elif record.platform_id == 1:
                names.setdefault(record.name_id, raw.decode("mac_roman"))
    return names


def _property(ft: _Api, face: _Face, key: bytes) -> str:
    value = _BdfProperty()
    read = getattr(ft, "FT_Get_BDF_Property", None)
    if read is None or read(face, key, ctypes.byref(value)) or value.type != _ATOM:
        return ""
    return (value.atom or b"").decode("utf-8", "replace")
