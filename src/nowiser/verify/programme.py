"""A linear programme whose solution is a proof: unknown coefficients, and conclusions that follow from premises.

Each conclusion is a form with unknown coefficients; it must equal Σ multiplier·premise plus a number ≥ 0. Premises are
fixed, so everything is linear in unknowns and multipliers. Column 0 is what is minimised. The optimum is rounded to
fractions and taken only if exact arithmetic accepts every conclusion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from nowiser.verify.check.arithmetic import follows, plus

ROUNDINGS = (12, 1000, 10**6)
Form = Mapping[str, Fraction]
Premise = tuple[Form, bool]
Unknown = tuple[str, int, Fraction]  # symbol, column, factor


@dataclass(frozen=True)
class Conclusion:
    fixed: Form
    unknown: tuple[Unknown, ...]
    strict: bool
    premises: Sequence[Premise]


@dataclass
class Programme:
    count: int = 1  # columns; 0 is the objective
    conclusions: list[Conclusion] = field(default_factory=list)

    def form(self, symbols: Sequence[str]) -> dict[str, int]:
        """A new form with an unknown coefficient for each symbol ("" is the constant)."""
        found = {z: self.count + i for i, z in enumerate(symbols)}
        self.count += len(symbols)
        return found

    def require(
        self, fixed: Form, unknown: Sequence[Unknown], premises: Sequence[Premise], *, strict: bool = False
    ) -> None:
        self.conclusions.append(Conclusion(fixed, tuple(unknown), strict, premises))

    def solve(self) -> "Solved | None":
        variables = self.count
        cells: list[tuple[int, int, float]] = []
        right: list[float] = []
        starts = []
        for c in self.conclusions:
            symbols = {*c.fixed, *(n for n, _, _ in c.unknown), *(n for row, _ in c.premises for n in row), ""}
            place = {n: len(right) + i for i, n in enumerate(sorted(symbols))}
            right += [0.0] * len(place)
            for n, value in c.fixed.items():
                right[place[n]] -= float(value)
            cells += [(place[n], column, float(factor)) for n, column, factor in c.unknown]
            for i, (row, _) in enumerate(c.premises):
                cells += [(place[n], variables + i, -float(value)) for n, value in row.items()]
            cells.append((place[""], variables + len(c.premises), -1.0))  # the number that is left over
            starts.append(variables)
            variables += len(c.premises) + 1
        rows, columns, values = zip(*cells, strict=True)
        matrix = csr_matrix((values, (rows, columns)), shape=(len(right), variables))
        objective = np.zeros(variables)
        objective[0] = 1.0
        bounds = np.zeros((variables, 2))
        bounds[:, 1] = np.inf
        bounds[1 : self.count, 0] = -np.inf
        result = linprog(objective, A_eq=matrix, b_eq=np.array(right), bounds=bounds, method="highs")
        if result.status != 0:
            return None
        for limit in ROUNDINGS:
            found = self._rounded(result.x, starts, limit)
            if found is not None:
                return found
        return None

    def _rounded(self, x: Any, starts: Sequence[int], limit: int) -> "Solved | None":
        value = [Fraction(v).limit_denominator(limit) if abs(v) > 1e-11 else Fraction(0) for v in x]
        multipliers = []
        for c, start in zip(self.conclusions, starts, strict=True):
            used = {i: value[start + i] for i in range(len(c.premises)) if value[start + i]}
            conclusion = plus((1, c.fixed), *((value[column], {n: f}) for n, column, f in c.unknown))
            if not follows(conclusion, c.strict, c.premises, used):
                return None
            multipliers.append(used)
        return Solved(value, multipliers)


@dataclass(frozen=True)
class Solved:
    """multipliers: one mapping for each conclusion, in order."""

    values: Sequence[Fraction]
    multipliers: Sequence[Mapping[int, Fraction]]

    def form(self, columns: Mapping[str, int]) -> dict[str, Fraction]:
        return {z: self.values[c] for z, c in columns.items() if self.values[c]}


def at(columns: Mapping[str, int], factor: Fraction | int = 1) -> list[Unknown]:
    """An unknown form in a conclusion."""
    return [(z, column, Fraction(factor)) for z, column in columns.items()]
