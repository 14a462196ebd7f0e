"""Cut points that are bought: a range is cut where about equally many rows lie between, as far as noise lets see.

A column whose rows crowd together (incomes, costs, lengths of stay) is badly served by steps of equal width. So its
declared range is counted in many fine steps, with noise that is paid for like any other count, and the steps are put
together at quantiles of the noisy counts. Nothing else of the column is looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.bought.domain import CELLS, Attribute, Domain, attribute_of
from nowiser.errors import Misconfigured
from nowiser.model.schema import Table
from nowiser.synth.meter import Meter

FINE = 256  # steps that are counted
SHARE = Fraction(1, 20)  # of what counting may cost, for each such column
BOUGHT = "bought"


@dataclass(frozen=True)
class Cut:
    """A column of the domain whose edges are bought, in fine steps."""

    place: int
    fine: Attribute


def cuts(table: Table, domain: Domain, names: Sequence[str]) -> tuple[Cut, ...]:
    """The columns whose edges are bought. Raises Misconfigured for one that has no range."""
    places = {a.name: i for i, a in enumerate(domain)}
    found = []
    for name in names:
        column = table.column(name)
        if name not in places or column is None:
            raise Misconfigured(f"{name!r} is not modelled, so there are no cut points to buy")
        if domain[places[name]].edges is None:
            raise Misconfigured(f"{name!r} has declared values, and no range to be cut")
        found.append(Cut(places[name], attribute_of(column, FINE)))
    if len(found) * SHARE > Fraction(1, 2):
        raise Misconfigured(f"the cut points of {len(found)} columns would cost more than half of the budget")
    return tuple(found)


def bought(domain: Domain, wanted: Sequence[Cut], rows: pa.Table, meter: Meter) -> Domain:
    """The domain with edges at noisy quantiles; what they cost is taken from the purse."""
    changed: dict[int, Attribute] = {}
    cost = meter.counts * SHARE
    for cut in wanted:
        fine = cut.fine
        counts = np.bincount(fine.encode(rows[fine.name]), minlength=fine.size).astype(np.int64)
        noisy, _ = meter.counted(counts, cost)
        edges = fine.edges or ()
        kept = quantiles(noisy[: fine.present], CELLS)
        inner = [edges[i] for i in kept]
        changed[cut.place] = replace(fine, edges=(edges[0], *inner, edges[-1]))
    return tuple(changed.get(i, a) for i, a in enumerate(domain))


def quantiles(noisy: NDArray[np.int64], cells: int) -> list[int]:
    """After which steps to cut, so that about as many rows lie in each cell."""
    running = np.maximum.accumulate(np.maximum(np.cumsum(noisy), 0))
    total = int(running[-1])
    if total <= 0:
        return list(range(len(noisy) // cells or 1, len(noisy), len(noisy) // cells or 1))
    targets = np.arange(1, cells) * (total / cells)
    places = np.searchsorted(running, targets) + 1
    return sorted({int(p) for p in places if p < len(noisy)})


def without_bought(cells: Mapping[str, Any] | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What was said of cells, and apart from it the columns whose edges are bought."""
    said = dict(cells or {})
    names = tuple(n for n, v in said.items() if isinstance(v, str) and v == BOUGHT)
    return {n: v for n, v in said.items() if n not in names}, names
