"""Attackers who do not know all the others, who then hide the victim.

For independent records the ceiling still holds (a mixture of allowed likelihoods is allowed); the figure here is what
is left of it for one concrete release, a sum or a count with Laplace noise: a computation, not a promise.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.ask import guess
from nowiser.guess.average.windows import heaviest
from nowiser.guess.beside.published import probability
from nowiser.guess.correlated.revealed import whole, worst_output
from nowiser.guess.number import law
from nowiser.model.advantage import points
from nowiser.model.checks import number
from nowiser.model.goal import Goal, On, Within, parse_goal
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

_LATTICE = 1 << 17  # cells of the law of the sum
_SHOWN = 1e-10  # mass of a goal that the lattice gets right


@dataclass(frozen=True)
class KnowsLess:
    """What an attacker reaches who knows less than everybody else's record, beside the ceiling for one who knows it."""

    unknown: int  # people whose records he does not know, besides the victim
    before: float
    after: float  # worst over all outputs
    ceiling: float
    victim: Any
    release: str  # the release the figure is about
    blind: float | None = None  # best guess without the release, averaged over victims
    average: float | None = None  # the same with the release, averaged over outputs too

    @property
    def gain(self) -> float:
        return self.after - self.before

    def __str__(self) -> str:
        text = (
            f"An attacker who does not know {self.unknown} of the others goes from {points(self.before)} to at most "
            f"{points(self.after, up=True)} after {self.release}; one who knows everyone else to at most "
            f"{points(self.ceiling, up=True)}."
        )
        if self.average is not None:
            blind = points(self.blind or 0.0)
            text += f" On average over all people and answers he goes from {blind} to {points(self.average)}."
        return text

    def to_json(self) -> dict[str, Any]:
        names = ("unknown", "before", "after", "gain", "ceiling", "blind", "average", "release")
        return {name: getattr(self, name) for name in names}


def knowing(
    prior: Prior,
    goal: Goal | str,
    *,
    unknown: int,
    slope: float = 0.0,
    jump: float = 0.0,
    victim: Any = None,
    others: Prior | None = None,
) -> KnowsLess:
    """The attacker knows all records but the victim's and `unknown` more, which follow `others` (default: `prior`).

    With a slope the release is a SUM with Laplace noise of scale r/slope; with a jump it is the COUNT of people who
    satisfy the goal with noise of scale 1/jump. Records are independent. Figures are accurate to about 1e-4 for
    densities and exact for counts. The worst output may be a very unlikely one, far beyond all possible sums, where the
    crowd hides nobody; so for sums the average over outputs stands beside it.
    """
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    wanted = wanted.goal if isinstance(wanted, On) else wanted
    unknown = whole("unknown", unknown, 0, 10_000)
    for name, one in (("prior", prior), ("others", prior if others is None else others)):
        if not isinstance(one, Prior):
            raise Misconfigured(f"{name} must be the prior of one attribute; found {one!r}")
    slope, jump = number("slope", slope, low=0.0), number("jump", jump, low=0.0)
    if (slope > 0) == (jump > 0):
        raise Misconfigured("give either slope (a sum is released) or jump (a count is released), not both or none")
    top = guess(prior, wanted, slope=slope, jump=jump, victim=victim)
    who = top.victim if victim is None else victim
    if jump > 0:
        share = top.before
        crowd = share if others is None else probability(others, wanted, who)
        after, blind, average = _count(share, crowd, unknown, jump), None, None
        what = f"a noisy count (scale {1 / jump:.4g}) of those who satisfy the goal"
    else:
        if not isinstance(wanted, Within) or prior.kind != "line":
            raise Misconfigured(f"slope needs a goal `within r` on a number; found {wanted}")
        after, blind, average = _sum(prior, wanted, float(who), slope, (others or prior, unknown))
        what = f"a noisy sum (scale {wanted.radius / slope:.4g})"
    after = min(top.after, max(top.before, after))
    return KnowsLess(unknown, top.before, after, top.after, who, what, blind, average)


def _count(share: float, crowd: float, unknown: int, jump: float) -> float:
    """Exact: the count is the victim's bit plus a binomial."""
    from scipy.stats import binom

    law_of_others = binom.pmf(np.arange(unknown + 1), unknown, crowd)
    answers = np.append(np.arange(unknown + 1), np.arange(unknown + 1) + 1)
    weights = np.append((1 - share) * law_of_others, share * law_of_others)
    weights[weights < 1e-300] = 0.0
    return worst_output(answers, weights, np.arange(2 * unknown + 2) > unknown, jump)[0]


def _sum(prior: Prior, goal: Within, victim: float, slope: float, crowd: tuple[Prior, int]) -> tuple[float, ...]:
    """Worst posterior, blind and average success after a noisy sum: all on one lattice of values, sums and outputs."""
    (others, unknown), radius, k = crowd, goal.radius, slope / goal.radius
    low, high = law.support(prior)
    start, end = law.support(others) if unknown else (0.0, 0.0)
    wide = unknown * (end - start) + high - low
    step = max(radius / 100, wide / _LATTICE)
    if step > radius / 4:
        raise Misconfigured(
            f"unknown is too large for so fine a goal: {unknown} people and the victim spread over {wide:g}, which may "
            f"be at most {_LATTICE / 4 * radius:g} for a radius of {radius:g}",
            hint="Truncate the prior to the range that matters, or ask for a larger radius.",
        )
    # cell borders at the ends of the goal, so that cells are wholly right or wholly wrong
    step = 2 * radius / max(8, round(2 * radius / step))
    x, w = _lattice(prior, step, victim - radius)
    inside = np.abs(x - victim) <= radius + step / 1000  # single values may lie on the border
    hidden = _self_convolved(_lattice(others, step, 0.0)[1], unknown)
    likelihood = _smeared(hidden, np.exp(-k * step), pad=x.size)
    right, total = (np.convolve(v, likelihood, mode="valid") for v in (np.where(inside, w, 0.0), w))
    keep = total > 0
    # two single values 2r apart may lie in cells that are one further apart: the window must not lose one of them
    per_window = round(2 * radius / step) + bool(law.atoms(prior)[0].size)
    # whom the lattice does not show it cannot hide either: for the rarest the ceiling stands
    most = float((right[keep] / total[keep]).max()) if float(w[inside].sum()) > _SHOWN else 1.0
    return most, *_averages(w, likelihood, total, per_window, float(np.exp(-k * step)))


def _averages(w: Floats, likelihood: Floats, total: Floats, per_window: int, decay: float) -> tuple[float, float]:
    """Success of the best window without and with the output, averaged over a regular sample of outputs."""
    likely = np.flatnonzero(total > 1e-9 * total.max())
    stride = max(1, likely.size // 1000)
    sample = np.concatenate([[0], likely[::stride], [total.size - 1]])
    # beyond both ends every output tells the same: a geometric series of them
    count = np.full(sample.size, float(stride))
    count[[0, -1]] = decay / (1 - decay)
    first = np.arange(w.size)
    last = np.minimum(first + per_window, w.size)
    # `valid` convolution: output i sees the likelihood reversed over x
    seen = np.stack([w * likelihood[i : i + w.size][::-1] for i in sample])
    best = heaviest(np.vstack([w, seen]), first, last)
    return float(best[0]), float((best[1:] * count).sum() / (total[sample] * count).sum())


def _lattice(prior: Prior, step: float, through: float) -> tuple[Floats, Floats]:
    """Centres and masses of cells of width `step`, one border of which lies at `through`, where a goal begins or ends.

    A single value on a border belongs to the cell on its right if it lies at `through`, else to that on its left: both
    ends of a goal that begins there belong to it. Of single values only: points of a lattice, and their masses.
    """
    fixed = law.points(prior)
    if fixed is not None:
        place = np.rint((fixed[0] - through) / step).astype(np.int64)
        counted = np.bincount(place - place[0], fixed[1])
        return through + step * (place[0] + np.arange(counted.size)), counted / counted.sum()
    low, high = law.support(prior)
    first = through + step * np.floor((low - through) / step - 1e-9)
    edges = first + step * np.arange(int(np.ceil((high - first) / step + 1e-9)) + 1)
    masses = law.spread(prior, edges)
    single, weights = law.atoms(prior)
    far = (single - through) / step
    cell = np.where(np.abs(far) < 1e-9, 0, np.ceil(far - 1e-9) - 1) + round((through - first) / step)
    np.add.at(masses, cell.astype(np.int64).clip(0, masses.size - 1), weights)
    return (edges[:-1] + edges[1:]) / 2, masses / masses.sum()


def _self_convolved(w: Floats, times: int) -> Floats:
    """The law of a sum of `times` independent values, on the lattice."""
    if times == 0:
        return np.ones(1)
    size = times * (w.size - 1) + 1
    length = 1 << (size - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(w, length) ** times, length)[:size]
    found[found < 1e-14 * found.max()] = 0.0  # below the noise of the transform
    used = np.flatnonzero(found)
    kept = found[used[0] : used[-1] + 1]
    return np.asarray(kept / kept.sum())


def _smeared(law_of_sum: Floats, decay: float, pad: int) -> Floats:
    """Σ_j s_j decay^{|i − j|}: the law of the sum after two-sided geometric smearing, with room at both ends."""
    from scipy.signal import lfilter

    padded = np.concatenate([np.zeros(pad), law_of_sum, np.zeros(pad)])
    forward, backward = (lfilter([1.0], [1.0, -decay], v) for v in (padded, padded[::-1]))
    return np.asarray(forward + backward[::-1] - padded)
