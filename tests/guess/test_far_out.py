"""Guesses beside all that is likely, and priors that reach farther than anything that is asked."""

import math

import pytest

import nowiser as nw

WIDE = [
    (nw.LogNormal(0, 0.2), 3, 60, 5.0),
    (nw.Frozen("norm"), 6, 30, 8.0),
    (nw.Frozen("gamma", 2), 30, 100, 60.0),
    (nw.Mixture([(0.5, nw.LogNormal(0, 0.2)), (0.5, nw.Normal(1, 0.1))]), 3, 60, 5.0),
]


@pytest.mark.parametrize(("prior", "radius", "slope", "victim"), WIDE, ids=[type(w[0]).__name__ for w in WIDE])
@pytest.mark.parametrize("more", [None, nw.In.between(0, 0.1)], ids=["within", "gaps"])
def test_a_wide_goal_may_be_guessed_from_beside_everybody(prior, radius, slope, victim, more):
    goal = nw.Within(radius) if more is None else nw.Within(radius) | more
    named = nw.guess(prior, goal, slope=slope, victim=victim).gain
    assert named > 0.9
    assert nw.guess(prior, goal, slope=slope).gain >= named - 1e-12


def test_so_it_may_on_a_plane():
    prior = {"x": nw.Frozen("norm"), "y": nw.Uniform(0, 1)}
    named = nw.guess(prior, "(x, y) within 6", slope=40, victim={"x": 10, "y": 0}).gain
    assert named > 0.99
    assert nw.guess(prior, "(x, y) within 6", slope=40).gain >= named - 1e-12


@pytest.mark.parametrize(
    ("goal", "cost"),
    [
        ("not (x, y) within 0.483 and x in [0.136, 5.478]", {"jump": 0.5}),
        ("x within 1 and y within .3 or x in [0,1] and not y within .5", {"costs": {"y": nw.Cost(0.5)}}),
        ("(x, y) within 0.2 and (x, y) within 0.25", {"slope": 0.5}),
    ],
)
def test_a_tail_of_many_orders_of_magnitude_takes_few_cells(goal, cost):
    """Cells grow with the distance; counted evenly they were more than any memory holds."""
    prior = {"x": nw.Frozen("t", 1.0, loc=0.861, scale=1.964), "y": nw.Histogram([0.55, 1.42, 2.6], [0.5, 0.5])}
    found = nw.guess(prior, goal, victim={"x": 1.0, "y": 1.0}, **cost)
    assert 0 < found.before < found.after < 1


def test_costs_of_attributes_that_nobody_asks_about():
    three, costs = {n: nw.Normal(0, 1) for n in "xyz"}, {n: nw.Cost(1.0) for n in "xyz"}
    allowed = nw.largest(three, "(x, y) within 1", gain=0.1, along=costs)
    assert allowed["x"] == allowed["z"]
    assert nw.guess(three, "(x, y) within 1", costs=allowed).gain <= 0.1
    joint = nw.MultivariateNormal(("x", "y", "z"), [0, 0, 0], [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    named = nw.guess(joint, "(x, y) within 1", slope=1.0, victim={"x": 0, "y": 0})
    assert named.before < named.after < 1
    with_nothing = nw.guess(joint, "x within 1 and y within 1", costs={**costs, "z": nw.Cost()}, victim=(0, 0, 0))
    assert math.isclose(
        with_nothing.after,
        nw.guess(joint, "x within 1 and y within 1", costs={n: costs[n] for n in "xy"}, victim=(0, 0, 0)).after,
    )


def test_what_no_solver_ends_with_is_bounded_without_one():
    prior = {"x": nw.Mixture([(0.5, nw.Normal(0, 1)), (0.5, nw.Uniform(0, 4))]), "y": nw.Atoms({0: 0.5, 1: 0.5})}
    costs = {"x": nw.Cost(0.5), "y": nw.Cost(0.5)}
    goal = "x within 1 and y within .5 or x in [0,1] and not y exactly"
    found = nw.guess(prior, goal, costs=costs, victim={"x": 0, "y": 0})
    assert found.before < found.after < 0.7
