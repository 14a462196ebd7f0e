"""A release in which people have several rows: what one group tells of a person, and answers besides.

A guess is right about a person if it is right about one of her rows in a group. Which rows are whose is not in the
file, so several releases of such rows are not counted together: only the same release again is admitted.

With answers besides: worlds in which she ever has a value in a group are paired with worlds in which she never has, by
giving each of her rows there another secret of the group. So her record differs, and those of at most as many others.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.microdata.groups.groups import as_released
from nowiser.microdata.groups.judged import measured_groups
from nowiser.microdata.groups.people import by_person
from nowiser.microdata.method_contract import Run
from nowiser.microdata.releases.measure import Told, front
from nowiser.microdata.releases.record import Record
from nowiser.microdata.risk.intersection import Answered, with_answers
from nowiser.microdata.table.column import Floats
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True, eq=False)
class Ever:
    """Per guess its share of the released persons, the largest in a group, and how many records a change concerns."""

    before: Floats
    high: Floats
    people: int

    def told(self, answered: Answered) -> Told:
        high = np.array([with_answers(float(h), answered, self.people) for h in self.high])
        at = int(np.argmax(high - self.before))
        lifts = front(self.before, self.high, self.people)
        return Told(float(self.before[at]), float(high[at]), float(high[at]), True, 1, lifts)


def have_several(table: MicroTable, run: Run) -> bool:
    """Whether somebody has two rows in a table made from the original."""
    owners = run.owners(table)
    return owners is not None and len(np.unique(owners)) < len(owners)


def ever(table: MicroTable, run: Run, joint: Any) -> Ever:
    """What the groups tell about a goal (`joint`: the model that counts it), as persons are counted."""
    groups = by_person(as_released(measured_groups(table, replace(run, models=(joint,)))))
    after, before = joint.chances(groups)
    rows = 1
    if groups.people is not None:
        _, times = np.unique(np.stack([groups.people.group, groups.people.person]), axis=1, return_counts=True)
        rows = int(times.max(initial=1))
    return Ever(before, after.max(axis=0, initial=0.0), 1 + rows)


def same(one: Record, two: Record) -> bool:
    """Whether two releases showed the same of the same people."""
    pairs = [(one.people, two.people), (one.member, two.member), (one.group, two.group)]
    pairs += [(one.codes[c], two.codes[c]) for c in one.columns if c in two.codes]
    return one.labels == two.labels and all(np.array_equal(a, b) for a, b in pairs)
