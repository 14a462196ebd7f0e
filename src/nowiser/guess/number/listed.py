"""The worst victim of a list of single values: only finitely many sets of them are within a radius of somebody.

Every set gets a quick bound on its odds (the theorem of `sums` with t at some value); only those whose
bound exceeds the best figure found so far are looked at closely.
"""

import numpy as np

from nowiser.guess.number.family import Family
from nowiser.guess.number.search import Best, Objective, winner
from nowiser.guess.number.sums import tilted
from nowiser.guess.rounding import grain, tells
from nowiser.model.priors.base import Floats

BATCH = 512


def worst_listed(family: Family, aim: Objective, seen: Floats | None) -> tuple[Best, Floats]:
    """The worst victim, and rows for another objective: victims, before, and the quick bound on the odds."""
    rows = _sets(family) if seen is None else seen
    bound = aim.of(rows[1], rows[2])
    top = Best(float(rows[0, 0]), 0.0, 0.0, -np.inf)
    some = np.argpartition(-bound, BATCH)[:BATCH] if bound.size > BATCH else np.arange(bound.size)
    top = _best_of(family, aim, rows[0, some], top)
    rest = np.flatnonzero(bound > top.value)
    rest = rest[np.argsort(-bound[rest], kind="stable")]
    for start in range(0, rest.size, BATCH):
        some = rest[start : start + BATCH]
        if bound[some[0]] <= top.value:
            break
        top = _best_of(family, aim, rows[0, some], top)
    return top, rows


def _best_of(family: Family, aim: Objective, x: Floats, top: Best) -> Best:
    return max(top, winner(aim, np.array([x, *family.figures(x)[:2]])), key=lambda one: one.value)


def _sets(family: Family) -> Floats:
    p, form, values = family.pieces, family.form, family.pieces.values
    radius = form.ends[1].at
    x = values
    if radius:  # where a value comes or goes, and between
        x = np.clip(np.sort(np.concatenate([values - radius, values + radius]), kind="stable"), form.first, form.last)
        x = np.stack([x, x + np.diff(x, append=x[-1]) / 2], axis=-1).ravel()
        if not tells(float(np.abs(values[[0, -1]]).max()), radius):  # these sums do not say who is within it
            x = np.unique(np.concatenate([x, values]))
            return np.array([x, np.zeros(x.size), np.full(x.size, np.inf)])
    reach = radius + grain(x, radius) if radius else 0.0
    low, high = np.searchsorted(values, x - reach), np.searchsorted(values, x + reach, "right")
    new = (high > low) & (np.append(True, np.diff(low) != 0) | np.append(True, np.diff(high) != 0))
    nobody = np.array([[v, 0.0, 0.0] for v in x[high == low][:1]]).reshape(-1, 3).T  # right about nothing
    x, low, high = x[new], low[new], high[new] - 1
    total = p.sums[0][::2]
    before = np.append(total, 1.0)[high + 1] - total[low]
    if not family.k:
        return np.hstack([np.array([x, before, before / (1 - before)]), nobody])
    t, k, first, last = tilted(p, family.k), family.k, values[low], values[high]
    out = t.a[2 * low], t.b[2 * high + 1]  # at the outermost values of the set
    aim = np.log(out[0]) - np.log(out[1]) + k * ((first - p.x[p.x.size // 2]) + (last - p.x[p.x.size // 2]))
    middle = np.clip((np.searchsorted(t.balance, aim) - 1) // 2, low, high)
    middle = np.where(out[0] == 0, low - 1, np.where(out[1] == 0, high, middle))  # t lies above this value
    left = t.a[2 * middle + 1] * np.exp(k * (values[middle] - first)) / out[0] - 1
    after = np.minimum(middle + 1, high)
    right = t.b[2 * after] * np.exp(k * (last - values[after])) / out[1] - 1
    quick = np.maximum(np.where(middle < low, 0.0, left), np.where(middle >= high, 0.0, right)) * (1 + 1e-9)
    ends = ((low == 0) & (p.lost[0] > 0)) | ((high == values.size - 1) & (p.lost[1] > 0))
    unknown = ends | np.isnan(quick) | ((out[0] == 0) & (out[1] == 0))
    return np.hstack([np.array([x, before * (1 - 1e-12), np.where(unknown, np.inf, quick)]), nobody])
