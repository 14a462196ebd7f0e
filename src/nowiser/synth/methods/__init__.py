"""What is counted and chosen, one method per file, each with the share of its budget that choosing takes."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.methods import aim, all as everything, independent, mst
from nowiser.synth.noisy import Made
from nowiser.synth.run import Run


@dataclass(frozen=True)
class Method:
    choosing: Fraction
    fit: Callable[[Coded, Meter, Run], Made]


METHODS = {
    "aim": Method(aim.CHOOSING, aim.aim),
    "mst": Method(mst.CHOOSING, mst.mst),
    "all": Method(everything.CHOOSING, everything.all_counted),
    "independent": Method(independent.CHOOSING, independent.independent),
}
