"""Records with masses: the largest posterior over all mechanisms, by the linear programme over all pairs (THEORY 6).

    maximise Σ_{x∈g} π(x) f(x)   subject to   Σ π(x) f(x) = 1,   f(x) ≤ e^{D(x,z)} f(z) for all pairs,   f ≥ 0

What the solver returns is made a likelihood that obeys every pair exactly, f(z) = max over x of e^{−D(x,z)}·f(x), and
the posterior of that is returned: never above the truth, whatever the solver's digits.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from .truth import kind, leaves, meets, radius_of


def columns(prior: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The records of a table by attribute, and their masses."""
    found = {}
    for i, name in enumerate(prior.names):
        each = [r[i] for r in prior.records]
        plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in each)
        found[name] = np.array(each, float) if plain else np.array(each, object)
    masses = np.array(prior.masses)
    return found, masses / masses.sum()


def distances(records: Mapping[str, np.ndarray], goal: Any, costs: Any) -> np.ndarray:
    """What telling each pair of records apart costs at most: a Cost about a map, or one per attribute."""
    names = {n for g in leaves(goal) for n in g.attributes}
    size = next(iter(records.values())).size
    total = np.zeros((size, size))
    if not isinstance(costs, Mapping) and any(len(g.attributes) > 1 for g in leaves(goal)):
        square = sum(np.subtract.outer(records[n], records[n]) ** 2 for n in names)
        return np.sqrt(square) * costs.slope / radius_of(goal) + costs.jump * (square > 0)
    each = costs if isinstance(costs, Mapping) else dict.fromkeys(names, costs)
    for name, cost in each.items():
        x = records[name]
        differ = np.array([[a != b for b in x] for a in x]) if x.dtype == object else np.not_equal.outer(x, x)
        total += cost.jump * differ
        if cost.slope:
            total += cost.slope / radius_of(goal, name) * np.abs(np.subtract.outer(x, x))
    return total


def posterior_of(masses: np.ndarray, inside: np.ndarray, apart: np.ndarray) -> float:
    """The programme; posterior of the likelihood it ends with."""
    if not inside.any() or inside.all():
        return float(inside.all())
    n = masses.size
    i, j = np.nonzero((apart < 46) & ~np.eye(n, dtype=bool))
    row = np.arange(i.size)
    ties = coo_matrix(
        (np.concatenate([np.exp(-apart[i, j]), -np.ones(i.size)]), (np.tile(row, 2), np.concatenate([i, j]))),
        (i.size, n),
    )
    found = linprog(
        -masses * inside, ties.tocsr(), np.zeros(i.size), masses[None, :], [1.0], bounds=(0, None), method="highs"
    )
    best = 0.0
    peaks = np.exp(-apart[inside])  # one peak each, beside what the solver says
    tries = [*peaks, peaks.sum(axis=0), inside + 0.0]
    if found.x is not None:
        tries.append(np.maximum(found.x, 0.0))
    for f in tries:
        whole = (np.exp(-apart) * np.where(inside, f, 0.0)[:, None]).max(axis=0)
        best = max(best, float((masses * whole)[inside].sum() / (masses * whole).sum()))
    return best


def figures(prior: Any, goal: Any, costs: Any, victim: Mapping[str, Any]) -> tuple[float, float, float]:
    """Before, the largest posterior, and the smallest one, of a goal about a table of records."""
    records, masses = columns(prior)
    inside = meets(goal, records, victim)
    apart = distances(records, goal, costs)
    return float(masses[inside].sum()), posterior_of(masses, inside, apart), 1 - posterior_of(masses, ~inside, apart)


def product(priors: Mapping[str, Any], joint: Any) -> Any:
    """Independent attributes on single values or labels, as a table: `joint` is the class JointAtoms."""
    names = list(priors)
    rows: dict[tuple[Any, ...], float] = {(): 1.0}
    for prior in priors.values():
        pairs = list(
            zip(prior.labels if kind(prior) == "Categories" else prior.values.tolist(), prior.masses, strict=True)
        )
        rows = {(*r, v): m * float(w) for r, m in rows.items() for v, w in pairs}
    total = sum(rows.values())
    return joint(names, {r: m / total for r, m in rows.items()})
