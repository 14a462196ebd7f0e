"""The worst victim of a goal on one number: nobody gains more, and one nearly as much."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.number.pieces import pieces_of
from nowiser.guess.number.victims import victims_of

SHARP = 1e-3  # of the gain
PRIORS: dict[str, tuple[nw.Prior, float]] = {
    "uniform": (nw.Uniform(12, 28), 2.0),
    "normal": (nw.Normal(20, 5), 2.0),
    "lognormal": (nw.LogNormal(0, 1), 0.5),
    "histogram": (nw.Histogram([0, 1, 2, 5, 5.5, 9], [0.2, 0.3, 0.1, 0.3, 0.1]), 0.4),
    "poles": (nw.Frozen("beta", 0.5, 0.5), 0.1),
    "poisson": (nw.Frozen("poisson", 4.0), 1.5),
    "atoms": (nw.Atoms([0, 1, 1.7, 3, 3.1, 8], [0.1, 0.3, 0.1, 0.2, 0.2, 0.1]), 1.0),
    "mixed": (nw.Mixture([(0.3, nw.Atoms({1: 0.5, 2: 0.5})), (0.7, nw.Normal(0, 1))]), 0.5),
    "cut": (nw.Truncated(nw.Normal(20, 5), 0, 60), 2.0),
}
COSTS = [nw.Cost(0.3), nw.Cost(1.0, 0.4), nw.Cost(0.0, 0.7), nw.Cost(4.0)]


def gains(everybody, x, up=1.0, down=1.0):
    found = [everybody.at(float(v)) for v in x]
    return np.array([up * f.after - down * f.before for f in found])


def guesses(prior, radius, seed=0):
    """Random guesses, and those whose goals end where the density jumps or a value is."""
    p = pieces_of(prior)
    low, high = max(p.low, p.likely[0] - radius), min(p.high, p.likely[1] + radius)
    near = np.concatenate([p.marks - radius, p.marks, p.marks + radius])
    some = np.random.default_rng(seed).uniform(low, min(high, low + 60 * radius), 60)
    return np.clip(np.concatenate([some, near[:30]]), low, high)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_no_guess_beats_the_worst_in_any_digit(name, cost):
    prior, radius = PRIORS[name]
    for goal in (nw.Within(radius), ~nw.Within(radius)):
        everybody = victims_of(prior, goal, cost, "x")
        worst = everybody.worst()
        assert (gains(everybody, guesses(prior, radius)[::2]) <= worst.value).all()
        own = gains(everybody, [worst.victim])[0]
        assert own >= worst.value * (1 - SHARP) - 1e-12
        assert worst.after - worst.before == pytest.approx(own, abs=1e-9, rel=1e-6)


@pytest.mark.parametrize("name", ["normal", "histogram", "mixed", "atoms"])
def test_goals_with_several_conditions(name):
    prior, radius = PRIORS[name]
    low, high = pieces_of(prior).likely
    fixed = nw.In.between(low + 0.35 * (high - low), low + 0.5 * (high - low))
    for goal in (nw.Within(radius) | fixed, nw.Within(3 * radius) & ~nw.Within(radius), nw.Within(radius) & fixed):
        everybody = victims_of(prior, goal, nw.Cost(0.8, 0.2), "x")
        worst = everybody.worst()
        assert (gains(everybody, guesses(prior, radius)[::4]) <= worst.value).all()
        assert gains(everybody, [worst.victim])[0] >= worst.value * (1 - SHARP)


@settings(deadline=None, max_examples=20)
@given(
    st.dictionaries(st.integers(0, 12), st.floats(0.01, 1), min_size=1, max_size=7),
    st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.3]),
    st.floats(0, 3),
    st.floats(0, 2),
)
def test_the_worst_of_single_values_is_that_of_all_their_sets(table, radius, slope, jump):
    """By brute force over a fine line of guesses, each in closed form over all peaks at the values."""
    x, m = np.array(sorted(table), float), np.array([table[v] for v in sorted(table)])
    m /= m.sum()
    everybody = victims_of(nw.Atoms(x, m), nw.Within(radius), nw.Cost(slope, jump), "x")
    worst, k = everybody.worst(), slope / radius
    if not slope and not jump:
        assert worst.value == 0
        return
    best = 0.0
    for guess in np.arange(x[0], x[-1] + 1e-9, 0.05):
        inside = np.abs(x - guess) <= radius + 1e-9
        for t in np.arange(max(x[0], guess - radius), min(x[-1], guess + radius) + 1e-9, 0.1):
            weight = m * np.exp(-k * np.abs(x - t))
            lifted = weight[inside].sum() * np.exp(jump)
            best = max(best, lifted / (lifted + weight[~inside].sum()) - m[inside].sum())
    assert worst.value >= best - 1e-12
    assert everybody.attained(worst.victim) >= worst.after - 1e-8


def steps(x, count):
    """Neighbouring doubles, from x on."""
    return [x := x if n == 0 else float(np.nextafter(x, np.inf)) for n in range(count)]


@pytest.mark.parametrize(
    ("values", "goal"),
    [
        (steps(5.4, 2), nw.Or((nw.In.between(5.4, 5.4), nw.Not(nw.Exactly())))),
        (steps(-3.1, 3), nw.And((nw.Exactly(), nw.Not(nw.In.between(*steps(-3.1, 2)))))),
        (steps(0.8, 2), nw.And((nw.Not(nw.Exactly()), nw.In({0.8})))),
        (steps(10.0, 4), nw.Within(3e-15)),
        ([*steps(-14.1, 4), -12.1], nw.Within(3e-15)),
    ],
    ids=str,
)
def test_neighbouring_doubles_are_different_victims(values, goal):
    masses = np.arange(1.0, len(values) + 1)[::-1] ** 3
    everybody = victims_of(nw.Atoms(values, masses / masses.sum()), goal, nw.Cost(0.2, 1.0), "x")
    worst = everybody.worst().value
    assert max(gains(everybody, values)) == pytest.approx(worst, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("up", "down"), [(1.0, 0.0), (0.3, 0.7), (0.7, 0.3), (0.0, 1.0)])
@pytest.mark.parametrize("cost", [nw.Cost(), nw.Cost(0.5), nw.Cost(0.5, 0.5)], ids=str)
def test_other_objectives_of_products(up, down, cost):
    prior, radius = PRIORS["histogram"]
    everybody = victims_of(prior, nw.Within(radius), cost, "x")
    everybody.worst()  # what it looked at serves the next search
    worst = everybody.worst(up, down)
    every = gains(everybody, guesses(prior, radius), up, down)
    assert (every <= worst.value + 1e-15).all()
    assert up * worst.after - down * worst.before >= worst.value - SHARP * max(abs(worst.value), 1e-3)


def test_victims_are_shared_by_jumps_and_by_nothing_else():
    prior, radius = PRIORS["normal"]
    free = victims_of(prior, nw.Within(radius), nw.Cost(), "x")
    free.worst()
    everybody = victims_of(prior, nw.Within(radius), nw.Cost(0.7), "x")
    plain = everybody.worst().value
    lifted = everybody.beside(0.5).worst().value
    assert lifted > plain > 0
    again = victims_of(nw.Truncated(prior, -200, 240), nw.Within(radius), nw.Cost(0.7, 0.5), "x").worst().value
    assert lifted == pytest.approx(again, rel=1e-4)


def test_the_likeliest():
    assert victims_of(nw.Uniform(12, 28), nw.Within(2), nw.Cost(1), "x").likeliest() == pytest.approx(0.25, rel=1e-5)
    assert victims_of(nw.Normal(20, 5), nw.Within(2), nw.Cost(1), "x").likeliest() == pytest.approx(
        0.3108434832, rel=1e-5
    )
    heavy = nw.Mixture([(0.5, nw.LogNormal(0, 3)), (0.5, nw.Normal(3, 1))])
    everybody = victims_of(heavy, nw.Within(1), nw.Cost(), "x")
    assert everybody.likeliest() >= everybody.at(0.9).before


def test_with_nothing_told_the_likeliest_is_named():
    worst = victims_of(nw.Normal(0, 1), nw.Within(1), nw.Cost(), "x").worst()
    assert (worst.before, worst.value) == (pytest.approx(0.6827, abs=1e-3), 0)


def test_the_same_prior_said_otherwise():
    for prior, radius in (PRIORS["normal"], PRIORS["lognormal"], (nw.Frozen("gamma", 2.5), 0.5)):
        for cost in (nw.Cost(0.7), nw.Cost(0.1, 0.5)):
            plain, cut = (
                victims_of(p, nw.Within(radius), cost, "x").worst() for p in (prior, nw.Truncated(prior, -1e4, 1e4))
            )
            assert plain.value == pytest.approx(cut.value, rel=SHARP)


def test_far_from_zero_as_near_to_it():
    for shift, rel in ((1e6, SHARP), (1e9, 2e-3)):
        near, far = (
            victims_of(nw.Normal(0.25 + s, 0.5), nw.Within(0.01), nw.Cost(1.0), "x").worst().value for s in (0.0, shift)
        )
        assert near * (1 - SHARP) <= far <= near * (1 + rel)


def test_an_empty_bin_costs_nothing():
    prior = nw.Histogram([0, 1, 1e9, 1e9 + 1], [0.5, 0, 0.5])
    assert victims_of(prior, nw.Within(0.1), nw.Cost(1.0), "x").worst().value == pytest.approx(0.7647, abs=1e-3)


def test_many_bins_and_many_values():
    rng = np.random.default_rng(3)
    bins = nw.Histogram(np.arange(3001.0), rng.dirichlet(np.ones(3000)))
    values = nw.Empirical(np.round(rng.normal(0, 1, 20_000), 3))
    for prior, radius in ((bins, 20.0), (values, 0.2)):
        everybody = victims_of(prior, nw.Within(radius), nw.Cost(1.0), "x")
        assert (gains(everybody, guesses(prior, radius)) <= everybody.worst().value).all()
