"""Legacy charsets of X11 fonts: CHARSET_REGISTRY and CHARSET_ENCODING to a Python codec, a code to Unicode."""

from __future__ import annotations

import codecs
import re

from glyphraster.errors import ArgumentError

_CODECS = (
    (r"ISO10646-1", "utf_8"),                     # any codec of Unicode: the code is the code point
    (r"ISO8859-(\d+)", r"iso8859_\1"),
    (r"KOI8-([RU])", r"koi8_\1"),
    (r"(?:MICROSOFT|WINDOWS)-(?:CP)?(\d+)", r"cp\1"),
    (r"ISO646\.1991-IRV", "ascii"),
    (r"TIS620[.\d]*-[01]", "tis_620"),
    (r"JISX0201[.\d]*-0", "shift_jis_2004"),      # its single bytes are JIS X 0201, yen sign and overline included
    (r"JISX0208[.\d]*-\d", "euc_jp"),
    (r"JISX0212[.\d]*-\d", "euc_jp 3"),
    (r"JISX0213[.\d]*-1", "euc_jis_2004"),
    (r"JISX0213[.\d]*-2", "euc_jis_2004 3"),
    (r"GB2312[.\d]*-0", "gb2312"),
    (r"(?:KSC5601|KSX1001)[.\d]*-0", "euc_kr"),
    (r"BIG5[-.A-Z\d]*-0", "big5"),
)
_SETS_HIGH_BITS = ("euc_jp", "euc_jis_2004", "euc_jisx0213", "gb2312", "euc_kr")
"""Codecs of 94x94 sets: X11 fonts number their rows and cells from 0x21, EUC from 0xA1."""


def codec_of(charset: str) -> str | None:
    """Return the codec for ``REGISTRY-ENCODING``, or None; ``" 3"`` at its end asks for EUC's third code set."""
    for pattern, codec in _CODECS:
        if match := re.fullmatch(pattern, charset, re.IGNORECASE):
            return match.expand(codec).lower()
    return None


def check_codec(name: str) -> str:
    """Return ``name`` when it is a text codec of Python, under Python's own spelling.

    Raises
    ------
    ArgumentError
        When there is no such codec.
    """
    try:
        b"0".decode(name)
        return codecs.lookup(name).name.replace("-", "_")
    except (LookupError, UnicodeError, ValueError) as error:
        raise ArgumentError(
            f"encoding {name!r} is no charset of Python ({error}); give one as iso8859_2, koi8_r, euc_jp or big5"
        ) from error


def to_unicode(code: int, codec: str) -> int | None:
    """Return the code point that a font's code stands for, or None when it is no character."""
    name, _, third = codec.partition(" ")
    if name.startswith("utf"):
        return code if code <= 0x10FFFF else None
    if name in _SETS_HIGH_BITS and 0x2121 <= code <= 0x7E7E:
        code |= 0x8F8080 if third else 0x8080
    try:
        text = code.to_bytes(max(1, -(-code.bit_length() // 8)), "big").decode(name)
    except UnicodeError:
        return None
    return ord(text) if len(text) == 1 else None
