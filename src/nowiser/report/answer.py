"""An answer: the rows, how far off they may be, and what they do to every attacker's guess."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, log10
from typing import Any

import numpy as np

from nowiser.errors import Useless
from nowiser.model.attacker import ON_AVERAGE
from nowiser.percent import percent
from nowiser.sql.answer.vectors import Vector, listed

MOMENTS = ("date", "timestamp")  # kinds whose bars are days, or seconds
_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))

Error = float | None | list[float | None]


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What `query --json` prints, as a value. `explain` gives the same without rows (`rows` is None).

    Values are held in columns; `rows` and `error` are made of them when they are asked for.

    error: 95 % half-width per column, a list per row where they differ; 0 is exact, None means not known.
    cost: {table: {attribute: {slope, jump, presence, unit}}}, in nats; slope per `unit` raw units.
    guesses: per attacker `guess`, `before`, `after` (of all answers so far, this one included), `limit` and `promise`;
    `used`, the share of his limit that is used, and `answers`, about how many answers at this price are left (None if
    not charged).
    left: share of the whole allowance that is left. stored: this is the answer given before, again, free.

    It prints as a table and draws itself in a notebook; `to_pandas`, `to_polars`, `to_arrow`, `interval` and `plot`
    carry the error bars along.
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
    # What `explain` says besides: the share of the whole allowance it would use, and whether the rest covers it.
    price: float | None = None
    admitted: bool = True
    refusal: str | None = None  # why not, where it is not admitted
    ranges: tuple[tuple[float, float] | None, ...] = ()  # per column, the declared range of averages and quantiles
    news: tuple[str, ...] = ()  # of `bounding`, the notes that this gateway had not said before
    expected: Mapping[str, float] = field(default_factory=dict)  # the bar each noisy column is expected to have
    expected_for: str = ""  # how many rows that is for
    follows: bool = False  # computed from earlier answers, or from a synopsis, free
    synopsis: str = ""  # in words, from which one, and what it does not know
    kinds: tuple[str, ...] = ()  # what each column holds: integer, real, text, boolean, date, timestamp
    useless: Useless | None = None  # why the answer would not be worth its price: `query` refuses it with this

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
        found |= {
            "error": list(self.error),
            "exact": list(self.exact),
            "cost": self.cost,
            "guesses": list(self.guesses),
            "left": self.left,
            "stored": self.stored,
            "follows": self.follows,
            "bounding": list(self.bounding),
        }
        found |= {"synopsis": self.synopsis} if self.synopsis else {}
        if self.rows is not None:
            return found
        found |= {"price": self.price, "admitted": self.admitted, "useful": self.useless is None}
        return found | {"expected": dict(self.expected)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def errors(self) -> list[tuple[float | None, ...]]:
        """The error bars as a table of the same shape as `rows`."""
        return [tuple(e[i] if isinstance(e, list) else e for e in self.error) for i in range(len(self.rows or ()))]

    def range_of(self, column: int) -> tuple[float, float] | None:
        """The declared range of a column, where it is an average or a quantile."""
        return self.ranges[column] if column < len(self.ranges) else None

    def kind_of(self, column: int) -> str:
        """What a column holds, where that is known: date, real, …"""
        return self.kinds[column] if column < len(self.kinds) else ""

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as people write them: every number with its error bar."""
        return [
            tuple(
                with_bar(v, e, self.range_of(i), self.kind_of(i))
                for i, (v, e) in enumerate(zip(row, errors, strict=True))
            )
            for row, errors in zip(self.rows or (), self.errors(), strict=True)
        ]

    def to_arrow(self, *, errors: bool = True) -> Any:
        """A pyarrow.Table: each column, and after each noisy one `<column>_error`, its 95 % half-width."""
        from nowiser.report.frames import arrow

        return arrow(self, errors=errors)

    def to_pandas(self, *, errors: bool = True) -> Any:
        """A pandas.DataFrame of the same columns as `to_arrow`. Needs `nowiser[pandas]`."""
        from nowiser.report.frames import pandas

        return pandas(self, errors=errors)

    def to_polars(self, *, errors: bool = True) -> Any:
        """A polars.DataFrame of the same columns as `to_arrow`. Needs `nowiser[polars]`."""
        from nowiser.report.frames import polars

        return polars(self, errors=errors)

    def interval(self) -> dict[str, list[tuple[Any, Any] | None]]:
        """For each column of numbers or noisy dates, row by row: both ends of the 95 % bar; None if unknown."""
        from nowiser.report.frames import interval

        return interval(self)

    def plot(self, *columns: str) -> Any:
        """An Altair chart of the numbers (all, or these) with their error bars, by the keys of the groups."""
        from nowiser.report.charts.error_bars import error_bars

        return error_bars(self, *columns)

    def __repr__(self) -> str:
        many = "explained" if self.values is None else f"{len(self.rows or ()):,} rows"
        return f"<Answer: {', '.join(self.columns)}; {many}>"

    def __str__(self) -> str:
        from nowiser.report.shown import text

        return text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints on a terminal."""
        printer.text(repr(self) if cycle else str(self))

    def _repr_html_(self) -> str:
        from nowiser.report.shown import html_of

        return html_of(self)


def gist(note: str) -> str:
    """What a note is about: further figures behind a semicolon are no news."""
    return note.partition(";")[0]


class Allowance(dict[str, Any]):
    """How every attacker stands (`guesses`), the share of the allowance that is `left`, and the sensitive attributes
    no attacker is after (`unguarded`), about which any number of answers is given.
    """

    def __init__(self, guesses: Sequence[dict[str, Any]], left: float, unguarded: Sequence[str] = ()) -> None:
        super().__init__(guesses=list(guesses), left=left, unguarded=list(unguarded))

    def __str__(self) -> str:
        lines = [spoken_guess(g) for g in binding_first(self["guesses"])]
        lines.append(f"Left of the allowance: {percent(self['left'])}")
        lines += [f"No attacker guards {name}: answers about it are never used up." for name in self["unguarded"]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        loose = "".join(
            f"<p>No attacker guards {html.escape(name)}: answers about it are never used up.</p>"
            for name in self["unguarded"]
        )
        return drawn(self["guesses"], self["left"]) + loose


EXPOSED = (
    "(Before: whoever is guessed best. After all answers so far nobody is guessed better by more points than that.)"
)
AVERAGED = "(Before any answer → at most, after all answers so far: of the most exposed victim, or on average as said.)"


def remark(guesses: Sequence[dict[str, Any]]) -> str:
    """Whom the figures are about."""
    return AVERAGED if any(g.get("promise") == ON_AVERAGE for g in guesses) else EXPOSED


def spoken_guess(guess: dict[str, Any]) -> str:
    """One attacker in one line."""
    return f"{guess['guess']}: {reached(guess)}: {points_used(guess)}"


def reached(guess: dict[str, Any]) -> str:
    """Before → after and the limit: of every answer, or of what the best attacker gets right on average."""
    before, after, limit = (percent(guess[key], 2) for key in ("before", "after", "limit"))
    if guess.get("promise") == ON_AVERAGE:
        return f"{before} → right in at most {after} of cases, on average (limit {limit})"
    return f"{before} → {after} (limit {limit})"


def points_used(g: dict[str, Any]) -> str:
    """`1.18 of 5 points used, about 19 such answers left`."""
    used, most = 100 * (g["after"] - g["before"]), 100 * (g["limit"] - g["before"])
    said = f"{used:.2f} of {most:.4g} points used"
    many = g.get("answers")
    if many is None:
        return said
    return f"{said}, {f'about {many:,}' if many else 'no'} such answer{'s' * (many != 1)} left"


def binding_first(guesses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attacker whose limit is nearest comes first."""
    return sorted(guesses, key=lambda g: -g.get("used", 0.0))


def drawn(guesses: Sequence[dict[str, Any]], left: float) -> str:
    """One bar per attacker: grey up to before, blue up to after, a red line at the limit; and what is left."""
    rows = "".join(
        f"<tr><td>{html.escape(g['guess'])}</td><td>{_bar(g)}</td><td>{reached(g)}</td><td>{points_used(g)}</td></tr>"
        for g in binding_first(guesses)
    )
    told = f"<p>{html.escape(remark(guesses))}</p>" if guesses else ""
    return f"<table><tbody>{rows}</tbody></table><p>Left of the allowance: {percent(left)}</p>{told}"


def _bar(g: dict[str, Any]) -> str:
    def part(start: float, end: float, colour: str) -> str:
        wide = max(end - start, 0.0)
        return f'<rect x="{200 * start:.2f}" y="2" width="{200 * wide:.2f}" height="10" fill="{colour}"/>'

    parts = part(0, 1, "#eee") + part(0, g["before"], "#999") + part(g["before"], g["after"], "#2563eb")
    limit = part(g["limit"] - 0.004, g["limit"] + 0.004, "#dc2626")
    return f'<svg width="200" height="14" role="img">{parts}{limit}</svg>'


def with_bar(value: Any, error: float | None, ends: tuple[float, float] | None = None, kind: str = "") -> str:
    """A value with its error bar, as people write it; in words where the bar covers all of its range.

    An exact number of four digits is often a year: 2024, not 2,024.
    """
    if value is None:
        return "–"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return f"{value} ± {bar_of(error, kind)}" if error and kind in MOMENTS else str(value)
    whole = isinstance(value, int)
    shown = str(value) if whole and not error and abs(value) < 10_000 else f"{value:,}" if whole else f"{value:,.12g}"
    if error is None:
        return f"{shown} ± ?"
    if not error:
        return shown
    spare = 0.01 * (ends[1] - ends[0]) if ends is not None else 0.0  # values are rounded
    covered = ends is not None and value - error <= ends[0] + spare and value + error >= ends[1] - spare
    return f"{shown} ± {rounded(error)}" + (" (no information)" if covered else "")


def bar_of(error: float, kind: str = "") -> str:
    """A half-width as people write it: of dates in days, of timestamps in days, hours, minutes or seconds."""
    if kind not in MOMENTS:
        return rounded(error)
    many = error if kind == "timestamp" else error * 86_400.0
    size, unit = next(((s, u) for s, u in _UNITS if many >= 2 * s), _UNITS[-1]) if kind == "timestamp" else _UNITS[0]
    return f"{rounded(many / size)} {unit}"


def rounded(number: float, significant: int = 3) -> str:
    """So many significant digits, without exponents where people would not write them."""
    if number == 0 or not 1e-6 <= abs(number) < 1e15:
        return f"{number:.{significant}g}"
    digits = significant - 1 - floor(log10(abs(number)))
    return (
        f"{round(number, digits):,.{max(digits, 0)}f}".rstrip("0").rstrip(".")
        if digits > 0
        else f"{round(number, digits):,.0f}"
    )
