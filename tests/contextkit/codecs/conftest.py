"""The project's own small inputs, and the checker of provider rules that was written apart from this package."""

import importlib.util
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parents[2] / "cases"
ORACLE = Path(__file__).resolve().parents[4] / "shared" / "cases" / "tools" / "oracle.py"


def load_oracle():
    spec = importlib.util.spec_from_file_location("oracle", ORACLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracle(shared):
    """Give the other checker; skip where it does not exist."""
    return load_oracle()


@pytest.fixture(scope="session")
def oracle_violations():
    """Give the other checker's verdict, or no faults where it does not exist."""
    return load_oracle().violations if ORACLE.is_file() else lambda request, form: []


@pytest.fixture(scope="session")
def cases():
    """Give the folder of this project's own small inputs."""
    return CASES
