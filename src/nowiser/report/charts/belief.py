"""What an attacker believes about a number, before and after the worst output: the values that are drawn.

The picture shows all the prior, unless the belief after lies in a small part of it: then that part.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from nowiser.guess.number import law
from nowiser.model.advantage import Advantage
from nowiser.model.priors.base import Floats
from nowiser.noise.boundary import last_inside
from nowiser.report.charts.pointwise import cells, log_likelihood, right, unbounded

BAR = 0.012  # width of the bar of a single value beside a density, as a share of the picture
OFF = 0.02  # by how much what is drawn may differ from what is said
SMALL = 0.1  # share of the whole range below which a part of it is enlarged
TAIL = 1e-3  # what may lie beyond the picture on each side
BINS = 48  # of many single values
_BESIDE = np.geomspace(1e-5, 0.3, 40)  # distances from places where a curve bends, as shares of the picture
_NEAR = np.geomspace(1e-13, 1.0, 300)  # ditto, as shares of all there is

Row = dict[str, float]
Range = tuple[float, float]


@dataclass(frozen=True)
class Believed:
    """What is drawn from `low` to `high`: densities, bars of single values, the goal.

    whole: where the prior lies (nearly all of it, unless it is `bounded`), if only a part of it is shown.
    """

    low: float
    high: float
    rows: list[Row]
    bars: list[Row]
    zones: list[Row]
    whole: Range | None = None
    bounded: bool = True

    @property
    def labelled(self) -> list[Row]:
        """Where before and after are written: at the bars of a goal of single values, else at the curves."""
        wide = BAR * (self.high - self.low) * 1.01
        everywhere = [*self.rows, *self.bars]
        if not self.zones or any(z["x2"] - z["x"] > wide for z in self.zones):
            return everywhere
        return [b for b in self.bars if any(z["x"] <= b["x"] <= z["x2"] for z in self.zones)] or everywhere


@dataclass(frozen=True)
class _Masses:
    """The whole prior in cells, and its single values: masses before and after, and the factor between densities."""

    at: Floats
    before: Floats
    after: Floats
    shift: float  # of the logarithm of the likelihood, so that the masses after add up to one

    def updated(self, witness: Any, x: Floats, before: Floats) -> Floats:
        """Densities or masses after, from those before."""
        log = np.where(before > 0, log_likelihood(witness, x) - self.shift, -np.inf)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond what a float holds: not drawn
            return np.asarray(before * np.exp(log), dtype=np.float64)


def believed(advantage: Advantage, prior: Any) -> Believed | None:
    """None where the picture would not show what is said."""
    witness = advantage.witness
    found = _masses(prior, witness)
    if found is None:
        return None
    if witness.kind == "programme" and abs(found.after[right(witness, found.at)].sum() - advantage.after) > OFF:
        return None  # what attains it lies beyond what is known of the mechanism
    low, high, whole = _window(found, prior, witness)
    wide = high - low
    ends = law.support(prior) if law.bounded(prior) else (-np.inf, np.inf)
    zones = _zones(witness, max(low, ends[0]), min(high, ends[1]), BAR * wide)
    edges = _drawn_edges(prior, witness, low, high)
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    kept = width > 1e-6 * wide
    middle, width, before = middle[kept], width[kept], (cells(prior, edges) / width)[kept]
    after = found.updated(witness, middle, before)
    single, mass = law.atoms(prior)
    seen = (single >= low) & (single <= high)
    single, mass = single[seen], mass[seen]
    told = found.updated(witness, single, mass)
    if not abs((after * width).sum() + told.sum() - 1) < OFF:
        return None  # in several places, too narrow and too far apart for one picture
    rows = [
        {"x": float(x), "before": float(b), "after": float(a)} for x, b, a in zip(middle, before, after, strict=True)
    ]
    bars = [  # with the area of their probability
        {"x": float(x), "left": float(x - BAR * wide / 2), "right": float(x + BAR * wide / 2)}
        | {"before": float(b / (BAR * wide)), "after": float(a / (BAR * wide))}
        for x, b, a in zip(single, mass, told, strict=True)
    ]
    return Believed(low, high, rows, bars, zones, whole, law.bounded(prior))


def part_of(witness: Any, values: Floats, masses: Floats, after: Floats) -> tuple[float, float, Range | None]:
    """From where to where single values are drawn, and where nearly all of them lie if that is only a part."""
    return _part(_Masses(values, masses, after, 0.0), _holding(values, masses), witness)


def binned(witness: Any, values: Floats, masses: Floats, after: Floats) -> Believed:
    """Many single values as densities that are level within bins; no bin is partly right."""
    low, high, whole = part_of(witness, values, masses, after)
    gaps = np.diff(values)
    halves = np.concatenate([[values[0] - gaps[0] / 2], values[:-1] + gaps / 2, [values[-1] + gaps[-1] / 2]])
    good = right(witness, values)
    turns = halves[1:-1][good[1:] != good[:-1]]  # between a value that is right and one that is not
    wanted = np.concatenate([np.linspace(low, high, BINS + 1), turns[(turns > low) & (turns < high)]])
    at = np.clip(np.searchsorted(halves, wanted), 1, halves.size - 1)
    at = np.unique(np.where(halves[at] - wanted < wanted - halves[at - 1], at, at - 1))
    edges, sums = halves[at], [np.add.reduceat(m, at[:-1]) for m in (masses, after)]
    for total, all_of_it in zip(sums, (masses, after), strict=True):
        total[-1] -= all_of_it[at[-1] :].sum()  # the last bin ends where the picture does
    step = 1e-7 * (high - low)
    rows = [
        {"x": float(x), "before": float(b / (end - left)), "after": float(a / (end - left))}
        for (left, end), b, a in zip(pairwise(edges), *sums, strict=True)
        for x in (left + step, end - step)
    ]
    zones = [
        {"x": float(max(l, edges[0])), "x2": float(min(u, edges[-1]))}
        for l, u in pairwise([halves[0], *turns, halves[-1]])
        if good[(values > l) & (values < u)].any() and max(l, edges[0]) < min(u, edges[-1])
    ]
    complete = whole is None or whole == (float(values[0]), float(values[-1]))
    return Believed(float(edges[0]), float(edges[-1]), rows, [], zones, whole, complete)


def _masses(prior: Any, witness: Any) -> _Masses | None:
    """Cells that are narrow wherever the likelihood or the density bends, however wide the prior is."""
    low, high = law.support(prior)
    bends = [*_ends(witness), *([] if witness.peak is None else [float(witness.peak)])]
    if not law.bounded(prior):  # the victim may be farther out than all but a trillionth
        low, high = (
            min([low, *(b - (high - low) / 10 for b in bends)]),
            max([high, *(b + (high - low) / 10 for b in bends)]),
        )
    wide = high - low
    around = [b + side * wide * _NEAR for b in (*bends, low, high, _median(prior, low, high)) for side in (-1, 1)]
    edges = np.unique(np.concatenate([np.linspace(low, high, 4001), bends, law.corners(prior), *around]))
    edges = edges[(edges >= low) & (edges <= high)]
    single, mass = law.atoms(prior)
    at, before = np.concatenate([(edges[:-1] + edges[1:]) / 2, single]), np.concatenate([cells(prior, edges), mass])
    order = np.argsort(at, kind="stable")
    at, before = at[order], before[order]
    some = before > 0
    if not some.any():
        return None
    log = log_likelihood(witness, at)
    with np.errstate(divide="ignore"):
        top = float((np.log(before) + log)[some].max())
        after = np.where(some, np.exp(np.log(before) + log - top), 0.0)
    whole = float(after.sum())
    if not (np.isfinite(whole) and whole > 0):
        return None
    return _Masses(at, before, after / whole, top + float(np.log(whole)))


def _median(prior: Any, low: float, high: float) -> float:
    """Heavy tails reach so far that nothing is seen of the middle unless it is looked for."""
    return last_inside(lambda x: float(law.cdf(prior, x)) >= 0.5, high, low, steps=100)


def _window(found: _Masses, prior: Any, witness: Any) -> tuple[float, float, Range | None]:
    """From where to where, and the whole if that is only a part."""
    if law.bounded(prior):
        return _part(found, law.support(prior), witness)
    return _part(found, _holding(found.at, found.before), witness)


def _part(found: _Masses, whole: Range, witness: Any) -> tuple[float, float, Range | None]:
    core = _holding(found.at, found.after)
    everything = min(whole[0], core[0]), max(whole[1], core[1])
    wide = everything[1] - everything[0]
    goal = [] if witness.outside else [e for e in _ends(witness) if everything[0] <= e <= everything[1]]
    both = min([*core, *goal]), max([*core, *goal])
    if both[1] - both[0] <= 5 * (core[1] - core[0]) or not core[1] > core[0]:
        core = both
    size = core[1] - core[0]
    if not 1e-12 * wide < size < SMALL * wide:
        pad = 0.04 * wide if everything == whole else 0.0
        return everything[0] - pad, everything[1] + pad, None
    edge = 0.02 * size  # room to see that nothing lies beyond
    return max(core[0] - size / 2, everything[0] - edge), min(core[1] + size / 2, everything[1] + edge), whole


def _holding(at: Floats, mass: Floats) -> Range:
    """The range that holds all but the tails."""
    below = np.cumsum(mass) / mass.sum()
    first = int(np.searchsorted(below, TAIL))
    last = int(np.searchsorted(below, 1 - TAIL))
    return float(at[first]), float(at[min(last, at.size - 1)])


def _ends(witness: Any) -> list[float]:
    """Where right guesses begin and end."""
    return [float(e) for part in witness.inside for e in (part if isinstance(part, tuple) else (part,))]


def _zones(witness: Any, low: float, high: float, bar: float) -> list[Row]:
    """The goal within the picture; a single value is as wide as its bar."""
    goal = sorted(part if isinstance(part, tuple) else (part, part) for part in witness.inside)
    goal = [(l, u) if l < u else (l - bar / 2, u + bar / 2) for l, u in goal]
    if witness.outside:  # everything but
        ends = [-np.inf, *(e for pair in goal for e in pair), np.inf]
        goal = list(zip(ends[::2], ends[1::2], strict=True))
    return [{"x": float(max(low, l)), "x2": float(min(high, u))} for l, u in goal if max(low, l) < min(high, u)]


def _drawn_edges(prior: Any, witness: Any, low: float, high: float) -> Floats:
    """Borders of the cells that are drawn: even ones, close ones around the peak, and steps where something jumps."""
    wide = high - low
    corners = np.concatenate([law.corners(prior), law.support(prior)])[:400]
    close = np.array(_ends(witness))
    peak = np.array([] if witness.peak is None else [float(witness.peak)])
    if unbounded(prior):  # nearer its corners it may be higher than any picture
        peak = peak[~np.isin(peak, corners)]
    else:
        close = np.concatenate([close, corners])
    steps = [close + side * wide * 1e-4 for side in (-1, 1)]
    steps += [jumps + side * wide * 1e-9 for jumps in (close, corners) for side in (-1, 1)]
    near = [at + side * wide * _BESIDE for at in peak for side in (-1, 1)]
    edges = np.unique(np.concatenate([np.linspace(low, high, 401), *steps, peak, *near]))
    return edges[(edges >= low) & (edges <= high)]
