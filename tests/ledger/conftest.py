"""Ledgers to test: SQLite always, PostgreSQL where a server can be had (`postgres_url` of tests/conftest.py)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nowiser.ledger import Ledger, open_ledger


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Iterator[Callable[[], Ledger]]:
    """Opens the same ledger as often as wanted."""
    found: list[Ledger] = []

    def once() -> Ledger:
        ledger = open_ledger(url, anchor=tmp_path / "ledger.head")
        found.append(ledger)
        return ledger

    yield once
    for ledger in found:
        ledger.close()
