"""Other people's bounds, for comparison: each with the conditions under which it holds.

None of them is used for a decision; our ceiling is never worse than those that hold for every output.
All are upper bounds. Formulas from the literature that are not bounds are kept in the tests, as counterexamples.
"""

from dataclasses import asdict, dataclass
from math import inf, isfinite, log
from typing import Any, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess import labels
from nowiser.guess.ask import guess
from nowiser.guess.average.tradeoff import laplace, pure
from nowiser.guess.average.windows import faded
from nowiser.guess.correlated.revealed import independent_ceiling
from nowiser.guess.number import law
from nowiser.guess.number.pieces import pieces_of
from nowiser.guess.number.victims import victims_of
from nowiser.model.advantage import Advantage
from nowiser.model.checks import number
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal, In, On, Within, parse_goal
from nowiser.model.prior import Categories, Presence, Prior
from nowiser.model.priors.base import Floats

_SHOWN = 1e-6  # prior probability of a goal from which on differences of distribution functions have six digits
_FINER = 8  # cells to a piece of the prior
_RINGS = 1_000_000


@dataclass(frozen=True)
class Bound:
    """One figure: `value` is None where the conditions are not met, and `condition` says which."""

    name: str
    value: float | None
    holds: Literal["for every output", "on average"]
    condition: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def simplified(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any = None) -> Bound:
    """Only the reach R of the domain counts: odds grow by at most e^{slope·R + jump}."""
    p, total = probability(prior, goal, victim), _loss(prior, goal, slope, jump)
    value = independent_ceiling(p, total) if isfinite(total) else None
    return _always("simplified (reach only)", p, value, "the domain is bounded; R is its width over r")


def main_theorem(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any) -> Bound:
    """1/(1 + ∫ π(z)/∫_g e^{slope·d(z, x')} π(x') dx' dz) over z outside g: each wrong value against all right ones.

    Sound, since ∫_g ℓ dπ ≤ ℓ(z) ∫_g e^{d(z, ·)} dπ for every z; not tight, since different z use different ℓ.
    """
    low, high, r = _interval(goal, victim)
    p, k, wrong = law.mass(prior, low, high), slope / r, 0.0
    if p >= _SHOWN:
        a, b, w = _cells(prior, low, high)
        middle = (a + b) / 2
        inside = (middle >= low) & (middle <= high)
        # distances from z to all right values grow alike when z moves away, so each side needs one sum over them; a
        # cell counts with the mean of e^{−k·distance} over it
        w = w * faded(k * (b - a))
        for far, beyond in ((high - b, middle < low), (a - low, middle > high)):
            near = float(far[inside & (w > 0)].min())
            right = float((w[inside] * np.exp(-k * (far[inside] - near))).sum())
            wrong += float((w[beyond] * np.exp(-k * (far[beyond] - near) - jump)).sum()) / right
    return _always("main theorem", p, 1.0 / (1.0 + wrong))


def rings(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any) -> Bound:
    """p/(p + Σ e^{−slope·(a + 2) − jump} Pr[ring a]); ring a: values whose distance to the goal rounds up to a.

    Every value of ring a is at most a + 2 radii from every correct one, because the goal itself is 2 radii wide.
    """
    name, (low, high, r) = "rings (a + 2)", _interval(goal, victim)
    p, (start, end) = law.mass(prior, low, high), law.support(prior)
    count = int(max(0.0, np.ceil(max(low - start, end - high) / r - 1e-12)))
    if count > _RINGS:
        return _always(name, p, None, "at most a million rings")
    far = r * np.arange(count + 1)
    right, left = np.diff(law.cdf(prior, high + far)), -np.diff(law.cdf(prior, np.nextafter(low - far, -np.inf)))
    wrong = float(((right + left) * np.exp(-slope * (np.arange(1, count + 1) + 2) - jump)).sum())
    return _always(name, p, p / (p + wrong) if p else 0.0)


def pleak(prior: Prior, goal: Goal, slope: float, jump: float, victim: Any) -> Bound:
    """Pleak's: count only wrong values within a radii of the victim, at distance at most 2a; take the best a."""
    low, high, r = _interval(goal, victim)
    centre, p = (low + high) / 2, law.mass(prior, low, high)
    start, end = law.support(prior)
    tries = np.linspace(1.0, max(1.0, (centre - start) / r, (end - centre) / r), 2001)
    near = law.cdf(prior, centre + r * tries) - law.cdf(prior, np.nextafter(centre - r * tries, -np.inf))
    wrong = float((np.maximum(0.0, near - p) * np.exp(-slope * 2 * tries - jump)).max())
    return _always("Pleak's (best ball)", p, p / (p + wrong) if p else 0.0)


def on_average(prior: Prior, goal: Goal, slope: float, jump: float) -> tuple[Bound, Bound]:
    """1 − f(κ) and κ + total variation, with the trade-off function f of Laplace noise over the whole reach (of pure ε
    when only a jump), and κ the best guess before.
    """
    total, names = _loss(prior, goal, slope, jump), ("1 − f(κ)", "total variation")
    means = (
        "bounded domain; κ is the best blind guess",
        "Laplace noise, bounded domain; added to the best blind guess",
    )
    values: tuple[float | None, ...] = None, None
    if isfinite(total):
        kappa, f = _best_guess(prior, goal), laplace(total) if slope else pure(total)
        values = f.success(kappa), min(1.0, kappa + laplace(total).total_variation)
    one, two = (Bound(n, v, "on average", c) for n, v, c in zip(names, values, means, strict=True))
    return one, two


def bounds(
    prior: Prior, goal: Goal | str, *, slope: float = 0.0, jump: float = 0.0, victim: Any = None
) -> tuple[Bound, ...]:
    """Our ceiling and every published bound for the same victim, sharpest first among those that hold always.

    Without a victim the worst one of our ceiling is taken, for all of them.
    """
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
    who = ours.victim if victim is None else victim
    if victim is None and isinstance(wanted, Within):  # his own figure, as that of the others
        ours = guess(prior, wanted, slope=slope, jump=jump, victim=who)
    found = [_ours(ours)]
    if prior.kind == "line" and isinstance(wanted, Within):
        found += [f(prior, wanted, slope, jump, who) for f in (main_theorem, pleak, rings)]
    found.append(simplified(prior, wanted, slope, jump, who))
    found += on_average(prior, wanted, slope, jump)
    order = {"for every output": 0, "on average": 1}
    # those that agree in all digits they have stay in this order, ours first
    return tuple(sorted(found, key=lambda b: (order[b.holds], b.value is None, round(b.value or 0.0, 6))))


def _ours(found: Advantage) -> Bound:
    if found.tight:
        return Bound("nowiser (tight)", found.after, "for every output", "attained, to a thousandth, by a mechanism")
    return Bound("nowiser", found.after, "for every output", "an upper bound; the exact figure may be lower")


def simplified_slope(before: float, gain: float, reach: float) -> float:
    """The slope that the simplified bound allows: ln of the odds ratio, over the reach."""
    before, gain = number("before", before, low=0, high=1, strict=True), number("gain", gain, low=0, high=1)
    reach = number("reach", reach, low=0, strict=True)
    if before + gain >= 1:
        raise Misconfigured(f"before + gain must stay below 1; found {before:g} + {gain:g}")
    after = before + gain
    return (log(after / (1 - after)) - log(before / (1 - before))) / reach


def probability(prior: Prior, goal: Goal, victim: Any) -> float:
    """Of somebody who is drawn from the prior, for a goal `within`, `exactly` or `in` about one attribute."""
    if isinstance(prior, Presence):
        return prior.probability
    if isinstance(prior, Categories):
        wanted = goal.values if isinstance(goal, In) and goal.values is not None else {victim}
        return sum(m for label, m in zip(prior.labels, prior.masses, strict=True) if label in wanted)
    if isinstance(goal, In) and goal.low is not None and goal.high is not None:
        return law.mass(prior, goal.low, goal.high)
    if isinstance(goal, In):
        return sum(law.mass(prior, float(v), float(v)) for v in goal.values or ())
    if not isinstance(victim, (int, float)):
        raise Misconfigured(f"others must be a prior of what the goal `{goal}` is about; found {prior!r}")
    radius = goal.radius if isinstance(goal, Within) else 0.0
    return law.mass(prior, float(victim) - radius, float(victim) + radius)


def _always(name: str, p: float, value: float | None, condition: str = "any prior on a number") -> Bound:
    """A bound for every output, on the posterior of a goal of prior probability p."""
    if p < _SHOWN:
        value, condition = None, "the goal is met by one in a million or more beforehand"
    return Bound(name, value, "for every output", condition)


def _interval(goal: Goal, victim: Any) -> tuple[float, float, float]:
    assert isinstance(goal, Within)
    centre = number("victim", victim)
    return centre - goal.radius, centre + goal.radius, goal.radius


def _best_guess(prior: Prior, goal: Goal) -> float:
    """κ: the success of the best guess made without the release."""
    if isinstance(goal, In):
        p = probability(prior, goal, None)
        return max(p, 1 - p)
    return (victims_of if prior.kind == "line" else labels.victims_of)(prior, goal, Cost(), "the value").likeliest()


def _loss(prior: Prior, goal: Goal, slope: float, jump: float) -> float:
    """How far the logarithm of the likelihood can move over the whole domain; infinite where a slope has no end."""
    if not slope or prior.kind != "line":
        return jump
    low, high = law.support(prior) if law.bounded(prior) else (-inf, inf)
    return slope * (high - low) / (goal.radius if isinstance(goal, Within) else 1.0) + jump


def _cells(prior: Prior, low: float, high: float) -> tuple[Floats, Floats, Floats]:
    """Cells (their ends) and masses, fine enough for six digits; ends of the goal are ends of cells."""
    x, w = law.atoms(prior)
    if law.points(prior) is not None:
        return x, x, w
    at = np.unique(pieces_of(prior).x)
    at = np.interp(np.arange(_FINER * (at.size - 1) + 1) / _FINER, np.arange(at.size), at)
    at = np.unique(np.append(at, np.clip([low, high], at[0], at[-1])))
    return np.append(x, at[:-1]), np.append(x, at[1:]), np.append(w, law.spread(prior, at))
