"""Several releases about the same people: her secret must be possible in each of them.

In each release he takes the rows whose labels cover her. A secret that one of them lacks is ruled out; of the others he
multiplies what each release says beyond the prior. Releases are not independent, so this is a way of guessing and not a
posterior: the harness says how often it is right.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.believed import guesses, prior_of, secret_of
from nowiser.attacks.candidates import candidates
from nowiser.attacks.view import Floats, Goal, Guesses, View

TRUST = 0.5  # votes of the prior in each release: a secret nobody in a release has is nearly, not quite, ruled out


@dataclass(frozen=True)
class Intersection:
    name: str = "intersection"
    goal: Goal = "value"
    against: str = "tables"
    knows: str = "the quasi-identifiers, and every release"
    source: str = "Ganta, Kasiviswanathan, Smith: Composition attacks and auxiliary information (KDD 2008)"
    needs: frozenset[str] = frozenset({"released", "releases", "quasi", "secret"})
    minutes: float = 0.03

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        del random
        assert view.released is not None
        assert view.secret is not None
        _, share = prior_of(view)
        odds: Floats = np.zeros((view.known.rows, len(share)))
        for table in (view.released, *view.releases):
            votes = candidates(view, table).votes(secret_of(view, table[view.secret]))
            belief = (votes + TRUST * share) / (votes.sum(axis=1) + TRUST)[:, None]
            odds += np.log(belief / share)
        best = odds + np.log(share)
        belief = np.exp(best - best.max(axis=1, keepdims=True))
        return guesses(view, belief / belief.sum(axis=1, keepdims=True), strength=0.0)


ATTACK = Intersection()
