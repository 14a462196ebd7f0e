"""An answer: the rows, how far off they may be, and what they do to every attacker's guess."""

import html
import json
from dataclasses import dataclass, field
from math import floor, log10
from typing import Any

Error = float | None | list[float | None]


@dataclass(frozen=True)
class Answer:
    """What `query --json` prints, as a value. `explain` gives the same without rows (`rows` is None).

    error: 95 % half-width per column, a list per row where they differ; 0 is exact, None means not known.
    cost: {table: {attribute: {slope, jump, presence, unit}}}, in nats; slope per `unit` raw units.
    guesses: per attacker `guess`, `before`, `after` (of all answers so far, this one included) and `limit`.
    left: share of the whole allowance that is left. stored: this is the answer given before, again, free.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...] | None
    error: tuple[Error, ...]
    exact: tuple[str, ...]
    cost: dict[str, dict[str, dict[str, float]]]
    guesses: tuple[dict[str, Any], ...]
    left: float
    stored: bool
    bounding: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())  # the derivation, for `explain`

    def to_dict(self) -> dict[str, Any]:
        """Exactly the keys of `query --json` (of `explain --json` when there are no rows)."""
        found: dict[str, Any] = {"columns": list(self.columns)}
        if self.rows is not None:
            found["rows"] = [list(r) for r in self.rows]
        return found | {
            "error": list(self.error),
            "exact": list(self.exact),
            "cost": self.cost,
            "guesses": list(self.guesses),
            "left": self.left,
            "stored": self.stored,
            "bounding": list(self.bounding),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def errors(self) -> list[tuple[float | None, ...]]:
        """The error bars as a table of the same shape as `rows`."""
        return [tuple(e[i] if isinstance(e, list) else e for e in self.error) for i in range(len(self.rows or ()))]

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(list(self.rows or ()), columns=list(self.columns))

    def to_arrow(self) -> Any:
        import pyarrow as pa

        columns = [pa.array([r[i] for r in self.rows or ()]) for i in range(len(self.columns))]
        return pa.Table.from_arrays(columns, names=list(self.columns))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(with_bar(v, e))}</td>" for v, e in zip(r, errors, strict=True))
            + "</tr>"
            for r, errors in zip(self.rows or (), self.errors(), strict=True)
        )
        guesses = "".join(
            f"<li>{html.escape(g['guess'])}: {g['before']:.1%} → {g['after']:.1%} (limit {g['limit']:.1%})</li>"
            for g in self.guesses
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{guesses}</ul>"


def with_bar(value: Any, error: float | None) -> str:
    """A value with its error bar, as people write it."""
    if value is None:
        return "–"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
    if error is None:
        return f"{shown} ± ?"
    return f"{shown} ± {rounded(error)}" if error else shown


def rounded(number: float) -> str:
    """Three significant digits, without exponents where people would not write them."""
    if number == 0 or not 1e-6 <= abs(number) < 1e15:
        return f"{number:.3g}"
    digits = 2 - floor(log10(abs(number)))
    return (
        f"{round(number, digits):,.{max(digits, 0)}f}".rstrip("0").rstrip(".")
        if digits > 0
        else f"{round(number, digits):,.0f}"
    )
