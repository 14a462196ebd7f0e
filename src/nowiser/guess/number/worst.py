"""The worst victim: branch and bound over all possible victims, with a certified remainder.

The gain of every victim in a range is bounded in several ways (`Profile.bounds` encloses all their goals in
one, `follow` follows the gain from both ends), and the smallest bound counts.

Ranges that cannot beat the best victim found by more than `TOLERANCE` are dropped; the largest bound among all dropped
ranges is what is reported. So the result is an upper bound whatever happens, also when the search stops early.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.line import EPS, UniformLine
from nowiser.guess.number.atoms import most_exposed
from nowiser.guess.number.follow import PLAIN, Follow, Objective
from nowiser.guess.number.profile import Anyone, Between, Figures, Near, Profile
from nowiser.guess.number.reaching import Reaching, Stretched
from nowiser.guess.ranges import distinct
from nowiser.model.priors.base import Floats

if TYPE_CHECKING:
    from nowiser.guess.number.conditioned import Conditioned, Part

TOLERANCE = 5e-7
SHARPER = 1e-8  # tolerance for normal and lognormal priors, as a share of the gain: there digits are cheap
COARSEST = 1e-3  # tolerance where the prior is approximated very roughly
ROUGH = 2e-6  # tolerance where the prior itself is approximated
PATIENCE = 70_000  # evaluations after which the tolerance is loosened tenfold, twice
SOONER = 8_000  # the same where the prior itself is approximated
FLAT = 1e-10  # a slope that is next to none
MOST = 150_000  # evaluations after which the search stops and reports the bound it has


@dataclass(frozen=True)
class Worst:
    """A victim (coordinate), his figures, and a bound on the gain of every victim."""

    x: float
    figures: Figures
    gain: float


def worst_of(profile: Profile, *, negated: bool = False, objective: Objective = PLAIN, smallest: bool = True) -> Worst:
    """The victim with the largest gain for a goal of one part (or the largest objective).

    Misconfigured where doubles do not tell his goal from others: the bound on it would be one on their distance.
    """
    if type(profile) is Near:
        lo, hi = profile.start()
        profile.told(float(np.clip(0.0, lo.min(), hi.max())))  # where they are closest; if not there, nowhere
    found = _worst_of(profile, negated=negated, objective=objective, smallest=smallest)
    if type(profile) is Near:
        profile.told(found.x)
    return found


def _worst_of(profile: Profile, *, negated: bool, objective: Objective, smallest: bool) -> Worst:
    if hasattr(profile, "parts"):  # without importing what few questions need
        return _of_parts(cast("Conditioned", profile), objective, negated=negated, smallest=smallest)
    lo, hi = profile.start()
    if (lo == hi).all():
        if objective is PLAIN and not negated and type(profile) is Near and isinstance(profile.line, CellLine):
            x, gain = most_exposed(profile.line, profile.radius, profile.rate, profile.jump)
            own = _one(profile.at(np.array([x]), smallest=smallest), 0)
            return Worst(x, own, max(gain, own.after - own.before))
        return _of_list(profile, lo, objective, negated=negated, smallest=smallest)
    if objective is not PLAIN:
        return _search(profile, objective, negated=negated, smallest=smallest)
    if isinstance(profile, Anyone):
        return _of_anyone(profile, negated=negated)
    if isinstance(profile, Near) and not profile.rate and not profile.jump:
        x = float(np.clip(0.0, lo[0], hi[0]))
        found = profile.at(np.array([x]))
        return Worst(x, _one(found.negated() if negated else found, 0), 0.0)
    return _search(profile, objective, negated=negated, smallest=smallest)


def _of_parts(profile: "Conditioned", objective: Objective, *, negated: bool, smallest: bool) -> Worst:
    """The worst of all stretches of victims; the largest of their bounds holds for everybody."""
    from nowiser.guess.number.conditions import middle
    from nowiser.guess.number.gapped import Gapped

    def of(part: "Part", objective: Objective = objective) -> Worst:
        if part.profile is None:
            x = middle(part.first, part.last)
            sure = part.at(np.array([x]))
            figures = _one(sure.negated() if negated else sure, 0)
            return Worst(x, figures, float(objective.of(np.array([figures.before]), np.array([figures.after]))[0]))
        if part.flat is not None and part.profile.jump and objective is PLAIN and not negated:
            x, gain = part.flat.worst(lambda: math.tanh(part.flat.jump / 4) * (1 + 8 * EPS) if part.flat else 1.0)
            return Worst(x, _one(part.at(np.array([x])), 0), gain)
        if isinstance(part.profile, Gapped):
            swept = part.profile.negated() if negated else part.profile
            # what a union of intervals (or all else) gains is the sum of what they (or their contraries) gain
            x, gain = swept.worst(
                lambda: min(swept.at_most, sum(of(single, PLAIN).gain for single in part.singles) or 1.0), objective
            )
            figures = part.at(np.array([x]), smallest=smallest or negated)
            return Worst(x, _one(figures.negated() if negated else figures, 0), gain)
        own = part.profile
        if not own.rate and own.jump and not isinstance(own, Between):
            own = replace(own, rate=FLAT / own.radius)  # costs only hurt; and with a slope the gain can be followed
        found = worst_of(own, negated=negated != part.outside, objective=objective, smallest=smallest)
        alone = isinstance(part.profile, Between)  # their goal does not depend on who they are
        x = middle(part.first, part.last) if alone else found.x - part.shift
        return replace(found, x=min(max(x, part.first), part.last))

    every = [of(part) for part in profile.parts]
    gains = [objective.of(np.array([w.figures.before]), np.array([w.figures.after]))[0] for w in every]
    return replace(every[int(np.argmax(gains))], gain=max(w.gain for w in every))


def _of_anyone(profile: Anyone, *, negated: bool) -> Worst:
    """The worst prior in closed form: odds before e^{−T/2}, odds after e^{T/2}, gain tanh(T/4) (and its mirror)."""
    half = profile.reach / 2
    p = 1 / (1 + math.exp(min(half, 700.0)))
    p = 1 - p if negated else p
    figures = profile.at(np.array([p]))
    gain = min(1.0, math.tanh(half / 2) * (1 + 8 * EPS))
    return Worst(p, _one(figures.negated() if negated else figures, 0), gain)


def _one(figures: Figures, i: int) -> Figures:
    return Figures(
        float(np.atleast_1d(figures.before)[i]),
        float(np.atleast_1d(figures.after)[i]),
        float(np.atleast_1d(figures.smallest)[i]),
    )


def _of_list(profile: Profile, every: Floats, objective: Objective, *, negated: bool, smallest: bool) -> Worst:
    figures = profile.at(every, smallest=negated)
    figures = figures.negated() if negated else figures
    gains = objective.of(np.atleast_1d(figures.before), np.atleast_1d(figures.after))
    i = int(np.argmax(gains))
    if smallest and not negated:
        return Worst(float(every[i]), _one(profile.at(every[i : i + 1]), 0), float(gains[i]))
    return Worst(float(every[i]), _one(figures, i), float(gains[i]))


def _nodes(profile: Profile) -> Floats:
    """Victims to start from: landmarks of the prior, and those whose goal just touches an end of the support.

    Around the ends more, ever farther apart: on a range a thousand million wide the worst victim is near one of them.
    """
    lo, hi = profile.start()
    if not isinstance(profile, Near):
        return distinct(np.concatenate([lo, hi]))
    marks = profile.line.landmarks()
    ends = np.array([profile.line.low, profile.line.high])
    ends = ends[np.isfinite(ends)]
    atoms = profile.line.atoms[:2000]
    jumps = getattr(profile.line, "jumps", ends)[:2000]  # of lines in pieces
    near = np.concatenate([ends, atoms, jumps])
    marks = np.concatenate([marks, atoms])
    steps = profile.radius * 4.0 ** np.arange(16)
    many = [marks, near + profile.radius, near - profile.radius, np.linspace(marks.min(), marks.max(), 65)]
    many += [(ends + step + side * profile.radius) for side in (-1, 1) for step in np.concatenate([steps, -steps])]
    # victims whose goal ends where people are, and the first and the last of all, so that none lies beyond
    many += [lo[:1], hi[-1:]]
    if lo.size == 1 and not profile.line.wiggle():
        many += [marks - profile.radius, marks + profile.radius]
    found = np.concatenate(many)
    return distinct(np.clip(found[np.isfinite(found)], lo.min(), hi.max()))


def _search(profile: Profile, objective: Objective, *, negated: bool, smallest: bool) -> Worst:
    finest = 1e-12 if objective is PLAIN else 1e-9  # other objectives pass through zero
    slides = isinstance(profile, Near) and not isinstance(profile, Reaching) and not negated
    smooth = isinstance(profile, Near) and not isinstance(profile.line, (UniformLine, CellLine))
    quick = None
    if slides and smooth and isinstance(profile, Near):
        from nowiser.guess.number.neighbours import worst_of_smooth

        quick = worst_of_smooth(profile, objective, SHARPER, finest)
    if quick is not None and (not isinstance(profile, Stretched) or profile.first <= quick.x <= profile.last):
        figures = Figures(quick.before, quick.after, 0.0)
        return Worst(quick.x, _one(profile.at(np.array([quick.x])), 0) if smallest else figures, quick.gain)
    if isinstance(profile, Near) and smooth:
        from nowiser.guess.density.lognormal_line import LogLine

        profile = replace(profile, line=profile.line.pieces) if isinstance(profile.line, LogLine) else profile
    return _branched(profile, objective, finest, negated=negated, smallest=smallest)


def _branched(profile: Profile, objective: Objective, finest: float, *, negated: bool, smallest: bool) -> Worst:
    follow = Follow(profile, objective, negated=negated) if isinstance(profile, Near) and profile.rate > 0 else None
    sharpest, patience = _effort(profile)

    def gains_of(x: Floats) -> Floats:
        if follow is not None:
            return follow.gains(x)
        found = profile.at(x, smallest=negated)
        found = found.negated() if negated else found
        return objective.of(np.atleast_1d(found.before), np.atleast_1d(found.after))

    nodes = _nodes(profile)
    best, at = _climb(gains_of, nodes)
    nodes = distinct(np.append(nodes, at))
    lo, hi = nodes[:-1], nodes[1:]
    first, last = profile.start()
    if first.min() == -np.inf:
        lo, hi = np.concatenate([[-np.inf], lo]), np.concatenate([nodes[:1], hi])
    if last.max() == np.inf:
        lo, hi = np.concatenate([lo, nodes[-1:]]), np.concatenate([hi, [np.inf]])
    lo, hi = profile.snap(lo, hi)
    dropped, spent = best, 0
    centre, scale = float(nodes[nodes.size // 2]), float(nodes[-1] - nodes[0]) or 1.0
    while lo.size:
        if follow is not None:  # the best victim so far as well, as a range of his own
            ceiling, gains, probe = follow.ceiling(np.append(lo, at), np.append(hi, at))
            ceiling, alone = ceiling[:-1], float(ceiling[-1]) - best
        else:
            probe = distinct(np.concatenate([lo, hi]))
            probe = probe[np.isfinite(probe)]
            ceiling, gains = np.full(lo.size, np.inf), gains_of(probe)
        dropped = max(dropped, float(gains.max()))
        if gains.max() > best:
            best, at = float(gains.max()), float(probe[int(np.argmax(gains))])
        spent += lo.size
        tolerance = min(sharpest, max(finest, 1e-5 * abs(best))) * 10.0 ** min(spent // patience, 2)
        if follow is not None and follow.approximated:  # what cells get wrong remains, however small the ranges
            tolerance = max(tolerance, min(alone, COARSEST) + tolerance / 4)
        hard = ceiling > best + tolerance
        if hard.any():
            bounds = profile.bounds_negated(lo[hard], hi[hard]) if negated else profile.bounds(lo[hard], hi[hard])
            ceiling[hard] = np.minimum(ceiling[hard], objective.of(bounds.before, bounds.after))
        open_ = (ceiling > best + tolerance) & (hi > lo)
        if spent > MOST or (~open_).any():
            dropped = max(dropped, float((ceiling if spent > MOST else ceiling[~open_]).max()))
        if spent > MOST:
            break
        lo, hi, stuck = _split(lo[open_], hi[open_], centre, scale)
        if stuck.any():
            dropped = max(dropped, float(ceiling[open_][stuck].max()))
        lo, hi = profile.snap(lo, hi)
    found = profile.at(np.array([at]), smallest=smallest or negated)
    figures = _one(found.negated() if negated else found, 0)
    own = float(objective.of(np.array([figures.before]), np.array([figures.after]))[0])
    return Worst(at, figures, max(dropped, own))


def _effort(profile: Profile) -> tuple[float, int]:
    """How near the bound is to come, and after how many evaluations less will do."""
    rough = isinstance(profile, Near) and profile.line.wiggle() > 0
    return (ROUGH, SOONER) if rough else (TOLERANCE, PATIENCE)


def _climb(gains_of: Callable[[Floats], Floats], nodes: Floats) -> tuple[float, float]:
    """A good victim to start from: the best node, and twice the best of a grid between its neighbours.

    The better the first victim, the more ranges the search drops at once.
    """
    gains = gains_of(nodes)
    for _ in range(2):
        i = int(np.argmax(gains))
        best, at = float(gains[i]), float(nodes[i])
        low, high = float(nodes[max(i - 1, 0)]), float(nodes[min(i + 1, nodes.size - 1)])
        if not high > low:
            break
        nodes = distinct(np.append(np.linspace(low, high, 33), at))
        gains = gains_of(nodes)
    i = int(np.argmax(gains))
    return (float(gains[i]), float(nodes[i])) if gains[i] > best else (best, at)


def _split(lo: Floats, hi: Floats, centre: float, scale: float) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Each range in several (more when few are left); unbounded ranges grow away from the centre.

    Also says which ranges are too narrow to be split; they are left out.
    """
    ways = int(np.clip(768 // max(lo.size, 1), 2, 48))
    steps = np.linspace(0.0, 1.0, ways + 1)
    with np.errstate(invalid="ignore"):
        inner = lo[:, None] + (hi - lo)[:, None] * steps
    growing = scale * (2.0 ** np.arange(ways + 1) - 1)
    inner = np.where(
        np.isinf(hi)[:, None], lo[:, None] + growing * np.maximum(1, (lo - centre) / scale)[:, None], inner
    )
    inner = np.where(
        np.isinf(lo)[:, None], hi[:, None] - growing[::-1] * np.maximum(1, (centre - hi) / scale)[:, None], inner
    )
    inner[:, 0], inner[:, -1] = lo, hi
    stuck = np.asarray(~(np.diff(inner, axis=1) > 0).all(axis=1))
    inner = inner[~stuck]
    return inner[:, :-1].ravel(), inner[:, 1:].ravel(), stuck
