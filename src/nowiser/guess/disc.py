"""A disc on a map (within r by Euclidean distance): which share of each cell's mass lies in it, from below and above.

Each cell is cut into 24 pieces per axis. A piece whose farthest corner is within the radius is inside, a piece whose
nearest point is beyond it is outside; the pieces between count as outside for the lower and as inside for the upper
share. So the discs that are really used enclose the true one, and a ceiling for the larger goal is a ceiling for the
smaller. Shares of area are shares of mass where the density is constant; where it is not (`Space.tilts`), by at most
the ratio of the largest to the smallest density in the cell.
"""

from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.space import Space
from nowiser.model.goal import On, Within
from nowiser.model.priors.base import Floats

PIECES = 24


def disc(space: Space, part: On, victim: dict[str, Any]) -> tuple[Floats, Floats]:
    """The smallest and the largest share of each cell's mass within the radius; of points both are 0 or 1."""
    radius = part.goal.radius if isinstance(part.goal, Within) else 0.0
    if set(part.attributes) != {a.name for a in space.axes}:
        raise Misconfigured("a disc on a map must be about all attributes of the joint prior")
    d, pieces = len(space.axes), PIECES if space.continuous else 1
    middle = (np.arange(pieces) + 0.5) / pieces * 2 - 1
    near, far = np.zeros([1] * 2 * d), np.zeros([1] * 2 * d)
    for i, axis in enumerate(space.axes):
        if axis.places is None:
            raise Misconfigured(f"{axis.name} has labels, which have no distances")
        x = victim[axis.name]
        low, high = axis.places[0] - axis.half[0], axis.places[-1] + axis.half[-1]
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not low <= x <= high:
            raise Misconfigured(f"victim must have a possible value of {axis.name} ({low:g} to {high:g}), found {x!r}")
        away = np.abs(axis.places[:, None] + axis.half[:, None] * middle - float(x))
        reach = axis.half[:, None] / pieces
        shape = [(axis.size, pieces)[j // d] if j % d == i else 1 for j in range(2 * d)]
        near = near + (np.maximum(away - reach, 0.0) ** 2).reshape(shape)
        far = far + ((away + reach) ** 2).reshape(shape)
    inner, limit = tuple(range(d, 2 * d)), radius * radius
    # points at the very radius are inside, also when their distance is rounded
    least = np.asarray((far <= limit * (1 - 1e-12 if space.continuous else 1 + 1e-12)).mean(axis=inner))
    most = np.asarray((near <= limit * (1 + 1e-12)).mean(axis=inner))
    if space.tilts is None:
        return least, most
    return _leaned(least, 1 / space.tilts), _leaned(most, space.tilts)


def _leaned(share: Floats, ratio: Floats) -> Floats:
    """A share of area as a share of mass when the density inside is `ratio` times that outside."""
    return share * ratio / (share * ratio + (1 - share))
