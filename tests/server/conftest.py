"""A canteen that is served, and people who may ask."""

from dataclasses import replace
from fractions import Fraction

import pytest

from nowiser.examples import canteen
from nowiser.server.desk import Desk
from nowiser.server.people.account import Role
from nowiser.server.settings import Settings


@pytest.fixture
def folder(tmp_path):
    canteen.write(tmp_path)
    return tmp_path


@pytest.fixture
def settings(folder):
    return Settings(policy=folder / "nowiser.yaml", port=0, pg_port=0, at_least=0.0)


@pytest.fixture
def desk(settings):
    opened = Desk(settings)
    opened.ready = True
    yield opened
    opened.close()


@pytest.fixture
def tokens(desk):
    """A token for each role; ana may use everything in a day."""
    register = desk.register
    return {
        "ana": register.add("ana", Role.analyst, by="test", per_day=Fraction(1)),
        "cleo": register.add("cleo", Role.custodian, by="test"),
        "odo": register.add("odo", Role.auditor, by="test"),
    }


@pytest.fixture
def seat(desk, tokens):
    return desk.seat(desk.register.find("ana"))


def slow(settings, seconds):
    return replace(settings, at_least=seconds)
