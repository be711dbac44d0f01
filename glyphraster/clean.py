"""Views that trade exactness for readability, each named, none on by default.

``terminal``: what a person saw on the screen. Complete, bounded control sequences are taken out, carriage returns and
backspaces acted on, letters and their marks composed (NFC), zero-width characters and blanks at line ends dropped, tabs
drawn as blanks. A sequence that does not end within its bound is text like any other: nothing ever swallows the rest.

``typographic``: curly quotes, dashes, ellipses and unusual spaces as their ASCII look-alikes; blanks at line ends
dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from glyphraster.errors import ArgumentError

TAB_STOP_CHARS = 8

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor, private modes
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x90\x98\x9c-\x9f]{0,4096}+(?:\x07|\x1b\\|\x9c)"  # OSC: titles, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x90\x98\x9c-\x9f]{0,4096}+(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]{0,8}[0-Z\\^-~]"  # two-character sequences
)
_ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060\ufeff\ufe00-\ufe0f\x07]")
_LINE_END_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=\n|$)")
"""Tried once a run: from every blank of a run, 40,000 of them before a letter took 18 s."""
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f", " "),
        "\u2026": "...",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """A text as a view shows it.

    Attributes
    ----------
    text
        What is drawn.
    changed_chars
        How many characters of the source were taken out or replaced.
    """

    text: str
    changed_chars: int


def cleaned(text: str, view: str) -> Cleaned:
    """Return a text as a view shows it.

    Parameters
    ----------
    view
        ``"terminal"`` or ``"typographic"``.

    Raises
    ------
    ArgumentError
        When there is no such view.
    """
    if view not in VIEWS:
        raise ArgumentError(f"no view {view!r}; there is {', '.join(VIEWS)}")
    changed = 0
    for step in VIEWS[view]:
        text, taken = step(text)
        changed += taken
    return Cleaned(text=text, changed_chars=changed)


Step = Callable[[str], tuple[str, int]]
"""Returns the text after it, and how many characters of the one before it took out or replaced."""


def _without(pattern: re.Pattern[str]) -> Step:
    def step(text: str) -> tuple[str, int]:
        after = pattern.sub("", text)
        return after, len(text) - len(after)

    return step


def _overwritten(text: str) -> tuple[str, int]:
    """Act on carriage returns and backspaces, line by line."""
    if "\r" not in text and "\b" not in text:
        return text, 0
    after = "\n".join(_last_state(line.rstrip("\r")) for line in text.split("\n"))
    return after, len(text) - len(after)


def _last_state(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        written = _without_backspaces(part)
        shown = written + shown[len(written) :]
    return shown


def _without_backspaces(part: str) -> str:
    if "\b" not in part:
        return part
    kept: list[str] = []
    for letter in part:
        if letter == "\b":
            del kept[-1:]
        else:
            kept.append(letter)
    return "".join(kept)


def _composed(text: str) -> tuple[str, int]:
    after = unicodedata.normalize("NFC", text)
    return after, abs(len(text) - len(after))


def _tabs_as_blanks(text: str) -> tuple[str, int]:
    return text.expandtabs(TAB_STOP_CHARS), text.count("\t")


def _plain(text: str) -> tuple[str, int]:
    return text.translate(_LOOK_ALIKES), sum(text.count(chr(code)) for code in _LOOK_ALIKES)


VIEWS: dict[str, tuple[Step, ...]] = {
    "terminal": (
        _without(_SEQUENCES),
        _overwritten,
        _composed,
        _without(_ZERO_WIDTH),
        _tabs_as_blanks,
        _without(_LINE_END_BLANKS),
    ),
    "typographic": (_plain, _without(_LINE_END_BLANKS)),
}
"""Each view and its steps, in order."""
