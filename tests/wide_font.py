"""A font with one two-cell glyph, for tests of layouts and the reader."""

import numpy as np

import glyphraster as gr


def wide_font(font):
    """Return ``font`` with a two-cell U+6F22."""
    halves = [[[0xF0], [0x80], [0xF8], [0x80], [0xF8], [0x80], [0xF8], [0x88]]]
    halves += [[[0x90], [0xF0], [0x90], [0x70], [0x90], [0xF0], [0x10], [0xF0]]]
    return with_wide_glyphs(font, 0x6F22, [halves])


def font_with_shared_halves(font):
    """Return ``font`` with U+4E00-4E05 in two cells, which share left halves, right halves and the letters A and B."""
    left, middle, right = ([[0xF8], [0x88], [0xA8], [0x88], [0xF8], [16 * k], [0x88], [0xF8]] for k in (1, 2, 3))
    blank, letter = [[0]] * 8, font.bitmaps[font.cell(ord("A"))].tolist()
    glyphs = [(left, left), (left, middle), (middle, left), (right, blank), (right, letter), (middle, letter)]
    return with_wide_glyphs(font, 0x4E00, glyphs)


def with_wide_glyphs(font, first_codepoint, glyphs):
    """Return ``font`` with two-cell glyphs from a code point on, each a left and a right half."""
    at = int(np.searchsorted(font.codepoints, first_codepoint))
    codepoints = np.insert(font.codepoints, at, first_codepoint + np.arange(len(glyphs), dtype=np.uint32))
    halves = np.array([half for glyph in glyphs for half in glyph], np.uint8)
    return gr.BitmapFont(
        name="wide",
        cell_height_px=8,
        cell_width_px=5,
        baseline_px=7,
        codepoints=codepoints.astype(np.uint32),
        spans=np.insert(font.spans, at, [2] * len(glyphs)).astype(np.uint8),
        bitmaps=np.insert(font.bitmaps, int(font.first_cells[at]), halves, axis=0),
        licence="MIT",
    )


def tall_font(codepoints, *, name="tall", height=12, width=6, span=2, baseline=10, seed=0):
    """Return a font with nothing but tall wide glyphs, each of random ink that reaches its first and last row."""
    bits = np.random.default_rng(seed).integers(0, 2, (len(codepoints), height, width * span), np.uint8)
    bits[:, [0, -1], :1] = 1
    cells = np.packbits(bits.reshape(len(codepoints), height, span, width).transpose(0, 2, 1, 3), axis=-1)
    return gr.BitmapFont(
        name=name, licence="MIT", cell_height_px=height, cell_width_px=width, baseline_px=baseline,
        codepoints=np.array(sorted(codepoints), np.uint32), spans=np.full(len(codepoints), span, np.uint8),
        bitmaps=cells.reshape(-1, *cells.shape[2:]),
    )
