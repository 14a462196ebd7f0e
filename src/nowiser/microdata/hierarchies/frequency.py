"""Categories by frequency: the most frequent stay apart, the others become one."""

from functools import partial
from itertools import pairwise

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.climbing import climb
from nowiser.microdata.hierarchies.hierarchy import ROOT, Hierarchy
from nowiser.microdata.table.column import Column

OTHERS = "other values"
APART = (200, 50, 20, 8, 3)  # how many values may stay apart, from level to level
WORTH = 0.75  # … if that is at most this share of all


def proposed(column: Column) -> list[int] | None:
    """How many values stay apart at each level; None where there are too few to unite any."""
    several = [n for n in APART if n <= WORTH * column.distinct]
    return several or None


def by_frequency(column: Column, apart: list[int]) -> Hierarchy:
    """At each level as many values as named stay apart; values as frequent as each other go in natural order."""
    if not apart or any(n < 1 for n in apart) or any(more <= less for more, less in pairwise(apart)):
        raise Misconfigured(
            f"the numbers of values of {column.name!r} that stay apart must be at least 1 and fall from level to level",
            hint=f"As in {column.name}:frequency:8:3.",
        )
    taken = {*column.labels, ROOT}
    others = next(text for i in range(len(taken) + 1) if (text := OTHERS + "'" * i) not in taken)
    place = np.empty(len(column.labels), np.int64)
    place[np.argsort(-column.counts(), kind="stable")] = np.arange(len(place))
    labels = column.labels
    rules = [partial(lambda n, c: labels[c] if place[c] < n else others, n) for n in apart]
    return climb(column, rules, kind=f"the {', '.join(map(str, apart))} most frequent")
