"""An explicit list of possible databases with weights: the attacker knows how the world can look.

Everybody in a village wears red, or everybody blue: then the noisy count of red rows gives all away at once.
"""

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, share, whole, worst_output
from nowiser.model.checks import number

Database = Sequence[Any]


def databases(
    possible: Sequence[tuple[Database, float]],
    query: Callable[[Database], float],
    goal: Callable[[Database], bool],
    *,
    epsilon: float,
    sensitivity: float = 1.0,
) -> Revealed:
    """Exact posterior of `goal` after `query` is released with Laplace noise of scale sensitivity/epsilon.

    `possible` lists every database the attacker thinks possible with its weight; the weights sum to one.
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
