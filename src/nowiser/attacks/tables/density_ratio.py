"""Was she in? The release is denser near its members than people outside are.

He knows her whole row and has people like her who are outside. For each victim he compares the distance to her nearest
released row with that to her nearest row outside: nearer than expected, and she was in.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.soft import encoded
from nowiser.attacks.view import Floats, Goal, Guesses, View
from nowiser.microdata.risk.nearest import nearest

NEIGHBOURS = 3


@dataclass(frozen=True)
class DensityRatio:
    name: str = "density ratio"
    goal: Goal = "presence"
    against: str = "tables"
    knows: str = "her whole row, and people outside the release"
    source: str = "van Breugel, Sun, Qian, van der Schaar: Membership inference by overfitting (AISTATS 2023)"
    needs: frozenset[str] = frozenset({"released", "reference"})
    minutes: float = 0.03

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        assert view.released is not None
        assert view.reference is not None
        names = tuple(n for n in view.known.names if n in view.released and n in view.reference)
        inside = encoded(view, view.known, view.released, names)
        outside = encoded(view, view.known, view.reference, names)
        near = _distance(inside.known, inside.seen)
        far = _distance(outside.known, outside.seen)
        score = np.log((far + 1e-6) / (near + 1e-6)) + 1e-9 * random.standard_normal(len(near))
        middle = np.median(score)  # half of the victims are members
        return Guesses.of((score > middle).astype(np.int64), np.abs(score - middle))


def _distance(known: Floats, seen: Floats) -> Floats:
    k = min(NEIGHBOURS, len(seen))
    _, squared = nearest(known, seen, k)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)) @ (0.5 ** np.arange(1, k + 1)))


ATTACK = DensityRatio()
