"""How much of a text a renderer loses, seen from outside: characters are changed, and the pages stay the same.

A character is lost when the pages look the same without it, or with a blank, a question mark or an unassigned code
point in its place; a space, newline or tab when they do without it or, but for a space, with a blank. So what was
dropped, collapsed, cut off at the edge of a page or drawn as the box of a missing glyph counts, and nothing else:
a picture that differs may still not be legible.
"""

import random

WINDOWS, WINDOW_CHARS, SAMPLES = 4, 8_000, 120
"""About what a page of the slow peers takes, so that what they cut off is seen."""

UNASSIGNED = "\u0378"


class Probe:
    """Texts to draw, and the share of characters lost that their looks tell."""

    def __init__(self, text, samples=SAMPLES):
        draw = random.Random(1)
        size = min(WINDOW_CHARS, len(text))
        starts = [(len(text) - size) * at // max(1, WINDOWS - 1) for at in range(WINDOWS)]
        windows = [text[start : start + size] for start in starts]
        self.texts, self._changes = [*windows], []
        for number in range(samples):
            window, at = number % WINDOWS, draw.randrange(size)
            before, character, behind = windows[window][:at], windows[window][at], windows[window][at + 1 :]
            changed = [before + other + behind for other in _others(character)]
            self._changes.append((window, range(len(self.texts), len(self.texts) + len(changed))))
            self.texts += changed

    def lost(self, looks):
        """Return the share of characters lost, None when the text itself cannot be drawn."""
        if None in looks[:WINDOWS]:
            return None
        lost = [any(looks[each] == looks[window] for each in changed) for window, changed in self._changes]
        return sum(lost) / len(lost)


def _others(character):
    """Return what to put in a character's place: if the pages stay the same, it is lost."""
    if character == " ":
        return [""]
    if character in "\n\t":
        return ["", " "]
    mark = "!" if character == "?" else "?"
    return [mark] if character.isascii() and character.isprintable() else [mark, UNASSIGNED, "", " "]
