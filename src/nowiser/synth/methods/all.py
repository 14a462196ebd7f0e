"""All: everything in the workload is counted once, in proportion to its weight; nothing is chosen by the data.

So it is known beforehand which columns will have been counted together. A tree can rarely hold all of that. The model
is fitted to what it can hold, taken in the order in which the noisy tables themselves say that the model is furthest
from them: that looks at nothing but noisy counts, and costs nothing.
"""

import math
from fractions import Fraction

import numpy as np

from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.methods.aim import EXPECTED, shares
from nowiser.synth.noisy import Made, Noisy, rows_in, targets
from nowiser.synth.run import Run
from nowiser.synth.tree.fit import Fitted, fit
from nowiser.synth.tree.junction import Clique, junction_tree

CHOOSING = Fraction(0)
ROUNDS, LAST = 40, 400
STEPS = 2  # sets for each column, at most
DOWN = Fraction(1) - Fraction(1, 2**20)  # of the purse, so that rounding never asks for more than it holds


def all_counted(data: Coded, meter: Meter, run: Run) -> Made:
    """The fitted model, from noisy counts of everything asked for; single columns always."""
    wanted: dict[Clique, int] = {(v,): 1 for v in range(len(data.sizes))}
    wanted.update(run.workload)
    total, weight = meter.counts * DOWN, sum(wanted.values())
    measured = []
    for i, (c, w) in enumerate(wanted.items()):
        measured.append(Noisy(c, *meter.counted(data.counts(c), total * w / weight)))
        run.told((i + 1) / len(wanted), c)
    return Made(_fitted(measured, data.sizes, run), tuple(measured))


def _fitted(measured: list[Noisy], sizes: tuple[int, ...], run: Run) -> Fitted:
    rows = rows_in(measured)
    wanted = {t.columns: t for t in targets(measured, rows)}
    kept: list[Clique] = [(v,) for v in range(len(sizes))]
    left = {m.columns: m for m in measured if len(m.columns) > 1}
    fitted = fit(junction_tree(sizes, [*kept, *run.held]), [wanted[c] for c in kept], None, ROUNDS, zeros=run.zeros)
    for _ in range(STEPS * len(sizes)):
        scores = {c: _beyond_noise(m, fitted, rows) for c, m in left.items()}
        for best in sorted((c for c, s in scores.items() if s > 0), key=lambda c: -scores[c]):
            tree = junction_tree(sizes, [*kept, best, *run.held])
            if tree.cells <= run.cells:
                break
            del left[best]
        else:
            break
        del left[best]
        kept.append(best)
        fitted = fit(tree, [wanted[c] for c in kept], fitted, ROUNDS, zeros=run.zeros)
    tree = junction_tree(sizes, [*kept, *run.held])
    return fit(tree, [wanted[c] for c in kept], fitted, LAST, zeros=run.zeros)


def _beyond_noise(m: Noisy, fitted: Fitted, rows: float) -> float:
    """How far the model is from a noisy table, less what noise alone would make of it; in rows."""
    if len(m.columns) != 2 and fitted.beliefs.tree.holding(m.columns) is None:
        model = np.ones(())
        for v in m.columns:  # larger sets: as if their columns were independent
            model = np.multiply.outer(model, fitted.beliefs.marginal((v,)))
    else:
        model = shares(fitted, {m.columns: 1})[m.columns]
    apart = float(np.abs(m.counts - rows * model).sum())
    return apart - EXPECTED * math.sqrt(m.variance) * m.counts.size
