"""Python's drivers, each in its own way of speaking the protocol. Content is checked, and what was charged."""

import asyncio
from datetime import date, datetime

import pytest

from support.wire import AVERAGE, BY_FACULTY, KINDS, LATE, TOTAL

FACULTIES = ["computer science", "math"]


def right(rows):
    """Whether these are the rows of AVERAGE: names, plausible minutes, exact counts."""
    assert [r[0] for r in rows] == FACULTIES
    assert [r[2] for r in rows] == [296, 504]
    assert all(isinstance(r[1], float) and 0 <= r[1] <= 60 for r in rows)
    return True


def test_psycopg(served):
    import psycopg

    with psycopg.connect(**served.given()) as connection:
        cursor = connection.execute(AVERAGE)
        assert [c.name for c in cursor.description] == ["faculty", "minutes", "n"]
        assert [c.type_code for c in cursor.description] == [25, 701, 20]
        assert right(cursor.fetchall())
        binary = connection.execute(AVERAGE, binary=True).fetchall()
        assert right(binary)
        assert connection.execute(BY_FACULTY, ["math"]).fetchall() == [(504,)]
        connection.execute("SET nowiser.anyway = on")
        assert abs(connection.execute(LATE, [30]).fetchone()[0]) < 2000
        row = connection.execute(KINDS, binary=True).fetchone()
        assert row == connection.execute(KINDS).fetchone()
        assert row == (date(2020, 2, 29), datetime(2020, 2, 29, 23, 59, 0, 500000), True, "ü'\"\\", 800)  # noqa: DTZ001
    assert served.charges() == 2


def test_what_a_tool_wraps_around_a_question(served):
    """connectorx counts first; tables of tools add up what was asked."""
    import psycopg

    with psycopg.connect(**served.given(), autocommit=True) as connection:
        assert connection.execute(f"SELECT COUNT(*) FROM ({AVERAGE}) AS t").fetchone() == (2,)
        assert connection.execute(f"SELECT SUM(n) AS s FROM ({AVERAGE}) AS t", prepare=True).fetchone() == (800,)


def test_psycopg_prepared_portals_and_pipelines(served):
    import psycopg

    with psycopg.connect(**served.given(), autocommit=True, prepare_threshold=0) as connection:
        for _ in range(3):
            assert right(connection.execute(AVERAGE).fetchall())
        with connection.cursor("many") as cursor:  # DECLARE and FETCH
            cursor.itersize = 1
            cursor.execute(AVERAGE)
            assert right(list(cursor))
        with connection.pipeline():
            first, second = connection.execute(AVERAGE), connection.execute("SELECT 1")
            assert right(first.fetchall())
            assert second.fetchone() == (1,)
        assert right(list(connection.cursor().stream(AVERAGE)))  # a row at a time
        with connection.cursor().copy(f"COPY ({AVERAGE}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "float8", "int8"])
            assert right(list(copy.rows()))
        with connection.cursor().copy(f"COPY ({AVERAGE}) TO STDOUT") as copy:
            assert [bytes(line).split(b"\t")[0].decode() for line in copy] == FACULTIES
    assert served.charges() == 1


def test_psycopg_sees_transactions_errors_and_notices(served):
    import psycopg

    with psycopg.connect(**served.given()) as connection:
        notices = []
        connection.add_notice_handler(lambda n: notices.append(n.message_primary))
        connection.execute(TOTAL)
        assert any(n.startswith("minutes ± ") for n in notices)
        with pytest.raises(psycopg.errors.UndefinedColumn) as refused:
            connection.execute("SELECT AVG(tim) FROM visits")
        assert refused.value.diag.statement_position == "12"
        assert refused.value.diag.message_hint == "Did you mean time?"
        assert "Did you mean time?" in refused.value.diag.message_primary
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute(TOTAL)
        connection.rollback()
        with connection.transaction():
            connection.execute("SET nowiser.spend = '1%'")
            assert connection.execute("SHOW nowiser.spend").fetchone() == ("1%",)
        with pytest.raises(psycopg.errors.UndefinedTable), connection.transaction():  # noqa: PT012
            connection.execute("SET nowiser.spend = '2%'")
            connection.execute("SELECT COUNT(*) FROM visit")
        assert connection.execute("SHOW nowiser.spend").fetchone() == ("1%",)


def test_psycopg2(served):
    import psycopg2

    connection = psycopg2.connect(**served.given())
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(AVERAGE)
            assert right(cursor.fetchall())
            cursor.execute(BY_FACULTY, ["math"])
            assert cursor.fetchall() == [(504,)]
            cursor.execute(KINDS)
            assert cursor.fetchone()[:2] == (date(2020, 2, 29), datetime(2020, 2, 29, 23, 59, 0, 500000))  # noqa: DTZ001
        with connection, connection.cursor("named") as cursor:
            cursor.execute(AVERAGE)
            assert right(cursor.fetchall())
        assert any("minutes ± " in notice for notice in connection.notices)
    finally:
        connection.close()
    assert served.charges() == 1


def test_asyncpg(served):
    import asyncpg

    async def story():
        given = served.given()
        connection = await asyncpg.connect(
            host=given["host"], port=given["port"], user="ana", password=given["password"], database="nowiser"
        )
        rows = await connection.fetch(AVERAGE)
        assert right([tuple(r.values()) for r in rows])
        assert list(rows[0].keys()) == ["faculty", "minutes", "n"]
        assert await connection.fetchval(BY_FACULTY.replace("%s", "$1"), "math") == 504
        await connection.execute("SET nowiser.anyway = on")
        assert await connection.fetchval(LATE.replace("%s", "$1"), 30) < 2000
        assert tuple(await connection.fetchrow(KINDS))[:3] == (
            date(2020, 2, 29),
            datetime(2020, 2, 29, 23, 59, 0, 500000),  # noqa: DTZ001
            True,
        )
        async with connection.transaction():
            seen = [tuple(r.values()) async for r in connection.cursor(AVERAGE, prefetch=1)]
        assert right(seen)
        with pytest.raises(asyncpg.UndefinedColumnError):
            await connection.fetch("SELECT AVG(tim) FROM visits")
        await connection.close()

    asyncio.run(story())
    assert served.charges() == 2


def test_pg8000(served):
    import pg8000.dbapi

    connection = pg8000.dbapi.connect(
        "ana", host="127.0.0.1", port=served.port, password=served.tokens["ana"], database="nowiser"
    )
    cursor = connection.cursor()
    cursor.execute(AVERAGE)
    assert right(cursor.fetchall())
    cursor.execute(BY_FACULTY, ("math",))
    assert list(map(tuple, cursor.fetchall())) == [(504,)]
    cursor.execute("SET nowiser.anyway = on")
    cursor.execute(LATE, (30,))
    assert cursor.fetchall()[0][0] < 2000
    connection.close()
    assert served.charges() == 2


@pytest.mark.parametrize("driver", ["postgresql+psycopg", "postgresql+psycopg2", "postgresql+pg8000"])
def test_sqlalchemy_and_pandas(served, driver):
    import pandas as pd
    import sqlalchemy as sa

    pytest.importorskip("nowiser.server.catalogue", reason="SQLAlchemy asks the catalogue first")

    engine = sa.create_engine(served.url(driver))
    try:
        with engine.connect() as connection:
            assert right([tuple(r) for r in connection.execute(sa.text(AVERAGE))])
            number = connection.execute(sa.text(BY_FACULTY.replace("%s", ":f")), {"f": "math"}).scalar_one()
            assert number == 504
            frame = pd.read_sql(sa.text(AVERAGE), connection)
            visits = sa.table("visits", sa.column("faculty"), sa.column("time"))
            built = sa.select(visits.c.faculty, sa.func.count()).group_by(visits.c.faculty).order_by(visits.c.faculty)
            assert [tuple(r) for r in connection.execute(built)] == [("computer science", 296), ("math", 504)]
    finally:
        engine.dispose()
    assert right(list(frame.itertuples(index=False)))
    assert list(frame.columns) == ["faculty", "minutes", "n"]
    assert [str(t) for t in frame.dtypes[1:]] == ["float64", "int64"]
    assert served.charges() == 1


def test_adbc(served):
    """Arrow's driver: it reads the catalogue of types first, and takes rows by COPY in binary."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(served.url("postgresql")) as connection, connection.cursor() as cursor:
        cursor.execute(AVERAGE)
        table = cursor.fetch_arrow_table()
    assert table.column_names == ["faculty", "minutes", "n"]
    assert [str(t) for t in table.schema.types] == ["string", "double", "int64"]
    assert right(list(zip(*(c.to_pylist() for c in table.columns), strict=True)))
    assert served.charges() == 1
