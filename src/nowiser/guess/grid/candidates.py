"""Which guesses an attacker may make about several attributes at once.

As on one number (`profile.centres`) every guess counts, also one that is no possible value: between the ages 20 and 23
the guess 21.5 is right within 1.5 for both. For points only finitely many sets of records can be right for some guess:
one guess for each, attribute by attribute, in every combination; for a disc on a map the points themselves and the
centres of the circles of that radius through two of them. Of cells, all values of a cell are looked at together.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from nowiser.guess.grid.space import Axis, Space
from nowiser.guess.parts.formula import simple_goals
from nowiser.guess.ranges import distinct
from nowiser.model.goal import Exactly, Goal, On, Within
from nowiser.model.priors.base import Floats

MANY = 20_000  # guesses; where there are more, those that are records are looked at
POINTS = 80  # of a map, up to which circles through two of them are drawn

Guess = tuple[dict[str, Any], dict[str, float]]  # a value per attribute; and how exactly it is meant


def value_of(axis: Axis, i: int) -> Any:
    return axis.labels[i] if axis.places is None else float(axis.places[i])


def candidates(space: Space, goal: Goal) -> Iterator[Guess]:
    """Guesses of which one is at least as telling as any other."""
    if space.continuous:
        for at in np.ndindex(*space.masses.shape):
            pairs = list(zip(space.axes, at, strict=True))
            yield (
                {a.name: value_of(a, i) for a, i in pairs},
                {a.name: float(a.half[i]) for a, i in pairs if a.borders is not None},
            )
        return
    parts = [part for part in simple_goals(goal) if isinstance(part, On)]
    names = [a.name for a in space.axes]
    discs = [part for part in parts if len(part.attributes) > 1 and isinstance(part.goal, Within)]
    if discs:
        for point in _centres(space, sorted({d.goal.radius for d in discs if isinstance(d.goal, Within)})):
            yield dict(zip(names, point, strict=True)), {}
        return
    choices = [guesses_of(axis, parts) for axis in space.axes]
    few = np.prod([float(len(c)) for c in choices]) <= MANY
    # records first: of several guesses that are right for the same people a real one is shown
    records = (
        tuple(value_of(a, int(i)) for a, i in zip(space.axes, where, strict=True))
        for where in np.argwhere(space.masses > 0)
    )
    for guess in itertools.chain(records, itertools.product(*choices) if few else ()):
        yield dict(zip(names, guess, strict=True)), {}


def guesses_of(axis: Axis, parts: list[On]) -> list[Any]:
    """One guess for each set of values of one attribute that can be right."""
    own = [part.goal for part in parts if part.attributes == (axis.name,)]
    if not any(isinstance(goal, (Within, Exactly)) for goal in own):
        return [value_of(axis, 0)]  # the goal does not depend on it
    if axis.places is None or not any(isinstance(goal, Within) for goal in own):
        return [value_of(axis, i) for i in range(axis.size)]
    radii = [goal.radius for goal in own if isinstance(goal, Within)]
    every = np.concatenate([axis.places, *[axis.places - r for r in radii], *[axis.places + r for r in radii]])
    events = distinct(np.clip(every, axis.places[0], axis.places[-1]))
    return list(dict.fromkeys([*axis.places.tolist(), *events.tolist(), *((events[:-1] + events[1:]) / 2).tolist()]))


def _centres(space: Space, radii: list[float]) -> Iterator[tuple[float, ...]]:
    """The points of a map that have mass, and centres of circles through two of them (on a plane)."""
    at = np.argwhere(space.masses > 0)
    points: Floats = np.stack([a.places[at[:, i]] for i, a in enumerate(space.axes) if a.places is not None], axis=1)
    yield from (tuple(p.tolist()) for p in points)
    if points.shape[1] != 2 or points.shape[0] > POINTS:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    for a, b in itertools.combinations(points, 2):
        middle, apart = (a + b) / 2, float(np.hypot(*(b - a)))
        for r in radii:
            if 0 < apart <= 2 * r:
                aside = np.array([a[1] - b[1], b[0] - a[0]]) / apart * np.sqrt(max(r * r - apart * apart / 4, 0.0))
                # a guess beyond the map is never better than the nearest one on its border
                yield from (tuple(np.clip(c, low, high).tolist()) for c in (middle, middle + aside, middle - aside))
