"""Reading and planning take work in proportion to the length of the text: counted in calls, not in seconds."""

import sys

import pytest

from nowiser.engines.duckdb.dialect import DIALECT
from nowiser.engines.statement import statement
from nowiser.errors import NotAnswerable
from nowiser.sql.canonical import digest
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.sql_world import POLICY

FEW = 20
MOST_CALLS = 1_500_000  # work that doubles with every summand would pass this long before it ends


class TooMuchWork(BaseException):
    """Not an Exception, so that nothing on the way takes it for a refusal."""


def work(sql: str) -> int:
    """How many calls of Python functions it takes to read, plan, name and print a question, or to refuse it."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"
        if calls > MOST_CALLS:
            sys.setprofile(None)
            raise TooMuchWork

    sys.setprofile(count)
    try:
        query = read(sql, POLICY)
        found = plan(query, POLICY)
        digest(query, "")
        for tally in found.tallies:
            statement(tally, DIALECT)
    except NotAnswerable:
        pass
    finally:
        sys.setprofile(None)
    return calls


def chain(sign: str, what: str, n: int) -> str:
    return sign.join([what] * n)


def different(what: str, n: int, sign: str = ", ") -> str:
    return sign.join(what.format(i) for i in range(n))


def around(what: str, inner: str, n: int) -> str:
    for _ in range(n):
        inner = what.format(inner)
    return inner


CHAINS = {
    "+": lambda n: f"SELECT SUM({chain('+', 'cost', n)}) FROM patients",
    "-": lambda n: f"SELECT SUM({chain('-', 'cost', n)}) FROM patients",
    "*": lambda n: f"SELECT COUNT(*) FROM patients WHERE {chain('*', '(cost / 1000)', n)} > 1",
    "/": lambda n: f"SELECT COUNT(*) FROM patients WHERE {chain('/', '(cost + 1)', n)} > 1",
    "||": lambda n: f"SELECT COUNT(*) FROM patients WHERE {chain('||', 'name', n)} = 'a'",
    "days": lambda n: f"SELECT COUNT(*) FROM patients WHERE born{' + 1' * n} > DATE '2000-01-01'",
    "and": lambda n: f"SELECT COUNT(*) FROM patients WHERE {different('cost > {}', n, ' AND ')}",
    "or": lambda n: f"SELECT COUNT(*) FROM patients WHERE {different('cost > {}', n, ' OR ')}",
    "of answers": lambda n: f"SELECT {chain('+', 'COUNT(*)', n)} FROM patients",
    "of answers beside a key": lambda n: (
        f"SELECT ward || 'x', {chain('+', 'COUNT(*)', n)} FROM patients GROUP BY ward || 'x'"
    ),
    "around": lambda n: f"SELECT {chain('+', 'n', n)} FROM (SELECT COUNT(*) AS n FROM patients) AS q",
    "in": lambda n: f"SELECT COUNT(*) FROM patients WHERE id IN ({different('{}', n)})",
    "in of sums": lambda n: f"SELECT COUNT(*) FROM patients WHERE cost IN ({different('cost + {}', n)})",
    "case": lambda n: f"SELECT SUM(CASE {different('WHEN cost > {0} THEN {0}', n, ' ')} END) FROM patients",
    "case of": lambda n: f"SELECT SUM(CASE cost {different('WHEN {0} THEN {0}', n, ' ')} END) FROM patients",
    "sums": lambda n: f"SELECT {different('SUM(cost + {})', n)} FROM patients",
    "correlations": lambda n: f"SELECT {different('CORR(cost + {}, cost)', n)} FROM patients",
    "medians": lambda n: f"SELECT {different('MEDIAN(cost + {})', n)} FROM patients",
    "filters": lambda n: f"SELECT {different('COUNT(*) FILTER (WHERE cost > {})', n)} FROM patients",
    "averages by key": lambda n: f"SELECT ward, {different('AVG(cost + {})', n)} FROM patients GROUP BY ward",
    "having": lambda n: f"SELECT ward FROM patients GROUP BY ward HAVING {different('COUNT(*) > {}', n, ' AND ')}",
    "order": lambda n: f"SELECT ward FROM patients GROUP BY ward ORDER BY {different('COUNT(*) + {}', n)}",
}

NESTS = {
    "brackets": lambda n: f"SELECT SUM({around('({} + 1)', 'cost', n)}) FROM patients",
    "case": lambda n: f"SELECT SUM({around('CASE WHEN cost > 1 THEN {} ELSE 1 END', 'cost', n)}) FROM patients",
    "coalesce": lambda n: f"SELECT SUM({around('COALESCE({}, 1)', 'cost', n)}) FROM patients",
    "differences": lambda n: f"SELECT SUM({around('ABS(cost - {})', 'cost', n)}) FROM patients",
    "epochs": lambda n: "SELECT COUNT(*) FROM patients WHERE {} > 1".format(
        around("EXTRACT(EPOCH FROM born - CAST({} AS INTEGER))", "1", n // 2)
    ),
    "key": lambda n: "SELECT COUNT(*) FROM patients GROUP BY {}".format(around("COALESCE({}, 'a')", "name", n)),
    "key of function": lambda n: "SELECT COUNT(*) FROM patients GROUP BY {}".format(
        around("COALESCE({}, 'a')", "LOWER(name)", n)
    ),
    "sub-selects": lambda n: f"SELECT COUNT(*) FROM {around('(SELECT * FROM {}) AS q', 'patients', n)}",
    "answers": lambda n: "SELECT n FROM {}".format(
        around("(SELECT n FROM {}) AS q", "(SELECT COUNT(*) AS n FROM patients) AS q", n)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_twice_as_long_is_twice_as_much_work(name):
    make = CHAINS[name]
    work(make(FEW))  # what is imported and kept the first time does not count
    once, twice = work(make(2 * FEW)), work(make(4 * FEW))
    assert twice < 2.3 * once, f"{once:,} calls, then {twice:,}"


@pytest.mark.parametrize("name", NESTS)
def test_twice_as_deep_is_not_four_times_the_work(name):
    make = NESTS[name]
    work(make(FEW))
    once, twice = work(make(10)), work(make(20))
    assert twice < 3 * once, f"{once:,} calls, then {twice:,}"


def wide(n: int) -> str:
    return "+".join(["(" + "+".join(["cost"] * 20) + ")"] * (n // 20))


def test_five_hundred_summands_are_read():
    work(f"SELECT SUM({wide(40)}) FROM patients")
    calls = work(f"SELECT SUM({wide(500)}) FROM patients")
    assert calls < 500 * 1_000
    query = read(f"SELECT SUM({wide(500)}) FROM patients", POLICY)
    assert query.aggregates[0].argument.type.interval.high == 500 * 1000


def test_a_longer_row_of_signs_is_refused_with_what_to_do():
    with pytest.raises(NotAnswerable, match="nested too deeply") as refusal:
        read(f"SELECT SUM({chain('+', 'cost', 500)}) FROM patients", POLICY)
    assert "brackets" in refusal.value.hint


LONG = {
    "steps of an interval": "SELECT COUNT(*) FROM patients WHERE born + INTERVAL '{}' > DATE '2000-01-01'".format(
        "1 day " * 500
    ),
    "a chain of WITH": "WITH a0 AS (SELECT cost FROM patients)"
    + "".join(f", a{i} AS (SELECT cost FROM a{i - 1})" for i in range(1, 300))
    + " SELECT SUM(cost) FROM a299",
    "a chain of unions": "WITH a0 AS (SELECT cost FROM patients)"
    + "".join(f", a{i} AS (SELECT cost FROM a{i - 1} UNION ALL SELECT cost FROM a{i - 1})" for i in range(1, 110))
    + " SELECT SUM(cost) FROM a109",
    "deep columns of sub-selects": "WITH a0 AS (SELECT cost AS n FROM patients)"
    + "".join(f", a{i} AS (SELECT n{'+1' * 100} AS n FROM a{i - 1})" for i in range(1, 20))
    + " SELECT SUM(n) FROM a19",
    "long columns of sub-selects": "SELECT {} FROM {}".format(
        different("SUM(c + {})", 400),
        around("(SELECT (c + c) / 2 AS c FROM {}) AS q", "(SELECT cost AS c FROM patients) AS q", 8),
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_what_grows_while_it_is_read_is_refused(name):
    with pytest.raises(NotAnswerable) as refusal:
        plan(read(LONG[name], POLICY), POLICY)
    assert refusal.value.hint
    assert work(LONG[name]) < MOST_CALLS


def test_the_longest_question_that_is_read_leaves_the_stack_alone():
    """As deep as texts may nest, in the innermost of a chain of WITH, and from a caller deep in his own."""
    chained = "".join(f", a{i} AS (SELECT cost FROM a{i - 1})" for i in range(1, 60))
    sql = f"WITH a0 AS (SELECT cost{'+1' * 110} AS cost FROM patients){chained} SELECT SUM(cost{'+1' * 110}) FROM a59"

    def deep(frames: int) -> int:
        return work(sql) if not frames else deep(frames - 1)

    assert deep(150)
