"""What is asked of synthetic rows, checked before anything is spent: size of the model, weights, impossible cells, use.

Nothing here looks at the data.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod
from typing import Any

import numpy as np

from nowiser.bought.domain import Domain
from nowiser.errors import Misconfigured, NotAnswerable, Useless
from nowiser.model.schema import Table
from nowiser.synth.model import Zeros
from nowiser.synth.run import CELLS
from nowiser.synth.tree.junction import Clique

WEIGHTS = 64  # of the workload are whole numbers up to this
ALONE = 0.5  # how much a single column counts beside a pair
USELESS = 0.25  # an expected distance of single columns from which on rows are of no use
ABSOLUTE = math.sqrt(2 / math.pi)  # expected, of a standard normal


def check_size(domain: Domain, *, pairs: bool) -> None:
    """Raises NotAnswerable where tables to be counted have more cells than a model may hold."""
    sizes = sorted(domain, key=lambda a: -a.size)
    whole = prod(a.size for a in domain)
    for one, other in pairwise(sizes) if pairs and len(sizes) > 1 else ((a, None) for a in sizes[:1]):
        cells = one.size * (other.size if other is not None else 1)
        if cells > CELLS:
            both = f"{one.name!r} and {other.name!r} together have" if other is not None else f"{one.name!r} has"
            raise NotAnswerable(
                f"the table is too large to model: {both} {cells:,} cells, and a model may hold {CELLS:,} "
                f"(the whole domain has {_large(whole)})",
                hint=f"Coarsen {one.name!r}: it has {one.size:,} cells; 20 to 50 are usual (--cells {one.name}=20), "
                "or leave it out with --columns. Nothing was charged.",
            )
        return


def workload(domain: Domain, wanted: Mapping[str, float] | None = None) -> dict[Clique, int]:
    """All pairs and single columns, or those named (`age*income: 3`), each with a whole-number weight."""
    places = {a.name: i for i, a in enumerate(domain)}
    weights: dict[Clique, float] = {(v,): ALONE for v in range(len(domain))}
    weights |= dict.fromkeys(combinations(range(len(domain)), 2), 1.0)
    for text, weight in (wanted or {}).items():
        names = [n.strip() for n in text.split("*")]
        if unknown := [n for n in names if n not in places]:
            raise Misconfigured(
                f"the workload names {unknown[0]!r}, which is not modelled", hint=f"Columns: {', '.join(places)}."
            )
        if not (math.isfinite(weight) and weight > 0):
            raise Misconfigured(f"the weight of {text!r} must be above zero, found {weight}")
        columns = sorted({places[n] for n in names})
        for c in combinations(columns, 2) if len(columns) > 1 else [tuple(columns)]:
            weights[c] = max(weights[c], weight)
    most = max(weights.values())
    return {c: max(1, round(WEIGHTS * w / most)) for c, w in weights.items()}


def together(domain: Domain, wanted: Sequence[str]) -> dict[Clique, int]:
    """What is to be counted together, as in ["age*ward*urgent"]; default: all pairs. Single columns always are."""
    places = {a.name: i for i, a in enumerate(domain)}
    singles = [(v,) for v in range(len(domain))]
    found = [tuple(sorted({_place(n.strip(), places) for n in text.split("*")})) for text in wanted]
    for c in found:
        if (cells := prod(domain[v].size for v in c)) > CELLS:
            raise NotAnswerable(
                f"{' and '.join(repr(domain[v].name) for v in c)} together have {cells:,} cells, "
                f"and a table may have {CELLS:,}",
                hint="Coarsen one of them (--cells age=20), or count fewer columns together. Nothing was charged.",
            )
    return dict.fromkeys([*singles, *(found or combinations(range(len(domain)), 2))], 1)


def _place(name: str, places: Mapping[str, int]) -> int:
    if name not in places:
        raise Misconfigured(f"there is no column {name!r} to count", hint=f"Columns: {', '.join(places)}.")
    return places[name]


def impossible(domain: Domain, wanted: Sequence[Mapping[str, Any]]) -> Zeros:
    """Cells that cannot be: each item names values of some columns, as in {sex: male, pregnant: yes}."""
    places = {a.name: i for i, a in enumerate(domain)}
    found: dict[Clique, np.ndarray] = {}
    for item in wanted:
        if unknown := [n for n in item if n not in places]:
            raise Misconfigured(f"an impossible cell names {unknown[0]!r}, which is not modelled")
        columns = tuple(sorted(places[n] for n in item))
        shape = [domain[v].size for v in columns]
        if prod(shape) > CELLS:
            raise NotAnswerable(f"an impossible cell is over {prod(shape):,} cells, and a model may hold {CELLS:,}")
        mask = found.setdefault(columns, np.zeros(shape, bool))
        mask[np.ix_(*(_cells(domain[v], item[domain[v].name]) for v in columns))] = True
    for columns, mask in found.items():
        if mask.all():
            names = ", ".join(domain[v].name for v in columns)
            raise Misconfigured(f"every cell of {names} is said to be impossible: no row could be")
    return tuple(found.items())


def _cells(attribute: Any, value: Any) -> list[int]:
    """The cells that hold one value or any of a list of values."""
    labels = attribute.labels()
    values = value if isinstance(value, list) else [value]
    texts = ["missing" if v is None else "true" if v is True else "false" if v is False else str(v) for v in values]
    known = {(label.lower() if attribute.kind.value == "boolean" else label): i for i, label in enumerate(labels)}
    if unknown := [t for t in texts if t not in known]:
        raise Misconfigured(
            f"{attribute.name!r} has no cell {unknown[0]!r}", hint=f"Its cells: {', '.join(list(known)[:20])}."
        )
    return [known[t] for t in texts]


@dataclass(frozen=True)
class Expected:
    """Distances (half the sum of absolute differences of shares) that noise alone will add, before it is spent."""

    single: float | None  # of a column; None where nobody says how many persons there are
    pair: float | None
    deviation: float  # of the noise on a count of one column, in rows


def expected(domain: Domain, table: Table, amount: Fraction) -> Expected:
    """About: with every column counted for a d-th of half the budget, and as many pairs for the other half."""
    deviation = table.rows_per_person / math.sqrt(float(amount) / 2 / len(domain))
    cells = float(np.mean([a.size for a in domain]))
    pairs = [a.size * b.size for a, b in combinations(domain, 2)] or [1]
    if not table.people:
        return Expected(None, None, deviation)
    scale = 0.5 * ABSOLUTE * deviation / table.people
    return Expected(min(1.0, scale * cells), min(1.0, scale * float(np.median(pairs))), deviation)


def check_useful(found: Expected) -> None:
    """Raises Useless where rows would be noise; nothing is charged."""
    if found.single is not None and found.single > USELESS:
        raise Useless(
            f"the rows would be of no use: shares of single columns are expected to be off by {found.single:.2f} in "
            f"all, of pairs by {found.pair:.2f} (0 is exact, 1 is nothing in common)",
            hint="Spend more, model fewer columns (--columns), or cut ranges into fewer cells (--cells age=10). "
            "--anyway makes them all the same.",
        )


def _large(cells: int) -> str:
    return f"{cells:,} cells" if cells < 10**9 else f"about 10^{len(str(cells)) - 1} cells"
