"""Masses of three attributes, tilted by costs."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.grid.space import _boxes
from nowiser.guess.solid.trivariate import SIGNS, Cube, Trivariate

COVARIANCE = np.array([[1.0, 0.5, 0.3], [0.5, 1.2, 0.6], [0.3, 0.6, 0.9]])
BORDERS = [np.array([-3.0, -1, -0.5, 0, 0.7, 2]), np.array([-2.0, -0.5, 0, 1, 3]), np.array([-3.0, -0.5, 0.2, 1, 1.5])]
RATES = np.array([0.5, 1.0, 0.7])


def masses(mean: np.ndarray, borders: list[np.ndarray]) -> np.ndarray:
    """Of a normal law, by another quadrature: everything else is put into outermost boxes."""
    wide = [np.concatenate([[m - 12.0], b, [m + 12.0]]) for m, b in zip(mean, borders, strict=True)]
    found = _boxes(nw.MultivariateNormal(("x", "y", "z"), mean, COVARIANCE), tuple(tuple(b.tolist()) for b in wide))
    return found[1:-1, 1:-1, 1:-1]


@pytest.mark.parametrize("signs", [(0, 0, 0), (1, 1, 1), (1, -1, 0), (-1, 0, 1)])
def test_tilting_a_normal_law_moves_it(signs: tuple[int, int, int]) -> None:
    mean = np.array([0.0, 0.1, -0.2])
    law = Trivariate(nw.MultivariateNormal(("x", "y", "z"), mean, COVARIANCE))
    found = law.tables(BORDERS, RATES)
    tilt = RATES * signs
    middles = np.stack(np.meshgrid(*[(b[1:] + b[:-1]) / 2 for b in BORDERS], indexing="ij"), -1)
    lift = np.exp(tilt @ COVARIANCE @ tilt / 2 + tilt @ mean - middles @ tilt)
    truth = masses(mean + COVARIANCE @ tilt, BORDERS) * lift
    where = tuple(SIGNS.index(s) for s in signs)
    assert (found.least[where] <= truth + 1e-12).all()
    assert (found.most[where] >= truth - 1e-12).all()
    assert found.most[where] - found.least[where] == pytest.approx(0.0, abs=1e-12)


def test_a_histogram_is_tilted_in_closed_form() -> None:
    rng = np.random.default_rng(0)
    shares = rng.random((2, 2, 2))
    prior = nw.JointHistogram(("x", "y", "z"), [np.array([0.0, 1, 3])] * 3, shares / shares.sum())
    borders = [np.array([0.0, 0.4, 1, 3])] * 3
    found = Cube(prior).tables(borders, RATES)
    assert found.most[0, 0, 0].sum() == pytest.approx(1.0)
    node, weight = np.polynomial.legendre.leggauss(12)
    for cell in itertools.product(range(3), repeat=3):
        ends = [(b[i], b[i + 1]) for b, i in zip(borders, cell, strict=True)]
        total = prior.masses[tuple(int(a >= 1) for a, _ in ends)]
        for k, (a, b) in zip(RATES, ends, strict=True):
            whole = 1.0 if a < 1 else 2.0
            total *= (b - a) / 2 * (weight * np.exp(k * (b - a) / 2 * node)).sum() / whole
        assert found.least[1, 1, 1][cell] <= total * (1 + 1e-14)
        assert found.most[1, 1, 1][cell] == pytest.approx(total, rel=1e-11)


def test_what_is_beyond_is_bounded() -> None:
    law = Trivariate(nw.MultivariateNormal(("x", "y", "z"), [0, 0, 0], np.eye(3)))
    far = law.far(RATES)
    # of independent attributes: one is far out on either side, and the others are anywhere
    from scipy.stats import norm

    whole = [2 * np.exp(k * k / 2) * norm.cdf(k) for k in RATES]
    tails = [2 * np.exp(k * k / 2) * norm.cdf(k - f) for k, f in zip(RATES, far, strict=True)]
    truth = max(tails[i] * np.prod([whole[j] for j in range(3) if j != i]) for i in range(3))
    assert truth <= law.beyond(RATES, np.zeros((1, 3)))[0] <= 8 * truth
