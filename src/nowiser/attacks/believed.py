"""From what an attacker believes of each victim's secret to the guess he makes."""

import numpy as np

from nowiser.attacks.view import Bools, Floats, Guesses, Ints, View
from nowiser.microdata.risk.best_guess import best_window, best_windows
from nowiser.microdata.risk.labels import fit
from nowiser.microdata.table.column import Column


def prior_of(view: View) -> tuple[Column, Floats]:
    """The secret's public distribution: its values and their shares."""
    assert view.prior is not None
    assert view.secret is not None
    column = view.prior[view.secret]
    counts = column.counts().astype(np.float64)
    return column, counts / max(1.0, counts.sum())


def secret_of(view: View, column: Column) -> Floats:
    """Released rows × values of the secret: what each row says. A label that covers several is shared by the prior."""
    values, share = prior_of(view)
    read = fit(values, column, view.labels.get(column.name)).fits[:-1].astype(np.float64)
    weight = read * share[:, None]
    weight[:, -1] = 0.0  # a missing secret says nothing
    total = weight.sum(axis=0)
    return np.asarray((weight / np.where(total > 0, total, 1.0)).T)[column.codes]


def guesses(view: View, votes: Floats, strength: float = 1.0, left: Bools | None = None) -> Guesses:
    """The best guess by votes (victims × values), drawn to the prior by so many votes. No vote: silent.

    left: the values that are not ruled out, where he knows some that are.
    """
    values, share = prior_of(view)
    total = votes.sum(axis=1)
    beforehand = share if left is None else share * left
    belief = (votes + strength * beforehand) / (total + strength)[:, None]
    silent = total <= 0
    if view.within is None:
        best = belief.argmax(axis=1)
        return Guesses(np.array(values.labels, dtype=object)[best], belief.max(axis=1), silent)
    points = values.value_numbers
    centre, mass = best_windows(points, belief, view.within)
    return Guesses(centre, mass, silent)


def best_before(column: Column, within: float | None) -> str | float:
    """The guess of somebody who knows only how the secret is distributed."""
    counts = column.counts().astype(np.float64)
    if within is None:
        return column.labels[int(counts.argmax())]
    return best_window(column.value_numbers, counts / counts.sum(), within)[0]


def hits(value: object, truth: Column, within: float | None) -> Ints:
    """Whether each of these guesses (or one guess for all) is right, as 0 and 1."""
    if within is not None:
        near = np.abs(np.asarray(value, np.float64) - truth.numbers) <= within * (1 + 1e-12)
        return np.asarray(near & np.isfinite(truth.numbers)).astype(np.int64)
    labels = np.array([*truth.labels, None], dtype=object)[truth.codes]
    return np.asarray(labels == value).astype(np.int64)
