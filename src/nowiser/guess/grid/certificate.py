"""Checking a linear programme's answer without trusting the solver.

For prices y ≥ 0 on the rows F(p) − w·F(q) ≤ 0, every feasible F (Σ share·F = 1, F ≥ 0) satisfies

    Σ gain·F  ≤  Σ (gain − Aᵀy)·F  ≤  max over x with share > 0 of (gain − Aᵀy)(x)/share(x),

provided (Aᵀy)(x) ≥ 0 for all helpers x (share 0). That is all: any y gives a bound, the solver's y gives a sharp
one. The
solver meets the condition on helpers only up to its tolerance, so it is repaired first: a helper that is short gets
more
price on a row that bounds it by a variable nearer to the real cells, which moves the shortage there, until real cells
absorb it. All sums are evaluated with a bound on their rounding error, which is pushed upward.
"""

import numpy as np
import numpy.typing as npt

from nowiser.model.priors.base import Floats

Indices = npt.NDArray[np.intp]
EPS = 2.0**-52


def certified(share: Floats, gain: Floats, rows: tuple[Indices, Indices, Floats], prices: Floats) -> float:
    """An upper bound on the programme's optimum that holds in exact arithmetic; never above 1."""
    p, q, weight = rows
    y = np.maximum(prices, 0.0)
    real = share > 0
    level = _levels(real, p, q)
    for step in range(int(level.max()), 0, -1):
        low, spare = _pull(share.size, p, q, weight, y)
        short = (level == step) & (low < 0)
        if not short.any():
            continue
        way = np.flatnonzero(short[p] & (level[q] == step - 1))
        _, first = np.unique(p[way], return_index=True)
        way = way[first]
        y[way] += -low[p[way]] * (1 + 2.0**-20) + 4 * spare[p[way]]
    low, _ = _pull(share.size, p, q, weight, y)
    if (low[~real] < 0).any():
        return 1.0  # nothing was certified; one is always an upper bound
    bound = (gain[real] - low[real]) / share[real]
    return float(min(1.0, np.max(bound) * (1 + 8 * EPS) + 8 * EPS))


def _pull(n: int, p: Indices, q: Indices, weight: Floats, y: Floats) -> tuple[Floats, Floats]:
    """A lower bound on Aᵀy, and the rounding error it allows for."""
    plus = np.bincount(p, y, n)
    minus = np.bincount(q, weight * y, n)
    terms = np.bincount(p, minlength=n) + np.bincount(q, minlength=n) + 4
    spare = (plus + minus) * terms * EPS
    return plus - minus - spare, spare


def _levels(real: npt.NDArray[np.bool_], p: Indices, q: Indices) -> Indices:
    """How many rows a variable is away from one with mass."""
    level = np.where(real, 0, np.iinfo(np.intp).max)
    step = 0
    while (level == np.iinfo(np.intp).max).any():
        reach = (level[q] == step) & (level[p] > step + 1)
        if not reach.any():  # tied to nothing with mass: then its own rows must already balance
            return np.where(level == np.iinfo(np.intp).max, 0, level)
        level[p[reach]] = step + 1
        step += 1
    return level
