"""Answers are unbiased, bars hold what they say, and no attacker beats the printed guess."""

from fractions import Fraction

import numpy as np
import pytest

from nowiser.engines.aligned import aligned
from nowiser.sql.answer import results as release
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

TIMES = 4000


def repeated(gate, sql, s):
    """The same question answered many times, straight from plan and noise: (values, error, plan, noise)."""
    planned = plan(read(sql, gate.policy), gate.policy)
    way = planned.ways[0]
    noise = way.noise(Fraction(s))
    cells = aligned(gate._engine.run(planned.tally), planned)
    exact = release.results(planned, [None] * len(noise), cells).rows[0]
    found, errors = [], []
    many = [
        np.full(TIMES, c[0]) if n is None else n.blur(np.full(TIMES, c[0], dtype=np.int64))
        for n, c in zip(noise, cells, strict=True)
    ]
    for i in range(TIMES):
        result = release.results(planned, noise, [m[i : i + 1] for m in many])
        found.append(result.rows[0])
        errors.append([e[0] if isinstance(e, list) else e for e in result.errors])
    return np.array(found, dtype=float), np.array(errors, dtype=float), np.array(exact, dtype=float), noise


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE time > 20",
        "SELECT SUM(time) FROM visits",
        "SELECT AVG(time) FROM visits WHERE faculty = 'math'",
        "SELECT SUM(time) - 7 * COUNT(*) FILTER (WHERE time > 20) FROM visits",
    ],
)
def test_answers_are_unbiased_and_bars_hold(canteen, sql):
    found, errors, exact, _ = repeated(canteen, sql, "1/3")
    spread = found.std()
    assert abs(found.mean() - exact[0]) < 6 * spread / TIMES**0.5
    covered = (np.abs(found - exact) <= errors + 1e-9).mean()
    assert covered > 0.95 - 6 * (0.95 * 0.05 / TIMES) ** 0.5


def test_bars_of_plain_columns_are_not_too_wide(canteen):
    found, errors, exact, _ = repeated(canteen, "SELECT SUM(time) FROM visits", 1)
    covered = (np.abs(found - exact) <= errors).mean()
    assert covered < 0.95 + 6 * (0.95 * 0.05 / TIMES) ** 0.5


@pytest.mark.parametrize("factor", [1.0, 1.3, 0.7])
def test_the_noise_has_the_scale_that_is_charged(canteen, factor):
    """The check must fail when the noise is off by 30 %: it is tried on noise that is."""
    planned = plan(read("SELECT SUM(time) FROM visits", canteen.policy), canteen.policy)
    (noise,) = planned.ways[0].noise(Fraction(1))
    wrong = planned.ways[0].noise(Fraction(1) / Fraction(factor))[0]
    drawn = np.abs(wrong.blur(np.zeros(20000, dtype=np.int64)).astype(float)).mean()  # E|X| ≈ scale
    assert (0.9 < drawn / float(noise.scale) < 1.1) == (factor == 1.0)


def test_averages_over_persons_stay_in_range_and_bars_hold(hospital):
    gate = hospital()
    for s in (1, "1/20"):
        found, errors, exact, _ = repeated(gate, "SELECT AVG(cost) FROM patients", s)
        assert (found >= 0).all()
        assert (found <= 1000).all()
        assert (np.abs(found - exact) <= errors + 1e-9).mean() > 0.95 - 6 * (0.95 * 0.05 / TIMES) ** 0.5


def attackers_gain(prior, xs, likelihoods, radius):
    """The largest advantage over victims' values for one output: posterior − prior mass of [x−r, x+r]."""
    posterior = prior * likelihoods
    posterior /= posterior.sum()
    sums = np.concatenate([[0], np.cumsum(posterior - prior)])
    low = np.searchsorted(xs, xs - radius - 1e-9)
    high = np.searchsorted(xs, xs + radius + 1e-9)
    return (sums[high] - sums[low]).max()


def test_no_output_lifts_an_attacker_above_what_is_printed(canteen):
    """He knows everybody else, the noise and the question; over single answers and sequences of three."""
    xs = np.linspace(0, 60, 2401)
    prior = np.exp(-((xs - 20) ** 2) / 50)
    prior /= prior.sum()
    rng = np.random.default_rng(4)
    log = np.zeros((200, len(xs)))
    outputs = rng.uniform(-30, 90, 200)  # all kinds of outputs, also unlikely ones
    for i in range(3):
        sql = f"SELECT SUM(time) FROM visits WHERE student <> 's{i + 1}'"
        answer = canteen.query(sql, spend="20%", anyway=True)
        planned = plan(read(sql, canteen.policy), canteen.policy)
        cost = answer.cost["visits"]["time"]
        scale = 2 / cost["slope"]  # raw units: slope is per 2, one unit of time moves the sum by one
        way = next(w for w in planned.ways if "distance" in w.name)
        noise = way.noise(Fraction(60) / Fraction(scale))[0]
        b = float(noise.scale * noise.grid)
        assert b == pytest.approx(scale, rel=1e-6)
        log += -np.abs(outputs[:, None] - xs[None, :]) / b
        (guess,) = answer.guesses
        worst = max(attackers_gain(prior, xs, np.exp(row - row.max()), 2) for row in log)
        assert worst <= guess["after"] - guess["before"] + 2e-3  # the grid of xs
        assert worst > 0.5 * (guess["after"] - guess["before"]), "the attack has teeth"
