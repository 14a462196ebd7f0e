"""An answer: the rows, how far off they may be, and what they do to every attacker's guess."""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, log10
from typing import Any

import numpy as np

from nowiser.sql.answer.vectors import Vector, listed

Error = float | None | list[float | None]


@dataclass(frozen=True, eq=False)
class Answer:
    """What `query --json` prints, as a value. `explain` gives the same without rows (`rows` is None).

    Values are held in columns; `rows` and `error` are made of them when they are asked for.

    error: 95 % half-width per column, a list per row where they differ; 0 is exact, None means not known.
    cost: {table: {attribute: {slope, jump, presence, unit}}}, in nats; slope per `unit` raw units.
    guesses: per attacker `guess`, `before`, `after` (of all answers so far, this one included) and `limit`.
    left: share of the whole allowance that is left. stored: this is the answer given before, again, free.
    """

    columns: tuple[str, ...]
    values: tuple[Vector, ...] | None
    bars: tuple[float | Vector | None, ...]
    exact: tuple[str, ...]
    cost: dict[str, dict[str, dict[str, float]]]
    guesses: tuple[dict[str, Any], ...]
    left: float
    stored: bool
    bounding: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())  # the derivation, for `explain`

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...] | None:
        """The rows, in plain Python values; None for what `explain` gives."""
        return None if self.values is None else tuple(zip(*map(listed, self.values), strict=True))

    @cached_property
    def error(self) -> tuple[Error, ...]:
        """95 % half-widths: one per column, or a list with one per row where they differ."""
        return tuple(listed(b) if isinstance(b, np.ndarray) else b for b in self.bars)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and (self.to_dict(), self.notes) == (other.to_dict(), other.notes)

    __hash__ = None  # type: ignore[assignment]  # it holds dictionaries

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

        table = self.to_arrow()
        frame = pd.DataFrame({i: table.column(i).to_pandas() for i in range(table.num_columns)})
        return frame.set_axis(list(self.columns), axis=1)

    def to_arrow(self) -> Any:
        import pyarrow as pa

        arrays = [pa.array(listed(v) if v.dtype == object else v) for v in self.values or ()]
        return pa.Table.from_arrays(arrays or [pa.array([]) for _ in self.columns], names=list(self.columns))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(with_bar(v, e))}</td>" for v, e in zip(r, errors, strict=True))
            + "</tr>"
            for r, errors in zip(self.rows or (), self.errors(), strict=True)
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_drawn(self.guesses, self.left)}"


class Allowance(dict[str, Any]):
    """How every attacker stands (`guesses`), the share of the allowance that is `left`, and the sensitive attributes
    no attacker is after (`unguarded`), about which any number of answers is given.
    """

    def __init__(self, guesses: Sequence[dict[str, Any]], left: float, unguarded: Sequence[str] = ()) -> None:
        super().__init__(guesses=list(guesses), left=left, unguarded=list(unguarded))

    def __str__(self) -> str:
        lines = [spoken_guess(g) for g in self["guesses"]]
        lines.append(f"Left of the allowance: {self['left']:.1%}")
        lines += [f"No attacker guards {name}: answers about it are never used up." for name in self["unguarded"]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        loose = "".join(
            f"<p>No attacker guards {html.escape(name)}: answers about it are never used up.</p>"
            for name in self["unguarded"]
        )
        return _drawn(self["guesses"], self["left"]) + loose


EXPOSED = "(Guesses are about the most exposed victim: before any answer → at most, after all answers so far.)"


def spoken_guess(guess: dict[str, Any]) -> str:
    """One attacker in one line."""
    return f"{guess['guess']}: {guess['before']:.2%} → {guess['after']:.2%} (limit {guess['limit']:.2%})"


def _drawn(guesses: Sequence[dict[str, Any]], left: float) -> str:
    """One bar per attacker: grey up to before, blue up to after, a red line at the limit; and what is left."""
    rows = "".join(
        f"<tr><td>{html.escape(g['guess'])}</td><td>{_bar(g)}</td>"
        f"<td>{g['before']:.2%} → {g['after']:.2%} (limit {g['limit']:.2%})</td></tr>"
        for g in guesses
    )
    told = f"<p>{html.escape(EXPOSED)}</p>" if guesses else ""
    return f"<table><tbody>{rows}</tbody></table><p>Left of the allowance: {left:.1%}</p>{told}"


def _bar(g: dict[str, Any]) -> str:
    def part(start: float, end: float, colour: str) -> str:
        wide = max(end - start, 0.0)
        return f'<rect x="{200 * start:.2f}" y="2" width="{200 * wide:.2f}" height="10" fill="{colour}"/>'

    parts = part(0, 1, "#eee") + part(0, g["before"], "#999") + part(g["before"], g["after"], "#2563eb")
    limit = part(g["limit"] - 0.004, g["limit"] + 0.004, "#dc2626")
    return f'<svg width="200" height="14" role="img">{parts}{limit}</svg>'


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
