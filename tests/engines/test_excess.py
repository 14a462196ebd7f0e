"""Exactly the limit is kept, by the person's own rows alone, compiled or not."""

import random

import numpy as np
import pytest

from nowiser.engines.duckdb import excess

duckdb = pytest.importorskip("duckdb")


def kept(codes, most, seeds, work=excess._select, *, standing=False):
    codes = np.asarray(codes, np.int32)
    counts = np.bincount(codes[codes >= 0], minlength=len(seeds)).astype(np.int64)
    bits = np.zeros((2, (len(codes) + 7) // 8), np.uint8)
    work(codes, counts, np.asarray(seeds, np.int64), most, bits)
    left_out, marked = (np.unpackbits(b)[: len(codes)] == 1 for b in bits)
    assert not (marked & (left_out | (codes < 0))).any()
    return (marked if standing else ~left_out) & (codes >= 0)


@pytest.mark.parametrize("most", [1, 2, 7, 50])
def test_everybody_keeps_exactly_as_many_as_may_count(most):
    rng = np.random.default_rng(most)
    codes = rng.integers(-1, 40, 3000)
    found = kept(codes, most, rng.integers(0, 2**62, 40))
    for person in range(40):
        assert found[codes == person].sum() == min(most, (codes == person).sum())


def test_nobody_else_has_a_part_in_it():
    rng = np.random.default_rng(1)
    codes, seeds = rng.integers(0, 20, 2000), rng.integers(0, 2**62, 20)
    for standing in (False, True):
        whole = kept(codes, 9, seeds, standing=standing)
        for person in range(20):
            others = codes != person
            assert (kept(codes[others], 9, seeds, standing=standing) == whole[others]).all()


@pytest.mark.parametrize("most", [1, 2, 7, 50])
def test_as_many_stand_for_rows_left_out_as_there_are_up_to_the_limit(most):
    rng = np.random.default_rng(most)
    codes = rng.integers(-1, 40, 3000)
    limit = np.where(np.bincount(codes[codes >= 0]) > most)[0]
    codes = np.where(np.isin(codes, limit), codes, -1)  # only persons above the limit are looked at
    found = kept(codes, most, rng.integers(0, 2**62, 40), standing=True)
    for person in limit:
        assert found[codes == person].sum() == min(most, (codes == person).sum() - most)


def test_every_row_has_the_same_chance_to_stand_for_another():
    rng = np.random.default_rng(8)
    people, rows, most = 6000, 14, 10  # four of ten stand
    found = kept(np.repeat(np.arange(people), rows), most, rng.integers(0, 2**62, people), standing=True)
    share = 4 / rows
    each = found.reshape(people, rows).sum(axis=0)
    assert abs(each - people * share).max() < 5 * (people * share * (1 - share)) ** 0.5


def test_machine_code_decides_the_same():
    pytest.importorskip("numba")
    rng = np.random.default_rng(2)
    codes, seeds = rng.integers(-1, 300, 20_000), rng.integers(0, 2**63 - 1, 300)
    for standing in (False, True):
        compiled = kept(codes, 11, seeds, excess._compiled(), standing=standing)
        assert (kept(codes, 11, seeds, standing=standing) == compiled).all()


def test_every_row_has_the_same_chance():
    rng = np.random.default_rng(3)
    people, rows, most = 4000, 50, 10
    codes = np.repeat(np.arange(people), rows)
    found = kept(codes, most, rng.integers(0, 2**62, people)).reshape(people, rows).sum(axis=0)
    # binomial(4000, 0.2): 800 ± 25; the largest of 50 stays within 5 deviations but for one run in 30,000
    assert abs(found - people * most / rows).max() < 5 * (people * 0.2 * 0.8) ** 0.5
    pairs = kept(codes, most, rng.integers(0, 2**62, people)).reshape(people, rows)
    together = (pairs[:, 0] & pairs[:, 1]).mean()
    assert together == pytest.approx(0.2 * 9 / 49, abs=5 * (0.037 / people) ** 0.5)


def test_places_are_those_of_the_source_whatever_names_the_person():
    rng = random.Random(4)
    rows = [(rng.choice(["a", "b", "c"]), rng.randrange(3), i) for i in range(400)]
    with duckdb.connect() as c:
        c.execute("CREATE TABLE r (a VARCHAR, b BIGINT, place BIGINT)")
        c.executemany("INSERT INTO r VALUES (?, ?, ?)", rows)
        bits = excess.find(c, 'SELECT a, b, place AS ":at" FROM r', ("a", "b"), 5, "salt")
        assert excess.find(c, 'SELECT a, b, place AS ":at" FROM r', ("a", "b"), 400, "salt") is None
        other = excess.find(c, 'SELECT a, b, place AS ":at" FROM r', ("a", "b"), 5, "another")
    assert bits != other, "the salt decides"
    flags = np.unpackbits(np.frombuffer(bits.left_out, np.uint8))[:400]
    for a in "abc":
        for b in range(3):
            own = [i for x, y, i in rows if (x, y) == (a, b)]
            assert (flags[own] == 0).sum() == 5
