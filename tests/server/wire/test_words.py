"""Whoever asks over the wire is told settings, not arguments of Python."""

import json
import re

import psycopg
import pytest

from nowiser.server.wire.words import every_text, in_settings

PYTHON = re.compile(r"\b(?:anyway|clipped)=|\b(?:spend|error)=|=True|nw\.|gw\.")
USELESS = "SELECT AVG(time) FROM visits WHERE faculty = 'math'"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Nothing was charged; anyway=True asks all the same.",
            "Nothing was charged; SET nowiser.anyway = on asks all the same.",
        ),
        ('at most spend="30%" is admitted', "at most SET nowiser.spend = '30%' is admitted"),
        ("spend=5% or more", "SET nowiser.spend = '5%' or more"),
        ("For example error=1.5.", "For example SET nowiser.error = 1.5."),
        ("error=1e-3, say", "SET nowiser.error = '1e-3', say"),
        ("a smaller spend=, a larger error=", "a smaller nowiser.spend, a larger nowiser.error"),
        ("A smaller error= makes it useful", "A smaller nowiser.error makes it useful"),
        ("(clipped=True estimates them)", "(SET nowiser.clipped = on estimates them)"),
        ("WHERE overspend=5 AND t.error=3", "WHERE overspend=5 AND t.error=3"),
    ],
)
def test_arguments_are_told_as_settings(said, told):
    assert in_settings(said) == told
    assert every_text({"a": [said, 1, None]}) == {"a": [told, 1, None]}


def test_nothing_on_the_wire_speaks_python(connection):
    """Errors, notices and both forms of EXPLAIN, of questions that are useless, too dear, or answered."""
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))

    def ask(sql):
        try:
            told.extend(str(row[0]) for row in connection.execute(sql).fetchall())
        except psycopg.Error as error:
            told.append(str(error))

    for setting in ("nowiser.error = '1e-9'", "nowiser.error = 100", "nowiser.spend = '0.1%'"):
        connection.execute(f"SET {setting}")
        for sql in (
            USELESS,
            f"EXPLAIN {USELESS}",
            f"EXPLAIN (FORMAT JSON) {USELESS}",
            "SELECT MEDIAN(time) FROM visits",
        ):
            ask(sql)
    connection.execute("SET nowiser.anyway = on")
    ask(USELESS)
    text = "\n".join(told)
    for setting in ("nowiser.anyway = on", "nowiser.clipped = on", "nowiser.spend = '", "smaller nowiser.error"):
        assert setting in text
    assert PYTHON.search(text) is None, PYTHON.search(text)
    assert json.loads(next(t for t in told if t.startswith("{")))["columns"] == ["avg"]


def test_rows_that_were_clipped_are_estimated_when_that_is_set(connection):
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    connection.execute("SET nowiser.anyway = on; SET nowiser.clipped = on")
    connection.execute(USELESS).fetchall()
    assert "were outside the declared range" in "\n".join(told)


def test_nobody_sets_who_she_is(connection, served):
    for name in ("session_authorization", "nowiser.database", "is_superuser"):
        with pytest.raises(psycopg.errors.CantChangeRuntimeParam):
            connection.execute(f"SET {name} = 'cleo'")
    given = served.given(options="-c session_authorization=cleo -c role=cleo")
    with psycopg.connect(**given, autocommit=True) as other:
        assert other.execute("SHOW session_authorization").fetchone() == ("ana",)
        assert other.execute("SELECT current_user, session_user").fetchone() == ("ana", "ana")
