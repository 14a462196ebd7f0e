"""One simple goal on one attribute, as a function of the victim.

A profile answers two questions about "within 2 of the victim's time": what are before, after and the smallest posterior
for *this* victim (`at`), and what bounds hold for *all* victims of a range (`bounds`). The search for the worst victim
(`worst`) needs no more, so every kind of attribute takes part in it: numbers, labels, presence, unknown priors.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.line import EPS, Line, UniformLine
from nowiser.guess.number.atoms import sets_of
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.rounding import above, below, grain, told
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness


@dataclass(frozen=True)
class Figures:
    """Before, after (rounded up) and smallest posterior (rounded down); floats or arrays alike."""

    before: Any
    after: Any
    smallest: Any

    def negated(self) -> "Figures":
        return Figures(1 - self.before, up(1 - self.smallest), down(1 - self.after))


def up(value: Any) -> Any:
    return np.minimum(np.nextafter(value, np.inf), 1.0)


def down(value: Any) -> Any:
    return np.maximum(np.nextafter(value, -np.inf), 0.0)


class Profile(Protocol):
    """Ranges of victims are pairs (lo, hi) in whatever coordinate the profile uses; single victims have lo = hi."""

    def start(self) -> tuple[Floats, Floats]:
        """Ranges that cover all victims."""
        ...

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        """The figures of single victims; without `smallest` that one is left at 0, which saves half of the work."""
        ...

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """The ranges, shrunk to the victims in them; those without any are left out."""
        ...

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        """For all victims between: before from below, after from above, smallest from below."""
        ...

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        """The same for `not` this goal."""
        ...

    def coordinate(self, victim: Any) -> float:
        """Where this victim stands; Misconfigured when there is no such victim."""
        ...

    def victim(self, x: float) -> Any:
        """Who stands there."""
        ...

    def witness(self, x: float, *, misled: bool) -> Witness:
        """A mechanism that attains `after` (or, when misled, the smallest posterior) for this victim."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Finitely many victims that only a jump protects: labels, presence, a fixed set. Coordinate: index."""

    names: tuple[Any, ...]
    insides: tuple[tuple[Any, ...], ...]
    masses: Floats
    jump: float
    what: str
    possible: tuple[Any, ...] = ()  # victims, where all have one goal: then the only name is None

    def start(self) -> tuple[Floats, Floats]:
        every = np.flatnonzero(self.masses > 0).astype(float)
        every = every if every.size else np.zeros(1)
        return every, every

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        del smallest  # costs nothing here
        before = self.masses[np.asarray(x, np.intp)]
        if not self.jump:
            return Figures(before, before, before)
        odds = odds_of(before)
        return Figures(
            before, np.maximum(lifted(odds, self.jump), before), np.minimum(lifted(odds, -self.jump), before)
        )

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        return lo, hi

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        del hi
        return self.at(lo)

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        del hi
        return self.at(lo).negated()

    def coordinate(self, victim: Any) -> float:
        if victim is None and self.possible:  # as `victim` says who stands here
            return 0.0
        every = self.possible or self.names
        for i, name in enumerate(every):
            if name == victim and isinstance(name, bool) == isinstance(victim, bool):
                return 0.0 if self.possible else float(i)
        known = ", ".join(str(n) for n in every[:10])
        raise Misconfigured(f"victim must be one of the values of {self.what} ({known}), found {victim!r}")

    def victim(self, x: float) -> Any:
        return self.names[int(x)]

    def witness(self, x: float, *, misled: bool) -> Witness:
        return Witness(
            "randomised response",
            victim=self.victim(x),
            jump=-self.jump if misled else self.jump,
            inside=self.insides[int(x)],
        )


@dataclass(frozen=True, eq=False)
class Anyone:
    """Nothing is known about the prior: the worst prior counts, whose mass on the goal is the coordinate.

    reach: T, the largest possible cost between two values. after = p e^T / (1 − p + p e^T), tight for each p: put
    probability p on one end of the range and 1 − p on the other.
    """

    reach: float
    ends: tuple[Any, Any]

    def start(self) -> tuple[Floats, Floats]:
        grid = np.linspace(0.0, 1.0, 65)
        return grid[:-1], grid[1:]

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        del smallest  # costs nothing here
        x = np.asarray(x, float)
        return Figures(x, np.maximum(lifted(odds_of(x), self.reach), x), np.minimum(lifted(odds_of(x), -self.reach), x))

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        return lo, hi

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        return Figures(lo, self.at(hi).after, self.at(lo).smallest)

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        return Figures(1 - hi, up(1 - self.at(lo).smallest), down(1 - self.at(hi).after))

    def coordinate(self, victim: Any) -> float:
        raise Misconfigured(
            f"a victim cannot be given when the prior is unknown, found {victim!r}",
            hint="The worst prior and victim are taken; give a prior to ask about one victim.",
        )

    def victim(self, x: float) -> Any:
        del x
        return self.ends[0]

    def witness(self, x: float, *, misled: bool) -> Witness:
        sign = -1 if misled else 1
        return Witness(
            "randomised response",
            victim=self.ends[0],
            jump=sign * self.reach,
            inside=(self.ends[0],),
            table=((self.ends[0], x), (self.ends[1], 1 - x)),
        )


@lru_cache(maxsize=256)
def centres(line: Line, radius: float) -> tuple[Floats, Floats]:
    """Every guess an attacker may make about a number, as ranges: all between the smallest and the largest value.

    Also guesses that are no possible value: between the ages 20, 21, 22, 23 the guess 21.5 is right within 1.5 for all
    four, which no age is. A guess beyond the range is right only when the nearest end is, so it is left out. For atoms
    only finitely many sets of values can be within the radius of a guess: one guess for each of them (that of a victim
    where there is one).
    """
    first, last = line.victims()
    if not radius:
        return first, last
    if not np.array_equal(first, last):  # also guesses beside all that is likely, which are right about some of it
        low, high = max(line.low, first.min() - radius), min(line.high, last.max() + radius)
        return np.array([low]), np.array([high])
    found = sets_of(line, radius).guesses
    return found, found


@dataclass(frozen=True, eq=False)
class Near:
    """Within `radius` of the victim on a line (radius 0: exactly). Coordinate: the victim's value."""

    line: Line
    radius: float
    rate: float  # k, nats per raw unit
    jump: float
    what: str

    def start(self) -> tuple[Floats, Floats]:
        """All guesses; for a uniform prior only those near the lower end, where victims are as exposed as any.

        A victim whose goal lies inside the range has the same `before` wherever he is; with α, β as in `UniformLine`,
        α+β and αβ are smallest (for k > 0; in size largest for k < 0) when his goal touches an end, hence his
        ceiling is highest and his smallest posterior lowest there. The two ends mirror each other.
        """
        if isinstance(self.line, UniformLine):
            low, high = self.line.low, self.line.high
            return np.array([low]), np.array([min(low + self.radius, (low + high) / 2)])
        return centres(self.line, self.radius)

    def ends(self, x: Floats) -> tuple[Floats, Floats]:
        """The goal of a victim, rounded outward. An atom at its very end is inside, also when x ± r is rounded."""
        if not self.line.atoms.size:
            return below(x, -self.radius), above(x, self.radius)
        reach = self.radius + grain(x, self.radius)
        # single values are all there is: those within reach are those between its ends rounded inward
        return (above(x, -reach), below(x, reach)) if self._listed else (below(x, -reach), above(x, reach))

    def core(self, x: Floats) -> tuple[Floats, Floats]:
        """The goal of a victim, rounded inward; with atoms as `ends`."""
        if self.line.atoms.size:
            return self.ends(x)
        l, u = above(x, -self.radius), below(x, self.radius)
        return l, np.maximum(l, u)

    @property
    def _listed(self) -> bool:
        return isinstance(self.line, CellLine) and self.line.atoms.size == self.line.starts.size

    def _odds(self, l: Floats, u: Floats, *, low: bool = False) -> Floats:
        if self.rate == 0:
            share = self.line.mass(l, u)
            share = np.clip(share + (-1 if low else 1) * self.line.wiggle(), 0.0, 1.0)
            return np.asarray(odds_of(share), float)
        return self.line.odds(-self.rate if low else self.rate, l, u)

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        x = np.atleast_1d(np.asarray(x, float))
        core = self.core(x)
        before = self.line.mass(*core)
        if not self.rate and not self.jump:
            return Figures(before, before, before)
        after = np.maximum(lifted(self._odds(*self.ends(x)), self.jump), before)
        if not smallest:
            return Figures(before, after, np.zeros_like(after))
        return Figures(before, after, np.minimum(lifted(self._odds(*core, low=True), -self.jump), before))

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        starts, ends = centres(self.line, self.radius)
        first = np.clip(np.searchsorted(ends, lo, "left"), 0, starts.size - 1)
        last = np.clip(np.searchsorted(starts, hi, "right") - 1, 0, starts.size - 1)
        lo, hi = np.maximum(lo, starts[first]), np.minimum(hi, ends[last])
        keep = lo <= hi
        return lo[keep], hi[keep]

    def _around(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """The goals of all victims strictly between lo and hi; the ends themselves are looked at one by one."""
        l, u = self.ends(lo)[0], self.ends(hi)[1]
        if not self.line.atoms.size:
            return l, u
        # `ends` reaches a little further
        spare = 16 * EPS * (np.abs(lo) + np.abs(hi) + self.radius)
        inner = lo - self.radius + spare, hi + self.radius - spare
        return np.where((lo < hi) & np.isfinite(l), inner[0], l), np.where((lo < hi) & np.isfinite(u), inner[1], u)

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        r, spare = self.radius, self.line.wiggle()
        outer = self._around(lo, hi)
        l, u = above(hi, -r), below(lo, r)
        within = np.where(l <= u, self.line.mass(l, np.maximum(l, u)) - spare, 0.0)
        after = lifted(self._odds(*outer), self.jump)
        return Figures(np.clip(within * (1 - 8 * EPS), 0.0, 1.0), after, np.zeros_like(lo))

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        r, spare = self.radius, self.line.wiggle()
        around = np.clip(self.line.mass(*self._around(lo, hi)) + spare, 0.0, 1.0)
        l, u = above(hi, -r), below(lo, r)
        some = l <= u
        l, u = np.where(some, l, lo), np.where(some, u, lo)
        smallest = np.where(some, lifted(self._odds(l, u, low=True), -self.jump), 0.0)
        return Figures(down(1 - around), up(1 - smallest), np.zeros_like(lo))

    def coordinate(self, victim: Any) -> float:
        if isinstance(victim, bool) or not isinstance(victim, (int, float, np.number)) or not math.isfinite(victim):
            raise Misconfigured(f"victim must be a number, a possible value of {self.what}, found {victim!r}")
        x = float(victim)
        if not self.line.low <= x <= self.line.high:
            raise Misconfigured(
                f"victim must be between {self.line.low:g} and {self.line.high:g}, "
                f"the possible values of {self.what}, found {x:g}"
            )
        return self.told(x)

    def told(self, x: float) -> float:
        """The victim, where doubles tell his goal from others; Misconfigured where they do not."""
        if not self._listed:
            return told(x, self.radius, self.what)
        near = self.line.atoms[np.argmin(np.abs(self.line.atoms - x))]  # 0.1 + 0.2 is 0.3
        return float(near) if abs(near - x) <= 4 * EPS * abs(x) else x

    def victim(self, x: float) -> Any:
        return self.told(float(x))

    def witness(self, x: float, *, misled: bool) -> Witness:
        low, high = x - self.radius, x + self.radius
        exact = self.ends(np.array([x]))
        if self.line.atoms.size and self.line.mass(np.array([low]), np.array([high])) != self.line.mass(*exact):
            low, high = float(exact[0][0]), float(exact[1][0])  # an atom at the very end would be rounded away
        sign = -1 if misled else 1
        peak = self.line.peak(sign * self.rate, low, high) if self.rate else None
        kind = "laplace" if self.rate else "randomised response"
        return Witness(kind, victim=x, peak=peak, rate=sign * self.rate, jump=sign * self.jump, inside=((low, high),))


@dataclass(frozen=True, eq=False)
class Between(Near):
    """In a fixed interval, whoever the victim is. Coordinate: nothing (0)."""

    low: float = 0.0
    high: float = 0.0

    def start(self) -> tuple[Floats, Floats]:
        return np.zeros(1), np.zeros(1)

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        del x
        l, u = np.array([self.low]), np.array([self.high])
        before = self.line.mass(l, u)
        if not self.rate and not self.jump:
            return Figures(before, before, before)
        after = np.maximum(lifted(self._odds(l, u), self.jump), before)
        if not smallest:
            return Figures(before, after, np.zeros_like(after))
        return Figures(before, after, np.minimum(lifted(self._odds(l, u, low=True), -self.jump), before))

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        return lo, hi

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        del hi
        return self.at(lo)

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        del hi
        return self.at(lo).negated()

    def coordinate(self, victim: Any) -> float:
        if victim is not None:  # as `victim` says who stands here
            super().coordinate(victim)
        return 0.0

    def victim(self, x: float) -> Any:
        del x
        return None

    def witness(self, x: float, *, misled: bool) -> Witness:
        del x
        sign = -1 if misled else 1
        peak = self.line.peak(sign * self.rate, self.low, self.high) if self.rate else None
        kind = "laplace" if self.rate else "randomised response"
        inside = ((self.low, self.high),)
        return Witness(kind, peak=peak, rate=sign * self.rate, jump=sign * self.jump, inside=inside)
