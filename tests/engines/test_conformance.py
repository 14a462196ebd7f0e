"""Every function means on every engine what its reference says, over nasty inputs."""

import math
from fractions import Fraction
from itertools import product

import pytest

from nowiser.engines.duckdb import DIALECT, TYPES
from nowiser.engines.render import expression, literal
from nowiser.model import schema
from nowiser.model.schema import Kind, Role
from nowiser.sql import bounds
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import ALLOWED, call
from nowiser.sql.interval import Interval
from nowiser.sql.tree import Column, Literal, Type

duckdb = pytest.importorskip("duckdb")

NASTY = {
    Kind.INTEGER: [None, -(2**31), -7, -3, -1, 0, 1, 2, 3, 7, 2**31],
    Kind.REAL: [
        None,
        -1e15,
        -2.675,
        -2.5,
        -1.0,
        -0.5,
        -1e-12,
        -5e-324,
        0.0,
        5e-324,
        1e-12,
        0.49999999999999994,
        0.5,
        1.5,
        2.5,
        2.675,
        600.0,
        1e15,
    ],
    Kind.TEXT: [None, "", "a", "A", "ab", "a%b", "a\\b", "ä", "é", "👩‍🚀", "'", '"', "z" * 50, "\n", "a_b"],
    Kind.BOOLEAN: [None, True, False],
    Kind.DATE: [None, -1, 0, 1, 18262],
    Kind.TIMESTAMP: [None, -1, 0, 86_400_000_000, 1_577_836_800_123_456],
}
B, I, R, T, D, S = Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP
PAIRS = [(k, k) for k in (I, R, T, B, D, S)]
SIGNATURES = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "nullif"), PAIRS),
    **{key: [(I, I), (R, R)] for key in ("+", "-", "*", "%")},
    "/": [(R, R)],
    "div": [(I, I)],
    **{key: [(I,), (R,)] for key in ("neg", "abs", "floor", "ceil", "round")},
    **{key: [(R,)] for key in ("sqrt", "ln", "exp", "to_integer")},
    "round_to": [(R, "2"), (R, "0"), (R, "-2")],
    "to_real": [(I,)],
    "boolean_to_integer": [(B,)],
    **{key: [(B, B), (B, B, B)] for key in ("and", "or")},
    "not": [(B,)],
    "is_null": [(k,) for k in NASTY],
    "in": [(I, I, I), (T, T, T), (R, R)],
    "case": [(B, I, I), (B, T, B, T, T), (B, R, R)],
    "coalesce": [*PAIRS, (I, I, I)],
    **{key: [(I, I), (R, R), (D, D), (I, I, I)] for key in ("greatest", "least")},
    "like": [(T, "'a%'"), (T, "'_'"), (T, "'a\\\\%b'"), (T, "'%\\\\\\\\%'"), (T, "''"), (T, "'a\\\\_b'")],
    "length": [(T,)],
}


def test_every_allowed_function_is_tried():
    assert set(SIGNATURES) == set(ALLOWED)


def column(position: int, kind: Kind) -> Column:
    found = [v for v in NASTY[kind] if v is not None]
    ends = None if kind in (T, B) else Interval(Fraction(min(found)), Fraction(max(found)))
    declared = schema.Column(f"x{position}", kind, Role.SENSITIVE)
    return Column("t0", "t", declared, Type(kind, nullable=True, bounds=ends))


def argument(position: int, kind):
    if isinstance(kind, Kind):
        return column(position, kind)
    if kind.startswith("'"):
        return Literal(kind[1:-1].replace("\\\\", "\\"), Type(T))
    return Literal(int(kind), Type(I, bounds=Interval(int(kind), int(kind))))


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as c:
        yield c


def cases():
    for name, signatures in SIGNATURES.items():
        for kinds in signatures:
            yield pytest.param(
                name, kinds, id=f"{name}-{'-'.join(k.value if isinstance(k, Kind) else k for k in kinds)}"
            )


@pytest.mark.parametrize(("name", "kinds"), list(cases()))
def test_duckdb_agrees_with_the_reference(connection, name, kinds):
    args = tuple(argument(i, k) for i, k in enumerate(kinds))
    tree = call(name, args)
    if name == "exp":  # what could overflow is refused; try what could not
        args = (Column("t0", "t", args[0].declared, Type(R, nullable=True, bounds=Interval(-1000, 600))),)
        tree = call(name, args)
    columns = [a for a in args if isinstance(a, Column)]
    inputs = [NASTY[c.declared.kind] for c in columns]
    if name == "exp":
        inputs = [[v for v in inputs[0] if v is None or -1000 <= v <= 600]]
    bounds.total(tree)
    names = ", ".join(c.declared.name for c in columns)
    rows = list(product(*inputs))
    values = ", ".join(
        "(" + ", ".join(literal(v, c.declared.kind, DIALECT) for v, c in zip(row, columns, strict=True)) + ")"
        for row in rows
    )
    exact = f"CAST({expression(tree, DIALECT)} AS {TYPES[tree.type.kind]})"
    if tree.type.kind in (D, S):
        exact = f"epoch_us({exact})"
    found = [r[0] for r in connection.execute(f"SELECT {exact} FROM (VALUES {values}) t0({names})").fetchall()]
    for row, got in zip(rows, found, strict=True):
        own = dict(zip(columns, row, strict=True))
        wanted = evaluate(tree, lambda leaf, own=own: own[leaf])
        if tree.type.kind is D and wanted is not None:
            wanted *= 86_400_000_000
        if tree.type.kind is R and wanted is not None and got is not None:
            wanted = float(wanted)
            assert math.isclose(got, wanted, rel_tol=1e-15 if name in ("exp", "ln") else 0.0), (name, row, got, wanted)
        else:
            assert got == wanted, (name, row, got, wanted)
        if got is None:
            assert tree.type.nullable, (name, row)
        elif tree.type.bounds is not None and tree.type.kind in (I, R):
            slack = 1e-9 * abs(got)
            assert tree.type.bounds.low - slack <= got <= tree.type.bounds.high + slack, (name, row, got, tree.type)
