"""Many answers: what they allow at worst, and what the best attacker makes of them on average.

The ceiling adds up the costs. On average the noise of many answers does not conspire, and the attacker learns much
less: simulated with the Bayes-optimal attacker, who weighs all answers with the full posterior.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess import law
from nowiser.model.checks import number
from nowiser.model.goal import Within
from nowiser.model.prior import Prior


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
    if not questions or min(questions) < 1 or max(questions) > 10_000:
        raise Misconfigured(f"questions must be whole numbers from 1 to 10000; found {list(questions)[:5]}")
    fixed = law.points(prior)
    low, high = law.support(prior)
    x, w = fixed if fixed is not None else law.cells(prior, max(goal.radius / 16, (high - low) / 4096))
    reach = 2 * goal.radius * (1 + 1e-9) - (x[1] - x[0] if fixed is None and x.size > 1 else 0.0)
    last = np.searchsorted(x, x + reach, side="right")
    rng = np.random.default_rng(seed)
    k = slope / goal.radius
    truth = rng.choice(x, size=trials, p=w)
    score = np.log(np.maximum(w, 1e-300))[None, :].repeat(trials, axis=0)
    wanted, found = set(questions), []
    for asked in range(1, max(questions) + 1):
        answer = truth + rng.laplace(0.0, 1.0 / k, trials)
        score -= k * np.abs(answer[:, None] - x[None, :])
        if asked in wanted:
            best = _best_posterior(score, last)
            found.append(Average(asked, float(best.mean()), float(best.std() / np.sqrt(trials))))
    return tuple(found)


def _best_posterior(score: np.ndarray, last: np.ndarray) -> np.ndarray:
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    total = np.zeros((weight.shape[0], weight.shape[1] + 1))
    np.cumsum(weight, axis=1, out=total[:, 1:])
    best: np.ndarray = (total[:, last] - total[:, :-1]).max(axis=1) / total[:, -1]
    return best
