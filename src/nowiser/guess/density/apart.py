"""A prior on a number taken apart: the single values that have a probability, and the density beside them."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.cut import cells_of
from nowiser.guess.density.discrete import Tail, nothing_of
from nowiser.guess.density.law import has_density
from nowiser.guess.density.line import Line, line
from nowiser.model.prior import LogNormal, Mixture, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats


@dataclass(frozen=True, eq=False)
class Apart:
    """Single values, ascending, with their probabilities; and with `weight` a value of the density.

    Where there is none its weight is zero, and it does not matter which one stands there.
    """

    values: Floats
    masses: Floats
    weight: float
    density: Line
    tails: tuple[Tail, ...] = ()  # single values that are not listed

    @property
    def low(self) -> float:
        if any(not tail.above for tail in self.tails):
            return -math.inf
        least = float(self.values.min(initial=math.inf))
        return min(self.density.low, least) if self.weight else least

    @property
    def high(self) -> float:
        if any(tail.above for tail in self.tails):
            return math.inf
        most = float(self.values.max(initial=-math.inf))
        return max(self.density.high, most) if self.weight else most

    def singles(self, a: Floats, b: Floats) -> Floats:
        """The probability of single values strictly between."""
        first, last = np.searchsorted(self.values, a, "right"), np.searchsorted(self.values, b, "left")
        return np.asarray(self._below[np.maximum(first, last)] - self._below[first], float)

    @cached_property
    def _below(self) -> Any:
        """Sums of a million terms must not lose digits."""
        return np.concatenate([np.zeros(1, np.longdouble), np.cumsum(self.masses.astype(np.longdouble))])


@lru_cache(maxsize=64)
def apart(prior: Prior) -> Apart:
    """The prior taken apart. Each probability is right to a few roundings."""
    single: dict[float, float] = {}
    spread: list[tuple[float, Prior]] = []
    tails: list[Tail] = []
    for weight, part in _parts(prior):
        row = line(part)
        if row.atoms.size:  # nothing else
            masses = row.mass(row.atoms, row.atoms)
            for x, mass in zip(row.atoms.tolist(), (weight * masses).tolist(), strict=True):
                single[x] = single.get(x, 0.0) + mass
            tails += [tail.times(weight) for tail in row.cells.tails] if isinstance(row, CellLine) else []
        else:
            spread.append((weight, part))
    values = np.array(sorted(single))
    masses = np.array([single[x] for x in values.tolist()])
    if not spread:
        low, high = float(values[0]), float(values[-1])
        nowhere = line(Uniform(low, high if low < high else math.nextafter(high, math.inf)))
        return Apart(values, masses, 0.0, nowhere, tuple(tails))
    weight = math.fsum(w for w, _ in spread)
    parts = [(w / weight, p) for w, p in spread]
    density = parts[0][1] if len(parts) == 1 else Mixture(parts)
    row = line(density)
    if isinstance(density, (LogNormal, Truncated)):
        from nowiser.guess.density.lognormal_line import LogLine

        # Gauss's rule knows masses to 1e-14 of everything, which is much of a far tail
        row = row.pieces if isinstance(row, LogLine) else row
    return Apart(values, masses, weight, row, tuple(tails))


def _parts(prior: Prior) -> list[tuple[float, Prior]]:
    """Single values and densities, each with its weight: what is cut off a mixture is cut off all its single values,
    and off all its densities, of which some may have next to nothing left.
    """
    if isinstance(prior, Mixture):
        found = [(w * inner, part) for w, whole in prior.parts for inner, part in _parts(whole)]
    elif isinstance(prior, Truncated) and isinstance(prior.prior, (Mixture, Truncated)):
        found, every = [], _parts(prior.prior)
        for single in (False, True):
            some = [(w, part) for w, part in every if has_density(part) != single]
            if some:
                weight = math.fsum(w for w, _ in some)
                whole = some[0][1] if len(some) == 1 else Mixture([(w / weight, part) for w, part in some])
                share = weight * _share(whole, prior.low, prior.high, single=single)
                found.append((share, Truncated(whole, prior.low, prior.high)))
        found = [(w, part) for w, part in found if w > 0]
    else:
        return [(1.0, prior)]
    total = math.fsum(w for w, _ in found)
    return [(w / total, part) for w, part in found]


def _share(prior: Prior, low: float, high: float, *, single: bool) -> float:
    """The mass of a range; of single values without those beyond, of which there may be too many."""
    if not single:
        return float(line(prior).mass(np.array([low]), np.array([high]))[0])
    if isinstance(prior, Mixture):
        return math.fsum(w * _share(part, low, high, single=True) for w, part in prior.parts)
    if nothing_of(prior, (low, high)):
        return 0.0
    cells = cells_of(prior, (low, high))
    return float(cells.masses[(cells.starts >= low) & (cells.starts <= high)].sum())
