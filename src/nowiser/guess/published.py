"""Other people's bounds, for comparison: each with the conditions under which it holds.

None of them is used for a decision; the tight ceiling is never worse than those that hold for every output.
All are upper bounds. Formulas from the literature that are not bounds are kept in the tests, as counterexamples.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, isfinite, log
from typing import Any, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.average.tradeoff import laplace, pure
from nowiser.guess.density import law
from nowiser.guess.rounding import grain
from nowiser.model.advantage import Advantage
from nowiser.model.checks import number
from nowiser.model.goal import Exactly, Goal, In, On, Within, parse_goal
from nowiser.model.prior import Categories, LogNormal, Normal, Presence, Prior

_SHOWN = 1e-6  # prior probability of a goal from which on differences of distribution functions have six digits
_RARE = "the goal is met by one in a million or more beforehand"
_HEAVY = 2e-4  # mass of a cell that is cut again
_CLOSER = 8  # times


@dataclass(frozen=True)
class Bound:
    """One figure: `value` is None where the conditions are not met, and `condition` says which."""

    name: str
    value: float | None
    holds: Literal["for every output", "on average"]
    condition: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "holds": self.holds, "condition": self.condition}


def odds(before: float, loss: float) -> float:
    """The posterior whose odds are e^loss times the odds of `before`."""
    if before <= 0.0 or before >= 1.0:
        return before
    return 1.0 / (1.0 + (1.0 - before) / before * exp(-loss))


def simplified(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any = None) -> Bound:
    """Only the reach R of the domain counts: odds grow by at most e^{slope·R + jump}."""
    p, total = _before(prior, goal, victim), _loss(prior, goal, slope, jump)
    if p < _SHOWN:
        return Bound("simplified (reach only)", None, "for every output", _RARE)
    value = odds(p, total) if isfinite(total) else None
    return Bound("simplified (reach only)", value, "for every output", "the domain is bounded; R is its width over r")


def main_theorem(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any) -> Bound:
    """1/(1 + ∫ π(z)/∫_g e^{slope·d(z, x')} π(x') dx' dz) over z outside g: each wrong value against all right ones.

    Sound, since ∫_g ℓ dπ ≤ ℓ(z) ∫_g e^{d(z, ·)} dπ for every z; not tight, since different z use different ℓ.
    """
    low, high, r = _interval(goal, victim)
    if law.mass(prior, low, high) < _SHOWN:
        return Bound("main theorem", None, "for every output", _RARE)
    a, b, w = _cells(prior, low, high)
    middle = (a + b) / 2
    inside = (middle >= low) & (middle <= high)
    k = slope / r
    # distances from z to all right values grow alike when z moves away, so each side needs one sum over them; a cell
    # counts with the mean of e^{−k·distance} over it
    w = w * _mean_fading(k * (b - a))
    wrong = 0.0
    for far, beyond in ((high - b, middle < low), (a - low, middle > high)):
        near = float(far[inside & (w > 0)].min())
        right = float((w[inside] * np.exp(-k * (far[inside] - near))).sum())
        wrong += float((w[beyond] * np.exp(-k * (far[beyond] - near) - jump)).sum()) / right
    return Bound("main theorem", float(1.0 / (1.0 + wrong)), "for every output", "any prior on a number")


def rings(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any) -> Bound:
    """p/(p + Σ e^{−slope·(a + 2) − jump} Pr[ring a]); ring a: values whose distance to the goal rounds up to a.

    Every value of ring a is at most a + 2 radii from every correct one, because the goal itself is 2 radii wide.
    """
    low, high, r = _interval(goal, victim)
    p = law.mass(prior, low, high)
    start, end = law.support(prior)
    count = int(max(0.0, np.ceil(max(low - start, end - high) / r - 1e-12)))
    if p < _SHOWN:
        return Bound("rings (a + 2)", None, "for every output", _RARE)
    if count > 1_000_000:
        return Bound("rings (a + 2)", None, "for every output", "at most a million rings")
    a = np.arange(1, count + 1)
    right = np.diff(law.cdf(prior, high + r * np.arange(count + 1)))
    left = -np.diff(law.cdf(prior, np.nextafter(low - r * np.arange(count + 1), -np.inf)))
    wrong = float(((right + left) * np.exp(-slope * (a + 2) - jump)).sum())
    return Bound("rings (a + 2)", p / (p + wrong), "for every output", "any prior on a number")


def pleak(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any) -> Bound:
    """Pleak's: count only wrong values within a radii of the victim, at distance at most 2a; take the best a."""
    low, high, r = _interval(goal, victim)
    centre, p = (low + high) / 2, law.mass(prior, low, high)
    if p < _SHOWN:
        return Bound("Pleak's (best ball)", None, "for every output", _RARE)
    start, end = law.support(prior)
    widest = max(1.0, (centre - start) / r, (end - centre) / r)
    tries = np.linspace(1.0, widest, 2001)
    near = law.cdf(prior, centre + r * tries) - law.cdf(prior, np.nextafter(centre - r * tries, -np.inf))
    wrong = float((np.maximum(0.0, near - p) * np.exp(-slope * 2 * tries - jump)).max())
    return Bound("Pleak's (best ball)", p / (p + wrong), "for every output", "any prior on a number")


def total_variation(prior: Prior, goal: Goal, slope: float, jump: float) -> Bound:
    """Best guess before plus the total variation of Laplace noise over the whole reach."""
    kappa, total = _best_guess(prior, goal), _loss(prior, goal, slope, jump)
    condition = "Laplace noise, bounded domain; added to the best blind guess"
    value = min(1.0, kappa + laplace(total).total_variation) if isfinite(total) else None
    return Bound("total variation", value, "on average", condition)


def one_minus_f(prior: Prior, goal: Goal, slope: float, jump: float) -> Bound:
    """1 − f(κ) with the trade-off function of Laplace noise over the whole reach (of pure ε when only a jump)."""
    kappa, total = _best_guess(prior, goal), _loss(prior, goal, slope, jump)
    if not isfinite(total):
        return Bound("1 − f(κ)", None, "on average", "bounded domain")
    f = laplace(total) if slope else pure(total)
    return Bound("1 − f(κ)", f.success(kappa), "on average", "bounded domain; κ is the best blind guess")


def bounds(
    prior: Prior, goal: Goal | str, *, slope: float = 0.0, jump: float = 0.0, victim: Any = None
) -> tuple[Bound, ...]:
    """Our ceiling and every published bound for the same victim, sharpest first among those that hold always.

    Without a victim the worst one of the tight ceiling is taken, for all of them.
    """
    from nowiser.guess.ask import guess

    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    wanted = wanted.goal if isinstance(wanted, On) else wanted
    if not isinstance(wanted, Within | Exactly | In):
        raise Misconfigured(f"bounds are compared for a goal within, exactly or in on one attribute; found {wanted}")
    if getattr(prior, "kind", "none") in ("none", "joint", "unknown"):
        raise Misconfigured(
            f"prior must be the known prior of one attribute, for other bounds to exist; found {prior!r}"
        )
    slope, jump = number("slope", slope, low=0.0), number("jump", jump, low=0.0)
    ours = guess(prior, wanted, slope=slope, jump=jump, victim=victim)
    who, everybody = (ours.victim if victim is None else victim), ours.tight
    if victim is None and isinstance(wanted, Within):  # his own figure, as that of the others
        ours = guess(prior, wanted, slope=slope, jump=jump, victim=who)
    found = [_ours(ours, only=not everybody)]
    if prior.kind == "line" and isinstance(wanted, Within):
        found += [f(prior, wanted, slope, jump, who) for f in (main_theorem, pleak, rings)]
    found.append(simplified(prior, wanted, slope, jump, who))
    found += [one_minus_f(prior, wanted, slope, jump), total_variation(prior, wanted, slope, jump)]
    order = {"for every output": 0, "on average": 1}
    # those that agree in all digits they have stay in this order, ours first
    return tuple(sorted(found, key=lambda b: (order[b.holds], b.value is None, round(b.value or 0.0, 6))))


def _ours(found: Advantage, *, only: bool) -> Bound:
    """`only`: it is this victim's; the bound for everybody may be a little higher."""
    if found.tight:
        who = "attained for this person" if only else "attained"
        return Bound("nowiser (tight)", found.after, "for every output", f"{who}: no smaller bound exists")
    return Bound("nowiser", found.after, "for every output", "an upper bound; the exact figure may be lower")


def simplified_slope(before: float, gain: float, reach: float) -> float:
    """The slope that the simplified bound allows: ln of the odds ratio, over the reach."""
    before, gain = number("before", before, low=0, high=1, strict=True), number("gain", gain, low=0, high=1)
    reach = number("reach", reach, low=0, strict=True)
    if before + gain >= 1:
        raise Misconfigured(f"before + gain must stay below 1; found {before:g} + {gain:g}")
    after = before + gain
    return (log(after / (1 - after)) - log(before / (1 - before))) / reach


def _interval(goal: Goal, victim: Any) -> tuple[float, float, float]:
    assert isinstance(goal, Within)
    centre = number("victim", victim)
    return centre - goal.radius, centre + goal.radius, goal.radius


def _before(prior: Prior, goal: Goal, victim: Any) -> float:
    if isinstance(prior, Presence):
        return prior.probability
    if isinstance(prior, Categories):
        shares = dict(zip(prior.labels, prior.masses, strict=True))
        if isinstance(goal, In) and goal.values is not None:
            return sum(shares.get(v, 0.0) for v in goal.values)
        return shares.get(victim, 0.0)
    if isinstance(goal, Within):
        low, high, _ = _interval(goal, victim)
        return law.mass(prior, low, high)
    if isinstance(goal, In):
        if goal.values is None:
            assert goal.low is not None
            assert goal.high is not None
            return law.mass(prior, goal.low, goal.high)
        return sum(law.mass(prior, float(v), float(v)) for v in goal.values)
    return law.mass(prior, float(victim), float(victim))


@lru_cache(maxsize=16)
def _best_guess(prior: Prior, goal: Goal) -> float:
    """κ: the success of the best guess made without the release."""
    if isinstance(goal, In):
        p = _before(prior, goal, None)
        return max(p, 1 - p)
    if isinstance(prior, Categories):
        return max(prior.masses)
    radius = goal.radius if isinstance(goal, Within) else 0.0
    fixed = law.points(prior)
    if fixed is not None:
        x, w = fixed
        total = np.concatenate([[0.0], np.cumsum(w)])
        ends = x + 2 * radius + 2 * grain(x, radius)
        return min(1.0, float((total[np.searchsorted(x, ends, side="right")] - total[:-1]).max()))
    low, high = law.support(prior)
    at = np.concatenate([law.atoms(prior)[0], law.corners(prior)])
    bell = isinstance(prior, (Normal, LogNormal))  # one hill: the best window is the top of another
    grid = _edges(prior, low, high, 1_000 if bell else 20_000)
    ends = np.sort(np.concatenate([grid - radius, grid, at, at - 2 * radius]))
    best = 0.0
    for _ in range(_CLOSER):
        near = 1e-12 * radius + 2 * np.spacing(np.abs(ends) + 2 * radius)  # a value on the border of a window is in it
        held = law.cdf(prior, ends + 2 * radius + near) - law.cdf(prior, ends - near)
        i, best = int(np.argmax(held)), max(best, float(held.max()))
        ends = np.linspace(ends[max(0, i - 1)], ends[min(ends.size - 1, i + 1)], 101 if bell else 2001)
    return min(1.0, best)


def _reach(prior: Prior, goal: Goal) -> float:
    """The largest distance in the domain, in units of the precision."""
    if prior.kind != "line":
        return 0.0
    if not law.bounded(prior):
        return float("inf")
    low, high = law.support(prior)
    return (high - low) / (goal.radius if isinstance(goal, Within) else 1.0)


def _loss(prior: Prior, goal: Goal, slope: float, jump: float) -> float:
    """How far the logarithm of the likelihood can move over the whole domain; infinite where a slope has no end."""
    return slope * _reach(prior, goal) + jump if slope else jump


def _edges(prior: Prior, low: float, high: float, count: int) -> Any:
    """Borders of cells from `low` to `high`: evenly, and finer wherever much of the prior lies in one."""
    edges = np.linspace(low, high, count + 1)
    for _ in range(_CLOSER):
        heavy = np.flatnonzero(law.spread(prior, edges) > _HEAVY)
        if not heavy.size:
            break
        finer = edges[heavy, None] + np.diff(edges)[heavy, None] * np.linspace(0.0, 1.0, 65)[1:-1]
        edges = np.unique(np.concatenate([edges, finer.ravel()]))
    return edges


def _cells(prior: Prior, low: float, high: float) -> tuple[Any, Any, Any]:
    """Cells (their ends) and masses, fine enough for six digits; ends of the goal are ends of cells."""
    x, w = law.atoms(prior)
    parts = [(x, x, w)]
    if law.points(prior) is None:
        start, end = law.support(prior)
        for l, u, n in (
            (start, min(low, end), 4000),
            (max(low, start), min(high, end), 2000),
            (max(high, start), end, 4000),
        ):
            if u > l:
                edges = _edges(prior, l, u, n)
                parts.append((edges[:-1], edges[1:], law.spread(prior, edges)))
    return tuple(np.concatenate(one) for one in zip(*parts, strict=True))  # type: ignore[return-value]  # three of them


def _mean_fading(way: Any) -> Any:
    """The mean of e^{−z} over z from 0 to `way`."""
    small = way < 1e-8
    return np.where(small, 1.0, -np.expm1(-way) / np.where(small, 1.0, way))
