# ruff: noqa: S608 (printed from the policy; every identifier is quoted, every literal escaped)
"""The rows of a policy's table that count: at most `rows_per_person` of each person, as in every SQL answer.

What a private step charges pays for so many rows of a person. More of them in the file, each perturbed by itself,
would tell what nobody paid for. So a release under a policy reads the rows that SQL would count, and no others: whose a
row is, which rows of a person are the same, and which of too many are taken is decided by the gateway's own code
(`engines.prepare`, `engines.duckdb.excess`), by nothing secret, and in the same way for every release of a policy.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.engines import prepare
from nowiser.engines.duckdb import excess
from nowiser.engines.duckdb.dialect import DIALECT
from nowiser.engines.owner import direct, owner
from nowiser.engines.prepare import Raw
from nowiser.engines.progress import silent
from nowiser.engines.render import quote
from nowiser.errors import Misconfigured
from nowiser.microdata.table.engine_table import engine_table
from nowiser.microdata.table.in_duckdb import InDuckDB
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql.bound import persons

AT = ":at"


@dataclass(frozen=True)
class Counting:
    """Which rows of a table count under a policy."""

    policy: Policy
    table: Table

    @property
    def limits(self) -> bool:
        """Whether rows are limited at all: not where every row is a person, nor where nobody is."""
        if self.table.is_public or self.table.row_is_person:
            return False
        if not owner(self.table, self.policy):
            raise Misconfigured(
                f"rows of {self.table.name!r} cannot be told apart by person: the policy names no key of theirs",
                hint=f"Declare a unique key of {persons.root(self.policy, self.table).name!r}.",
            )
        return True

    def of(self, table: MicroTable) -> MicroTable:
        """The rows that count, as a table of their own."""
        return self.split(table)[0]

    def split(self, table: MicroTable) -> tuple[MicroTable, NDArray[np.int64] | None]:
        """The rows that count, and whose each of them is (None where nobody has two)."""
        if not self.limits or not table.rows:
            return table, None
        counted, whose = self._counted(table)
        persons = whose[counted]
        several = len(np.unique(persons)) < len(persons)
        left = table if counted.all() else MicroTable.of(c.take(np.flatnonzero(counted)) for c in table.columns)
        return left, persons if several else None

    def check(self, rows: InDuckDB) -> None:
        """Raises Misconfigured unless all rows of a file count: rows that stay in a file are not chosen among."""
        if not self.limits:
            return
        hint = f"Leave out stream=True, or keep at most {self.table.rows_per_person} of each person in the file."
        if self.table.link is not None and not direct(self.table, self.policy):
            raise Misconfigured(f"whose rows of {self.table.name!r} are whose is not known in a stream", hint=hint)
        there = rows.names()
        found = [n for p in owner(self.table, self.policy) for n in there if n.lower() == p.lower()]
        if len(found) != len(owner(self.table, self.policy)):
            raise Misconfigured(f"the file does not name the persons of {self.table.name!r}", hint=hint)
        kinds = {str(r[0]): str(r[1]) for r in rows.run(f"DESCRIBE SELECT * FROM {rows.source}")}
        declared = zip(found, persons.owner_columns(self.policy, self.table), strict=True)
        keys = [DIALECT.read(c.kind, quote(n), kinds[n]) for n, c in declared]
        if self.table.rows_per_person > 1 and any(
            rows.run(f"SELECT 1 FROM {rows.source} GROUP BY {', '.join(keys)} HAVING count(*) > 1 LIMIT 1")
        ):
            raise Misconfigured(
                f"persons of {self.table.name!r} have several rows, and in a stream only rows are counted", hint=hint
            )
        nobody = " OR ".join(f"{key} IS NULL" for key in keys)
        many = f"GROUP BY {', '.join(keys)} HAVING count(*) > {self.table.rows_per_person}"
        if any(rows.run(f"SELECT 1 FROM {rows.source} {which} LIMIT 1") for which in (many, f"WHERE {nobody}")):
            raise Misconfigured(
                f"persons of {self.table.name!r} have more rows in the file than the policy lets count", hint=hint
            )

    def _counted(self, table: MicroTable) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """One bit for each row, and whose it is as a number."""
        import duckdb

        with duckdb.connect() as connection:
            silent(connection)
            for home in self._homes():
                narrow = _narrow(home, self.policy, self._asked(home))
                raw = self._raw(connection, narrow, load(engine_table(self.policy, home)))
                made = prepare.statement(narrow, self.policy, DIALECT, raw, salt=self._salt(home), ordered=False)
                connection.execute(f"CREATE TABLE {quote(home.name)} AS {made}")
            narrow = _narrow(self.table, self.policy, ())
            raw = self._raw(connection, narrow, table)
            rows = prepare.candidates(narrow, self.policy, DIALECT, raw)
            keys = ", ".join(quote(name) for name in owner(self.table, self.policy))
            ask = f'SELECT ":at", dense_rank() OVER (ORDER BY {keys}) AS who FROM ({rows})'
            found_rows = connection.execute(ask).fetchnumpy()
            places = np.asarray(found_rows[AT], np.int64)
            whose = np.zeros(table.rows, np.int64)
            whose[places] = np.asarray(found_rows["who"], np.int64)
            counted = np.bincount(places, minlength=table.rows)
            if (counted > 1).any():
                raise Misconfigured(
                    f"some rows of {self.table.name!r} lead to more than one person",
                    hint="The key they are linked to must be unique.",
                )
            most = self.table.rows_per_person
            found = excess.find(connection, rows, owner(self.table, self.policy), most, self._salt(self.table))
        kept: NDArray[np.bool_] = counted == 1
        if found is not None:
            beyond = np.unpackbits(np.frombuffer(found.left_out, np.uint8))[: len(kept)].astype(bool)
            kept[: len(beyond)] &= ~beyond
        return kept, whose

    def _salt(self, table: Table) -> str:
        """The same for every release, also of another version of the policy: two show the same rows of a person."""
        return table.name

    def _homes(self) -> list[Table]:
        """The tables that links lead through, the person's own first."""
        found: list[Table] = []
        here = self.table
        while here.link is not None:
            here = persons.home(self.policy, here)
            found.insert(0, here)
        return found

    def _asked(self, home: Table) -> tuple[str, ...]:
        """The columns of a table that others lead to."""
        return tuple(c for t in self.policy.tables if t.link and t.link.table == home.name for c in t.link.references)

    @staticmethod
    def _raw(connection: Any, table: Table, rows: MicroTable) -> Raw:
        """The columns that decide whose a row is, in a table where rows have a place."""
        wanted = {c.name.lower() for c in table.columns}
        connection.register("given", rows.without([n for n in rows.names if n.lower() not in wanted]).to_arrow())
        name = quote(f":raw:{table.name}")
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        connection.unregister("given")
        types = {str(r[0]): str(r[1]) for r in connection.execute(f"DESCRIBE {name}").fetchall()}
        return Raw(name, types, "src.rowid")


def _narrow(table: Table, policy: Policy, besides: Iterable[str]) -> Table:
    """The table with the columns that decide whose a row is and which rows are the same, and no others."""
    needed = {*owner(table, policy), *(c for key in table.unique for c in key), *besides}
    needed |= set(table.link.columns) if table.link is not None else set()
    return replace(table, columns=tuple(c for c in table.columns if c.name in needed))
