"""What is computed from released rows: totals of totals, windows, filters, joins of answers. After the noise, free."""

import math
from fractions import Fraction
from random import Random

import duckdb
import numpy as np
import pytest

import nowiser
from nowiser.engines.reference import tally_rows
from nowiser.errors import NotAnswerable
from nowiser.noise.laplace import Laplace
from nowiser.policy import parse
from nowiser.sql.answer import results as release
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

HERE = """nowiser: 1
tables:
  stays:
    source: stays.csv
    person: id
    protect: persons
    rows_per_person: 2
    columns:
      id: {identifier: integer}
      ward: {public: [A, B, C, D]}
      floor: {public: [0, 3], kind: integer}
      days: {sensitive: [0, 90], kind: integer}
      cost: {sensitive: [0, 1000]}
  open:
    source: open.csv
    public: true
    columns:
      ward: {public: text}
      floor: {public: [0, 3], kind: integer}
      days: {public: [0, 90], kind: integer}
      cost: {public: [0, 1000]}
attackers:
  - {guess: present in stays, gain: 30%}
"""

# The question, and the one inside of it whose rows are released: both cost the same.
SAME_PRICE = [
    ("SELECT AVG(s) FROM ({}) q", "SELECT ward, SUM(cost) AS s FROM stays GROUP BY ward"),
    ("SELECT SUM(m) FROM ({}) q", "SELECT MAX(cost) AS m FROM stays"),
    ("SELECT SUM(s) FROM ({}) q", "SELECT id % 2 AS g, SUM(cost) AS s FROM stays GROUP BY id % 2"),
    ("SELECT SUM(s) FROM ({}) q", "SELECT SUM(cost) AS s FROM stays GROUP BY 'x'"),
    ("SELECT ward, n * 100.0 / SUM(n) OVER () FROM ({}) q", "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward"),
    ("SELECT ward, n - LAG(n) OVER (ORDER BY ward) FROM ({}) q", "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward"),
    ("SELECT MAX(m) FROM (SELECT floor, MIN(n) AS m FROM ({}) q GROUP BY floor) p",
     "SELECT ward, floor, COUNT(*) AS n FROM stays GROUP BY ward, floor"),
    ("SELECT COUNT(*), STDDEV(n), MEDIAN(n) FROM ({}) q WHERE n > 10", "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward"),
    ("WITH q AS ({}) SELECT * FROM (SELECT ward, RANK() OVER (ORDER BY n DESC) AS r FROM q) p WHERE r <= 2",
     "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward"),
    ("SELECT MAX(n) FROM ({}) q", "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward ORDER BY n DESC LIMIT 2"),
    ("WITH q AS ({}) SELECT ward, n * 1.0 / (SELECT SUM(n) FROM q) FROM q WHERE n > (SELECT AVG(n) FROM q)",
     "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward"),
]  # fmt: skip

# SQL that means the same to DuckDB, where nothing is noisy. `open` has the rows.
AS_SQL_SAYS = [
    ("WITH q AS (SELECT ward, COUNT(*) AS n FROM open GROUP BY ward) SELECT ward, n * 1.0 / (SELECT SUM(n) FROM q)"
     " FROM q WHERE n >= (SELECT AVG(n) FROM q) ORDER BY ward"),
    ("WITH q AS (SELECT ward, COUNT(*) AS n FROM open GROUP BY ward) SELECT ward, n - (SELECT MAX(p.n) FROM q p WHERE p.ward <> 'A'),"
     " RANK() OVER (ORDER BY n) FROM q WHERE ward <> 'B' ORDER BY ward LIMIT 2"),
    ("WITH q AS (SELECT floor, days, COUNT(*) AS n FROM open GROUP BY 1, 2) SELECT floor, SUM(n) * 1.0 / (SELECT SUM(n) FROM q),"
     " MAX(n) FROM q GROUP BY floor HAVING SUM(n) > (SELECT COUNT(*) FILTER (WHERE n > 1) FROM q) ORDER BY floor"),
    "SELECT AVG(n), MAX(n), MIN(n), SUM(n), COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM open GROUP BY ward) q",
    ("SELECT floor, SUM(n), COUNT(n), MAX(n) FROM (SELECT ward, floor, COUNT(*) AS n FROM open GROUP BY 1, 2) q"
    " GROUP BY floor HAVING SUM(n) > 20 ORDER BY 2 DESC, 1 LIMIT 3"),
    "SELECT ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM open GROUP BY ward ORDER BY ward",
    "SELECT ward, floor, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY floor) FROM open GROUP BY ward, floor ORDER BY 1, 2",
    "SELECT ward, RANK() OVER (ORDER BY SUM(days) DESC), DENSE_RANK() OVER (ORDER BY MAX(floor)) FROM open GROUP BY ward ORDER BY 1",
    ("SELECT days, COUNT(*) - LAG(COUNT(*), 2, 0) OVER (ORDER BY days), LEAD(COUNT(*)) OVER (ORDER BY days DESC)"
    " FROM open GROUP BY days ORDER BY days"),
    "SELECT days, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, days) AS r FROM open GROUP BY days ORDER BY r",
    "SELECT days, AVG(COUNT(*)) OVER (ORDER BY days ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM open GROUP BY days ORDER BY 1",
    "SELECT floor, days, SUM(COUNT(*)) OVER (PARTITION BY floor ORDER BY days) FROM open GROUP BY floor, days ORDER BY 1, 2",
    ("SELECT floor, SUM(n) OVER (ORDER BY big), big FROM (SELECT floor, COUNT(*) AS n, COUNT(*) > 30 AS big FROM open"
    " GROUP BY floor) q ORDER BY floor"),
    ("SELECT floor, FIRST_VALUE(n) OVER w, LAST_VALUE(n) OVER w, MIN(n) OVER w FROM (SELECT floor, COUNT(*) AS n FROM open"
    " GROUP BY floor) q WINDOW w AS (ORDER BY floor ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) ORDER BY floor"),
    ("SELECT ward, NTILE(3) OVER (ORDER BY ward), PERCENT_RANK() OVER (ORDER BY ward), CUME_DIST() OVER (ORDER BY ward)"
    " FROM open GROUP BY ward ORDER BY ward"),
    "SELECT ward, COUNT(*) FROM open GROUP BY ward QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, ward) <= 2 ORDER BY ward",
    ("SELECT n > 30 AS many, COUNT(*), SUM(n) FILTER (WHERE ward <> 'A') FROM (SELECT ward, floor, COUNT(*) AS n FROM open"
    " GROUP BY ward, floor) q GROUP BY n > 30 ORDER BY 1"),
    "SELECT DISTINCT n >= 20 FROM (SELECT ward, floor, COUNT(*) AS n FROM open GROUP BY ward, floor) q ORDER BY 1",
    "SELECT STDDEV(n), VAR_POP(n), MEDIAN(n), COUNT(DISTINCT n) FROM (SELECT ward, COUNT(*) AS n FROM open GROUP BY ward) q",
    ("WITH a AS (SELECT ward, COUNT(*) AS n FROM open WHERE days > 30 GROUP BY ward), b AS (SELECT ward, COUNT(*) AS n"
    " FROM open GROUP BY ward) SELECT a.ward, a.n * 1.0 / b.n FROM a JOIN b ON a.ward = b.ward ORDER BY 1"),
    ("WITH a AS (SELECT ward, floor, AVG(cost) AS m FROM open GROUP BY ward, floor), b AS (SELECT ward, MAX(m) AS top"
    " FROM a GROUP BY ward) SELECT AVG(top) FROM b WHERE ward IN ('A', 'B')"),
    "SELECT SUM(n) FROM (SELECT ward, COUNT(*) AS n FROM open GROUP BY ward ORDER BY n DESC, ward LIMIT 2) q",
    "SELECT r, COUNT(*) FROM (SELECT RANK() OVER (ORDER BY floor) AS r FROM open GROUP BY ward, floor) q GROUP BY r ORDER BY r",
]  # fmt: skip

# What is refused, and what to ask instead.
REWRITTEN = [
    ("SELECT ward, n / (SELECT SUM(n) FROM q) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) q",
     "SELECT ward, n / SUM(n) OVER () FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) q"),
    (("WITH a AS (SELECT ward, floor, COUNT(*) AS n FROM stays GROUP BY ward, floor), b AS (SELECT ward, COUNT(*) AS n"
      " FROM stays GROUP BY ward) SELECT ward, a.n / b.n FROM a JOIN b ON a.ward = b.ward"),
     "SELECT ward, floor, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY ward) FROM stays GROUP BY ward, floor"),
    (("SELECT s.ward, COUNT(*) FROM stays s JOIN (SELECT ward, AVG(cost) AS m FROM stays GROUP BY ward) a ON a.ward = s.ward"
     " WHERE s.cost > a.m GROUP BY s.ward"),
     "SELECT id, ward, AVG(cost) AS m FROM stays GROUP BY id, ward"),
    ("SELECT ward, COUNT(*) FROM stays GROUP BY ward HAVING RANK() OVER (ORDER BY COUNT(*)) = 1",
     "SELECT ward FROM (SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM stays GROUP BY ward) q WHERE r = 1"),
    ("SELECT ward, COUNT(*) FROM stays GROUP BY ward QUALIFY COUNT(*) > 3",
     "SELECT ward, COUNT(*) FROM stays GROUP BY ward HAVING COUNT(*) > 3"),
    ("SELECT RANK() OVER (ORDER BY cost) FROM stays", "SELECT ward, COUNT(*) FROM stays GROUP BY ward"),
    ("SELECT ward, SUM(SUM(COUNT(*)) OVER ()) OVER () FROM stays GROUP BY ward",
     "SELECT SUM(s) OVER () FROM (SELECT ward, SUM(COUNT(*)) OVER () AS s FROM stays GROUP BY ward) q"),
    ("SELECT floor, SUM(COUNT(*)) OVER (ORDER BY floor RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM stays GROUP BY floor",
     "SELECT floor, SUM(COUNT(*)) OVER (ORDER BY floor ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM stays GROUP BY floor"),
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("further"), Random(7)
    rows = [
        f"{rng.choice('ABBCCCD')},{rng.randint(0, 3)},{rng.choice([1, 5, 5, 9, 40, 77])},{rng.randint(0, 1000)}"
        for _ in range(400)
    ]
    (folder / "open.csv").write_text("\n".join(["ward,floor,days,cost", *rows]) + "\n", encoding="utf-8")
    (folder / "stays.csv").write_text(
        "\n".join(["id,ward,floor,days,cost", *(f"{i},{r}" for i, r in enumerate(rows))]) + "\n", encoding="utf-8"
    )
    (folder / "nowiser.yaml").write_text(HERE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def gateway(home):
    with nowiser.open(home / "nowiser.yaml") as opened:
        yield opened


@pytest.fixture(scope="module")
def policy():
    return parse(HERE)


@pytest.mark.parametrize(("outer", "inner"), SAME_PRICE)
def test_what_is_computed_further_costs_what_its_rows_cost(outer, inner, policy):
    """The same exact part, the same bounds, the same noise: nothing outside looks at a row of data."""
    alone, around = plan(read(inner, policy), policy), plan(read(outer.format(inner), policy), policy)
    assert around.tally == alone.tally
    assert around.reaches == alone.reaches
    kept = [w for w in alone.ways if w.top is None]  # a pick of the largest is not computed with further
    assert [w.unit for w in around.ways] == [w.unit for w in kept]
    assert around.query.after


def test_what_one_person_comes_to_is_never_released_as_it_is(policy):
    """A sub-select about single persons stays one: bounded per person, with noise outside and no steps."""
    found = plan(read("SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM stays GROUP BY id) q", policy), policy)
    assert not found.query.after
    assert "PerPerson" in type(found.query.relation).__name__
    for outside in (
        "SELECT id, RANK() OVER (ORDER BY n) FROM ({}) q",
        "SELECT MAX(n) OVER () FROM ({}) q",
        "SELECT * FROM ({}) q",
    ):
        with pytest.raises(NotAnswerable):
            read(outside.format("SELECT id, COUNT(*) AS n FROM stays GROUP BY id"), policy)


def test_a_sum_of_several_persons_is_released_before_it_is_compared(policy):
    """Conditions on totals look at noisy numbers, not at exact ones: they stand behind the noise."""
    found = plan(
        read("SELECT COUNT(*) FROM (SELECT ward, SUM(cost) AS s FROM stays GROUP BY ward) q WHERE s > 500", policy),
        policy,
    )
    assert all(not r.exact for r in found.reaches)
    assert release.exact_columns(found) == ()


@pytest.mark.parametrize("sql", AS_SQL_SAYS)
def test_as_sql_says(sql, gateway, home):
    database = duckdb.connect()
    database.execute("CREATE TABLE open AS SELECT * FROM read_csv(?)", [str(home / "open.csv")])
    wanted, answer = database.execute(sql).fetchall(), gateway.query(sql)
    assert [tuple(map(plain, r)) for r in answer.rows] == [tuple(map(plain, r)) for r in wanted]
    assert all(e == 0.0 for e in answer.error), "what is public is exact"


def written(rng):
    """A SELECT around an answer around an answer …, which DuckDB understands too."""
    totals = [
        "COUNT(*)",
        "SUM(n)",
        "MIN(n)",
        "MAX(m)",
        "AVG(n)",
        "COUNT(m)",
        "SUM(n) FILTER (WHERE m > 20)",
        "MAX(n - m)",
    ]
    over = ["", "PARTITION BY floor ", "PARTITION BY n > 9 "]
    frames = [
        "",
        " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
        " ROWS UNBOUNDED PRECEDING",
        " ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING",
    ]
    sql = "SELECT ward, floor, COUNT(*) AS n, MAX(days) AS m FROM open GROUP BY ward, floor"
    for _ in range(rng.randint(1, 3)):
        where = rng.choice(["", " WHERE n > 8", " WHERE ward <> 'B' AND m >= 5", " WHERE floor IN (0, 2) OR n < 9"])
        function = rng.choice(
            [
                "SUM(n)",
                "RANK()",
                "LAG(n, 1, 0)",
                "LEAD(m)",
                "COUNT(*)",
                "AVG(n)",
                "MIN(m)",
                "FIRST_VALUE(n)",
                "DENSE_RANK()",
                "ROW_NUMBER()",
            ]
        )
        framed = rng.choice(frames) if "(" in function and function[:3] in ("SUM", "AVG", "MIN", "COU", "FIR") else ""
        way = rng.choice(["", "DESC "])
        match rng.randrange(3):
            case 0:
                sql = f"SELECT floor, ward, {rng.choice(totals)} AS n, {rng.choice(totals)} AS m FROM ({sql}) q{where} GROUP BY ward, floor"
            case 1:
                sql = (
                    f"SELECT ward, floor, m, {function} OVER ({rng.choice(over)}ORDER BY ward {way}, floor{framed}) AS n"
                    f" FROM ({sql}) q{where}"
                )
            case _:
                sql = f"SELECT ward, floor, n + m AS n, CASE WHEN n > m THEN n ELSE m END AS m FROM ({sql}) q{where} ORDER BY ward {way}, floor LIMIT 9"
    top = ", ".join(rng.sample(totals, 3))
    return rng.choice(
        [
            f"SELECT {top} FROM ({sql}) q",
            f"SELECT floor, {top} FROM ({sql}) q GROUP BY floor ORDER BY floor",
            f"SELECT ward, floor, n, m FROM ({sql}) q ORDER BY ward, floor",
        ]
    )


@pytest.mark.parametrize("seed", range(40))
def test_what_was_made_up_is_as_sql_says(seed, gateway, home):
    database = duckdb.connect()
    database.execute("CREATE TABLE open AS SELECT * FROM read_csv(?)", [str(home / "open.csv")])
    sql = written(Random(seed))
    wanted, answer = database.execute(sql).fetchall(), gateway.query(sql)
    assert [tuple(map(plain, r)) for r in answer.rows] == [tuple(map(plain, r)) for r in wanted], sql


@pytest.mark.parametrize("seed", range(40))
def test_what_was_made_up_about_persons_costs_what_its_totals_cost(seed, policy):
    inner = "SELECT ward, floor, COUNT(*) AS n, MAX(days) AS m FROM stays GROUP BY ward, floor"
    alone, around = (
        plan(read(inner, policy), policy),
        plan(read(written(Random(seed)).replace("FROM open", "FROM stays"), policy), policy),
    )
    assert (around.tally, around.reaches) == (alone.tally, alone.reaches)


def plain(value):
    return float(f"{float(value):.9g}") if isinstance(value, (int, float)) and not isinstance(value, bool) else value


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(n), AVG(n), MAX(n), MIN(n) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) q",
        "SELECT ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () FROM stays GROUP BY ward",
        "SELECT ward, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY ward) FROM stays GROUP BY ward",
        "SELECT ward, AVG(SUM(cost)) OVER (ORDER BY ward ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM stays GROUP BY ward",
        (
            "SELECT ward, n FROM (SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM stays"
            " GROUP BY ward) q WHERE r <= 2"
        ),
        (
            "WITH a AS (SELECT ward, COUNT(*) AS n FROM stays WHERE days > 10 GROUP BY ward), b AS (SELECT ward, COUNT(*) AS n"
            " FROM stays GROUP BY ward) SELECT a.ward, a.n * 1.0 / b.n FROM a JOIN b USING (ward)"
        ),
    ],
)
def test_bars_hold_the_truth_in_95_of_100_cases(sql, policy, home):
    """Noise is drawn 400 times; a bar that fails more than 5 % fails here with power (p = 0.001)."""
    found, rng = plan(read(sql, policy), policy), np.random.default_rng(3)
    lines = (home / "stays.csv").read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(lines[0].split(","), x.split(","), strict=True)) for x in lines[1:]]
    rows = [{k: v if k == "ward" else float(v) if k == "cost" else int(v) for k, v in r.items()} for r in rows]
    exact = tally_rows(found.tally, {"stays": rows})
    cells = [np.array([exact[g][i] for g in found.groups]) for i in range(len(found.tally.cells))]
    noise = tuple(Laplace(Fraction(9) * c.largest, c.unit) for c in found.tally.cells)
    truth = {r[0]: r for r in release.results(found, [None] * len(noise), cells).rows} if found.query.keys else {}
    whole = release.results(found, noise, cells)
    alone = not any(isinstance(r[0], str) for r in whole.rows)
    wanted = release.results(found, noise, cells).rows if alone else None
    if "WHERE r <= 2" in sql:
        truth = {g[0]: (g[0], int(n)) for g, n in zip(found.groups, cells[0], strict=True)}
    inside = outside = 0
    for _ in range(400):
        blurred = [
            c + np.rint(rng.laplace(0, float(n.scale), c.shape)).astype(int) for c, n in zip(cells, noise, strict=True)
        ]
        drawn = release.results(found, noise, blurred)
        errors = [b if isinstance(b, list) else [b] * len(drawn.rows) for b in drawn.errors]
        for i, row in enumerate(drawn.rows):
            true = wanted[0] if wanted is not None else truth[row[0]]
            for j, value in enumerate(row):
                if isinstance(value, str) or value is None or errors[j][i] is None:
                    continue
                good = abs(value - true[j]) <= errors[j][i] * (1 + 1e-9) + 1e-9
                inside, outside = inside + good, outside + (not good)
    assert inside > 100, "there are bars"
    total = inside + outside
    assert outside <= 0.05 * total + 3.1 * math.sqrt(0.05 * 0.95 * total) + 1


def test_noise_that_decides_gives_no_bar(gateway):
    answer = gateway.query(
        "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM stays GROUP BY ward",
        spend="20%",
        anyway=True,
    )
    assert answer.exact == ("ward",)
    assert all(e[2] is None for e in answer.errors())
    chosen = gateway.query(
        "SELECT COUNT(*), SUM(n) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) q WHERE n > 100",
        spend="20%",
        anyway=True,
    )
    assert chosen.exact == ()
    assert chosen.error == (None, None)


def test_asked_in_two_ways_it_is_one_charge(gateway):
    sql = "SELECT AVG(n) FROM (SELECT floor, COUNT(*) AS n FROM stays GROUP BY floor) q"
    first = gateway.query(sql, spend="10%", anyway=True)
    again = gateway.query(
        f"with t as (select floor, count(*) as n from stays group by floor) {sql[:14]} from t".replace(
            "AVG(n)", "avg(n)"
        ),
        spend="10%",
        anyway=True,
    )
    assert again.stored
    assert again.rows == first.rows


@pytest.mark.parametrize(("sql", "instead"), REWRITTEN)
def test_refused_with_a_rewrite_that_is_answered(sql, instead, policy):
    with pytest.raises(NotAnswerable) as caught:
        read(sql, policy)
    assert caught.value.span is not None
    assert caught.value.hint
    if "GROUP BY id" not in instead:  # which names a person: of the rewrite the sub-select is meant
        plan(read(instead, policy), policy)


def test_joined_answers_are_one_with_filters(policy):
    joined = plan(
        read(
            "WITH a AS (SELECT ward, COUNT(*) AS n FROM stays WHERE days > 10 GROUP BY ward), b AS (SELECT ward, SUM(cost) AS s"
            " FROM stays GROUP BY ward) SELECT a.ward, s / n FROM a JOIN b ON a.ward = b.ward",
            policy,
        ),
        policy,
    )
    single = plan(
        read("SELECT ward, COUNT(*) FILTER (WHERE days > 10), SUM(cost) FROM stays GROUP BY ward", policy), policy
    )
    assert joined.tally == single.tally
    assert joined.reaches == single.reaches


@pytest.mark.parametrize(
    "sql",
    [
        (
            "WITH a AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward), b AS (SELECT ward, COUNT(*) AS n FROM open"
            " GROUP BY ward) SELECT a.n - b.n FROM a JOIN b ON a.ward = b.ward"
        ),
        (
            "WITH a AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward), b AS (SELECT ward, floor, COUNT(*) AS n FROM stays"
            " GROUP BY ward, floor) SELECT a.n - b.n FROM a JOIN b ON a.ward = b.ward"
        ),
        (
            "WITH a AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward), b AS (SELECT ward, COUNT(*) AS n FROM stays"
            " GROUP BY ward) SELECT a.n - b.n FROM a JOIN b ON a.n = b.n"
        ),
        (
            "WITH a AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward LIMIT 2), b AS (SELECT ward, COUNT(*) AS n FROM stays"
            " GROUP BY ward) SELECT a.n - b.n FROM a JOIN b ON a.ward = b.ward"
        ),
    ],
)
def test_other_joins_of_answers_are_refused(sql, policy):
    with pytest.raises(NotAnswerable) as caught:
        read(sql, policy)
    assert caught.value.hint


def test_windows_that_would_keep_the_gateway_busy_are_refused_before_anything_is_charged(policy):
    sql = "SELECT days, id % 50, AVG(COUNT(*)) OVER (ORDER BY days{}) FROM stays GROUP BY days, id % 50"
    with pytest.raises(NotAnswerable, match="too many rows") as caught:
        plan(read(sql.format(""), policy), policy)
    assert "6 PRECEDING" in caught.value.hint
    plan(read(sql.format(" ROWS BETWEEN 6 PRECEDING AND CURRENT ROW"), policy), policy)
