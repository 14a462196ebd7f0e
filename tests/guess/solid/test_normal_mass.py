"""How probable goals on several normal attributes are, held against other ways to integrate."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

import nowiser as nw
from nowiser.guess.solid import normal_mass
from nowiser.guess.solid.normal_mass import mass_of


def equal(n: int, r: float) -> nw.MultivariateNormal:
    return nw.MultivariateNormal(tuple("abcdefg"[:n]), np.zeros(n), np.eye(n) * (1 - r) + r)


def one_factor(n: int, r: float, low: list[float], high: list[float], *, every: bool) -> float:
    """All (or any) of n equicorrelated numbers in their intervals: they are independent given what they share."""

    def given(u: float) -> float:
        each = [
            ndtr((b - math.sqrt(r) * u) / math.sqrt(1 - r)) - ndtr((a - math.sqrt(r) * u) / math.sqrt(1 - r))
            for a, b in zip(low, high, strict=True)
        ]
        return math.prod(each) if every else 1 - math.prod(1 - p for p in each)

    steps = np.linspace(-9, 9, 10).tolist()
    return sum(
        integrate.quad(lambda u: given(u) * stats.norm.pdf(u), a, b, epsabs=1e-13)[0] for a, b in pairwise(steps)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("r", [0.0, 0.4, 0.9])
def test_bands_of_equicorrelated_attributes(n: int, r: float) -> None:
    prior = equal(n, r)
    radii, at = [0.3, 1.0, 2.0, 0.7, 1.5, 0.2][:n], [0.5, -0.3, 0.0, 1.0, 2.0, -1.0][:n]
    parts = tuple(nw.On(m, nw.Within(w)) for m, w in zip(prior.names, radii, strict=True))
    victim = dict(zip(prior.names, at, strict=True))
    low, high = ([x + side * w for x, w in zip(at, radii, strict=True)] for side in (-1, 1))
    goals = {True: nw.And(parts), False: nw.Or(parts)} if n > 1 else {True: parts[0]}
    for every, goal in goals.items():
        truth = one_factor(n, r, low, high, every=every)
        least, most = mass_of(prior, goal, victim)
        assert least <= truth <= most
        assert most - least < 3e-9
        assert mass_of(prior, nw.Not(goal), victim) == (1 - most, 1 - least)


def test_too_many_points_leave_what_the_parts_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    prior, victim = equal(4, 0.4), dict.fromkeys("abcd", 0.0)
    goal = nw.parse_goal("a within 1 and b within 1 and c within 1 and d within 1")
    known = mass_of(prior, goal, victim)
    monkeypatch.setattr(normal_mass, "NODES", 1)
    least, most = mass_of(prior, goal, victim)
    assert least <= known[0]
    assert known[1] <= most <= 2 * ndtr(1) - 1 + 1e-9


def test_formulas_in_the_same_attributes_twice() -> None:
    """By Monte Carlo, four million draws."""
    prior = equal(4, 0.4)
    goal = nw.parse_goal("(a within 1 or b in [0, 1]) and not (c within 1 and d within 1 or a in [0.2, 0.4])")
    x = np.random.default_rng(5).multivariate_normal(prior.mean, prior.covariance, 1_000_000)
    a, b, c, d = (np.abs(x - 0.5) <= 1).T
    met = (a | ((x[:, 1] >= 0) & (x[:, 1] <= 1))) & ~((c & d) | ((x[:, 0] >= 0.2) & (x[:, 0] <= 0.4)))
    assert b.any()
    least, most = mass_of(prior, goal, dict.fromkeys("abcd", 0.5))
    assert most - least < 1e-9
    assert abs(met.mean() - least) < 5 * math.sqrt(0.25 / len(x))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_round_discs(n: int) -> None:
    prior = nw.MultivariateNormal(tuple("abcdef"[:n]), np.full(n, 0.2), 4 * np.eye(n))
    for away, radius in [(0.0, 1.0), (1.0, 3.0), (8.0, 2.0)]:
        goal = nw.On(prior.names if n > 1 else "a", nw.Within(radius))
        truth = stats.ncx2.cdf(radius**2 / 4, n, n * away**2 / 4) if away else stats.chi2.cdf(radius**2 / 4, n)
        least, most = mass_of(prior, goal, dict.fromkeys(prior.names, 0.2 + away))
        assert least <= truth <= most
        assert most - least < 1e-10


def test_flat_discs() -> None:
    prior = nw.MultivariateNormal(("a", "b"), [0.0, 0.0], [[4.0, 1.5], [1.5, 1.0]])
    density = stats.multivariate_normal(prior.mean, prior.covariance).pdf
    for (x, y), r in [((0.0, 0.0), 1.0), ((2.0, -1.0), 2.5), ((0.5, 0.5), 9.0)]:
        truth = integrate.dblquad(
            lambda s, t, x=x, y=y: t * density((x + t * math.cos(s), y + t * math.sin(s))), 0, r, 0, 2 * math.pi
        )[0]
        least, most = mass_of(prior, nw.On(("a", "b"), nw.Within(r)), {"a": x, "b": y})
        assert least - 1e-8 <= truth <= most + 1e-8
        assert most - least < 1e-9


def test_a_thin_prior_ends_the_series_early_and_says_so() -> None:
    prior = nw.MultivariateNormal(("a", "b"), [0.0, 0.0], [[1.0, 0.0], [0.0, 1e-8]])
    least, most = mass_of(prior, nw.On(("a", "b"), nw.Within(1.0)), {"a": 0.0, "b": 0.0})
    assert least <= 2 * ndtr(1) - 1 <= most + 1e-7


def test_far_away_nothing_is_left() -> None:
    least, most = mass_of(equal(3, 0.0), nw.On(("a", "b", "c"), nw.Within(1.0)), dict.fromkeys("abc", 60.0))
    assert least == 0
    assert most <= 1e-10


def test_discs_among_other_conditions_lie_between_boxes() -> None:
    prior, victim = equal(4, 0.0), dict.fromkeys("abcd", 0.0)
    disc, band = stats.chi2.cdf(1, 2), 2 * ndtr(1) - 1
    for text, truth in [
        ("(a,b) within 1 and c within 1", disc * band),
        ("(a,b) within 1 or c within 1", disc + band - disc * band),
        ("c within 1 and not (a,b) within 1", band * (1 - disc)),
        ("(a,b) within 1 and (c,d) within 1", disc**2),
    ]:
        least, most = mass_of(prior, nw.parse_goal(text), victim)
        assert least < truth < most
