"""MST: the tree of pairs that tell most about each other (McKenna, Miklau and Sheldon, 2021).

Every column is counted for itself. Then d − 1 pairs are picked one by one, each by the exponential mechanism among
those that join two parts not joined yet; the score of a pair is how far its counts are from those of independent
columns (in rows, L1). The pairs picked are counted, and the tree of them fitted.
"""

from fractions import Fraction

import numpy as np

from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.methods.independent import singles
from nowiser.synth.methods.scores import GRID, apart
from nowiser.synth.noisy import Made, Noisy, rows_in, targets
from nowiser.synth.run import Run
from nowiser.synth.tree.fit import fit
from nowiser.synth.tree.junction import Clique, junction_tree

CHOOSING = Fraction(1, 5)
SINGLE = Fraction(1, 2)  # of what counting may cost, for single columns
ROUNDS = 60, 400


def mst(data: Coded, meter: Meter, run: Run) -> Made:
    """The fitted model."""
    columns = len(data.sizes)
    measured = singles(data, meter, meter.counts * SINGLE)
    rows = rows_in(measured)
    tree = junction_tree(data.sizes, [*(m.columns for m in measured), *run.held])
    fitted = fit(tree, targets(measured, rows), None, ROUNDS[0], zeros=run.zeros)
    alone = [fitted.beliefs.marginal((v,)) for v in range(columns)]
    pairs = [c for c in run.workload if len(c) == 2 and data.sizes[c[0]] * data.sizes[c[1]] <= run.cells]
    scores: dict[Clique, int] = {
        (a, b): run.workload[a, b] * apart(data.counts((a, b)), np.outer(alone[a], alone[b]), rows) for a, b in pairs
    }
    picked = _picked(scores, columns, meter, GRID * max(run.workload.values()))
    for i, c in enumerate(picked):
        measured.append(Noisy(c, *meter.counted(data.counts(c), meter.counts / (len(picked) - i))))
        run.told((i + 1) / len(picked), c)
    rows = rows_in(measured)
    tree = junction_tree(data.sizes, [*(m.columns for m in measured), *run.held])
    return Made(fit(tree, targets(measured, rows), fitted, ROUNDS[1], zeros=run.zeros), tuple(measured))


def _picked(scores: dict[Clique, int], columns: int, meter: Meter, sensitivity: int) -> list[Clique]:
    """Pairs that join all columns they can."""
    part = list(range(columns))
    found: list[Clique] = []
    for left in range(columns - 1, 0, -1):
        open_ = [c for c in scores if part[c[0]] != part[c[1]]]
        if not open_:
            break
        a, b = open_[meter.chosen([scores[c] for c in open_], sensitivity, meter.choices / left)]
        found.append((a, b))
        part = [part[a] if p == part[b] else p for p in part]
    return found
