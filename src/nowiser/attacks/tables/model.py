"""A model learnt from the release alone, asked about people: what the release teaches about everybody.

He encodes each released label as the shares of the values it covers, fits logistic regression from quasi-identifiers to
the secret, and asks it about each victim. It works on people
who are not in the release just as well; models of privacy that look at groups of look-alikes do not bound it.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.believed import guesses, prior_of, secret_of
from nowiser.attacks.one_thread import one_thread
from nowiser.attacks.soft import encoded
from nowiser.attacks.view import Floats, Goal, Guesses, Ints, View
from nowiser.microdata.table.arrays import grouped

ROWS = 20_000  # to learn from
BINS = 24  # of a number that must be guessed within a distance
STEPS = 60
SHRINK = 1.0  # ridge: a vote against every weight


@dataclass(frozen=True)
class Model:
    name: str = "model"
    goal: Goal = "value"
    against: str = "tables"
    knows: str = "the quasi-identifiers; learns from the release"
    source: str = "Kifer: Attacks on privacy and de Finetti's theorem (SIGMOD 2009); Cormode (KDD 2011)"
    needs: frozenset[str] = frozenset({"released", "quasi", "secret"})
    minutes: float = 0.05

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        return guesses(view, belief(view, random) * view.known.rows, strength=0.0)


def belief(view: View, random: np.random.Generator) -> Floats:
    """The chance of each value of the secret, for each victim: victims × values."""
    assert view.released is not None
    assert view.secret is not None
    table = view.released
    if table.rows > ROWS:
        table = table.take(np.sort(random.choice(table.rows, ROWS, replace=False)))
    names = tuple(q for q in view.quasi if q in table and q in view.known)
    both = encoded(view, view.known, table, names)
    said = secret_of(view, table[view.secret])
    told = said.sum(axis=1) > 0
    classes, spread = binned(view, said)
    target = classes[told].argmax(axis=1)
    chance = learnt(both.seen[told], target, classes.shape[1], both.known, grouped(table, names)[0][told])
    return np.asarray(chance @ spread)


def binned(view: View, said: Floats) -> tuple[Floats, Floats]:
    """Classes to predict: the values, or bins of numbers; and how each class spreads over the values by the prior."""
    values, share = prior_of(view)
    if view.within is None or len(values.values) <= BINS:
        return said, np.eye(len(share))
    place = np.minimum((np.cumsum(share) - share / 2) * BINS, BINS - 1).astype(int)
    member = np.eye(BINS)[place]
    spread = (member * share[:, None]).T
    total = spread.sum(axis=1, keepdims=True)
    return said @ member, spread / np.where(total > 0, total, 1.0)


def learnt(seen: Floats, target: Ints, classes: int, asked: Floats, kind: Ints) -> Floats:
    """The chance of each class for each row that is asked about: multinomial logistic regression.

    Rows of the same kind look alike and are counted together: a generalised release has few different ones.
    """
    from scipy.optimize import minimize

    _, first, kind = np.unique(kind, return_index=True, return_inverse=True)
    rows = np.column_stack([seen[first], np.ones(len(first))])
    counts = np.zeros((len(rows), classes))
    np.add.at(counts, (kind, target), 1.0)
    there = np.flatnonzero(counts.sum(axis=0))
    counts = counts[:, there]
    total = counts.sum(axis=1, keepdims=True)

    def loss(flat: Floats) -> tuple[float, Floats]:
        weight = flat.reshape(rows.shape[1], len(there))
        chance = softmax(rows @ weight)
        value = -float((counts * np.log(chance + 1e-300)).sum()) + SHRINK / 2 * float(flat @ flat)
        return value, (rows.T @ (total * chance - counts)).reshape(-1) + SHRINK * flat

    with one_thread():
        start = np.zeros(rows.shape[1] * len(there))
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    out = np.zeros((len(asked), classes))
    out[:, there] = softmax(np.column_stack([asked, np.ones(len(asked))]) @ found.x.reshape(rows.shape[1], len(there)))
    return out


def softmax(scores: Floats) -> Floats:
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


ATTACK = Model()
