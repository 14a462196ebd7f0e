"""Distance-based record linkage: whose released row lies nearest to what the attacker knows?

Numbers are scaled by their standard deviation in the original, categories count distance 1 when they
differ (Gower's idea with squared differences). For every original row the `k` nearest released rows are
found exactly; a victim is *linked* if her own row is the nearest (shared between rows at equal distance) and *among
the k nearest* if it is one of them. Beside it stands the baseline of a blind guess, 1/n and k/n.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.best_guess import Floats, clopper_pearson
from nowiser.microdata.risk.nearest import nearest
from nowiser.microdata.table.arrays import chosen, grouped
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Linkage:
    """Shares of the victims, with 95 % intervals, and the baselines."""

    victims: int
    linked: float
    among: float
    k: int
    low: float
    high: float
    by_chance: float


def linkage(
    original: MicroTable,
    released: MicroTable,
    columns: Sequence[str],
    *,
    k: int = 3,
    most: int = 100_000,
    seed: int = 0,
) -> Linkage:
    """Link original rows to released ones on these columns. At most `most` victims are drawn."""
    names = chosen(original, columns, what="columns")
    chosen(released, columns, what="columns")
    if not 1 <= k <= released.rows:
        raise Misconfigured(f"k must be between 1 and the {released.rows} released rows, not {k}")
    known, seen = coordinates(original, released, names)
    where = np.full(original.rows, -1, dtype=np.int64)
    where[released.origin] = np.arange(released.rows)
    victims = np.flatnonzero(where >= 0)
    if len(victims) > most:
        victims = np.sort(np.random.default_rng(seed).choice(victims, most, replace=False))
    if not len(victims):
        raise Misconfigured("no released row belongs to an original one: rows cannot be linked")
    # equal rows lie at equal distances: search among the distinct ones, and share the guess by their numbers
    place, distinct = grouped(released, names)
    first = np.zeros(distinct, dtype=np.int64)
    first[place[::-1]] = np.arange(released.rows)[::-1]
    alike = np.bincount(place, minlength=distinct)
    near, distance = nearest(known[victims], seen[first], min(k, distinct))
    own = ((known[victims] - seen[where[victims]]) ** 2).sum(axis=1)
    tie = np.abs(distance - own[:, None]) <= 1e-9 * (1 + own[:, None])
    tied = np.where(tie, alike[near], 0).sum(axis=1)
    closest = own <= distance[:, 0] * (1 + 1e-9) + 1e-12
    linked = float(np.where(closest, 1 / np.maximum(1, tied), 0.0).mean())
    nearer = np.where(distance < own[:, None] * (1 - 1e-9), alike[near], 0).sum(axis=1)
    among = float(
        np.clip((k - nearer) / np.maximum(1, tied), 0, 1)[own <= distance[:, -1] * (1 + 1e-9)].sum() / len(own)
    )
    low, high = clopper_pearson(round(linked * len(victims)), len(victims))
    return Linkage(len(victims), linked, among, k, low, high, 1 / released.rows)


def coordinates(original: MicroTable, released: MicroTable, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Both tables as points in one space: scaled numbers, indicators (times √½) of categories.

    A missing number lies at the mean; columns that are numbers in one table only are compared as categories.
    """
    known: list[Floats] = []
    seen: list[Floats] = []
    for name in names:
        old, new = original[name], released[name]
        if old.is_numeric and new.is_numeric:
            numbers = old.numbers
            spread = float(np.nanstd(numbers)) or 1.0
            centre = float(np.nanmean(numbers))
            known.append(np.nan_to_num((numbers - centre) / spread)[:, None])
            seen.append(np.nan_to_num((new.numbers - centre) / spread)[:, None])
            continue
        labels = sorted(set(old.labels) | set(new.labels))
        if len(labels) > 200:
            raise Misconfigured(f"column {name!r} has {len(labels)} categories: too many to link on by distance")
        place = {v: i for i, v in enumerate(labels)}
        corners = np.vstack([np.eye(len(labels)), np.zeros(len(labels))]) * np.sqrt(0.5)
        known.append(corners[np.array([place[v] for v in old.labels] + [len(labels)])[old.codes]])
        seen.append(corners[np.array([place[v] for v in new.labels] + [len(labels)])[new.codes]])
    return np.hstack(known), np.hstack(seen)
