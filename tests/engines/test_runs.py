"""Totals of sorted rows are those of each person and group, clipped, however the rows come in batches."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.engines.base import Broken
from nowiser.engines.duckdb import runs
from nowiser.engines.duckdb.runs import Disordered, Part, Runs, clipped
from nowiser.model.schema import Column as Declared, Kind, Role
from nowiser.sql.bound.clipped_totals import Clip
from nowiser.sql.plan.cells import Cell
from nowiser.sql.tree import Column, Type

ANY = Column("t0", "t", Declared("v", Kind.INTEGER, Role.SENSITIVE), Type(Kind.INTEGER))
COUNT = Cell(None, None)
SUM = Cell(ANY, None, low=-3, high=10)
AVG = Cell(ANY, None, shift=3, low=-6, high=7, weighed=True)
# where quotients are taken of reals, where they are not, and around the change
whole = st.one_of(st.integers(-(2**61), 2**61), st.integers(-50, 50), st.integers(2**52, 2**53 + 50))


@settings(deadline=None)
@given(st.lists(st.tuples(whole, st.integers(0, 2**31)), max_size=20), st.sampled_from([1, 3, 1000, 2**31, 2**70]))
def test_many_are_clipped_as_each_would_be(persons, most):
    clip = Clip((), most)
    totals, counts = (np.array(column, dtype=np.int64) for column in zip(*(persons or [(0, 0)]), strict=True))
    for cell in (COUNT, SUM, AVG):
        found = clipped(clip, cell, totals, counts)
        assert [int(f) for f in found] == [
            clip.of(cell, int(t), int(n)) for t, n in zip(totals, counts, strict=True)
        ], cell


# Of each key: the rows of persons who need not be clipped, then those of others, each (summand, whether it counts).
rows = st.lists(st.tuples(st.integers(-3, 10), st.booleans()), max_size=6)
keys = st.lists(st.lists(rows, min_size=1, max_size=5), min_size=1, max_size=5)


def numbered(keys):
    """Segment, summand and mark of each row, and the first segment of each key."""
    starts, found = [], []
    segment = 0
    for key in keys:
        starts.append(segment)
        for own in key:
            found += [(segment, value, int(mark)) for value, mark in own]
            segment += 1
    return np.array(starts, dtype=np.int32), np.array(found, dtype=np.int32).reshape(-1, 3)


@settings(deadline=None)
@given(keys, st.lists(st.integers(0, 40), max_size=6), st.integers(1, 3))
def test_totals_of_each_segment_are_clipped_and_added_to_its_key(keys, cuts, most):
    starts, table = numbered(keys)
    clip = Clip((), most)
    parts = [Part(COUNT), Part(COUNT, counted=1), Part(SUM, 0), Part(SUM, 0, 1), Part(AVG, 0), Part(AVG, 0, 1)]
    found = Runs(clip, parts, starts)
    summands = table[:, 1], table[:, 2].astype(np.int8)
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(table)], strict=True):
        found.take(table[start:end, 0], [c[start:end] for c in summands])
    found.close()
    wanted = defaultdict(lambda: [0] * len(parts))
    for k, key in enumerate(keys):
        for place, own in enumerate(key):
            for i, part in enumerate(parts):
                n = len(own) if part.counted is None else sum(mark for _, mark in own)
                total = n if part.summands is None else sum(v for v, _ in own) - part.cell.shift * n
                wanted[k][i] += total if place == 0 else clip.of(part.cell, total, n)
    assert [[int(cell[k]) for cell in found.cells] for k in range(len(keys))] == [wanted[k] for k in range(len(keys))]
    assert [int(n) for n in found.rows] == [sum(map(len, key)) for key in keys]


def test_rows_out_of_order_are_noticed():
    starts = np.zeros(1, dtype=np.int32)
    for batches in ([[1, 2, 1]], [[1, 2], [1]], [[3, 3], [2, 2]]):
        found = Runs(Clip((), 1), [Part(COUNT)], starts)
        *fine, wrong = (np.array(batch, dtype=np.int32) for batch in batches)
        for batch in fine:
            found.take(batch, [])
        with pytest.raises(Disordered):
            found.take(wrong, [])


def test_more_rows_than_the_sums_have_room_for_are_refused(monkeypatch):
    monkeypatch.setattr(runs, "MOST_ROWS", 5)
    found = Runs(Clip((), 1), [Part(COUNT)], np.zeros(1, dtype=np.int32))
    found.take(np.zeros(5, dtype=np.int32), [])
    with pytest.raises(Broken, match="more than 5 rows"):
        found.take(np.zeros(1, dtype=np.int32), [])
