"""Rows of an engine find their groups, whatever the order of the declared values."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.engines.aligned import _codes
from nowiser.model.schema import Kind

numbers = st.integers(-5, 12)


@settings(deadline=None)
@given(st.lists(numbers, unique=True, max_size=8), st.lists(numbers | st.none(), max_size=12), st.booleans())
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP])
def test_each_key_has_its_place_in_the_domain_or_none(kind, domain, keys, null):
    of = {Kind.INTEGER: pa.int64(), Kind.DATE: pa.int32(), Kind.TIMESTAMP: pa.int64()}[kind]
    shown = {Kind.INTEGER: pa.int64(), Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us")}[kind]
    column = pa.chunked_array([pa.array(keys, of).cast(shown)])
    for order in (domain, sorted(domain)):
        whole = [*order, None] if null else order
        expected = [whole.index(k) if k in whole else -1 for k in keys]
        assert _codes(column, kind, tuple(whole)).tolist() == expected


def test_a_domain_without_values_places_nothing():
    found = _codes(pa.chunked_array([pa.array([1, 2])]), Kind.INTEGER, ())
    assert np.array_equal(found, [-1, -1])


def test_zero_has_one_place_whatever_its_sign():
    for found, declared in ((-0.0, 0.0), (0.0, -0.0)):
        column = pa.chunked_array([pa.array([found, 1.5, None])])
        assert _codes(column, Kind.REAL, (1.5, declared, None)).tolist() == [1, 0, 2]
