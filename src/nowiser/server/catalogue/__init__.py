"""PostgreSQL's catalogue for clients: tables, columns and types as the policy declares them. Free, and no data is near.

    catalogue = Catalogue(desk)
    catalogue.answer(seat, sql, settings)     a Table; None where the statement is none of the catalogue's
    catalogue.describe(seat, sql)             its columns

A statement → whose it is (`belongs.py`) → rewritten (`rewrite.py`) → run in memory (`database.py`). What cannot be
answered leaves a line in the log, with the name that is missing.
"""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.server.catalogue.belongs import is_ours, tables, tree_of, without_values
from nowiser.server.catalogue.columns import FUNCTION, INT2VECTOR, OIDVECTOR, REGPROC, SIMPLER, TEXT
from nowiser.server.catalogue.database import Database
from nowiser.server.catalogue.declared import OWN
from nowiser.server.catalogue.own import RELATIONS
from nowiser.server.catalogue.rewrite import Known, missing, rewritten, types
from nowiser.server.desk import Desk
from nowiser.server.seat import Seat

_log = logging.getLogger(__name__)
_FAILS = (duckdb.Error, SqlglotError, LookupError, TypeError, AttributeError, ValueError, RecursionError)
MOST_KEPT = 1000  # answers
MOST_CELLS = 200_000  # of an answer that is kept
MOST_KEPT_CELLS = 2_000_000  # of all of them


@dataclass(frozen=True)
class Table:
    """What a statement of the catalogue gives: columns as (name, type), rows of Python's values."""

    columns: tuple[tuple[str, int], ...]
    rows: tuple[tuple[Any, ...], ...]


class Catalogue:
    """Answers for every account under the policy in force. Blocking, and safe to use from several threads."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._policy: Policy | None = None
        self._database: Database | None = None
        self._kept: dict[tuple[str, str, tuple[tuple[str, str], ...]], Table | None] = {}

    def answer(self, seat: Seat, sql: str, settings: Mapping[str, str]) -> Table | None:
        """The rows; None where it is no statement of the catalogue. Raises NotAnswerable for what it does not have."""
        said = tuple(sorted(settings.items()))
        database, kept = self._of(seat.gate.policy)
        if (asked := (sql, seat.account.name, said)) in kept:
            return kept[asked]
        found, lasts = self._found(database, seat, sql, dict(said))
        if lasts and _cells(found) <= MOST_CELLS:
            cells = _cells(found)
            with self._lock:
                if len(kept) >= MOST_KEPT or sum(map(_cells, kept.values())) + cells > MOST_KEPT_CELLS:
                    kept.clear()
                kept[asked] = found
        return found

    def passes_on(self, account: str, sql: str, settings: Mapping[str, str]) -> bool:
        """Whether it was seen before that this is no statement of the catalogue. Nothing is looked up."""
        return self._kept.get((sql, account, tuple(sorted(settings.items()))), self) is None

    def describe(self, seat: Seat, sql: str) -> tuple[tuple[str, int], ...] | None:
        """The columns that a statement gives; None where it is none of the catalogue's. $1 may be without a value."""
        found = self.answer(seat, without_values(sql), {})
        return None if found is None else found.columns

    def _of(self, policy: Policy) -> tuple[Database, dict[Any, Table | None]]:
        """The catalogue of a policy, made when the first statement comes."""
        with self._lock:
            if self._database is None or policy is not self._policy:
                self._database, self._policy, self._kept = Database(policy), policy, {}
            return self._database, self._kept

    def _found(self, database: Database, seat: Seat, sql: str, settings: dict[str, str]) -> tuple[Table | None, bool]:
        """The answer, and whether it stays the same."""
        tree = tree_of(sql)
        if tree is None:
            return None, True
        declared = {t.name.lower() for t in seat.gate.policy.tables}
        relations = {home: database.names(home) for home in ("pg", "info", "own")}
        if not is_ours(tree, relations, declared):
            return None, True
        lower = {name.lower(): value for name, value in settings.items()}
        known = Known(relations, database.columns, declared, seat.account.name, lower)
        own = {t.name.lower() for t in tables(tree) if t.name.lower() in OWN and t.db.lower() == "nowiser"}
        try:
            text = rewritten(tree, known)
            columns, rows = database.run(text, seat.account.name, {n: RELATIONS[n](seat) for n in own})
        except NotAnswerable as refusal:
            self._missed(refusal.message, seat)
            raise
        except (
            duckdb.Error,
            SqlglotError,
            LookupError,
            TypeError,
            AttributeError,
            ValueError,
            RecursionError,
        ) as error:
            self._missed(type(error).__name__, seat, _first_line(error))
            raise missing("answer to", "this statement") from None
        lasts = not own and tree.find(exp.CurrentTimestamp) is None
        return _table(columns, rows, types(tree, known), database), lasts

    def _missed(self, what: str, seat: Seat, why: str = "") -> None:
        _log.warning(
            "not in the catalogue", extra={"about": {"account": seat.account.name, "missing": what, "why": why}}
        )


def _cells(found: Table | None) -> int:
    return 0 if found is None else len(found.rows) * len(found.columns)


def _first_line(error: Exception) -> str:
    """What DuckDB says is missing; constants of the statement are left out."""
    return (
        str(error).partition("\n")[0][:200]
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException)
        else ""
    )


def _table(
    columns: list[tuple[str, int, str]],
    rows: list[tuple[Any, ...]],
    declared: list[int | None],
    database: Database,
) -> Table:
    """With the types PostgreSQL has: functions by name, vectors as it writes them."""
    known = declared if len(declared) == len(columns) else [None] * len(columns)
    oids = [database.base.get(said or 0, said) or oid for (_, oid, _), said in zip(columns, known, strict=True)]
    oids = [SIMPLER.get(oid, oid) for oid in oids]
    functions = [i for i, (_, _, shown) in enumerate(columns) if shown == FUNCTION]
    vectors = [i for i, oid in enumerate(oids) if oid in (INT2VECTOR, OIDVECTOR)]
    for i in functions:
        oids[i] = REGPROC
    for i in vectors:
        oids[i] = TEXT

    def cell(i: int, value: Any) -> Any:
        if value is None:
            return None
        return database.functions.get(value, str(value)) if i in functions else " ".join(map(str, value))

    special = {*functions, *vectors}
    if special:
        rows = [tuple(cell(i, v) if i in special else v for i, v in enumerate(row)) for row in rows]
    return Table(tuple((name, oid) for (name, _, _), oid in zip(columns, oids, strict=True)), tuple(rows))
