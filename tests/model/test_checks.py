"""A number is a number: whatever else is given is named, with what is allowed, and never a raw error."""

from decimal import Decimal

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.model.checks import number

NO_NUMBERS = [
    pytest.param(np.array([1.0, 2.0]), "[1., 2.]", id="array"),
    pytest.param(np.array([1.0]), "array([1.])", id="array of one"),
    pytest.param(np.complex128(1 + 1j), "1+1j", id="complex"),
    pytest.param(1j, "1j", id="imaginary"),
    pytest.param(Decimal("sNaN"), "sNaN", id="signalling"),
    pytest.param(10**400, "1329 bits", id="beyond all floats"),
    pytest.param("1", "'1'", id="text"),
    pytest.param(None, "None", id="none"),
    pytest.param(True, "True", id="bool"),
    pytest.param(float("nan"), "nan", id="nan"),
]


@pytest.mark.parametrize(("value", "found"), NO_NUMBERS)
def test_what_is_no_number_is_named(value: object, found: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        number("slope", value, low=0.0)
    assert "slope must be a finite number of at least 0, found" in str(refused.value)
    assert found in str(refused.value)
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize("value", [1, 1.0, Decimal(1), np.float32(1), np.array(1.0)])
def test_every_kind_of_number_is_one(value: object) -> None:
    assert number("slope", value, low=0.0) == 1.0
