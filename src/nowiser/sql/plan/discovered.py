"""Group keys nobody declared: shown only where enough persons share them.

The persons of each group are counted, with noise like any other count, and a group is shown if its noisy count
reaches a threshold. *Why private.* Take two tables that differ in one person. Groups that both have are released
with noise that hides the difference. A group that only one of the tables has holds nobody but this person: its count
is one, and it is shown with probability Pr[1 + X ≥ threshold]. A person has rows in at most g groups
(`relations.touched`), and when a person is replaced, g groups may vanish and g others appear: at most 2g such groups.
The threshold is the smallest whole number for which 2g·Pr[1 + X ≥ threshold] ≤ δ, and δ is charged. So with
probability 1 − δ nothing is shown that could not have been shown without this person. Which groups are shown and in
which order is a function of what is released: the order of the keys.
"""

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from nowiser.errors import NotAnswerable
from nowiser.model.charge import ATTO, Account, Charge
from nowiser.model.policy import Policy
from nowiser.noise.certified import exp_minus
from nowiser.noise.laplace import Laplace
from nowiser.sql.bound.relations import Rows, touched
from nowiser.sql.plan.cells import Cell
from nowiser.sql.tree import Query

BITS = 256


@dataclass(frozen=True)
class Discovery:
    """The cell that counts persons, in how many groups one person can be, and with which probability it may fail."""

    cell: int
    groups: int
    delta: Fraction

    @property
    def charge(self) -> Charge:
        return Charge.of({Account("delta"): int(self.delta * ATTO)})

    def threshold(self, noise: Laplace) -> int:
        """The smallest noisy count that is shown."""
        allowed = self.delta / (2 * self.groups)

        def rare(count: int) -> bool:
            return tail(count - 1, noise.scale) <= allowed

        high = 2
        while not rare(high):
            high *= 2
        some = range(high // 2 + 1, high + 1)
        return some[bisect_left(some, True, key=rare)]


def tail(k: int, scale: Fraction) -> Fraction:
    """Pr[X ≥ k] = q^k/(1 + q) with q = e^(−1/scale), k ≥ 1, rounded up."""
    _, above = exp_minus(Fraction(k) / scale, BITS)
    below, _ = exp_minus(1 / scale, BITS)
    return Fraction(above, (1 << BITS) + below)


def discover(query: Query, known: Rows, policy: Policy, cells: list[Cell]) -> Discovery:
    """Count the persons of each group; `cells` gets the count unless it is there already."""
    at = query.keys[0].span
    delta = Fraction(int(policy.key_delta * policy.spend * ATTO), ATTO)
    if delta <= 0:
        raise NotAnswerable(
            "The values of this key are not declared, and the policy does not let them be discovered.",
            hint="The custodian can declare them, as in {sensitive: [a, b, c]}, or allow a `key_delta`.",
            span=at,
        )
    if known.most > 1 and not known.person:
        raise NotAnswerable("The persons of these groups cannot be counted.", hint="Group by declared values.", span=at)
    count = Cell(None, None) if known.most <= 1 else Cell(None, None, distinct=tuple(known.person))
    if count not in cells:
        cells.append(count)
    return Discovery(cells.index(count), max(1, touched(query.keys, query.relation, policy)), delta)
