"""Rendering a stream takes no more memory for a longer one, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to tell the peak")

CHILD = """
import sys
from glyphraster import iter_pages
from glyphraster.parallel import encode_pages

def memory_kb(kind):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(kind))

engine, workers, megabytes, pieces = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
line = "def glyphs(page, ș, rows=93_000):    return [漢(row) for row in page]\\r\\n"
text = (line * 20_000)[: 1_000_000 * megabytes // pieces] if pieces > 1 else "x = y + 1\\n" * (100_000 * megabytes)
for page in iter_pages(text[:9000], "claude-fable-5", engine=engine):
    page.png()
idle_kb = memory_kb("VmRSS")
pages = iter_pages((text for _ in range(pieces)), "claude-fable-5", engine=engine)
print(sum(1 for _ in encode_pages(pages, workers=workers)), memory_kb("VmHWM") - idle_kb)
"""


def peak_mb(engine, workers, megabytes, *, pieces):
    """The most memory that a process took above what it held after a page, and how many pages it drew."""
    arguments = [str(each) for each in (engine, workers, megabytes, pieces)]
    command = [sys.executable, "-c", CHILD, *arguments]
    pages, peak_kb = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(pages) > 5 * megabytes
    return int(peak_kb) / 1024


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize(("workers", "slack_mb"), [(1, 3), (2, 6)])
def test_the_peak_is_low_and_the_same_for_a_stream_four_times_as_long(engine, workers, slack_mb):
    short, long = (peak_mb(engine, workers, megabytes, pieces=10 * megabytes) for megabytes in (8, 32))
    assert long < short + slack_mb
    assert long < 20


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_a_text_in_one_piece_is_not_copied(engine):
    assert peak_mb(engine, 1, 32, pieces=1) < 16
