"""Several releases measured together, against an attacker who writes down every world."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from nowiser.errors import NotAnswerable
from nowiser.microdata.releases import exact as counting
from nowiser.microdata.releases.certain import bounds
from nowiser.microdata.releases.exact import exact
from nowiser.microdata.releases.likely import likely
from nowiser.microdata.releases.measure import MARGIN, together
from nowiser.microdata.releases.record import Record, keys, record
from nowiser.microdata.releases.worlds import worlds
from nowiser.microdata.risk.intersection import Answered
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

ILL = ("exactly", "ill")


def released(people, member, values, names=("ill",)):
    """A record of a release: `member` −1 for who is left out; `values` per person, one text per column."""
    here = member >= 0
    columns = {n: [values[i][j] for i in np.flatnonzero(here)] for j, n in enumerate(names)}
    table = MicroTable.of([Column.of("g", member[here]), *(Column.of(n, c) for n, c in columns.items())])
    return record(table, people[here], ["g"], names)


def grouped(random, rows, size, leave_out=0.0):
    member = np.empty(rows, np.int64)
    member[random.permutation(rows)] = np.arange(rows) // size
    return np.where(random.random(rows) < leave_out, -1, member)


def by_hand(members, values, kinds):
    """Per person and kind the share of worlds in which every release shows what it shows; all worlds are written."""
    rows = len(values)

    def seen(world):
        return [Counter((int(g), v) for g, v in zip(m, world, strict=True) if g >= 0) for m in members]

    wanted, count, total = seen(values), [Counter() for _ in range(rows)], 0
    for world in product(kinds, repeat=rows):
        if seen(world) == wanted:
            total += 1
            for i, v in enumerate(world):
                count[i][v] += 1
    return [{v: c[v] / total for v in kinds} for c in count]


def worst(beliefs, there):
    """The largest gain over what everybody together shows."""
    kinds = beliefs[0].keys()
    mine = [b for b, t in zip(beliefs, there, strict=True) if t]
    before = {v: sum(b[v] for b in mine) / len(mine) for v in kinds}
    return max(b[v] - before[v] for b in mine for v in kinds)


def compared(seed):
    """The measured gain and the one of who writes down all worlds."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(5, 9))
    kinds = "abc"[: int(random.integers(2, 4))]
    values = random.choice(list(kinds), rows)
    people = np.arange(rows).astype(np.uint64)
    members = [grouped(random, rows, int(random.integers(2, 4))) for _ in range(int(random.integers(1, 4)))]
    told = together([released(people, m, [[v] for v in values]) for m in members], ILL)
    shown = by_hand(members, values.tolist(), sorted(set(values)))
    return told, worst(shown, np.ones(rows, bool))


@pytest.mark.parametrize("seed", range(40))
def test_nobody_who_writes_down_all_worlds_gains_more(seed):
    told, found = compared(seed)
    assert told.exact
    assert told.gain == pytest.approx(found, abs=0.02)  # before is of the fitted table


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_tables_against_who_writes_down_all_worlds(block):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        told, found = compared(seed)
        assert found <= told.gain + 0.02


def test_people_left_out_of_a_release_are_found_by_subtraction_from_another():
    values = [["a"], ["b"], ["a"], ["c"], ["b"]]
    people = np.arange(5).astype(np.uint64)
    first = released(people, np.array([0, 0, 0, 0, 0]), values)
    second = released(people, np.array([0, 0, 0, -1, 0]), values)  # all but one, who is the only one with c
    assert together([first], ILL).gain == pytest.approx(0, abs=1e-6)
    both = together([first, second], ILL)
    assert (both.before, both.after) == (pytest.approx(0.2, abs=1e-3), pytest.approx(1, abs=1e-3))


def test_a_second_column_tells_that_two_rows_are_one():
    """Ages link the rows of two releases: the illness of both groups' only 40-year-old is known."""
    values = [["a", "40"], ["b", "50"], ["b", "60"], ["a", "70"]]
    people = np.arange(4).astype(np.uint64)
    first = released(people, np.array([0, 0, 1, 1]), values, ("ill", "age"))
    second = released(people, np.array([0, 1, 0, 1]), [[v[1]] for v in values], ("age",))
    assert together([first], ILL).gain == pytest.approx(0)
    assert together([first, second], ILL).gain == pytest.approx(0.5, abs=1e-3)


def test_the_same_levels_again_tell_nothing_more():
    random = np.random.default_rng(3)
    values = [[v] for v in random.choice(list("abc"), 60)]
    people, member = np.arange(60).astype(np.uint64), grouped(random, 60, 5)
    once = together([released(people, member, values)], ILL)
    again = together([released(people, member, values)] * 3, ILL)
    assert once.exact
    assert again.exact
    assert again.gain == pytest.approx(once.gain, abs=1e-6)


def test_answers_raise_the_odds():
    values, people = [[v] for v in "aabb"], np.arange(4).astype(np.uint64)
    one = released(people, np.array([0, 0, 0, 0]), values)
    told = together([one], ILL, Answered(jump=1.0))
    assert told.high == pytest.approx(np.e**2 / (1 + np.e**2))  # another value of hers is another one of somebody else


def test_maximum_entropy_misses_the_largest_gain_by_less_than_the_margin_in_19_of_20_tables(monkeypatch):
    monkeypatch.setattr(counting, "STEPS", 200_000)
    missed, random = [], np.random.default_rng(11)
    while len(missed) < 120:
        size = int(random.integers(3, 8))
        rows = size * int(random.integers(2, 4))
        if rows > 24:
            continue
        values = [[v] for v in random.choice(list("abc"), rows)]
        people = np.arange(rows).astype(np.uint64)
        w = worlds([released(people, grouped(random, rows, size), values) for _ in range(2)], ["ill"])
        fitted, _ = likely(w)
        few, most = bounds(w)
        fitted = np.clip(fitted, few, most)
        counted, done = exact(w, fitted)
        if done.all():
            assert (counted >= few - 1e-9).all()
            assert (counted <= most + 1e-9).all()
            prior = np.bincount(w.value, weights=counted) / rows
            missed.append(
                max(counted / w.size[w.cell] - prior[w.value]) - max(fitted / w.size[w.cell] - prior[w.value])
            )
    assert np.mean(np.array(missed) < MARGIN) >= 0.93


def test_values_that_changed_in_between_are_noticed():
    people, member = np.arange(4).astype(np.uint64), np.array([0, 0, 1, 1])
    first, second = (released(people, member, [[v] for v in values]) for values in ("aabb", "abab"))
    with pytest.raises(NotAnswerable, match="contradict"):
        together([first, second], ILL)


def test_a_record_reads_as_it_was_written_and_does_not_say_whose_row_is_whose():
    random = np.random.default_rng(5)
    values = [[str(v)] for v in random.integers(0, 9, 50)]
    people = random.permutation(50).astype(np.uint64)
    made = released(people, grouped(random, 50, 5, 0.1), values)
    again = Record.from_bytes(made.to_bytes())
    assert (again.people == made.people).all()
    assert again.labels == made.labels
    for g in np.unique(made.group):  # rows and people are sorted, each for itself
        assert (np.diff(made.codes["ill"][made.group == g]) >= 0).all()
        assert (np.diff(made.people[made.member == g].astype(np.float64)) > 0).all()
    assert sorted(made.group) == sorted(made.member)


def test_rows_that_look_the_same_have_keys_of_their_own():
    table = MicroTable.of([Column.of("id", ["x", "x", "y"])])
    assert len(set(keys(table, ["id"]).tolist())) == 3
    assert (keys(table, ["id"]) == keys(table, ["id"])).all()
