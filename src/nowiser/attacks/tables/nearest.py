"""The nearest released rows: he takes the secret of the rows most like his victim, whatever was done to them.

Works on perturbed and synthetic rows, where no label has to cover her. The one nearest row decides where it holds an
exact copy; else the ten nearest vote, the nearer the more.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.believed import guesses, secret_of
from nowiser.attacks.soft import encoded
from nowiser.attacks.view import Floats, Goal, Guesses, Ints, View
from nowiser.microdata.risk.nearest import nearest

NEIGHBOURS = 10


@dataclass(frozen=True)
class Nearest:
    name: str = "nearest"
    goal: Goal = "value"
    against: str = "tables"
    knows: str = "the quasi-identifiers"
    source: str = "Giomi, Boenisch, Wehmeyer, Tasnádi: Anonymeter (PoPETs 2023); Pagliuca and Seri (1999)"
    needs: frozenset[str] = frozenset({"released", "quasi", "secret"})
    minutes: float = 0.02

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        del random
        assert view.released is not None
        assert view.secret is not None
        names = tuple(q for q in view.quasi if q in view.released and q in view.known)
        both = encoded(view, view.known, view.released, names)
        found, distance = nearest(both.known, both.seen, min(NEIGHBOURS, view.released.rows))
        votes = voted(found, distance, secret_of(view, view.released[view.secret]))
        return guesses(view, votes, strength=0.2)


def voted(found: Ints, distance: Floats, said: Floats) -> Floats:
    """Votes of the nearest rows, by how near they are beside the farthest of them."""
    far = distance[:, -1:] + 1e-9
    weight = 1.0 / (0.02 + distance / far) * np.where(distance <= 1e-9, 3.0, 1.0)
    return np.asarray(np.einsum("vk,vks->vs", weight / weight[:, :1], said[found]))


ATTACK = Nearest()
