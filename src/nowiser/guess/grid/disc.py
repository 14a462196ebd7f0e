"""A disc on a map (within r by Euclidean distance): which share of each cell lies in it, from below and above.

On a plane the area that a disc shares with a box is known in closed form. In more dimensions each cell is cut into
pieces: a piece whose farthest corner is within the radius is inside, a piece whose nearest point is beyond it is
outside; the pieces between count as outside for the lower and as inside for the upper share. So the discs that are
really used enclose the true one, and a ceiling for the larger goal is a ceiling for the smaller. Shares of area are
shares of mass where the density is constant; where it is not (`Space.shape`), cells are cut into smaller boxes in
which it is bounded from both sides.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.space import Axis, Space
from nowiser.guess.plane.pieces import SLIP, quadrant
from nowiser.model.goal import On, Within
from nowiser.model.priors.base import Floats

PIECES = 24
FINER = 8  # small boxes per axis of a cell, where the density varies


@dataclass(frozen=True, eq=False)
class Shares:
    """At least and at most which share of each cell's mass is inside a goal; and shares of area for the same sets."""

    least: Floats
    most: Floats
    least_area: Floats
    most_area: Floats


def disc(space: Space, part: On, victim: dict[str, Any]) -> Shares:
    """The shares of the cells within the radius."""
    radius = part.goal.radius if isinstance(part.goal, Within) else 0.0
    if set(part.attributes) != {a.name for a in space.axes}:
        raise Misconfigured("a disc on a map must be about all attributes of the joint prior")
    at = [_place(axis, victim[axis.name]) for axis in space.axes]
    wide = all((np.diff(b) > 0).all() for b in space.borders)
    how = circle_shares if len(space.borders) == len(space.axes) == 2 and wide else _pieces
    least, most = how(space, at, radius)
    if space.shape is None:
        return Shares(least, most, least, most)
    return Shares(*_weighed(space, at, radius, how), least, most)


def _weighed(space: Space, at: list[float], radius: float, how: Any) -> tuple[Floats, Floats]:
    """Shares of mass where the density varies: small boxes, in which it is bounded from both sides."""
    assert space.shape is not None
    d, q = len(space.axes), FINER if len(space.axes) == 2 else 2
    axes, low, high, parts = [], [], [], []
    for i, a in enumerate(space.axes):
        b, along = a.borders, [-1 if j == i else 1 for j in range(d)]
        parts.append(1 if b is None else q)
        if b is not None:
            fine = np.append((b[:-1, None] + np.diff(b)[:, None] * np.arange(q) / q).ravel(), b[-1])
            a = Axis(a.name, (fine[:-1] + fine[1:]) / 2, (), fine)  # noqa: PLW2901 (the same axis, finer)
            low.append(fine[:-1].reshape(along))
            high.append(fine[1:].reshape(along))
        axes.append(a)
    whole = [a.size for a in axes]
    least, most = how(Space(tuple(axes), np.zeros(whole)), at, radius)
    bottom, top = (np.broadcast_to(h, whole) for h in space.shape.heights(low, high))
    size = np.broadcast_to(math.prod(np.where(b > a, b - a, 1.0) for a, b in zip(low, high, strict=True)), whole)

    def total(part: Floats) -> Floats:
        shape = [n for a, p in zip(space.axes, parts, strict=True) for n in (a.size, p)]
        return np.asarray((part * size).reshape(shape).sum(axis=tuple(range(1, 2 * d, 2))))

    with np.errstate(invalid="ignore", divide="ignore"):
        upper, lower = total(most * top), total(least * bottom)
        upper, lower = upper / (upper + total((1 - most) * bottom)), lower / (lower + total((1 - least) * top))
    return np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)


def _place(axis: Any, x: Any) -> float:
    if axis.places is None:
        raise Misconfigured(f"{axis.name} has labels, which have no distances")
    low, high = axis.places[0] - axis.half[0], axis.places[-1] + axis.half[-1]
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not low <= x <= high:
        raise Misconfigured(f"victim must have a possible value of {axis.name} ({low:g} to {high:g}), found {x!r}")
    return float(x)


def circle_shares(space: Space, at: list[float], radius: float) -> tuple[Floats, Floats]:
    """Shares of area on a plane, by inclusion and exclusion of the quadrants below and left of each corner."""
    if radius <= 0:
        none = np.zeros(space.masses.shape)
        return none, none
    x, y = (a.borders - v for a, v in zip(space.axes, at, strict=True) if a.borders is not None)
    corner = quadrant(radius, x[:, None], y[None, :])
    area = np.diff(np.diff(corner, axis=0), axis=1)
    whole = np.multiply.outer(np.diff(x), np.diff(y))
    slip = SLIP * radius * radius
    # what the closed form cannot settle: a box that is wholly inside or outside is known to be
    far = np.hypot(*np.meshgrid(_reach(x), _reach(y), indexing="ij")) <= radius * (1 - 1e-12)
    away = np.hypot(*np.meshgrid(_gap(x), _gap(y), indexing="ij")) >= radius * (1 + 1e-12)
    least, most = np.clip((area - slip) / whole, 0.0, 1.0), np.clip((area + slip) / whole, 0.0, 1.0)
    return np.where(far, 1.0, np.where(away, 0.0, least)), np.where(far, 1.0, np.where(away, 0.0, most))


def _reach(borders: Floats) -> Floats:
    return np.maximum(np.abs(borders[:-1]), np.abs(borders[1:]))


def _gap(borders: Floats) -> Floats:
    return np.maximum(np.maximum(borders[:-1], -borders[1:]), 0.0)


def _pieces(space: Space, at: list[float], radius: float) -> tuple[Floats, Floats]:
    """Of points both shares are 0 or 1."""
    d, pieces = len(space.axes), PIECES if space.continuous else 1
    middle = (np.arange(pieces) + 0.5) / pieces * 2 - 1
    near, far = np.zeros([1] * 2 * d), np.zeros([1] * 2 * d)
    for i, axis in enumerate(space.axes):
        assert axis.places is not None
        away = np.abs(axis.places[:, None] + axis.half[:, None] * middle - at[i])
        reach = axis.half[:, None] / pieces
        shape = [(axis.size, pieces)[j // d] if j % d == i else 1 for j in range(2 * d)]
        near = near + (np.maximum(away - reach, 0.0) ** 2).reshape(shape)
        far = far + ((away + reach) ** 2).reshape(shape)
    inner, limit = tuple(range(d, 2 * d)), max(radius, 0.0) ** 2
    # points at the very radius are inside, also when their distance is rounded
    least = np.asarray((far <= limit * (1 - 1e-12 if space.continuous else 1 + 1e-12)).mean(axis=inner))
    return least, np.asarray((near <= limit * (1 + 1e-12)).mean(axis=inner))
