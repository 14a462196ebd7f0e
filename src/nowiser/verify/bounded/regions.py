"""Sets of noise that give one output: single paths, or all paths with one discrete output merged into one cone.

Report noisy max reaches "the third" along many paths (who led before does not matter). Their union is the cone
{v3 > v1, v3 > v2, v3 ≥ v4, …}. A cone K stands for the paths with output o if (1) each of these paths implies each row
of K, and (2) K and any path with another output contradict each other; both by sums with multipliers. Every noise takes
some path, so then K is exactly where the output is o.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from nowiser.verify.check.arithmetic import follows
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Limits, Noise, Path, Row, entries, support

Multipliers = Mapping[int, Fraction]


@dataclass(frozen=True)
class Region:
    """rows: conditions with noise. implied: for each path and row, multipliers; apart: for each foreign path."""

    paths: tuple[int, ...]
    rows: tuple[Row, ...]
    noises: tuple[Noise, ...]
    output: Any
    implied: Sequence[Sequence[Multipliers]] = field(default=())
    apart: Mapping[int, Multipliers] = field(default_factory=dict)


def single(paths: Sequence[Path]) -> list[Region]:
    return [Region((i,), tuple(p.noisy_rows), p.noises, p.output) for i, p in enumerate(paths)]


def merged(paths: Sequence[Path], limits: Limits) -> list[Region] | None:
    """One cone for each discrete output, or None where that is not possible (or no merging is needed)."""
    groups: dict[Any, list[int]] = {}
    for i, path in enumerate(paths):
        shape, numbers = entries(path.output)
        if numbers or path.data_rows or path.samples:
            return None
        groups.setdefault((shape, path.noises), []).append(i)
    if len(groups) == len(paths) or len({noises for _, noises in groups}) > 1:
        return None
    found = []
    for group in groups.values():
        limits.check(": cones were being merged")
        region = _cone(paths, group)
        if region is None:
            return None
        found.append(region)
    return found


def _cone(paths: Sequence[Path], group: list[int]) -> Region | None:
    inside = [_premises(paths[i]) for i in group]
    candidates = {_key(row): row for i in group for row in paths[i].noisy_rows}
    rows, implied = [], []
    for row in candidates.values():
        proofs = []
        for premises in inside:
            proof = combination(row, premises)
            if proof is None:
                break
            proofs.append(proof)
        else:
            rows.append(row)
            implied.append(proofs)
    cone = [*rows, *_support(paths[group[0]])]
    apart = {}
    for i, path in enumerate(paths):
        if i not in group:
            proof = combination(Row(Form({}, Fraction(-1)), False), [*cone, *path.noisy_rows], contradiction=True)
            if proof is None:
                return None
            apart[i] = proof
    # implied[row][path] → by path
    by_path = [[implied[r][p] for r in range(len(rows))] for p in range(len(group))]
    first = paths[group[0]]
    return Region(tuple(group), tuple(rows), first.noises, first.output, by_path, apart)


def _premises(path: Path) -> list[Row]:
    return [*path.noisy_rows, *_support(path)]


def _support(path: Path) -> list[Row]:
    return [row for i, noise in enumerate(path.noises) for row in support(noise.kind, f"x{i}")]


def _key(row: Row) -> tuple[Any, bool]:
    lead = abs(row.form.terms[min(row.form.terms)])
    return row.form.scaled(1 / lead).key, row.strict


def terms(form: Form) -> dict[str, Fraction]:
    """The checker's way of writing a form."""
    found = dict(form.terms)
    if form.constant:
        found[""] = form.constant
    return found


def combination(row: Row, premises: Sequence[Row], *, contradiction: bool = False) -> Multipliers | None:
    """Multipliers with which the premises prove the row, or a contradiction: 0 > 0."""
    given = [(terms(p.form), p.strict) for p in premises]
    goal, strict = ({}, True) if contradiction else (terms(row.form), row.strict)
    for i, (form, hard) in enumerate(given):  # most rows are literally there, or are denied literally
        if not contradiction and form == goal and (hard or not strict):
            return {i: Fraction(1)}
        if contradiction:
            opposite = {n: -c for n, c in form.items()}
            for j in range(i):
                if given[j][0] == opposite and (hard or given[j][1]):
                    return {i: Fraction(1), j: Fraction(1)}
    names = sorted(({n for form, _ in given for n in form} | set(goal)) - {""})
    place = {n: k for k, n in enumerate(names)}
    matrix = np.zeros((len(place), len(given)))
    offset = np.array([float(form.get("", 0)) for form, _ in given])
    for i, (form, _) in enumerate(given):
        for n, c in form.items():
            if n:
                matrix[place[n], i] = float(c)
    right = np.zeros(len(place))
    for n, c in goal.items():
        if n:
            right[place[n]] = float(c)
    hard_ones = np.array([1.0 if s else 0.0 for _, s in given])
    # Σ λ·offset ≤ the goal's number; of these, as much of the strict premises as goes
    result = linprog(
        -hard_ones,
        A_eq=matrix if place else None,
        b_eq=right if place else None,
        A_ub=offset[None, :],
        b_ub=np.array([float(goal.get("", 0))]),
        bounds=np.array([[0.0, 1.0 if contradiction else 1e3]] * len(given)),
        method="highs",
    )
    if result.status != 0:
        return None
    for limit in (12, 10**6):
        found = {i: Fraction(v).limit_denominator(limit) for i, v in enumerate(result.x) if abs(v) > 1e-9}
        if follows(goal, strict, given, found):
            return found
    return None
