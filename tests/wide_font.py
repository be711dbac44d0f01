"""A font with one two-cell glyph, for tests of layouts and the reader."""

import numpy as np

import glyphraster as gr


def wide_font(font):
    """Return ``font`` with a two-cell U+6F22."""
    order = np.argsort(np.append(font.codepoints, np.uint32(0x6F22)), kind="stable")
    codepoints = np.append(font.codepoints, np.uint32(0x6F22))[order]
    spans = np.append(font.spans, np.uint8(2))[order]
    at = int(np.flatnonzero(codepoints == 0x6F22)[0])
    halves = np.array(
        [
            [[0xF0], [0x80], [0xF8], [0x80], [0xF8], [0x80], [0xF8], [0x88]],
            [[0x90], [0xF0], [0x90], [0x70], [0x90], [0xF0], [0x10], [0xF0]],
        ],
        np.uint8,
    )
    bitmaps = np.insert(font.bitmaps, at, halves, axis=0)
    return gr.BitmapFont(
        name="wide",
        cell_height_px=8,
        cell_width_px=5,
        baseline_px=7,
        codepoints=codepoints,
        spans=spans,
        bitmaps=bitmaps,
        licence="MIT",
    )
