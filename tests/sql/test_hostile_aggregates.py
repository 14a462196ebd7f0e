"""Aggregates of absurd arguments: planned or refused, never a traceback."""

from contextlib import suppress
from itertools import product

import pytest

from nowiser.errors import NotAnswerable
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.sql_world import POLICY

ARGUMENTS = [
    "cost * 1e-308 * 1e-5", "cost * 1e-305", "cost * 1e290", "cost * 1e150", "cost - cost", "EXP(cost * 0.5)",
    "POWER(cost, 60)", "0 * cost", "1e-320 * cost", "id % 5", "cost / 3e-300", "NULL", "1", "born", "name", "diagnosis",
    "cost > 3", "CAST(name AS INTEGER)", "LENGTH(name)", "EXTRACT(EPOCH FROM born)", "NULLIF(cost, cost)", "id",
    "born - DATE '0001-01-01'", "WIDTH_BUCKET(cost, 0, 1e-300, 10000)", "CASE WHEN cost > 3 THEN 1 END", "TRUE",
]  # fmt: skip
CALLS = [
    "MEDIAN({})", "VARIANCE({})", "STDDEV_POP({})", "MIN({})", "MAX({})", "AVG({})", "SUM({})", "COUNT(DISTINCT {})",
    "CORR({0}, {0})", "COVAR_SAMP({}, cost)", "PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY {})",
    "PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY {} DESC)", "COUNT({}) FILTER (WHERE cost < 0)",
]  # fmt: skip
WHERES = ["", " WHERE cost BETWEEN 1 AND 1.0000000000001", " WHERE FALSE", " WHERE cost < -1 AND cost > 2000"]


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_planned_or_refused(argument):
    answered = 0
    for call, where in product(CALLS, WHERES):
        with suppress(NotAnswerable):
            plan(read(f"SELECT {call.format(argument)} FROM patients{where}", POLICY), POLICY)
            answered += 1
    refused = {
        "name",
        "NULL",
        "WIDTH_BUCKET(cost, 0, 1e-300, 10000)",
    }  # ends too close for a bucket to be sure of its digits
    assert answered or argument in refused, "at least its different values are counted"
