"""What all tests share: no deadline (no test depends on the clock), and where shared material lies, if it does."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None, max_examples=60)
settings.load_profile("house")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared():
    if not SHARED.is_dir():
        pytest.skip(f"needs {SHARED.name}/ beside the checkout")
    return SHARED
