"""Everything inside a region is held against everything outside, through points of its border.

Let h be a likelihood that moves by at most e^{k·distance}, z₁ … z_n points, best of the border. Share out every piece i
inside among them (shares α, Σ_z α_iz = 1) and every piece j outside (β). Then

    ∫_inside h dπ  ≤  Σ_z h(z)·A_z,   A_z = Σ_i α_iz·(mass of i)·(average of e^{k|x−z|} over i),
    ∫_outside h dπ  ≥  Σ_z h(z)·B_z,   B_z = Σ_j β_jz·(mass of j)·(average of e^{−k|x−z|} over j),

so the odds are at most max_z A_z/B_z, for any points and any shares whatsoever. *Which shares?* The best ones belong to
the likelihood that attains the ceiling: each piece inside goes to the z with the smallest h(z)·e^{k|x−z|}, each piece
outside to the one with the largest h(z)·e^{−k|x−z|}, and all quotients are equal. On a line, with two points, that is
the crossing of `line`. Here softened minima are used (weights e^{−(value/smallest − 1)/T}), of which the quotients are
derivatives: with ρ the odds, A − ρB is the gradient of a concave function of the values h(z), and Newton's method finds
where it vanishes, first for a large T and then for smaller ones. Nothing of this needs to be exact: whatever shares it
ends with, the bound holds.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.model.priors.base import Floats

EVEN = 0.002  # how far quotients may be apart at the end, as a share of the cost of a radius
BLOCK = 200_000  # multiplications


@dataclass(frozen=True)
class Effort:
    """Points of the border; how soft the minima are, stage by stage (as shares of the cost of a radius)."""

    points: int = 40
    stages: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01)
    steps: int = 6


def equalised(shares: "Shares", heights: Floats, cost: float, effort: Effort, enough: float) -> float:
    """The bound on the odds, from these heights of h at the points on; no further once it is at most `enough`.

    `cost`: of a radius, which the heights are smoothed in proportion to.
    """
    best = np.inf
    for soft in effort.stages:
        temperature = soft * cost
        for _ in range(effort.steps if soft > effort.stages[-1] else 2 * effort.steps):
            a, b, bent = shares.out(heights, temperature)
            with np.errstate(all="ignore"):  # beyond all numbers there is no next step
                worst = float(np.nan_to_num(a / b, nan=np.inf).max())
                step = _newton(a, b, bent, heights)
                even = float(heights @ a) / float(heights @ b)
            best, longest = min(best, worst), float(np.abs(step).max())
            if best <= enough or not np.isfinite(longest):
                break
            heights = heights * np.exp(step * min(1.0, max(2 * temperature, 0.02 * cost) / max(longest, 1e-300)))
            if longest < 0.03 * temperature and worst <= even * (1 + EVEN * cost):
                break
        if best <= enough:
            break
    return best


def _newton(a: Floats, b: Floats, bent: tuple[Floats, Floats], heights: Floats) -> Floats:
    """The step of ln h to where A − ρB vanishes and ρ is the quotient of the sums."""
    n = heights.size
    odds = float(heights @ a) / float(heights @ b)
    scale = np.multiply.outer(heights, heights)
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, :n] = -(bent[0] + odds * bent[1]) * scale
    matrix[:n, :n] -= np.eye(n) * (1e-9 * -np.trace(matrix) / n + 1e-300)
    matrix[:n, n] = matrix[n, :n] = -heights * b
    target = np.append(-(a - odds * b) * heights, 0.0)
    try:
        return np.asarray(np.linalg.solve(matrix, target)[:n])
    except np.linalg.LinAlgError:  # no direction: what has been found so far stands
        return np.full(n, np.inf)


class Shares:
    """Pieces shared out among points by softened minima and maxima."""

    def __init__(self, inner: Floats, up: Floats, outer: Floats, down: Floats) -> None:
        self.inner, self.up, self.outer, self.down = inner, up, outer, down

    def out(self, heights: Floats, temperature: float) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        """A, B, and how both bend with the heights."""
        a, first = self._soft(self.inner, self.up, heights, -temperature)
        b, second = self._soft(self.outer, self.down, heights, temperature)
        return a, b, (first, second)

    def _soft(self, mass: Floats, factor: Floats, heights: Floats, temperature: float) -> tuple[Floats, Floats]:
        values = factor * heights
        best = (values.min if temperature < 0 else values.max)(axis=1)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.exp((values / best - 1) / temperature)
            weight = mass / (best[:, 0] * abs(temperature))
        if not np.isfinite(weight).all():  # nothing left of e^{−k|x−z|}: such pieces count nothing
            gone = ~np.isfinite(weight)
            share[gone], weight[gone] = 1.0, 0.0
        share /= share.sum(axis=1)[:, None]
        share *= factor
        slope = share * weight[:, None]
        return np.einsum("i,ij->j", mass, share), np.diag(np.einsum("ij,ij->j", slope, factor)) - _squared(slope, share)


def _squared(a: Floats, b: Floats) -> Floats:
    """aᵀb in blocks too small for BLAS to start threads, which would cost more than the product."""
    n, width = a.shape
    rows = BLOCK // width**2 or 1
    whole = n // rows * rows
    parts = np.matmul(a[:whole].reshape(-1, rows, width).transpose(0, 2, 1), b[:whole].reshape(-1, rows, width)).sum(
        axis=0
    )
    return np.asarray(parts + a[whole:].T @ b[whole:])
