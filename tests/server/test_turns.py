"""One account's work does not hold up everybody's."""

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest

from nowiser.server.problems import TooMany
from nowiser.server.turns import Turns


@pytest.fixture
def turns():
    made = Turns(4, 2, "test")
    yield made
    made.close()


def test_nobody_has_more_threads_than_her_share(turns):
    go, running, most, lock = threading.Event(), [0], [0], threading.Lock()

    def work():
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        go.wait(20)
        with lock:
            running[0] -= 1

    hers = [turns.submit("eve", work) for _ in range(20)]
    assert turns.submit("ana", lambda: "told").result(20) == "told"  # while eve's work holds its threads
    go.set()
    for future in hers:
        future.result(20)
    assert most == [2]


def test_work_of_one_account_is_done_in_its_order_and_failures_are_told(turns):
    seen = []
    futures = [turns.submit("ana", lambda n=n: seen.append(n)) for n in range(50)]
    for future in futures:
        future.result(20)
    assert sorted(seen) == list(range(50))
    with pytest.raises(ZeroDivisionError):
        turns.submit("ana", lambda: 1 / 0).result(20)
    assert turns.submit("ana", lambda: "still there").result(20) == "still there"


def test_what_waits_when_it_is_closed_is_cancelled():
    turns, go = Turns(1, 1, "test"), threading.Event()
    first, second, other = (turns.submit(who, lambda: go.wait(20)) for who in ("ana", "ana", "ben"))
    threading.Timer(0.1, go.set).start()
    turns.close()
    assert first.result(20)
    for waits in (second, other):
        with pytest.raises(CancelledError):
            waits.result(20)


def test_one_account_does_not_hold_up_another_at_the_desk(desk, tokens, seat):
    """Before, four long statements of the catalogue held up every log-in and every page for as long as they took."""
    go = threading.Event()
    cleo = desk.seat(desk.register.find("cleo"))

    async def both():
        held = [asyncio.ensure_future(desk.weighed("ana", go.wait, 20)) for _ in range(8)]
        await asyncio.sleep(0)
        found = await desk.weighed("cleo", cleo.explain, "SELECT COUNT(*) FROM visits")
        account = await desk.quickly(desk.register.find, "cleo")
        go.set()
        await asyncio.gather(*held)
        return found, account

    found, account = asyncio.run(both())
    assert found.columns == ("count",)
    assert account.name == "cleo"


def test_one_account_does_not_fill_the_queue(desk, tokens, seat, monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(desk, "_ask", lambda *_, **__: go.wait(20) and 1 / 0)
    cleo = desk.seat(desk.register.find("cleo"))

    async def both():
        half = desk.settings.waiting // 2
        hers = [asyncio.ensure_future(desk.answered(seat, "SELECT 1")) for _ in range(half)]
        await asyncio.sleep(0)
        with pytest.raises(TooMany):
            await desk.answered(seat, "SELECT 1")
        other = asyncio.ensure_future(desk.answered(cleo, "SELECT 1"))
        await asyncio.sleep(0)
        assert not other.done()  # it is taken
        go.set()
        await asyncio.gather(*hers, other, return_exceptions=True)
        await desk.idle()

    asyncio.run(both())
