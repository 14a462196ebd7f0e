"""Columns as they came and columns as codes are the same columns, and codes are made only for who asks."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata.table import column as columns
from nowiser.microdata.table.column import Coded, Column, Stored, numbers_of, ranked, sorted_codes
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load

ARRAYS = [
    pa.array([3.5, None, 1.0, 3.5, float("nan")]),
    pa.array([3, None, 1, 3], pa.int16()),
    pa.array([2**60, 2**60 + 1, -1]),
    pa.array(["10", "9", None, "9"]),
    pa.array(["b", "a", None, "b"]),
    pa.array([True, False, None]),
    pa.array([dt.date(2020, 1, 2), None, dt.date(2019, 1, 1)]),
    pa.array([86400_000_000, None], pa.timestamp("us")),
    pa.array([Decimal("1.50"), None, Decimal("0.25")]),
    pa.array([], pa.float64()),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.type))
def test_codes_values_and_numbers_tell_the_same(array):
    column = Column.of("x", array)
    expected = [None if v is None or str(v) == "nan" else v for v in array.to_pylist()]
    assert column.to_arrow().to_pylist() == expected
    assert len(column) == len(array)
    assert column.present.tolist() == [v is not None for v in expected]
    assert column.nulls == expected.count(None)
    assert column.distinct == len({v for v in expected if v is not None})
    values = column.values.to_pylist()
    assert [None if c < 0 else values[c] for c in column.codes] == expected
    assert np.array_equal(column.numbers, np.append(column.value_numbers, np.nan)[column.codes], equal_nan=True)
    coded = Column.of_codes("x", column.codes, column.values)
    assert (coded.is_numeric, coded.distinct, coded.kind) == (column.is_numeric, column.distinct, column.kind)
    assert np.array_equal(coded.numbers, column.numbers, equal_nan=True)
    assert coded.to_arrow().equals(column.to_arrow())


@pytest.mark.parametrize("array", ARRAYS[:-1], ids=lambda a: str(a.type))
@pytest.mark.parametrize("rows", [np.array([2, 0, 0]), np.array([1])])
def test_rows_taken_are_rows_of_the_same_values(array, rows):
    rows = rows % len(array)
    whole = Column.of("x", array)
    part = whole.take(rows)
    mask = np.isin(np.arange(len(array)), rows)
    assert part.to_arrow().to_pylist() == [whole.to_arrow().to_pylist()[i] for i in rows]
    assert part.same_values(whole)
    assert whole.same_rows(part, rows)
    assert part.values.equals(whole.values)
    assert whole.take(mask).to_arrow().equals(whole.take(np.flatnonzero(mask)).to_arrow())
    assert part.take(np.array([0])).to_arrow().to_pylist() == part.to_arrow().to_pylist()[:1]
    assert part.distinct == len({v for v in part.to_arrow().to_pylist() if v is not None})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(allow_infinity=True, allow_nan=False, min_value=-9)), max_size=60))
def test_one_sort_gives_the_codes_that_hashing_gives(values):
    array = pa.array([None if v is None else v + 0.0 for v in values], pa.float64())
    hashed, by_one_sort = ranked(array), sorted_codes(array)
    assert (hashed.codes == by_one_sort.codes).all()
    assert hashed.values.equals(by_one_sort.values)


def test_no_dictionary_is_made_of_columns_that_are_only_computed_with(monkeypatch):
    monkeypatch.setattr(Stored, "coded", property(lambda _: pytest.fail("somebody asked for codes")))
    random = np.random.default_rng(0)
    table = pa.table({"a": random.normal(size=300), "b": random.normal(size=300), "n": random.integers(0, 9, 300)})
    for step in ({"correlated_noise": {"columns": ["a", "b"]}}, {"noise": {"columns": ["a", "n"]}}):
        made = nw.publish(table, keep=["*"], steps=[step], keep_order=True)
        assert made.to_arrow().schema == table.schema
        assert made.codebook["columns"]["a"] == {"role": "other", "distinct": 300}


def test_a_column_that_was_replaced_by_equal_values_is_another_one():
    old, new = Column.of("x", pa.array([1.0, 2.0])), Column.of("x", pa.array([1.0, 2.0]))
    assert not new.same_values(old)
    assert old.same_rows(new, np.array([0, 1]))
    assert not old.same_rows(new, np.array([1, 0]))
    assert Column.of_codes("x", old.codes[::-1], old.values).same_values(old)


SPELLED = st.one_of(
    st.floats(width=64).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.from_regex(r"[ +-]{0,2}[0-9]{0,3}[._e]?[0-9]{0,3} ?", fullmatch=True),
    st.sampled_from(["inf", "-inf", "nan", "007", "-00.5", "0.5", "+5", ".", "", "1_0", "0x1", "١", "1e400", "5."]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(SPELLED, min_size=1, max_size=3))
def test_numbers_read_at_once_are_those_read_one_by_one(texts):
    one_by_one = [columns._number(t) for t in texts]
    assert np.array_equal(numbers_of(pa.array(texts, pa.string())), one_by_one, equal_nan=True)


def test_identifiers_beyond_what_a_real_number_holds_can_be_released():
    ids = pa.array([2**60 + i for i in range(20)])
    assert Column.of("id", ids).to_arrow().equals(ids)
    assert len(Column.of("id", ids).values) == 20


@pytest.mark.parametrize("rows", [5, 3000])
def test_a_file_is_read_alike_whether_its_values_repeat_or_not(tmp_path, rows):
    path = tmp_path / "t.csv"
    lines = [f"{i},{i % 3},{'' if i % 5 else i}\n" for i in range(rows)]
    path.write_text("many,few,gaps\n" + "".join(lines), encoding="utf-8")
    table = load(path)
    assert isinstance(table["many"].source, Stored) == (rows > 1000)
    assert isinstance(table["few"].source, Coded)
    assert table["many"].to_arrow().to_pylist() == [str(i) for i in range(rows)]
    assert table["many"].labels == tuple(str(i) for i in range(rows))  # in the order of numbers
    assert table["gaps"].nulls == sum(1 for i in range(rows) if i % 5)


def test_lists_are_no_values():
    with pytest.raises(Misconfigured, match="only plain values"):
        MicroTable.from_arrow(pa.table({"x": pa.array([[1], [2]])}))
