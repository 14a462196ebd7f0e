"""One person, five extreme lives: no question may move further than its plan says.

The exact part of each plan runs on pairs of neighbouring databases through the real engine. Whatever construct a
question uses, only two things are looked at: how far the cells moved, and how far the plan said they can.
"""

import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import nowiser
from nowiser.engines.aligned import aligned, counts
from nowiser.errors import NotAnswerable
from nowiser.sql.aggregates.picked import Counted
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.picks import allowed, told
from support.sql_grammar import Grammar
from support.worlds import OURS, made_up_tables, write

EXTREMES = {
    "large": {"birth_year": 2026, "gender": "M", "zip": "02142", "ward": "D", "diagnosis": "hypertension", "cost": 20000, "los": 60, "score": 10, "vip": True},
    "small": {"birth_year": 1900, "gender": "F", "zip": "02138", "ward": "A", "diagnosis": "HIV", "cost": 0, "los": 0, "score": -10, "vip": False},
    "missing": {"birth_year": "", "gender": "", "zip": "", "ward": "", "diagnosis": "", "cost": "", "los": "", "score": "", "vip": ""},
    "wild": {"birth_year": 999999, "gender": "x", "zip": "2138", "ward": "B", "diagnosis": "flu", "cost": "1e308", "los": -5, "score": "NaN", "vip": True},
}  # fmt: skip


@pytest.fixture(scope="module")
def lives(tmp_path_factory):
    """Gateways on databases that differ in patient 1 (and her visits), and in the eating time of student 1."""
    folder = tmp_path_factory.mktemp("lives")
    tables = made_up_tables()
    tables["patients"], tables["visits"] = (
        tables["patients"][:40],
        [v for v in tables["visits"] if v["patient_id"] <= 40],
    )
    gateways = {}
    for name, values in {**EXTREMES, "absent": None}.items():
        mine = [v for v in tables["visits"] if v["patient_id"] == 1]
        others = [v for v in tables["visits"] if v["patient_id"] != 1]
        world = {**tables, "visits": others, "patients": tables["patients"][1:]}
        if values is not None:
            world["patients"] = [tables["patients"][0] | values, *world["patients"]]
            many = {"large": 20, "small": 14, "missing": 1, "wild": 3}[name]
            mine = [
                {**mine[0], "visit_id": 10_000 + i, "cost": 5000 if name == "large" else 0, "day": 1 + i}
                for i in range(many)
            ]
            world["visits"] = [*mine, *others]
        time = {"large": 60, "small": 0, "missing": 20, "wild": 1e9, "absent": 20}[name]
        world["canteen"] = [c | {"time": time} if c["student"] == 1 else c for c in tables["canteen"]]
        gateways[name] = nowiser.open(write(Path(folder) / name, world, OURS))
    yield gateways
    for gateway in gateways.values():
        gateway.close()


def measured(engine, planned) -> list[dict | np.ndarray]:
    """Every exact number of the plan, by cell and group; groups found in the data included."""
    first, *besides = [engine.run(tally) if tally.cells else None for tally in planned.tallies]
    if first is None:  # everything is read off histograms
        found = []
    elif planned.discovery is not None:
        columns = [first.column(i).to_pylist() for i in range(first.num_columns)]
        width = len(planned.query.keys)
        keys = list(zip(*columns[:width], strict=True))
        found = [dict(zip(keys, column, strict=True)) for column in columns[width:]]
    else:
        found = [np.asarray(column) for column in aligned(first, planned)]
    for table, histogram in zip(besides, planned.histograms, strict=True):
        one = counts(table, planned, histogram)
        found.append(one if isinstance(one, Counted) else one.ravel())
    return found


def moved(a, b) -> int:
    """How far apart two columns are, in whole numbers of any size: by group where groups were found, else by place."""
    if isinstance(a, Counted):
        a, b = (dict(zip(zip(c.group, c.bucket, strict=True), c.rows, strict=True)) for c in (a, b))
    if isinstance(a, dict):
        return sum(abs(int(a.get(key, 0)) - int(b.get(key, 0))) for key in a.keys() | b.keys())
    assert len(a) == len(b)
    return sum(abs(int(a[i]) - int(b[i])) for i in np.flatnonzero(a != b))


def check(sql, lives, policy) -> bool:
    try:
        planned = plan(read(sql, policy), policy)
    except NotAnswerable:
        return False
    others = {way.summed for way in planned.ways if way.summed is not None}  # grouping sets added up from the finest
    for one in (planned, *(planned.through(summed) for summed in others)):
        holds(sql, one, lives)
    return True


def holds(sql, planned, lives) -> None:
    cells = {name: measured(gateway._engine, planned) for name, gateway in lives.items()}
    present = [name for name in cells if name != "absent"]
    if planned.discovery is not None:
        stays = all(
            reach.persons is None for reach in planned.reaches
        )  # then she moves: out of her groups, into others
        most = planned.discovery.groups * (2 if stays else 1)
        few(sql, most, {name: groups_of(found) for name, found in cells.items()})
    for i, picking in enumerate(planned.histograms, len(planned.tally.cells)):
        if isinstance(picking, Picking):
            others = present if planned.reaches[i].persons is None else list(cells)
            for name, other in product(present, others):
                loss = told(picking, cells[name][i], cells[other][i], len(planned.groups))
                most = allowed(picking, int(other == "absent"))
                assert loss <= most + 1e-9, f"{sql}\npicks tell {loss}, {most} was said ({name}, {other})"
    for i, reach in enumerate(planned.reaches):
        for name in present:
            away = moved(cells[name][i], cells["absent"][i])
            if reach.persons is not None:
                assert away <= reach.presence, (
                    f"{sql}\ncell {i} moved by {away} when she left, {reach.presence} was said ({name})"
                )
            for other in present:
                away = moved(cells[name][i], cells[other][i])
                assert away <= reach.jump, f"{sql}\ncell {i} moved by {away}, {reach.jump} was said ({name}, {other})"


def groups_of(found) -> dict:
    """What stands in each group that was found."""
    return {key: tuple(column.get(key) for column in found) for column in found for key in column}


def few(sql, most, groups) -> None:
    """She is in no more groups than the threshold reckons with."""
    for name, own in groups.items():
        hers = {key for key in own.keys() | groups["absent"].keys() if own.get(key) != groups["absent"].get(key)}
        assert len(hers) <= most, f"{sql}\n{name} is in {len(hers)} groups, {most} were said"


@pytest.mark.parametrize(
    ("kind", "texts", "answerable"),
    [("tame", 250, 150), ("question", 600, 100), ("wide", 250, 80), ("widest", 60, 25), ("found", 60, 30)],
)
def test_questions_move_no_further_than_planned(lives, kind, texts, answerable):
    """Of the core, wild, with joins and sub-selects, with histograms and picks, with keys found in the data."""
    make = getattr(Grammar(random.Random(kind)), kind)
    assert sum(check(make(), lives, lives["absent"].policy) for _ in range(texts)) >= answerable


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(4))
def test_many_questions_move_no_further_than_planned(lives, seed):
    policy = lives["absent"].policy
    grammar = Grammar(random.Random(500 + seed))
    assert sum(check(grammar.question(), lives, policy) for _ in range(8_000)) >= 200
    assert sum(check(grammar.wide(), lives, policy) for _ in range(2_000)) >= 600
    assert sum(check(grammar.widest(), lives, policy) for _ in range(2_000)) >= 600
