"""Tables of what costs tell: never below the calculus, hardly above it, the same for all threads and after reading."""

import json
import math
import random
import threading
from fractions import Fraction

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.budget.frontier import _frontier
from nowiser.guess.budget.tables import CURVED, ROWS, Part, _chord
from nowiser.guess.ceiling import gain_of
from nowiser.guess.figures import lifted
from nowiser.guess.number.search import Aims, Near, fewer
from nowiser.guess.number.victims import victims_of
from nowiser.model.cost import Cost

LOST = 0.015  # of the promised gain, on one attribute
SHARP = 2e-4  # of a gain: how near searches for the worst victim come to the truth

PRIORS = [
    nw.Uniform(0, 60),
    nw.Truncated(nw.Normal(20, 5), 0, 60),
    nw.LogNormal(3, 0.6),
    nw.Uniform(0, 2000),
    nw.Histogram([0, 10, 20, 25, 40, 60], [0.1, 0.2, 0.3, 0.3, 0.1]),
    nw.Atoms({10: 0.5, 11: 0.2, 20: 0.2, 25: 0.1}),
    nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, nw.Normal(10, 3))]),
]
GOALS = ["t within 2", "t in [10, 20]", "not t within 30"]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("gain", ["0.01", "0.2"])
def test_a_table_is_never_below_the_calculus_and_hardly_above(prior, gain):
    chance = random.Random(f"{prior} {gain}")
    goal = nw.parse_goal(chance.choice(GOALS) if not isinstance(prior, nw.LogNormal) else GOALS[0])
    part = Part(prior, goal, "t", Fraction(gain))
    for _ in range(5):
        slope = part.steepest * chance.random() ** 2 * chance.randrange(2)
        jump = 4 * math.atanh(float(gain)) * chance.random() * chance.randrange(2)
        before, after = gain_of(prior, goal, Cost(slope, jump))
        found = part.bounds(slope, jump)[1]
        assert found >= (after - before) * (1 - SHARP) - 1e-8
        assert found <= after - before + float(gain) * LOST or found > float(gain) * (1 + LOST)


def test_slopes_beyond_the_last_row_are_not_in_the_table():
    part = Part(nw.Uniform(0, 60), nw.parse_goal("t within 2"), "t", Fraction(1, 20))
    assert part.bounds(part.steepest, 0.0)[1] <= part.limit
    assert part.bounds(math.nextafter(part.steepest, 1), 0.0) is None
    assert part.row(part.steepest) == part.rows < ROWS


@pytest.mark.parametrize(("slope", "jump"), [(0.0, 30.5), (70.0, 42.0), (200.0, 59.0)])
def test_jumps_that_tell_everything_need_no_search(slope, jump):
    """No promise about it ends, so that searches for the largest multiple come by here; a search took a second."""
    prior, goal = nw.Uniform(0, 60), nw.parse_goal("not t within 3")
    part = Part(prior, goal, "t", Fraction(16, 100), (1.0, 0.0, 0.75), known={"steepest": 512.0})
    assert part.bounds(slope, jump)[1:] == pytest.approx((1 - part.ends[0], 1.0, 1 - 0.75 * part.ends[0]), rel=1e-12)
    assert part.rows_made == {}
    before, after = gain_of(prior, goal, Cost(slope, jump), 30.0)  # as bad as for anybody
    assert after - before <= part.bounds(slope, jump)[1] <= after - before + 1e-5


def test_rows_are_never_below_a_slope():
    part = Part(nw.LogNormal(3, 0.6), nw.parse_goal("t within 2"), "t", Fraction(1, 20), known={"steepest": 0.0571})
    for share in np.random.default_rng(1).random(2000):
        slope = 0.0571 * float(share)
        row = part.row(slope)
        assert part.slope(row - 1) < slope <= part.slope(row)


def test_the_curvature_of_a_posterior():
    """E[(1_g − P)·(f − E f)²] ≥ −T²/(6√3) for all weights and all f between 0 and T = 1; two values come near."""
    chance = np.random.default_rng(7)
    lowest = 0.0
    for _ in range(4000):
        n = int(chance.integers(2, 6))
        weight, f = chance.dirichlet(np.full(n, 0.5)), chance.choice([0.0, 1.0, 0.5, 0.25], n) * chance.random()
        inside = chance.integers(0, 2, n)
        mean = weight @ f
        lowest = min(lowest, float(weight @ ((inside - weight @ inside) * (f - mean) ** 2)))
    assert lowest >= -2 * CURVED
    high = (1 + math.sqrt(1 / 3)) / 2  # f = 1 inside, 0 outside
    assert high * (1 - high) * (2 * high - 1) == pytest.approx(2 * CURVED, rel=1e-9)


def test_a_chord_ends_in_its_entries_and_never_falls():
    low, high = (0.2, 0.01, 0.3), (0.3, 0.012, 0.31)
    many = [_chord(low, high, x, 1 - x) for x in np.linspace(0, 1, 101)]
    assert many[0][1:] == pytest.approx(low[1:], abs=1e-12)
    assert many[-1][1:] == high[1:]
    assert all((np.diff([cell[i] for cell in many]) >= -1e-15).all() for i in (1, 2))


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_points_bound_everybody_beside_every_jump_and_weight(prior):
    """Victims are named one by one, in closed form or by their own goals; points hold for aims that were not named."""
    chance = random.Random(f"points {prior}")
    goal = nw.parse_goal(chance.choice(["t within 2", "not t within 5", "t within 2 or t in [15, 25]"]))
    slope, aims = chance.choice([0.05, 0.4, 1.5]), Aims(((1.0, 1.0), (1.0, 0.5)), (0.0, 0.3, 2.0))
    everybody = victims_of(prior, goal, Cost(slope, 0.0), "t")
    before, odds = fewer(everybody.points(aims, Near(1e-3, 1e-4)), aims, Near(1e-3, 1e-4))
    low, high = everybody.pieces.likely
    inner = [low + (high - low) * chance.random() for _ in range(25)]
    people = [*everybody.pieces.values.tolist(), *(x for x in inner if everybody.pieces.dense)]
    for jump, weight in ((0.0, 1.0), (0.7, 0.5), (2.0, 3.0)):
        figures = [everybody.beside(jump).at(x) for x in people]
        most = max(f.after - weight * f.before for f in figures)
        assert float((np.maximum(lifted(odds, jump), before) - weight * before).max()) >= most - 1e-9


SEVERAL = {
    "a": nw.Histogram([0, 10, 20, 25, 40, 60], [0.1, 0.2, 0.3, 0.3, 0.1]),
    "b": nw.Uniform(0, 60),
    "c": nw.Categories({"x": 0.5, "y": 0.3, "z": 0.2}),
}


@pytest.mark.parametrize(
    "text",
    [
        "a within 2 and b within 3",
        "a within 2 or c exactly",
        "not a within 2 or c exactly",
        "a within 2 and (b within 5 or not c exactly)",
    ],
)
def test_several_attributes_are_never_below_the_calculus(text):
    chance, goal = random.Random(text), nw.parse_goal(text)
    table = _frontier(goal, Fraction(1, 20), tuple((name, SEVERAL[name]) for name in goal.attributes))
    for _ in range(3):
        point = tuple((p.steepest * chance.random() * 0.4, 0.1 * chance.random()) for p in table.parts)
        costs = {p.name: Cost(*at) for p, at in zip(table.parts, point, strict=True)}
        before, after = gain_of(SEVERAL, goal, costs)
        found = table.bound(point)[1]
        assert (after - before) * (1 - SHARP) - 1e-8 <= found <= after - before + 0.1 * 0.05


def test_what_is_known_for_certain_is_a_corner():
    table = _frontier(
        nw.parse_goal("a within 2 and c exactly"), Fraction(1, 20), (("a", SEVERAL["a"]), ("c", SEVERAL["c"]))
    )
    _, gain = table.bound(((1e6, 0.0), (0.0, 0.0)))
    assert gain >= 0.5 - 0.5 * 0.012, "then only c is left to guess"


def test_a_table_that_was_read_says_the_same():
    goal, fresh = nw.parse_goal("t within 2"), Part(PRIORS[0], nw.parse_goal("t within 2"), "t", Fraction(1, 20))
    fresh.fill()
    again = Part(PRIORS[0], goal, "t", Fraction(1, 20))
    again.learn(json.loads(json.dumps(fresh.to_json())))
    assert again.rows_made.keys() == fresh.rows_made.keys() == set(range(fresh.rows + 1))
    for slope, jump in ((0.01, 0.02), (0.04, 0.0), (0.0, 0.1)):
        assert again.bounds(slope, jump) == fresh.bounds(slope, jump)
    assert len(again.rows_made) == fresh.rows + 1
    with pytest.raises(ValueError, match="another table"):
        again.learn({"known": again.known, "rows": [[0, [], []]]})


def test_eight_threads_find_the_same():
    part = Part(nw.Uniform(0, 60), nw.parse_goal("t within 2.5"), "t", Fraction(1, 20))
    points = [(part.steepest * i / 40, 0.005 * (i % 7)) for i in range(40)]
    found: list[list[float]] = []

    def look(start: int) -> None:
        order = points[start:] + points[:start]
        by = {at: part.bounds(*at)[1] for at in order}
        found.append([by[at] for at in points])

    threads = [threading.Thread(target=look, args=(5 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=SHARP)
