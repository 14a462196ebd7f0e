"""Data shuffling (Muralidhar and Sarathy): everybody gets somebody else's true value, and the dependence stays.

1. confidential and non-confidential columns become normal scores;
2. the confidential scores are regressed on the non-confidential ones, and new scores are drawn from
   the fitted conditional law: they depend on a person's own confidential values only through the model;
3. the person whose new score has rank r gets the r-th smallest original value.

**Every marginal is kept exactly** (the same values, reordered). Rank correlations, among the confidential
columns and with the others, are those of the data up to the sampling error of the draw: the codebook states the
tolerance `4/√n`, and not how far they moved, which would tell something of who got whose value. Dependence that is
not monotone is lost.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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
from nowiser.microdata.table.column import Codes, Column
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Shuffle:
    """Shuffle the confidential `columns` so that they keep their dependence on `given` (and each other)."""

    name: ClassVar[str] = "shuffle"

    columns: Names
    given: Names | None = None  # without it: the quasi-identifiers that are not shuffled
    strata: Names | None = None

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="shuffle: columns")
        strata = strata_of(table, run.roles, self.strata)
        given = given_columns(table, run.roles, names, self.given, strata, step=self.name)
        _, columns = matrix(table, names)
        for column in columns:
            varying(column)
        codes, count = grouped(table, strata)
        new = {c.name: table[c.name].codes.copy() for c in columns}
        for rows in members(codes, count):
            scores = np.column_stack([normal_scores(table[n], rows) for n in names])
            others = explaining(table, given, rows)
            drawn = generate(scores, others, run.random)
            for j, name in enumerate(names):
                order = reorder(table[name].codes[rows], drawn[:, j])
                new[name][rows] = table[name].codes[rows][order]
        result = table.with_columns(*(Column.of_codes(n, c, table[n].values) for n, c in new.items()))
        tolerance = float(4 / np.sqrt(max(1, min(len(r) for r in members(codes, count)))))
        codebook = {"given": list(given), "tolerance": tolerance}
        return Step(result, self.name, codebook, guesses=guesses_of(run, table, result, {n: Released() for n in names}))


def reorder(values: Codes, scores: Floats) -> np.ndarray:
    """Row i receives the value of row `reorder[i]`: the value whose rank is the rank of score i."""
    out = np.empty(len(values), dtype=np.int64)
    out[np.argsort(scores)] = np.argsort(values)  # scores have no ties; equal values may be exchanged freely
    return out


METHOD = Shuffle
