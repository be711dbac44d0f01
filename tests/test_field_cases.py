"""Public bug reports turned into inputs: those whose part of the product stands must pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STANDING = [
    "frm-01",
    "geo-04",
    "lad-03",
    "lad-06",
    "lad-07",
    "per-01",
    "per-06",
    "ras-01",
    "ras-02",
    "ras-03",
    "ras-04",
    "run-01",
    "run-02",
    "run-04",
    "ses-02",
    "ses-04",
    "ses-10",
]


@pytest.mark.parametrize("case", STANDING)
def test_a_field_case_passes(case, shared):
    environment = {
        **os.environ,
        "CASE_ADAPTER": "field_cases_adapter",
        "CASE_ADAPTER_PATH": str(Path(__file__).parent),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    command = [sys.executable, "tools/run.py", f"open/{case}"]
    done = subprocess.run(command, cwd=shared / "cases", env=environment, capture_output=True, text=True, timeout=600)
    assert f"{case}: pass" in done.stdout, done.stdout + done.stderr
