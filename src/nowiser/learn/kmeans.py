"""k-means: seeds from a noisy grid, then a few rounds of noisy sums and counts.

*Seeds.* Space is cut into cells that are public (in many columns: cells of a random plane), and one release holds, for
every cell, how many rows are in it and their sum. A usual k-means of the cells, weighted, costs nothing more.
*Rounds.* Each releases how many rows are nearest to each centre, and their sum. A row is in one cell and nearest to one
centre, so it moves one count by 1 and one sum by its own length: (1, x) is one vector, and its noise is paid at once.
Which centre is nearest is decided in whole numbers, so nobody's place depends on the others.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from nowiser.learn.estimator import Estimator
from nowiser.learn.rows import UNIT, Floats, Rows, Whole
from nowiser.learn.spending import Spending
from nowiser.learn.wrong import Unsuitable

SEEDING = Fraction(1, 2)  # share of the budget for the grid
AXES = 3  # of the grid
CELLS = 512  # about so many
TRIES = 5  # starts of the k-means of the cells


@dataclass(eq=False, kw_only=True, repr=False)
class KMeans(Estimator):
    """`clusters` centres near which the rows are, in columns as `bounds` scale them.

    >>> import numpy as np
    >>> X = np.r_[np.full((3000, 1), 0.1), np.full((3000, 1), 0.9)]
    >>> model = KMeans(rho=0.1, bounds=(0, 1), clusters=2).fit(X)
    >>> bool(model.predict([[0.05]])[0] == model.predict([[0.2]])[0] != model.predict([[0.95]])[0])
    True
    """

    clusters: int = 5
    rounds: int = 3

    kind = "clusterer"

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:  # noqa: ARG002 (scikit-learn passes it)
        """Learn from rows. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        if int(self.clusters) < 1 or int(self.rounds) < 0:
            raise Unsuitable(f"clusters must be at least 1 and rounds at least 0, found {self.clusters}, {self.rounds}")
        known = np.ones(domain.count(table), dtype=bool)
        rows = domain.rows(table, chosen=self._counted(groups, known))
        seeding = spending.total if not int(self.rounds) else spending.share(SEEDING)
        centres = self._seeds(rows, spending, seeding)
        for _ in range(int(self.rounds)):
            rho = (spending.total - seeding) / int(self.rounds)
            place = nearest(rows, centres)
            counts, sums = _sums(rows, place, len(centres), "rows near centres", spending, rho)
            noise = spending.deviation(rows.longest + 1, rho)
            moved = counts > 4 * noise  # a centre with hardly any rows stays
            centres[moved] = np.clip(sums[moved] / counts[moved, None], -1.0, 1.0)
        self.centres_ = centres
        self.domain_ = domain
        return self._closed(spending)

    def _seeds(self, rows: Rows, spending: Spending, rho: Fraction) -> Floats:
        random = np.random.default_rng(int.from_bytes(spending.entropy.bytes(16), "little"))  # public, no noise
        axes = min(AXES, rows.width)
        plane = np.eye(rows.width)[:, :axes]
        if rows.width > AXES:
            plane = np.linalg.qr(random.standard_normal((rows.width, axes)))[0]
        parts = max(2, round(CELLS ** (1 / axes)))
        place = _cells(rows, plane, parts)
        counts, sums = _sums(rows, place, parts**axes, "rows in cells", spending, rho)
        noise = spending.deviation(rows.longest + 1, rho)
        full: Any = counts > 3 * noise
        if full.sum() < int(self.clusters):
            full = np.argsort(counts)[-int(self.clusters) :]
        points = np.clip(sums[full] / np.maximum(counts[full], 1.0)[:, None], -1.0, 1.0)
        return _weighted(points, np.maximum(counts[full], 1.0), int(self.clusters), random)

    def predict(self, table: Any) -> Whole:
        """The nearest centre of each row."""
        domain = self._check_fitted(table)
        return nearest(domain.rows(table), self.centres_)

    def score(self, table: Any, y: Any = None) -> float:  # noqa: ARG002 (as scikit-learn has it)
        """Minus the sum of squared distances to the nearest centre, in columns as `bounds` scale them."""
        domain = self._check_fitted(table)
        spread = domain.spread(table)
        return -float(((spread - self.centres_[self.predict(table)]) ** 2).sum())


def nearest(rows: Rows, centres: Floats) -> Whole:
    """The nearest centre: |c|² − 2x·c is smallest, in whole numbers."""
    whole = np.rint(centres * UNIT).astype(np.int64)
    square = (whole * whole).sum(axis=1)
    return np.asarray(np.argmin(square - 2 * rows.times(whole.T), axis=1), dtype=np.int64)


def _cells(rows: Rows, plane: Floats, parts: int) -> Whole:
    """The cell of each row in the plane, whose ends are the farthest that any row may be."""
    whole = np.rint(plane * UNIT).astype(np.int64)
    far = UNIT * UNIT * (1 if (np.count_nonzero(plane, axis=0) == 1).all() else rows.longest**0.5)
    at = rows.times(whole)
    cut = np.clip(np.floor((at + far) * parts / (2 * far)), 0, parts - 1).astype(np.int64)
    found = np.zeros(rows.count, dtype=np.int64)
    for column in cut.T:
        found = found * parts + column
    return found


def _sums(  # noqa: PLR0917 (a purchase: of what, where, for how much)
    rows: Rows, place: Whole, many: int, what: str, spending: Spending, rho: Fraction
) -> tuple[Floats, Floats]:
    """How many rows are in each place, and their sums in raw units: of squared length 1 + longest for each row."""
    from scipy.sparse import csr_array

    member = csr_array((np.ones(rows.count), (np.arange(rows.count), place)), shape=(rows.count, many))
    summed = member.T @ rows.units
    sums = np.asarray(summed.toarray() if hasattr(summed, "toarray") else summed).astype(np.int64)
    counts = np.bincount(place, minlength=many).astype(np.int64) * UNIT
    both = np.concatenate([counts[:, None], sums], axis=1)
    noisy = spending.noisy(what, both, (rows.longest + 1) * UNIT**2, rho) / UNIT
    return noisy[:, 0], noisy[:, 1:]


def _weighted(points: Floats, weights: Floats, many: int, random: np.random.Generator) -> Floats:
    """The best of some runs of the usual k-means of weighted points: post-processing."""
    best: tuple[float, Floats] | None = None
    for _ in range(TRIES):
        centres = points[random.choice(len(points), 1, p=weights / weights.sum())]
        while len(centres) < many:  # k-means++
            far = weights * ((points[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1) + 1e-12
            centres = np.concatenate([centres, points[random.choice(len(points), 1, p=far / far.sum())]])
        place = np.full(len(points), -1)
        for _ in range(50):
            off = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
            before, place = place, off.argmin(axis=1)
            if (before == place).all():
                break
            for i in range(many):
                if (place == i).any():
                    centres[i] = np.average(points[place == i], axis=0, weights=weights[place == i])
        loss = float(weights @ off.min(axis=1))
        if best is None or loss < best[0]:
            best = (loss, centres.copy())
    assert best is not None
    return best[1]
