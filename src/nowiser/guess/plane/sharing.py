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
from typing import Any

import numpy as np

from nowiser.model.priors.base import Floats

EVEN = 0.002  # how far quotients may be apart at the end, as a share of the cost of a radius
OWN, ALL = 1e-2, 1e-4  # by which share of a point's own curvature, and of the average, steps are damped
EMPTY, LATE = 1e-3, 0.1  # points that hold so little of an even share are left out, from this stage on
CARRIED = 9  # steps of a bisection
BLOCK, SMALL = 200_000, 90  # multiplications; equations


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
        longest = max(2 * temperature, 0.02 * cost)  # no height changes more at once, by itself: others may need less
        for count in range(effort.steps if soft > effort.stages[-1] else 2 * effort.steps):
            a, b, bent = shares.out(heights, temperature)
            with np.errstate(all="ignore"):  # beyond all numbers there is no next step
                odds, held = np.nan_to_num(a / b, nan=np.inf), heights * b
                even = float(heights @ a) / float(held.sum()) * (1 + EVEN * cost)
                step = _newton(a, b, bent, heights)
            best, worst = min(best, float(odds.max())), float(odds.max())
            empty = (odds > even) & (held < EMPTY * held.mean())
            if best <= enough or not np.isfinite(step).all():
                break
            if soft <= LATE and count > 1 and empty.any():
                # next to nothing is held at these points, and that unevenly: the bound is better off without them
                shares, heights = shares.only(~empty), heights[~empty]
                continue
            heights = heights * np.exp(np.clip(step, -longest, longest))
            if worst <= even and np.abs(step).max() < 0.03 * temperature:
                break
        last = soft == effort.stages[-1] or even <= enough
        if last and best > max(even, enough) and a.size == heights.size and shares.apart is not None:
            best = min(best, _carried(a, b, shares.apart, even, best))
        if best <= enough:
            break
    return best


def _carried(a: Floats, b: Floats, apart: Floats, low: float, high: float) -> float:
    """Odds ρ between two limits for which Σ h(z)·(A_z − ρB_z) ≤ 0 whatever h is, `high` where no smaller are found.

    Where A_z is more than ρB_z, what is too much is carried to points that have room: h(z) ≤ h(z')·e^{cost of z to z'}.
    """
    order = np.argsort(apart, axis=1)
    for _ in range(CARRIED):
        if not low < high * (1 - 1e-3):
            break
        odds = np.sqrt(low * high)
        room, much = np.maximum(odds * b - a, 0.0) * (1 - 1e-12), np.maximum(a - odds * b, 0.0) * (1 + 1e-12)
        for z in np.argsort(-much)[: np.count_nonzero(much)].tolist():
            to = order[z]
            fits = room[to] / apart[z, to]
            taken = np.clip(much[z] - (np.cumsum(fits) - fits), 0.0, fits)
            if taken.sum() < much[z] * (1 - 1e-13):
                low = odds
                break
            room[to] -= taken * apart[z, to]
            np.maximum(room, 0.0, out=room)
        else:
            high = odds
    return float(high)


def _newton(a: Floats, b: Floats, bent: tuple[Floats, Floats], heights: Floats) -> Floats:
    """The step of ln h to where A − ρB vanishes and ρ is the quotient of the sums; shorter where that is far away."""
    n = heights.size
    odds = float(heights @ a) / float(heights @ b)
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, :n] = -(bent[0] + odds * bent[1]) * np.multiply.outer(heights, heights)
    own = np.diagonal(matrix)[:n]
    matrix[np.arange(n), np.arange(n)] += OWN * own + ALL * own.mean() - 1e-300
    matrix[:n, n] = matrix[n, :n] = -heights * b
    target = np.append(-(a - odds * b) * heights, 0.0)
    try:
        return solved(matrix, target[:, None])[:n, 0]
    except np.linalg.LinAlgError:  # no direction: what has been found so far stands
        return np.full(n, np.inf)


class Shares:
    """Pieces shared out among points by softened minima and maxima. `apart`: e^{cost} between points, if known."""

    def __init__(self, inner: Floats, up: Floats, outer: Floats, down: Floats, apart: Floats | None = None) -> None:
        self.inner, self.up, self.outer, self.down, self.apart = inner, up, outer, down, apart

    def only(self, some: Any) -> "Shares":
        """Shared out among some of the points only."""
        apart = None if self.apart is None else self.apart[np.ix_(some, some)]
        return Shares(self.inner, self.up[:, some], self.outer, self.down[:, some], apart)

    def out(self, heights: Floats, temperature: float) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        """A, B, and how both bend with the heights."""
        a, first = self._soft(self.inner, self.up, heights, -temperature)
        b, second = self._soft(self.outer, self.down, heights, temperature)
        return a, b, (first, second)

    def _soft(self, mass: Floats, factor: Floats, heights: Floats, temperature: float) -> tuple[Floats, Floats]:
        values = factor * heights
        best = (values.min if temperature < 0 else values.max)(axis=1)[:, None]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            share = np.exp((values / best - 1) / temperature)
            weight = mass / (best[:, 0] * abs(temperature))
        if not np.isfinite(weight).all():  # nothing left of e^{−k|x−z|}: such pieces count nothing
            gone = ~np.isfinite(weight)
            share[gone], weight[gone] = 1.0, 0.0
        share /= share.sum(axis=1)[:, None]
        share *= factor
        with np.errstate(invalid="ignore", over="ignore"):  # a step that is no number is not taken
            slope = share * weight[:, None]
            bent = np.diag(np.einsum("ij,ij->j", slope, factor)) - _squared(slope, share)
        return np.einsum("i,ij->j", mass, share), bent


def solved(matrix: Floats, columns: Floats) -> Floats:
    """The solution of linear equations, in blocks too small for BLAS to start threads (see `_squared`)."""
    n, k = len(matrix), len(matrix) // 2
    if n <= SMALL:
        return np.asarray(np.linalg.solve(matrix, columns))
    first = solved(matrix[:k, :k], np.hstack([matrix[:k, k:], columns[:k]]))
    rest = np.hstack([matrix[k:, k:], columns[k:]]) - multiplied(matrix[k:, :k], first)
    last = solved(rest[:, : n - k], rest[:, n - k :])
    return np.concatenate([first[:, n - k :] - multiplied(first[:, : n - k], last), last])


def _squared(a: Floats, b: Floats) -> Floats:
    """aᵀb in blocks too small for BLAS to start threads, which would cost more than the product."""
    n, width = a.shape
    rows = BLOCK // width**2 or 1
    whole = n // rows * rows
    parts = np.matmul(a[:whole].reshape(-1, rows, width).transpose(0, 2, 1), b[:whole].reshape(-1, rows, width)).sum(
        axis=0
    )
    return np.asarray(parts + a[whole:].T @ b[whole:])


def multiplied(a: Floats, b: Floats) -> Floats:
    """ab, likewise."""
    rows = BLOCK // b.size or 1
    whole = len(a) // rows * rows
    parts = np.matmul(a[:whole].reshape(-1, rows, a.shape[1]), b).reshape(whole, b.shape[1])
    return np.concatenate([parts, a[whole:] @ b])
