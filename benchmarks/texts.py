"""The texts that everything is measured on: the same characters on every machine, but for ``code_text``."""

import functools
import random
import sysconfig
import unicodedata
from pathlib import Path

_NAMES = unicodedata.ucd_3_2_0
"""Unicode 3.2 is in every Python, so that letters are drawn from the same alphabets everywhere."""

# Script, as the first word of its characters' names, and how many of 40 lines of prose are in it.
PROSE = {
    "CJK": 7, "CYRILLIC": 6, "LATIN": 6, "HIRAGANA": 4, "GREEK": 3, "HANGUL": 3, "ARABIC": 3, "DEVANAGARI": 2,
    "HEBREW": 2, "THAI": 2, "KATAKANA": 1, "ARMENIAN": 1,
}  # fmt: skip
SCRIPTS = (*PROSE, "BOX", "BRAILLE")
UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI"}
ASCII_WORDS = "the of to a option file and default is set value when with output error list name".split()  # noqa: SIM905
EMOJI = range(0x1F300, 0x1F321), range(0x1F600, 0x1F641), range(0x1F680, 0x1F6A5)
TERMINAL = ("naïve", "café", "e\u0301tude", "✅", "❌", "🚀", "👩\u200d💻", "→", "…", "“quoted”", "\u200b", "\u00a0")


def code_text(chars):
    """Return source code: the top of the standard library, as often as it takes."""
    return (_library() * (chars // len(_library()) + 1))[:chars]


@functools.cache
def _library():
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return "".join(file.read_text(encoding="utf-8", errors="replace") for file in files)


def unicode_text(chars):
    """Return Unicode-heavy text as people have it: a third of it beyond ASCII, a sixth wide.

    Prose in 12 scripts, manuals whose options are ASCII, a table of emoji with their names, and what a terminal shows:
    colours, tabs, boxes, combining marks. It has the shares of what the peers were first measured on: translated
    manual pages, CJK test texts, an emoji table, terminal output.
    """
    draw = random.Random(1)
    return _filled(chars, lambda: draw.choices((_prose, _manual, _emoji, _terminal), (5, 6, 2, 3))[0](draw))


def scripts_text(chars):
    """Return words of 14 scripts with emoji between them: the worst case, three of four characters beyond ASCII."""
    draw = random.Random(1)
    endings = ["\n", "\n", " \U0001f680\n", "\t\x1b[31m!\x1b[0m\n", " e\u0301\u200d\n"]
    return _filled(chars, lambda: " ".join(_words(draw.choice(SCRIPTS), draw)) + draw.choice(endings))


def _filled(chars, line):
    lines, length = [], 0
    while length < chars:
        lines.append(line())
        length += len(lines[-1])
    return "".join(lines)[:chars]


@functools.cache
def _letters(script):
    """Return the letters of a script that Unicode 3.2 has, those of the basic planes of daily use."""
    found = [chr(code) for code in range(0xA1, 0xD7A4) if _NAMES.name(chr(code), "").split(" ")[0] == script]
    return [letter for letter in found if _NAMES.category(letter)[0] in "LSN"]


def _words(script, draw, least=3, most=12):
    letters = _letters(script)
    return ("".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(draw.randint(least, most)))


def _prose(draw):
    script = draw.choices(list(PROSE), list(PROSE.values()))[0]
    words = list(_words(script, draw))
    if script == "LATIN":  # one accented letter a word
        words = [word[0] + draw.choice(ASCII_WORDS) for word in words]
    return ("" if script in UNSPACED else " ").join(words) + draw.choice(["\n", ".\n", "。\n"])


def _manual(draw):
    option = draw.choice(ASCII_WORDS)
    script = draw.choices(list(PROSE), list(PROSE.values()))[0]
    said = " ".join(draw.choices(ASCII_WORDS, k=draw.randint(4, 14)))
    return f"    -{option[0]}, --{option}={option.upper()}\n        {said} {' '.join(_words(script, draw, 1, 4))}\n"


def _emoji(draw):
    code = draw.choice(draw.choice(EMOJI))
    return f"{chr(code)} U+{code:04X} {unicodedata.name(chr(code), '').lower()}\n"


def _terminal(draw):
    words = draw.choices((*TERMINAL, *ASCII_WORDS), k=6)
    return draw.choice((
        f"\x1b[32m{words[0]}\x1b[0m \x1b[1;31m{' '.join(words[1:])}\x1b[0m\n",
        f"\tkey\t=\t{words[0]}\n",
        "┌" + "─" * 20 + "┬" + "─" * 10 + "┐\n",
        f"│ {words[0]:18} │ ▓▓▓▓░░░░ │\n",
        "50%\r75%\r100% done\x08\x08\n",
        f"        {' '.join(words)}   \n",
    ))  # fmt: skip


TEXTS = {"code": code_text, "unicode": unicode_text, "scripts": scripts_text}
