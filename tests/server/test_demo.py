"""`nowiser serve --demo`: the same folder again and again, and an example that is worth asking."""

import pytest

from nowiser.server import demo
from nowiser.server.desk import Desk
from nowiser.server.people.account import Role
from nowiser.server.settings import Settings


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "STAYS", 2_000)
    return tmp_path / "hospital"


def test_each_start_makes_new_tokens_and_keeps_what_was_done(hospital):
    file, first = demo.prepare(hospital)
    desk = Desk(Settings(policy=file, at_least=0.0))
    desk.register.change("ana", by="cleo", disabled=True)
    desk.register.drop_token("odo", "demo", by="odo")
    desk.close()
    _, second = demo.prepare(hospital)
    desk = Desk(Settings(policy=file, at_least=0.0))
    try:
        assert [(e.name, e.role) for e in second] == [
            ("ana", Role.analyst),
            ("cleo", Role.custodian),
            ("odo", Role.auditor),
        ]
        assert desk.register.find("ana") is None  # switched off stays off
        assert desk.register.of_token(second[1].token).name == "cleo"
        assert desk.register.of_token(second[2].token).name == "odo"
        assert all(desk.register.of_token(old.token) is None for old in first)
        desk.gate.ledger.verify()
    finally:
        desk.close()


def test_its_example_is_worth_its_price_and_a_table_can_be_published(hospital):
    file, _ = demo.prepare(hospital)
    desk = Desk(Settings(policy=file, at_least=0.0))
    try:
        explained = desk.seat(desk.register.find("ana")).explain(demo.QUESTION)
        assert explained.admitted
        assert explained.useless is None
        assert [t.name for t in desk.gate.policy.tables if t.name == "survey"]
        assert desk.gate.query("SELECT COUNT(*) AS n FROM survey").rows == ((demo.ASKED,),)
    finally:
        desk.close()
