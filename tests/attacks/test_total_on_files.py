"""Every function of the allow-list over a file full of poison, on DuckDB: no row raises, leaves its bounds or hangs.

tests/sql/test_total.py shows it for the reference and tests/engines/test_conformance.py that engines mean the same.
Here the values come the way they come in life: from a file, through preparation, and each function is run by the real
engine in the cells a plan is made of. A function that is added is tried here by itself; one that nothing calls fails.
"""

import contextlib
import csv
import time

import pytest

import nowiser
from nowiser.engines.reference import tally_rows
from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql.functions import ALLOWED, call
from nowiser.sql.interval import Interval
from nowiser.sql.plan.cells import Cell, sum_cell
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Column, Scan, Type
from sql import test_total

NUMBERS = [
    "", "NaN", "nan", "inf", "-inf", "Infinity", "1e999", "-1e999", "1e-400", "5e-324", "-0.0", "0", "1", "-1", "0.5", "-0.5", "1000", "-1000",
    "600", "-600", "599.9999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 400, "0x10", "1_000",
    "\u0661\u0662", "\u22125", " 7 ", "7;", "1,5", "NULL", "true", "--1", "1e5", "x",
]  # fmt: skip
TEXTS = [
    "", " ", "a", "A-1", "12", "-3.5e7", "9" * 30, "\x01", "\x7f", "ß\U0001f680", "e\u0301", "\u0130", "\ufb01", "%_\\", "2024-02-30", "NULL",
    "'", '"', "a\nb", "\r\n", "\u202e", "=1+1", "<b>", "aA1 -" * 20_000, "a" * 100_000, "ab" * 50_000, "(((((", "[", "\\", "$$", "é" * 5000,
]  # fmt: skip
DAYS = [
    "", "0001-01-01", "9999-12-31", "10000-01-01", "0000-01-01", "-0044-03-15", "2024-02-29", "2024-02-30", "2023-02-29", "1900-02-29", "1970-01-01",
    "1969-12-31", "infinity", "-infinity", "epoch", "now", "today", "2024-13-01", "20240101", "01/02/2024", "2024-1-1", "2024-06-30 23:59:60", "x",
]  # fmt: skip
MOMENTS = [
    *DAYS, "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "10000-01-01 00:00:00", "2024-03-31 02:30:00", "2024-01-01T00:00:00+14:00",
    "2024-01-01 00:00:00-12", "2024-01-01 00:00:00 Asia/Tokyo", "2024-01-01 24:00:00", "2024-01-01 00:00:00.9999999", "1969-12-31 23:59:59.999999",
]  # fmt: skip
FLAGS = ["", "true", "false", "TRUE", "t", "yes", "1", "0", "2", "x"]
POISON = {
    Kind.INTEGER: NUMBERS, Kind.REAL: NUMBERS, Kind.TEXT: TEXTS, Kind.BOOLEAN: FLAGS, Kind.DATE: DAYS, Kind.TIMESTAMP: MOMENTS,
}  # fmt: skip
DECLARED = {
    Kind.INTEGER: "{sensitive: [-1000, 1000], kind: integer, nullable: true}",
    Kind.REAL: "{sensitive: [-600, 600], nullable: true}",
    Kind.TEXT: "{sensitive: text}",
    Kind.BOOLEAN: "{sensitive: boolean, nullable: true}",
    Kind.DATE: "{sensitive: {range: [0001-01-01, 9999-12-31]}, nullable: true}",
    Kind.TIMESTAMP: "{sensitive: {range: [0001-01-01 00:00:00, 9999-12-31 23:59:59]}, kind: timestamp, nullable: true}",
}
ROWS = 200
TRIED = 60  # ways to call one function
PLACES = range(3)


def named(kind: Kind, place: int) -> str:
    return f"{kind.value}{place}"


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("poison")
    columns = "\n".join(f"      {named(k, p)}: {DECLARED[k]}" for k in Kind for p in PLACES)
    (folder / "nowiser.yaml").write_text(
        f"nowiser: 1\ntables:\n  t:\n    source: t.csv\n    person: id\n    columns:\n      id: {{identifier: integer}}\n{columns}\n"
        "attackers: [{guess: present in t, gain: 10%}]\n",
        encoding="utf-8",
    )
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["id", *(named(k, p) for k in Kind for p in PLACES)])
        for i in range(ROWS):  # other columns turn at another pace, so that many combinations meet
            out.writerow([i, *(POISON[k][i * (1, 3, 7)[p] % len(POISON[k])] for k in Kind for p in PLACES)])
    with nowiser.open(folder / "nowiser.yaml") as gateway:
        gateway._engine.prepared_version()
        yield gateway


@pytest.fixture(scope="module")
def rows(poisoned):
    """The prepared rows, dates in days and timestamps in microseconds."""
    shown = [f'"{c.name}"' for c in poisoned.policy.tables[0].columns]
    for i, c in enumerate(poisoned.policy.tables[0].columns):
        if c.kind is Kind.DATE:
            shown[i] = f"CAST(epoch_us({shown[i]}) // 86400000000 AS BIGINT)"
        if c.kind is Kind.TIMESTAMP:
            shown[i] = f"epoch_us({shown[i]})"
    found = poisoned._engine._connection.cursor().execute(f"SELECT {', '.join(shown)} FROM t").fetchall()
    names = [c.name for c in poisoned.policy.tables[0].columns]
    assert len(found) == ROWS
    return [dict(zip(names, row, strict=True)) for row in found]


def column(poisoned):
    table = poisoned.policy.tables[0]

    def find(place: int, kind: Kind) -> Column:
        declared = next(c for c in table.columns if c.name == named(kind, place))
        ends = None if declared.low is None or kind is Kind.BOOLEAN else Interval(declared.low, declared.high)
        return Column("t0", "t", declared, Type(kind, nullable=True, bounds=ends))

    return find


def cells_of(tree) -> list[Cell]:
    """What a plan makes of an expression: how often it is there, or true, and its sum."""
    found = [Cell(None, None, not_null=tree)]
    if tree.type.kind is Kind.BOOLEAN:
        found.append(Cell(None, tree))
    if tree.type.kind is Kind.TEXT:
        found.append(Cell(None, None, not_null=call("length", (tree,))))
    if tree.type.kind in (Kind.INTEGER, Kind.REAL):
        with contextlib.suppress(NotAnswerable):  # no known ends: a sum is refused, counts and conditions are not
            found.append(sum_cell(tree, None, centred=False))
    return found


def test_preparation_leaves_only_what_was_declared(rows):
    for row in rows:
        for kind in (Kind.INTEGER, Kind.REAL):
            for value in (row[named(kind, p)] for p in PLACES):
                assert value is None or abs(value) <= (1000 if kind is Kind.INTEGER else 600)
        for value in (row[named(Kind.DATE, p)] for p in PLACES):
            assert value is None or -719_162 <= value <= 2_932_896


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_no_row_of_a_file_breaks_a_function(poisoned, rows, name, monkeypatch):
    monkeypatch.setattr(test_total, "column", column(poisoned))
    trees = test_total.calls(name)
    assert trees, f"nothing calls {name}"
    trees = trees[:: max(1, len(trees) // TRIED)]
    cells = [c for tree in trees for c in cells_of(tree)]
    tally = Tally(Scan("t0", poisoned.policy.tables[0]), (), tuple(cells))
    started = time.process_time()
    found = [int(c[0].as_py()) for c in poisoned._engine.run(tally).columns]
    took = time.process_time() - started
    wanted = next(iter(tally_rows(tally, {"t": rows}).values()))
    for cell, one, other in zip(cells, found, wanted, strict=True):
        assert abs(one) <= ROWS * max(1, abs(cell.low + cell.shift), abs(cell.high + cell.shift))
        slack = 0 if cell.argument is None else ROWS + abs(other) * 1e-9  # half a unit a row, where a last bit differs
        assert abs(one - other) <= slack, f"{name}: {one} on the engine, {other} by the reference\n{cell}"
    assert took < 0.1 * len(cells) + 2, f"{name}: {took:.1f} s for {len(cells)} cells over {ROWS} rows"
