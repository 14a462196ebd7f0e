"""What an attacker of a policy guesses, as the secret of a game: values, chances, and the total that tells them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.gateways.desk import Secret, quoted
from nowiser.attacks.view import Floats
from nowiser.guess.number.law import has_density, points, spread, support
from nowiser.model.goal import Exactly, Goal, On, Within
from nowiser.model.prior import Categories, Presence, Prior, Unknown
from nowiser.model.schema import Column, Kind

CELLS = 800  # a density is cut into so many


@dataclass(frozen=True, eq=False)
class Drawn:
    """Everybody's secret: as text in the table, as the attacker's value, and as part of a total."""

    texts: Sequence[str]
    truth: Floats
    adds: Floats

    def named(self, column: Column) -> dict[str, NDArray[Any]]:
        """The column for the gateway that answers exactly."""
        numeric = column.kind in (Kind.REAL, Kind.INTEGER)
        values = np.array([float(t) for t in self.texts]) if numeric else np.array(self.texts)
        return {column.name: values}


@dataclass(frozen=True, eq=False)
class Guessed:
    secret: Secret
    near: float
    draw: Callable[[int, np.random.Generator], Drawn]


def drawn_from(prior: Prior, many: int, random: np.random.Generator) -> list[str] | None:
    """Values from a prior as texts; None for one that says nothing."""
    if isinstance(prior, Unknown | Presence):
        return None
    if isinstance(prior, Categories):
        at = random.choice(len(prior.labels), many, p=np.array(prior.masses) / sum(prior.masses))
        return [str(prior.labels[k]) for k in at]
    values, masses, width = cells(prior)
    drawn = random.choice(values, many, p=masses) + random.uniform(-width / 2, width / 2, many)
    return [f"{v:.10g}" for v in drawn]


def cells(prior: Prior) -> tuple[Floats, Floats, float]:
    """Values, their masses, and the width of a cell (0 for single values)."""
    if not has_density(prior):
        found = points(prior)
        assert found is not None, "it has no density"
        return found[0], found[1] / found[1].sum(), 0.0
    edges = np.linspace(*support(prior), CELLS + 1)
    masses = spread(prior, edges)
    return (edges[1:] + edges[:-1]) / 2, masses / masses.sum(), float(edges[1] - edges[0])


YES_OR_NO = "goals of yes or no promise nothing about the guess *no*, so how often he is right is not held against them"


def secret_of(goal: Goal, column: Column | None, prior: Prior) -> Guessed | str:
    """The secret of a goal; in words why there is no game for it."""
    if not isinstance(goal, On) or column is None or isinstance(prior, Unknown | Presence):
        return "attacks are tried on goals about one attribute whose prior is declared"
    inner = goal.goal
    if column.kind not in (Kind.REAL, Kind.INTEGER, Kind.TEXT):
        return "attacks are tried on numbers and texts, not on dates and truth values"
    if isinstance(prior, Categories):
        return _category(inner, column, prior)
    if isinstance(inner, Within | Exactly):
        near = inner.radius if isinstance(inner, Within) else 0.0
        if near == 0.0 and has_density(prior):
            return "the very value of a continuous number has no chance"
        return _number(column, prior, near)
    return YES_OR_NO


def _number(column: Column, prior: Prior, near: float) -> Guessed:
    values, masses, width = cells(prior)

    def draw(many: int, random: np.random.Generator) -> Drawn:
        texts = drawn_from(prior, many, random)
        assert texts is not None, "the prior says something"
        truth = np.array([float(t) for t in texts])
        return Drawn(texts, truth, truth)

    return Guessed(Secret(values, masses, max(0.0, near - width / 2), f"SUM({column.name})"), near, draw)


def _category(goal: Goal, column: Column, prior: Categories) -> Guessed | str:
    if not isinstance(goal, Exactly):
        return YES_OR_NO
    masses = np.array(prior.masses) / sum(prior.masses)
    labels = [str(label) for label in prior.labels]
    top = int(np.argmax(masses))
    place = np.arange(len(labels), dtype=np.float64)
    truth_of = dict(zip(labels, place, strict=True))

    def draw(many: int, random: np.random.Generator) -> Drawn:
        texts = drawn_from(prior, many, random)
        assert texts is not None, "the prior says something"
        return Drawn(texts, np.array([truth_of[t] for t in texts]), (np.array(texts) == labels[top]).astype(np.float64))

    condition = f"{column.name} = {quoted(labels[top])}"
    part = (place == top).astype(np.float64)
    return Guessed(Secret(place, masses, condition=condition, part=part), 0.0, draw)
