"""Model-based resampling: values are drawn afresh from a model of the column, none is anybody's own.

* `copula`: normal scores are drawn from the fitted conditional law given the `given` columns (as in
  shuffling) and turned into values by the smoothed quantile function of the column: between two
  neighbouring order statistics, linearly. Marginals and rank correlations are those of the data up to
  sampling error, and no original value need appear.
* `bootstrap`: `times` independent bootstrap samples are sorted and averaged rank by rank; the r-th
  smallest value is replaced by the average of the r-th smallest values. Order is kept, so dependence is
  too; extremes are pulled in.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.normal_scores import explaining, generate, given_columns, normal_scores
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.risk.channel import Released
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Floats,
    Names,
    chosen,
    grouped,
    matrix,
    members,
    varying,
)
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Resample:
    """Replace numeric columns by draws from a model fitted to them."""

    name: ClassVar[str] = "resample"

    columns: Names
    model: Literal["copula", "bootstrap"] = "copula"
    given: Names | None = None  # for copula; without it: the quasi-identifiers that stay
    times: int = 3  # for bootstrap
    strata: Names | None = None

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="resample: columns")
        if self.model not in ("copula", "bootstrap"):
            raise Misconfigured(f"resample: model must be copula or bootstrap, not {self.model!r}")
        if self.times < 1:
            raise Misconfigured(f"resample: times must be at least 1, not {self.times}")
        strata = strata_of(table, run.roles, self.strata)
        given = given_columns(table, run.roles, names, self.given, strata, step=self.name)
        values, columns = matrix(table, names)
        for column in columns:
            varying(column)
        codes, count = grouped(table, strata)
        new = np.empty_like(values)
        for rows in members(codes, count):
            here = values[rows]
            if self.model == "bootstrap":
                new[rows] = np.column_stack(
                    [bootstrap_ranks(here[:, j], self.times, run.random) for j in range(len(names))]
                )
                continue
            scores = np.column_stack([normal_scores(table[n], rows) for n in names])
            drawn = generate(scores, explaining(table, given, rows), run.random)
            new[rows] = np.column_stack([smooth_quantile(np.sort(here[:, j]), drawn[:, j]) for j in range(len(names))])
        result = table.with_columns(*(c.back(new[:, j]) for j, c in enumerate(columns)))
        codebook = {"model": self.model, "given": list(given)}
        return Step(result, self.name, codebook, guesses=guesses_of(run, table, result, {n: Released() for n in names}))


def smooth_quantile(ordered: Floats, scores: Floats) -> Floats:
    """The piecewise linear quantile function through the order statistics, at Φ(score)."""
    from scipy.special import ndtr

    n = len(ordered)
    place = np.clip(ndtr(scores) * n - 0.5, 0, n - 1)
    low = np.minimum(place.astype(np.int64), max(0, n - 2))
    return np.asarray(ordered[low] + (place - low) * (ordered[np.minimum(low + 1, n - 1)] - ordered[low]))


def bootstrap_ranks(values: Floats, times: int, random: np.random.Generator) -> Floats:
    """Rank by rank the average of `times` sorted bootstrap samples."""
    n = len(values)
    order = np.argsort(values)
    ordered = values[order]
    total = np.zeros(n)
    for _ in range(times):
        # a sorted bootstrap sample is the sorted values, each repeated as often as it was drawn
        total += np.repeat(ordered, np.bincount(random.integers(n, size=n), minlength=n))
    out = np.empty(n)
    out[order] = total / times
    return out


METHOD = Resample
