"""Goals that fall into classes of independent attributes: joined by the product rules."""

import itertools

import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.formula import merged
from nowiser.model.goal import parse_goal

PRIOR = {
    "x": nw.Atoms({0.0: 0.3, 1.0: 0.5, 3.0: 0.2}),
    "y": nw.Atoms({0.0: 0.6, 2.0: 0.4}),
    "dish": nw.Categories({"a": 0.3, "b": 0.7}),
}
COSTS = {"x": nw.Cost(0.4, 0.1), "y": nw.Cost(0.3), "dish": nw.Cost(0, 0.5)}


def grid():
    shares = {
        (x, y, d): PRIOR["x"].masses[i] * PRIOR["y"].masses[j] * p
        for (i, x), (j, y), (d, p) in itertools.product(
            enumerate(PRIOR["x"].values), enumerate(PRIOR["y"].values), (("a", 0.3), ("b", 0.7))
        )
    }
    return nw.JointAtoms(("x", "y", "dish"), shares)


@pytest.mark.parametrize("text", ["x within 1 and not x within 0.5 and dish exactly", "x within 1 or not dish exactly"])
def test_classes_agree_with_the_programme_over_all_records(text):
    victim = {"x": 1.0, "y": 0.0, "dish": "a"}
    one = nw.guess(PRIOR, text, costs=COSTS, victim=victim)
    other = nw.guess(grid(), text, costs=COSTS, victim=victim)
    assert one.before == pytest.approx(other.before, abs=1e-9)
    assert one.after == pytest.approx(other.after, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("(x, y) within 1 and dish exactly", lambda a, b: a * b),
        ("(x, y) within 1 or dish exactly", lambda a, b: 1 - (1 - a) * (1 - b)),
    ],
)
def test_a_disc_beside_another_attribute(text, joined):
    prior = {"x": nw.Uniform(0, 8), "y": nw.Uniform(0, 8), "dish": PRIOR["dish"]}
    victim = {"x": 3.0, "y": 4.0, "dish": "a"}
    costs = {"x": nw.Cost(0.4), "y": nw.Cost(0.4), "dish": nw.Cost(0, 0.5)}
    whole = nw.guess(prior, text, costs=costs, victim=victim)
    place = {n: prior[n] for n in "xy"}
    disc = nw.guess(place, "(x, y) within 1", costs={n: costs[n] for n in "xy"}, victim={"x": 3.0, "y": 4.0})
    dish = nw.guess(PRIOR["dish"], nw.Exactly(), jump=0.5, victim="a")
    for figure in ("before", "after", "smallest"):
        assert getattr(whole, figure) == pytest.approx(joined(getattr(disc, figure), getattr(dish, figure)), abs=1e-9)
    record = {"x": 3.0, "y": 4.5, "dish": "a"}
    peak = whole.witness.likelihood(record)
    assert peak == pytest.approx(disc.witness.likelihood({"x": 3.0, "y": 4.5}) * dish.witness.likelihood("a"))
    denied = nw.guess(prior, f"not ({text})", costs=costs, victim=victim)
    assert denied.after == pytest.approx(1 - whole.smallest, rel=1e-2)  # bounds, each with its gap
    assert denied.before == pytest.approx(1 - whole.before, rel=1e-2)
    with pytest.raises(Misconfigured, match="y is missing"):
        nw.guess(prior, text, costs=costs, victim={"x": 3.0, "dish": "a"})


@pytest.mark.parametrize("text", ["(x, y) within 1 and dish exactly", "(x, y) within 1 or dish exactly"])
def test_nobody_gains_more_than_the_worst_of_a_disc_beside_another_attribute(text):
    whole = nw.guess(PRIOR, text, costs=COSTS)
    for x, y, dish in itertools.product(PRIOR["x"].values, PRIOR["y"].values, "ab"):
        victim = {"x": float(x), "y": float(y), "dish": dish}
        assert nw.guess(PRIOR, text, costs=COSTS, victim=victim).gain <= whole.gain + 1e-12


def test_parts_that_share_an_attribute_stay_together():
    goal = parse_goal("(x, y) within 1 and d exactly and x in [0, 2] and z within 1 and not z within 0.5")
    _, parts = merged(goal)
    assert [str(part) for part in parts] == [
        "d exactly",
        "(x, y) within 1 and x in [0, 2]",
        "z within 1 and not z within 0.5",
    ]
    _, parts = merged(parse_goal("not (x within 1 and not y within 2)"))
    assert [str(part) for part in parts] == ["not x within 1", "y within 2"]
    _, parts = merged(parse_goal("(a exactly and b exactly) or (a exactly and c exactly)"))
    assert len(parts) == 1
    _, parts = merged(parse_goal("x within 1 and within 2"), "x")
    assert len(parts) == 1
