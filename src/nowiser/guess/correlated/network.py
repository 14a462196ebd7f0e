"""A social network that grows: one early friendship leaves traces in many later ones.

After Kifer and Machanavajjhala, "No free lunch in data privacy" (2011): two communities know each other through a
few friendships across. New friendships arrive one by one; under *preferential* growth people introduce their
friends, so the next one crosses with a probability equal to the present share of crossing friendships. The
attacker wants to know whether one particular friendship existed at the start. The number of crossing friendships
is released with noise calibrated to a single edge: but the single edge has had descendants.
"""

from itertools import accumulate
from math import lgamma
from typing import Literal

from nowiser.errors import Misconfigured
from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, log_of, share, whole, worst_output


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
    rate = across / (across + inside)
    absent = _crossing(steps, across, inside, rate if growth == "uniform" else None)
    present = _crossing(steps, across + 1, inside, rate if growth == "uniform" else None)
    answers = [across + c for c in range(steps + 1)] + [across + 1 + c for c in range(steps + 1)]
    weights = [log_of(1 - before) + p for p in absent] + [log_of(before) + p for p in present]
    good = [False] * (steps + 1) + [True] * (steps + 1)
    after, output = worst_output(answers, weights, good, epsilon, logs=True)
    name = f"a friendship, {steps} friendships later ({growth} growth)"
    return Revealed(name, before, max(before, after), independent_ceiling(before, epsilon), output)


def _crossing(steps: int, across: int, inside: int, rate: float | None) -> list[float]:
    """The logarithm of Pr[c of `steps` new friendships cross], c = 0 … steps.

    Binomial at a fixed rate, else a Pólya urn. In an urn every order of c crossing friendships is equally likely, so
    both laws are a number of orders times the probability of one: a product of rising factors over another.
    """
    orders = [lgamma(steps + 1) - lgamma(c + 1) - lgamma(steps - c + 1) for c in range(steps + 1)]
    if rate is not None:
        one = [_power(rate, c) + _power(1 - rate, steps - c) for c in range(steps + 1)]
    else:
        crossed, stayed = _rising(across, steps), _rising(inside, steps)
        whole_urn = _rising(across + inside, steps)[-1]
        one = [crossed[c] + stayed[steps - c] - whole_urn for c in range(steps + 1)]
    return [a + b for a, b in zip(orders, one, strict=True)]


def _rising(start: int, steps: int) -> list[float]:
    """The logarithms of start·(start + 1)·…, of 0 to `steps` factors."""
    return list(accumulate((log_of(start + i) for i in range(steps)), initial=0.0))


def _power(base: float, times: int) -> float:
    return times * log_of(base) if times else 0.0
