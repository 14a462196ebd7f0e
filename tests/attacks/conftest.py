"""What the attack suites share: the corpus of others, our own, and three databases for each."""

import pytest

from support.live_engines import spark_session
from support.worlds import OURS, SHARED, made_up_tables, open_worlds, read_tables

__all__ = ["spark_session"]


@pytest.fixture(scope="module")
def shared_worlds(shared_data, tmp_path_factory):
    (folder,) = {shared_data(f"attack_fixture/{name}.csv").parent for name in ("patients", "visits")}
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
