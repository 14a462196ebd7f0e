"""A question that is being built: it prints SQL, says its price, and is answered by `run`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any

from nowiser.builder.expressions import ALONE, Expression, Ordering, column, condition
from nowiser.builder.gate import Gate
from nowiser.builder.names import name
from nowiser.errors import Misconfigured, NowiserError
from nowiser.report.answer import Answer
from nowiser.report.shown import html_of, text

Output = tuple[str | None, Expression]  # the name it was given, if any, and what it is


@dataclass(frozen=True, eq=False, repr=False)
class Question:
    """Rows of a table, grouped, with what is asked about each group. Touches nothing until `run`.

    In a notebook it shows its SQL, its price, its error bar, and every attacker's guess before and after. `having`,
    `order_by` and `limit` work on the noisy results: they cost nothing.
    """

    gate: Gate
    table: str
    conditions: tuple[Expression, ...]
    keys: tuple[Output, ...]
    outputs: tuple[Output, ...]
    kept: tuple[Expression, ...] = ()
    orders: tuple[Ordering, ...] = ()
    most: int | None = None

    def having(self, *conditions: Expression) -> "Question":
        """Only groups whose noisy results fulfil all conditions."""
        return replace(self, kept=(*self.kept, *map(condition, conditions)))

    def order_by(self, *by: str | Expression | Ordering) -> "Question":
        """Groups in the order of these columns or results; `nw.desc` for the largest first."""
        orders = tuple(b if isinstance(b, Ordering) else Ordering(column(b)) for b in by)
        return replace(self, orders=(*self.orders, *orders))

    def limit(self, most: Any) -> "Question":
        """At most this many groups."""
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise Misconfigured(f"limit takes a whole number, not {most!r}.", hint="For example limit(3).")
        return replace(self, most=most)

    @property
    def sql(self) -> str:
        """The question in SQL (PostgreSQL's dialect)."""
        results = {n: _atom(e) for n, e in (*self.keys, *self.outputs) if n is not None}
        asked = [_named(n, e) for n, e in (*self.keys, *self.outputs)]
        lines = [f"SELECT {', '.join(asked)}", f"FROM {name(self.table)}"]
        if self.conditions:
            lines.append(f"WHERE {_all(self.conditions).sql()}")
        if self.keys:
            lines.append(f"GROUP BY {', '.join(e.sql() for _, e in self.keys)}")
        if self.kept:
            lines.append(f"HAVING {_all(self.kept).sql(results)}")
        if self.orders:
            ordered = (_order(o, results) for o in self.orders)
            lines.append(f"ORDER BY {', '.join(ordered)}")
        if self.most is not None:
            lines.append(f"LIMIT {self.most}")
        return "\n".join(lines)

    def explain(
        self,
        *,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
    ) -> Answer:
        """What it would cost and how precise it would be, as `Gateway.explain`."""
        return self.gate.explain(self.sql, error=error, spend=spend, analyst=analyst)

    def run(
        self,
        *,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
        clipped: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """The answer, charged, as `Gateway.query`."""
        more: dict[str, Any] = {"anyway": True} if anyway else {}
        return self.gate.query(self.sql, error=error, spend=spend, analyst=analyst, clipped=clipped, **more)

    def __str__(self) -> str:
        return self.sql

    def __repr__(self) -> str:
        return f"<Question: {' '.join(self.sql.split(chr(10)))}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints on a terminal."""
        if cycle:
            printer.text(repr(self))
            return
        try:
            explained = text(self.explain())
        except NowiserError as refusal:
            explained = str(refusal)
        printer.text(f"{self.sql}\n\n{explained}")

    def _repr_html_(self) -> str:
        try:
            explained = html_of(self.explain())
        except NowiserError as refusal:
            explained = f"<pre>{escape(str(refusal))}</pre>"
        return f"<pre>{escape(self.sql)}</pre>{explained}"


def _all(conditions: tuple[Expression, ...]) -> Expression:
    first, *others = conditions
    for other in others:
        first &= other
    return first


def _named(given: str | None, e: Expression) -> str:
    return e.sql() if given is None or given == e.alone else f"{e.sql()} AS {name(given)}"


def _atom(e: Expression) -> str:
    """What stands for the name of a result: in brackets unless it stands alone."""
    return e.sql() if e.binds == ALONE else f"({e.sql()})"


def _order(order: Ordering, results: Mapping[str, str]) -> str:
    """SQL orders by the name of a result, but calculates with what it is."""
    by = order.by.sql() if order.by.alone is not None else order.by.sql(results)
    return f"{by} DESC" if order.largest_first else by
