"""Attributes that depend on each other, where one number is all that matters."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.stats import norm

import nowiser as nw
from nowiser.guess.grid.marginal import effective
from nowiser.guess.grid.metric import Question
from nowiser.guess.number.sweep import Cells, swept

BELL = nw.MultivariateNormal(["x", "y"], [0, 0], [[4, 2.4], [2.4, 4]])
TABLE = nw.JointHistogram(
    ["x", "y"], [[0, 1, 2, 4, 6], [0, 2, 3, 6]], np.array([[3, 1, 0], [2, 2, 1], [1, 4, 2], [0, 1, 3]]) / 20
)
HERE = {"x": 0.0, "y": 0.0}


def test_a_release_about_what_is_guessed_is_a_matter_of_one_number() -> None:
    for victim in (HERE, None):
        found = nw.guess(BELL, "x within 1", costs={"x": nw.Cost(1.0, 0.1)}, victim=victim)
        alone = nw.guess(nw.Normal(0, 2), nw.Within(1), slope=1.0, jump=0.1, victim=victim and victim["x"])
        assert found.tight
        assert found.after == pytest.approx(alone.after, abs=1e-9)
        assert found.before == pytest.approx(alone.before, abs=1e-9)
        assert found.smallest == pytest.approx(alone.smallest, abs=1e-9)
        assert found.witness.likelihood({"x": 0.3, "y": 9.0}) == pytest.approx(alone.witness.likelihood(0.3), rel=1e-6)


def test_a_release_about_the_other_attribute() -> None:
    """By symmetry the worst likelihood for the middle victim is a peak at y = 0: integrated by another hand."""
    found = nw.guess(BELL, "x within 1", costs={"y": nw.Cost(1.0)}, victim=HERE)

    def seen(y: float) -> float:
        return float(np.exp(-abs(y)) * norm.pdf(y, 0, 2))

    def right(y: float) -> float:
        return float(norm.cdf((1 - 0.6 * y) / 1.6) - norm.cdf((-1 - 0.6 * y) / 1.6))

    truth = (
        quad(lambda y: right(y) * seen(y), -40, 40, points=[0], epsabs=1e-12)[0]
        / quad(seen, -40, 40, points=[0], epsabs=1e-12)[0]
    )
    assert truth <= found.after <= truth + 3e-6
    assert found.before == pytest.approx(norm.cdf(0.5) - norm.cdf(-0.5), abs=1e-9)
    assert not found.tight  # nobody replays it


@pytest.mark.parametrize("goal", ["x within 1", "x within 1 and y within 1", "not (x in [0, 2] or y within 2)"])
def test_a_histogram_agrees_with_the_programme_of_its_cells(goal: str) -> None:
    victim = {"x": 2.5, "y": 2.5}
    found = nw.guess(TABLE, goal, costs={"y": nw.Cost(0.7, 0.2)}, victim=victim)
    rate = 0.7 / {"x within 1": 1.0, "x within 1 and y within 1": 1.0}.get(goal, 2.0)
    x, y = (np.linspace(0, 6, 601)[:-1] + 0.005 for _ in range(2))
    density = np.array(TABLE.masses) / np.outer([1, 1, 2, 2], [2, 1, 3])
    mass = density[np.searchsorted(TABLE.edges[0], x) - 1][:, np.searchsorted(TABLE.edges[1], y) - 1] * 1e-4
    a, b = np.abs(x - 2.5)[:, None], np.abs(y - 2.5)[None, :]
    truths = {
        "x within 1": (a <= 1) & (b < 9),
        "x within 1 and y within 1": (a <= 1) & (b <= 1),
        "not (x in [0, 2] or y within 2)": (x[:, None] > 2) & (b > 2),
    }
    hit = np.where(truths[goal], mass, 0).sum(axis=0)
    assert found.before == pytest.approx(hit.sum(), abs=1e-9)
    assert found.after == pytest.approx(programme(mass.sum(axis=0), hit, rate * 0.01, 0.2), rel=2e-3)


def programme(mass: np.ndarray, hit: np.ndarray, step: float, jump: float) -> float:
    """h on neighbouring points with slope `step`, and f between h and e^jump·h: the largest posterior."""
    n = mass.size
    up, low = np.eye(n), np.exp(step) * np.eye(n)
    slope = np.concatenate([(up[1:] - low[:-1]), (up[:-1] - low[1:])])
    rows = np.concatenate(
        [
            np.hstack([np.zeros_like(slope), slope]),
            np.hstack([up, -np.exp(jump) * up]),
            np.hstack([-up, up]),
        ]
    )
    whole = np.concatenate([mass, np.zeros(n)])
    solved = linprog(
        -np.concatenate([hit, np.zeros(n)]), rows, np.zeros(len(rows)), whole[None, :], [1.0], bounds=(0, None)
    )
    return -float(solved.fun)


@given(
    shares=st.lists(st.floats(0, 1), min_size=4, max_size=12),
    seed=st.integers(0, 99),
    k=st.floats(0.01, 3),
    jump=st.sampled_from([0.0, 0.4]),
)
def test_no_zigzag_beats_the_sweep(shares: list[float], seed: int, k: float, jump: float) -> None:
    rng = np.random.default_rng(seed)
    width, mass = rng.uniform(0.1, 2, len(shares)), rng.dirichlet(np.ones(len(shares)))
    fine = 16
    cells = Cells(np.repeat(width / fine, fine), np.repeat(mass / fine, fine), (np.zeros(1), np.zeros(1)))
    g = np.repeat(shares, fine)
    bound = swept(cells, g, k, jump)
    assert bound >= float((mass * shares).sum()) - 1e-9
    assert bound <= max(shares) + 1e-9
    ends = np.concatenate([[0.0], np.cumsum(cells.widths)])
    for _ in range(20):
        turns = rng.choice(ends, rng.integers(1, 4))
        signs = np.where(np.searchsorted(np.sort(turns), ends[:-1], "right") % 2 == 0, 1.0, -1.0)
        log = np.concatenate([[0.0], np.cumsum(k * signs * cells.widths)])
        weight = np.exp(log[1:] - log.max()) - np.exp(log[:-1] - log.max())  # of an exponential, integrated
        weight = weight / (k * signs * cells.widths) * cells.masses * np.where(g > bound, np.exp(jump), 1.0)
        assert float((weight * g).sum() / weight.sum()) <= bound + 1e-9


def test_quantiles_of_a_histogram_move_this_far() -> None:
    """Given x the law of y is uniform on [0, 1] or on [1, 3]: the top quantile moves by 2, the lowest by 1."""
    prior = nw.JointHistogram(["x", "y"], [[0, 1, 2], [0, 1, 3]], [[0.5, 0], [0, 0.5]])
    found = effective(prior, Question((0.3, 0.5), (0.1, 0.2)), "x")
    assert found.slope == 0.3
    assert found.jump == pytest.approx(0.3 + 0.5 * 2, rel=1e-6)


def test_costs_of_both_attributes_never_say_less_than_one_of_them() -> None:
    for victim in (HERE, None):
        one = nw.guess(BELL, "x within 1", costs={"x": nw.Cost(0.5)}, victim=victim)
        both = nw.guess(BELL, "x within 1", costs={"x": nw.Cost(0.5), "y": nw.Cost(0.5)}, victim=victim)
        assert both.gain >= one.gain
        assert not both.tight
        assert both.after < 0.7
