"""No value of any row makes a function of the allow-list raise, leave its bounds, or take long.

Runs over the allow-list by itself: a function that is added is tried here without being named. Engines are held to
the same reference by tests/engines/test_conformance.py.
"""

import math
import time
from itertools import product

import pytest

from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.model.schema import Kind, Role
from nowiser.sql.bound import bounds
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import ALLOWED, call
from nowiser.sql.interval import Interval, point
from nowiser.sql.tree import Column, Literal, Type

LONG = "aA1 -" * 20_000
TEXTS = [None, "", "a", "A-1", "12", "-3.5e7", "9" * 30, "\x01", "ß\U0001f680", "%_\\", "2024-02-30", LONG]
VALUES = {
    Kind.INTEGER: [None, -1000, -1, 0, 1, 999, 1000],
    Kind.REAL: [None, -600.0, -1e-300, -0.0, 0.0, 5e-324, 0.5, 599.9999999999999, 600.0],
    Kind.TEXT: TEXTS,
    Kind.BOOLEAN: [None, True, False],
    Kind.DATE: [None, -300_000, -1, 0, 11_016, 1_000_000],
    Kind.TIMESTAMP: [None, -300_000 * 86_400_000_000, -1, 0, 951_782_400_000_001, 10**17],
}
FIXED = [
    *(Literal(n, Type(Kind.INTEGER, bounds=point(n))) for n in (0, 1, 3)),
    *(Literal(x, Type(Kind.REAL, bounds=point(x))) for x in (0.0, 2.0, 0.5, 10.0)),
    *(Literal(t, Type(Kind.TEXT)) for t in ("ab", "a", "", "^(?:[a-z]{1,3}|A-)[0-9]*$")),
]
MOST = 400
SOME = 40  # calls with more arguments than a function needs
LEAST = {"case": 3, "and": 2, "or": 2}  # what SQL can write
# The binder lets in fixed patterns only, and fixed replacements that are no longer than what they replace.
PATTERNED = {"like", "matches", "replace"}


def column(place, kind):
    found = [v for v in VALUES[kind] if v is not None]
    ends = None if kind in (Kind.TEXT, Kind.BOOLEAN) else Interval(min(found), max(found))
    declared = schema.Column(f"x{place}", kind, Role.SENSITIVE)
    return Column("t0", "t", declared, Type(kind, nullable=True, bounds=ends))


def calls(name):
    """Every way to call it with the fewest arguments, and some with more: each a column of any kind or a constant."""
    every = []
    for arity in range(LEAST.get(name, 1), 5):
        if arity == 4 and every:
            break
        found = []
        first = [column(0, kind) for kind in Kind]
        fixed = name in PATTERNED
        others = [[*([] if fixed else (column(i, kind) for kind in Kind)), *FIXED] for i in range(1, min(arity, 3))]
        last = [FIXED] if arity == 4 else []
        for args in product(first, *others, *last):
            if name == "replace" and not (args[2:] and len(str(args[1].value)) >= len(str(args[2].value))):
                continue
            try:
                tree = call(name, args)
                bounds.total(tree)
            except NotAnswerable:
                continue
            found.append(tree)
        every += found[:: max(1, len(found) // SOME)] if every else found
    return every


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_total(name):
    found = calls(name)
    assert found, f"nothing calls {name}"
    for tree in found:
        columns = [a for a in tree.args if isinstance(a, Column)]
        for row in list(product(*(VALUES[c.type.kind] for c in columns)))[:MOST]:
            own = dict(zip(columns, row, strict=True))
            started = time.process_time()
            value = evaluate(tree, lambda leaf, own=own: own[leaf])
            assert time.process_time() - started < 1.0, "takes visibly longer"
            check(tree, value, row)


def check(tree, value, row):
    if value is None:
        assert tree.type.nullable, (tree.function, row)
        return
    if tree.type.kind is Kind.TEXT:
        assert isinstance(value, str)
        fixed = sum(len(a.value) for a in tree.args if isinstance(a, Literal) and isinstance(a.value, str))
        assert len(value) <= max(40, sum(len(v) for v in row if isinstance(v, str)) + fixed), "texts never grow"
        return
    if tree.type.kind is Kind.BOOLEAN:
        assert isinstance(value, bool)
        return
    assert not (isinstance(value, float) and not math.isfinite(value))
    inside = tree.type.interval
    slack = 1e-9 * abs(value)
    assert inside.low - slack <= value <= inside.high + slack, (tree.function, row, value, inside)


@pytest.mark.parametrize("pattern", ["^a*a*a*a*a*a*a*b", "(aa)?a{0,255}c", ".*.*.*=.*"])
def test_patterns_take_time_that_grows_gently(pattern):
    """On the engine itself: matching is linear there, whatever the text."""
    duckdb = pytest.importorskip("duckdb")
    from nowiser.sql.functions.patterns import regular

    with duckdb.connect() as c:
        started = time.process_time()
        c.execute("SELECT count(*) FILTER (WHERE regexp_matches(repeat('a', 20000), ?, 's')) FROM range(20)", [regular(pattern)])  # fmt: skip
        assert time.process_time() - started < 10
