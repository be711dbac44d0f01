"""Greyscale PNG, 1 and 8 bit, with the record of a page in a text chunk.

Streams are deflated by ISA-L where its wheel is installed (level 2: 0.9 ms a page of 1568x1568 px at 1 bit, against
6 ms for zlib level 1 and 19 ms for level 6, which makes 6 % fewer bytes), else by zlib. The pixels are the same either
way; the bytes are deterministic for one encoder, and the record names it.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zlib
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glyphraster import _lanes
from glyphraster.checksum import clear_vectors, crc32
from glyphraster.errors import ArgumentError, PngError

PngMode = Literal["gray1", "gray8"]
PNG_MODES: tuple[PngMode, ...] = ("gray1", "gray8")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"glyphraster\0"
_MOST_PIXELS = 1 << 28
_AS_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

_OTHER_KINDS = {
    "JPEG": re.compile(rb"\xff\xd8\xff"),
    "GIF": re.compile(rb"GIF8[79]a"),
    "WEBP": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""What gateways and chat windows make of pictures, by how such files start."""


def encode_png(
    pixels: npt.NDArray[np.uint8], mode: PngMode = "gray1", record: dict[str, Any] | None = None, *, small: bool = False
) -> bytes:
    """Encode a page.

    Parameters
    ----------
    pixels
        uint8 (height_px, width_px); with mode ``gray1`` 0 is ink and everything else paper.
    mode
        ``"gray1"`` (one bit a pixel) or ``"gray8"``.
    record
        JSON values to carry in a ``tEXt`` chunk; the encoder's name is added.
    small
        Take several times as long for fewer bytes.

    Raises
    ------
    ArgumentError
        When the mode is unknown.
    """
    if mode not in PNG_MODES:
        raise ArgumentError(f"no PNG mode {mode!r}; there is {', '.join(PNG_MODES)}")
    if mode == "gray1":
        return encode_packed(_lanes.pack_pixels(pixels), pixels.shape[1], record, small=small)
    return _encode(np.pad(pixels, ((0, 0), (1, 0))), pixels.shape[1], 8, record, small)


def encode_packed(
    rows: npt.NDArray[np.uint8], width_px: int, record: dict[str, Any] | None = None, *, small: bool = False
) -> bytes:
    """Encode a page at one bit a pixel.

    Parameters
    ----------
    rows
        uint8 (height_px, 1 + ceil(width_px / 8)), each row a filter byte, 0, and bits, high bit leftmost, 1 is paper.
    record, small
        As in :func:`encode_png`.
    """
    return _encode(rows, width_px, 1, record, small)


def _encode(
    rows: npt.NDArray[np.uint8], width_px: int, depth: int, record: dict[str, Any] | None, small: bool
) -> bytes:
    encoder, stream = _deflated_small(rows) if small else _deflated(rows)
    head = struct.pack(">IIBBBBB", width_px, len(rows), depth, 0, 0, 0, 0)
    text = _AS_JSON.encode({**(record or {}), "encoder": encoder}).encode("ascii")
    chunks = ((b"IHDR", head), (b"tEXt", _KEYWORD + text), (b"IDAT", stream), (b"IEND", b""))
    return b"".join([_SIGNATURE, *(part for kind, body in chunks for part in _chunk(kind, body))])


def decode_png(data: bytes) -> tuple[npt.NDArray[np.uint8], dict[str, Any] | None]:
    """Decode a PNG; colours become greys.

    Returns
    -------
    pixels : uint8 (height_px, width_px)
        1-bit pictures as 0 and 255.
    record : dict or None
        What :func:`encode_png` put into the text chunk.

    Raises
    ------
    PngError
        As :func:`decode_rows`.
    """
    rows, width_px, record = decode_rows(data)
    return unpacked(rows, width_px), record


def unpacked(rows: npt.NDArray[np.uint8], width_px: int) -> npt.NDArray[np.uint8]:
    """Return the pixels of rows that :func:`decode_rows` gave."""
    if rows.shape[1] == 1 + width_px:
        return rows[:, 1:]
    return np.unpackbits(rows[:, 1:], axis=1, count=width_px) * np.uint8(255)


def read_record(data: bytes) -> dict[str, Any] | None:
    """Return what :func:`encode_png` put into the text chunk, and inflate nothing; errors as :func:`decode_rows`."""
    return _record(_chunks(data))


def decode_rows(data: bytes) -> tuple[npt.NDArray[np.uint8], int, dict[str, Any] | None]:
    """Decode a PNG to the rows that it holds; colours become greys.

    Returns
    -------
    rows : uint8 (height_px, 1 + row bytes)
        A filter byte, 0, and the row at one bit a pixel, spare bits 1, or one byte a pixel.
    width_px : int
    record : dict or None
        As in :func:`decode_png`.

    Raises
    ------
    PngError
        When the bytes are damaged, or no PNG, or over 2**28 pixels.
    """
    chunks = _chunks(data)
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", _first(chunks, b"IHDR", 13))
    if not 0 < width * height <= _MOST_PIXELS:
        raise PngError(f"a PNG of {width}x{height} px; at most {_MOST_PIXELS} pixels are decoded")
    if colour != 0 or depth not in (1, 8) or interlace:
        return _foreign_rows(data), width, _record(chunks)
    stride = -(-width // 8) if depth == 1 else width
    stream = b"".join(body for kind, body in chunks if kind == b"IDAT")
    rows = np.frombuffer(_inflate(stream, height * (1 + stride)), np.uint8).reshape(height, 1 + stride)
    if rows[:, 0].any():
        rows = _foreign_rows(data)
    elif depth == 1 and (spare := _lanes.spare_bits(width)):
        rows = rows.copy()
        rows[:, -1] |= spare
    return rows, width, _record(chunks)


def _deflated(rows: npt.NDArray[np.uint8]) -> tuple[str, bytes]:
    try:
        from isal import isal_zlib
    except ImportError:
        return "zlib-2", zlib.compress(rows.data, 2)
    stream = isal_zlib.compress(rows.data, 2)
    clear_vectors()
    return "isal-2", stream


def _deflated_small(rows: npt.NDArray[np.uint8]) -> tuple[str, bytes]:
    """Deflate with libdeflate where it is installed, else with zlib as it does best, at eight times the time."""
    try:
        import deflate
    except ImportError:
        return "zlib-9", zlib.compress(rows.data, 9)
    return "libdeflate-6", bytes(deflate.zlib_compress(rows.data, 6))


def _inflater() -> tuple[Any, type[Exception]]:
    """Return what inflates, and its error: ISA-L takes 1.0 ms for a page of 1904x1960 px, zlib 2.0."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.decompressobj(), zlib.error
    return isal_zlib.decompressobj(), isal_zlib.error  # type: ignore[return-value]  # the stub says it is an instance


def _inflate(stream: bytes, size: int) -> bytes:
    """Inflate exactly ``size`` bytes, never more: a bomb stops here."""
    inflater, damage = _inflater()
    try:
        rows: bytes = inflater.decompress(stream, size)
        over = len(inflater.decompress(inflater.unconsumed_tail, 1))
    except damage as error:
        raise PngError(f"the pixel stream of {len(stream)} bytes is damaged: {error}") from error
    clear_vectors()
    if len(rows) != size or over:
        raise PngError(
            f"the pixel stream holds {'more than ' if over else ''}{len(rows)} bytes where the header asks for {size}"
        )
    return rows


def _foreign_rows(data: bytes) -> npt.NDArray[np.uint8]:
    """Leave what this package never writes to Pillow: filtered rows, colours, palettes, interlacing, other depths."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            grey = picture.convert("RGB").convert("L")
            return np.pad(np.asarray(grey), ((0, 0), (1, 0)))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PngError(f"the PNG of {len(data)} bytes cannot be decoded: {error}") from error


def _chunk(kind: bytes, body: bytes) -> tuple[bytes, ...]:
    return struct.pack(">I", len(body)), kind, body, struct.pack(">I", crc32(body, crc32(kind)))


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    if not data.startswith(_SIGNATURE):
        kind = next((kind for kind, start in _OTHER_KINDS.items() if start.match(data)), None)
        said = f"is a {kind} file, no PNG: something converted it" if kind else f"starts with {data[:8]!r}, no PNG does"
        raise PngError(f"{said}; give the page files as they were written")
    chunks, at = [], len(_SIGNATURE)
    while at + 12 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body, end = data[at + 8 : at + 8 + size], at + 12 + size
        if end > len(data) or crc32(body, crc32(kind)) != struct.unpack_from(">I", data, end - 4)[0]:
            break
        chunks.append((kind, body))
        at = end
        if kind == b"IEND":
            return chunks
    raise PngError(f"the PNG of {len(data)} bytes is damaged or cut off at byte {at}: fetch or render it again")


def _first(chunks: list[tuple[bytes, bytes]], wanted: bytes, size: int) -> bytes:
    kind, body = chunks[0]
    if kind != wanted or len(body) != size:
        raise PngError(
            f"the PNG starts with a {kind.decode('latin-1')} chunk of {len(body)} bytes, not with {wanted.decode()} "
            f"of {size}"
        )
    return body


def _record(chunks: list[tuple[bytes, bytes]]) -> dict[str, Any] | None:
    for kind, body in chunks:
        if kind == b"tEXt" and body.startswith(_KEYWORD):
            try:
                record = json.loads(body[len(_KEYWORD) :])
            except (ValueError, RecursionError) as error:
                raise PngError(f"the page's record of {len(body)} bytes is no JSON: {error}") from error
            return record if isinstance(record, dict) else None
    return None
