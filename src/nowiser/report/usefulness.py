"""Whether an answer would be worth its price, judged before anything is charged.

A number is useless if its error bar (95 %, half-width) is a fifth or more of what the number is measured by:

* averages, quantiles: the middle of a declared range that begins at 0 or near it (quantiles above the median: their
  place in it), else its width;
* MIN and MAX, correlations and covariances: the width of the range they can have;
* variances and standard deviations: what values give that lie evenly over their range;
* counts: the number of rows that is expected; sums: what so many rows add up to in the middle of their range;
* other expressions: the value they have for such rows; a whole number of a part divided by that of the whole is
  useless whatever its bar is: it is 0.

An answer is useless if more than half of its noisy numbers are. One that shows only the groups it finds in the data is
useless if only a group of a fifth or more of all persons would be shown.

How many rows are expected is public, or was told before, or is said by the custodian (`people:` in the policy). Where
none of this is known, a million persons are assumed: then only answers are refused that are useless almost everywhere.
Conditions are taken to spread rows evenly over declared values; groups of keys whose counts
are secret are taken to become smaller quickly: a third of the first, a fifth, an eighth. Nothing here looks
at a secret, so neither a judgement nor its words tell anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isinf, isnan, nan
from typing import Any, Literal

import numpy as np

from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.noise.laplace import Laplace
from nowiser.percent import percent
from nowiser.report.answer import bar_of, rounded
from nowiser.sql.answer.expected import Expected, Floats, expected, share, spread
from nowiser.sql.plan.groups import Listed
from nowiser.sql.plan.plan import Noise, Plan
from nowiser.sql.steps import Slice
from nowiser.sql.tree import holding, scans

USELESS = 0.2  # of the range or of the size
ASSUMED = 1_000_000  # persons, where nobody said how many

Source = Literal["public", "answered", "declared", "assumed"]
_KNOWN: dict[str, str] = {
    "public": "",
    "answered": "as an answer told before",
    "declared": "as the policy says under `people`",
    "assumed": "how many there are is secret, so this many are assumed",
}


@dataclass(frozen=True)
class Size:
    """How many rows are expected in each group of a plan, and how that is known.

    exact: cells of the plan that are public, as they are.
    """

    rows: Floats
    source: Source = "public"
    exact: Mapping[int, Any] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return float(self.rows.sum())

    @property
    def words(self) -> str:
        how = _KNOWN[self.source]
        return f"for {rounded(self.total)} rows" + (f": {how}" if how else "")

    def times(self, factor: float) -> "Size":
        """The same groups with so many times as many rows."""
        return Size(self.rows * factor, self.source)


def size_of(policy: Policy, plan: Plan, rows: Mapping[str, tuple[float, Source]] | None = None) -> Size:
    """What is expected where groups cannot be counted. `rows`: per table how many it has, and how that is known."""
    table = person_table(plan)
    total, source = _rows_of(policy, table.name if table is not None else "", dict(rows or {}))
    return Size(spread(plan, total * share(holding(plan.query.relation))), source)


def person_table(plan: Plan) -> Table | None:
    """The first table about persons that a question looks at."""
    return next((s.table for s in scans(plan.query.relation) if not s.table.is_public), None)


def shows_nothing(plan: Plan) -> bool:
    """Whether the answer has no rows, whatever the data are: LIMIT 0, or conditions that leave no declared value."""
    nothing = any(isinstance(step, Slice) and step.limit == 0 for step in plan.query.after)
    return nothing or plan.query.limit == 0 or (not isinstance(plan.groups, Listed) and not len(plan.groups))


def without_rows(plan: Plan, size: Size | None) -> bool:
    """Whether everything is known of an answer that would be charged: it shows nothing, or nobody is in its groups."""
    nobody = size is not None and size.source == "public" and not size.total
    return not plan.free and (nobody or shows_nothing(plan))


def _rows_of(policy: Policy, name: str, rows: dict[str, tuple[float, Source]]) -> tuple[float, Source]:
    if name in rows:
        return rows[name]
    table = policy.table(name)
    while table is not None:
        if table.people is not None:
            return float(table.people), "declared"
        table = policy.table(table.link.table) if table.link is not None else None
    return float(ASSUMED), "assumed"


@dataclass(frozen=True)
class Figure:
    """One noisy column: its middle group, and how many groups are useless.

    bar, scale: of the group in the middle; scale is the width of the `range`, or the expected `size`. holds: the kind
    of its values: bars of dates are days. For groups found in the data: the `threshold` from which on a group is shown,
    and how many persons are expected in all.
    """

    name: str
    bar: float
    scale: float
    kind: Literal["range", "size", "threshold", "part"]
    groups: int
    useless: int
    holds: str = ""

    @property
    def width(self) -> str:
        """The bar as people write it."""
        return f"± {bar_of(self.bar, self.holds)}"

    @property
    def share(self) -> float:
        return inf if isinf(self.bar) else self.bar / self.scale

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.name,
            "error": None if isinf(self.bar) else self.bar,
            "of": None if isnan(self.scale) else self.scale,
            "share": None if isinf(self.bar) else self.share,
            "groups": self.groups,
            "useless": self.useless,
        }

    def __str__(self) -> str:
        """What is wrong with it, as a sentence without its stop."""
        if self.kind == "threshold":
            least = f"a group is shown from {self.bar:,.0f} persons on, and about {rounded(self.scale)} are expected"
            return f"{least} in all: {'nothing' if self.share > 1 else 'next to nothing'} would be shown"
        if self.kind == "part":
            return f"{self.name} would be 0 or 1: whole numbers are divided as whole numbers"
        where = f" in {self.useless:,} of {self.groups:,} groups" if self.groups > 1 else ""
        if isinf(self.bar):
            return f"{self.name} would have no error bar at all{where}: there are too few rows for it"
        by = f"{self.width}{where}"
        if self.kind == "range":
            told = "no information" if self.share >= 0.5 else f"{percent(self.share, 0)} of it"
            return f"{self.name} would be {by} on a range of width {bar_of(self.scale, self.holds)}: {told}"
        told = "no information" if self.share >= 1 else f"{percent(self.share, 0)} of it"
        return f"{self.name} would be {by} where about {rounded(self.scale)} is expected: {told}"


@dataclass(frozen=True)
class Usefulness:
    """A judgement. `figures`: the noisy columns that could be judged, the worst first."""

    figures: tuple[Figure, ...]
    size: Size

    @property
    def useless(self) -> bool:
        numbers = sum(f.groups for f in self.figures)
        return 2 * sum(f.useless for f in self.figures) > numbers

    @property
    def bars(self) -> dict[str, float]:
        """The bar that is expected for each noisy column."""
        return {f.name: f.bar for f in self.figures if f.kind != "threshold" and not isinf(f.bar)}

    @property
    def worst(self) -> Figure | None:
        return self.figures[0] if self.figures else None

    def __str__(self) -> str:
        """Why it is useless, in one or two sentences."""
        how = _KNOWN[self.size.source]
        known = f" ({rounded(self.size.total)} rows: {how})" if how else ""
        return "; ".join(str(f) for f in self.figures if f.useless) + f"{known}."


def judged(plan: Plan, noise: Sequence[Noise], size: Size, nats: Fraction = Fraction(0)) -> Usefulness:
    """The judgement of a plan with this noise and so many rows. `nats`: how much quantiles are picked at."""
    if plan.free:
        return Usefulness((), size)
    if plan.discovery is not None:
        mechanism = noise[plan.discovery.cell]
        assert isinstance(mechanism, Laplace), "discovered groups are planned with Laplace noise only"
        least, total = plan.discovery.threshold(mechanism), size.total
        found = Figure(plan.query.outputs[0].name, least, total, "threshold", 1, int(least >= USELESS * total))
        return Usefulness((found,), size)
    columns = [_figure(column) for column in expected(plan, noise, size.rows, size.exact, nats=nats)]
    return Usefulness(tuple(sorted((f for f in columns if f is not None), key=lambda f: -f.share)), size)


def _figure(column: Expected) -> Figure | None:
    if column.part:
        return Figure(column.name, inf, nan, "part", len(column.bars), len(column.bars))
    shares = column.shares
    known = np.flatnonzero(~np.isnan(shares))
    if not len(known):
        return None
    order = known[np.argsort(shares[known], kind="stable")]
    middle = order[len(order) // 2]
    bar, scale = float(column.bars[middle]), float(column.scales[middle])
    useless = int((shares[known] >= USELESS * (1 - 1e-9)).sum())
    return Figure(column.name, bar, scale, "size" if column.size else "range", len(known), useless, column.kind)
