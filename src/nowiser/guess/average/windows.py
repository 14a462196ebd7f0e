"""The heaviest window (interval of length 2r) as Laplace noise shows it, for every output y, and its integral over y.

A window that lies wholly on one side of y only fades by e^{−k·way} when y moves on. So the heaviest of these is a
running maximum, and only windows that hold y, or touch it, have to be summed for it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.number import law
from nowiser.guess.rounding import grain
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

Indices = npt.NDArray[np.intp]

_MAX_CORNERS = 256
_LEAST = 1e-290  # what counts as nothing
_CHUNK = 200_000  # numbers at a time, so that they stay near the processor


@dataclass(frozen=True)
class Laid:
    """A prior as single values (mass w at x) and mass spread evenly between them; window j is [x[j], x[last[j]]]."""

    x: Floats
    w: Floats
    spread: Floats
    last: Indices

    def heaviest(self) -> float:
        """The prior probability of the best window: the best guess without a release."""
        total = np.cumsum(self.w + np.append(0.0, self.spread))
        return min(1.0, float((total[self.last] - total + self.w).max()))


def heaviest(rows: Floats, first: Indices, last: Indices) -> Floats:
    """Of each row of weights, those of the heaviest window, which reaches from `first` to before `last`."""
    total = np.zeros((rows.shape[0], rows.shape[1] + 1))
    np.cumsum(rows, axis=1, out=total[:, 1:])
    return np.asarray((total[:, last] - total[:, first]).max(axis=1))


def on_points(x: Floats, w: Floats, radius: float) -> Laid:
    """A prior of single values; one on the border of a window is in it."""
    last = np.searchsorted(x, x + 2 * radius + 2 * grain(x, radius), side="right") - 1
    return Laid(x, w / w.sum(), np.zeros(x.size - 1), last)


def special(prior: Prior) -> Floats:
    """Where the best window may begin or end whatever the output: single values, and where the density jumps."""
    corners = law.corners(prior)
    # where there are very many, each is a small step, and cells see it well enough
    return np.concatenate([law.atoms(prior)[0], corners if corners.size <= _MAX_CORNERS else corners[[0, -1]]])


def laid_out(prior: Prior, radius: float, per_window: int) -> Laid:
    """A prior with a density in cells, `per_window` to a window of length 2·radius.

    Windows reach from border to border. Cells are cut at special points and a window before and behind each: so no
    window that begins or ends at one is missed, and none loses a value that lies on its border.
    """
    low, high = law.support(prior)
    single, masses = law.atoms(prior)
    near = 1e-12 * radius + 4 * float(np.spacing(max(abs(low), abs(high))))
    width, at = 2 * radius / per_window, special(prior)
    grid = low + width * np.arange(int(np.ceil((high - low) / width)))
    ends = np.concatenate([at, at - 2 * radius, at + 2 * radius, [low, high], grid])
    ends = np.sort(ends[(ends >= low) & (ends <= high)])
    if single.size:  # of borders that differ by rounding only one is kept, and single values are never moved
        beside = np.searchsorted(single, ends)
        left, right = single[(beside - 1).clip(min=0)], single[beside.clip(max=single.size - 1)]
        ends = ends[np.minimum(np.abs(ends - left), np.abs(ends - right)) > near]
    x = np.sort(np.concatenate([single, ends[np.diff(ends, prepend=-np.inf) > near]]))
    w = np.zeros(x.size)
    w[np.searchsorted(x, single)] = masses
    spread = law.spread(prior, x)
    whole = float(w.sum() + spread.sum())
    last = np.searchsorted(x, x + 2 * radius + 2 * near, side="right") - 1
    return Laid(x, w / whole, spread / whole, last)


def averaged(laid: Laid, k: float, nodes: int) -> float:
    """∫ max over windows of Σ w(x)·(k/2)e^{−k|y−x|} dy, from values at so many outputs y per gap between points.

    Sums over everything left of y (and right of it) fade alike, so a window that holds y weighs both sums, less what
    lies before and behind the window.
    """
    x, w, even, last = laid.x, laid.w, laid.spread, laid.last
    wide = np.diff(x)
    steps = np.exp(-k * wide)
    full = even * faded(k * wide)  # what lies between two points, seen from one of them
    left, right = _fading(w, steps, full), _fading(w[::-1], steps[::-1], full[::-1])[::-1]
    before, behind = np.append(0.0, left[:-1] * steps + full), np.append(right[1:] * steps + full, 0.0)
    across = np.exp(-k * (x[last] - x))
    ending = np.zeros(x.size)
    np.maximum.at(ending, last, left[last] - before * across)  # windows, seen from where they end
    passed = _fading(ending, steps, best=True)
    coming = _fading((right - behind[last] * across)[::-1], steps[::-1], best=True)[::-1]
    gaps, share = np.arange(x.size - 1), np.arange(nodes) / nodes
    first = np.searchsorted(last, gaps + 1)  # of the windows that reach over a gap
    most = int((gaps - first).max()) + 1
    values = np.empty((gaps.size, nodes))
    for i in np.array_split(gaps, max(1, gaps.size * nodes * most // _CHUNK)):
        there, back = k * wide[i, None] * share, k * wide[i, None] * (1 - share)
        a, b = np.exp(-there), np.exp(-back)
        here = even[i, None] * (share * faded(there) + (1 - share) * faded(back))
        values[i] = np.maximum(passed[i, None] * a, coming[i + 1, None] * b)
        j = i[:, None] - np.arange(most)
        over = j >= first[i, None]
        j = np.maximum(j, first[i, None].clip(max=x.size - 1))
        lost = (
            before[j] * np.exp(-k * (x[i, None] - x[j])),
            behind[last[j]] * np.exp(-k * (x[last[j]] - x[i + 1, None])),
        )
        for n in range(nodes):
            rest = np.where(over, lost[0] * a[:, n, None] + lost[1] * b[:, n, None], np.inf).min(axis=1, initial=np.inf)
            held = left[i] * a[:, n] + right[i + 1] * b[:, n] + here[:, n] - rest
            values[i, n] = np.maximum(values[i, n], held)
    at = np.append((x[:-1, None] + wide[:, None] * share).ravel(), x[-1])
    return integral(np.append(values.ravel(), passed[-1]), at, k)


def faded(way: Floats) -> Floats:
    """The mean of e^{−z} over z from 0 to `way`."""
    small = way < 1e-8
    return np.asarray(np.where(small, 1.0, -np.expm1(-way) / np.where(small, 1.0, way)))


def _fading(w: Floats, steps: Floats, between: Floats | None = None, *, best: bool = False) -> Floats:
    """The sum (or the largest) of what came so far, each faded by the steps since; `between` comes on the way."""
    found, now = np.empty(w.size), 0.0
    on_the_way = [0.0] * w.size if between is None else [0.0, *between.tolist()]
    for i, (weight, step, more) in enumerate(zip(w.tolist(), [0.0, *steps.tolist()], on_the_way, strict=True)):
        now = max(weight, now * step) if best else weight + now * step + more
        found[i] = now
    return found


def integral(values: Floats, at: Floats, k: float) -> float:
    """The integral by the logarithmic mean, exact for exponentials; beyond the nodes it falls with k."""
    a, b, h = values[:-1], values[1:], np.diff(at)
    lost = (a < _LEAST) | (b < _LEAST)
    ratio = np.log(np.where(lost, 1.0, b)) - np.log(np.where(lost, 1.0, a))
    mean = np.where(np.abs(ratio) < 1e-6, (a + b) / 2, (b - a) / np.where(ratio == 0, 1.0, ratio))
    mean = np.where(lost, np.maximum(a, b) / (k * h), mean)
    return float(k / 2 * (mean * h).sum() + (values[0] + values[-1]) / 2)
