"""A disc on a map (within r by Euclidean distance): which share of each cell lies in it, from below and above.

A disc may be about some of the axes of a grid only. The area that a circle shares with a box is known in closed form.
Of more axes all but two are cut into slabs, in which the circle is between that of the slab's nearest and that of its
farthest point; so it is on axes with single values. The discs that are really used enclose the true one, and a ceiling
for the larger goal is a ceiling for the smaller. Shares of area are shares of mass where the density is constant; where
it is not (`Space.shape`), the cells that are cut are divided into smaller boxes in which it is bounded from both sides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.programme import Mask
from nowiser.guess.grid.space import Axis, Space
from nowiser.guess.plane.pieces import SLIP, quadrant
from nowiser.model.goal import On, Within
from nowiser.model.priors.base import Floats

SLABS = 12  # of a cell
FINER = {1: 8, 2: 8, 3: 3}  # small boxes per axis of a cell, where the density varies; by how many axes have cells


@dataclass(frozen=True, eq=False)
class Shares:
    """At least and at most which share of each cell's mass is inside a goal; and shares of area for the same sets."""

    least: Floats
    most: Floats
    least_area: Floats
    most_area: Floats


def disc(space: Space, part: On, victim: dict[str, Any]) -> Shares:
    """The shares of the cells within the radius."""
    axes, at, shape, radius = _placed(space, part, victim)
    whole = space.masses.shape
    least, most = (np.broadcast_to(a.reshape(shape), whole) for a in areas(axes, at, radius))
    if space.shape is None:
        return Shares(least, most, least, most)
    own = sorted(space.axis(name) for name in part.attributes)
    return Shares(*_weighed(space, own, (at, radius), (least, most)), least, most)


def touched(space: Space, part: On, victim: dict[str, Any], slack: dict[str, float]) -> tuple[Mask, Mask]:
    """The cells that are wholly inside for all victims who are known this well on each attribute, and those that are
    touched for some.
    """
    axes, at, shape, radius = _placed(space, part, victim)
    near, far = distances(axes, [(v, slack.get(a.name, 0.0)) for v, a in zip(at, axes, strict=True)])
    # points at the very radius are inside, also when their distance is rounded
    points = not slack and all(a.borders is None for a in axes)
    inner = far <= radius**2 * (1 + 1e-12 if points else 1 - 1e-12)
    return inner.reshape(shape), (near <= radius**2 * (1 + 1e-12)).reshape(shape)


def _placed(space: Space, part: On, victim: dict[str, Any]) -> tuple[tuple[Axis, ...], list[float], list[int], float]:
    """The axes of a disc, where the victim is on them, the shape of a table for these in the grid; the radius."""
    own = sorted(space.axis(name) for name in part.attributes)
    axes = tuple(space.axes[i] for i in own)
    at = [_place(axis, victim[axis.name]) for axis in axes]
    shape = [n if i in own else 1 for i, n in enumerate(space.masses.shape)]
    return axes, at, shape, part.goal.radius if isinstance(part.goal, Within) else 0.0


def distances(axes: tuple[Axis, ...], at: list[tuple[float, float]]) -> tuple[Floats, Floats]:
    """The squares of the smallest and the largest distance of any point of each cell from any victim: where he is on
    each axis, and how well that is known.
    """
    near, far = np.zeros([1] * len(axes)), np.zeros([1] * len(axes))
    for i, (axis, (v, loose)) in enumerate(zip(axes, at, strict=True)):
        assert axis.places is not None
        shape = [-1 if j == i else 1 for j in range(len(axes))]
        away, room = np.abs(axis.places - v), axis.half + loose
        near = near + (np.maximum(away - room, 0.0) ** 2).reshape(shape)
        far = far + ((away + room) ** 2).reshape(shape)
    return near, far


def _finer(axis: Axis, parts: int) -> Axis:
    if axis.borders is None:
        return axis
    b = axis.borders
    fine = np.append((b[:-1, None] + np.diff(b)[:, None] * np.arange(parts) / parts).ravel(), b[-1])
    return Axis(axis.name, (fine[:-1] + fine[1:]) / 2, (), fine)


def _weighed(
    space: Space, own: list[int], placed: tuple[list[float], float], known: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Shares of mass where the density varies: of cells that are cut, small boxes in which it is bounded."""
    assert space.shape is not None
    least, most = known[0].copy(), known[1].copy()
    cut = np.argwhere((most > 0) & (least < 1))
    if not len(cut):
        return least, most
    cells = [i for i, a in enumerate(space.axes) if a.borders is not None]
    parts = FINER.get(len(cells), 2)
    which = np.stack(np.meshgrid(*[np.arange(parts)] * len(cells), indexing="ij"), -1).reshape(-1, len(cells))
    fine = {i: cut[:, i, None] * parts + which[:, n] for n, i in enumerate(cells)}
    low, high = [], []
    for i in cells:
        b = _finer(space.axes[i], parts).borders
        assert b is not None
        low.append(b[fine[i]])
        high.append(b[fine[i] + 1])
    at = tuple(fine[i] if i in fine else cut[:, i, None] for i in own)
    finer = tuple(_finer(space.axes[i], parts) for i in own)
    inner, outer = (table[at] for table in areas(finer, *placed, SLABS // parts))
    # the boxes of a cell have one size, and a single value has none
    bottom, top = space.shape.heights(low, high)
    with np.errstate(invalid="ignore", divide="ignore"):
        up, out = (outer * top).sum(axis=1), ((1 - outer) * bottom).sum(axis=1)
        down, rest = (inner * bottom).sum(axis=1), ((1 - inner) * top).sum(axis=1)
        upper, lower = np.nan_to_num(up / (up + out), nan=1.0), np.nan_to_num(down / (down + rest), nan=0.0)
    most[tuple(cut.T)], least[tuple(cut.T)] = upper, lower
    return least, most


def _place(axis: Any, x: Any) -> float:
    if axis.places is None:
        raise Misconfigured(
            f"{axis.name} has labels, which have no distances: it is no part of a map",
            hint="Name the attributes the goal is about, like `time within 2`.",
        )
    low, high = axis.ends
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not low <= x <= high:
        raise Misconfigured(f"victim must have a possible value of {axis.name} ({low:g} to {high:g}), found {x!r}")
    return float(x)


def areas(axes: tuple[Axis, ...], at: list[float], radius: float, slabs: int = SLABS) -> tuple[Floats, Floats]:
    """Shares of area within a radius, from below and above.

    Of points both are 0 or 1: a point at the very radius is inside, also when its distance is rounded.
    """
    wide = [i for i, a in enumerate(axes) if a.borders is not None and (np.diff(a.borders) > 0).all()][:2]
    rest = [i for i in range(len(axes)) if i not in wide]
    parts = [1 if axes[i].borders is None else slabs for i in rest]
    near, far = np.zeros([1] * 2 * len(rest)), np.zeros([1] * 2 * len(rest))
    for n, (i, count) in enumerate(zip(rest, parts, strict=True)):
        axis, v = axes[i], at[i]
        assert axis.places is not None
        middle = axis.places[:, None] + axis.half[:, None] * ((np.arange(count) + 0.5) / count * 2 - 1)
        away, half = np.abs(middle - v), axis.half[:, None] / count
        shape = [(axis.size, count)[j % 2] if j // 2 == n else 1 for j in range(2 * len(rest))]
        near = near + (np.maximum(away - half, 0.0) ** 2).reshape(shape)
        far = far + ((away + half) ** 2).reshape(shape)
    limit, points = radius**2, all(a.borders is None for a in axes)
    exact = 1 + 1e-12 if points else 1 - 1e-12
    inner, outer = limit * exact - far, limit * (1 + 1e-12) - near
    own = [Axis(axes[i].name, axes[i].places, (), axes[i].borders) for i in wide]
    inner_axes = tuple(range(1, 2 * len(rest), 2))
    found = []
    for left, above in ((inner, False), (outer, True)):
        share = _rest(own, [at[i] for i in wide], left, above=above)
        found.append(np.asarray(share.mean(axis=inner_axes)))
    order = np.argsort([*rest, *wide])
    return np.transpose(found[0], order), np.transpose(found[1], order)


def _rest(axes: list[Axis], at: list[float], squares: Floats, *, above: bool) -> Floats:
    """Shares within the root of what is left of r², on the last one or two axes; none where that is negative."""
    if not axes:
        return (squares >= 0).astype(float)
    reach = np.sqrt(np.maximum(squares, 0.0))
    if len(axes) == 1:
        b = axes[0].borders
        assert b is not None
        reach = reach[..., None] * (1 + (4e-16 if above else -4e-16))
        low, high = np.maximum(b[:-1], at[0] - reach), np.minimum(b[1:], at[0] + reach)
        return np.where(squares[..., None] >= 0, np.clip((high - low) / np.diff(b), 0.0, 1.0), 0.0)
    found = np.zeros((*squares.shape, *[a.size for a in axes]))
    found[reach > 0] = circle_shares(axes, at, reach[reach > 0])[above]
    return found


def circle_shares(axes: list[Axis], at: list[float], radii: Floats) -> tuple[Floats, Floats]:
    """Shares of area on a plane, by inclusion and exclusion of the quadrants below and left of each corner; a table for
    each of several circles.
    """
    x, y = (a.borders - v for a, v in zip(axes, at, strict=True) if a.borders is not None)
    radius = radii[:, None, None]
    corner = quadrant(radius, x[:, None], y[None, :])
    area = np.diff(np.diff(corner, axis=1), axis=2)
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
