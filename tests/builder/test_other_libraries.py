"""Selects of SQLAlchemy, ibis and sqlglot are questions: the same as those written by hand."""

import pytest
import sqlalchemy as sa
import sqlglot

import nowiser as nw
from nowiser.builder.written import text_of
from nowiser.sql.canonical import digest

ibis = pytest.importorskip("ibis")

V = sa.table("visits", *(sa.column(n) for n in ("student", "faculty", "dish", "year", "time", "order by")))
SQLALCHEMY = [
    (sa.select(sa.func.count()).select_from(V), "SELECT COUNT(*) AS count_1 FROM visits"),
    (sa.select(sa.func.avg(V.c.time).label("m")), "SELECT AVG(time) AS m FROM visits"),
    (sa.select(sa.func.sum(V.c.time)).where(V.c.faculty == "math"), "SELECT SUM(time) AS sum_1 FROM visits WHERE faculty = 'math'"),
    (sa.select(sa.func.count().label("n")).where(V.c.dish == "o'clock"), "SELECT COUNT(*) AS n FROM visits WHERE dish = 'o''clock'"),
    (sa.select(V.c.faculty, sa.func.count().label("n")).group_by(V.c.faculty), "SELECT faculty, COUNT(*) AS n FROM visits GROUP BY faculty"),
    (sa.select(sa.func.count().label("n")).where(V.c.faculty.in_(["math", "law"]), V.c.time > 20), "SELECT COUNT(*) AS n FROM visits WHERE faculty IN ('math', 'law') AND time > 20"),
    (sa.select(sa.func.count().label("n")).where(V.c.faculty.like("m%")), "SELECT COUNT(*) AS n FROM visits WHERE faculty LIKE 'm%'"),
    (sa.select(sa.func.count().label("n")).where(V.c.faculty.like("ba\\ck%")), "SELECT COUNT(*) AS n FROM visits WHERE faculty LIKE 'ba\\ck%'"),
    (sa.select(sa.func.count().filter(V.c.time > 30).label("late")), "SELECT COUNT(*) FILTER (WHERE time > 30) AS late FROM visits"),
    (sa.select(sa.func.percentile_cont(0.9).within_group(V.c.time).label("p")), "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY time) AS p FROM visits"),
    (sa.select(V.c.faculty, sa.func.avg(V.c.time).label("m")).group_by(V.c.faculty).having(sa.func.count() > 3).order_by(sa.desc("m")).limit(2), "SELECT faculty, AVG(time) AS m FROM visits GROUP BY faculty HAVING COUNT(*) > 3 ORDER BY m DESC LIMIT 2"),
    (sa.select(sa.func.max(V.c["order by"]).label("select")), 'SELECT MAX("order by") AS "select" FROM visits'),
]  # fmt: skip


def ibis_selects():
    t = ibis.table({"faculty": "string", "year": "int64", "time": "float64"}, name="visits")
    return [
        (t.aggregate(n=t.count()), "SELECT COUNT(*) AS n FROM visits"),
        (
            t.group_by("faculty").aggregate(m=t.time.mean()),
            "SELECT faculty, AVG(time) AS m FROM visits GROUP BY faculty",
        ),
        (t.aggregate(n=t.count(where=t.time > 30)), "SELECT COUNT(*) FILTER (WHERE time > 30) AS n FROM visits"),
        (
            t.aggregate(p=t.time.quantile(0.9)),
            "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY time) AS p FROM visits",
        ),
        (t.aggregate(low=t.time.min(), high=t.time.max()), "SELECT MIN(time) AS low, MAX(time) AS high FROM visits"),
    ]


def same(gate, asked, sql):
    return digest(gate._known.read(text_of(asked)), "spend") == digest(gate._known.read(sql), "spend")


@pytest.mark.parametrize(("select", "sql"), SQLALCHEMY, ids=[sql for _, sql in SQLALCHEMY])
def test_a_select_of_sqlalchemy_is_the_question_written(canteen, select, sql):
    assert same(canteen, select, sql), text_of(select)


@pytest.mark.parametrize("i", range(5))
def test_a_select_of_ibis_is_the_question_written(canteen, i):
    """By the compiler of ibis 12, whose text is all we use."""
    select, sql = ibis_selects()[i]
    assert same(canteen, select, sql), text_of(select)


def test_a_filtered_table_of_ibis_is_answered(fresh):
    """It stands in a sub-select there: the same number for all that."""
    t = ibis.table({"faculty": "string", "time": "float64"}, name="visits")
    counted = fresh.query("SELECT COUNT(*) AS n FROM visits WHERE faculty = 'math'").rows
    assert fresh.query(t.filter(t.faculty == "math").aggregate(n=lambda rows: rows.count())).rows == counted


def test_an_expression_of_sqlglot_is_a_question(canteen):
    select = sqlglot.select("faculty", "AVG(time) AS m").from_("visits").group_by("faculty")
    assert same(canteen, select, "SELECT faculty, AVG(time) AS m FROM visits GROUP BY faculty")


def test_one_answer_for_all_of_them(fresh):
    first = fresh.query(sa.select(sa.func.avg(V.c.time).label("m")))
    t = ibis.table({"time": "float64"}, name="visits")
    for again in (t.aggregate(m=t.time.mean()), sqlglot.select("AVG(time) AS m").from_("visits")):
        answer = fresh.query(again)
        assert answer.stored
        assert answer.rows == first.rows
    assert fresh.explain(sa.select(sa.func.max(V.c.time))).price == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    "wrong", [3, None, b"SELECT 1", ["SELECT 1"], nw.col("time"), sa.select(sa.literal(object(), sa.types.NullType()))]
)
def test_what_is_no_question_is_refused(canteen, wrong):
    with pytest.raises(nw.Misconfigured):
        canteen.query(wrong)
