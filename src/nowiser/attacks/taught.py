"""The one cheap attacker that `publish` runs: what does the release teach about people in general?

Models of look-alikes bound what the rows that look like a person tell about her, not what somebody learns from all rows
together. So a model is learnt from one half of the released people and asked about both: about members, and
about people it has never seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nowiser.attacks.harness import NotRun, attempt
from nowiser.attacks.outcome import Outcome
from nowiser.attacks.rows import Rows
from nowiser.attacks.tables.model import Model
from nowiser.microdata.risk.labels import Rules
from nowiser.microdata.table.micro_table import MicroTable

FEWEST, MOST, VICTIMS = 400, 10_000, 2_000
TENTH = 0.10


@dataclass(frozen=True)
class Taught:
    """What the model reached on one secret."""

    column: str
    outcome: Outcome
    within: float | None = None  # how near a guess of a number must come

    @property
    def words(self) -> str:
        o = self.outcome
        aim = self.column if self.within is None else f"{self.column} within {self.within:.4g}"
        sure = o.surest.get(TENTH)
        tenth = "" if sure is None else f", and {_rate(sure.value)} of the tenth of members it is surest of"
        outside = "" if o.control is None else f" and {_rate(o.control.value)} of people it has not seen"
        return (
            f"A model learnt from the release guesses {aim} of {_rate(o.after.value)} of members{outside}"
            f" ({_rate(o.before.value)} before){tenth}."
        )


def taught(
    original: MicroTable,
    released: MicroTable,
    quasi: tuple[str, ...],
    secrets: Mapping[str, float | None],
    *,
    labels: Mapping[str, Rules],
    seed: int = 0,
) -> tuple[Taught, ...]:
    """The model on each secret, where there are enough people and it is known whose the rows are."""
    known = tuple(q for q in quasi if q in released and q in original)
    if not known or released.rows < FEWEST or not (released.origin >= 0).all():
        return ()
    random = np.random.default_rng(seed)
    people = random.permutation(np.unique(released.origin))[:MOST]
    inside, outside = (np.sort(half) for half in np.array_split(people, 2))
    rows = released.take(np.isin(released.origin, inside))
    made = []
    for name, within in secrets.items():
        if name not in released or original[name].distinct < 2:
            continue
        game = Rows(
            MicroTable.of(original.take(inside).columns),
            rows,
            known,
            name,
            within,
            control=MicroTable.of(original.take(outside).columns),
            labels=labels,
            seed=seed,
        )
        found = attempt(Model(), game, victims=VICTIMS, seed=seed, column=name)
        if not isinstance(found, NotRun):
            made.append(Taught(name, found, within))
    return tuple(made)


def _rate(value: float) -> str:
    from nowiser.percent import percent

    return percent(value)
