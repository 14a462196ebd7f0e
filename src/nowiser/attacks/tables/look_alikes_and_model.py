"""Look-alikes and model together: what the rows that look like her say, drawn to what the model expects of her.

Few look-alikes say little, and the prior of the whole table knows nothing of her: he takes the model's belief in its
place, as a few further votes. On halves of the census table this beats both on partitions and on synthetic rows.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.believed import guesses, secret_of
from nowiser.attacks.candidates import candidates
from nowiser.attacks.tables.model import belief
from nowiser.attacks.view import Goal, Guesses, View

VOTES = 3.0  # of the model, beside one for each look-alike


@dataclass(frozen=True)
class LookAlikesAndModel:
    name: str = "look-alikes and model"
    goal: Goal = "value"
    against: str = "tables"
    knows: str = "the quasi-identifiers; learns from the release"
    source: str = "Kifer (SIGMOD 2009); Efron and Morris: Stein's paradox, borrowed strength (1977)"
    needs: frozenset[str] = frozenset({"released", "quasi", "secret"})
    minutes: float = 0.06

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        assert view.released is not None
        assert view.secret is not None
        votes = candidates(view).votes(secret_of(view, view.released[view.secret]))
        votes = votes + VOTES * belief(view, random)
        return guesses(view, votes, strength=0.0)


ATTACK = LookAlikesAndModel()
