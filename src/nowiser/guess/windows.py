"""The heaviest window (interval of length 2r) as Laplace noise shows it, for every output y, and its integral over y.

A window that lies wholly on one side of y only fades by e^{−k·way} when y moves on. So the heaviest of these is a
running maximum, and only windows that hold y, or touch it, have to be summed for it.
"""

import numpy as np

from nowiser.guess.ranges import Indices
from nowiser.model.priors.base import Floats

_CHUNK = 200_000  # numbers at a time, so that they stay near the processor


def on_cells(w: Floats, span: float, fall: float) -> Floats:
    """Σ w(x)·e^{−k|y−x|} over the heaviest window, for every edge y between cells; windows begin or end at an edge.

    `span` is the length of a window and `fall` is k, both counted in cells; mass is spread evenly inside a cell.
    """
    whole, share = int(span), span - int(span)
    reach = whole + 1
    half = fall / 2
    # seen from an edge, a cell of constant density weighs as its centre times sinh(kh)/kh
    swell = np.sinh(half) / half if half > 1e-4 else 1.0
    fade = swell * np.exp(-fall * np.abs(np.arange(2 * reach) - reach + 0.5))
    bands = np.lib.stride_tricks.sliding_window_view(np.pad(w, reach), 2 * reach)
    holding, left, right = np.empty((3, w.size + 1))
    for rows in np.array_split(np.arange(w.size + 1), max(1, bands.size // _CHUNK)):
        total = _summed(bands[rows] * fade)
        begins = total[:, whole : whole + reach + 1] * (1 - share) - total[:, : reach + 1]
        begins += total[:, whole + 1 : whole + reach + 2] * share
        ends = total[:, reach:] - total[:, 1 : reach + 2] * (1 - share)
        ends -= total[:, : reach + 1] * share
        holding[rows] = np.maximum(begins.max(axis=1), ends.max(axis=1))
        left[rows], right[rows] = np.maximum(begins[:, 0], ends[:, 0]), np.maximum(begins[:, -1], ends[:, -1])
    way = fall * np.arange(w.size + 1)
    with np.errstate(divide="ignore"):
        passed = np.exp(np.maximum.accumulate(np.log(left) + way) - way)
        coming = np.exp(np.maximum.accumulate((np.log(right) - way)[::-1])[::-1] + way)
    best: Floats = np.maximum(holding, np.maximum(passed, coming))
    return best


def heaviest(w: Floats, span: float) -> float:
    """The same without noise: the mass of the heaviest window of `span` cells that begins or ends at an edge."""
    whole, share = int(span), span - int(span)
    total = np.cumsum(np.pad(w, (whole + 2, whole + 1)))
    n = total.size - whole - 1
    begins = total[whole:-1] * (1 - share) + total[whole + 1 :] * share - total[:n]
    ends = total[whole + 1 :] - total[1 : n + 1] * (1 - share) - total[:n] * share
    return float(max(begins.max(), ends.max()))


def on_points(x: Floats, w: Floats, last: Indices, k: float, nodes: int) -> float:
    """∫ max over windows of Σ w(x)·(k/2)e^{−k|y−x|} dy for points x; the window that begins at x[j] ends at x[last[j]].

    Sums over everything left of y (and right of it) fade alike, so a window that holds y weighs both sums, less what
    lies before and behind the window.
    """
    steps = np.exp(-k * np.diff(x))
    left, right = _fading(w, steps), _fading(w[::-1], steps[::-1])[::-1]
    before, behind = np.append(0.0, left[:-1] * steps), np.append(right[1:] * steps, 0.0)
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
        wide = x[i + 1] - x[i]
        a, b = np.exp(-k * wide[:, None] * share), np.exp(-k * wide[:, None] * (1 - share))
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
            values[i, n] = np.maximum(values[i, n], left[i] * a[:, n] + right[i + 1] * b[:, n] - rest)
    at = np.append((x[:-1, None] + np.diff(x)[:, None] * share).ravel(), x[-1])
    return integral(np.append(values.ravel(), passed[-1]), at, k)


def _fading(w: Floats, steps: Floats, *, best: bool = False) -> Floats:
    """The sum (or the largest) of what came so far, each faded by the steps since."""
    found, now = np.empty(w.size), 0.0
    for i, (weight, step) in enumerate(zip(w.tolist(), [0.0, *steps.tolist()], strict=True)):
        now = max(weight, now * step) if best else weight + now * step
        found[i] = now
    return found


def integral(values: Floats, at: Floats, k: float) -> float:
    """The integral from the values at nodes: between them the logarithm bends little, and the logarithmic mean
    integrates an exponential exactly; beyond them it falls with k.
    """
    a, b, h = values[:-1], values[1:], np.diff(at)
    ratio = np.log(b / a)
    mean = np.where(np.abs(ratio) < 1e-6, (a + b) / 2, (b - a) / np.where(ratio == 0, 1.0, ratio))
    return float(k / 2 * (mean * h).sum() + (values[0] + values[-1]) / 2)


def _summed(weight: Floats) -> Floats:
    total = np.zeros((weight.shape[0], weight.shape[1] + 1))
    np.cumsum(weight, axis=1, out=total[:, 1:])
    return total
