"""The worst victim on a continuous map: never below an attack on any victim, and not far above the most exposed."""

import sys
from pathlib import Path

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.plane.exposed import within_limit, worst
from nowiser.guess.plane.maps import Disc, Discs, one_on_map, smallest_on_map
from nowiser.guess.plane.plane import plane_of

sys.path.insert(0, str(Path(__file__).parent))
from planes import NAMES, attacked, bell, fine, histogram, shares, square


def bound(prior, radius, slope, jump=0.0, work=400):
    return worst(Discs(plane_of(prior, NAMES), Disc(radius, slope / radius, jump)), work)


CASES = [
    (square(), 2.0, 0.2, 0.0),
    (square(), 2.0, 1.0, 0.3),
    (histogram(), 2.0, 1.0, 0.0),
    (histogram(7), 3.0, 0.3, 0.5),
    (bell(correlation=0.5), 0.8, 0.5, 0.0),
]


@pytest.mark.parametrize(("prior", "radius", "slope", "jump"), CASES)
def test_nobody_gains_more(prior, radius, slope, jump):
    gain = bound(prior, radius, slope, jump).gain
    grid = fine(prior, 160)
    rng = np.random.default_rng(3)
    low, high = float(grid[1].min()), float(grid[1].max())
    victims = [*rng.uniform(low, high, (6, 2)), (low + radius, low + radius), (high - radius, high - radius)]
    for victim in victims:
        assert attacked(grid, victim, radius, slope / radius, jump) <= gain + 1e-3  # of the fine grid


@pytest.mark.parametrize(
    ("prior", "radius", "slope"),
    [
        (bell(), 0.8, 0.5),
        (bell(), 0.8, 2.0),
        pytest.param(square(), 4.0, 0.3, marks=pytest.mark.long),
        pytest.param(histogram(), 4.0, 0.5, marks=pytest.mark.long),
        pytest.param(bell((1.0, 3.0)), 0.8, 0.5, marks=pytest.mark.long),
    ],
)
def test_it_is_near_what_its_victim_gains_and_everybody_is_below(prior, radius, slope):
    plane, disc = plane_of(prior, NAMES), Disc(radius, slope / radius, 0.0)
    found = worst(Discs(plane, disc))
    his = one_on_map(plane, disc, found.at)
    assert his.gain <= found.gain <= 1.12 * his.gain
    rng = np.random.default_rng(6)
    for at in rng.uniform(plane.low, np.minimum(plane.high, 4 * radius), (8, 2)):
        assert one_on_map(plane, disc, at).gain <= found.gain


def test_what_a_box_may_add_to_its_corners_is_added(monkeypatch):
    plane, disc, found = plane_of(bell(), NAMES), Disc(0.8, 0.5 / 0.8, 0.0), []
    at = Discs.at  # always as sharply: else who is asked about sharply depends on what is added
    monkeypatch.setattr(Discs, "at", lambda self, place, _, *, rough: at(self, place, -1.0, rough=rough and False))
    for more in (0.0, 0.005):
        monkeypatch.setattr("nowiser.guess.plane.moved.Around.more", lambda *_, more=more: more)
        found.append(worst(Discs(plane, disc)).gain)
    assert found[1] - found[0] > 0.004


def test_more_work_only_sharpens_and_no_cost_gains_nothing():
    rough, sharper = bound(square(), 2.0, 0.5, work=0), bound(square(), 2.0, 0.5, work=400)
    assert sharper.gain <= rough.gain
    assert bound(square(), 2.0, 0.0, work=0).gain < 1e-9


def test_the_default_is_the_worst_with_a_witness():
    prior = bell()
    found = nw.guess(prior, nw.Within(0.8), slope=0.5)
    assert found.worst
    assert not found.tight
    assert set(found.victim) == {"x", "y"}
    one = nw.guess(prior, nw.Within(0.8), slope=0.5, victim=found.victim)
    assert 0 < one.gain <= found.gain <= 1.12 * one.gain  # how loose it may be stands in the docs
    assert one.before == pytest.approx(found.before, abs=1e-6)


@pytest.mark.parametrize("jump", [0.0, 0.5])
def test_the_witness_can_be_replayed_and_all_but_attains_the_ceiling(jump):
    prior = bell((1.0, 2.0), 0.3)
    found = nw.guess(prior, nw.Within(1), slope=0.7, jump=jump, victim=(0.6, 0.4))
    weight, x, y = fine(prior, 120)
    places = [{"x": a, "y": b} for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    posterior = weight.ravel() * np.array([found.witness.likelihood(p) for p in places])
    inside = np.array([found.witness.contains(p) for p in places])
    after = posterior[inside].sum() / posterior.sum()
    assert found.before + 0.95 * found.gain < after <= found.after + 2e-3  # of the grid
    assert found.witness.kind == "planar laplace"
    assert set(found.witness.to_json()) >= {"kind", "victim", "peak", "rate", "jump", "radius"}


def test_the_smallest_posterior_is_below_every_misleading_output():
    for prior, radius, victim in ((square(), 3.0, (6.0, 7.0)), (bell(), 0.8, (0.5, 0.5))):
        rate, grid = 0.5 / radius, fine(prior, 200)
        weight, x, y = grid
        inside, least = shares(grid, victim, radius), 1.0
        for shift in np.linspace(-2, 2, 9):
            for lift in np.linspace(-2, 2, 9):
                peak = victim[0] + shift * radius, victim[1] + lift * radius
                f = weight * np.exp(rate * np.hypot(x - peak[0], y - peak[1]))
                least = min(least, (f * inside).sum() / f.sum())
        found = smallest_on_map(plane_of(prior, NAMES), Disc(radius, rate, 0.0), np.array(victim))
        assert 0.85 * least < found <= least + 1e-4


@pytest.mark.parametrize("prior", [{"x": nw.Uniform(0, 16), "y": nw.Uniform(0, 16)}, bell((2.0, 2.0))])
def test_costs_of_each_attribute_count(prior):
    """They were read as no cost at all when the worst victim of a disc was looked for."""
    found = nw.guess(prior, nw.On(NAMES, nw.Within(3)), costs={"x": nw.Cost(0.3, 0.1), "y": nw.Cost(0.2)})
    weight, x, y = grid = fine(square() if isinstance(prior, dict) else prior, 160)
    for victim in ((8.0, 8.0), (3.0, 3.0), (0.5, 1.0)):
        inside = shares(grid, victim, 3.0)
        f = weight * np.exp(-(0.3 * abs(x - victim[0]) + 0.2 * abs(y - victim[1])) / 3)
        odds = (f * inside).sum() / (f * (1 - inside)).sum() * np.exp(0.1)
        assert odds / (1 + odds) - (weight * inside).sum() <= found.gain
    assert found.gain > 0.05
    assert found.witness.likelihood({"x": 1.0, "y": 2.0}) > 0


def test_independent_attributes_are_a_map_too():
    wide = {"x": nw.Uniform(0, 16), "y": nw.Uniform(0, 16)}
    assert bound(wide, 4.0, 0.2).gain == pytest.approx(bound(square(), 4.0, 0.2).gain, rel=1e-9)
    mixed = {"x": nw.LogNormal(1, 0.4), "y": nw.Histogram([0, 1, 4], [0.3, 0.7])}
    some = nw.guess(mixed, nw.On(NAMES, nw.Within(1)), slope=0.5, victim=(2.5, 2))
    assert 0.05 < some.gain < 0.4


def test_a_disc_over_single_values_and_a_disc_on_two_of_three_attributes():
    rows = {"x": nw.Uniform(0, 10), "y": nw.Atoms({1: 0.5, 2: 0.5})}
    assert 0.05 < nw.guess(rows, nw.On(NAMES, nw.Within(2)), slope=0.5, victim=(3, 1)).gain < 0.3
    whole = histogram().masses
    three = nw.JointHistogram((*NAMES, "z"), [*histogram().edges, [0, 1, 2]], np.stack([0.4 * whole, 0.6 * whole], -1))
    victim = {"x": 5.0, "y": 7.0, "z": 0.5}
    found = nw.guess(three, nw.On(NAMES, nw.Within(3)), slope=0.5, victim=victim)
    assert found.after == pytest.approx(nw.guess(histogram(), nw.Within(3), slope=0.5, victim=(5, 7)).after, rel=1e-9)
    normal = nw.MultivariateNormal(("z", *NAMES), [0, 0, 0], [[2, 0.3, 0.1], [0.3, 1, 0], [0.1, 0, 1]])
    same = nw.guess(normal, nw.On(NAMES, nw.Within(0.8)), slope=0.5, victim={"x": 0.3, "y": 0.1, "z": 4.0})
    assert same.after == pytest.approx(nw.guess(bell(), nw.Within(0.8), slope=0.5, victim=(0.3, 0.1)).after, rel=1e-9)


def test_whether_anybody_gains_more_than_a_limit():
    plane = plane_of(bell(), NAMES)
    gain = worst(Discs(plane, Disc(0.8, 0.5 / 0.8, 0.0))).gain
    for limit, kept in ((1.02 * gain, True), (1.5 * gain, True), (0.85 * gain, False), (0.5 * gain, False)):
        assert (within_limit(Discs(plane, Disc(0.8, 0.5 / 0.8, 0.0)), limit).gain <= limit) == kept


@pytest.mark.parametrize(("prior", "radius"), [(bell(), 0.8), pytest.param(square(), 6.0, marks=pytest.mark.long)])
def test_calibration_keeps_the_promise(prior, radius):
    cost = nw.largest(prior, nw.Within(radius), gain="20%")
    assert 0.17 < nw.guess(prior, nw.Within(radius), slope=cost.slope).gain <= 0.2


def test_what_cannot_be_looked_for_says_what_to_give_instead():
    cube = nw.JointHistogram(("x", "y", "z"), [[0, 1]] * 3, [[[1.0]]])
    with pytest.raises(Misconfigured, match="maps of two attributes, found 3") as refused:
        plane_of(cube, ("x", "y", "z"))
    assert "victim=" in str(refused.value.hint)
    with pytest.raises(Misconfigured, match="too small for a map"):
        nw.guess(square(), nw.Within(0.001), slope=1.0)


def test_independent_priors_are_looked_at_as_the_joint_prior_they_are():
    apart = plane_of({"x": nw.Uniform(0, 16), "y": nw.Histogram([0, 8, 16], [0.5, 0.5])}, NAMES)
    whole = plane_of(nw.JointHistogram(NAMES, [[0, 16], [0, 8, 16]], [[0.5, 0.5]]), NAMES)
    assert np.array_equal(apart.low, whole.low)
    assert np.array_equal(apart.high, whole.high)
    assert apart.high.tolist() == [8, 8]  # the map mirrors itself
    bells = plane_of({"x": nw.Normal(3, 2), "y": nw.Normal(-1, 1)}, NAMES)
    turned = plane_of(nw.MultivariateNormal(NAMES, [3, -1], [[4, 0], [0, 1]]), NAMES)
    assert np.array_equal(bells.high, turned.high)
    assert bells.victim(np.zeros(2)) == {"x": 3.0, "y": -1.0}
