"""One number and an interval: the largest posterior of a Laplace peak (THEORY 2), by scipy's adaptive quadrature.

    after = max over t in [l, u] of  ∫_g e^{−k|x−t|} dπ / ∫ e^{−k|x−t|} dπ,    odds × e^jump

Slower and rougher than `line`, and with no idea in common but the formula: each checks the other.
"""

import itertools
import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from .line import Line


def tilted(line: Line, t: float, k: float, low: float, high: float) -> float:
    """∫ e^{−k|x−t|} dπ from low to high (both included)."""
    keep = (line.values >= low) & (line.values <= high)
    total = float((line.masses[keep] * np.exp(-k * np.abs(line.values[keep] - t))).sum())
    for p in line.parts:
        ends = [max(low, p.low, float(p.dist.ppf(1e-15))), min(high, p.high, float(p.dist.isf(1e-15)))]
        if ends[0] >= ends[1]:
            continue
        inner = [
            t,
            *(t + s * d / max(k, 1e-9) for s in (-1, 1) for d in (1, 5, 30)),
            *p.dist.ppf([0.01, 0.5, 0.99]),
            *p.marks,
        ]
        cuts = sorted({*ends, *(float(x) for x in inner if ends[0] < x < ends[1])})
        for a, b in itertools.pairwise(cuts):
            if k * min(abs(a - t), abs(b - t)) < 700:
                total += p.weight * quad(lambda x, p=p: p.dist.pdf(x) * math.exp(-k * abs(x - t)), a, b, limit=200)[0]
    return total


def posterior(line: Line, low: float, high: float, k: float, jump: float = 0.0) -> float:
    """The largest posterior of [low, high]: peaks on a grid, then around the best of them."""

    def share(t: float) -> float:
        inside = tilted(line, t, k, low, high)
        return inside / (
            inside
            + tilted(line, t, k, -np.inf, np.nextafter(low, -np.inf))
            + tilted(line, t, k, np.nextafter(high, np.inf), np.inf)
        )

    grid = np.linspace(low, high, 17)
    best = int(np.argmax([share(float(t)) for t in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(
        lambda t: -share(t), bounds=around, method="bounded", options={"xatol": 1e-7 * (high - low)}
    )
    top = max(-float(found.fun), share(float(grid[best])))
    return top / (top + (1 - top) * math.exp(-jump))
