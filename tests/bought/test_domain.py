"""Columns as cells: what is declared, and back to values of the column's own kind."""

import datetime as dt
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from nowiser.bought.domain import CELLS, Attribute, attribute_of, domain_of
from nowiser.bought.rows import PERSON, counted
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.model.schema import Column, Kind, Role
from nowiser.policy import read


def column(kind, low=None, high=None, **more):
    return Column("c", kind, Role.SENSITIVE, *(None if e is None else Fraction(e) for e in (low, high)), **more)


def test_values_and_missing_ones_have_a_cell_each():
    a = attribute_of(column(Kind.TEXT, domain=("a", "b")))
    assert a.size == 3
    assert a.encode(pa.array(["b", None, "a", "z"])).tolist() == [1, 2, 0, 2]
    assert a.decode(np.array([1, 2, 0], np.int32), np.random.default_rng(0)).to_pylist() == ["b", None, "a"]
    assert a.labels() == ("a", "b", "missing")
    never = attribute_of(column(Kind.TEXT, domain=("a", "b"), nullable=False))
    assert never.encode(pa.array(["b", None])).tolist() == [1, 0]


def test_few_whole_numbers_are_cells_of_their_own():
    a = attribute_of(column(Kind.INTEGER, 1, 16, nullable=False))
    assert a.size == 16
    assert a.encode(pa.array([1, 2, 16])).tolist() == [0, 1, 15]
    assert a.decode(np.arange(16, dtype=np.int32), np.random.default_rng(0)).to_pylist() == list(range(1, 17))


@given(
    kind=st.sampled_from([Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP]),
    low=st.integers(-(10**6), 10**6),
    width=st.integers(0, 10**7),
    cells=st.none() | st.integers(1, 50),
)
def test_decoding_stays_in_the_cell_it_came_from(kind, low, width, cells):
    a = attribute_of(column(kind, low, low + width), cells)
    if cells is None:
        assert a.present <= max(CELLS, 32)
    codes = np.repeat(np.arange(a.size, dtype=np.int32), 5)
    assert (a.encode(a.decode(codes, np.random.default_rng(1))) == codes).all()
    assert Attribute.from_json(a.to_json()) == a
    assert len(a.labels()) == a.size == len(a.middles())


def test_dates_and_decimals_come_back_in_their_kind():
    day = attribute_of(column(Kind.DATE, 19000, 19900))
    values = day.decode(np.zeros(3, np.int32), np.random.default_rng(0))
    assert values.type == pa.date32()
    assert all(isinstance(v, dt.date) for v in values.to_pylist())
    euro = attribute_of(column(Kind.REAL, 0, 100, grid=Fraction(1, 100)))
    drawn = euro.decode(np.full(50, 3, np.int32), np.random.default_rng(0)).to_pylist()
    assert all(round(v, 2) == v for v in drawn)


def test_what_is_not_declared_is_not_read_off_the_data():
    with pytest.raises(NotAnswerable, match="not read off the data"):
        attribute_of(column(Kind.TEXT))
    with pytest.raises(NotAnswerable, match="range"):
        attribute_of(column(Kind.INTEGER))
    with pytest.raises(Misconfigured, match="rise"):
        attribute_of(column(Kind.INTEGER, 0, 100), [50, 20])
    assert attribute_of(column(Kind.INTEGER, 0, 100), [20, 50]).present == 3


POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    rows_per_person: 2
    columns:
      id: identifier
      town: {public: [north, south]}
      age: {sensitive: [0, 60], nullable: false}
attackers:
  - {guess: people.age within 5, gain: 5%}
"""


def test_only_rows_that_count_are_read_and_values_stay_in_their_range(tmp_path):
    (tmp_path / "people.csv").write_text(
        "id,town,age\n1,north,10\n1,north,11\n1,south,12\n2,moon,inf\n3,south,-5\n4,north,\n", encoding="utf-8"
    )
    (tmp_path / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
    policy = read(tmp_path / "nowiser.yaml")
    table = policy.table("people")
    rows = counted(policy, table, ("town", "age"), whose=True)
    persons = rows[PERSON].to_numpy()
    assert np.bincount(persons).max() == 2
    assert len(rows) == 5
    assert rows["age"].null_count == 0
    ages = rows["age"].to_numpy()
    assert ages.min() >= 0
    assert ages.max() <= 60
    domain = domain_of(policy, table)
    assert [a.name for a in domain] == ["town", "age"]
    town = domain[0].encode(rows["town"])
    assert (town[rows["town"].is_null().to_numpy(zero_copy_only=False)] == 2).all()
    with pytest.raises(NotAnswerable, match="names a person"):
        domain_of(policy, table, ["id"])
    with pytest.raises(Misconfigured, match="no column"):
        domain_of(policy, table, ["nothing"])


def test_rows_per_person_binds_where_groups_per_person_keeps_further_rows(tmp_path):
    """The prepared copy then has a row in each of several groups; noise is for `rows_per_person` in all."""
    lines = [f"1,{town},30" for town in ("north", "south") for _ in range(4)]
    (tmp_path / "people.csv").write_text("id,town,age\n" + "\n".join(lines) + "\n", encoding="utf-8")
    limited = POLICY.replace("rows_per_person: 2", "rows_per_person: 1\n    groups_per_person: 2")
    (tmp_path / "nowiser.yaml").write_text(limited, encoding="utf-8")
    policy = read(tmp_path / "nowiser.yaml")
    assert len(counted(policy, policy.table("people"), ("town", "age"))) == 1
