"""A social network that grows: one early friendship leaves traces in many later ones.

After Kifer and Machanavajjhala, "No free lunch in data privacy" (2011): two communities know each other through a
few friendships across. New friendships arrive one by one; under *preferential* growth people introduce their
friends, so the next one crosses with a probability equal to the present share of crossing friendships. The
attacker wants to know whether one particular friendship existed at the start. The number of crossing friendships
is released with noise calibrated to a single edge: but the single edge has had descendants.
"""

from typing import Literal

from nowiser.errors import Misconfigured
from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, share, whole, worst_output


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
    weights = [(1 - before) * p for p in absent] + [before * p for p in present]
    good = [False] * (steps + 1) + [True] * (steps + 1)
    after, output = worst_output(answers, weights, good, epsilon)
    name = f"a friendship, {steps} friendships later ({growth} growth)"
    return Revealed(name, before, max(before, after), independent_ceiling(before, epsilon), output)


def _crossing(steps: int, across: int, inside: int, rate: float | None) -> list[float]:
    """Pr[c of `steps` new friendships cross], c = 0 … steps: binomial at a fixed rate, else a Pólya urn."""
    import numpy as np

    law = np.zeros(steps + 1)
    law[0] = 1.0
    count = np.arange(steps + 1)
    for done in range(steps):
        crosses = np.full(steps + 1, rate) if rate is not None else (across + count) / (across + inside + done)
        crosses = np.clip(crosses, 0.0, 1.0)  # counts beyond `done` have no mass
        law = law * (1 - crosses) + np.concatenate([[0.0], (law * crosses)[:-1]])
    return [float(p) for p in law]
