"""The worst victim on a continuous map: never below an attack on any victim, and not far above the linear programme."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.joint import _question
from nowiser.guess.maps import map_of, worst_on_map
from nowiser.model.cost import Cost
from nowiser.model.goal import On

NAMES = ("x", "y")


def histogram(seed=1, n=4, wide=16.0):
    masses = np.random.default_rng(seed).random((n, n))
    return nw.JointHistogram(NAMES, [np.linspace(0, wide, n + 1)] * 2, masses / masses.sum())


def square():
    return nw.JointHistogram(NAMES, [[0, 16], [0, 16]], [[1.0]])


def bound(prior, radius, slope, jump=0.0, work=300):
    goal = On(NAMES, nw.Within(radius))
    return worst_on_map(map_of(prior, NAMES), goal, _question(NAMES, goal, Cost(slope, jump)), work)


def attacked(grid, victim, radius, rate, jump=0.0):
    """The gain of planar Laplace noise with the best of several peaks, on a fine grid."""
    weight, x, y = grid
    inside = np.hypot(x - victim[0], y - victim[1]) <= radius
    before, best = weight[inside].sum() / weight.sum(), 0.0
    for shift in np.linspace(-0.8, 0.8, 5):
        for lift in np.linspace(-0.8, 0.8, 5):
            peak = victim[0] + shift * radius, victim[1] + lift * radius
            f = weight * np.exp(-rate * np.hypot(x - peak[0], y - peak[1]) + jump * inside)
            best = max(best, f[inside].sum() / f.sum())
    return best - before


def fine(prior, n=160):
    if isinstance(prior, nw.MultivariateNormal):
        side = np.linspace(-5, 5, n)
        x, y = np.meshgrid(side, side, indexing="ij")
        both = np.stack([x, y], -1)
        return np.exp(-((both @ np.linalg.inv(prior.covariance)) * both).sum(-1) / 2), x, y
    side = (np.arange(n) + 0.5) / n * 16
    x, y = np.meshgrid(side, side, indexing="ij")
    cells = [np.clip(np.searchsorted(e, side, "right") - 1, 0, e.size - 2) for e in prior.edges]
    return (prior.masses / np.multiply.outer(*[np.diff(e) for e in prior.edges]))[np.ix_(*cells)], x, y


CASES = [
    (square(), 2.0, 0.2, 0.0),
    (square(), 2.0, 1.0, 0.3),
    (histogram(), 2.0, 1.0, 0.0),
    (histogram(7), 3.0, 0.3, 0.5),
    (nw.MultivariateNormal(NAMES, [0, 0], [[1, 0.5], [0.5, 1]]), 0.8, 0.5, 0.0),
]


@pytest.mark.parametrize(("prior", "radius", "slope", "jump"), CASES)
def test_nobody_gains_more(prior, radius, slope, jump):
    gain = bound(prior, radius, slope, jump).gain
    grid = fine(prior)
    rng = np.random.default_rng(3)
    low, high = float(grid[1].min()), float(grid[1].max())
    victims = [*rng.uniform(low, high, (6, 2)), (low + radius, low + radius), (high - radius, high - radius)]
    for victim in victims:
        assert attacked(grid, victim, radius, slope / radius, jump) <= gain + 1e-3  # of the fine grid


def test_more_work_only_sharpens_and_no_cost_gains_nothing():
    rough, sharper = bound(square(), 2.0, 0.5, work=0), bound(square(), 2.0, 0.5, work=400)
    assert sharper.gain <= rough.gain
    assert bound(square(), 2.0, 0.0, work=0).gain < 1e-6


def test_the_default_is_the_worst_with_a_witness():
    prior = square()
    found = nw.guess(prior, nw.Within(4), slope=0.2)
    assert found.worst
    assert not found.tight
    assert set(found.victim) == {"x", "y"}
    one = nw.guess(prior, nw.Within(4), slope=0.2, victim=found.victim)
    assert 0 < one.gain <= found.gain <= 1.3 * one.gain  # how loose it may be stands in the docs
    assert one.before == pytest.approx(found.before, abs=1e-6)
    assert found.witness.kind == "programme"
    assert len(found.witness.table) > 100


def test_independent_attributes_are_a_map_too():
    wide = {"x": nw.Uniform(0, 16), "y": nw.Uniform(0, 16)}
    assert bound(wide, 4.0, 0.2, work=0).gain == pytest.approx(bound(square(), 4.0, 0.2, work=0).gain, rel=0.2)


def test_calibration_keeps_the_promise():
    cost = nw.largest(square(), nw.Within(6), gain="20%")
    assert cost.slope > 0.01
    assert bound(square(), 6.0, cost.slope, work=1000).gain <= 0.2


def test_what_cannot_be_looked_for_says_what_to_give_instead():
    cube = nw.JointHistogram(("x", "y", "z"), [[0, 1]] * 3, [[[1.0]]])
    with pytest.raises(Misconfigured, match="maps of two attributes, found 3") as refused:
        nw.guess(cube, nw.Within(0.2), slope=1.0)
    assert "victim=" in str(refused.value.hint)
    with pytest.raises(Misconfigured, match="too small for a map"):
        nw.guess(square(), nw.Within(0.001), slope=1.0)


def test_independent_priors_are_looked_at_as_the_joint_prior_they_are():
    apart = map_of({"x": nw.Uniform(0, 16), "y": nw.Histogram([0, 8, 16], [0.5, 0.5])}, NAMES)
    whole = map_of(nw.JointHistogram(NAMES, [[0, 16], [0, 8, 16]], [[0.5, 0.5]]), NAMES)
    assert np.array_equal(apart.low, whole.low)
    assert np.array_equal(apart.high, whole.high)
    assert apart.high.tolist() == [8, 8]  # the map mirrors itself
    bells = map_of({"x": nw.Normal(3, 2), "y": nw.Normal(-1, 1)}, NAMES)
    turned = map_of(nw.MultivariateNormal(NAMES, [3, -1], [[4, 0], [0, 1]]), NAMES)
    assert np.array_equal(bells.high, turned.high)
    assert bells.victim(np.zeros(2)) == {"x": 3.0, "y": -1.0}
