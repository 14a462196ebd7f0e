"""Many answers, on average: the noise of many answers does not conspire, and the best attacker learns much less than
the ceiling allows. Simulated with the Bayes-optimal attacker, who weighs all answers with the full posterior.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.average import windows
from nowiser.guess.average.windows import Indices
from nowiser.guess.number import law
from nowiser.model.checks import number
from nowiser.model.goal import Within
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

_MOST = 4096  # values that stand for the prior


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
        if fixed[0].size > _MOST:
            raise Misconfigured(f"the simulation takes a prior of at most {_MOST} single values, found {fixed[0].size}")
        return windows.on_points(*fixed, radius)
    low, high = law.support(prior)
    per_window = int(min(32.0, _MOST * 2 * radius / (high - low)))
    if per_window < 1 or windows.special(prior).size > _MOST:
        raise Misconfigured(
            f"the prior is too wide for guesses within {radius:g} to be simulated: it spreads over {high - low:g}",
            hint="Truncate the prior to the range that matters.",
        )
    return windows.laid_out(prior, radius, per_window)
