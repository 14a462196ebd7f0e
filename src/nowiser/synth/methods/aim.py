"""AIM: measure what is modelled worst, fit, and again, until the budget is spent (McKenna and others, 2022).

First every column is counted for itself. Then each round picks a set of columns by the exponential mechanism: the score
is how far the model is from the data (in rows, L1), less what noise would add, times how much the workload cares. It is
counted with noise and the model fitted anew. Where a round moved the model by no more than noise would, counts get
a larger share from then on. A set that would make the tree larger than allowed so far is no candidate.

What one row can do to a score is told in `scores`; weights are whole numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.methods.independent import singles
from nowiser.synth.methods.scores import GRID, apart
from nowiser.synth.noisy import Made, Noisy, rows_in, targets
from nowiser.synth.run import Run
from nowiser.synth.tree.fit import Fitted, fit
from nowiser.synth.tree.junction import Clique, Junction, junction_tree

CHOOSING = Fraction(1, 10)  # of the budget
PER_COLUMN = 16  # rounds there would be for each column if counts never got more
FASTER = Fraction(7, 5)  # times the share, once a round tells little
EXPECTED = math.sqrt(2 / math.pi)  # of the absolute value of a standard normal
ROUNDS, LAST = 40, 1000  # steps of a fit between choices, and of the last one


@dataclass
class Pace:
    """What a round spends on its count and on its choice."""

    count: Fraction
    choice: Fraction

    def faster(self) -> None:
        self.count, self.choice = FASTER * self.count, FASTER * self.choice


def aim(data: Coded, meter: Meter, run: Run) -> Made:
    """The fitted model, from noisy counts of chosen sets of columns."""
    total, turns = meter.counts, PER_COLUMN * len(data.sizes)
    pace = Pace(total / turns, meter.choices / turns)
    measured = singles(data, meter, total / PER_COLUMN)
    rows = rows_in(measured)
    tree = junction_tree(data.sizes, [*(m.columns for m in measured), *run.held])
    fitted = fit(tree, targets(measured, rows), None, ROUNDS, zeros=run.zeros)
    truth = {c: data.counts(c) for c in run.workload}
    while meter.counts > 0:
        if meter.counts < 2 * pace.count:
            pace = Pace(meter.counts, meter.choices)
        allowed = run.cells * float(1 - (meter.counts - pace.count) / total)
        columns_chosen = _chosen(truth, fitted, rows, run, meter=meter, pace=pace, allowed=allowed)
        noisy = Noisy(columns_chosen, *meter.counted(truth[columns_chosen], pace.count))
        measured.append(noisy)
        run.told(float(1 - meter.counts / total), columns_chosen)
        before = _share(fitted, columns_chosen)
        tree = junction_tree(data.sizes, [*(m.columns for m in measured), *run.held])
        last = meter.counts <= 0
        rows = rows_in(measured)
        fitted = fit(tree, targets(measured, rows), fitted, LAST if last else ROUNDS, zeros=run.zeros)
        moved = rows * float(np.abs(_share(fitted, columns_chosen) - before).sum())
        if moved <= EXPECTED * math.sqrt(noisy.variance) * noisy.counts.size:
            pace.faster()
    return Made(fitted, tuple(measured))


def _chosen(
    truth: Mapping[Clique, NDArray[np.int64]],
    fitted: Fitted,
    rows: float,
    run: Run,
    *,
    meter: Meter,
    pace: Pace,
    allowed: float,
) -> Clique:
    """What is modelled worst, by the exponential mechanism."""
    model = shares(fitted, run.workload)
    candidates = _fitting(fitted.beliefs.tree, run.workload, allowed)
    sigma = meter.rows_per_person / math.sqrt(pace.count)
    heaviest = max(run.workload.values())
    scores = []
    for c in candidates:
        noise = round(GRID * EXPECTED * sigma * truth[c].size)
        scores.append(run.workload[c] * (apart(truth[c], model[c], rows) - noise))
    return candidates[meter.chosen(scores, GRID * heaviest, pace.choice)]


def _fitting(tree: Junction, workload: Mapping[Clique, int], allowed: float) -> list[Clique]:
    """The sets of columns that the tree may hold besides; one at least."""
    with_a = {v: tree.cells_with(v) for v in {c[0] for c in workload}}
    return [c for c in workload if tree.holding(c) is not None or with_a[c[0]][c[1]] <= allowed]


def shares(fitted: Fitted, wanted: Mapping[Clique, int]) -> dict[Clique, NDArray[np.float64]]:
    """The model's marginals of single columns and of pairs, wherever in the tree they are."""
    found: dict[Clique, NDArray[np.float64]] = {}
    first: dict[int, dict[int, NDArray[np.float64]]] = {}
    for c in wanted:
        if fitted.beliefs.tree.holding(c) is not None:
            found[c] = fitted.beliefs.marginal(c)
        else:
            a, b = c
            if a not in first:
                first[a] = fitted.beliefs.pairs_with(a)
            found[c] = first[a][b]
    return found


def _share(fitted: Fitted, columns: Clique) -> NDArray[np.float64]:
    return shares(fitted, {columns: 1})[columns]
