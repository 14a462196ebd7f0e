"""Privacy models, one per file. Each checks a table (its value) and constrains the search (its limit).

A model is a frozen dataclass; its module exposes it as `MODEL`. Without a limit it only measures.

*Group models* give every group of look-alikes a score; the table's value is the worst, and groups beyond
the limit are suppressed by the search. Two facts about unions decide what the search may conclude:

* `closed`: the union of two groups that pass passes. Then, where nothing may be suppressed, a table that
  passes still passes when it is generalised further.
* `upward`: the union of a group that passes with *any* group passes. Then a group that fails stays a loss
  however it is split: all its rows must be suppressed at every finer node.

With a suppression limit the search asks for `must_lose`: a share of a group's rows that is suppressed for
certain at this node and at every finer one. Upward models answer 1 for a failing group. A model that bounds
shares p_v ≤ b_v answers (p_v − b_v)/(1 − b_v): the rows that survive keep their mean share below b_v, so
p_v ≤ (1 − f)·b_v + f. A model that bounds a convex score by t, with scores never above m, answers
(score − t)/(m − t) by the same argument. All other models answer 0, which is always true.

Groups are compared with the rows that are released, and which ones these are is not known before the end. If a share
`spare` of all rows may be left out, a value's share among the others is at most its share of all over (1 − spare), and
no distance of shares from theirs is more than `spare` below the distance from those of the whole table.

*Table models* judge what is left after suppression as a whole. Where they fail, the groups they blame most are
suppressed one by one, until what is left passes; `must_lose_rows` bounds from below how many rows that takes here
and at every finer node.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.table.column import Floats, Ints

TOLERANCE = 1e-9  # how far rounding may carry a score over its limit


@runtime_checkable
class Model(Protocol):
    """What every model offers."""

    name: ClassVar[str]
    better: ClassVar[Literal["higher", "lower"]]  # which scores are safer
    scope: ClassVar[Literal["group", "table"]]

    @property
    def limit(self) -> float | None: ...

    @property
    def column(self) -> str | None: ...  # the sensitive column it is about, if any

    @property
    def parts(self) -> tuple[str, ...]: ...  # the sensitive columns it counts together, if it does

    @property
    def closed(self) -> bool: ...

    @property
    def upward(self) -> bool: ...

    def value(self, groups: Groups) -> float: ...

    def holds(self, value: float) -> bool: ...

    def failing(self, groups: Groups) -> NDArray[np.bool_]: ...  # which groups break the limit

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats: ...  # see above

    def to_json(self, groups: Groups) -> dict[str, Any]: ...


class _Shared(ABC):
    """What group and table models have in common."""

    name: ClassVar[str] = ""
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    closed: ClassVar[bool] = False
    upward: ClassVar[bool] = False
    by_size: ClassVar[bool] = False  # whether the size of a group is all it looks at
    for_persons: ClassVar[bool] = False  # closed (upward) also where groups that unite share persons

    @property
    @abstractmethod
    def limit(self) -> float | None:
        """What is promised; None where the model only measures."""

    @property
    def column(self) -> str | None:
        return None

    @property
    def parts(self) -> tuple[str, ...]:
        return ()

    @abstractmethod
    def value(self, groups: Groups) -> float:
        """The table's value."""

    def holds(self, value: float) -> bool:
        """Whether a value keeps the limit (always, without a limit)."""
        if self.limit is None:
            return True
        return value >= self.limit - TOLERANCE if self.better == "higher" else value <= self.limit + TOLERANCE

    def to_json(self, groups: Groups) -> dict[str, Any]:
        value = self.value(groups)
        finite = float(value) if np.isfinite(value) else None
        return {
            "model": self.name,
            "column": self.column,
            "value": finite,
            "limit": self.limit,
            "holds": self.holds(value),
        }


def sized(models: Sequence[Any]) -> list[Any]:
    """Those that look at sizes of groups alone, at no sensitive value."""
    return [m for m in models if m.column is None and not m.parts]


class GroupModel(_Shared):
    """A model that scores every group."""

    scope: ClassVar[Literal["group", "table"]] = "group"

    @abstractmethod
    def score(self, groups: Groups) -> Floats:
        """One number per group."""

    def value(self, groups: Groups) -> float:
        """The worst score; the safest possible one for an empty table."""
        scores = self.score(groups)
        if not len(scores):
            return float("inf") if self.better == "higher" else 0.0
        return float(scores.min() if self.better == "higher" else scores.max())

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        if self.limit is None:
            return np.zeros(len(groups), bool)
        scores = self.score(groups)
        over = scores < self.limit - TOLERANCE if self.better == "higher" else scores > self.limit + TOLERANCE
        return np.asarray(over, dtype=bool)

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        del spare
        if self.upward:
            return self.failing(groups).astype(np.float64)
        return np.zeros(len(groups))


class TableModel(_Shared):
    """A model that judges the table as a whole; it cannot say which group is at fault."""

    scope: ClassVar[Literal["group", "table"]] = "table"

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        return np.zeros(len(groups), bool)

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        del spare
        return np.zeros(len(groups))

    def blame(self, groups: Groups) -> Floats:
        """Where the table breaks the limit, the groups with the largest numbers are suppressed first."""
        return -groups.size.astype(np.float64)

    def must_lose_rows(self, groups: Groups) -> float:
        """So many rows at least are suppressed at this node and at every finer one."""
        del groups
        return 0.0


def lost_for_mean(rows: Floats, cost: Floats, limit: float) -> float:
    """The least number of rows without which the costs of the others are at most `limit` per row.

    A lower bound: groups are taken in parts, those that cost most per row first.
    """
    over = float(cost.sum() - limit * rows.sum())
    spared = cost - limit * rows
    order = np.argsort(-cost / np.maximum(rows, 1e-300), kind="stable")
    order = order[spared[order] > 0]
    if over <= TOLERANCE * max(1.0, float(rows.sum())):
        return 0.0
    so_far = np.cumsum(spared[order])
    at = min(int(np.searchsorted(so_far, over * (1 - 1e-12))), len(order) - 1)
    if at < 0:
        return float(rows.sum())
    before = float(so_far[at - 1]) if at else 0.0
    taken = float(rows[order[:at]].sum())
    return taken + float(rows[order[at]]) * min(1.0, (over - before) / float(spared[order[at]]))


def raised(prior: Floats, spare: float) -> Floats:
    """The largest share that each value can have once a share `spare` of the rows is left out."""
    return np.minimum(1.0, prior / max(1e-12, 1.0 - spare))


def lost_above(shares: Floats, bound: Floats) -> Floats:
    """For shares that survivors must keep below `bound`, the share of each group that is lost for certain."""
    room = np.maximum(1.0 - bound, 1e-12)
    over = np.where(bound < 1.0, (shares - bound - TOLERANCE) / room, 0.0)
    return np.asarray(np.clip(over, 0.0, 1.0).max(axis=-1, initial=0.0), dtype=np.float64)


def population(groups: Groups, who: str) -> Ints:
    """People of the population per group."""
    if groups.population is None:
        raise Misconfigured(
            f"{who} counts the population, and none is declared",
            hint="Name a file with the population's quasi-identifiers: population: people.csv.",
        )
    return groups.population
