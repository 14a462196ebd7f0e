"""Sessions cap, whatever threads do; `remaining` counts by the account's own arithmetic."""

from concurrent.futures import ThreadPoolExecutor
from math import inf

import pytest

import nowiser as nw
from nowiser.builder.session import Capped
from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance


def test_eight_threads_get_exactly_what_the_cap_covers(fresh):
    with fresh.session(spend="20%") as session:

        def ask(i):
            try:
                return session.run(f"SELECT SUM(time) FROM visits WHERE time > {i / 10}", spend="1%")
            except nw.Exhausted:
                return None

        with ThreadPoolExecutor(8) as pool:
            answered = [a for a in pool.map(ask, range(40)) if a is not None]
        assert len(answered) == 20
        assert session.left == pytest.approx(0, abs=1e-6)
        assert allowance.within(fresh.policy, session._ledger.charged, session._ledger.cap)
    assert fresh.allowance()["left"] == pytest.approx(0.8, abs=1e-6)


def test_a_cap_is_no_charge_and_others_are_not_bound_by_it(fresh):
    with fresh.session(spend="10%") as session:
        assert (session.spent, session.left) == (0.0, pytest.approx(0.1))
        assert fresh.allowance()["left"] == 1.0
        fresh.query("SELECT COUNT(*) FROM visits WHERE time > 20", spend="50%")
        assert session.spent == 0.0
        session.run(fresh.table("visits").agg(nw.sum("time")), spend="4%")
        assert session.spent == pytest.approx(0.04, abs=1e-6)
        assert session.guesses[0]["after"] > session.guesses[0]["before"]
        with pytest.raises(nw.Exhausted, match="more than the session may") as refusal:
            session.run("SELECT AVG(time) FROM visits WHERE year = 1", spend="7%")
        assert refusal.value.ask == {"spend": "6%"}
        session.run("SELECT AVG(time) FROM visits WHERE year = 1", **refusal.value.ask)
        assert session.run("SELECT SUM(time) FROM visits", spend="4%").stored
    with pytest.raises(nw.Misconfigured, match="session is over"):
        session.run("SELECT AVG(time) FROM visits WHERE year = 2", spend="1%")


def test_where_the_allowance_is_what_is_short_it_says_so(fresh):
    fresh.query("SELECT COUNT(*) FROM visits WHERE time > 20", spend="95%")
    with (
        fresh.session(spend="20%") as session,
        pytest.raises(nw.Exhausted, match="allowance does not cover") as refusal,
    ):
        session.run("SELECT SUM(time) FROM visits", spend="10%")
    assert refusal.value.left == pytest.approx(0.05, abs=1e-3)
    assert session.spent == 0.0


def test_a_refused_charge_does_not_count_and_an_unknown_one_does(fresh):
    class Ledger:
        def reserve(self, charge, admit, **_):
            raise self.error

    charge = allowance.Charge.of({allowance.Account("jump", ("visits.time",)): 10**9})
    capped = Capped(Ledger(), fresh.policy, allowance.Fraction(1, 2))
    for error, counts in ((Exhausted("no"), False), (nw.Unreachable("gone"), True)):
        capped._ledger.error = error
        with pytest.raises(type(error)):
            capped.reserve(charge, None)
        assert bool(capped.charged) is counts


@pytest.mark.parametrize("spend", ["1%", "7%", "30%"])
def test_remaining_is_how_many_are_answered(fresh, spend):
    fresh.query("SELECT AVG(time) FROM visits", spend="13%")
    expected = fresh.remaining("SELECT SUM(time) FROM visits", spend=spend)
    answered = 0
    for i in range(1, 101):
        try:
            fresh.query(f"SELECT SUM(time + {i}) FROM visits", spend=spend)
        except nw.Exhausted:
            break
        answered = i
    assert answered == expected == int(87 / float(spend[:-1]))


def test_remaining_of_what_is_free_and_of_what_never_fits(fresh):
    assert fresh.remaining("SELECT COUNT(*) FROM visits") == inf
    assert fresh.remaining("SELECT SUM(time) FROM visits", error=0.001) == 0
    fresh.query("SELECT AVG(time) FROM visits", spend="98%")
    assert fresh.remaining(fresh.table("visits").agg(nw.sum("time"))) == 0
    assert fresh.allowance()["left"] == pytest.approx(0.02, abs=1e-3)
