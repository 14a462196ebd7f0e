"""One number and an interval goal: the tight odds, as a crossing of two curves.

Let g = [l, u], k = slope / r, and write, for the prior π,

    E⁺(y) = ∫_{x ≤ y} e^{kx} dπ        E⁻(y) = ∫_{x ≥ y} e^{−kx} dπ        a = E⁺(l−)       b = E⁻(u+)

**Theorem.** For *every* t in g, every likelihood ℓ with |ln ℓ(x) − ln ℓ(x')| ≤ k|x − x'| has posterior odds at most

    max( E⁺(t)/a − 1,  E⁻(t)/b − 1 ),

and at the t where the two are equal a Laplace peak at t attains it.

*Proof.* Left of t: inside g, ℓ(x) ≤ ℓ(l) e^{k(x−l)}; outside, ℓ(x) ≥ ℓ(l) e^{−k(l−x)}. So the mass that ℓ·π has on
[l, t] is
at most (E⁺(t) − a)/a times what it has on (−∞, l). Right of t likewise with (E⁻(t) − b)/b. Added up, the mass inside
g is
at most the larger of the two factors times the mass outside. For ℓ = e^{−k|x−t|} both inequalities are equalities,
so at
the crossing the bound is attained. An atom at t may be split between the two sides, so that a crossing always exists. ∎

The first factor grows with t and the second falls, so the crossing is found by any root finder, and a root finder that
stops early costs sharpness, never soundness. Everything below returns the bound of the theorem at the t it found, plus
the rounding error of evaluating it.

Reversing the sign of k gives the mirror image: with k < 0 the smaller of the two factors is a *lower* bound on the odds
(the attacker is misled), attained by the valley e^{+|k||x−t|}.

A `Line` is a prior prepared for these questions. Five ways: `UniformLine` (solved by hand), `TiltLine` (closed-form
integrals; normal, mixtures, truncations), `LogLine` (Gauss's rule; lognormal), `ChordLine` (exponential pieces;
distributions whose shape is known, and their mixtures with anything), `CellLine` (prefix sums; atoms, histograms,
anything with a distribution function).
"""

from functools import lru_cache
from typing import Protocol

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.prior import Atoms, Frozen, Histogram, LogNormal, Mixture, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

EPS = 2.0**-52
LARGEST = 1e300  # odds, from below: a number that a jump may still divide


class Line(Protocol):
    """A prior on one number, prepared. Arrays in, arrays out; `l` and `u` are the ends of goals, l ≤ u.

    Ends that are no doubles come rounded outward where a bound from above is asked for, else inward (see `rounding`).
    """

    low: float  # ends of the support, possibly infinite
    high: float
    atoms: Floats  # single values with positive probability

    def __hash__(self) -> int: ...

    def mass(self, l: Floats, u: Floats) -> Floats:
        """Prior probability of [l, u]."""
        ...

    def odds(self, k: float, l: Floats, u: Floats) -> Floats:
        """Bound on the posterior odds: upper for k > 0, lower for k < 0; rounding errors included."""
        ...

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """`odds` together with the t at which the crossing was found."""
        ...

    def weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ, for k > 0."""
        ...

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds from below and above on the density over (a, b)."""
        ...

    def peak(self, k: float, l: float, u: float) -> float:
        """The t at which the crossing was found."""
        ...

    def victims(self) -> tuple[Floats, Floats]:
        """The support as intervals [start, end]; atoms are intervals of width zero."""
        ...

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b); infinite where it is not smooth."""
        ...

    def landmarks(self) -> Floats:
        """A few hundred victims from which a search for the worst may start."""
        ...

    def wiggle(self) -> float:
        """Bound on |true − reported| prior mass of any interval (zero unless the prior was approximated)."""
        ...


@lru_cache(maxsize=256)
def line(prior: Prior) -> Line:
    """The prior prepared for interval goals; prepared once."""
    if isinstance(prior, Uniform):
        return UniformLine(prior.low, prior.high)
    from nowiser.guess.density.closed_form import is_closed
    from nowiser.guess.density.tilt import TiltLine

    if isinstance(prior, Truncated) and isinstance(prior.prior, Uniform):
        low, high = max(prior.low, prior.prior.low), min(prior.high, prior.prior.high)
        if not low < high:
            raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
        return UniformLine(low, high)
    if is_closed(prior):
        return TiltLine(prior)
    if isinstance(prior, LogNormal) or (isinstance(prior, Truncated) and isinstance(prior.prior, LogNormal)):
        from nowiser.guess.density.lognormal_line import LogLine

        return LogLine(prior)
    if isinstance(prior, (Frozen, Mixture, Truncated)) and not _listed(prior):
        from nowiser.guess.density.chord_line import ChordLine
        from nowiser.guess.density.chords import chords_of

        if (chords := chords_of(prior)) is not None:
            return ChordLine(chords)
    if isinstance(prior, (Atoms, Histogram, Frozen, Mixture, Truncated)):
        from nowiser.guess.density.cells import CellLine
        from nowiser.guess.density.cut import cells_of

        return CellLine(cells_of(prior))
    raise Misconfigured(f"{prior!r} is not a prior on a number; use `exactly` or `in` for labels")


def _listed(prior: Prior) -> bool:
    """Whether a prior is made of single values and stretches of constant density, which are cells already."""
    if isinstance(prior, Mixture):
        return all(_listed(part) for _, part in prior.parts)
    if isinstance(prior, Truncated):
        return _listed(prior.prior)
    return isinstance(prior, (Atoms, Histogram, Uniform)) or (isinstance(prior, Frozen) and prior.discrete)


class UniformLine:
    """Uniform on [low, high], by hand.

    With α = 1 − e^{−k(l−low)}, β = 1 − e^{−k(high−u)} the crossing condition reads (1+oα)(1+oβ) = e^{k(u−l)}, so the
    odds o solve o²αβ + o(α+β) = Z with Z = e^{k(u−l)} − 1. (For k < 0 the same equation, smaller root.)
    """

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.atoms = np.zeros(0)

    def mass(self, l: Floats, u: Floats) -> Floats:
        inside = np.minimum(u, self.high) - np.maximum(l, self.low)
        return np.clip(inside / (self.high - self.low), 0.0, 1.0)

    def odds(self, k: float, l: Floats, u: Floats) -> Floats:
        l, u = np.clip(l, self.low, self.high), np.clip(u, self.low, self.high)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            alpha = np.abs(np.expm1(-k * (l - self.low)))
            beta = np.abs(np.expm1(-k * (self.high - u)))
            rise = np.abs(np.expm1(k * (u - l)))
            both = alpha + beta
            # √(both² ± 4αβ·Z), without the square of what is smaller than 1e-160. For k < 0 it may be near zero, where
            # both² − 4αβ·Z = (α−β)² + 4αβ(1−Z) loses no digits, and 1−Z = e^{k(u−l)}
            square = 4 * (alpha / both) * (beta / both)
            square = 1 + square * rise if k > 0 else ((alpha - beta) / both) ** 2 + square * np.exp(k * (u - l))
            root = both * np.sqrt(square)
            found = 2.0 * rise / (both + np.where(np.isnan(root), both, root))
        found = np.where(both == 0, np.inf, np.where(np.isnan(found), 0.0 if k < 0 else np.inf, found))
        found = np.where((rise == 0) & (both > 0), 0.0, found)
        # twelve roundings of one unit each, also of exponents; the ends themselves come rounded against ourselves
        slack = np.minimum(32 * EPS * (1 + abs(k) * (u - l)), 0.5)
        return np.asarray(np.maximum(found * (1 + np.copysign(slack, k)), 0.0))

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The bound on the odds, and t, in one go."""
        odds = self.odds(k, l, u)
        l, u = np.clip(l, self.low, self.high), np.clip(u, self.low, self.high)
        with np.errstate(over="ignore", invalid="ignore"):
            rise = np.log1p(-odds * np.expm1(-k * (l - self.low))) / k
        return odds, np.where(l <= self.low, l, np.where(np.isfinite(rise), np.minimum(l + rise, u), (l + u) / 2))

    def weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ."""
        return -(np.expm1(-k * (t - self.low)) + np.expm1(-k * (self.high - t))) / (k * (self.high - self.low))

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over (a, b)."""
        flat = 1 / (self.high - self.low)
        low = np.where((a >= self.low) & (b <= self.high), flat, 0.0)
        return low, np.where((b > self.low) & (a < self.high), flat, 0.0)

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.tight(k, np.array([l], float), np.array([u], float))[1][0])

    def landmarks(self) -> Floats:
        return np.array([self.low, self.high])

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b): flat inside the range, unknown beyond."""
        inside = (a >= self.low) & (b <= self.high)
        return np.where(inside, 0.0, -np.inf), np.where(inside, 0.0, np.inf)

    def victims(self) -> tuple[Floats, Floats]:
        return np.array([self.low]), np.array([self.high])

    def wiggle(self) -> float:
        return 0.0
