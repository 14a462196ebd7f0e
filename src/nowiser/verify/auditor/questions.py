"""A gateway's question as a mechanism to audit: rows of one table go in, the cells of the answer come out.

Each run has a fresh account in memory, so that no stored answer is given again and no ledger is touched.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, cast
from weakref import finalize

from nowiser.attacks.gateways.memory import MemoryAccount
from nowiser.engines import connect
from nowiser.errors import Misconfigured
from nowiser.gateway import Gateway
from nowiser.model.policy import Policy
from nowiser.policy.reader import read

Rows = Sequence[Mapping[str, Any]]


class Question:
    """`Question("nowiser.yaml", "SELECT COUNT(*) FROM visits")(rows)`: the answer about these rows."""

    def __init__(
        self, policy: Policy | str | Path, sql: str, *, table: str | None = None, spend: str | float | None = None
    ) -> None:
        self._policy = policy if isinstance(policy, Policy) else read(policy)
        named = [t.name for t in self._policy.tables]
        self._table = table or named[0]
        if self._policy.table(self._table) is None or (table is None and len(named) > 1):
            raise Misconfigured(f"name one table of the policy: {', '.join(named)}")
        self._sql, self._spend = sql, spend
        self._folder = Path(mkdtemp(prefix="nowiser-audit-"))
        finalize(self, rmtree, self._folder, ignore_errors=True)
        self._opened: dict[str, Gateway] = {}

    def __call__(self, rows: Rows) -> list[list[Any]]:
        return [list(row) for row in self._gateway(rows).query(self._sql, spend=self._spend, anyway=True).rows or ()]

    def cost(self, rows: Rows) -> dict[str, float]:
        """What one answer costs in nats, as `explain` says: the largest jump and presence of any account."""
        said = self._gateway(rows).explain(self._sql, spend=self._spend).cost
        every = [kinds for attributes in said.values() for kinds in attributes.values()]
        return {kind: max((kinds.get(kind, 0.0) for kinds in every), default=0.0) for kind in ("jump", "presence")}

    def _gateway(self, rows: Rows) -> Gateway:
        """The gateway about these rows, with a fresh account."""
        key = repr(rows)
        if key not in self._opened:
            copy = self._copy(rows, self._folder / str(len(self._opened)))
            self._opened[key] = Gateway(copy, engine=connect(copy), account=cast("Any", MemoryAccount()))
        return self._opened[key].through(MemoryAccount())

    def _copy(self, rows: Rows, folder: Path) -> Policy:
        """The policy about a file that holds these rows."""
        table = self._policy.table(self._table)
        assert table is not None
        names = [column.name for column in table.columns]
        folder.mkdir(parents=True)
        with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n", extrasaction="raise")
            writer.writeheader()
            writer.writerows(rows)
        copied = replace(table, source=str(folder / "rows.csv"), csv=None)
        tables = tuple(copied if t.name == table.name else t for t in self._policy.tables)
        return replace(
            self._policy, tables=tables, engine="duckdb:///?prepare=no", ledger=None, path=folder / "nowiser.yaml"
        )
