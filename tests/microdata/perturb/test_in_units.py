"""Noise on whole numbers that doubles cannot hold: the value itself is perturbed, on the grid, and nothing wraps."""

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from nowiser.microdata.perturb import private
from nowiser.microdata.perturb.in_units import from_units, in_units
from nowiser.microdata.perturb.private import PrivateNoise
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

LARGE = [2**53 - 1, 2**53, 2**53 + 1, 2**62, 2**62 + 1, 2**63 - 1, -(2**53) - 1, -(2**62) - 1, -(2**63)]


@pytest.fixture
def drawing(monkeypatch):
    """Noise that is known beforehand."""

    def fixed(*noise):
        monkeypatch.setattr(private, "discrete_laplace", lambda _s, n, _e: np.resize(np.array(noise, dtype=object), n))

    return fixed


WHOLE = pa.int64()


def noisy(run, values, low, high, kind=WHOLE, **options):
    table = MicroTable.of([Column.of("v", pa.array(values, kind))])
    step = PrivateNoise("t", "v", low, high, **{"scale": 3} | options).apply(table, run(table))
    return step.table["v"].to_arrow().to_pylist(), step


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
@pytest.mark.parametrize("value", LARGE)
def test_the_value_itself_is_perturbed(run, drawing, value, kind):
    drawing(0, 1, -1, 1000, -1000)
    given = [str(value) if kind == pa.string() else value] * 5
    found, step = noisy(run, given, -(2**63), 2**63 - 1, kind)
    wanted = [value + n for n in (0, 1, -1, 1000, -1000)]
    assert found == [min(max(w, -(2**63)), 2**63 - 1) for w in wanted]
    assert step.codebook["clipped to"] == [-(2**63), 2**63 - 1]


@pytest.mark.parametrize("value", LARGE)
def test_neighbours_have_neighbouring_releases(run, value):
    """With the noise as it is drawn: mean and spread around the value, not around the nearest double."""
    found, _ = noisy(run, [value] * 4000, -(2**63), 2**63 - 1)
    inside = [v - value for v in found]
    if abs(value) < 2**63 - 1:
        assert abs(sum(inside) / 4000) < 0.5
    assert max(map(abs, inside)) < 100
    assert len({v % 2 for v in found}) == 2  # odd numbers too, although no double above 2^53 is odd


def test_the_ends_of_a_type_are_ends_on_the_grid(run, drawing):
    drawing(10**30, -(10**30))
    for kind, low, high in ((pa.int8(), -128, 127), (pa.uint64(), 0, 2**64 - 1), (pa.int64(), -(2**63), 2**63 - 1)):
        found, _ = noisy(run, [10, 10], 0, 100, kind, grid=10)
        assert found == [high // 10 * 10, -(-low // 10) * 10]


def test_large_unsigned_numbers_are_held(run, drawing):
    drawing(0, -1)
    assert noisy(run, [2**64 - 1] * 2, 0, 2**64 - 1, pa.uint64())[0] == [2**64 - 1, 2**64 - 2]


def test_a_scale_beyond_all_numbers_overflows_nowhere(run):
    found, _ = noisy(run, [2**63 - 1, 0, -(2**63)] * 20, -(2**63), 2**63 - 1, scale=10**30)
    assert set(found) == {-(2**63), 2**63 - 1}  # noise within 64 bits has a chance of 1e-11
    clamped, _ = noisy(run, [2**53 + 1] * 50, 2**53 + 1, 2**53 + 3, scale=10**30, clamp=True)
    assert set(clamped) <= {2**53 + 1, 2**53 + 2, 2**53 + 3}


def test_clipping_is_exact(run, drawing):
    drawing(0)
    found, _ = noisy(run, [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3], 2**53 + 1, 2**53 + 2)
    assert found == [2**53 + 1, 2**53 + 1, 2**53 + 2, 2**53 + 2]


def test_other_kinds_keep_their_digits(run, drawing):
    drawing(1)
    big = Decimal("12345678901234567890.12")
    cases = [
        (pa.decimal128(24, 2), big, 0, 10**21, 1, Decimal(12345678901234567891)),
        (pa.decimal128(4, 2), Decimal("99.50"), 0, 100, 1, Decimal("99.99")),  # the end of the type
        (pa.date32(), date(9999, 12, 31), 0, 3_000_000, 1, date(9999, 12, 31)),
        (pa.date32(), date(2020, 2, 28), 0, 3_000_000, 1, date(2020, 2, 29)),
        (pa.timestamp("us"), datetime(2020, 2, 28, 0, 0, 0, 1), 0, 2 * 10**9, 1, datetime(2020, 2, 28, 0, 0, 1)),  # noqa: DTZ001
        (pa.float64(), 0.30000000000000004, 0, 1, 0.1, 0.4),
    ]
    for kind, value, low, high, grid, wanted in cases:
        found, _ = noisy(run, [value], low, high, kind, grid=grid)
        assert found == [wanted]


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**20), st.sampled_from(["1", "10", "0.5", "0.1", "7"]))
def test_units_are_no_further_apart_than_values(x, d, text):
    grid = Fraction(text)
    y = min(x + d, 2**63 - 1)
    one, two = in_units(Column.of("v", pa.array([x, y], pa.int64())), grid).tolist()
    assert one <= two <= one + math.floor(Fraction(y - x) / grid) + 1
    if (1 / grid).denominator == 1:
        assert (two - one) * grid == y - x


@given(st.lists(st.floats(-1e300, 1e300), min_size=1), st.sampled_from(["1", "0.1", "1e-3"]))
def test_doubles_are_the_fractions_they_are(values, text):
    grid = Fraction(text)
    column = Column.of("v", pa.array(values))
    units = in_units(column, grid)
    for value, unit in zip(values, units.tolist(), strict=True):
        assert abs(Fraction(value) - unit * grid) <= grid / 2
    back = from_units(column, units, grid).to_arrow().to_pylist()
    assert back == [float(int(u) * grid) for u in units]
