"""Which guesses an attacker may make about one of several attributes.

As on one number (`profile.centres`) every guess counts, also one that is no possible value: between the ages 20 and 23
the guess 21.5 is right within 1.5 for both. Of single values only finitely many sets can be right for some guess: one
guess for each of them will do.
"""

from typing import Any

import numpy as np

from nowiser.guess.grid.space import Axis
from nowiser.guess.ranges import distinct
from nowiser.model.goal import Exactly, On, Within
from nowiser.model.priors.base import Floats


def value_of(axis: Axis, i: int) -> Any:
    return axis.labels[i] if axis.places is None else float(axis.places[i])


def telling(values: Floats, radii: list[float]) -> Floats:
    """A guess for each set of these values that is within the radii of one: where one comes in, and between these."""
    every = np.concatenate([values, *[values + side * r for r in radii for side in (-1, 1)]])
    events = distinct(np.clip(every, values.min(), values.max()))
    return distinct(np.concatenate([events, (events[:-1] + events[1:]) / 2])) if radii else distinct(values)


def guesses_of(axis: Axis, parts: list[On]) -> list[Any]:
    """One guess for each set of values of one attribute that can be right."""
    own = [part.goal for part in parts if part.attributes == (axis.name,)]
    if not any(isinstance(goal, (Within, Exactly)) for goal in own):
        return [value_of(axis, 0)]  # the goal does not depend on it
    if axis.places is None:
        return list(axis.labels)
    return list(map(float, telling(axis.places, [goal.radius for goal in own if isinstance(goal, Within)])))
