"""Attackers who know less, or more, than everybody else's record.

* everyone else: the ceiling; the default everywhere.
* k of the others: the others he does not know hide the victim. For independent records the ceiling still holds (a
  mixture of allowed likelihoods is allowed); the figure here is what is left of it for one concrete release: a sum
  or a count with Laplace noise. It is a computation, not a promise: promises are made with the ceiling.
* part of the victim's record: the prior is conditioned on the part, and the worst class counts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.correlated.revealed import worst_output
from nowiser.guess.density import law
from nowiser.model.advantage import points
from nowiser.model.checks import number
from nowiser.model.goal import Goal, In, On, Within, parse_goal
from nowiser.model.prior import Categories, Presence, Prior
from nowiser.model.priors.base import Floats

_LATTICE = 1 << 17  # cells of the law of the sum
_SHOWN = 1e-10  # mass of a goal that the lattice gets right


@dataclass(frozen=True)
class Known:
    """What an attacker with less knowledge reaches, beside the ceiling for one who knows everyone else."""

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
        return {
            "unknown": self.unknown,
            "before": self.before,
            "after": self.after,
            "gain": self.gain,
            "ceiling": self.ceiling,
            "blind": self.blind,
            "average": self.average,
            "release": self.release,
        }


def knowing(
    prior: Prior,
    goal: Goal | str,
    *,
    unknown: int,
    slope: float = 0.0,
    jump: float = 0.0,
    victim: Any = None,
    others: Prior | None = None,
) -> Known:
    """The attacker knows all records but the victim's and `unknown` more, which follow `others` (default: `prior`).

    With a slope the release is a SUM with Laplace noise of scale r/slope; with a jump it is the COUNT of people who
    satisfy the goal with noise of scale 1/jump. Records are independent. Figures are accurate to about 1e-4 for
    densities and exact for counts; events of probability below 1e-14 are left out.

    The worst output may be a very unlikely one, far beyond all possible sums, where the crowd hides nobody; so for
    sums the average over outputs stands beside it.
    """
    from nowiser.guess.ask import guess

    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    wanted = wanted.goal if isinstance(wanted, On) else wanted
    if not _is_crowd(unknown):
        raise Misconfigured(f"unknown must be a whole number from 0 to 10000; found {unknown!r}")
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
        crowd = share if others is None else _share(others, wanted, who)
        after, blind, average = _count(share, crowd, unknown, jump), None, None
        what = f"a noisy count (scale {1 / jump:.4g}) of those who satisfy the goal"
    else:
        if not isinstance(wanted, Within) or prior.kind != "line":
            raise Misconfigured(f"slope needs a goal `within r` on a number; found {wanted}")
        after, blind, average = _sum(prior, others or prior, unknown, (float(who), wanted.radius), slope)
        what = f"a noisy sum (scale {wanted.radius / slope:.4g})"
    after = min(top.after, max(top.before, after))
    return Known(int(unknown), top.before, after, top.after, who, what, blind, average)


def _is_crowd(unknown: Any) -> bool:
    real = isinstance(unknown, (int, float, np.integer)) and not isinstance(unknown, bool)
    return real and unknown % 1 == 0 and 0 <= unknown <= 10_000


def _share(prior: Prior, goal: Goal, who: Any) -> float:
    """How likely somebody else satisfies what is counted."""
    if isinstance(prior, Presence):
        return prior.probability
    if isinstance(prior, Categories):
        wanted = goal.values if isinstance(goal, In) and goal.values is not None else {who}
        return sum(m for label, m in zip(prior.labels, prior.masses, strict=True) if label in wanted)
    if isinstance(goal, Within):
        return law.mass(prior, float(who) - goal.radius, float(who) + goal.radius)
    if isinstance(goal, In) and goal.low is not None and goal.high is not None:
        return law.mass(prior, goal.low, goal.high)
    if isinstance(goal, In):
        return sum(law.mass(prior, float(v), float(v)) for v in goal.values or ())
    if not isinstance(who, (int, float)):
        raise Misconfigured(f"others must be a prior of what the goal `{goal}` is about; found {prior!r}")
    return law.mass(prior, float(who), float(who))


def _count(share: float, crowd: float, unknown: int, jump: float) -> float:
    """Exact: the count is the victim's bit plus a binomial."""
    from scipy.stats import binom

    law_of_others = binom.pmf(np.arange(unknown + 1), unknown, crowd)
    answers = np.concatenate([np.arange(unknown + 1), np.arange(unknown + 1) + 1])
    weights = np.concatenate([(1 - share) * law_of_others, share * law_of_others])
    good = np.arange(2 * unknown + 2) > unknown
    weights[weights < 1e-300] = 0.0
    return worst_output(answers.tolist(), weights.tolist(), good.tolist(), jump)[0]


def _sum(
    prior: Prior, others: Prior, unknown: int, aim: tuple[float, float], slope: float
) -> tuple[float, float, float]:
    """Worst posterior, blind and average success after a noisy sum.

    All on one lattice that carries the victim, the others and the output.
    """
    victim, radius = aim
    k = slope / radius
    low, high = law.support(prior)
    start, end = law.support(others) if unknown else (0.0, 0.0)
    step = max(radius / 100, (unknown * (end - start) + high - low) / _LATTICE)
    if step > radius / 4:
        raise Misconfigured(
            f"unknown is too large for so fine a goal: {unknown} people and the victim spread over "
            f"{unknown * (end - start) + high - low:g}, which may be at most {_LATTICE / 4 * radius:g} for a radius of "
            f"{radius:g}",
            hint="Truncate the prior to the range that matters, or ask for a larger radius.",
        )
    # cell borders at the ends of the goal, so that cells are wholly right or wholly wrong
    step = 2 * radius / max(8, round(2 * radius / step))
    x, w = _lattice(prior, step, victim - radius)
    inside = np.abs(x - victim) <= radius + step / 1000  # single values may lie on the border
    crowd = _self_convolved(_lattice(others, step, 0.0)[1], unknown)
    likelihood = _smeared(crowd, np.exp(-k * step), pad=x.size)
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
    last = np.minimum(np.arange(w.size) + per_window, w.size)

    def best(weights: Floats) -> Floats:
        summed = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights, axis=1)], axis=1)
        found: Floats = (summed[:, last] - summed[:, :-1]).max(axis=1)
        return found

    # `valid` convolution: output i sees the likelihood reversed over x
    seen = np.stack([w * likelihood[i : i + w.size][::-1] for i in sample])
    return float(best(w[None, :])[0]), float((best(seen) * count).sum() / (total[sample] * count).sum())


def _lattice(prior: Prior, step: float, through: float) -> tuple[Floats, Floats]:
    """Centres and masses of cells of width `step`, one border of which lies at `through`, where a goal begins or ends.

    Of single values only, the points of a lattice through `through` and their masses. In a density a single value
    counts in the middle of its cell; one on a border belongs to the cell on its right if it lies at `through`, else to
    the one on its left: both ends of a goal that begins there belong to the goal.
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
    kept: Floats = found[used[0] : used[-1] + 1]
    kept /= kept.sum()
    return kept


def _smeared(law_of_sum: Floats, decay: float, pad: int) -> Floats:
    """Σ_j s_j decay^{|i − j|}: the law of the sum after two-sided geometric smearing, with room at both ends."""
    from scipy.signal import lfilter

    padded = np.concatenate([np.zeros(pad), law_of_sum, np.zeros(pad)])
    forward = lfilter([1.0], [1.0, -decay], padded)
    backward = lfilter([1.0], [1.0, -decay], padded[::-1])[::-1]
    found: Floats = forward + backward - padded
    return found
