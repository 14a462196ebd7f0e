"""Questions of other libraries as SQL: SQLAlchemy, ibis, sqlglot, and our own builder.

Each prints PostgreSQL's dialect with its values in place, and that text is read like any other: what a library gets
wrong is refused or asked as written, never trusted. None of them is imported unless one of its objects is given.
"""

from typing import Any

from nowiser.errors import Misconfigured


def text_of(question: Any) -> str:
    """The SQL of a question. Raises Misconfigured for what is no question."""
    if isinstance(question, str):
        return question
    match type(question).__module__.partition(".")[0]:
        case "nowiser" if isinstance(found := getattr(question, "sql", None), str):
            return found
        case "sqlalchemy" if hasattr(question, "compile"):
            return _sqlalchemy(question)
        case "sqlglot" if hasattr(question, "sql"):
            return str(question.sql(dialect="postgres"))
        case "ibis" if hasattr(question, "op"):
            import ibis  # type: ignore[import-untyped,unused-ignore]  # it may be missing

            return str(ibis.to_sql(question, dialect="postgres"))
    raise Misconfigured(
        f"A question is SQL, not {type(question).__name__}.",
        hint="Give a text, gw.table(…).agg(…), or a select of SQLAlchemy, ibis or sqlglot.",
    )


def texts_of(questions: Any) -> list[str]:
    """The SQL of several questions, or of one that stands by itself: the letters of a text are no questions."""
    if isinstance(questions, list | tuple) or hasattr(questions, "__next__"):
        return [text_of(question) for question in questions]
    return [text_of(questions)]


def _sqlalchemy(select: Any) -> str:
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.exc import SQLAlchemyError

    dialect = postgresql.dialect(paramstyle="named")  # type: ignore[no-untyped-call]  # others double each %
    dialect._backslash_escapes = False  # noqa: SLF001 (as on every server with standard_conforming_strings)
    try:
        return str(select.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    except (SQLAlchemyError, NotImplementedError):
        raise Misconfigured(
            "SQLAlchemy cannot write this with its values in place.", hint="Give every bindparam a value."
        ) from None
