"""Small numbers that were rounded the wrong way: quotients near one, floats that are nearest."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.guess.figures import lifted, odds_of, raised
from nowiser.guess.formula import merged, rounded
from nowiser.model.goal import parse_goal

shares = st.floats(0.0, 1.0)


@given(shares, st.floats(0.0, 3.0))
def test_odds_are_lifted_up(share, jump):
    exact = Fraction(share) * Fraction(math.exp(jump)) if share < 1 else None
    found = Fraction(float(lifted(odds_of(share), jump)))
    assert found >= (1 if exact is None else exact / (1 - Fraction(share) + exact)) * (1 - Fraction(1, 10**15))
    assert float(lifted(odds_of(share), -jump)) <= share or jump < 1e-12


@given(st.lists(shares, min_size=2, max_size=4), st.sampled_from([" and ", " or "]))
def test_products_are_rounded_in_the_known_direction(figures, join):
    of, _ = merged(parse_goal(join.join(f"a{i} exactly" for i in range(len(figures)))))
    exact = Fraction(1)
    for share in figures:
        exact *= Fraction(share) if "and" in join else 1 - Fraction(share)
    exact = exact if "and" in join else 1 - exact
    assert (
        Fraction(float(rounded(of, figures, above=False))) <= exact <= Fraction(float(rounded(of, figures, above=True)))
    )


@given(shares, shares, st.floats(0.0, 1.0))
def test_a_gain_is_never_told_too_small(before, after, gain):
    low, high = raised(before, max(before, after), gain)
    assert 0 <= low <= high <= 1
    assert high - low >= min(gain, 1.0) - 1e-12 or before == 1.0


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 5.0))
def test_labels_gain_no_less_than_the_odds_say(share, jump):
    found = nw.guess(nw.Presence(share), nw.Present(), jump=jump)
    p, grown = Fraction(share), Fraction(math.exp(jump))
    truth = p * grown / (1 - p + p * grown) - p
    assert Fraction(found.after) - Fraction(found.before) >= truth * (1 - Fraction(1, 10**15)) - Fraction(1, 10**16)
    assert found.gain == pytest.approx(float(truth), rel=1e-6, abs=1e-14)


def test_a_label_that_is_nearly_certain_leaves_room_to_gain():
    found = nw.guess(nw.Categories({"a": 1e-20, "b": 1 - 1e-20}), ~nw.Exactly(), jump=1.0, victim="a")
    assert found.before < 1.0 == found.after
