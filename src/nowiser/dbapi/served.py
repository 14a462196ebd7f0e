"""A connection to `nowiser serve`: the methods of a gateway, and those of PEP 249."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from nowiser.dbapi.connection import Connection
from nowiser.remote import Remote
from nowiser.report.answer import Allowance, Answer
from nowiser.report.tables import Tables
from nowiser.sql.columns import Described


class Served(Connection):
    """What `nw.connect("https://…")` gives. Its own methods raise what `Gateway` raises, cursors what PEP 249 wants."""

    def __init__(self, url: str, *, token: str | None, ca: str | Path | None, **usual: Any) -> None:
        self._remote = Remote(url, token=token, ca=ca)
        super().__init__(self._remote, **usual)

    def query(self, sql: Any, **wish: Any) -> Answer:
        """As `Gateway.query`: `spend`, `error`, `clipped`, `anyway`."""
        return self._remote.query(sql, **wish)

    def explain(self, sql: Any, **wish: Any) -> Answer:
        """As `Gateway.explain`: `spend`, `error`."""
        return self._remote.explain(sql, **wish)

    def describe(self, sql: Any) -> tuple[Described, ...]:
        """As `Gateway.describe`."""
        return self._remote.describe(sql)

    def remaining(
        self, sql: Any, *, error: float | Fraction | None = None, spend: float | Fraction | str | None = None
    ) -> float:
        """As `Gateway.remaining`."""
        return self._remote.remaining(sql, error=error, spend=spend)

    def tables(self) -> Tables:
        """As `Gateway.tables`."""
        return self._remote.tables()

    def allowance(self) -> Allowance:
        """As `Gateway.allowance`."""
        return self._remote.allowance()

    def questions(self) -> list[dict[str, Any]]:
        """What I asked; what everybody asked, for custodians and auditors."""
        return self._remote.questions()
