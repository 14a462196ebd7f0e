"""A lognormal prior as a line: odds between what is attained and what cells say, and cells only where they are needed."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.guess.density.test_halves import exact

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.density.line import line
from nowiser.guess.density.lognormal_line import LogLine

CUT = nw.Truncated(nw.LogNormal(0.0, 0.4), 0.4, 3.0)


@pytest.mark.parametrize(("prior", "k"), [(nw.LogNormal(0.0, 0.4), 3.0), (CUT, 0.01), (CUT, 3.0), (CUT, -3.0)])
def test_odds_are_next_to_what_a_peak_attains_and_on_the_safe_side(prior, k):
    """At any t a peak (a valley) there has odds between the two rows."""
    row = LogLine(prior)
    l, u = np.array([0.6, 1.9]), np.array([1.4, 2.2])
    odds, t = row.tight(k, l, u)
    for i in range(2):
        with mp.workdps(20):
            (a, _), (left, right), (_, b) = (exact(row.shape, k, float(y)) for y in (l[i], t[i], u[i]))
            rows = left * mp.exp(k * (t[i] - l[i])) / a - 1, right * mp.exp(k * (u[i] - t[i])) / b - 1
        assert float(max(rows) / min(rows)) == pytest.approx(1, rel=1e-10)
        assert odds[i] >= min(rows) if k > 0 else odds[i] <= max(rows)
        assert odds[i] == pytest.approx(float(rows[0]), rel=1e-10)


@pytest.mark.parametrize(
    "prior", [nw.LogNormal(3, 0.4), nw.LogNormal(3, 1.2), nw.Truncated(nw.LogNormal(3, 0.4), 5, 60)]
)
@pytest.mark.parametrize("slope", [0.01, 1.0, 6.0])
def test_cells_say_the_same_less_sharply(prior, slope):
    row, k = LogLine(prior), slope / 2
    x = np.linspace(max(row.low, 0.1), 58, 97)
    quick, cells = row.odds(k, x - 2, x + 2), row.cells.odds(k, x - 2, x + 2)
    assert (quick <= cells * (1 + 1e-11)).all()
    assert (cells <= quick * (1 + 3e-3) + 1e-5).all()
    assert row.mass(x - 2, x + 2) == pytest.approx(row.cells.mass(x - 2, x + 2), rel=1e-9, abs=1e-14)
    if row.high < math.inf:
        low = row.odds(-k, x - 2, x + 2)
        assert (low >= row.cells.odds(-k, x - 2, x + 2) * (1 - 1e-11)).all()
        assert (low <= row.mass(x - 2, x + 2) / (1 - row.mass(x - 2, x + 2)) * (1 + 1e-9)).all()


@pytest.mark.parametrize("l", [0.1, 0.25, 0.29])
def test_goals_that_begin_far_below_the_people(l):
    """Twelve to fifteen standard deviations below them, and farther: never below what a peak attains."""
    row, k, u = LogLine(nw.LogNormal(0.0, 0.1)), 20.0, 0.9
    odds = row.odds(k, np.array([l]), np.array([u]))[0]
    with mp.workdps(20):
        _, right = exact(row.shape, k, l)
        _, beyond = exact(row.shape, k, u)
        attained = float(right * mp.exp(k * (u - l)) / beyond - 1)  # a peak at l: hardly anybody lives below
    assert attained <= odds <= attained * (1 + 1e-10)


def test_goals_that_all_but_touch_an_end_are_as_sharp_as_those_that_do():
    row = LogLine(nw.Truncated(nw.LogNormal(0, 1), 0.1, 50))
    for l, u, inner in ((48.0, 50.0, 50 * (1 - 1e-15)), (0.1, 2.1, 0.1 * (1 + 1e-15))):
        touching = row.odds(1.0, np.array([l]), np.array([u]))
        beside = row.odds(1.0, *(np.array([v]) for v in ((l, inner) if u == 50 else (inner, u))))
        assert beside == pytest.approx(touching, rel=1e-12)


def test_some_output_makes_any_goal_of_a_whole_prior_as_unlikely_as_you_please():
    assert LogLine(nw.LogNormal(0, 1)).odds(-1e-3, np.array([0.5]), np.array([2.0])) == 0
    assert nw.guess(nw.LogNormal(3, 0.4), nw.Within(2), slope=1, victim=20).smallest == 0
    assert nw.guess(nw.Truncated(nw.LogNormal(3, 0.4), 0, 100), nw.Within(2), slope=1, victim=20).smallest > 1e-14


@pytest.mark.parametrize("prior", [nw.LogNormal(3.01, 0.4), nw.Truncated(nw.LogNormal(3.01, 0.4), 0, 100)])
def test_pieces_are_only_made_where_they_are_needed(prior):
    nw.guess(prior, nw.Within(2), slope=1)
    nw.guess(prior, nw.Within(2), slope=0.1, jump=1, victim=18)
    nw.largest(prior, nw.Within(2), gain=0.05)
    assert not {"cells", "pieces"} & vars(line(prior)).keys()
    nw.guess(prior, nw.Not(nw.Within(2)), slope=1)
    assert "pieces" in vars(line(prior))


def test_goals_out_of_reach_are_left_to_pieces():
    row, k = LogLine(nw.LogNormal(0, 1)), 1e3
    l, u = np.array([1.0, 800.0]), np.array([1.1, 801.0])
    odds = row.odds(k, l, u)  # almost a million nats
    assert (odds == row.pieces.tight(k, l, u)[0]).all()
    assert row.halves(k, 801.0) is None
    assert row.halves(k, 1.1) is not None  # what was refused up to there will do up to here
    nearer = row.tight(k, l[:1], u[:1])[0]
    assert nearer[0] <= odds[0]
    low = LogLine(nw.Truncated(nw.LogNormal(0, 0.4), 1e-9, 3))
    goal = np.array([1e-3, 0.5]), np.array([0.6, 0.9])  # one begins fifteen standard deviations down
    assert low.odds(-1.0, *goal)[0] == low.pieces.odds(-1.0, *goal)[0]
    assert low.odds(-1.0, *goal)[1] >= low.pieces.odds(-1.0, *goal)[1]


def test_nobody_is_there():
    with pytest.raises(Misconfigured, match="nothing of LogNormal"):
        line(nw.Truncated(nw.LogNormal(0, 0.1), 50, 60))


@pytest.mark.parametrize(
    ("prior", "least", "most"),
    [
        (nw.LogNormal(0, 3), 1 - np.exp(-1), 1 - np.exp(-1) + 1e-5),  # far out the density is flat
        (nw.LogNormal(-200, 50), 1 - np.exp(-1), 1.0),
        (nw.LogNormal(0, 1e-6), 0.0, 4e-6),  # all are within millionths of each other, so that little is told
    ],
)
def test_extremes_are_right(prior, least, most):
    assert least <= nw.guess(prior, nw.Within(1.0), slope=1.0).gain <= most


def test_extremes_are_refused():
    with pytest.raises(Misconfigured, match="told apart"):  # doubles are farther apart than that where the people are
        nw.guess(nw.LogNormal(200, 50), nw.Within(1.0), slope=1.0)
