"""Choosing an event: a set of outputs that one input makes likelier than the claim allows.

Every column of the outputs is cut into classes by one half of the known runs; the classes are ordered by how much
likelier they are on the first input, and the other half says which of the first classes together earn most in a bet.
Several numbers are also weighed together: a logistic regression of which input an output came from.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nowiser.verify.auditor.betting import growths
from nowiser.verify.auditor.claims import Claim
from nowiser.verify.auditor.outputs import Outputs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CLASSES = 40  # of a column of numbers
KNOWN = 200  # categories of a column of labels; rarer ones are one class
RIDGE = 1e-2
CARE = 1.0  # standard errors
FAVOUR = 0.9  # a list of texts must promise so much more than an interval
ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Classes:
    """A column as classes: which class each output is in, and some classes in words."""

    name: str
    of: Callable[[Outputs], Ints]
    count: int
    words: Callable[[Sequence[int]], str]
    label: Callable[[int], str]  # of one class, without the name of the column
    plain: bool = False  # numbers: an interval is easier to read than a list of texts


@dataclass(frozen=True, eq=False)
class Event:
    """A set of outputs. `swapped`: it is likelier on the second input."""

    classes: Classes
    inside: NDArray[np.bool_]  # per class
    swapped: bool
    p: float  # estimated on the input it is likelier on
    q: float
    growth: float

    def holds(self, seen: Outputs) -> NDArray[np.bool_]:
        return self.inside[self.classes.of(seen)]

    def __str__(self) -> str:
        return self.classes.words([int(i) for i in np.flatnonzero(self.inside)])


def best_event(first: Outputs, second: Outputs, claim: Claim) -> Event:
    """The event that promises most in a bet against the claim; where none does, against ever stricter claims."""
    half = len(first) // 2
    fit, judge = slice(None, half), slice(half, None)
    counted = [
        (classes, _counts(classes, first, second, fit), _counts(classes, first, second, judge))
        for classes in _columns(first.take(fit), second.take(fit))
    ]
    for _ in range(12):
        found = [event for each in counted for event in _events(*each, claim)]
        best = max(found, key=lambda event: event.growth * (1 if event.classes.plain else FAVOUR))
        if best.growth > 0:
            break
        claim = claim.at(claim.level / 2)
    return best


def _counts(classes: Classes, first: Outputs, second: Outputs, part: slice) -> tuple[Floats, Floats]:
    n = classes.count
    a, b = (np.bincount(classes.of(side.take(part)), minlength=n).astype(np.float64) for side in (first, second))
    return a, b


def _events(classes: Classes, fit: tuple[Floats, Floats], seen: tuple[Floats, Floats], claim: Claim) -> Iterator[Event]:
    """For each direction the best union of classes that are likeliest there. The last class is that of the unknown."""
    for swapped in (False, True):
        likely, other = reversed(fit) if swapped else fit
        up, down = reversed(seen) if swapped else seen
        order = np.argsort(-((likely + 0.5) / (other + 0.5)), kind="stable")
        order = order[(likely + other)[order] > 0]
        if not len(order):
            continue
        p = _careful(np.cumsum(up[order]), up.sum(), -1)
        q = _careful(np.cumsum(down[order]), down.sum(), 1)
        _, growth = growths(p, q, *claim.line(q))
        best = int(growth.argmax())
        inside = np.zeros(classes.count, dtype=bool)
        inside[order[: best + 1]] = True
        yield Event(classes, inside, swapped, float(p[best]), float(q[best]), float(growth[best]))


def _careful(happened: Floats, of: float, sign: int) -> Floats:
    """A rate moved against us by a part of its standard error: of many events the luckiest looks better than it is."""
    share = (happened + 0.5) / (of + 1)
    moved: Floats = share + sign * CARE * np.sqrt(share * (1 - share) / of)
    return np.clip(moved, 0.25 / (of + 1), 1 - 0.25 / (of + 1))


def _columns(first: Outputs, second: Outputs) -> Iterator[Classes]:
    for name in first.labels:
        if name in second.labels:
            yield _labelled(name, np.concatenate([first.labels[name], second.labels[name]]))
    shared = [name for name in first.numbers if name in second.numbers]
    for name in shared:
        together = np.concatenate([first.numbers[name], second.numbers[name]])
        yield _cut("the output" if len(shared) == 1 else name, together, partial(_column, name=name))
    alone = [name for name in shared if " - " not in name]
    if len(alone) > 1:
        yield _weighed(alone, first, second)


def _column(seen: Outputs, name: str) -> Floats:
    return seen.numbers.get(name, np.full(len(seen), np.nan))


def _labelled(name: str, values: NDArray[np.object_]) -> Classes:
    kinds, often = np.unique(values.astype(str), return_counts=True)
    kept = sorted(kinds[np.argsort(-often, kind="stable")][:KNOWN])
    place = {kind: i for i, kind in enumerate(kept)}

    def of(seen: Outputs) -> Ints:
        column = seen.labels.get(name)
        if column is None:
            return np.full(len(seen), len(kept), dtype=np.int64)
        return np.array([place.get(str(value), len(kept)) for value in column], dtype=np.int64)

    def label(i: int) -> str:
        return kept[i] if i < len(kept) else "anything else"

    def words(chosen: Sequence[int]) -> str:
        names = [label(i) for i in chosen]
        if len(names) > 6:
            names = [*names[:5], f"… ({len(names) - 5} more)"]
        return f"{name} is {' or '.join(names)}"

    return Classes(name, of, len(kept) + 1, words, label)


def _cut(name: str, values: Floats, column: Callable[[Outputs], Floats]) -> Classes:
    """Classes between quantiles of both inputs' runs; single values that are frequent are classes of their own."""
    known = np.sort(values[~np.isnan(values)])
    kinds, often = np.unique(known, return_counts=True)
    if len(kinds) <= CLASSES:
        ends = (kinds[:-1] + kinds[1:]) / 2 if len(kinds) else kinds
    else:
        ends = np.unique(known[np.linspace(0, len(known) - 1, CLASSES + 1).astype(int)[1:-1]])
        heavy = kinds[often > len(known) / CLASSES]
        ends = np.unique(np.concatenate([ends, heavy, np.nextafter(heavy, -np.inf)]))

    def of(seen: Outputs) -> Ints:
        found = column(seen)
        return np.where(np.isnan(found), len(ends) + 1, np.searchsorted(ends, found, side="left")).astype(np.int64)

    def words(chosen: Sequence[int]) -> str:
        return _intervals(name, ends, chosen)

    def label(i: int) -> str:
        if i > len(ends):
            return "missing"
        low = f"{ends[i - 1]:.4g} – " if i else "up to "
        return f"{low}{ends[i]:.4g}" if i < len(ends) else f"above {ends[-1]:.4g}" if len(ends) else "any"

    return Classes(name, of, len(ends) + 2, words, label, plain=True)


def _intervals(name: str, ends: Floats, chosen: Sequence[int]) -> str:
    parts: list[str] = []
    spans: list[list[int]] = []
    for i in chosen:
        if i == len(ends) + 1:
            parts.append(f"{name} is missing")
        elif spans and spans[-1][1] == i - 1:
            spans[-1][1] = i
        else:
            spans.append([i, i])
    for low, high in spans:
        under = "" if low == 0 else f"{ends[low - 1]:.6g} < "
        over = "" if high == len(ends) else f" <= {ends[high]:.6g}"
        parts.append(f"{under}{name}{over}" if under or over else f"{name} is a number")
    if len(parts) > 4:
        parts = [*parts[:3], f"… ({len(parts) - 3} more intervals)"]
    return " or ".join(parts)


def _weighed(names: Sequence[str], first: Outputs, second: Outputs) -> Classes:
    """One score of several numbers: the linear one that tells the inputs apart best."""

    def table(seen: Outputs) -> Floats:
        return np.column_stack([_column(seen, name) for name in names])

    x = np.vstack([table(first), table(second)])
    x = np.where(np.isfinite(x), x, np.nan)
    some = ~np.isnan(x).all(axis=0)
    middle = np.where(some, np.nanmedian(np.where(some, x, 0.0), axis=0), 0.0)
    spread = np.nanmean(np.abs(np.where(some, x, 0.0) - middle), axis=0) + 1e-300

    def scaled(seen: Outputs) -> Floats:
        found = (table(seen) - middle) / spread
        return np.clip(np.where(np.isfinite(found), found, 0.0), -50, 50)

    z = np.vstack([scaled(first), scaled(second)])
    weights = _logistic(z, np.repeat([1.0, 0.0], [len(first), len(second)]))

    def score(seen: Outputs) -> Floats:
        found: Floats = scaled(seen) @ weights
        return found

    shown = " ".join(f"{w / s:+.3g}·{n}" for w, s, n in zip(weights, spread, names, strict=True) if abs(w) > 1e-9)
    return _cut(f"({shown})", z @ weights, score)


def _logistic(x: Floats, y: Floats) -> Floats:
    """Ridge logistic regression by Newton's steps; the intercept does not change the order and is left out."""
    weights = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (y - p) - RIDGE * len(x) * weights
        curve = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(curve, slope)
    return weights
