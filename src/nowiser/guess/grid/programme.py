"""The general case: a linear programme over all mechanisms (HiGHS), kept sparse, and certified afterwards.

    maximise Σ_{x∈g} π(x) f(x)   subject to   Σ π(x) f(x) = 1,   f(x) ≤ e^{D(x,x')} f(x'),   f ≥ 0

A pair costs D = Σ over axes of (rate·|x−x'| + jump·[x≠x']). On a full grid it is enough to ask for pairs that differ
on one
axis, because a path that changes one axis after the other costs exactly D; and along an axis without a jump it is
enough to ask for neighbours, because |x−x'| adds up along the axis.

**Jumps.** An axis with a jump J is not such a path: J is paid once, however far one goes. A helper h per cell keeps
it sparse: h(x) ≤ f(x) ≤ e^J h(x),     h(x) ≤ e^{rate·gap} h(x') for neighbours x, x' on the axis.
*Same programme:* if such an h exists then f(x) ≤ e^J h(x) ≤ e^{J+rate·d} h(x') ≤ e^{J+rate·d} f(x'). Conversely, if
f obeys all
pairs, h(x) = min over x' of e^{rate·d(x,x')} f(x') is as required: it moves by at most e^{rate·gap} between
neighbours, h ≤ f (take x' = x), and f(x) ≤ e^{J+rate·d} f(x') for every x' says f ≤ e^J h. ∎

Every row reads  f(p) ≤ w·f(q)  with w rounded up, which only loosens the programme: its optimum is an upper bound.
Masses are absorbed into the variables (F = π·f), so that residuals are measured in probability.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.guess.grid.certificate import certified
from nowiser.model.priors.base import Floats

Mask = npt.NDArray[np.bool_]
Rows = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]
LARGEST = 60_000  # variables
STEEPEST = 23.0  # nats; a row that allows a factor of e^23 is left out, which only loosens the programme, by 1e-10
HEAVIEST = 1e11  # so is one between cells of masses this far apart: with such coefficients HiGHS goes astray
NEAR = 1e-8  # how far a certified bound may be above what the likelihood attains before another method is tried
SWEEPS = 200


@dataclass(frozen=True, eq=False)
class Programme:
    """Variables with masses (zero for helpers) and rows f(p) ≤ e^d·f(q)."""

    masses: Floats
    rows: Rows

    def __post_init__(self) -> None:
        if self.masses.size > LARGEST:
            raise Misconfigured(
                f"the linear programme would need {self.masses.size} variables, at most {LARGEST} are allowed",
                hint="Use fewer, wider cells.",
            )


@dataclass(frozen=True, eq=False)
class Solution:
    """A certified upper bound, a likelihood that keeps the costs, and the posterior it attains."""

    ceiling: float
    likelihood: Floats
    attained: float


def axis_rows(
    shape: tuple[int, ...], axis: int, cost: tuple[float, float], places: Floats | None, free: int
) -> tuple[Rows, int]:
    """Rows for one axis of a grid, and how many helpers they use (numbered from `free` on).

    cost: rate (nats per raw unit) and jump; places: positions along the axis; None for labels, which have no distances.
    """
    rate, jump = cost
    cells = np.arange(int(np.prod(shape))).reshape(shape)
    along = np.moveaxis(cells, axis, 0)
    n = along.shape[0]
    if n == 1:
        return _none(), 0
    lines = along.reshape(n, -1)
    if not jump:
        gaps = np.zeros(n - 1) if places is None else rate * np.diff(places)
        return _chain(lines, gaps), 0
    if places is None or rate == 0:  # one helper per line: h ≤ f ≤ e^J h
        count = lines.shape[1]
        helper = np.broadcast_to(free + np.arange(count), lines.shape)
        return _links(lines.ravel(), helper.ravel(), jump), count
    helpers = free + np.arange(lines.size).reshape(lines.shape)
    chain, links = _chain(helpers, rate * np.diff(places)), _links(lines.ravel(), helpers.ravel(), jump)
    return joined([chain, links]), lines.size


def _none() -> Rows:
    return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)


def _chain(lines: npt.NDArray[np.intp], gaps: Floats) -> Rows:
    first, second = lines[:-1].ravel(), lines[1:].ravel()
    cost = np.repeat(gaps, lines.shape[1])
    return np.concatenate([first, second]), np.concatenate([second, first]), np.concatenate([cost, cost])


def _links(cells: npt.NDArray[np.intp], helpers: npt.NDArray[np.intp], jump: float) -> Rows:
    zero, full = np.zeros(cells.size), np.full(cells.size, jump)
    return np.concatenate([helpers, cells]), np.concatenate([cells, helpers]), np.concatenate([zero, full])


def joined(parts: list[Rows]) -> Rows:
    return tuple(np.concatenate([part[i] for part in parts]) for i in range(3))  # type: ignore[return-value]  # three arrays


def solve(programme: Programme, inside: Mask) -> Solution:
    """The certified optimum for the goal that consists of these variables (helpers are never inside)."""
    masses, (p, q, d) = programme.masses, programme.rows
    few = d <= STEEPEST
    p, q, d = p[few], q[few], d[few]
    scale = _scales(masses, (p, q, d))
    weight = np.exp(d) * (scale[p] / scale[q]) * (1 + 2.0**-48)  # rounded up: eight roundings of 2⁻⁵³ and a spare
    mild = weight < HEAVIEST
    p, q, weight = p[mild], q[mild], weight[mild]
    n, m = masses.size, p.size
    row = np.arange(m)
    matrix = sparse.csr_matrix(
        (np.concatenate([np.ones(m), -weight]), (np.concatenate([row, row]), np.concatenate([p, q]))), shape=(m, n)
    )
    share = masses / scale  # one for cells with mass, zero for helpers
    gain = np.where(inside, share, 0.0)
    best: Solution | None = None
    for found in _optimised(gain, matrix, share):
        prices = np.maximum(-found.ineqlin.marginals, 0.0)
        ceiling = certified(share, gain, (p, q, weight), prices)
        likelihood = _allowed(np.maximum(found.x, 0.0) / scale, programme.rows)
        attained = float(masses[inside] @ likelihood[inside]) / (float(masses @ likelihood) or 1.0)
        if best is None:
            best = Solution(ceiling, likelihood, attained)
        best = replace(best, ceiling=min(best.ceiling, ceiling))
        if attained > best.attained:
            best = replace(best, likelihood=likelihood, attained=attained)
        if best.ceiling <= best.attained + NEAR:
            break
    assert best is not None
    return best


def _optimised(gain: Floats, matrix: Any, share: Floats) -> Iterator[Any]:
    """HiGHS, by one method after the other; whatever it says is certified afterwards."""
    small = matrix.shape[0] < 100_000
    found, solved = None, False
    for method, presolve in (("highs-ds" if small else "highs-ipm", True), ("highs-ipm", True), ("highs-ds", False)):
        found = optimize.linprog(
            -gain,
            A_ub=matrix,
            b_ub=np.zeros(matrix.shape[0]),
            A_eq=sparse.csr_matrix(share[None, :]),
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
            solved = True
            yield found
    if not solved:
        assert found is not None
        raise NotEvaluated(f"the linear programme was not solved: {found.message}")


def _allowed(likelihood: Floats, rows: Rows) -> Floats:
    """The smallest likelihood above the solver's that keeps all rows, also those that were left out."""
    p, q, d = rows
    with np.errstate(divide="ignore"):
        log = np.log(likelihood)
    for _ in range(SWEEPS):
        least = log[p] - d
        if not (least > log[q] + 1e-12).any():
            break
        np.maximum.at(log, q, least)
    return np.exp(log)


def _scales(masses: Floats, rows: Rows) -> Floats:
    """One scale per variable: its mass; for those without mass the mass of a neighbour, spread step by step."""
    scale = masses.copy()
    p, q, _ = rows
    while (scale <= 0).any():
        take = (scale[p] <= 0) & (scale[q] > 0)
        if not take.any():
            return np.where(scale > 0, scale, 1.0)
        scale[p[take]] = scale[q[take]]
    return scale
