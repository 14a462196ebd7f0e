"""Normal noise on several columns at once: what the whole noisy row tells about one person, by Bayes.

With `y = c + A(x − c) + A·e`, `e ~ N(0, N)`, all of it published, a true row x makes the released row y likely by

    exp(−½ |N^(−½) (A⁻¹(y − c) − (x − c))|²)

The attacker knows the table's rows as a whole (their joint values, not whose they are), so his belief in row i is that
number over the sum of it over all rows: no independence of the columns is assumed, no shape of their distribution, and
nothing is rounded to quantiles. It costs rows × victims; of a large table victims are drawn, and their average has an
interval.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nowiser.microdata.risk.best_guess import Floats, Goal, Ints, best_window
from nowiser.microdata.table.micro_table import MicroTable

PAIRS = 1 << 26  # victims × rows that are weighed for one figure
FEWEST = 200  # victims, however large the table
AT_ONCE = 1 << 24  # pairs that are held in memory together
DIGITS = 37.0  # nats that a sum to 16 digits can tell
TOLD = 0.2  # of them, per person, is little: as of a published matrix (see pram)
FAR = 35.0  # rows e³⁵ times less likely than the likeliest are left out: all of them together weigh nothing


@dataclass(frozen=True, eq=False)
class Together:
    """What is published about the noise: per stratum its centre c, its map A, its covariance N; each row's stratum."""

    names: tuple[str, ...]
    centre: Floats
    undo: Floats
    covariance: Floats
    strata: Ints
    exact: bool = False  # whether the released digits tell sums over all rows exactly

    @property
    def enough(self) -> int:
        """Rows of a stratum from which on its exact sums say little of each person.

        The sample's means and covariances, and that the noise is orthogonal to the data, are equations between true
        values to 16 digits, 37 nats each. On few whole numbers they have one solution.
        """
        d = len(self.names)
        return math.ceil((d + d * (d + 1) // 2 + d * d) * DIGITS / TOLD) if self.exact else 0

    @property
    def fewest(self) -> int:
        """Rows of the smallest stratum."""
        return int(np.unique(self.strata, return_counts=True)[1].min(initial=self.enough))

    def owners(self, original: MicroTable, released: MicroTable, rows: Ints) -> Iterator[tuple[int, Ints, Floats]]:
        """Of each of these released rows (by its place in `rows`): whose it may be, and the belief in each of them."""
        true = np.column_stack([original[n].numbers for n in self.names])
        seen = np.column_stack([released[n].numbers[rows] for n in self.names])
        for s in np.unique(self.strata[rows]):
            inverse = np.linalg.inv(np.linalg.cholesky(self.covariance[s]))
            white = (true - self.centre[s]) @ inverse.T
            length = 0.5 * (white**2).sum(axis=1)
            mine = np.flatnonzero(self.strata[rows] == s)
            found = (seen[mine] - self.centre[s]) @ (inverse @ np.linalg.inv(self.undo[s])).T
            for part in np.array_split(np.arange(len(mine)), max(1, math.ceil(len(mine) * len(true) / AT_ONCE))):
                likely = found[part] @ white.T  # −½|y − x|², but for what is the same for every x
                likely -= length
                for place, each in zip(mine[part].tolist(), likely, strict=True):
                    near = np.flatnonzero(each > each.max() - FAR)
                    weight = np.exp(each[near] - each[near].max())
                    yield place, near, weight / weight.sum()

    def fits(self, original: MicroTable, released: MicroTable) -> bool:
        """Whether every column is there, in full, in both tables."""
        return all(n in t and t[n].is_numeric and not t[n].nulls for n in self.names for t in (original, released))


def most_rows(original: MicroTable) -> int:
    """How many released rows are weighed against the whole table in a few seconds."""
    return max(FEWEST, PAIRS // max(1, original.rows))


def beliefs(together: Together, original: MicroTable, released: MicroTable, aim: Goal, rows: Ints) -> Floats:
    """How sure the attacker is of his best guess about the owner of each of these released rows."""
    column = original[aim.column]
    order = np.argsort(column.numbers if aim.within is not None else column.codes, kind="stable")
    ordered = original.take(order)
    numbers, codes = ordered[aim.column].numbers, ordered[aim.column].codes
    out, total = np.empty(len(rows)), np.zeros(len(order) + 1)
    end = np.searchsorted(numbers, numbers + 2 * (aim.within or 0.0) * (1 + 1e-12), side="right")
    for place, near, weight in together.owners(ordered, released, rows):
        if aim.within is None:
            out[place] = np.bincount(codes[near], weights=weight).max()
        elif 8 * len(near) < len(order):
            out[place] = best_window(numbers[near], weight, aim.within)[1]
        else:  # the same window, without looking for its end again
            total[1:] = 0.0
            total[near + 1] = weight
            np.cumsum(total, out=total)
            out[place] = (total[end] - total[:-1]).max()
    return out


def interval_of_mean(values: Floats, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Hoeffding's interval for the average of `of` numbers between 0 and 1, from those that were drawn of them.

    It holds for draws without replacement too (Hoeffding 1963, section 6), and for any distribution.
    """
    mean = float(values.mean())
    if len(values) >= of:
        return mean, mean
    away = math.sqrt(math.log(2 / (1 - confidence)) / (2 * len(values)))
    return max(0.0, mean - away), min(1.0, mean + away)
