"""Bounds on tilted hazards between two points hold at every point between."""

import numpy as np
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density.halves import halves_of
from nowiser.guess.density.lognormal import LogShape
from nowiser.guess.number.hazards import bends, hazards


@st.composite
def stretches(draw):
    """Hazards h⁺ at 61 points of a stretch, as they are; the slopes of ln p there; κ."""
    sd, cut = draw(st.sampled_from([0.2, 0.5, 1.3])), draw(st.booleans())
    prior = nw.Truncated(nw.LogNormal(0.0, sd), np.exp(-sd), np.exp(2 * sd)) if cut else nw.LogNormal(0.0, sd)
    shape, k = LogShape(prior), draw(st.floats(-2, 1.3).map(lambda e: 10**e / sd))
    low, high = (-0.999, 1.999) if cut else (-6.0, 6.5)
    first = low + (high - low) * draw(st.floats(0, 0.98))
    last = min(first + draw(st.sampled_from([1e-4, 0.03, 0.4, 2.0])), high)
    x = np.linspace(np.exp(sd * first), np.exp(sd * last), 61)
    made = halves_of(shape, k, float(x[-1]))
    return shape, k, x, shape.density(x) / made.left(x)[0], shape.density(x) / made.right(x)[0]


@given(stretches(), st.sampled_from(["both", "first", "last"]))
@settings(max_examples=250, deadline=None)
def test_hazards_hold_between_two_points(stretch, known):
    shape, k, x, ahead, back = stretch
    slopes = shape.slopes(x[:1], x[-1:])
    for h, s in ((ahead, slopes), (back[::-1], (-slopes[1], -slopes[0]))):
        first, last = (
            h[:1] if known != "last" else np.array([np.inf]),
            h[-1:] if known != "first" else np.array([np.inf]),
        )
        with np.errstate(all="ignore"):
            least, most = hazards(k, first, last, s, x[-1:] - x[:1])
        assert (least <= h * (1 + 1e-12)).all()
        assert (h <= most * (1 + 1e-12)).all()


@given(stretches())
@settings(max_examples=250, deadline=None)
def test_bends_hold_to_the_right(stretch):
    shape, k, x, ahead, back = stretch
    turns, s = shape.turns(x[:1], x[-1:]), shape.slope(x)
    for h, away in ((ahead, k + s - ahead), (back[::-1], (k - s - back)[::-1])):
        found = bends(away[:1], turns, h.min(keepdims=True), h.max(keepdims=True), 1e-12 * (np.abs(s[:1]) + 2 * h[:1]))
        rounding = 1e-11 * h * (k + np.abs(s).max() + h)
        assert (found[0] <= h * away + rounding).all()
        assert (h * away <= found[1] + rounding).all()


def test_wide_stretches_are_bounded_sharply_in_a_flat_tail():
    shape = LogShape(nw.LogNormal(0.0, 1.0))
    x = np.array([300.0, 310.0])
    h = shape.density(x) / halves_of(shape, 10.0, 320.0).left(x)[0]
    least, most = hazards(10.0, h[:1], h[1:], shape.slopes(x[:1], x[1:]), np.array([10.0]))
    assert most[0] - least[0] <= 1.5 * abs(h[1] - h[0])
