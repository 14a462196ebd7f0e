"""Discs on a continuous map that are denied, or joined with other goals: which share of each cell is inside.

Bands end where cells end (`joint._cuts`), so that most cells are cut by one disc at most. There the goal is all of the
disc's part of the cell, or all but that, or does not depend on it; the shares are the disc's own. A cell that something
else is undecided about counts as whole from above and as nothing from below: a larger goal has a larger ceiling.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from nowiser.guess.grid.disc import Shares
from nowiser.guess.grid.programme import Mask
from nowiser.guess.parts.formula import Formula

Answers = list[tuple[Mask, Mask]]
Whether = Callable[..., Mask]


def cut_by_discs(of: Formula, answers: Answers, discs: dict[int, Shares], whether: Whether, shape: Any) -> Shares:
    """The shares of a formula whose simple goals are met at least, and at most, in these cells; some are discs."""

    def decided(given: Answers) -> tuple[Mask, Mask]:
        least, most = (np.broadcast_to(whether(of, given, above=above), shape) for above in (False, True))
        return least, most

    whole = {i: (d.least >= 1, d.most > 0) for i, d in discs.items()}
    least, most = decided([whole.get(i, answer) for i, answer in enumerate(answers)])
    found = [least.astype(float), most.astype(float), least.astype(float), most.astype(float)]
    same = _same(discs)
    for group in same:
        one = discs[group[0]]
        sure = {i: pair for i, pair in whole.items() if i not in group}

        def where(*, there: bool, group: tuple[int, ...] = group, sure: dict[int, Any] = sure) -> tuple[Mask, Mask]:
            both = (np.full(shape, there), np.full(shape, there))
            return decided([both if i in group else sure.get(i, answer) for i, answer in enumerate(answers)])

        (in_least, in_most), (out_least, out_most) = where(there=True), where(there=False)
        cut = (least != most) & (in_least == in_most) & (out_least == out_most)
        rises, falls = cut & in_least & ~out_least, cut & out_least & ~in_least
        own = (one.least, one.most, one.least_area, one.most_area)
        other = (1 - one.most, 1 - one.least, 1 - one.most_area, 1 - one.least_area)
        found = [np.where(rises, a, np.where(falls, b, f)) for a, b, f in zip(own, other, found, strict=True)]
    return Shares(*found)


def _same(discs: dict[int, Shares]) -> list[tuple[int, ...]]:
    """Which of them are one disc, said more than once."""
    groups: dict[bytes, list[int]] = {}
    for i, d in discs.items():
        groups.setdefault(d.least.tobytes() + d.most.tobytes(), []).append(i)
    return [tuple(group) for group in groups.values()]
