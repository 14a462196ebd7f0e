"""The linear programme over all mechanisms, on pairs of records across the border of a goal, certified without trust.

    maximise Σ_inside π·f   subject to   Σ π·f = 1,   f(x) ≤ e^{D(x,z)}·f(z) for x inside and z outside,   f ≥ 0

**Only pairs across the border matter.** If f obeys those, h(y) = max over x inside of e^{−D(x,y)}·f(x) obeys all pairs
(D is a metric), is at least f inside and at most f outside. Few rows bind: they are asked for where they are broken,
until none is. Fewer rows only loosen the programme, so its certified optimum is an upper bound at any time.

**Certificate.** Any prices y ≥ 0 on the rows F(x) ≤ w·F(z), with F = π·f, bound the optimum by the larger of
1 − Σ_z y(x,z) over x inside and Σ_x y(x,z)·w(x,z) over z outside: all weights in Σ F are 1. The solver's prices give a
sharp bound, wrong ones a loose one, never one that is too low.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.guess.figures import EPS, lifted
from nowiser.model.priors.base import Floats

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
NEAREST = 6  # partners of a record that rows are asked for at first
ROUNDS = 40
BROKEN = 1e-12
STEEPEST = 23.0  # nats; a row that allows a factor of e^23 is left out, which loosens the programme by 1e-10
HEAVIEST = 1e11  # so is one between masses this far apart: with such coefficients HiGHS goes astray
NEAR = 1e-9  # how far a bound may be above what the likelihood attains before another method is tried


@dataclass(frozen=True, eq=False)
class Solution:
    """A certified upper bound; a likelihood inside that keeps the costs when it is continued, and what it attains."""

    ceiling: float
    inner: Floats  # ln f of the records inside
    attained: float


def solve(inside: Floats, outside: Floats, distance: Floats) -> Solution:
    """For masses inside and outside, and the costs of all pairs (a row for each record inside)."""
    asked = _nearest(distance) | _nearest(distance.T).T
    best = _peak(inside, outside, distance)
    for _ in range(ROUNDS):
        i, j = np.nonzero(asked & (distance <= STEEPEST))
        weight = np.exp(distance[i, j]) * (inside[i] / outside[j]) * (1 + 16 * EPS)
        mild = weight < HEAVIEST
        i, j, weight = i[mild], j[mild], weight[mild]
        excess = None
        for found in _optimised((inside.size, outside.size), (i, j, weight)):
            prices = np.maximum(-found.ineqlin.marginals, 0.0)
            ceiling = min(best.ceiling, _certified((inside.size, outside.size), (i, j, weight), prices))
            log = np.log(np.maximum(found.x[: inside.size] / inside, 1e-300))
            attained = _attained(inside, outside, distance, log)
            inner = log if attained > best.attained else best.inner
            best = Solution(ceiling, inner, max(attained, best.attained))
            out = np.log(np.maximum(found.x[inside.size :] / outside, 1e-300))
            excess = log[:, None] - distance - out[None, :]
            if best.ceiling <= best.attained * (1 + NEAR):
                return best
            if ((excess > BROKEN) & ~asked).any():
                break  # more rows before another method
        if excess is None or not (broken := (excess > BROKEN) & ~asked).any():
            break
        asked |= broken & (_nearest(-excess) | _nearest(-excess.T).T)
    return best


def _peak(inside: Floats, outside: Floats, distance: Floats) -> Solution:
    """What is known without a solver: e^{largest cost} times the odds, and the likelihood that is 1 inside."""
    odds, flat = inside.sum() / outside.sum() * (1 + 1e-12), np.zeros(inside.size)
    ceiling = float(lifted(odds, float(distance.max())))
    return Solution(ceiling, flat, _attained(inside, outside, distance, flat))


def _attained(inside: Floats, outside: Floats, distance: Floats, log: Floats) -> float:
    """The posterior of a likelihood that is known inside, and continued as low as it may be: max of e^{−D}·f.

    Pairs inside may demand that it is higher there; that makes the posterior only larger.
    """
    top = float(log.max())
    within, beyond = np.exp(log - top), np.exp((log[:, None] - top - distance).max(axis=0))
    mass = float(inside @ within)
    return mass / (mass + float(outside @ beyond)) * (1 - 1e-13)


def _certified(sizes: tuple[int, int], rows: tuple[Indices, Indices, Floats], prices: Floats) -> float:
    i, j, weight = rows
    room = 1 + 4 * EPS * (max(sizes) + 4)
    paid, owed = np.bincount(i, prices, sizes[0]), np.bincount(j, prices * weight, sizes[1])
    return float(min(1.0, max((1 - paid / room).max(), (owed * room).max()) + 4 * EPS))


def _optimised(sizes: tuple[int, int], rows: tuple[Indices, Indices, Floats]) -> Iterator[Any]:
    """HiGHS, by one method after the other; whatever it says is certified afterwards."""
    from scipy import optimize, sparse

    (n, m), (i, j, weight) = sizes, rows
    row = np.arange(i.size)
    at = np.concatenate([row, row]), np.concatenate([i, n + j])
    matrix = sparse.csr_matrix((np.concatenate([np.ones(i.size), -weight]), at), shape=(i.size, n + m))
    gain = np.concatenate([np.full(n, -1.0), np.zeros(m)])
    for method, presolve in (("highs-ds", True), ("highs-ipm", True), ("highs-ds", False)):
        found = optimize.linprog(
            gain,
            A_ub=matrix,
            b_ub=np.zeros(i.size),
            A_eq=sparse.csr_matrix(np.ones((1, n + m))),
            b_eq=[1.0],
            bounds=(0, None),
            method=method,
            options={
                "presolve": presolve,
                "dual_feasibility_tolerance": 1e-10,
                "primal_feasibility_tolerance": 1e-10,
            },
        )
        if found.status == 0:
            yield found


def _nearest(distance: Floats) -> Mask:
    """The few nearest of each row."""
    few = min(NEAREST, distance.shape[1])
    found = np.zeros(distance.shape, bool)
    np.put_along_axis(found, np.argpartition(distance, few - 1, axis=1)[:, :few], values=True, axis=1)
    return found
