"""What the best attacker reaches on average: the second number, beside the ceiling.

The ceiling holds for every output. Averaged over outputs and over victims drawn from the prior, even the
Bayes-optimal attacker does less well. This is *not* a promise: it is exact for the mechanism named in `how` and for
nothing else. The proofs are in docs/mathematics/expected.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, prod
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.average import windows
from nowiser.guess.density import law
from nowiser.guess.rounding import grain
from nowiser.model.advantage import points
from nowiser.model.checks import number
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import And, Exactly, Goal, On, Or, Within, parse_goal
from nowiser.model.prior import Categories, Prior, Uniform
from nowiser.model.priors.base import Floats

_WORK = 1.2e6  # cells times cells per window, twice
_MAX_POINTS = 4096
_CERTAIN = 40.0  # guessing the output itself succeeds with 1 − e^−slope: beyond this the figure is 1 to 17 digits


@dataclass(frozen=True)
class Expected:
    """Average success of the best guess, before and after the release, with the numerical error of `after`."""

    before: float
    after: float
    error: float
    how: str

    @property
    def gain(self) -> float:
        return self.after - self.before

    def __float__(self) -> float:
        return self.after

    def __str__(self) -> str:
        reached = f"from {points(self.before)} to {points(self.after)}"
        return f"On average over all people and all answers, the best attacker goes {reached} ({self.how})."

    def to_json(self) -> dict[str, Any]:
        return {"before": self.before, "after": self.after, "error": self.error, "how": self.how}


def expected(
    prior: Prior | Mapping[str, Prior],
    goal: Goal | str,
    *,
    slope: float = 0.0,
    jump: float = 0.0,
    costs: Mapping[str, Cost] | None = None,
) -> Expected | None:
    """Average success of the Bayes-optimal attacker over outputs and victims; None where no exact figure is known.

    * `within r` on a number with a slope: Laplace noise of scale r/slope on the value.
    * `exactly` on categories or atoms with a jump: the most telling of all mechanisms with that jump.
    * `and`, `or` of such goals on independent attributes, each released on its own.

    >>> from nowiser.model.goal import Within
    >>> round(expected(Uniform(12, 28), Within(2), slope=1.0).after, 6)
    0.72409
    """
    slope, jump = number("slope", slope, low=0.0), number("jump", jump, low=0.0)
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    if not isinstance(wanted, Goal):
        raise Misconfigured(f"goal must be a goal or its text, found {goal!r}")
    if costs is not None and (slope or jump):
        raise Misconfigured("give either slope and jump, or costs per attribute, found both")
    if isinstance(prior, Mapping):
        shared = Cost(slope, jump)
        for one in prior.values():
            if not isinstance(one, Prior):
                raise Misconfigured(f"prior must be a prior, found {one!r}")
        return _several(prior, wanted, dict.fromkeys(prior, shared) if costs is None else per_attribute(costs, prior))
    if not isinstance(prior, Prior):
        raise Misconfigured(f"prior must be a prior, or a mapping from attribute to prior, found {prior!r}")
    cost = Cost(slope, jump)
    if costs is not None:
        named = per_attribute(costs, wanted.attributes or None, "the goal is")
        if len(named) > 1:
            return None
        cost = next(iter(named.values()), cost)
    return _one(prior, wanted.goal if isinstance(wanted, On) else wanted, cost)


def _one(prior: Prior, goal: Goal, cost: Cost) -> Expected | None:
    if isinstance(goal, Within) and prior.kind == "line" and cost.jump == 0.0:
        return _laplace(prior, goal.radius, cost.slope)
    if isinstance(goal, Exactly) and cost.slope == 0.0:
        if isinstance(prior, Categories):
            return _any_mechanism(prior.masses, cost.jump)
        if prior.kind == "line" and (fixed := law.points(prior)) is not None:
            return _any_mechanism(fixed[1], cost.jump)
    return None


def _several(priors: Mapping[str, Prior], goal: Goal, costs: Mapping[str, Cost]) -> Expected | None:
    """Independent attributes, each with its own release: posteriors are independent, so the best guesses are too."""
    parts = goal.parts if isinstance(goal, And | Or) else (goal,)
    if len(goal.attributes) != len(parts):
        return None  # an attribute occurs twice, or a part is itself joined
    found = []
    for part in parts:
        if not isinstance(part, On) or not isinstance(part.attribute, str) or part.attribute not in priors:
            return None
        one = _one(priors[part.attribute], part.goal, costs.get(part.attribute, Cost()))
        if one is None:
            return None
        found.append(one)
    how = "; ".join(dict.fromkeys(f.how for f in found))
    error = sum(f.error for f in found)
    if isinstance(goal, Or):
        return Expected(1 - prod(1 - f.before for f in found), 1 - prod(1 - f.after for f in found), error, how)
    return Expected(prod(f.before for f in found), prod(f.after for f in found), error, how)


def _any_mechanism(masses: Any, jump: float) -> Expected:
    """The largest over m of e^ε P_m/(e^ε − 1 + m), P_m the mass of the m likeliest categories."""
    likeliest = np.cumsum(np.sort(np.asarray(masses, dtype=np.float64))[::-1])
    m = np.arange(1, likeliest.size + 1)
    after = float((likeliest / (1.0 + (m - 1) * exp(-jump))).max())  # divided through by e^ε
    how = f"the most telling mechanism of jump {jump:g}"
    return Expected(float(likeliest[0]), min(1.0, after), 0.0, how)


def _laplace(prior: Prior, radius: float, slope: float) -> Expected | None:
    how = f"Laplace noise of scale {radius / slope:.6g}" if slope else "no release"
    if isinstance(prior, Uniform):
        p = min(1.0, 2 * radius / (prior.high - prior.low))
        return Expected(p, p - (1 - p) * expm1(-slope), 0.0, how)
    fixed = law.points(prior)
    if fixed is not None:
        return _on_points(*fixed, radius=radius, slope=slope, how=how)
    special = windows.special(prior)
    if special.size > 3 * _MAX_POINTS:
        return None
    low, high = law.support(prior)
    across = (high - low) / (2 * radius)  # windows side by side
    wanted = max(64.0, 16 * min(slope, _CERTAIN))  # steep likelihoods need narrow cells
    # each special point, and where a window begins or ends at one, stands between the cells
    extra = 3 * special.size / max(1.0, across)
    per_window = int(min(wanted, (_WORK / (2 * max(1.0, across))) ** 0.5 - extra))
    per_window -= per_window % 2
    if per_window < 8:
        return None  # too fine a goal for so wide a prior to be integrated honestly
    if slope == 0.0 or slope > _CERTAIN:
        before = _on_cells(prior, radius, 0.0, per_window)[0]
        return Expected(before, before if slope == 0.0 else 1.0, exp(-slope) if slope else 0.0, how)
    fine = _on_cells(prior, radius, slope, per_window)
    coarse = _on_cells(prior, radius, slope, per_window // 2)
    # the error falls with the square of the width, so a third of the difference is still missing (Richardson);
    # what is stated as error is three times that correction
    after = fine[1] + (fine[1] - coarse[1]) / 3
    return Expected(fine[0], min(1.0, max(fine[0], after)), abs(fine[1] - coarse[1]) + 1e-9, how)


def _on_cells(prior: Prior, radius: float, slope: float, per_window: int) -> tuple[float, float]:
    """The best guess before, and on average after, with the mass of each cell spread evenly in it."""
    laid = windows.laid_out(prior, radius, per_window)
    total = np.cumsum(laid.w + np.append(0.0, laid.spread))
    before = min(1.0, float((total[laid.last] - total + laid.w).max()))
    if not slope:
        return before, before
    return before, windows.averaged(laid, slope / radius, 1)


def _on_points(x: Floats, w: Floats, *, radius: float, slope: float, how: str) -> Expected | None:
    if x.size > _MAX_POINTS:
        return None
    last = np.searchsorted(x, x + 2 * radius + 2 * grain(x, radius), side="right") - 1
    total = np.cumsum(w)
    before = float((total[last] - total + w).max())
    if x.size == 1 or slope == 0.0:
        return Expected(before, before, 0.0, how)
    if slope > _CERTAIN:
        return Expected(before, 1.0, exp(-slope), how)
    between = max(2, min(64, 4096 // x.size))
    laid = windows.Laid(x, w, np.zeros(x.size - 1), last)
    fine, coarse = (windows.averaged(laid, slope / radius, n) for n in (2 * between, between))
    after = fine + (fine - coarse) / 3
    return Expected(before, min(1.0, max(before, after)), abs(fine - coarse) + 1e-9, how)
