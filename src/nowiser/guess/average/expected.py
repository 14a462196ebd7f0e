"""What the best attacker reaches on average: the second number, beside the ceiling.

The ceiling holds for every output. Averaged over outputs and over victims drawn from the prior, even the
Bayes-optimal attacker does less well. This is *not* a promise: it is exact for the mechanism named in `how` only.

The noise of many answers does not conspire, and the best attacker learns much less from them than the ceiling allows:
that is simulated with the Bayes-optimal attacker, who weighs all answers with the full posterior (`after_questions`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, expm1, prod
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.average import windows
from nowiser.guess.average.windows import Indices
from nowiser.guess.number import law
from nowiser.model.advantage import points
from nowiser.model.checks import number
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import And, Exactly, Goal, On, Or, Within, parse_goal
from nowiser.model.prior import Categories, Prior, Uniform
from nowiser.model.priors.base import Floats

_WORK = 1.2e6  # cells times cells per window, twice
_MAX_POINTS = 4096  # values that stand for the prior
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

    def __str__(self) -> str:
        who, to = "On average over all people and all answers, the best attacker", points(self.after)
        return f"{who} goes from {points(self.before)} to {to} ({self.how})."

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


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
    """
    cost = Cost(number("slope", slope, low=0.0), number("jump", jump, low=0.0))
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    if not isinstance(wanted, Goal):
        raise Misconfigured(f"goal must be a goal or its text, found {goal!r}")
    if costs is not None and cost:
        raise Misconfigured("give either slope and jump, or costs per attribute, found both")
    for one in prior.values() if isinstance(prior, Mapping) else [prior]:
        if not isinstance(one, Prior):
            raise Misconfigured(f"prior must be a prior, or a mapping from attribute to prior, found {one!r}")
    if isinstance(prior, Mapping):
        return _several(prior, wanted, dict.fromkeys(prior, cost) if costs is None else per_attribute(costs, prior))
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
    before, after = [f.before for f in found], [f.after for f in found]
    error, how = sum(f.error for f in found), "; ".join(dict.fromkeys(f.how for f in found))
    if isinstance(goal, Or):
        return Expected(1 - prod(1 - p for p in before), 1 - prod(1 - p for p in after), error, how)
    return Expected(prod(before), prod(after), error, how)


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
    levels = _levels(prior, radius, slope)
    if levels is None:
        return None
    before = levels[0][0].heaviest()
    if slope == 0.0 or levels[0][0].x.size == 1:
        return Expected(before, before, 0.0, how)
    if slope > _CERTAIN:
        return Expected(before, 1.0, exp(-slope), how)
    fine, coarse = (windows.averaged(laid, slope / radius, nodes) for laid, nodes in levels)
    # the error falls with the square of the width, so a third of the difference is still missing (Richardson);
    # what is stated as error is three times that correction
    after = fine + (fine - coarse) / 3
    return Expected(before, min(1.0, max(before, after)), abs(fine - coarse) + 1e-9, how)


def _levels(prior: Prior, radius: float, slope: float) -> tuple[tuple[windows.Laid, int], ...] | None:
    """The prior laid out finely and half as finely, with outputs per gap; None where it is too wide to be honest."""
    fixed = law.points(prior)
    if fixed is not None:
        if fixed[0].size > _MAX_POINTS:
            return None
        between = max(2, min(64, 4096 // fixed[0].size))
        laid = windows.on_points(*fixed, radius)
        return (laid, 2 * between), (laid, between)
    special = windows.special(prior)
    low, high = law.support(prior)
    across = max(1.0, (high - low) / (2 * radius))  # windows side by side
    wanted = max(64.0, 16 * min(slope, _CERTAIN))  # steep likelihoods need narrow cells
    # each special point, and where a window begins or ends at one, stands between the cells
    per_window = int(min(wanted, (_WORK / (2 * across)) ** 0.5 - 3 * special.size / across))
    per_window -= per_window % 2
    if per_window < 8 or special.size > 3 * _MAX_POINTS:
        return None
    return tuple((windows.laid_out(prior, radius, n), 1) for n in (per_window, per_window // 2))


# --- many answers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Average:
    """Average success after `questions` answers, with the standard error of the simulation."""

    questions: int
    success: float
    error: float


def after_questions(
    prior: Prior, goal: Within, slope: float, questions: Sequence[int], *, trials: int = 2000, seed: int = 1
) -> tuple[Average, ...]:
    """Bayes-optimal success after so many answers, each with Laplace noise that costs `slope`.

    Values are drawn from the prior and attacked on a grid of it; averaging the posterior of the best guess instead
    of counting hits keeps the error small. The seed is fixed: this is a study, not a release.
    """
    slope = number("slope", slope, low=0.0, strict=True)
    if not isinstance(goal, Within):
        raise Misconfigured(f"goal must be Within(radius), which Laplace noise can be scaled to; found {goal!r}")
    questions = list(questions)
    if not questions or any(number("questions", q) % 1 != 0 or not 1 <= q <= 10_000 for q in questions):
        raise Misconfigured(f"questions must be whole numbers from 1 to 10000; found {questions[:5]}")
    if number("trials", trials, low=2) % 1 != 0:
        raise Misconfigured(f"trials must be a whole number of at least 2, to tell their error; found {trials!r}")
    x, w, first, last = _attacked(prior, goal.radius)
    rng, k = np.random.default_rng(seed), slope / goal.radius
    truth = rng.choice(x, size=trials, p=w)
    score = np.log(w)[None, :].repeat(trials, axis=0)
    wanted, found = set(questions), []
    for asked in range(1, int(max(questions)) + 1):
        answer = truth + rng.laplace(0.0, 1.0 / k, trials)
        score -= k * np.abs(answer[:, None] - x[None, :])
        if asked in wanted:
            weight = np.exp(score - score.max(axis=1, keepdims=True))
            best = windows.heaviest(weight, first, last) / weight.sum(axis=1)
            found.append(Average(asked, float(best.mean()), float(best.std() / np.sqrt(trials))))
    return tuple(found)


def _attacked(prior: Prior, radius: float) -> tuple[Floats, Floats, Indices, Indices]:
    """Values and masses that stand for the prior, and the windows: from each first to before its last."""
    laid = _laid(prior, radius)
    # a value, what lies between it and the next (as one value in the middle), the next, …
    x, w = np.empty((2, 2 * laid.x.size - 1))
    x[::2], x[1::2] = laid.x, (laid.x[:-1] + laid.x[1:]) / 2
    w[::2], w[1::2] = laid.w, laid.spread
    place = np.concatenate([[0], np.cumsum(w > 0)])
    return x[w > 0], w[w > 0] / w.sum(), place[: 2 * laid.x.size : 2], place[2 * laid.last + 1]


def _laid(prior: Prior, radius: float) -> windows.Laid:
    fixed = law.points(prior)
    if fixed is not None:
        if fixed[0].size > _MAX_POINTS:
            raise Misconfigured(
                f"the simulation takes a prior of at most {_MAX_POINTS} single values, found {fixed[0].size}"
            )
        return windows.on_points(*fixed, radius)
    low, high = law.support(prior)
    per_window = int(min(32.0, _MAX_POINTS * 2 * radius / (high - low)))
    if per_window < 1 or windows.special(prior).size > _MAX_POINTS:
        raise Misconfigured(
            f"the prior is too wide for guesses within {radius:g} to be simulated: it spreads over {high - low:g}",
            hint="Truncate the prior to the range that matters.",
        )
    return windows.laid_out(prior, radius, per_window)
