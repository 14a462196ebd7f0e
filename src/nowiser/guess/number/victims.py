"""Everybody, as seen by one goal on one number: named victims, the worst one, and a mechanism that comes near."""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import Figures, Worst, lifted
from nowiser.guess.formula import bare, radius_of, simple_goals
from nowiser.guess.number import closed, sweep
from nowiser.guess.number.family import ALL_BUT_ONE, Family, Form, form, forms, widest
from nowiser.guess.number.law import law_of
from nowiser.guess.number.pieces import Pieces, pieces_of
from nowiser.guess.number.search import Aims, Near, listed, search
from nowiser.guess.rounding import EPS, told
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal, In, Within
from nowiser.model.prior import Normal, Prior, Uniform
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

STEEPEST = 1e100  # nats over all likely values
MARGIN = 1e-9  # of the worst one's figure: named victims are rounded otherwise


def victims_of(prior: Prior, goal: Goal, cost: Cost, what: str) -> "Victims":
    """The victims of a goal (and, or, not, within, exactly, in) on a number; `what` is its name in messages."""
    return _victims(prior, goal, cost.slope, what).beside(cost.jump)


@lru_cache(maxsize=128)
def _victims(prior: Prior, goal: Goal, slope: float, what: str) -> "Victims":
    return Victims(prior, goal, slope, 0.0, what)


@dataclass(frozen=True, eq=False)
class Victims:
    """figures.Victims of a number. What was looked at is shared with the same victims beside other jumps."""

    prior: Prior
    goal: Goal
    slope: float
    jump: float
    what: str
    _seen: dict[Form, Floats] = field(default_factory=dict, repr=False)
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def beside(self, jump: float) -> "Victims":
        """The same victims and slope beside another jump."""
        return replace(self, jump=jump)

    @property
    def pieces(self) -> Pieces:
        if "pieces" not in self._made:
            self._made["pieces"] = _checked(self.prior, self.goal, self.slope, self.what)
        found: Pieces = self._made["pieces"]
        return found

    @property
    def rate(self) -> float:
        """Nats per unit."""
        return self.slope / radius_of(self.goal)

    @property
    def still(self) -> bool:
        """Whether all victims have the same goal."""
        return all(isinstance(g, In) for g in map(bare, simple_goals(self.goal)))

    def _families(self) -> list[Family]:
        if "families" not in self._made:
            first, last = _range(self.pieces, widest(self.goal))
            found, meeting = forms(self.goal, first, last)
            found = [f for f in (_likely(self.pieces, f) for f in found) if f.first <= f.last]
            found += meeting if self.pieces.values.size else []
            values = self.pieces.values
            self._made["families"] = [Family(self.pieces, self.rate, f.possible(values)) for f in found]
        every: list[Family] = self._made["families"]
        return every

    def _family(self, x: float) -> Family:
        return Family(self.pieces, self.rate, form(self.goal, x, x, x).possible(self.pieces.values))

    # --- one victim ---------------------------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def at(self, victim: Any) -> Figures:
        quick = self._quick(victim)
        if quick is not None:
            return quick[0]
        x = np.array([self._coordinate(victim)])
        family = self._family(float(x[0]))
        before, odds, _ = family.figures(x)
        if not self.slope and not self.jump:
            return Figures(float(before[0]), float(before[0]), float(before[0]))
        after, smallest = lifted(odds, self.jump), lifted(1 / family.contrary(x), -self.jump) * (1 - 16 * EPS)
        after, smallest = np.maximum(after, before), np.maximum(np.minimum(smallest, before), 0.0)
        return Figures(float(before[0]), float(after[0]), float(smallest[0]))

    def _quick(self, victim: Any) -> tuple[Figures, float, float] | None:
        """In closed form, where there is one."""
        goal, prior = bare(self.goal), self.prior
        if not isinstance(goal, Within) or not isinstance(prior, (Uniform, Normal)) or type(victim) not in (int, float):
            return None
        if isinstance(prior, Uniform) and not prior.low <= victim <= prior.high:
            return None
        return closed.figures(prior, goal.radius, self.slope, self.jump, float(victim))

    def _coordinate(self, victim: Any) -> float:
        p = self.pieces
        if victim is None and self.still:
            return p.likely[0] + (p.likely[1] - p.likely[0]) / 2
        if isinstance(victim, bool) or not isinstance(victim, (int, float, np.number)) or not math.isfinite(victim):
            raise Misconfigured(f"victim must be a number, a possible value of {self.what}, found {victim!r}")
        x = float(victim)
        if not p.low <= x <= p.high:
            raise Misconfigured(
                f"victim must be between {p.low:g} and {p.high:g}, the possible values of {self.what}, found {x:g}"
            )
        near = p.values[np.argmin(np.abs(p.values - x))] if p.values.size else math.nan
        x = float(near) if abs(near - x) <= 4 * EPS * abs(x) else x  # 0.1 + 0.2 is 0.3
        if isinstance(bare(self.goal), Exactly) and x != near:
            raise Misconfigured(f"victim must be a possible value of {self.what} for the goal `exactly`, found {x:g}")
        return told(x, radius_of(self.goal) if widest(self.goal) else 0.0, self.what) if p.dense else x

    # --- the worst one ------------------------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def worst(self, up: float = 1.0, down: float = 1.0, *, sharp: float = 2e-5) -> Worst:
        free = not self.slope and not self.jump
        if free and up == down:
            best = self._best(Aims(((1.0, 0.0),)), sharp)  # nobody gains anything: the likeliest is named
            return replace(best, after=best.before, value=0.0)
        best = self._best(Aims(((up, down),), (self.jump,)), sharp)
        if self.pieces.dense and best.victim is not None:
            told(best.victim, radius_of(self.goal) if widest(self.goal) else 0.0, self.what)
        spare = MARGIN * abs(best.value) if self.pieces.dense else 0.0
        value = best.value if free else best.value + spare + 32 * EPS * up * best.after * (best.after < 1)
        return replace(best, value=value)

    def _best(self, aims: Aims, sharp: float) -> Worst:
        """Of one aim."""
        points, rows = self._found(aims, Near(sharp))
        x, before, odds = rows[:, int(np.argmax(aims.of(rows[1], rows[2])))].tolist()
        after = max(float(lifted(odds, aims.jumps[0])), before)
        return Worst(None if self.still else x, before, after, float(aims.of(*points).max()))

    @np.errstate(all="ignore")
    def points(self, aims: Aims, near: Near) -> Floats:
        """Before and odds by the slope alone that bound everybody, beside any jump."""
        return self._found(aims, near)[0]

    def _found(self, aims: Aims, near: Near) -> tuple[Floats, Floats]:
        """Points that bound everybody; and of all victims who were looked at x, before and odds."""
        points, rows, known = [], [], np.full(len(aims.lines) * len(aims.jumps), -math.inf)
        single = not self.pieces.dense and isinstance(bare(self.goal), (Within, Exactly))
        for family in self._families():
            seen = self._seen.get(family.form)
            found = listed(family, seen) if single else search(family, aims, near, seen, known)
            self._seen[family.form] = found.rows
            points.append(found.points)
            rows.append(found.rows[:3])
            known = np.maximum(known, aims.of(*found.rows[1:3]).max(axis=1))
        return np.concatenate(points, axis=1), np.concatenate(rows, axis=1)

    @np.errstate(all="ignore")
    def likeliest(self) -> float:
        free = _victims(self.prior, self.goal, 0.0, self.what)
        return min(1.0, free._best(Aims(((1.0, 0.0),)), 1e-6).value * (1 + 1e-12))  # noqa: SLF001

    # --- mechanisms ---------------------------------------------------------------------------------------------------

    def witness(self, victim: Any) -> Witness:
        return self._witness(victim)[0]

    def attained(self, victim: Any) -> float:
        return self._witness(victim)[1]

    @np.errstate(all="ignore")
    def _witness(self, victim: Any) -> tuple[Witness, float]:
        """The mechanism, and the posterior it reaches."""
        if (quick := self._quick(victim)) is not None:
            radius = radius_of(self.goal)
            inside = ((victim - radius, victim + radius),)
            peak = Witness("laplace", float(victim), quick[1], self.rate, self.jump, inside)
            return peak, float(lifted(quick[2], self.jump)) * (1 - 32 * EPS)
        x = np.array([self._coordinate(victim)])
        family = self._family(float(x[0]))
        places, flags = family.places(x, family.form, out=False), family.form.inside
        ends = [end.of(float(x[0])) for end in family.form.ends]
        plain = Witness(
            "randomised response",
            None if self.still else float(x[0]),
            jump=self.jump,
            inside=tuple(zip(ends[::2], ends[1::2], strict=True)),
            outside=flags[0],
        )
        share = float(family.before(places, flags, x.shape)[0])
        found = [(share / (1 - share) if share < 1 else math.inf, plain)]
        if self.slope and ends:  # a valley where all but one interval is inside, else a peak in one of them
            k, odds = -self.rate if flags == ALL_BUT_ONE else self.rate, family.odds(places, flags, x.shape)
            for j, flag in enumerate(flags[1:-1]):
                if flag == (k > 0):
                    t = sweep.peak(self.pieces, k, places[j], places[j + 1], odds)
                    at = float(np.clip(t.y[0], ends[j], ends[j + 1]))  # also beyond the pieces
                    met = float(sweep.reached(self.pieces, k, t, places, flags)[0])
                    found.append((met, replace(plain, kind="laplace", peak=at, rate=k)))
        met, witness = max(found[1:] or found, key=lambda one: one[0])
        return witness, float(lifted(met, self.jump)) * (1 - 32 * EPS)


def _range(p: Pieces, wide: float) -> tuple[float, float]:
    """Where guesses are looked at: also beside all that is likely, where they are right about some of it."""
    if not p.dense:
        return p.likely
    return max(p.low, p.likely[0] - wide), min(p.high, p.likely[1] + wide)


def _likely(p: Pieces, form: Form) -> Form:
    """Those victims whose goals have ends among the likely values."""
    moving = [end.at for end in form.ends if end.moves]
    if not moving or not p.dense:
        return form
    first, last = max(form.first, p.likely[0] - max(moving)), min(form.last, p.likely[1] - min(moving))
    return replace(form, first=first, last=last)


def _checked(prior: Prior, goal: Goal, slope: float, what: str) -> Pieces:
    """The prior as pieces, where the question makes sense."""
    if prior.kind != "line":
        raise Misconfigured(f"{prior!r} is not a prior on a number; use `exactly` or `in` for labels")
    for _, smooth in law_of(prior).parts:
        if smooth.nodes.size < 8 and not smooth.flat:
            told(float(smooth.nodes[0]), radius_of(goal), what)
            raise Misconfigured(
                f"the prior of {what} is narrower than floating-point numbers around {smooth.nodes[0]:g} tell apart",
                hint="Count from a nearer origin: subtract a constant from the prior and from the victim.",
            )
    p = pieces_of(prior)
    for part in map(bare, simple_goals(goal)):
        if isinstance(part, In) and part.values is not None and any(isinstance(v, str) for v in part.values):
            raise Misconfigured(f"{what} is a number; the goal `{part}` lists labels")
    _met(p, goal, what)
    _steep(p, slope, radius_of(goal), what)
    return p


def _met(p: Pieces, goal: Goal, what: str) -> None:
    """Refuses goals that nobody meets."""
    one = bare(goal)
    if isinstance(one, Exactly) and not p.values.size:
        raise Misconfigured(
            f"nobody can be guessed exactly on a continuous scale ({what}): the goal `exactly` is never met",
            hint="Ask for `within` a radius, or give the prior as Atoms.",
        )
    if isinstance(one, In) and one.values is not None and not p.values.size:
        raise Misconfigured(
            f"single values have no probability on a continuous scale ({what}): the goal `{one}` is never met",
            hint="Give an interval like in [10, 20].",
        )
    if isinstance(one, In) and one.low is not None and one.high is not None and one.low <= p.high and p.low <= one.high:
        return
    every = [f.possible(p.values) for some in forms(goal, *_range(p, widest(goal))) for f in some]
    if any(f.inside[0] or _possible(p, f) for f in every):
        return
    if isinstance(one, In) and one.values is not None:
        raise Misconfigured(f"none of the values of `{one}` is possible for {what}: the goal is never met")
    meets = "is in" if isinstance(one, In) else "meets"
    raise Misconfigured(
        f"no possible value of {what} ({p.low:g} to {p.high:g}) {meets} `{goal}`: the goal is never met"
    )


def _possible(p: Pieces, form: Form) -> bool:
    """Whether some of these victims' goals have a possible value: of all their goals together."""
    moved = [(form.first * end.moves + end.at, form.last * end.moves + end.at) for end in form.ends]
    edges = [(-math.inf, -math.inf), *moved, (math.inf, math.inf)]
    for flag, (a, _), (_, b) in zip(form.inside, edges[:-1], edges[1:], strict=True):
        spare = 16 * EPS * (abs(a) + abs(b)) if math.isfinite(b - a) else 0.0
        single = ((p.values >= a - spare) & (p.values <= b + spare)).any()
        if flag and (single or (p.dense and a < p.high and b > p.low and b > a)):
            return True
    return False


def _steep(p: Pieces, slope: float, radius: float, what: str) -> None:
    """Refused where squares of nats over the prior would be no numbers any more."""
    rate = slope / radius
    if max(rate, slope) > 1e50:
        across = max(1.0, float(p.x[-1] - p.x[0]))
        if not rate * across <= STEEPEST:
            raise Misconfigured(
                f"slope must be at most {STEEPEST / across * radius:.3g} for {what} (its likely values spread over "
                f"{across:g}, the radius is {radius:g}), found {slope:g}",
                hint="Give a smaller slope, or ask about a larger radius.",
            )
