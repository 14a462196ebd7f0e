"""Independent columns: each is counted for itself, and nothing is said about any two together."""

from fractions import Fraction

from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.noisy import Made, Noisy, rows_in, targets
from nowiser.synth.run import Run
from nowiser.synth.tree.fit import fit
from nowiser.synth.tree.junction import junction_tree

CHOOSING = Fraction(0)
ROUNDS = 300


def independent(data: Coded, meter: Meter, run: Run) -> Made:
    """The fitted model."""
    measured = singles(data, meter, meter.counts)
    rows = rows_in(measured)
    tree = junction_tree(data.sizes, [*(m.columns for m in measured), *run.held])
    run.told(1.0, ())
    return Made(fit(tree, targets(measured, rows), None, ROUNDS, zeros=run.zeros), tuple(measured))


def singles(data: Coded, meter: Meter, cost: Fraction) -> list[Noisy]:
    """Every column counted for itself, for this much in all."""
    columns = range(len(data.sizes))
    return [Noisy((v,), *meter.counted(data.counts((v,)), cost / len(data.sizes))) for v in columns]
