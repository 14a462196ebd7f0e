"""The worst victim of three attributes: two of them together, then the third given both."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.plane.region import region_of
from nowiser.guess.solid.chain import Chain, chains
from nowiser.guess.solid.solids import Solids, solids_of
from nowiser.model.cost import Cost
from nowiser.model.goal import parse_goal

NAMES = ("x", "y", "z")
BOX = "x within 1 and y within 1 and z within 1"
COVARIANCE = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.6], [0.2, 0.6, 1.5]])


def chain(goal: str, rate: float, last: int, jump: float = 0.0) -> Chain:
    prior = nw.MultivariateNormal(NAMES, [0, 1, 2], COVARIANCE)
    region = region_of(parse_goal(goal), NAMES)
    assert region is not None
    return Chain(prior, region, np.full(3, rate), jump, last)


def cones(samples: np.ndarray, rate: float, peaks: list[np.ndarray]) -> list[np.ndarray]:
    """Likelihoods e^{∓cost} of people, with mean 1."""
    found = [np.exp(-sign * rate * np.abs(samples - p).sum(axis=1)) for p in peaks for sign in (1, -1)]
    return [f / f.mean() for f in found]


def test_each_link_holds_for_every_answer() -> None:
    """On people drawn from the prior: what peaks and valleys tell about the pair, and about the third given the pair."""
    rng = np.random.default_rng(3)
    samples = rng.multivariate_normal([0, 1, 2], COVARIANCE, 60_000)
    for last, rate in itertools.product(range(3), (0.2, 1.0)):
        link = chain(BOX, rate, last)
        for at in (np.array([0.0, 1.0, 2.0]), np.array([0.8, 1.2, 2.9])):
            near = np.abs(samples - at) <= 1
            pair = near[:, link.pair[0]] & near[:, link.pair[1]]
            for f in cones(samples, rate, [at, at + 0.5]):
                rest, before, after = link.third
                told, known = f[pair & near[:, last]].sum() / f[pair].sum(), near[pair, last].mean()
                assert told - known <= rest + 0.02
                assert known <= before + 0.02
                assert told <= after + 0.02
                assert pair.mean() <= link.before + 0.01
        assert link.gain(link.room(0.95)) == pytest.approx(0.95)


def test_nothing_told_is_nothing_gained() -> None:
    found = chain(BOX, 0.0, 2)
    assert found.third[0] == pytest.approx(0.0, abs=1e-9)
    assert found.gain(0.0) == pytest.approx(0.0, abs=1e-9)


def test_only_one_condition_on_each_attribute_makes_a_chain() -> None:
    prior = nw.MultivariateNormal(NAMES, [0, 1, 2], COVARIANCE)
    for goal in ("x within 1 and y within 1", "x within 1 and (y within 1 or z within 1)"):
        region = region_of(parse_goal(goal), NAMES)
        assert region is not None
        assert chains(prior, region, np.ones(3), 0.0) == []


@pytest.fixture(scope="module")
def small() -> nw.JointHistogram:
    masses = np.random.default_rng(5).random((2, 2, 2)) + 0.3
    return nw.JointHistogram(NAMES, [np.array([0.0, 1.5, 3.0])] * 3, masses / masses.sum())


@pytest.mark.long
def test_the_worst_victim_of_a_histogram(small: nw.JointHistogram) -> None:
    costs = {n: Cost(0.3) for n in NAMES}
    worst = nw.guess(small, BOX, costs=costs)
    assert worst.worst
    region = region_of(parse_goal(BOX), NAMES)
    assert region is not None
    solids = solids_of(small, region, np.full(3, 0.3), 0.0)
    assert isinstance(solids, Solids)
    rng = np.random.default_rng(0)
    gains = [solids.exposed(place, sharp=False).gain for place in rng.uniform(0, 3, (12, 3))]
    named = nw.guess(small, BOX, costs=costs, victim=worst.victim)
    assert max(*gains, named.gain) <= worst.gain * (1 + 1e-9)
    assert worst.gain <= 1.6 * named.gain


@pytest.mark.long
def test_calibration_finds_a_cost_that_keeps_the_promise(small: nw.JointHistogram) -> None:
    found = nw.largest(small, BOX, gain="20%", along={n: Cost(1) for n in NAMES})
    assert all(cost.slope > 0.1 for cost in found.values())
    assert nw.guess(small, BOX, costs=found).gain <= 0.2


@pytest.mark.long
def test_the_worst_victim_of_normal_attributes() -> None:
    """The programme said .9999999: calibration gave no cost at all."""
    prior = nw.MultivariateNormal(NAMES, [0, 0, 0], np.full((3, 3), 0.5) + 0.5 * np.eye(3))
    costs = {n: Cost(0.1) for n in NAMES}
    worst = nw.guess(prior, BOX, costs=costs)
    named = nw.guess(prior, BOX, costs=costs, victim=dict.fromkeys(NAMES, 0.9))
    assert named.gain <= worst.gain <= 2.2 * named.gain
    found = nw.largest(prior, BOX, gain="10%", along={n: Cost(1) for n in NAMES})
    assert found["x"].slope > 0.05
    assert nw.guess(prior, BOX, costs=found).gain <= 0.1
