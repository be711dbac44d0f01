"""Where the shared samples and their independent checker are, when they are there at all."""

import importlib.util
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
SHARED = REPOSITORY.parent / "shared"
CASES = REPOSITORY / "tests" / "cases"


@pytest.fixture(scope="session")
def shared():
    """Give the folder of shared samples; skip where it does not exist."""
    if not SHARED.is_dir():
        pytest.skip(f"needs {SHARED.name}/ beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def oracle(shared):
    """Give the checker of provider rules that was written apart from this package."""
    spec = importlib.util.spec_from_file_location("oracle", shared / "cases" / "tools" / "oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracle_violations():
    """Give the checker's verdict, or no faults where it does not exist."""
    if not SHARED.is_dir():
        return lambda request, form: []
    spec = importlib.util.spec_from_file_location("oracle", SHARED / "cases" / "tools" / "oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.violations


@pytest.fixture(scope="session")
def cases():
    """Give the folder of this project's own small inputs."""
    return CASES
