"""Random questions against oracles that share no code with the calculus: no ceiling below the truth, few far above.

One tolerance: SLACK of what is compared, which is what the oracles' sums and quadratures leave open. On one number and
for independent attributes a ceiling is at most NEAR above the truth.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import nowiser as nw
from guess.oracles import line, parts, peak, plane, table
from guess.oracles.questions import Question, question
from nowiser.errors import Misconfigured

SLACK = 1e-6
NEAR = 1e-3  # of a gain; tiny gains may be off by TINY
TINY = 2e-6
DISC = 3e-3  # what a sum over boxes that a circle cuts may be off


def seeds(few: int, many: int) -> list[object]:
    """The first few in every run, the rest in long ones."""
    return [*range(few), *(pytest.param(s, marks=pytest.mark.long) for s in range(few, many))]


def below(found: float, truth: float) -> bool:
    return found < truth - SLACK * max(truth, 1e-3)


def asked(q: Question, victim: object = "own") -> nw.Advantage | None:
    try:
        return q.ask(nw.guess, victim)
    except Misconfigured:  # goals that nobody can meet are refused
        return None


def check(found: nw.Advantage, truth: tuple[float, float, float]) -> None:
    """A named victim's figures against the truth: before, after (from below), smallest (from above)."""
    before, after, smallest = truth
    assert found.smallest <= found.before <= found.after
    assert not below(found.after, after)
    assert found.before <= before * (1 + SLACK) + 1e-12
    assert not below(found.gain, after - before)
    assert found.smallest <= smallest + SLACK * max(smallest, 1e-3)


@pytest.mark.parametrize("seed", seeds(30, 300))
def test_a_named_victim_of_any_goal_on_one_number(seed: int) -> None:
    q = question(nw, "number named", 50_000 + seed)
    found = asked(q)
    if found is not None:
        whole, cost = line.line_of(q.prior), q.costs
        after, denied = (line.posterior(whole, g, q.victim, cost.slope, cost.jump) for g in (q.goal, nw.Not(q.goal)))
        before = line.before(whole, q.goal, q.victim)
        check(found, (before, after, 1 - denied))
        assert found.gain <= (after - before) * (1 + NEAR) + TINY


def victims(q: Question, count: int) -> list[object]:
    """Some victims of a question: from the places of the prior, and between."""
    rng = np.random.default_rng(q.seed)

    def one(places: object) -> object:
        if isinstance(places, list):
            return places[int(rng.integers(len(places)))]
        some = np.asarray(places)
        return float(rng.choice(some)) if rng.random() < 0.5 else float(rng.uniform(some.min(), some.max()))

    if isinstance(q.places, dict):
        return [{n: one(p) for n, p in q.places.items()} for _ in range(count)]
    return [one(q.places) for _ in range(count)]


@pytest.mark.parametrize("seed", seeds(12, 120))
def test_nobody_gains_more_than_the_worst_victim_on_one_number(seed: int) -> None:
    q = question(nw, "number worst", 50_000 + seed)
    found = asked(q)
    if found is None:
        return
    whole, cost = line.line_of(q.prior), q.costs
    gains = [line.gain(whole, q.goal, float(x), cost.slope, cost.jump) for x in victims(q, 6)]  # type: ignore[arg-type]
    if found.victim is not None:
        gains.append(line.gain(whole, q.goal, found.victim, cost.slope, cost.jump))
        assert found.gain <= gains[-1] * (1 + NEAR) + TINY
    assert not below(found.gain, max(gains))


@pytest.mark.parametrize("seed", seeds(8, 100))
def test_independent_attributes(seed: int) -> None:
    q = question(nw, "independent named", 50_000 + seed)
    found, everybody = asked(q), asked(q, None)
    if found is None or everybody is None:
        return
    truth = parts.figures(q.prior, q.goal, q.costs, q.victim)
    check(found, truth)
    assert found.gain <= (truth[1] - truth[0]) * (1 + NEAR) + TINY
    for who in [q.victim, *victims(q, 2)]:
        before, after, _ = parts.figures(q.prior, q.goal, q.costs, who)
        assert not below(everybody.gain, after - before)


@pytest.mark.parametrize("seed", seeds(40, 200))
def test_tables_of_records(seed: int) -> None:
    q = question(nw, "records named", 50_000 + seed)
    found = asked(q)
    if found is not None:
        truth = table.figures(q.prior, q.goal, q.costs, q.victim)
        check(found, truth)
        assert found.after <= truth[1] * (1 + SLACK) + 1e-9


@pytest.mark.parametrize("seed", seeds(8, 100))
def test_nobody_gains_more_than_the_worst_victim_of_a_table(seed: int) -> None:
    q = question(nw, "records worst", 50_000 + seed)
    found = asked(q)
    if found is not None:
        for who in victims(q, 4):
            before, after, _ = table.figures(q.prior, q.goal, q.costs, who)
            assert not below(found.gain, after - before)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        pytest.param(kind, seed, marks=() if seed < few else pytest.mark.long)
        for kind, few in (("bands named", 3), ("disc named", 1), ("repeated", 0), ("bands worst", 0), ("disc worst", 0))
        for seed in range(15)
    ],
)
def test_two_dependent_numbers(kind: str, seed: int) -> None:
    q = question(nw, kind, 50_100 + seed)
    who = q.victim or {n: float(np.median(p)) for n, p in q.places.items()}
    found = asked(q)
    if found is None:
        return
    truth = plane.posterior(q.prior, q.goal, q.costs, who)
    before = plane.prior_share(q.prior, q.goal, who)
    off = truth.off + DISC * before
    assert found.gain >= truth.share - before - 2 * off
    if q.victim is not None:
        assert found.after >= truth.share - off
        assert found.before <= before + off


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_three_and_more_dependent_numbers(seed: int) -> None:
    q = question(nw, "solid", 50_000 + seed)
    who = q.victim or {n: float(np.median(p)) for n, p in q.places.items()}
    found = asked(q, who)
    if found is not None:
        on = plane.sampled(q.prior, 40_000, np.random.default_rng(seed))
        share = plane.peaks(q.goal, q.costs, who, on)
        assert found.after >= share - 6 * math.sqrt(share * max(1 - share, 1e-4) / 1e4)


# --- the oracles themselves: two ways to one figure


@pytest.mark.parametrize(
    ("prior", "low", "high", "k"),
    [
        (nw.Normal(20, 5), 18.0, 22.0, 0.5),
        (nw.Histogram([0, 1, 2, 5, 6], [0.1, 0, 0.8999, 0.0001]), 4.5, 5.5, 8.0),
        (nw.Mixture([(0.4, nw.Atoms({0: 0.5, 1: 0.5})), (0.6, nw.Normal(0, 1))]), -0.5, 0.5, 1.0),
    ],
)
def test_cells_and_peaks_agree(prior: nw.Prior, low: float, high: float, k: float) -> None:
    whole = line.line_of(prior)
    one, other = line.posterior(whole, nw.In.between(low, high), None, k, 0.3), peak.posterior(whole, low, high, k, 0.3)
    assert one == pytest.approx(other, rel=1e-6)


def test_cells_and_the_programme_agree() -> None:
    prior = nw.Atoms([0, 1, 1.5, 3, 4, 7], [0.1, 0.2, 0.1, 0.3, 0.1, 0.2])
    goal = nw.Or((nw.Within(1), nw.In({7})))
    one = line.posterior(line.line_of(prior), goal, 1.0, 0.7, 0.2)
    joint = nw.JointAtoms(["a"], dict(zip(((float(v),) for v in prior.values), prior.masses, strict=True)))
    asked_ = nw.Or((nw.On("a", nw.Within(1)), nw.On("a", nw.In({7}))))
    assert one == pytest.approx(table.figures(joint, asked_, nw.Cost(0.7, 0.2), {"a": 1.0})[1], rel=1e-9)


# --- laws


PRIORS = [
    nw.Normal(3, 2),
    nw.Uniform(-1, 4),
    nw.LogNormal(0, 0.7),
    nw.Frozen("gamma", 2.5),
    nw.Histogram([0, 1, 2, 4], [0.2, 0.0, 0.8]),
    nw.Mixture([(0.3, nw.Atoms({0: 0.4, 2: 0.6})), (0.7, nw.Normal(1, 1))]),
    nw.Atoms([0, 0.3, 0.1 + 0.2, 1, 2.5], [0.1, 0.2, 0.3, 0.2, 0.2]),
]
GOALS = [
    nw.Within(0.5),
    nw.Not(nw.Within(0.8)),
    nw.Or((nw.And((nw.Within(1), nw.Not(nw.Within(0.3)))), nw.In.between(2, 3))),
]


@pytest.mark.parametrize(
    ("prior", "goal"),
    [
        pytest.param(
            p,
            g,
            id=f"{type(p).__name__} {g}",
            marks=pytest.mark.long if g is GOALS[2] and p not in (PRIORS[1], PRIORS[6]) else (),
        )
        for p in PRIORS
        for g in GOALS
    ],
)
def test_the_worst_is_worst_and_grows_with_the_cost(prior: nw.Prior, goal: nw.Goal) -> None:
    rng = np.random.default_rng(7)
    whole = line.line_of(prior)
    places = whole.quantiles(np.linspace(0.001, 0.999, 41))
    last = 0.0
    for slope, jump in [(0.0, 0.0), (1e-6, 0.0), (0.6, 0.1), (5.0, 2.0)]:
        worst = nw.guess(prior, goal, slope=slope, jump=jump)
        assert worst.gain >= last * (1 - NEAR) - TINY
        last = worst.gain
        for x in rng.choice(places, 4):
            one = nw.guess(prior, goal, slope=slope, jump=jump, victim=float(x))
            assert Fraction(one.after) - Fraction(one.before) <= Fraction(worst.after) - Fraction(
                worst.before
            ) + Fraction(1, 10**12)
            if not slope and not jump:
                assert one.after == one.before == one.smallest


def moved(prior: nw.Prior, by: float, times: float) -> nw.Prior:
    """The prior of by + times·X."""
    if isinstance(prior, nw.Normal):
        return nw.Normal(by + times * prior.mean, times * prior.sd)
    if isinstance(prior, nw.Uniform):
        return nw.Uniform(by + times * prior.low, by + times * prior.high)
    if isinstance(prior, nw.Atoms):
        return nw.Atoms(by + times * prior.values, prior.masses)
    if isinstance(prior, nw.Histogram):
        return nw.Histogram(by + times * prior.edges, prior.masses)
    if isinstance(prior, nw.Mixture):
        return nw.Mixture([(w, moved(p, by, times)) for w, p in prior.parts])
    assert isinstance(prior, nw.Frozen)
    return nw.Frozen(prior.name, *prior.args, loc=by, scale=times)


@pytest.mark.parametrize(
    "prior", [p for p in PRIORS[:6] if not isinstance(p, nw.LogNormal)], ids=lambda p: type(p).__name__
)
@pytest.mark.parametrize(("by", "times"), [(1024.0, 1.0), (0.0, 2.0**-20), (-4096.0, 2.0**10)])
def test_units_and_origins_do_not_matter(prior: nw.Prior, by: float, times: float) -> None:
    plain, other = (
        nw.guess(p, nw.Within(r), slope=0.7, jump=0.2)
        for p, r in ((prior, 0.5), (moved(prior, by, times), 0.5 * times))
    )
    assert other.gain == pytest.approx(plain.gain, rel=NEAR)
    plain, other = (
        nw.guess(p, nw.Not(nw.Within(r)), slope=0.7, victim=x)
        for p, r, x in ((prior, 0.5, 1.0), (moved(prior, by, times), 0.5 * times, by + times))
    )
    assert other.after == pytest.approx(plain.after, rel=NEAR / 10)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
def test_the_same_prior_said_otherwise(prior: nw.Prior) -> None:
    plain = nw.guess(prior, nw.Within(0.5), slope=0.7)
    twice = nw.guess(nw.Mixture([(0.25, prior), (0.75, prior)]), nw.Within(0.5), slope=0.7)
    uncut = nw.guess(nw.Truncated(prior, -1e4, 1e4), nw.Within(0.5), slope=0.7)
    assert twice.gain == pytest.approx(plain.gain, rel=NEAR)
    assert uncut.gain == pytest.approx(plain.gain, rel=NEAR)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("victim", [None, 1.0])
@pytest.mark.parametrize("gain", ["5%", "0.1%"])
def test_the_largest_cost_keeps_its_promise_in_every_digit(prior: nw.Prior, victim: float | None, gain: str) -> None:
    limit = Fraction(gain[:-1]) / 100
    cost = nw.largest(prior, nw.Within(0.5), gain=gain, victim=victim)
    found = nw.guess(prior, nw.Within(0.5), slope=cost.slope, victim=victim)
    assert Fraction(found.after) - Fraction(found.before) <= limit
    more = nw.guess(prior, nw.Within(0.5), slope=cost.slope * 1.01, victim=victim)
    assert Fraction(more.after) - Fraction(more.before) > limit or math.isinf(cost.slope)
