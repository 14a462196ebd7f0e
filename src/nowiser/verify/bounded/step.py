"""One path on two neighbouring inputs: the least cost of shifting its noise, by one linear programme.

On the second input every noise x is read as x + s(z), where s is affine in the data z of both inputs. The programme
asks for s and for multipliers that prove

* each condition of the second run from the conditions of the first (`must`),
* that the outputs are the same (`equal`),
* a ceiling T ≥ |s| for each noise, and that ΣT/scale stays below κ wherever the inputs are neighbours,

and makes κ least. Everything is linear, because premises are fixed and unknowns stand in conclusions only (Farkas). The
optimum is rounded to fractions and taken only if exact arithmetic accepts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from nowiser.verify.check.arithmetic import follows, plus

ONE_SIDED = ("exponential", "geometric")
FREE = ("uniform",)
ROUNDINGS = (12, 1000, 10**6)
Terms = tuple[tuple[str, Fraction], ...]  # a form: symbols in order, "" the constant
Premise = tuple[Terms, bool]


@dataclass(frozen=True)
class Step:
    """Hashable, in symbols of its own (`Local`), so that equal problems are solved once.

    known: premises without noise; path: premises with noise. noises: symbol, kind, scale·ε.
    equal: pairs (difference of the outputs before the shift, coefficients of the noise in the second).
    choices: for each sampled choice, the forms that its cost must not be below.
    """

    known: tuple[Premise, ...]
    path: tuple[Premise, ...]
    noises: tuple[tuple[str, str, Fraction], ...]
    must: tuple[Premise, ...]
    equal: tuple[tuple[Terms, Terms], ...]
    choices: tuple[tuple[Terms, ...], ...]


@dataclass(frozen=True)
class Solution:
    """What the checker needs, in the step's symbols. Multipliers: premise → fraction."""

    cost: Fraction
    shifts: Mapping[str, Mapping[str, Fraction]]
    tops: Mapping[str, Mapping[str, Fraction]]
    choices: Sequence[Mapping[str, Fraction]]
    multipliers: Sequence[Mapping[int, Fraction]]  # one for each obligation, in the order of `obligations`

    def to_json(self) -> dict[str, Any]:
        def form(f: Mapping[str, Fraction]) -> dict[str, str]:
            return {n: str(c) for n, c in f.items()}

        return {
            "cost": str(self.cost),
            "shifts": {x: form(f) for x, f in self.shifts.items()},
            "tops": {x: form(f) for x, f in self.tops.items()},
            "choices": [form(f) for f in self.choices],
            "multipliers": [{str(i): str(m) for i, m in each.items()} for each in self.multipliers],
        }


@dataclass(frozen=True)
class _Obligation:
    """A conclusion: fixed terms plus unknowns; `wide`: premises with noise may be used."""

    fixed: Terms
    unknown: tuple[tuple[str, int, Fraction], ...]  # (symbol, column, factor)
    strict: bool
    wide: bool


class _Columns:
    """The unknown coefficients of the shifts, ceilings and choice costs; κ is column 0."""

    def __init__(self, step: Step) -> None:
        self.z = ["", *sorted({n for row, _ in step.known for n, _ in row if n})]
        self.count = 1
        self.at: dict[tuple[str, str], range] = {}
        for x, kind, _ in step.noises:
            self._add("s", x)
            if kind not in (*ONE_SIDED, *FREE):
                self._add("t", x)
        for i in range(len(step.choices)):
            self._add("u", str(i))

    def _add(self, what: str, name: str) -> None:
        self.at[what, name] = range(self.count, self.count + len(self.z))
        self.count += len(self.z)

    def form(self, what: str, name: str, factor: Fraction = Fraction(1)) -> list[tuple[str, int, Fraction]]:
        return [(z, column, factor) for z, column in zip(self.z, self.at[what, name], strict=True)]


def obligations(step: Step, columns: _Columns) -> list[_Obligation]:
    """Conditions, outputs (both ways), ceilings, choices, the total: the order of a solution's multipliers."""
    symbols = {x for x, _, _ in step.noises}
    found = []
    for row, strict in step.must:
        moved = [u for x, a in row if x in symbols for u in columns.form("s", x, a)]
        found.append(_Obligation(row, tuple(moved), strict, True))
    for difference, noise in step.equal:
        for sign in (1, -1):
            moved = [u for x, a in noise if x in symbols for u in columns.form("s", x, sign * a)]
            fixed = tuple((n, sign * c) for n, c in difference)
            found.append(_Obligation(fixed, tuple(moved), False, False))
    total = [("", 0, Fraction(1))]
    for x, kind, scale in step.noises:
        if kind in ONE_SIDED:
            total += columns.form("s", x, -1 / scale)
        elif kind not in FREE:
            total += columns.form("t", x, -1 / scale)
            for sign in (-1, 1):
                both = (*columns.form("t", x), *columns.form("s", x, Fraction(sign)))
                found.append(_Obligation((), both, False, False))
    for i, floors in enumerate(step.choices):
        total += columns.form("u", str(i), Fraction(-1))
        for floor in floors:
            fixed = tuple((n, -c) for n, c in floor)
            found.append(_Obligation(fixed, tuple(columns.form("u", str(i))), False, False))
    return [*found, _Obligation((), tuple(total), False, False)]


@lru_cache(maxsize=20_000)
def solve(step: Step) -> Solution | None:
    """The least cost with its proof, or None where shifts cannot prove any bound."""
    if any(n.startswith("x") for difference, _ in step.equal for n, _ in difference):
        return None  # the noise in the two outputs differs
    columns = _Columns(step)
    duties = obligations(step, columns)
    known, wide = list(step.known), [*step.known, *step.path]
    variables = columns.count
    cells: list[tuple[int, int, float]] = []
    right: list[float] = []
    spans = []
    for duty in duties:
        premises = wide if duty.wide else known
        symbols = {n for n, _ in duty.fixed} | {n for n, _, _ in duty.unknown}
        symbols |= {n for row, _ in premises for n, _ in row} | {""}
        place = {n: len(right) + i for i, n in enumerate(sorted(symbols))}
        right += [0.0] * len(place)
        for n, c in duty.fixed:
            right[place[n]] -= float(c)
        cells += [(place[n], column, float(factor)) for n, column, factor in duty.unknown]
        for i, (row, _) in enumerate(premises):
            cells += [(place[n], variables + i, -float(c)) for n, c in row]
        cells.append((place[""], variables + len(premises), -1.0))  # the number that is left over
        spans.append((variables, len(premises)))
        variables += len(premises) + 1
    rows, cols, values = zip(*cells, strict=True)
    matrix = csr_matrix((values, (rows, cols)), shape=(len(right), variables))
    objective = np.zeros(variables)
    objective[0] = 1.0
    bounds = np.zeros((variables, 2))
    bounds[:, 1] = np.inf
    bounds[1 : columns.count, 0] = -np.inf
    result = linprog(objective, A_eq=matrix, b_eq=np.array(right), bounds=bounds, method="highs")
    if result.status != 0:
        return None
    for limit in ROUNDINGS:
        found = _rounded(step, columns, duties, spans, result.x, limit)
        if found is not None:
            return found
    return None


def _rounded(  # noqa: PLR0917
    step: Step, columns: _Columns, duties: list[_Obligation], spans: list[tuple[int, int]], x: Any, limit: int
) -> Solution | None:
    value = [Fraction(v).limit_denominator(limit) if abs(v) > 1e-11 else Fraction(0) for v in x]

    def form(what: str, name: str) -> dict[str, Fraction]:
        return {z: value[c] for z, c in zip(columns.z, columns.at[what, name], strict=True) if value[c]}

    known, wide = _as_premises(step.known), _as_premises([*step.known, *step.path])
    multipliers = []
    for duty, (start, many) in zip(duties, spans, strict=True):
        used = {i: value[start + i] for i in range(many) if value[start + i]}
        conclusion = plus((1, dict(duty.fixed)), *((value[c], {n: f}) for n, c, f in duty.unknown))
        if not follows(conclusion, duty.strict, wide if duty.wide else known, used):
            return None
        multipliers.append(used)
    return Solution(
        cost=value[0],
        shifts={n: form("s", n) for n, _, _ in step.noises},
        tops={n: form("t", n) for n, _, _ in step.noises if ("t", n) in columns.at},
        choices=[form("u", str(i)) for i in range(len(step.choices))],
        multipliers=multipliers,
    )


def _as_premises(rows: Sequence[Premise]) -> list[tuple[dict[str, Fraction], bool]]:
    return [(dict(row), strict) for row, strict in rows]
