"""Linked tables: no life of one person moves an exact cell further than the plan says, in L1 and in L2.

Policies, worlds and questions are random (`linked_worlds.py`); the cells are those of the real engines, with a stored copy
and without. Whatever a question is, only two things are looked at: how far the cells moved, and how far was said.
"""

import itertools
import json
import random
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from fuzz.test_reach import measured
from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.sql.aggregates.picked import Counted
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.linked_worlds import Asking, Family, Lives, family, files, lives


@contextmanager
def engines(found: Family, made: Lives, folder, engine="duckdb"):
    """The policy, and an engine for each life. The same salt for all: which rows count is decided before anybody looks."""
    opened = {}
    try:
        for name, rows in made.rows.items():
            here = folder / name
            (here / ".nowiser").mkdir(parents=True)
            (here / ".nowiser" / "prepared.json").write_text(json.dumps({"salt": "the same"}))
            for table, text in files(found, rows).items():
                (here / f"{table}.csv").write_text(text)
            (here / "nowiser.yaml").write_text(found.text.replace("ENGINE", f"engine: {engine}"))
            policy = policies.read(here / "nowiser.yaml")
            opened[name] = connect(policy)
        yield policy, opened
    finally:
        for one in opened.values():
            one.close()


def _by_bucket(counted) -> dict:
    """Of quantiles that are picked: the rows in each bucket of each group."""
    keys = zip(counted.group.tolist(), counted.bucket.tolist(), strict=True)
    return dict(zip(keys, counted.rows.tolist(), strict=True))


def away(a, b) -> tuple[int, int]:
    """How far apart two columns are: L1 and squared L2, by group where groups were found, else by place."""
    a, b = (_by_bucket(x) if isinstance(x, Counted) else x for x in (a, b))
    if isinstance(a, dict):
        moves = [abs(int(a.get(key, 0)) - int(b.get(key, 0))) for key in a.keys() | b.keys()]
    else:
        assert len(a) == len(b)
        moves = [abs(int(a[i]) - int(b[i])) for i in np.flatnonzero(np.asarray(a) != np.asarray(b))]
    return sum(moves), sum(m * m for m in moves)


def check(sql, policy, opened, made) -> bool:
    """Whether the question was answerable. Raises AssertionError where a cell moved too far."""
    try:
        planned = plan(read(sql, policy), policy)
    except NotAnswerable:
        return False
    others = {way.summed for way in planned.ways if way.summed is not None}
    for one in (planned, *(planned.through(summed) for summed in others)):
        cells = {name: measured(engine, one) for name, engine in opened.items()}
        for i, reach in enumerate(one.reaches):
            near = {name: found[i] for name, found in cells.items()}
            complaint = wrong(reach, near, made)
            assert complaint is None, f"{sql}\ncell {i} moved by {complaint}; {reach}"
    return True


def wrong(reach, cells, made) -> str | None:
    """How a cell moved further than its reach, or None."""
    present = [name for name in cells if name != "absent"]
    for a, b in itertools.combinations(present, 2):
        one, two = away(cells[a], cells[b])
        if one > reach.jump or two > reach.jump_squared:
            return f"{one} (squared {two}) between {a} and {b}, of a jump"
    if "absent" in cells:
        squared = reach.presence**2 if reach.presence_squared is None else reach.presence_squared
        for a in present:
            one, two = away(cells[a], cells["absent"])
            if one > reach.presence or two > squared:
                return f"{one} (squared {two}) without {a}, of presence"
    for name, (start, attribute, distance) in made.moved.items():
        one, _ = away(cells[name], cells[start])
        if reach.slope and one > dict(reach.slope).get(attribute, Fraction(0)) * distance + reach.rounding:
            return f"{one} along {float(distance):.4g} of {attribute}"
        if one and attribute not in reach.about:
            return f"{one} by {attribute}, about which nothing was said"
    return None


def asked(folder, rng, questions, *, engine="duckdb", each=20) -> int:
    """Ask so many questions; how many were answerable. `each`: of one policy."""
    answered = tried = number = 0
    while tried < questions:
        number += 1
        found = family(rng)
        made = lives(found, rng)
        asking = Asking(found, rng)
        try:
            with engines(found, made, folder / str(number), engine) as (policy, opened):
                for _ in range(each):
                    tried += 1
                    answered += check(asking.question(), policy, opened, made)
        except Misconfigured as refused:
            assert "cannot be part of a key" in str(refused)  # noqa: PT017 (most policies are taken)
        except AssertionError as moved:
            raise AssertionError(f"{moved}\n{found.text}\n{made.rows}") from None
    return answered


@pytest.mark.parametrize(("engine", "questions"), [("duckdb", 300), ("duckdb:///?prepare=no", 20)])
def test_no_life_moves_a_cell_further_than_planned(tmp_path, engine, questions):
    assert asked(tmp_path, random.Random(f"linked {engine}"), questions, engine=engine) >= questions // 3


@pytest.mark.long
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("seed", range(30))
def test_many_lives_move_no_cell_further_than_planned(tmp_path, seed):
    """300,000 questions in all."""
    rng = random.Random(f"many {seed}")
    engine = "duckdb:///?prepare=no" if seed % 5 == 0 else "duckdb"
    assert asked(tmp_path, rng, 10_000, engine=engine, each=100) >= 3_000
