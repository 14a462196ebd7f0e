"""Fixtures shared by all tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Finds a real table by its relative name, or skips with the reason."""
    folder = Path(os.environ.get("NOWISER_TEST_DATA", ROOT.parent / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"real table {name} is not here (set NOWISER_TEST_DATA to a folder that has it)")
        return path

    return find
