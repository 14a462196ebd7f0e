"""`tight` is said only where a mechanism reaches the ceiling: its witness is replayed by another hand (quadrature)."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import nowiser as nw
from nowiser.guess.number.family import form
from nowiser.model.goal import Goal
from nowiser.model.witness import Witness

TIGHT = 1e-3  # a ceiling is called tight where its witness reaches 99.9 % of it
LAWS: dict[str, tuple[nw.Prior, Any]] = {
    "normal": (nw.Normal(20, 5), stats.norm(20, 5)),
    "uniform": (nw.Uniform(0, 40), stats.uniform(0, 40)),
    "lognormal": (nw.LogNormal(3, 0.5), stats.lognorm(0.5, scale=np.exp(3))),
    "gamma": (nw.Frozen("gamma", 4.0, 0, 5.0), stats.gamma(4.0, 0, 5.0)),
    "cauchy": (nw.Frozen("cauchy", 20, 5), stats.cauchy(20, 5)),
}
GOALS: dict[str, Goal] = {
    "within": nw.Within(3),
    "in": nw.In.between(15, 22),
    "not": ~nw.Within(3),
    "both": nw.Within(3) & nw.In.between(15, 22),
}


def replayed(law: Any, witness: Witness, goal: Goal, victim: float) -> float:
    """The posterior of the goal when the telling output was seen."""
    low, high = (float(np.clip(x, -900, 900)) for x in law.support())
    turns = {low, high, *np.clip(law.ppf([1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6]), low, high).tolist()}
    one = form(goal, victim, victim, victim)
    ends = [end.of(victim) for end in one.ends]
    intervals = list(zip(ends[::2], ends[1::2], strict=True))
    turns |= {e for pair in intervals for e in pair} | ({witness.peak} if witness.peak is not None else set())
    at = sorted(x for x in turns if low <= x <= high)
    inside = total = 0.0
    for a, b in itertools.pairwise(at):
        middle = (a + b) / 2
        part = quad(lambda x: witness.likelihood(x) * law.pdf(x), a, b, epsabs=0, epsrel=1e-9, limit=200)[0]
        total += part
        if any(p <= middle <= q for p, q in intervals) != one.inside[0]:
            inside += part
    return inside / total


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("asked", GOALS)
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # asked for more digits than there are
def test_the_witness_reaches_what_is_called_tight(name: str, asked: str) -> None:
    prior, law = LAWS[name]
    goal = GOALS[asked]
    for slope, jump, victim in ((0.5, 0.0, 17.0), (1.5, 0.4, 24.0), (0.7, 0.0, None)):
        answer = nw.guess(prior, goal, slope=slope, jump=jump, victim=victim)
        assert answer.tight or name not in ("normal", "uniform")
        if asked == "not" and name in ("cauchy", "lognormal"):
            assert answer.after == pytest.approx(1)  # a likelihood that grows outward sees nobody but those far out
        who = 17.0 if answer.victim is None else float(answer.victim)
        if answer.tight and answer.after < 1 and abs(who) < 800:  # where quadrature reaches
            reached = replayed(law, answer.witness, goal, who)
            assert answer.after * (1 - TIGHT) <= reached <= answer.after * (1 + 1e-9)


def test_what_is_approximated_roughly_is_not_called_tight() -> None:
    heavy = nw.Mixture([(0.5, nw.Normal(20, 5)), (0.5, nw.Frozen("cauchy", 20, 5))])
    law = stats.norm(20, 5), stats.cauchy(20, 5)
    answer = nw.guess(heavy, nw.Within(2), slope=0.1, victim=20)
    peak = [quad(lambda x, one=one: one.pdf(x) * np.exp(-0.05 * abs(x - 20)), 18, 22)[0] for one in law]
    rest = [2 * quad(lambda x, one=one: one.pdf(x) * np.exp(-0.05 * (x - 20)), 22, 900, limit=500)[0] for one in law]
    reached = sum(peak) / (sum(peak) + sum(rest))
    assert answer.after >= reached - 1e-9
    assert answer.tight == (answer.after <= reached / (1 - TIGHT))
