"""Priors as pieces, the plain functions about priors, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.number import law
from nowiser.guess.number.pieces import pieces_of
from nowiser.guess.number.sums import mass, running
from nowiser.guess.number.victims import victims_of

FAMILIES = {
    "normal": (nw.Normal(20, 5), stats.norm(20, 5)),
    "lognormal": (nw.LogNormal(0, 1), stats.lognorm(1.0)),
    "gamma": (nw.Frozen("gamma", 0.7), stats.gamma(0.7)),
    "beta": (nw.Frozen("beta", 0.5, 2.0), stats.beta(0.5, 2.0)),
    "t": (nw.Frozen("t", 3.0), stats.t(3.0)),
    "gumbel": (nw.Frozen("gumbel_r"), stats.gumbel_r()),
    "laplace": (nw.Frozen("laplace"), stats.laplace()),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_masses_between_any_two_places_are_as_wrong_as_they_say(name):
    prior, true = FAMILIES[name]
    p = pieces_of(prior)
    a, b = np.sort(true.ppf(np.random.default_rng(0).uniform(0, 1, (2, 200))), axis=0)
    found, off = mass(p, p.place(a, after=False), p.place(b, after=True))
    assert (np.abs(found - (true.cdf(b) - true.cdf(a))) <= off + 1e-13).all()
    assert off.max() < 1e-6
    assert p.sums[0][-1] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_bounds_on_density_and_slope_hold_on_every_piece(name):
    prior, true = FAMILIES[name]
    p = pieces_of(prior)
    i = np.flatnonzero((p.m > 1e-12) & np.isfinite(p.d))[::7]
    for share in (0.01, 0.4, 0.9):
        x = p.x[i] + share * p.w[i]
        density = true.pdf(x)
        assert (density <= p.limits["tall"][i] * (1 + 1e-9)).all()
        assert (density >= -p.limits["-least"][i] * (1 - 1e-9)).all()


def test_the_recurrence():
    rng = np.random.default_rng(1)
    f, a = rng.uniform(0, 1, 137), rng.uniform(0, 1, 137)
    plain = [0.3]
    for one, more in zip(f, a, strict=True):
        plain.append(one * plain[-1] + more)
    assert running(f, a, 0.3) == pytest.approx(np.array(plain))


@pytest.mark.parametrize("name", FAMILIES)
def test_plain_functions_about_a_prior(name):
    prior, true = FAMILIES[name]
    x = true.ppf([0.01, 0.3, 0.7, 0.99])
    assert law.cdf(prior, x) == pytest.approx(true.cdf(x))
    assert law.mass(prior, x[0], x[2]) == pytest.approx(0.69)
    assert law.has_density(prior)
    assert law.points(prior) is None
    assert law.spread(prior, x) == pytest.approx(np.diff(true.cdf(x)))
    low, high = law.support(prior)
    assert true.cdf(low) < 1e-12
    assert true.sf(high) < 1e-12


def test_plain_functions_about_single_values_and_mixtures():
    mixed = nw.Mixture([(0.4, nw.Atoms({1: 0.5, 4: 0.5})), (0.6, nw.Uniform(0, 8))])
    values, masses = law.atoms(mixed)
    assert (values.tolist(), masses.tolist()) == ([1, 4], pytest.approx([0.2, 0.2]))
    assert law.cdf(mixed, 4.0) == pytest.approx(0.4 + 0.3)
    assert law.mass(mixed, 4.0, 4.0) == pytest.approx(0.2)
    assert law.corners(mixed).tolist() == [0, 8]
    assert (law.bounded(mixed), law.bounded(nw.Normal(0, 1))) == (True, False)
    cut = nw.Truncated(mixed, 2, 8)
    assert law.cdf(cut, [1.9, 4.0, 8.0]) == pytest.approx([0, (0.2 + 0.15) / 0.65, 1])
    x, m = law.points(nw.Frozen("poisson", 3.0))
    assert m == pytest.approx(stats.poisson(3).pmf(x))
    with pytest.raises(Misconfigured, match="nothing of"):
        law.cdf(nw.Truncated(nw.Uniform(0, 1), 3, 4), 3.5)


@pytest.mark.parametrize(
    ("prior", "goal", "victim", "words"),
    [
        (nw.Normal(0, 1), nw.Exactly(), 0, "nobody can be guessed exactly on a continuous scale"),
        (nw.Normal(0, 1), nw.In({1}), None, "single values have no probability on a continuous scale"),
        (nw.Atoms({1: 0.5, 2: 0.5}), nw.In({3}), None, r"none of the values of `in \{3\}` is possible for x"),
        (nw.Atoms({1: 0.5, 2: 0.5}), nw.In({"soup"}), None, r"x is a number; the goal `in \{soup\}` lists labels"),
        (nw.Uniform(0, 1), nw.In.between(2, 3), None, r"no possible value of x \(0 to 1\) is in `in \[2, 3\]`"),
        (nw.Atoms({1: 0.5, 2: 0.5}), nw.In({1}) & nw.In({2}), None, r"no possible value of x \(1 to 2\) meets"),
        (nw.Normal(0, 1), nw.In.between(0, 1) & nw.In.between(2, 3), None, "the goal is never met"),
        (nw.Normal(0, 1), nw.Within(1) & ~nw.Within(2), 0.0, "the goal is never met"),
        (nw.Atoms({1: 0.5, 2: 0.5}), nw.Exactly(), 1.5, "victim must be a possible value of x for the goal `exactly`"),
        (nw.Uniform(0, 1), nw.Within(0.1), 2.0, "victim must be between 0 and 1, the possible values of x, found 2"),
        (nw.Uniform(0, 1), nw.Within(0.1), "a", "victim must be a number, a possible value of x, found 'a'"),
        (nw.Uniform(0, 1), nw.Within(0.1), None, "victim must be a number"),
        (nw.Normal(1e15, 1e-3), nw.Within(1e-3), 1e15, "told apart"),
        (nw.Uniform(1e9, 1e9 + 1), nw.Within(1e-8), 1e9, "told apart"),
    ],
)
def test_what_is_refused(prior, goal, victim, words):
    with pytest.raises(Misconfigured, match=words):
        victims_of(prior, goal, nw.Cost(1.0), "x").at(victim)


def test_slopes_whose_squares_are_no_numbers_are_refused():
    with pytest.raises(Misconfigured, match="slope must be at most"):
        victims_of(nw.Uniform(0, 1e9), nw.Within(1e-5), nw.Cost(1e100), "x").worst()


def test_fixed_goals_need_no_victim():
    everybody = victims_of(nw.Normal(0, 1), nw.In.between(0, 1), nw.Cost(0.5), "x")
    assert everybody.at(None) == everybody.at(0.3)
    assert everybody.worst().victim is None


@pytest.mark.parametrize(("low", "high"), [(20, 30), (7, 9), (1, 2)])
def test_a_range_below_the_median_mirrors_one_above_it(low, high):
    above = nw.guess(nw.Truncated(nw.Normal(0, 1), low, high), nw.Within(0.1), slope=1.0)
    below = nw.guess(nw.Truncated(nw.Normal(0, 1), -high, -low), nw.Within(0.1), slope=1.0)
    assert below.gain == pytest.approx(above.gain, rel=1e-4)
    assert below.before == pytest.approx(above.before, rel=1e-4)
