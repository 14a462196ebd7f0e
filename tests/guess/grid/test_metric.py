"""Cells of a number beside labels: the programme is no lower than the number alone, and labels pay their own jump."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.grid.graded import _growing, fitted
from nowiser.guess.grid.metric import cut_off
from nowiser.guess.grid.space import space_of

LABELS = nw.Categories({"a": 0.5, "b": 0.3, "c": 0.2})

# ln density is convex: mass leans outward in each cell, so that the averages of neighbours are farther apart than cells
LEANING = {
    "beta": nw.Frozen("beta", 0.3, 0.3, scale=10),
    "lognormal": nw.LogNormal(0, 1.0),
    "two normals": nw.Mixture([(0.5, nw.Normal(0, 1)), (0.5, nw.Normal(8, 1))]),
    "histogram": nw.Histogram([0, 0.3, 1, 4, 9, 9.9, 10], [0.35, 0.05, 0.1, 0.1, 0.05, 0.35]),
}


@pytest.mark.parametrize("prior", LEANING.values(), ids=LEANING)
@pytest.mark.parametrize("slope", [0.2, 1.0])
def test_a_density_that_leans_beside_labels(prior, slope):
    """Goals that end where coarse cells do: no slack of cells that are cut off hides what is lost inside them."""
    priors = {"x": prior, "y": nw.Uniform(0, 1), "z": LABELS}
    borders = space_of(priors, ("x", "y", "z"), {}, 600).axes[0].borders
    for i, j in ((3, 6), (5, 14)):
        low, high = float(borders[i]), float(borders[j])
        band = f"x in [{low!r}, {high!r}] and y in [0, 1]"
        goal = f"({band} and z in {{a, b}}) or ({band} and z in {{c}})"
        found = nw.guess(priors, goal, costs={"x": nw.Cost(slope)}, victim={"x": low, "y": 0.5, "z": "a"})
        alone = nw.guess(prior, nw.In.between(low, high), slope=slope)
        assert found.before <= alone.before + 1e-15
        assert found.after >= alone.after


@pytest.mark.parametrize(
    ("prior", "off"),
    [(nw.Uniform(0, 8), 1e-4), (nw.Normal(4, 2), 1e-3), (nw.Frozen("t", 2, loc=4), 5e-3), (LEANING["histogram"], 1e-3)],
    ids=["uniform", "normal", "t", "histogram"],
)
def test_labels_pay_their_own_jump(prior, off):
    """What is said of every label says nothing about the label: its jump is worth nothing, that of the number is."""
    goal = "(x within 1 and y in {a}) or (x within 1 and y in {b, c})"
    costs = {"x": nw.Cost(0.5, 0.25), "y": nw.Cost(0, 2)}
    found = nw.guess({"x": prior, "y": LABELS}, goal, costs=costs, victim={"x": 3.3, "y": "a"})
    alone = nw.guess(prior, nw.Within(1), slope=0.5, jump=0.25, victim=3.3)
    assert alone.after <= found.after <= alone.after + off
    assert alone.before - off <= found.before <= alone.before + 1e-15


def test_a_label_and_a_number_against_their_own_rules():
    """A label that is guessed together with a band: the product rule, which does not know about cells."""
    priors, costs = {"x": nw.Normal(4, 2), "y": LABELS}, {"x": nw.Cost(0.7), "y": nw.Cost(0, 0.7)}
    victim = {"x": 4, "y": "b"}
    exact = nw.guess(priors, "x within 1 and y exactly", costs=costs, victim=victim)
    twice = "(x within 1 and y exactly) or (x within 1 and x in [-9, 9] and y exactly)"
    found = nw.guess(priors, twice, costs=costs, victim=victim)
    assert exact.after <= found.after <= exact.after + 1e-3


def test_shares_of_steep_cells_are_numbers():
    """A cell that is whole, or hardly there, and so steep that e^span is no double."""
    share, span = np.array([1.0, 1.0, 1e-5, 0.5]), np.array([0.1, 1e4, 1e4, 2.0])
    with np.errstate(over="raise", invalid="raise"):
        above, below = cut_off(share, span)
    assert above == pytest.approx([0, 0, -np.log(1e-5), -np.log(0.5 + 0.5 * np.exp(-2))])
    assert below == pytest.approx([0, 0, 1e4, np.log(0.5 + 0.5 * np.exp(2))], abs=1e-4)


def test_borders_are_moved_to_where_a_goal_ends():
    found = fitted(np.linspace(0, 10, 11), np.array([0, 2.6, 2.7, 7.0, 10]))
    assert set(found) >= {0, 2.6, 2.7, 7.0, 10}
    assert np.diff(found).min() > 0.09
    assert np.allclose(np.diff(found[found >= 2.7])[:4], 4.3 / 4)
    steps = _growing(1e6, 0.1, 100)
    assert steps.size >= 99
    assert np.allclose(np.diff(np.diff(np.log(steps[50:]))), 0, atol=1e-3)
    assert _growing(0.25, 0.1, 100).tolist() == pytest.approx([0.1, 0.2])
