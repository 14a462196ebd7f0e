"""Where words stand in a picture: near what they name, and on nothing that is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Any

import numpy as np

from nowiser.model.priors.base import Floats

LETTER, LINE = 7.4, 15.0  # width and height of bold text of 12 pixels, rather more than less
_APART = 3.0  # pixels between words and lines
_FORBIDDEN = 1e4  # pixels of distance that a clash is worth

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float


@dataclass
class Canvas:
    """A picture of so many pixels, counted from its upper left corner, and what is already in it."""

    width: int
    height: int
    _lines: list[tuple[Floats, Floats]] = field(default_factory=list)
    _boxes: list[Box] = field(default_factory=list)

    def line(self, x: Floats, y: Floats) -> None:
        """A line through the points, from left to right: from where to where it reaches in each column of pixels."""
        columns = np.arange(self.width + 1.0)
        among = (columns >= x[0]) & (columns <= x[-1])
        xs = np.concatenate([x, columns[among], columns[among] - 1e-6])
        ys = np.concatenate([y, *[np.interp(columns[among], x, y)] * 2])
        at = np.clip(np.floor(xs), 0, self.width - 1).astype(int)
        top, bottom = np.full(self.width, np.inf), np.full(self.width, -np.inf)
        np.minimum.at(top, at, ys)
        np.maximum.at(bottom, at, ys)
        self._lines.append((top, bottom))

    def box(self, box: Box) -> None:
        self._boxes.append(box)

    def put(self, text: str, anchors: Sequence[Point], wish: Point, away: float = 0.0) -> Point:
        """Middle of the left end of a text beside one of the anchors, as near to the wish as nothing is in the way.

        away: how far a mark reaches from its anchor, in pixels.
        """
        wide = LETTER * len(text)
        found: tuple[float, Box] | None = None
        for x, y in anchors:
            far = hypot(x - wish[0], y - wish[1])
            if found is not None and far >= found[0]:
                continue
            for dislike, box in _around(x, y, wide, away):
                cost = far + dislike + _FORBIDDEN * self._clashes(box)
                if found is None or cost < found[0]:
                    found = cost, box
        assert found is not None, "there is always something to put words at"
        self._boxes.append(found[1])
        return found[1].left, (found[1].top + found[1].bottom) / 2

    def _clashes(self, box: Box) -> float:
        """In how many columns the words would stand on something, or outside."""
        outside = max(0.0, -box.left) + max(0.0, box.right - self.width)
        outside += max(0.0, -box.top) + max(0.0, box.bottom - self.height)
        first, last = max(0, int(box.left - _APART)), min(self.width, int(box.right + _APART) + 1)
        hit = sum(
            int(((top[first:last] < box.bottom + _APART) & (bottom[first:last] > box.top - _APART)).sum())
            for top, bottom in self._lines
        )
        for other in self._boxes:
            apart = other.right < box.left or box.right < other.left or other.bottom < box.top or box.bottom < other.top
            hit += 0 if apart else 20
        return hit + outside


def _around(x: float, y: float, wide: float, away: float) -> list[tuple[float, Box]]:
    """Where words can stand beside a point, the best first."""
    up, down, beside = y - 5 - away - LINE, y + 5 + away, y - LINE / 2
    lefts: tuple[tuple[float, float, float], ...] = (
        (0.0, x + 8 + away, beside),
        (0.0, x - 8 - away - wide, beside),
        (4.0, x - wide / 2, up),
        (6.0, x, up),
        (6.0, x - wide, up),
        (30.0, x - wide / 2, down),
        (30.0, x, down),
        (30.0, x - wide, down),
    )
    return [(dislike, Box(left, top, left + wide, top + LINE)) for dislike, left, top in lefts]


def pixels(rows: Sequence[dict[str, Any]], key: str, ends: Point, top: float, canvas: Canvas) -> tuple[Floats, Floats]:
    """Rows of values as points of the picture."""
    x = np.array([r["x"] for r in rows])
    y = np.array([r[key] for r in rows])
    return (x - ends[0]) / (ends[1] - ends[0]) * canvas.width, (1 - y / top) * canvas.height
