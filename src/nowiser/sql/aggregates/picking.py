"""A few quantiles of one expression, each picked by the exponential mechanism; MIN and MAX likewise. What it costs.

Of at most 2¹⁸ buckets of the declared range one is picked, those near the wanted rank more often. Half of the cost is
for the picks. The other half counts rows in disjoint cells around the picked buckets, of which the error bars are made
(`picked.py`). MIN and MAX have no use for these counts: asked alone, they take all of the cost.

*How far a person moves a score.* With F rows below a bucket, E in it and n in all, the score of the bucket for the
quantile q is minus the distance of q·n from [F, F + E]. A row that comes or goes moves q·n by q and F by 0 or 1: the
score by at most M = max(q, 1 − q). A row that changes its bucket but not its group moves it by at most 1. MIN and MAX
aim at a rank so many rows from the end (`picked.aim`); there a row that comes or goes moves the score by at most 1.

*What a pick costs.* Buckets are picked with probability ∝ e^(α·score), so a move of all scores by at most d costs
2·α·d nats, and the groups of a question add up. Between two tables that differ in one person let rows come and go at
L1 distance B in (group, bucket) and D in groups alone. Then (B − D)/2 rows at most change the bucket inside a group
and D come or go: 2α·((B − D)/2 + D·M) nats, which grows with D. Without groups at most `most` rows of the person are
replaced by as many: 2α·most. docs/mathematics/quantiles.md has the proof; tests/gateway/test_picking.py tries pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from nowiser.model.charge import Account
from nowiser.noise.matrix import Flat
from nowiser.sql.bound.sensitivity import Reach
from nowiser.sql.plan.cells import Cell
from nowiser.sql.tree import Aggregate, Expression, Query

FINEST = 2**18  # buckets of a group
MOST_BUCKETS = 2**21  # of all groups together: so many rows at most come from an engine
MOST_QUANTILES = 6  # of one expression; of more, a tree of counts is nearer to the truth
MOST_GROUPS = 2_000
OCTAVES = 14  # the finest cell is 2^-14 of the range, or a bucket
SHORTEST = 10**6  # denominators of a quantile


def finest(groups: int) -> int:
    """Buckets of each of so many groups."""
    return min(FINEST, MOST_BUCKETS // max(1, groups))


def target(aggregate: Aggregate) -> Fraction:
    """The quantile an aggregate asks for; 0 is MIN and 1 is MAX."""
    if aggregate.at is None:
        return Fraction(int(aggregate.function == "max"))
    return aggregate.at.limit_denominator(SHORTEST)


@dataclass(frozen=True)
class Picking:
    """Which buckets are picked, in every group of the question.

    `targets`: quantiles, rising; 0 is MIN and 1 is MAX. `moves`: of each, the nats that α = 1 costs when the secrets of
    a person change, and when a person comes or goes.
    """

    bucket: Expression
    size: int
    cell: Cell
    targets: tuple[Fraction, ...]
    moves: tuple[tuple[Fraction, Fraction], ...] = ()

    def question(self, query: Query) -> Query:
        """The same rows, grouped by bucket too."""
        return replace(query, keys=(*query.keys, self.bucket))

    def bounded(self, buckets: Reach, groups: Reach, most: int | None) -> "Picking":
        """`buckets`, `groups`: how far a person moves the rows of (group, bucket), of groups. `most`: without groups,
        how many rows one person has.
        """
        moves = []
        for q in self.targets:
            worst = max(q, 1 - q)
            changed = Fraction(buckets.jump, 2) + min(groups.jump, buckets.jump) * (worst - Fraction(1, 2))
            changed = changed if most is None else min(changed, Fraction(most))
            moves.append((2 * changed, 2 * worst * buckets.presence))
        return replace(self, moves=tuple(moves))

    @property
    def inner(self) -> tuple[int, ...]:
        """The targets whose error bars are counted."""
        return tuple(i for i, q in enumerate(self.targets) if 0 < q < 1)

    @property
    def steps(self) -> tuple[int, ...]:
        """How far the cells around a pick reach, in buckets: 1, 2, 4, …, up to all."""
        found = [max(1, self.size >> OCTAVES)]
        while found[-1] < self.size:
            found.append(2 * found[-1])
        return tuple(found)

    @property
    def strategy(self) -> Flat:
        """Cells are counted one by one."""
        return Flat(2 * (len(self.steps) + 1) * len(self.inner) - 1) if self.inner else Flat(0)

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """α of each pick at one nat in all."""
        shared = (2 if self.inner else 1) * len(self.targets)
        return tuple(1 / (shared * max(moved)) for moved in self.moves)

    def base(self, reach: Reach) -> Fraction | None:
        """The noise of the cells at one nat in all; None where nothing is counted."""
        return Fraction(2 * max(reach.jump, reach.presence)) if self.inner else None

    def cost(self, reach: Reach) -> Iterator[tuple[Account, Fraction]]:
        """What the picks cost at one nat in all, the cells not included."""
        for rate, (changed, present) in zip(self.rates, self.moves, strict=True):
            if reach.about:
                yield Account("jump", reach.about), rate * changed
            if reach.persons is not None:
                yield Account("presence", (reach.persons,)), rate * present
