"""The picture of what peers.py measured: ``python benchmarks/chart.py docs/speed.json docs/images/speed.png``."""

import io
import json
import sys
from pathlib import Path

import matplotlib as mpl
from PIL import Image

mpl.use("Agg")

import matplotlib.pyplot as plt

PANELS = {"code": "Source code", "unicode": "Unicode-heavy text, a third of it beyond ASCII"}
OURS, OTHERS, INK, FAINT = "#1f5fa8", "#8f8a80", "#22211f", "#6b6862"
CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 1}
NAMES = {"ours, numba": "glyphraster (numba)", "ours, numpy": "glyphraster (numpy only)"}


def dots(axes, rows):
    """Draw one panel, a line a peer, the fastest on top. Dots, since a bar on a scale of powers of ten has no zero."""
    rows = sorted(rows, key=lambda row: row["chars_per_cpu_s"])
    for at, row in enumerate(rows):
        speed, ours = row["chars_per_cpu_s"] / 1e6, row["peer"] in NAMES
        axes.plot(speed, at, "o", markersize=9 if ours else 7, color=OURS if ours else OTHERS)
        words = f"{speed:.2g}{lost(row)}"
        axes.text(speed * 1.22, at, words, va="center", fontsize=9, color=INK, bbox=CLEAR)
    axes.set_yticks(range(len(rows)), [NAMES.get(row["peer"], row["peer"]) for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xscale("log")
    axes.tick_params(which="both", length=0, labelsize=9.5, colors=INK)
    axes.spines[:].set_visible(False)
    axes.grid(which="major", color="#e6e3dc", linewidth=0.8)
    axes.set_axisbelow(True)
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        if row["peer"] in NAMES:
            label.set(color=OURS, fontweight="bold")


def lost(row):
    if row["peer"] in NAMES:
        return "   nothing lost: read back"
    if row["lost"] is None:
        return ""
    return f"   {row['lost']:.0%} lost" if row["lost"] else f"   none of {row['samples']} samples lost"


def chart(rows, file):
    panels = {label: [row for row in rows if row["text"] == label] for label in PANELS}
    fig, every = plt.subplots(
        len(PANELS),
        1,
        figsize=(8.6, 0.34 * sum(map(len, panels.values())) + 1.9),
        sharex=True,
        height_ratios=[len(panel) for panel in panels.values()],
        layout="constrained",
    )
    for axes, (label, title) in zip(every, PANELS.items(), strict=True):
        dots(axes, panels[label])
        axes.set_title(title, loc="left", fontsize=10, color=INK)
    speeds = [row["chars_per_cpu_s"] / 1e6 for panel in panels.values() for row in panel]
    every[-1].set_xlim(min(speeds) / 1.5, max(speeds) * 25)  # room for what is said of the fastest
    every[-1].set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axis = "million characters per CPU second from text to PNG bytes, on a scale of powers of ten"
    every[-1].set_xlabel(axis, loc="left", fontsize=9, color=FAINT)
    fig.suptitle("How fast text becomes pages, and what of it is lost", x=0.01, ha="left", fontsize=13, color=INK)
    drawn = io.BytesIO()
    fig.savefig(drawn, dpi=120, facecolor="white")
    with Image.open(drawn) as picture:  # 64 colours are a quarter of the bytes
        picture.convert("RGB").quantize(64).save(file, optimize=True)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    chart(json.loads(source.read_text(encoding="utf-8"))["peers"], target)
