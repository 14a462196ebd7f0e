"""The one root finder: what it returns holds, and a hair further does not."""

import math

import pytest
from hypothesis import given, strategies as st

from nowiser.noise.boundary import last_inside


@given(st.floats(0.001, 999.0), st.booleans())
def test_the_last_that_holds_and_a_hair_further_none(edge, rising):
    def holds(x):
        return x <= edge if rising else x >= edge

    found = last_inside(holds, *((0.0, 1000.0) if rising else (1000.0, 0.0)))
    assert holds(found)
    assert found == pytest.approx(edge, abs=1e-12 * 1000)


def test_steps_do_not_mislead_it():
    assert math.ceil(last_inside(lambda x: math.ceil(x) <= 7, 0.0, 100.0)) == 7


def test_a_safe_end_that_is_not_safe_is_noticed():
    with pytest.raises(ValueError, match="does not hold at 1"):
        last_inside(lambda x: x > 2, 1.0, 5.0)
