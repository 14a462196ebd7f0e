"""Ends of goals that are no doubles: rounded against ourselves, or refused. Never a goal that vanishes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.rounding import FINEST, above, below, goal, grain

numbers = st.floats(-1e300, 1e300, allow_subnormal=False)


@given(numbers, numbers)
def test_sums_are_rounded_to_the_very_next(a, b):
    exact = Fraction(a) + Fraction(b)
    low, high = float(below(np.array([a]), b)[0]), float(above(np.array([a]), b)[0])
    assume(math.isfinite(low) and math.isfinite(high))
    assert Fraction(low) <= exact <= Fraction(high)
    assert low == high or high == math.nextafter(low, math.inf)


@given(numbers, st.floats(1e-300, 1e300))
def test_one_victim_as_arrays(x, radius):
    l, u, inner_l, inner_u = goal(x, radius)
    at = np.array([x])
    assert (l, u) == (below(at, -radius)[0], above(at, radius)[0])
    assert (inner_l, inner_u) == (above(at, -radius)[0], below(at, radius)[0])


def test_infinite_ends_stay():
    assert below(np.array([-np.inf]), 1.0)[0] == -np.inf
    assert above(np.array([np.inf]), 1.0)[0] == np.inf


def around(prior, offset):
    """The same prior, that much farther up."""
    match prior:
        case nw.Uniform():
            return nw.Uniform(prior.low + offset, prior.high + offset)
        case nw.Normal():
            return nw.Normal(prior.mean + offset, prior.sd)
        case nw.Truncated():
            return nw.Truncated(around(prior.prior, offset), prior.low + offset, prior.high + offset)
        case nw.Mixture():
            return nw.Mixture([(w, around(p, offset)) for w, p in prior.parts])
        case nw.Histogram():
            return nw.Histogram([e + offset for e in prior.edges], prior.masses)
        case nw.Frozen():
            return nw.Frozen(prior.name, *prior.args[:-2], prior.args[-2] + offset, prior.args[-1])
    raise AssertionError(prior)


# numbers that are multiples of 1/64, which all doubles up to 1e13 hold exactly: shifted priors are the same priors
PRIORS = [
    nw.Uniform(-1.0, 1.5),
    nw.Normal(0.25, 0.5),
    nw.Truncated(nw.Normal(0.25, 0.5), -0.5, 1.0),
    nw.Mixture([(0.25, nw.Normal(0.0, 0.5)), (0.75, nw.Uniform(0.0, 2.0))]),
    nw.Histogram([-1.0, 0.0, 0.5, 1.0], [0.25, 0.25, 0.5]),
    nw.Frozen("laplace", 0.0, 0.5),
    nw.Frozen("beta", 2.0, 3.0, -0.5, 1.0),
]


def asked(prior, radius, slope, victim=None):
    """The answer, or the words of the refusal."""
    try:
        return nw.guess(prior, nw.Within(radius), slope=slope, victim=victim)
    except Misconfigured as refusal:
        return str(refusal)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize(
    ("offset", "radius"), [(20.0, 0.3), (1e5, 1e-8), (-1e9, 1e-3), (1.7e9, 0.3), (1e13, 0.3), (1e13, 1e-3)]
)
def test_as_at_the_origin_or_refused(prior, offset, radius):
    """Never below what is attained near zero, and a thousandth above at most."""
    step = math.ulp(abs(offset) + 0.25 + radius)
    for slope in (0.01, 20.0):
        found = asked(around(prior, offset), radius, slope, offset + 0.25)
        if radius < FINEST * step:
            assert f"apart there, found {radius:g}" in found
            continue
        real = asked(prior, radius, slope, 0.25)
        spare = 32 * (1 + slope) * step / radius + 1e-3
        assert real.attained * (1 - 1e-12) <= found.after <= real.after * (1 + spare)
        assert found.before == pytest.approx(real.before, rel=spare)
        denied = nw.guess(prior, ~nw.Within(radius), slope=slope, victim=0.25)  # a mechanism that misleads as much
        assert found.smallest <= 1 - denied.attained + 1e-12


@pytest.mark.parametrize("prior", [PRIORS[0], PRIORS[1], PRIORS[4]], ids=str)
@pytest.mark.parametrize(("offset", "radius"), [(1e9, 1e-3), (1e13, 0.6), (1e9, 1e-8)])
def test_the_worst_victim_as_at_the_origin_or_refused(prior, offset, radius):
    near, found = asked(prior, radius, 1.0), asked(around(prior, offset), radius, 1.0)
    if radius < FINEST * math.ulp(offset):
        for part in (f"found {radius:g}", "around 1e+09", "1.19e-07 apart"):
            assert part in found
        return
    assert near.gain * (1 - 1e-3) <= found.gain <= near.gain * (1 + 1e-3 + 32 * math.ulp(offset) / radius)


def test_what_the_auditor_found():
    """Each of these said 0 %, or less than the truth (mpmath, 40 digits)."""
    for prior, radius, victim in [
        (nw.Uniform(1e9, 1e9 + 1), 1e-8, None),
        (nw.Uniform(1.7e18, 1.7e18 + 86400), 100.0, None),
        (nw.Uniform(0, 1e9), 1e-9, 5e8),
        (nw.Normal(1e15, 1e-3), 1e-3, None),
        (nw.Truncated(nw.Normal(1e9, 1), 1e9 - 1, 1e9 + 1), 1e-8, None),
    ]:
        with pytest.raises(Misconfigured, match="told apart"):
            nw.guess(prior, nw.Within(radius), slope=1.0, victim=victim)
        with pytest.raises(Misconfigured, match="told apart"):
            nw.largest(prior, nw.Within(radius), gain=0.05, victim=victim)
    assert nw.guess(nw.Normal(1.7e9, 0.005), nw.Within(0.001), slope=1.0, victim=1.7e9).after >= 0.652385
    assert nw.guess(nw.Normal(20, 5), nw.Within(1e-12), slope=1.0, victim=20.0).after >= 0.6321205588
    assert nw.guess(nw.Uniform(0, 1e9), nw.Within(1.0), slope=1.0).after == pytest.approx(-math.expm1(-2), rel=1e-3)


def test_the_smallest_posterior_is_never_above_the_truth():
    """Far from certainty the roots of the quadratic equation nearly coincide (mpmath, 60 digits)."""
    for offset in (0.0, 20.0, 1e5):
        prior = nw.Uniform(offset - 1.0, offset + 1.5)
        smallest = nw.guess(prior, nw.Within(0.3), slope=20.0, victim=offset + 0.25).smallest
        assert 3.12379706049716e-28 * (1 - 1e-7) <= smallest <= 3.12379706049717e-28


def test_single_values_a_step_apart_are_two():
    prior = nw.Atoms({1e9: 0.5, 1e9 + 2.4e-7: 0.5})
    for victim in (None, 1e9):
        found = nw.guess(prior, nw.Within(1e-8), slope=1.0, victim=victim)
        assert found.before == 0.5
        # the two likelihoods differ by e^{slope·distance/radius}
        assert found.after == pytest.approx(1 / (1 + math.exp(-((1e9 + 2.4e-7) - 1e9) / 1e-8)), rel=1e-12)
    step = nw.Atoms({1e15 + i: 0.25 for i in range(4)})
    assert nw.guess(step, nw.Within(1), slope=1.0, victim=1e15).before == 0.5


def test_single_values_at_the_radius_are_inside():
    tenths = nw.Atoms({i / 10: 0.1 for i in range(10)})
    for i in range(1, 9):
        assert nw.guess(tenths, nw.Within(0.1), slope=1.0, victim=i / 10).before == pytest.approx(0.3)
    assert nw.guess(tenths, nw.Exactly(), slope=1.0, victim=0.1 + 0.2).before == pytest.approx(0.1)
    assert grain(np.array([0.3]), 0.1)[0] > 0


@pytest.mark.parametrize("steps", [-1, 0, 1, 3])
def test_a_goal_that_begins_next_to_the_end_of_the_support_is_missed_no_more_than_its_neighbours(steps):
    """The crossing lies between two doubles there, of which one says nothing."""
    prior, denied = nw.Histogram([0.72, 4.71, 8.32, 9.7], [0.0976348, 0.390613, 0.5117522]), nw.Not(nw.Within(2.6))
    near = nw.guess(prior, denied, slope=0.1, victim=3.32 + 1e-9).after
    x = 3.32 + steps * np.spacing(3.32)
    assert nw.guess(prior, denied, slope=0.1, victim=float(x)).after == pytest.approx(near, rel=1e-3)


def test_the_worst_victim_of_a_denied_goal_on_a_histogram_is_no_rounding_error():
    prior, denied = nw.Histogram([0.72, 4.71, 8.32, 9.7], [0.0976348, 0.390613, 0.5117522]), nw.Not(nw.Within(2.6))
    worst = nw.guess(prior, denied, slope=0.1)
    some = [nw.guess(prior, denied, slope=0.1, victim=float(x)).gain for x in np.linspace(0.72, 9.7, 100)]
    assert max(some) - 1e-12 <= worst.gain <= max(some) * 1.001
