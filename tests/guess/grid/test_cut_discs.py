"""Discs that are denied or joined, on maps of points and on continuous ones: shares enclose, and no attack is better."""

import re

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.grid.programme import Programme, solve
from nowiser.guess.grid.space import space_of
from nowiser.guess.grid.truth import truth as told
from nowiser.model.goal import parse_goal

GOALS = {
    "not (x, y) within 2": lambda near, x, y: ~near(2),
    "(x, y) within 2 and x in [3, 6]": lambda near, x, y: near(2) & (x >= 3) & (x <= 6),
    "(x, y) within 2 or y in [4, 5]": lambda near, x, y: near(2) | ((y >= 4) & (y <= 5)),
    "(x, y) within 2 and not (x, y) within 1": lambda near, x, y: near(2) & ~near(1),
    "not (x, y) within 2 or (x, y) within 1.8": lambda near, x, y: ~near(2) | near(1.8),
    "x in [3, 6] and not ((x, y) within 2 or y in [4, 5])": lambda near, x, y: (
        (x >= 3) & (x <= 6) & ~(near(2) | ((y >= 4) & (y <= 5)))
    ),
}
VICTIM = {"x": 4.0, "y": 3.1}


def truth(goal, x, y):
    return GOALS[goal](lambda r: np.hypot(x - VICTIM["x"], y - VICTIM["y"]) <= r, x, y)


@pytest.mark.parametrize("goal", GOALS)
def test_shares_enclose_what_is_inside(goal):
    priors = {"x": nw.Uniform(0, 8), "y": nw.Histogram([0, 2, 7], [0.3, 0.7])}
    ends = {"x": np.array([3.0, 6.0]), "y": np.array([4.0, 5.0])}
    space = space_of(priors, ("x", "y"), ends, 200)
    found = told(space, parse_goal(goal), VICTIM)
    part = (np.arange(30) + 0.5) / 30
    x, y = (b[:-1, None] + np.diff(b)[:, None] * part for b in space.borders)
    inside = truth(goal, x[:, None, :, None], y[None, :, None, :]).mean(axis=(2, 3))
    assert (found.least_area <= inside + 0.03).all()
    assert (found.most_area >= inside - 0.03).all()
    assert (found.least <= found.most + 1e-12).all()
    for least, most in ((found.least, found.most), (found.least_area, found.most_area)):
        cut = (least < most - 1e-6).mean()
        assert cut == 0 or (goal.count("within") > 1 and cut < 0.15)  # only where two discs cut one cell


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("euclid", [True, False])
def test_points_agree_with_the_programme_over_all_pairs(goal, euclid):
    rng = np.random.default_rng(5)
    places = np.unique(rng.integers(0, 8, (14, 2)), axis=0).astype(float)
    masses = rng.dirichlet(np.ones(len(places)))
    prior = nw.JointAtoms(["x", "y"], {tuple(map(float, p)): float(m) for p, m in zip(places, masses, strict=True)})
    radius = min(float(r) for r in re.findall(r"within ([\d.]+)", goal))
    if euclid:
        found = nw.guess(prior, goal, slope=0.8, jump=0.2, victim=VICTIM)
    else:
        found = nw.guess(prior, goal, costs={"x": nw.Cost(0.8, 0.2), "y": nw.Cost(0.4)}, victim=VICTIM)
    apart = np.abs(places[:, None] - places[None])
    cost = 0.8 / radius * np.hypot(*apart.transpose(2, 0, 1)) + 0.2
    if not euclid:
        cost = (0.8 * apart[..., 0] + 0.4 * apart[..., 1]) / radius + 0.2 * (apart[..., 0] > 0)
    p, q = np.nonzero(~np.eye(len(places), dtype=bool))
    inside = truth(goal, *places.T)
    full = solve(Programme(masses / masses.sum(), (p, q, cost[p, q])), inside)
    assert found.before == pytest.approx(float(masses[inside].sum()), abs=1e-9)
    assert found.after == pytest.approx(full.ceiling, abs=1e-6)


LEANING, POINTS = nw.LogNormal(1, 0.4), nw.Atoms({1: 0.2, 3: 0.5, 4.5: 0.3})


@pytest.mark.parametrize(
    ("goal", "y"), [*((goal, y) for goal in GOALS for y in (LEANING, POINTS)), (next(iter(GOALS)), nw.Uniform(0, 8))]
)
def test_planar_noise_tells_no_more(goal, y):
    """Laplace noise on the plane, for answers all over it: a peak where it falls, a valley where it rises."""
    from nowiser.guess.density import law

    x = nw.Normal(4, 2)
    radius = min(float(r) for r in re.findall(r"within ([\d.]+)", goal))
    found = nw.guess({"x": x, "y": y}, goal, slope=1.0, victim=VICTIM)
    edges = np.linspace(-4, 12, 241)
    xs, wx = (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(x, edges))
    if isinstance(y, nw.Atoms):
        ys, wy = y.values, y.masses
    else:
        edges = np.linspace(0, 12, 181)
        ys, wy = (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(y, edges))
    grid, weight = np.meshgrid(xs, ys, indexing="ij"), np.multiply.outer(wx, wy)
    inside = truth(goal, *grid)
    assert found.before <= weight[inside].sum() + 5e-3
    for peak in [(4.0, 3.1), (4.7, 3.1), (5.5, 2.5), (4.0, 4.6), (3.0, 5.0), (1.0, 1.0)]:
        away = np.hypot(grid[0] - peak[0], grid[1] - peak[1])
        for rate in (-1 / radius, 1 / radius):
            told = weight * np.exp(np.minimum(rate * away, 8.0))
            assert told[inside].sum() / told.sum() <= found.after + 5e-3
