"""Homogeneity and skewness: what the rows that look like her say of her secret.

He knows her quasi-identifiers and takes the rows whose labels cover them. Their most frequent secret is his guess; its
share among them his confidence. Where all agree he is certain (homogeneity); where one secret is more frequent than in
the table he has learnt something (skewness).
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.believed import guesses, secret_of
from nowiser.attacks.candidates import candidates
from nowiser.attacks.view import Goal, Guesses, View


@dataclass(frozen=True)
class LookAlikes:
    name: str = "look-alikes"
    goal: Goal = "value"
    against: str = "tables"
    knows: str = "the quasi-identifiers"
    source: str = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity (ICDE 2006)"
    needs: frozenset[str] = frozenset({"released", "quasi", "secret"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        del random
        assert view.released is not None
        assert view.secret is not None
        said = secret_of(view, view.released[view.secret])
        return guesses(view, candidates(view).votes(said))


ATTACK = LookAlikes()
