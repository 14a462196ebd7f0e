"""A social network that grows: one early friendship leaves traces in many later ones.

After Kifer and Machanavajjhala, "No free lunch in data privacy" (2011). Under *preferential* growth the next friendship
crosses between two communities with the present share of crossing ones as its probability. Did one particular one exist
at the start? Their number is released with noise for a single edge, but that edge has had descendants.
"""

from typing import Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, log_of, share, whole, worst_output
from nowiser.model.priors.base import Floats


def network(
    steps: int,
    *,
    epsilon: float,
    across: int = 1,
    inside: int = 8,
    before: float = 0.5,
    growth: Literal["preferential", "uniform"] = "preferential",
) -> Revealed:
    """Exact posterior that the friendship existed, after a noisy count of crossing friendships.

    `across` and `inside` count the friendships at the start without the one in question; `steps` new ones follow.
    With *uniform* growth a new friendship crosses with a probability that ignores what is there, so the
    friendship leaves no trace but itself and the ordinary ceiling holds.
    """
    steps, epsilon = whole("steps", steps, 0, 5000), cost("epsilon", epsilon)
    across, inside = whole("across", across, 0, 10**6), whole("inside", inside, 0, 10**6)
    before = share("before", before)
    if across + inside == 0:
        raise Misconfigured("across + inside must be at least 1: a network cannot grow from nothing; found 0")
    if growth not in ("preferential", "uniform"):
        raise Misconfigured(f"growth must be 'preferential' or 'uniform'; found {growth!r}")
    rate = across / (across + inside) if growth == "uniform" else None
    absent, present = (_crossing(steps, across + own, inside, rate) for own in (0, 1))
    answers = np.append(across + np.arange(steps + 1), across + 1 + np.arange(steps + 1))
    weights = np.append(log_of(1 - before) + absent, log_of(before) + present)
    after, output = worst_output(answers, weights, np.arange(2 * steps + 2) > steps, epsilon, logs=True)
    name = f"a friendship, {steps} friendships later ({growth} growth)"
    return Revealed(name, before, max(before, after), independent_ceiling(before, epsilon), output)


def _crossing(steps: int, across: int, inside: int, rate: float | None) -> Floats:
    """The logarithm of Pr[c of `steps` new friendships cross]: binomial at a fixed rate, else a Pólya urn."""
    from scipy.stats import betabinom, binom

    count = np.arange(steps + 1)
    if rate is None and across and inside:
        return np.asarray(betabinom.logpmf(count, steps, across, inside), float)
    return np.asarray(binom.logpmf(count, steps, float(across > 0) if rate is None else rate), float)
