"""Python's database interface, PEP 249: for pandas.read_sql and every tool that takes a connection.

    connection = nowiser.connect("nowiser.yaml", spend="5%")
    cursor = connection.cursor()
    cursor.execute("SELECT AVG(time) FROM visits WHERE faculty = ?", ["math"])
    cursor.fetchone(), cursor.answer.error

`?` stands for a parameter. Answers are charged at once and for good: commit and rollback change nothing.
"""

from nowiser.dbapi.connection import Connection, Cursor, connect
from nowiser.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 (PEP 249 calls it so)
)
from nowiser.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 2  # threads may share connections
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
