"""What the attack suites share: the corpus of others, our own, and three databases for each."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests are not a package; `worlds` stands beside them

from worlds import OURS, SHARED, made_up_tables, open_worlds, read_tables

from live_engines import spark_session

__all__ = ["spark_session"]


@pytest.fixture(scope="module")
def shared_worlds(shared_data, tmp_path_factory):
    folder = shared_data("attack_fixture/patients.csv").parent
    gateways = open_worlds(tmp_path_factory.mktemp("shared"), read_tables(folder, ("patients", "visits")), SHARED)
    yield gateways
    for gateway in gateways.values():
        gateway.close()


@pytest.fixture(scope="module")
def our_worlds(tmp_path_factory):
    gateways = open_worlds(tmp_path_factory.mktemp("ours"), made_up_tables(), OURS)
    yield gateways
    for gateway in gateways.values():
        gateway.close()
