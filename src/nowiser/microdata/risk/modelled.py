"""Modelled risk: how many sample uniques are unique in the population, by a log-linear model (sdcMicro: `modRisk`).

Skinner and Shlomo (2008): the people with a combination of quasi-identifiers are Poisson with mean λ, where log λ is a
sum of effects of the values and of some of their pairs, and everybody is in the sample with chance π. The effects are
fitted by maximum likelihood to the sample (iterative proportional fitting). Of a combination that one row has,
Poisson(λ(1 − π)) more people have it:

    unique in the population: Σ e^(−λ(1−π)),      right if matched with anybody there: Σ (1 − e^(−λ(1−π))) / (λ(1−π)).

Estimates, not bounds. With independent values (no pairs) they are too high where values go together; with all pairs the
fit follows the sample too closely and they are too low. So pairs enter one by one while the Bayesian information
criterion falls. π is the same for all: rows by the sum of their weights, or by the size of the population.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod
from typing import Any

import numpy as np

from nowiser.microdata.method_contract import Roles
from nowiser.microdata.risk.best_guess import Floats
from nowiser.microdata.table.arrays import chosen, grouped, weights
from nowiser.microdata.table.micro_table import MicroTable

MOST = 1_500_000  # combinations of values × pairs of columns; beyond it values are taken to be independent
ROUNDS, CLOSE, TERMS = 40, 1e-4, 8
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Modelled:
    sample: int  # rows that are alone
    unique: float  # expected number of them that are alone in the population
    matches: float  # expected number of right matches with the population
    pairs: tuple[tuple[str, str], ...]  # columns whose values go together in the model


def modelled(
    table: MicroTable, quasi: Sequence[str], fraction: float, *, pairs: Sequence[tuple[str, str]] | None = None
) -> Modelled:
    """`fraction` of the population is in the table; `pairs` of columns are found if none are named."""
    columns = [table[n] for n in chosen(table, quasi, what="quasi-identifiers")]
    names = [c.name for c in columns]
    codes, count = grouped(table, names)
    alone = np.bincount(codes, minlength=count)[codes] == 1
    at = [np.where(c.codes < 0, len(c.values), c.codes).astype(np.int64) for c in columns]  # missing is a value
    sizes = [int(a.max(initial=0)) + 1 for a in at]
    if prod(sizes) * max(1, len(sizes) * (len(sizes) - 1) // 2) > MOST:
        found: Pairs = ()
        shares = [np.bincount(a)[a[alone]] / table.rows for a in at]
        expected = table.rows * np.asarray(np.prod(shares, axis=0))
    else:
        cell = np.ravel_multi_index(at, sizes)
        rows = np.bincount(cell, minlength=prod(sizes)).reshape(sizes).astype(np.float64)
        said = None if pairs is None else tuple((names.index(a), names.index(b)) for a, b in pairs)
        found = together(rows) if said is None else said
        expected = fitted(rows, found).reshape(-1)[cell[alone]]
    others = expected / fraction * (1 - fraction)
    with np.errstate(invalid="ignore", divide="ignore"):
        match = np.where(others > 0, -np.expm1(-others) / others, 1.0)
    shown = tuple((names[a], names[b]) for a, b in found)
    return Modelled(int(alone.sum()), float(np.exp(-others).sum()), float(match.sum()), shown)


def together(rows: Floats) -> Pairs:
    """The pairs of columns whose values go together: the best is added while the criterion falls."""
    terms: Pairs = ()
    best = criterion(rows, terms)
    while len(terms) < TERMS and (left := [pair for pair in combinations(range(rows.ndim), 2) if pair not in terms]):
        value, pair = min((criterion(rows, (*terms, pair)), pair) for pair in left)
        if value >= best:
            break
        best, terms = value, (*terms, pair)
    return terms


def criterion(rows: Floats, terms: Pairs) -> float:
    """BIC of the fit, but for a constant: twice the loss of likelihood, and ln n for every effect."""
    here = rows > 0
    effects = 0
    for pair in terms:
        seen = margin(rows, pair) > 0
        effects += int(seen.sum()) - sum(int((margin(rows, (a,)) > 0).sum()) for a in pair) + 1
    fit = fitted(rows, terms)
    return float(-2 * (rows[here] * np.log(fit[here])).sum() + effects * log(rows.sum()))


def margin(rows: Floats, axes: Sequence[int]) -> Floats:
    return np.asarray(rows.sum(axis=tuple(a for a in range(rows.ndim) if a not in axes), keepdims=True))


def fitted(rows: Floats, terms: Pairs) -> Floats:
    """The table with these margins of two columns and all of one, and no other structure."""
    fit = np.full(rows.shape, rows.sum() / rows.size)
    single = [(a,) for a in range(rows.ndim) if not any(a in pair for pair in terms)]
    wanted = [(axes, margin(rows, axes)) for axes in (*terms, *single)]
    for _ in range(ROUNDS):
        off = 0.0
        for axes, want in wanted:
            have = margin(fit, axes)
            factor = np.divide(want, have, out=np.zeros_like(have), where=have > 0)
            off = max(off, float(np.abs(factor - 1)[want > 0].max(initial=0.0)))
            fit *= factor
        if off < CLOSE:
            break
    return np.asarray(fit, dtype=np.float64)


def measure(table: MicroTable, roles: Roles) -> Mapping[str, Any]:
    """For `nowiser risk`: needs sampling weights or the size of the population."""
    if not roles.quasi or not table.rows or (roles.weight is None and roles.people is None):
        return {}
    people = float(weights(table, roles.weight).sum()) if roles.weight is not None else float(roles.people or 0)
    if people < table.rows:
        return {}
    found = modelled(table, roles.quasi, table.rows / people)
    return {
        "sample uniques": found.sample,
        "expected to be unique among all people": found.unique,
        "expected right matches": found.matches,
        "values that go together": ", ".join(" × ".join(pair) for pair in found.pairs) or "none",
    }


TITLE = "modelled risk (log-linear)"
MEASURE = measure
