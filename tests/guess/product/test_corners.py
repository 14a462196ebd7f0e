"""Several attributes: the bound over all combinations of victims is never below one, and hardly above the worst."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.figures import Figures, Worst
from nowiser.guess.formula import merged, value
from nowiser.guess.product import _Polygon, worst_of_several

GAP = 1e-4  # of the gain: between everybody's bound and the victims found
SHAPES = ["a exactly and b exactly", "a exactly or b exactly", "a exactly and (b exactly or c exactly)",
          "(a exactly or b exactly) and (c exactly or d exactly)", "a exactly or (b exactly and c exactly)"]  # fmt: skip


class Cloud:
    """Finitely many victims with any figures at all."""

    def __init__(self, rng, n):
        self.before = rng.random(n) ** rng.uniform(0.3, 3)
        self.after = self.before + (1 - self.before) * rng.random(n) ** rng.uniform(0.5, 6)

    def worst(self, up=1.0, down=1.0, *, sharp=0.0):
        every = up * self.after - down * self.before
        i = int(np.argmax(every))
        return Worst(i, float(self.before[i]), float(self.after[i]), float(every[i]))

    def at(self, victim):
        return Figures(self.before[victim], self.after[victim], 0.0)


@pytest.mark.parametrize("seed", range(40))
def test_of_finitely_many_victims_the_worst_is_found(seed):
    rng = np.random.default_rng(seed)
    of, goals = merged(nw.parse_goal(SHAPES[seed % len(SHAPES)]))
    clouds = [Cloud(rng, int(rng.integers(1, 9))) for _ in goals]
    truth = max(
        value(of, [c.after[i] for c, i in zip(clouds, pick, strict=True)])
        - value(of, [c.before[i] for c, i in zip(clouds, pick, strict=True)])
        for pick in itertools.product(*[range(c.before.size) for c in clouds])
    )
    worst, gain = worst_of_several(of, clouds)
    assert truth - 1e-15 <= gain <= truth * (1 + 1e-3) + 1e-12
    own = value(of, [one.after for one in worst]) - value(of, [one.before for one in worst])
    assert own >= gain * (1 - 1e-3) - 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_no_victim_lies_beyond_the_corners_in_any_direction(seed):
    rng = np.random.default_rng(seed)
    cloud = Cloud(rng, 30)
    part = _Polygon(cloud)
    for _ in range(12):
        part.ask(*rng.dirichlet([1, 1]))
        corners = part.corners()
        assert ((corners > -1e-12) & (corners < 1 + 1e-12)).all()
        for share in np.linspace(0, 1, 41):
            most = ((1 - share) * cloud.after - share * cloud.before).max()
            assert most <= ((1 - share) * corners[:, 0] - share * corners[:, 1]).max() + 1e-12


def test_of_many_attributes_the_sum_of_their_gains_is_a_bound():
    rng = np.random.default_rng(1)
    names = [f"a{i}" for i in range(24)]
    of, _ = merged(nw.parse_goal(" or ".join(f"{n} exactly" for n in names)))
    clouds = [Cloud(rng, 2) for _ in names]
    for cloud in clouds:
        cloud.after = cloud.before + (cloud.after - cloud.before) * 1e-3
    _, gain = worst_of_several(of, clouds)
    assert 0 < gain <= sum(float((c.after - c.before).max()) for c in clouds) + 1e-12


GOALS = [
    "a within 2 and b within 0.5",
    "a within 2 and not b within 0.5",
    "not a within 2 and not b within 0.5",
    "a within 2 or b within 0.5",
    "not (a within 2 and not b within 0.5)",
]


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("slope", "jump"), [(1.0, 0.0), (0.2, 0.3)])
def test_two_normals_to_a_thousandth(goal, slope, jump):
    priors = {"a": nw.Normal(20, 5), "b": nw.Normal(0, 1)}
    costs = {"a": nw.Cost(slope, jump), "b": nw.Cost(0.7 * slope, 0.1)}
    found = nw.guess(priors, goal, costs=costs)
    for a, b in itertools.product(np.linspace(5, 35, 7), np.linspace(-4, 4, 5)):
        assert nw.guess(priors, goal, costs=costs, victim={"a": float(a), "b": float(b)}).gain <= found.gain + 1e-12
    own = nw.guess(priors, goal, costs=costs, victim=found.victim)
    assert found.gain * (1 - 1e-3) <= own.gain <= found.gain + 1e-12
    assert found.tight


def test_a_third_attribute_with_labels_joins_them():
    priors = {"a": nw.Normal(20, 5), "b": nw.Uniform(-4, 4), "dish": nw.Categories({"soup": 0.3, "pasta": 0.7})}
    costs = {"a": nw.Cost(1.0), "b": nw.Cost(0.5), "dish": nw.Cost(0.0, 0.5)}
    text = "(a within 2 or not b within 0.5) and dish exactly"
    found = nw.guess(priors, text, costs=costs)
    rng = np.random.default_rng(2)
    for _ in range(20):
        victim = {"a": rng.normal(20, 5), "b": rng.uniform(-4, 4), "dish": rng.choice(["soup", "pasta"]).item()}
        assert nw.guess(priors, text, costs=costs, victim=victim).gain <= found.gain
    own = nw.guess(priors, text, costs=costs, victim=found.victim)
    assert own.gain == pytest.approx(found.gain, rel=1e-3)
    assert found.witness.kind == "product"
    assert [name for name, _ in found.witness.parts] == ["a", "b", "dish"]


def test_an_attribute_without_any_prior_beside_another():
    priors, costs = {"t": nw.Normal(0, 1), "u": nw.Unknown()}, {"t": nw.Cost(0.5), "u": nw.Cost(0, 0.4)}
    found = nw.guess(priors, "t within 1 or u exactly", costs=costs)
    number = nw.guess(priors["t"], nw.Within(1), slope=0.5)
    shares = np.linspace(0, 1, 201)
    after = shares * np.exp(0.4) / (1 - shares + shares * np.exp(0.4))
    victims = [nw.guess(priors["t"], nw.Within(1), slope=0.5, victim=float(x)) for x in np.linspace(-4, 4, 41)]
    most = max(((1 - v.before) * (1 - shares) - (1 - v.after) * (1 - after)).max() for v in victims)
    assert most <= found.gain <= most * 1.01
    assert found.gain >= number.gain


THREE = ["a within 1 and b within 1 and c within 1", "a within 1 or b within 1 or c within 1",
         "a within 1 and (b within 1 or not c within 1)"]  # fmt: skip
PRIORS = {"a": nw.Normal(0, 1), "b": nw.Uniform(0, 10), "c": nw.Histogram([0, 2, 5, 9], [0.2, 0.5, 0.3])}
COSTS = {"a": nw.Cost(0.7), "b": nw.Cost(0.4, 0.2), "c": nw.Cost(1.1)}


@pytest.mark.parametrize("goal", THREE)
def test_three_continuous_attributes_to_a_thousandth(goal):
    worst = nw.guess(PRIORS, goal, costs=COSTS)
    rng = np.random.default_rng(4)
    for _ in range(60):
        victim = {"a": rng.uniform(-4, 4), "b": rng.uniform(0, 10), "c": rng.uniform(0, 9)}
        assert nw.guess(PRIORS, goal, costs=COSTS, victim=victim).gain <= worst.gain + 1e-12
    own = nw.guess(PRIORS, goal, costs=COSTS, victim=worst.victim)
    assert worst.gain * (1 - 1e-3) <= own.gain <= worst.gain + 1e-12


@pytest.mark.parametrize(
    "goal", ["a within 1 or b within 1", "not a within 1 and b within 1", "a within 1 or not b within 1"]
)
def test_a_guess_that_is_right_about_nobody_counts_beside_another_attribute(goal):
    """Nobody is gained there; but where `or` leaves all to the other attribute, its victim gains more."""
    priors = {"a": nw.Atoms({0: 0.5, 8: 0.5}), "b": nw.Normal(0, 1)}
    costs = {"a": nw.Cost(0.0, 0.1), "b": nw.Cost(1.0)}
    worst = nw.guess(priors, goal, costs=costs)
    for a, b in itertools.product((0.0, 0.5, 4.0, 8.0), np.linspace(-3, 3, 13)):
        assert nw.guess(priors, goal, costs=costs, victim={"a": a, "b": float(b)}).gain <= worst.gain + 1e-12
