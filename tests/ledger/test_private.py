"""Nobody else on the machine reads the account, wherever it was put."""

import os
import stat

import pytest

from nowiser.ledger import open_ledger
from nowiser.model.charge import Charge


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022])
def lax(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_a_new_ledger_is_its_owners_alone(tmp_path, lax):
    tmp_path.chmod(0o755)  # a folder that is there keeps its rights
    with open_ledger(f"sqlite:///{tmp_path / 'mine.sqlite'}") as ledger:
        ledger.publish(Charge(), lambda *_: None, policy="", what="x", analyst="", digest="")
        found = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert found == dict.fromkeys(
        ["mine.sqlite", "mine.sqlite-wal", "mine.sqlite-shm", "mine.head", "mine.spent"], 0o600
    )


@pytest.mark.parametrize(("was", "becomes"), [(0o644, 0o640), (0o666, 0o660), (0o600, 0o600), (0o660, 0o660)])
def test_an_open_one_is_closed_to_others(tmp_path, was, becomes):
    names = ["l.sqlite", "l.head"]
    open_ledger(f"sqlite:///{tmp_path / 'l.sqlite'}").close()
    for name in names:
        (tmp_path / name).chmod(was)
    with open_ledger(f"sqlite:///{tmp_path / 'l.sqlite'}"):
        assert {name: mode(tmp_path / name) for name in names} == dict.fromkeys(names, becomes)
