"""Models of correlated records, with exact posteriors: shared values, possible databases, Markov bits, a network."""

from collections.abc import Callable, Sequence
from math import fsum, inf
from typing import Any, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.ask import guess
from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, log_of, share, whole, worst_output
from nowiser.model.checks import number
from nowiser.model.priors.base import Floats

Database = Sequence[Any]


def group(
    prior: Any, goal: Any, members: int, *, slope: float = 0.0, jump: float = 0.0, victim: Any = None
) -> Revealed:
    """The ceiling for a value that `members` people share, when each of them is charged slope and jump.

    A family, a household, a shift. What is released about m people with one value is released m times about that value:
    a bound, but only for groups of this size, so it does not belong into a ledger of single persons.
    """
    members = whole("members", members, 1, 10**9)
    alone = guess(prior, goal, slope=slope, jump=jump, victim=victim)
    # the worst victim of the whole group may be another one than that of a single person: compare the same one
    shared = guess(prior, goal, slope=members * slope, jump=members * jump, victim=victim)
    before = shared.before
    if victim is None and shared.victim is not None and shared.victim != alone.victim:
        alone = guess(prior, goal, slope=slope, jump=jump, victim=shared.victim)
    return Revealed(f"a value shared by {members} people", before, shared.after, alone.after, float("nan"))


def databases(
    possible: Sequence[tuple[Database, float]],
    query: Callable[[Database], float],
    goal: Callable[[Database], bool],
    *,
    epsilon: float,
    sensitivity: float = 1.0,
) -> Revealed:
    """Exact posterior of `goal` after `query` is released with Laplace noise of scale sensitivity/epsilon.

    `possible` lists every database the attacker thinks possible with its weight; the weights sum to one. Everybody in a
    village wears red, or everybody blue: then the noisy count of red rows gives all away at once.
    """
    epsilon, sensitivity = cost("epsilon", epsilon), cost("sensitivity", sensitivity)
    if not possible:
        raise Misconfigured("possible must list at least one database; found none")
    weights = [share("weight", w) for _, w in possible]
    if abs(fsum(weights) - 1.0) > 1e-9:
        raise Misconfigured(f"the weights of possible must sum to 1; found {fsum(weights):.12g}")
    answers = [number("what query gives for every possible database", query(d)) for d, _ in possible]
    good = [bool(goal(d)) for d, _ in possible]
    before = fsum(w for w, g in zip(weights, good, strict=True) if g)
    after, output = worst_output(answers, weights, good, epsilon / sensitivity)
    name = f"{len(possible)} possible databases"
    return Revealed(name, before, max(before, after), independent_ceiling(before, epsilon), output)


def all_equal(rows: int, *, epsilon: float, before: float = 0.5) -> Revealed:
    """A database of `rows` rows that all hold the same bit; its sum is released with Laplace noise of scale 1/ε."""
    rows, before = whole("rows", rows, 1, 10**9), share("before", before)
    after, output = worst_output([0.0, float(rows)], [1 - before, before], [False, True], cost("epsilon", epsilon))
    return Revealed(f"{rows} equal rows", before, after, independent_ceiling(before, epsilon), output)


def markov(length: int, flip: float, *, epsilon: float, position: int | None = None) -> Revealed:
    """Exact posterior that the bit at `position` (from 1; default the middle) is one, after a noisy count of ones.

    The chain starts with a fair bit and flips with probability `flip` at each step. Laplace noise of scale 1/ε.
    """
    length, flip, epsilon = whole("length", length, 1, 5000), share("flip", flip), cost("epsilon", epsilon)
    position = (length + 1) // 2 if position is None else whole("position", position, 1, length)
    one = _counts(length, flip, position)
    zero = one[::-1]  # exchanging the names of the bits turns count c into length − c
    answers = np.arange(2 * length + 2) % (length + 1)
    after, output = worst_output(answers, np.append(one, zero), np.arange(2 * length + 2) <= length, epsilon, logs=True)
    name = f"bit {position} of {length} Markov bits that flip with probability {flip:g}"
    return Revealed(name, 0.5, max(0.5, after), independent_ceiling(0.5, epsilon), output)


def _counts(length: int, flip: float, position: int) -> Floats:
    """The logarithm of Pr[bit at `position` is one and the count of ones is c], for c = 0 … length."""
    # log[b][c]: the bit just read is b, c ones so far; impossible bits at `position` are struck out
    log = np.full((2, length + 1), -inf)
    log[0, 0] = log[1, 1] = -log_of(2.0)
    for i in range(1, length + 1):
        if i > 1:
            same, other = log + log_of(1 - flip), log[::-1] + log_of(flip)
            log = np.logaddexp(same, other)
            log[1] = np.append(-inf, log[1, :-1])
        if i == position:
            log[0] = -inf
    return np.asarray(np.logaddexp(log[0], log[1]))


def network(
    steps: int,
    *,
    epsilon: float,
    across: int = 1,
    inside: int = 8,
    before: float = 0.5,
    growth: Literal["preferential", "uniform"] = "preferential",
) -> Revealed:
    """Exact posterior that an early friendship existed, after a noisy count of friendships between two communities.

    After Kifer and Machanavajjhala, "No free lunch in data privacy" (2011). Under *preferential* growth the next
    friendship crosses with the present share of crossing ones as its probability: an early one has had descendants.

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
