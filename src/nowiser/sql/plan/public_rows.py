"""How many rows each group of a question has, as far as that is public: what a planned answer is judged by.

Under `protect: values` everybody knows who is in a table and the public columns. So the rows of a group may be counted
before anything is charged, as long as no secret decides which rows those are. Conditions and keys that look at a secret
are left out of that question; what they do to the number of rows is not known.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Protect
from nowiser.sql.bound.relations import rows
from nowiser.sql.bound.sensitivity import reach, secret
from nowiser.sql.functions import call
from nowiser.sql.interval import EVERYTHING
from nowiser.sql.plan.cells import count_cell
from nowiser.sql.plan.groups import Groups
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import Aggregate, Expression, Filter, Output, Query, Relation, Released, Type, conjuncts

MOST = 20_000  # groups that are looked up one by one


@dataclass(frozen=True)
class Counting:
    """The question how many rows each group has; which keys of the first one it has; conditions it leaves out."""

    query: Query
    keys: tuple[int, ...]
    left_out: tuple[Expression, ...]


def counting(question: Query, policy: Policy) -> Counting | None:
    """None where not even that is public."""
    known = rows(question.relation, policy)
    if known.persons is None or known.protect is not Protect.VALUES:
        return None
    relation, left_out = _public(question.relation)
    keys = () if question.sets is not None else tuple(i for i, k in enumerate(question.keys) if not secret(k))
    asked = how_many(relation, tuple(question.keys[i] for i in keys))
    if not reach(count_cell(None, None), asked, policy).exact:
        return None
    return Counting(asked, keys, left_out)


def how_many(relation: Relation, keys: tuple[Expression, ...] = ()) -> Query:
    """SELECT COUNT(*) FROM … GROUP BY …"""
    count = Output("count", Released(0, Type(Kind.INTEGER, bounds=EVERYTHING)))
    return Query(relation, keys, (Aggregate("count"),), (count,))


def _public(relation: Relation) -> tuple[Relation, tuple[Expression, ...]]:
    """The rows without the conditions that look at a secret, and those conditions."""
    if not isinstance(relation, Filter):
        return relation, ()
    source, left_out = _public(relation.source)
    every = list(conjuncts(relation.condition))
    hidden = [c for c in every if secret(c)]
    if not hidden:
        return replace(relation, source=source), left_out
    shown = [c for c in every if not secret(c)]
    if shown:
        condition = shown[0]
        for c in shown[1:]:
            condition = call("and", (condition, c))
        source = Filter(source, condition)
    return source, (*left_out, *hidden)


def per_group(plan: Plan, counted: Plan, keys: tuple[int, ...], found: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """The rows of each group of a plan, given those of `counted`. Groups that differ in secrets only share them evenly.

    None where groups are not known one by one.
    """
    many = len(plan.groups)
    if keys and isinstance(plan.groups, Groups) and isinstance(counted.groups, Groups) and many <= MOST:
        known = dict(zip(counted.groups, found.tolist(), strict=True))
        own = [tuple(g[i] for i in keys) for g in plan.groups]
        times = Counter(own)
        return np.array([known.get(g, 0) / times[g] for g in own], dtype=np.float64)
    return None
