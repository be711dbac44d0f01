"""What README.md shows runs, and what it points to is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
LINKS = sorted({
    link for link in re.findall(r"\]\(([^)\s]+)", README) if not re.match(r"[a-z]+:|#", link)
})


def test_it_shows_an_example_in_python():
    assert BLOCKS


def test_it_shows_a_picture():
    assert [link for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)", README) if link.endswith(".png")]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"block{BLOCKS.index(block) + 1}")
def test_an_example_runs_from_the_checkout(block):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("link", LINKS)
def test_what_it_points_to_is_in_the_checkout(link):
    assert (ROOT / link.partition("#")[0]).exists()
