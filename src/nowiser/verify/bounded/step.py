"""One path on two neighbouring inputs: the least cost of shifting its noise, by one linear programme.

On the second input every noise x is read as x + s(z), where s is affine in the data z of both inputs. The programme
asks for s and for multipliers that prove

* each condition of the second run from the conditions of the first (`must`),
* that the outputs are the same (`equal`),
* a ceiling T ≥ |s| for each noise, and that ΣT/scale stays below κ wherever the inputs are neighbours,

and makes κ least (Farkas: the multipliers exist whenever the conclusion holds).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from nowiser.verify.programme import Programme, at

ONE_SIDED = ("exponential", "geometric")
FREE = ("uniform",)
Terms = tuple[tuple[str, Fraction], ...]  # a form: symbols in order, "" the constant
Premise = tuple[Terms, bool]


@dataclass(frozen=True)
class Step:
    """Hashable, in symbols of its own, so that equal problems are solved once.

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
    """What the checker needs, in the step's symbols. Multipliers: premise → fraction, in the checker's order."""

    cost: Fraction
    shifts: Mapping[str, Mapping[str, Fraction]]
    tops: Mapping[str, Mapping[str, Fraction]]
    choices: Sequence[Mapping[str, Fraction]]
    multipliers: Sequence[Mapping[int, Fraction]]

    def to_json(self) -> dict[str, Any]:
        return {
            "cost": str(self.cost),
            "shifts": {x: written(f) for x, f in self.shifts.items()},
            "tops": {x: written(f) for x, f in self.tops.items()},
            "choices": [written(f) for f in self.choices],
            "multipliers": [{str(i): str(m) for i, m in each.items()} for each in self.multipliers],
        }


def written(form: Mapping[str, Fraction]) -> dict[str, str]:
    return {n: str(c) for n, c in form.items()}


@lru_cache(maxsize=20_000)
def solve(step: Step) -> Solution | None:
    """The least cost with its proof, or None where shifts cannot prove any bound."""
    if any(n.startswith("x") for difference, _ in step.equal for n, _ in difference):
        return None  # the noise in the two outputs differs
    programme = Programme()
    z = ["", *sorted({n for row, _ in step.known for n, _ in row if n})]
    shifts = {x: programme.form(z) for x, _, _ in step.noises}
    tops = {
        x: programme.form([""] if kind == "gaussian" else z)
        for x, kind, _ in step.noises
        if kind not in {*ONE_SIDED, *FREE}
    }
    prices = [programme.form(z) for _ in step.choices]
    known = [(dict(row), strict) for row, strict in step.known]
    wide = [*known, *((dict(row), strict) for row, strict in step.path)]
    for row, strict in step.must:
        moved = [u for x, a in row if x in shifts for u in at(shifts[x], a)]
        programme.require(dict(row), moved, wide, strict=strict)
    for difference, noise in step.equal:
        for sign in (1, -1):
            moved = [u for x, a in noise if x in shifts for u in at(shifts[x], sign * a)]
            programme.require({n: sign * c for n, c in difference}, moved, known)
    total = [("", 0, Fraction(1))]
    for x, kind, scale in step.noises:
        if kind in ONE_SIDED:
            total += at(shifts[x], -1 / scale)
        elif x in tops:
            total += at(tops[x], -1 / scale)
            for sign in (-1, 1):
                programme.require({}, [*at(tops[x]), *at(shifts[x], sign)], known)
    for price, floors in zip(prices, step.choices, strict=True):
        total += at(price, -1)
        for floor in floors:
            programme.require({n: -c for n, c in floor}, at(price), known)
    programme.require({}, total, known)
    solved = programme.solve()
    if solved is None:
        return None
    return Solution(
        solved.values[0],
        {x: solved.form(c) for x, c in shifts.items()},
        {x: solved.form(c) for x, c in tops.items()},
        [solved.form(c) for c in prices],
        solved.multipliers,
    )
