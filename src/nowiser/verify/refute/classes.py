"""The outputs on both inputs as classes, for the picture of a refutation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.verify.refute.computed import Chances
from nowiser.verify.refute.simulate import Runs
from nowiser.verify.verdict import Class, Event

BINS, MOST = 24, 24
REST = "other outputs"


def of_runs(event: Event, first: Runs, second: Runs) -> tuple[Class, ...]:
    """Without limits: one class for each shape. With limits: bins of the first limited number."""
    if not event.limits:
        return _of_shares(event, *({s: len(rows) / r.count for s, rows in r.shapes.items()} for r in (first, second)))
    place, low, high = event.limits[0]
    columns = [i for i, v in enumerate(event.shape) if v is None]
    inside = [_column(r, event, columns, place) for r in (first, second)]
    both = np.concatenate(inside)
    span = np.quantile(both, [0.005, 0.995]) if len(both) else np.array([0.0, 1.0])
    edges = np.linspace(span[0], span[1], BINS)
    limits = [x for x in (low, high) if x is not None]
    edges = np.unique(np.concatenate([edges[np.all([np.abs(edges - x) > 1e-9 for x in limits], axis=0)], limits]))
    counts = [np.bincount(np.searchsorted(edges, values, "right"), minlength=len(edges) + 1) for values in inside]
    found = []
    for i in range(len(edges) + 1):
        left = -np.inf if i == 0 else edges[i - 1]
        right = np.inf if i == len(edges) else edges[i]
        a, b = counts[0][i] / first.count, counts[1][i] / second.count
        within = (low is None or left >= low) and (high is None or right <= high)
        found.append(Class(_label(float(left), float(right)), float(a), float(b), bool(within)))
    others = [1 - len(values) / r.count for values, r in zip(inside, (first, second), strict=True)]
    return (*found, *([Class(REST, others[0], others[1], False)] if max(others) > 0 else []))


def of_chances(event: Event, first: Chances, second: Chances) -> tuple[Class, ...]:
    return _of_shares(event, *({k: float(v) for k, v in c.items()} for c in (first, second)))


def _of_shares(event: Event, first: Any, second: Any) -> tuple[Class, ...]:
    shapes: Sequence[Any] = sorted({*first, *second}, key=lambda s: -max(first.get(s, 0), second.get(s, 0)))
    shown = [s for s in shapes if s in set(shapes[:MOST]) or s == event.shape]
    found = [
        Class(Event(s).text.removeprefix("output = "), first.get(s, 0.0), second.get(s, 0.0), s == event.shape)
        for s in shown
    ]
    rest = [sum(v for s, v in side.items() if s not in shown) for side in (first, second)]
    return (*found, *([Class(REST, rest[0], rest[1], False)] if max(rest) > 0 else []))


def _column(runs: Runs, event: Event, columns: list[int], place: int) -> NDArray[np.float64]:
    """The first limited number, in runs of the event's shape that keep its other limits."""
    rows = runs.shapes.get(event.shape, np.zeros((0, len(columns))))
    keep = np.ones(len(rows), dtype=bool)
    for other, low, high in event.limits[1:]:
        values = rows[:, columns.index(other)]
        keep &= (values >= (-np.inf if low is None else low)) & (values <= (np.inf if high is None else high))
    found: NDArray[np.float64] = rows[keep, columns.index(place)]
    return found


def _label(left: float, right: float) -> str:
    if np.isinf(left):
        return f"below {right:.3g}"
    return f"above {left:.3g}" if np.isinf(right) else f"{left:.3g} … {right:.3g}"
