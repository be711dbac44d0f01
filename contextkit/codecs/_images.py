"""What every provider asks of a picture: readable base64, a known kind, a size within the limits."""

from __future__ import annotations

import base64
import binascii
import struct

MAX_BASE64_CHARS = 5 * 1024 * 1024
"""Anthropic Messages reference: an image over 5 MB is refused; counted on the base64 text, the stricter reading."""
MAX_SIDE_PX = 8000
"""Anthropic Messages reference: longest side of one image."""
MAX_SIDE_MANY_PX = 2000
"""The same, once a request has more than :data:`MANY_IMAGES` images."""
MANY_IMAGES = 20

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"),
)
_PNG_HEADER_BYTES = 24


def image_fault(media_type: str | None, data: str, *, side_limit_px: int = MAX_SIDE_PX) -> str | None:
    """Return what is wrong with a base64 picture, or ``None``.

    Parameters
    ----------
    media_type
        What it is said to be; ``None`` leaves that check out.
    data
        Base64 text.
    side_limit_px
        Longest side allowed. It is checked for PNG only, whose size stands at a fixed place.
    """
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "the data is not base64"
    if not raw:
        return "the picture is empty"
    kind = sniffed(raw)
    if kind is None:
        return f"it starts with {raw[:4].hex()}, which is no PNG, JPEG, GIF or WebP"
    if media_type is not None and kind != media_type:
        return f"it says {media_type} and is {kind}"
    if len(data) > MAX_BASE64_CHARS:
        return f"{len(data)} base64 characters, at most {MAX_BASE64_CHARS} are allowed"
    return _png_fault(raw, side_limit_px) if kind == "image/png" else None


def _png_fault(raw: bytes, side_limit_px: int) -> str | None:
    if len(raw) < _PNG_HEADER_BYTES:
        return f"the PNG is cut off after {len(raw)} bytes"
    width_px, height_px = struct.unpack(">II", raw[16:24])
    if max(width_px, height_px) > side_limit_px:
        return f"{height_px} x {width_px} pixels (height x width), at most {side_limit_px} a side are allowed"
    return None


def sniffed(raw: bytes) -> str | None:
    """Return the media type that the first bytes show, or ``None``."""
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _KINDS if raw.startswith(magic)), None)


def true_media_type(data: str) -> str | None:
    """Return the media type that base64 ``data`` shows in its first bytes, or ``None``."""
    try:
        return sniffed(base64.b64decode(data[:32], validate=True))
    except (binascii.Error, ValueError):
        return None
