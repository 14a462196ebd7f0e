"""A disc on a map: shares of cells from below and above, so that the programme stays above the truth."""

import math

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.grid.disc import disc
from nowiser.guess.grid.space import space_of
from nowiser.model.goal import On


def grid(n=8):
    edges = np.linspace(0, 8, n + 1)
    return nw.JointHistogram(["x", "y"], [edges, edges], np.full((n, n), 1 / n**2))


def test_shares_enclose_the_area_of_the_disc():
    space = space_of(grid(), ("x", "y"), {}, 600)
    found = disc(space, On(("x", "y"), nw.Within(2.5)), {"x": 4.0, "y": 4.1})
    least, most = found.least, found.most
    area = math.pi * 2.5**2 / 64
    assert (least <= most).all()
    assert float((least * space.masses).sum()) <= area <= float((most * space.masses).sum())
    assert float(((most - least) * space.masses).sum()) < 1e-9


def test_a_disc_that_reaches_beyond_the_map():
    space = space_of(grid(), ("x", "y"), {}, 600)
    found = disc(space, On(("x", "y"), nw.Within(3.0)), {"x": 0.0, "y": 0.0})
    assert float((found.least * space.masses).sum()) == pytest.approx(math.pi * 9 / 4 / 64, abs=1e-9)


def test_shares_of_a_normal_enclose_its_mass():
    prior = nw.MultivariateNormal(["x", "y"], [0, 0], [[1, 0.5], [0.5, 2]])
    space = space_of(prior, ("x", "y"), {}, 600)
    found = disc(space, On(("x", "y"), nw.Within(1.0)), {"x": 0.3, "y": -0.2})
    least, most = found.least, found.most
    rng = np.random.default_rng(5)
    drawn = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 2]], 400_000)
    share = float((((drawn - [0.3, -0.2]) ** 2).sum(1) <= 1).mean())
    error = 5 * math.sqrt(share / 400_000)
    assert float((least * space.masses).sum()) <= share + error
    assert float((most * space.masses).sum()) >= share - error


def test_the_ceiling_stays_above_a_planar_laplace_attack_on_a_continuous_map():
    rate, radius, at = 0.7, 2.0, (4.0, 4.0)
    found = nw.guess(grid(), nw.Within(radius), slope=rate * radius, victim=at)
    fine = (np.arange(800) + 0.5) / 100
    distance = np.hypot(fine[:, None] - at[0], fine - at[1])
    weight = np.exp(-rate * distance)
    attack = weight[distance <= radius].sum() / weight.sum()
    assert found.after >= attack
    assert found.after <= attack + 0.03  # a planar Laplace is nearly the worst
    assert found.before == pytest.approx(math.pi * radius**2 / 64, abs=1e-9)
    assert found.smallest <= found.before
    assert not found.tight


def test_what_is_not_possible_says_so():
    with pytest.raises(Misconfigured, match="possible value of y"):
        nw.guess(grid(), nw.Within(2.0), slope=1.0, victim=(1.0, 99.0))
