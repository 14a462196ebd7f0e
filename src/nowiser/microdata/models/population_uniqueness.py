"""Population uniqueness: the estimated share of the *population* that would look like nobody else.

The released rows are taken as a simple random sample of a population of known size. Three estimators of
the number of population uniques, from the sizes of the sample's groups:

* `pitman` (Hoshino 2001): the Pitman sampling formula with parameters θ, α by maximum likelihood;
  N^α · Γ(θ+1)/Γ(θ+α) uniques.
* `zayatz` (1991): Bayes' rule with hypergeometric chances that a class of each size shows as a single row.
* `snb` (Chen and Keller-McNulty 1998): cells follow a negative binomial shifted by one; its parameters solve
  the expected numbers of sample cells of sizes 1 and 2, with the number of cells by Shlosser's estimator.

Estimates, not bounds: none of them is monotone, so the search checks them node by node.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import TableModel
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class PopulationUniqueness(TableModel):
    share: float | None = None
    people: int | None = None  # size of the population
    estimator: Literal["pitman", "zayatz", "snb"] = "pitman"
    name: ClassVar[str] = "population-uniqueness"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def __post_init__(self) -> None:
        if self.share is not None and self.people is None:
            raise Misconfigured(
                "population-uniqueness with a limit needs `people`, the size of the population",
                hint="models: {population-uniqueness: {share: 1%, people: 1000000}}",
            )

    @property
    def limit(self) -> float | None:
        return self.share

    def value(self, groups: Groups) -> float:
        rows = int(groups.size.sum())
        people = self.people or rows
        if people < rows:
            raise Misconfigured(f"a population of {people} cannot have {rows} rows in the table")
        sizes, counts = np.unique(groups.size[groups.size > 0], return_counts=True)
        if not rows or sizes[0] > 1:
            return 0.0  # no sample unique: every estimator gives none
        if people == rows:
            return float(counts[0]) / rows
        uniques = ESTIMATORS[self.estimator](sizes.astype(np.float64), counts.astype(np.float64), people)
        return float(np.clip(uniques / people, 0.0, 1.0))


def pitman(sizes: Floats, counts: Floats, people: int) -> float:
    """Maximise the likelihood of the Pitman sampling formula over θ > 0, 0 < α < 1."""
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    cells, rows = counts.sum(), sizes @ counts

    def against(point: Floats) -> float:
        theta, alpha = np.exp(point[0]), expit(point[1])
        rising = (cells - 1) * np.log(alpha) + gammaln(theta / alpha + cells) - gammaln(theta / alpha + 1)
        within = counts @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        return -float(rising - gammaln(theta + rows) + gammaln(theta + 1) + within)

    starts = [(np.log(max(1.0, cells / 2)), 0.0), (0.0, 0.0), (np.log(max(1.0, cells)), -3.0)]
    bounds = [(-10.0, 25.0), (-15.0, 15.0)]
    tight = {"ftol": 1e-15, "gtol": 1e-9}
    fits = [minimize(against, start, method="L-BFGS-B", bounds=bounds, options=tight) for start in starts]
    best = min(fits, key=lambda f: float(f.fun))
    theta, alpha = np.exp(best.x[0]), expit(best.x[1])
    return float(np.exp(alpha * np.log(people) + gammaln(theta + 1) - gammaln(theta + alpha)))


def zayatz(sizes: Floats, counts: Floats, people: int) -> float:
    """n₁ · Pr(population unique | sample unique) / sampling fraction."""
    from scipy.stats import hypergeom

    rows = sizes @ counts
    once = hypergeom.pmf(1, people, sizes.astype(np.int64), int(rows))
    chance = counts[0] * once[0] / float(counts @ once)
    return float(counts[0] * chance * people / rows)


def snb(sizes: Floats, counts: Floats, people: int) -> float:
    """K·β^α with α, β from the expected numbers of sample cells of size 1 and 2."""
    from scipy.optimize import least_squares
    from scipy.special import expit

    f = float(sizes @ counts) / people
    ones = float(counts[0])
    twos = float(counts[sizes == 2].sum())
    cells = shlosser(sizes, counts, f)

    def off(point: Floats) -> Floats:
        alpha, beta = np.exp(point[0]), expit(point[1])
        d = (1 - f) * (1 - beta)
        one = cells * f * (beta / (1 - d)) ** alpha * (1 + alpha * d / (1 - d))
        two = cells * f**2 * alpha * (1 - beta) * (2 - (1 - alpha) * d) * (beta / (1 - d)) ** alpha / (2 * (1 - d) ** 2)
        return np.array([one - ones, two - twos]) / max(1.0, ones)

    starts = [(-1.0, -1.0), (0.0, 0.0), (-2.0, -3.0), (1.0, -4.0)]
    fits = [least_squares(off, start, bounds=([-12, -20], [8, 12])) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    return float(cells * expit(best.x[1]) ** np.exp(best.x[0]))


def shlosser(sizes: Floats, counts: Floats, f: float) -> float:
    """Number of non-empty population cells (Haas and Stokes 1998, Shlosser's third estimator)."""
    unseen = (1 - f) ** sizes
    first = float((sizes * f**2 * (1 - f**2) ** (sizes - 1)) @ counts)
    second = float((unseen * ((1 + f) ** np.minimum(sizes, 700) - 1)) @ counts)
    third = float(unseen @ counts) / float((sizes * f * (1 - f) ** (sizes - 1)) @ counts)
    return float(counts.sum() + counts[0] * (first / second) * third**2)


ESTIMATORS = {"pitman": pitman, "zayatz": zayatz, "snb": snb}
MODEL = PopulationUniqueness
