"""Bounds on average: the published figures, laws, and Bayes-optimal attackers who share no code with them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.optimize import brentq

from nowiser.guess.average.baseline import heaviest
from nowiser.guess.average.channel import laid, seen
from nowiser.guess.average.lifts import by_divergence, by_factor, by_odds, by_shift
from nowiser.guess.average.promise import Target, Told
from nowiser.guess.average.tradeoff import gaussian, pure
from nowiser.model.goal import parse_goal
from nowiser.model.prior import (
    Atoms,
    Categories,
    Histogram,
    LogNormal,
    Mixture,
    Normal,
    Presence,
    Truncated,
    Uniform,
    Unknown,
)

F = Fraction
CANTEEN = Truncated(Normal(20, 5), 0, 60)


def target(goal, **priors):
    return Target(parse_goal(goal), tuple((name.replace("_", "."), prior) for name, prior in priors.items()))


TIME = target("v.time within 2", v_time=CANTEEN)
FOUR = target("v.dish exactly", v_dish=Categories(list("abcd")))


# ------------------------------------------------------------------------------------------------ published figures


def test_the_reference_values_of_the_theory():
    assert brentq(lambda mu: by_shift(0.25, mu) - 0.3, 0.01, 1) == pytest.approx(0.150089, abs=1e-6)
    assert brentq(lambda rho: by_divergence(0.25, rho) - 0.3, 1e-4, 1) == pytest.approx(0.0073225, rel=1e-4)
    assert by_divergence(0.25, 0.01125) == pytest.approx(0.3127, abs=5e-5)
    assert by_shift(0.25, 0.15) == pytest.approx(0.3000, abs=5e-5)
    assert by_divergence(0.05, 0.01125) == pytest.approx(0.0712, abs=5e-5)
    assert by_shift(0.05, 0.15) == pytest.approx(0.0675, abs=5e-5)
    assert seen(Normal(20, 5), 2, 0.0) == pytest.approx(0.310843, abs=1e-6)
    allowed = brentq(lambda c: seen(Normal(20, 5), 2, c) - 0.310843 - 0.05, 0.01, 1)
    assert allowed == pytest.approx(0.122318, abs=2e-6)
    assert 1.959964 * math.sqrt(1000) / 0.150089 == pytest.approx(413, abs=1)  # 1,000 counts, 95 %


def test_a_hundred_counts_from_a_quarter_have_bars_of_131():
    mu = brentq(lambda mu: FOUR.figures(Told(mu2=F(mu) ** 2))[1] - 0.3, 0.01, 1)
    assert 1.959964 * 10 / mu == pytest.approx(131, abs=1)


def test_the_canteen_answers_its_averages_with_much_less_noise():
    """One average 3 times, a hundred 30 times: noise of Laplace at slope .107286 per 2 minutes, for every answer."""
    c = brentq(lambda c: TIME.figures(Told(c2=F(c) ** 2, width=F(60)))[1] - 0.310854 - 0.05, 0.01, 1)
    for n, factor in ((1, 3), (100, 30)):
        laplace = n * 2 / 0.107286 * math.log(20)
        assert laplace / (math.sqrt(n) / c * 1.959964) > factor


# -------------------------------------------------------------------------------------------------------------- laws


shares, costs = st.floats(1e-6, 1 - 1e-6), st.floats(0, 5)


@given(shares, costs, costs)
def test_lifts_rise_and_never_fall_below(before, one, more):
    for lift in (by_shift, by_odds, by_factor):
        assert before * (1 - 1e-15) <= lift(before, one) <= lift(before, one + more) * (1 + 1e-12) <= 1 + 1e-12
        assert lift(before, one) <= lift(min(1.0, before * 1.1), one) * (1 + 1e-12)
    assert by_odds(before, one) <= by_factor(before, one) * (1 + 1e-12)


@given(shares, st.floats(1e-4, 5))
def test_lifts_agree_with_trade_off_functions(before, cost):
    assert by_shift(before, cost) == pytest.approx(gaussian(cost).success(before), rel=1e-9)
    assert by_factor(before, cost) == pytest.approx(pure(cost).success(before), rel=1e-9)


@given(shares, st.floats(1e-3, 3))
def test_a_pure_answer_is_no_more_telling_than_a_gaussian_one(before, nats):
    assert by_factor(before, nats) <= by_shift(before, nats * math.sqrt(math.pi / 2)) + 1e-12


@given(shares, st.floats(1e-3, 2))
@settings(max_examples=30)
def test_a_gaussian_answer_keeps_the_bound_by_divergence(before, mu):
    assert by_shift(before, mu) <= by_divergence(before, mu * mu / 2) + 1e-9


amounts = st.fractions(0, 2, max_denominator=1000)
TARGETS = [
    TIME,
    FOUR,
    target("v.time within 1.5", v_time=Atoms(range(9), [0.1] * 8 + [0.2])),
    target("v.n exactly", v_n=Atoms([0, 1, 2, 5], [0.4, 0.3, 0.2, 0.1])),
    target("v.time within 2 and v.dish exactly", v_time=CANTEEN, v_dish=Categories(list("abcd"))),
    target("present in v", v=Unknown()),
    target("present in v", v=Presence(0.2)),
    target("v.time in [10, 20]", v_time=CANTEEN),
]


@pytest.mark.parametrize("asked", TARGETS, ids=lambda t: str(t.goal))
@given(st.builds(Told, *[amounts] * 3, st.just(F(0)), *[amounts] * 3, st.just(F(60))), st.fractions(1, 2))
@settings(max_examples=25, deadline=None)
def test_more_answers_never_tell_less(asked, told, many):
    before, after = asked.figures(told)
    assert 0 <= before <= after <= 1
    assert asked.gain(told) <= asked.gain(told.times(many)) + F(1, 10**9)


@pytest.mark.parametrize("asked", TARGETS, ids=lambda t: str(t.goal))
def test_nothing_told_is_nothing_gained(asked):
    assert asked.gain(Told()) == 0
    assert asked.gain(Told(mu2=F(1, 10**12))) < F(1, 10**4)  # but for cells of the prior


def test_the_worst_prior_counts_where_none_is_known():
    before, after = target("present in v", v=Unknown()).figures(Told(mu2=F(1)))
    assert after - before == pytest.approx(2 * stats.norm.cdf(0.5) - 1, abs=2e-7)
    for p in (0.1, 0.31, 0.5, 0.9):
        known = target("present in v", v=Presence(p)).figures(Told(mu2=F(1)))
        assert known[1] - known[0] <= after - before + 1e-9


@pytest.mark.parametrize(
    "prior",
    [
        CANTEEN,
        Uniform(12, 28),
        Histogram([0, 10, 20, 60], [0.2, 0.5, 0.3]),
        LogNormal(3, 0.5),
        Mixture([(0.3, Atoms([10, 13.5], [0.5, 0.5])), (0.7, Uniform(0, 60))]),
        Atoms([0, 3, 4, 9], [0.3, 0.3, 0.3, 0.1]),
    ],
    ids=lambda p: type(p).__name__,
)
def test_the_heaviest_window_is_found_wherever_it_lies(prior):
    low, high = heaviest(prior, 2.0)
    assert low <= high <= low + 1e-4
    from nowiser.guess.number import law

    tried = np.linspace(-5, 65, 7001)
    best = max(float(law.cdf(prior, t + 2) - law.cdf(prior, np.nextafter(t - 2, -99))) for t in tried)
    assert best <= high + 1e-9
    assert best >= low - 1e-3


# --------------------------------------------------------------------------------------------- the channel, by brute force


@pytest.mark.parametrize("c", [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("closed", [Uniform(0, 60), CANTEEN], ids=["uniform", "normal"])
def test_cells_come_close_to_the_closed_form_and_stay_above(closed, c):
    ratio = laid(closed, 2.0).told(c) / seen(closed, 2.0, c)
    assert (1 - 4e-5) <= ratio <= 1.005  # a cut bell is a little easier to guess than the closed form allows for


def best_window(x, w, means, radius, points=20001):
    """E over y ~ N(means[i], 1) of the heaviest window, on a grid of outputs: the attacker himself."""
    y = np.linspace(means.min() - 9, means.max() + 9, points)
    seen_at = w * stats.norm.pdf(y[:, None] - means)
    windows = np.array([(x >= a - 1e-9) & (x <= a + 2 * radius + 1e-9) for a in x])
    return float(np.trapezoid((seen_at @ windows.T).max(axis=1), y))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_lipschitz_question_beats_the_channel(data):
    """Also folded ones: any means that are no further apart than c times the values, plus a jump."""
    n = data.draw(st.integers(2, 7))
    x = np.cumsum(data.draw(st.lists(st.floats(0.2, 3), min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(st.floats(0.05, 1), min_size=n, max_size=n)))
    w, radius = w / w.sum(), data.draw(st.sampled_from([0.3, 1.0, 2.0]))
    slope, jump = data.draw(st.floats(0.05, 2)), data.draw(st.sampled_from([0.0, 0.5]))
    turns = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n)))
    steps = np.array(data.draw(st.lists(st.sampled_from([0.0, jump]), min_size=n, max_size=n)))
    # a Lipschitz part, and beside it (in another direction) a part that jumps; both are seen in one number
    means = np.concatenate([[0.0], np.cumsum(turns[1:] * slope * np.diff(x))])
    asked = Target(parse_goal(f"v.x within {radius}"), (("v.x", Atoms(x, w)),))
    told = Told(mu2=F(jump) ** 2, c2=F(slope) ** 2, width=F(1000))
    bound = asked.figures(told)[1]
    assert best_window(x, w, means, radius) <= bound + 1e-6
    if jump:
        assert best_window(x, w, steps, radius) <= bound + 1e-6


def test_the_bound_by_distance_is_reached():
    x = np.linspace(0, 60, 601)
    w = stats.norm.pdf(x, 20, 5)
    found = best_window(x, w / w.sum(), 0.3 * x, 2.0, points=4001)  # 41 values: 4.1 minutes
    assert found == pytest.approx(seen(CANTEEN, 2.05, 0.3), rel=0.01)


# ------------------------------------------------------------------------------------------------ attackers, adaptive


class World:
    """A prior on a grid, a victim in each trial, and an attacker who weighs every answer by its likelihood."""

    def __init__(self, x, w, trials, seed):
        self.rng, self.x = np.random.default_rng(seed), x
        self.truth = self.rng.choice(x.size, trials, p=w)
        self.score = np.log(w)[None, :].repeat(trials, axis=0)

    @property
    def belief(self):
        weight = np.exp(self.score - self.score.max(axis=1, keepdims=True))
        return weight / weight.sum(axis=1, keepdims=True)

    def gaussian(self, means, sigma):
        """Ask for a number per trial (rows of `means` over the values)."""
        rows = np.arange(len(self.truth))
        answer = means[rows, self.truth] + self.rng.normal(0, sigma, len(rows))
        self.score -= ((answer[:, None] - means) / sigma) ** 2 / 2

    def laplace(self, means, scale):
        rows = np.arange(len(self.truth))
        answer = means[rows, self.truth] + self.rng.laplace(0, scale, len(rows))
        self.score -= np.abs(answer[:, None] - means) / scale

    def success(self, radius):
        """The posterior of the best window, averaged: less noisy than counting hits; and its standard error."""
        total = np.concatenate([np.zeros((len(self.truth), 1)), np.cumsum(self.belief, axis=1)], axis=1)
        last = np.searchsorted(self.x, self.x + 2 * radius + 1e-9, side="right")
        best = (total[:, last] - total[:, :-1]).max(axis=1)
        return float(best.mean()), float(best.std() / math.sqrt(len(best)))


GRID = np.arange(0.5, 60, 1.0)
MASSES = stats.norm.pdf(GRID, 20, 5) / stats.norm.pdf(GRID, 20, 5).sum()
ATOMS = target("v.time within 2", v_time=Atoms(GRID, MASSES))


@pytest.mark.parametrize("questions", [1, 200])
def test_averages_are_guessed_as_often_as_printed(questions):
    """Identity questions reach the bound: at least 95 % of it, and not more than it."""
    world, c = World(GRID, MASSES, 4000, seed=questions), 0.3
    for _ in range(questions):
        world.gaussian(GRID[None, :].repeat(4000, axis=0), math.sqrt(questions) / c)
    found, error = world.success(2)
    bound = ATOMS.figures(Told(c2=F(c) ** 2, width=F(60)))[1]
    assert 0.95 * bound <= found <= bound + 4 * error


@pytest.mark.parametrize("mix", ["folded", "counts", "both", "pure"])
def test_adaptive_attackers_stay_below(mix):
    """200 questions, each chosen by what was learnt: about the median, or the distance from the best guess."""
    world, trials, n = World(GRID, MASSES, 600, seed=7), 600, 200
    mu, c, nats = 1.0, 0.25, 0.06
    for i in range(n):
        belief = world.belief
        middle = GRID[np.argmax(np.cumsum(belief, axis=1) >= 0.5, axis=1)][:, None]
        above, fold = (GRID[None, :] > middle).astype(float), np.abs(GRID[None, :] - middle)
        if mix == "folded" or (mix == "both" and i % 2):
            world.gaussian(
                fold if i % 3 else GRID[None, :].repeat(trials, axis=0), math.sqrt(n / (2 if mix == "both" else 1)) / c
            )
        elif mix == "pure":
            world.laplace(above, 1 / nats)
        else:
            world.gaussian(above, math.sqrt(n / (2 if mix == "both" else 1)) / mu)
    told = {
        "folded": Told(c2=F(c) ** 2, width=F(60)),
        "counts": Told(mu2=F(mu) ** 2, width=F(60)),
        "both": Told(mu2=F(mu) ** 2, c2=F(c) ** 2, width=F(60)),
        "pure": Told(jump=F(nats) * n, square=F(nats) ** 2 * n, width=F(60)),
    }[mix]
    found, error = world.success(2)
    assert found <= ATOMS.figures(told)[1] + 4 * error
    assert found > ATOMS.figures(told)[0] + 0.02  # the attacker learns something


def test_counts_of_labels_stay_below():
    """Four labels, 200 noisy histograms in all four directions, and pure answers between them."""
    rng, n, mu = np.random.default_rng(3), 200, 0.8
    trials = 3000
    truth = rng.integers(0, 4, trials)
    score = np.zeros((trials, 4))
    sigma = math.sqrt(2 * n) / mu  # a changed label moves two cells by one
    for _ in range(n):
        answers = rng.normal(0, sigma, (trials, 4))
        answers[np.arange(trials), truth] += 1
        for label in range(4):
            means = (np.arange(4) == label).astype(float)
            score -= ((answers - means[None, :]) ** 2).sum(axis=1)[:, None] * (np.arange(4) == label) / (2 * sigma**2)
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    best = (weight / weight.sum(axis=1, keepdims=True)).max(axis=1)
    before, after = FOUR.figures(Told(mu2=F(mu) ** 2))
    assert before + 0.05 < best.mean() <= after + 4 * best.std() / math.sqrt(trials)


def test_pure_answers_first_and_gaussian_after():
    """The order that lift(shift) would get wrong: the odds are lifted first, then the question follows the answer."""
    nats, mu, n = 1.0, 1.0, 4
    send = math.exp(nats) / (math.exp(nats) + n - 1)
    y = np.linspace(-9, 10, 20001)
    success = 0.0
    for told in range(n):  # randomised response, then a Gaussian question about the label it named
        w = np.where(np.arange(n) == told, send, (1 - send) / (n - 1)) / n
        success += float(np.trapezoid((w * stats.norm.pdf(y[:, None] - mu * (np.arange(n) == told))).max(axis=1), y))
    bound = FOUR.figures(Told(mu2=F(1), jump=F(1), unsquared=F(1)))[1]
    assert success <= bound
    assert bound <= by_shift(by_odds(0.25, nats), mu) + 1e-9
