"""The database interface of PEP 249."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import nowiser
from nowiser import dbapi
from nowiser.dbapi.parameters import checked
from nowiser.errors import Exhausted, NotAnswerable
from nowiser.sql.literals import literal
from nowiser.sql.read.text.parameters import filled
from nowiser.sql.read.text.tokens import tokens

MEANS = "SELECT faculty, AVG(time) AS mean FROM visits GROUP BY faculty"


@pytest.fixture(scope="module")
def connection(canteen_folder):
    with nowiser.connect(canteen_folder / "nowiser.yaml", spend="1%", anyway=True) as found:
        yield found


def test_the_module_says_what_pep_249_wants():
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    assert issubclass(dbapi.ProgrammingError, dbapi.DatabaseError)
    assert issubclass(dbapi.DatabaseError, dbapi.Error)
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    assert not issubclass(dbapi.InterfaceError, dbapi.DatabaseError)
    assert dbapi.DateFromTicks(0) == date(1970, 1, 1)
    assert all(getattr(dbapi.Connection, n) is getattr(dbapi, n) for n in ("Error", "Warning", "OperationalError"))


def test_pandas_reads_answers(connection):
    with pytest.warns(UserWarning, match="SQLAlchemy"):  # it says so of every connection it was not tested with
        frame = pd.read_sql(MEANS, connection)
    assert list(frame.columns) == ["faculty", "mean"]
    assert frame["mean"].between(-60, 120).all()
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        counted = pd.read_sql("SELECT COUNT(*) AS n FROM visits WHERE faculty = ?", connection, params=["math"])
    assert counted["n"].tolist() == [504]


def test_rows_are_fetched_one_by_one_in_bunches_and_all(connection):
    cursor = connection.cursor()
    assert (cursor.description, cursor.rowcount) == (None, -1)
    with pytest.raises(dbapi.ProgrammingError):
        cursor.fetchone()
    cursor.execute(MEANS)
    assert cursor.rowcount == 2
    assert [d[:2] for d in cursor.description] == [("faculty", dbapi.STRING), ("mean", dbapi.NUMBER)]
    assert {len(d) for d in cursor.description} == {7}
    rows = cursor.answer.rows
    assert cursor.fetchone() == rows[0]
    assert cursor.fetchmany(5) == [rows[1]]
    assert (cursor.fetchall(), cursor.fetchone()) == ([], None)
    assert list(connection.execute(MEANS)) == list(rows)
    assert next(connection.execute(MEANS)) == rows[0]
    assert cursor.answer.error[1][0] > 0
    with pytest.raises(dbapi.NotSupportedError):
        cursor.executemany(MEANS, [[]])
    cursor.close()
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        cursor.execute(MEANS)


def test_our_refusals_are_theirs_and_the_cause(connection):
    cursor = connection.cursor()
    with pytest.raises(dbapi.ProgrammingError, match="There is no column tme") as caught:
        cursor.execute("SELECT AVG(tme) FROM visits")
    assert isinstance(caught.value.__cause__, NotAnswerable)
    assert len(caught.value._render_traceback_()) == 4
    with pytest.raises(dbapi.OperationalError) as caught:
        cursor.execute("SELECT AVG(time) FROM visits", error=0.001)
    refused = caught.value.__cause__
    assert isinstance(refused, Exhausted)
    assert refused.needed > 1 > refused.left > 0
    assert cursor.rowcount == -1, "nothing of an earlier answer is left"


def test_nothing_is_taken_back_and_closing_twice_is_fine(canteen_folder):
    with nowiser.open(canteen_folder / "nowiser.yaml") as gate:
        connection = nowiser.connect(gate, spend="1%", anyway=True)
        connection.execute("SELECT SUM(time) FROM visits")
        left = gate.allowance()["left"]
        connection.rollback()
        connection.commit()
        assert gate.allowance()["left"] == left
        connection.close()
        connection.close()
        with pytest.raises(dbapi.InterfaceError, match="closed"):
            connection.cursor()
        assert gate.allowance()["left"] == left, "a gateway that was open before stays open"


def test_urls_name_policy_files(canteen_folder, monkeypatch):
    monkeypatch.chdir(canteen_folder)
    for where in (None, "nowiser.yaml", "nowiser:///nowiser.yaml", f"nowiser:///{canteen_folder}/nowiser.yaml"):
        with nowiser.connect(where) as found:
            assert found.execute("SHOW TABLES").fetchone()[0] == "visits"
    for where in ("postgresql://host/database", "nowiser://host/nowiser.yaml"):
        with pytest.raises(dbapi.InterfaceError, match="policy file"):
            nowiser.connect(where)
    with pytest.raises(dbapi.InterfaceError, match=r"nowhere\.yaml"):
        nowiser.connect("nowhere.yaml")


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20))
def test_a_text_is_one_text_whatever_is_in_it(text):
    found = tokens(filled("SELECT ? AS x", [text]))
    assert [t.text for t in found] == ["SELECT", text, "AS", "x"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (np.bool_(False), "FALSE"),
        (-3, "(-3)"),
        (np.int64(7), "7"),
        (1e-05, "1e-05"),
        (-0.5, "(-0.5)"),
        (Decimal("1E+3"), "1000"),
        ("it's", "'it''s'"),
        (date(2024, 2, 29), "DATE '2024-02-29'"),
        (datetime(2024, 2, 29, 1, 2, 3), "TIMESTAMP '2024-02-29 01:02:03'"),  # noqa: DTZ001
        (datetime(2024, 2, 29, 1, tzinfo=UTC), "TIMESTAMP '2024-02-29 01:00:00'"),
        (datetime(2024, 2, 29, 1, tzinfo=timezone(timedelta(hours=2))), "TIMESTAMP '2024-02-28 23:00:00'"),
    ],
)
def test_values_as_sql_writes_them(value, written):
    assert literal(value) == written


def test_question_marks_in_texts_names_and_comments_are_no_placeholders():
    sql = "SELECT '?', \"a?\", $$?$$ /* ? */ -- ?\n FROM t WHERE x = ? AND y = ?"
    assert filled(sql, [1, "?"]) == sql.replace("x = ?", "x = 1").replace("y = ?", "y = '?'")


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT ?", []),
        ("SELECT ?", [1, 2]),
        ("SELECT 1", [1]),
        ("SELECT ?", "a"),
        ("SELECT ?", {"a": 1}),
        ("SELECT ?", [float("nan")]),
        ("SELECT ?", [b"bytes"]),
        ("SELECT ?", ["\x00"]),
        ("SELECT '", [1]),
    ],
)
def test_parameters_that_do_not_fit_are_refused(sql, parameters):
    with pytest.raises(dbapi.ProgrammingError):
        checked(sql, parameters)
