"""How many questions like this one still fit, by the account's own arithmetic."""

from math import inf

from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy

MOST = 2**40  # beyond that nobody counts


def fitting(policy: Policy, totals: Charge, charge: Charge, *, analyst: str | None, own: Charge) -> float:
    """The largest n such that n more such charges are admitted; inf where any number is."""

    def fits(n: int) -> bool:
        try:
            allowance.admits(policy, totals, charge.times(n), analyst=analyst, own=own)
        except Exhausted:
            return False
        return True

    if not charge or fits(MOST):
        return inf
    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
