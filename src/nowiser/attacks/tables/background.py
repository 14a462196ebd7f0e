"""Background knowledge: of each victim he knows one value that her secret is not.

He takes the rows that look like her, as in `look_alikes`, leaves out those with that value, and guesses the most
frequent of the others. Two values among her look-alikes are no protection from somebody who can rule out one of them.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.believed import guesses, prior_of, secret_of
from nowiser.attacks.candidates import candidates
from nowiser.attacks.view import Goal, Guesses, View


@dataclass(frozen=True)
class Background:
    name: str = "background knowledge"
    goal: Goal = "value"
    against: str = "tables"
    knows: str = "the quasi-identifiers, and one value that the victim's secret is not"
    source: str = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity (ICDE 2006)"
    needs: frozenset[str] = frozenset({"released", "quasi", "secret", "ruled out"})
    minutes: float = 0.015

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        del random
        assert view.released is not None
        assert view.secret is not None
        votes = candidates(view).votes(secret_of(view, view.released[view.secret]))
        values = np.array(prior_of(view)[0].labels, dtype=object)
        left = values[None, :] != np.asarray(view.more["ruled out"], dtype=object)[:, None]
        return guesses(view, votes * left, left=left)


ATTACK = Background()
