"""What follows from earlier answers: free where it is precise enough, and of use where it is not.

Stored noisy cells are measurements of sums (`sql/plan/measured.py`). A question whose cells are combinations of them
is answered without a charge (`sql/answer/follows.py`); otherwise new cells are bought, and old and new together are
more precise than the new ones alone.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nowiser.ledger.base import Ledger
from nowiser.noise.gaussian import Gaussian
from nowiser.report.kept import cells_of
from nowiser.sql.answer.follows import Combined, Inferred, Kept, follow
from nowiser.sql.plan.measured import measured
from nowiser.sql.plan.plan import Noise, Plan

FAR = 2**60  # units: noise beyond is no measurement
AS_PRECISE = 1.02  # bars that differ by less are the same to whoever reads them

Cells = list[NDArray[Any]]
Mechanism = Noise | Combined
Blurred = tuple[tuple[Mechanism, ...], Cells]  # noise and value of each cell


class Old(NamedTuple):
    """What is known of the cells of a question without a charge. `synopsis`: in words, if it is from one."""

    noise: tuple[Mechanism, ...]
    cells: Cells
    synopsis: str = ""

    @property
    def inferred(self) -> bool:
        """Whether a model says so, and nobody knows how far off it is."""
        return any(isinstance(n, Inferred) for n in self.noise)


def stored_cells(ledger: Ledger, version: str) -> Callable[[str], list[Kept]]:
    """Measurements of the same thing on the same data, by the name of the thing."""
    return lambda base: [c for answer in ledger.measurements(base, version) for c in cells_of(answer)]


def earlier(plan: Plan, kept: Callable[[str], list[Kept]], public: Callable[[], Cells]) -> Blurred | None:
    """The cells of a plan as they follow from stored ones; None unless all of them do.

    `public`: the exact cells of the plan, which are read only if everything else follows.
    """
    targets = measured(plan)
    if plan.free or plan.histograms:
        return None
    if any(target is None and not reach.exact for target, reach in zip(targets, plan.reaches, strict=True)):
        return None
    noise: list[Mechanism] = []
    cells: Cells = []
    for target, cell in zip(targets, plan.tally.cells, strict=True):
        found = None
        if target is not None and (found := follow(target, kept(target.base))) is None:
            return None
        noise.append(None if found is None else Combined(found[1] * float(cell.unit) ** 2, cell.unit, found[2]))
        cells.append(np.zeros(0) if found is None else np.rint(found[0]).astype(np.int64))
    if None in noise:
        exact = iter(public())
        cells = [next(exact) if n is None else c for n, c in zip(noise, cells, strict=True)]
    return tuple(noise), cells


def precise(found: Sequence[Mechanism], wished: Sequence[Mechanism]) -> bool:
    """Whether no bar is wider than what was to be bought."""

    def widest(noise: Noise | Combined) -> float:
        if isinstance(noise, Inferred):
            return inf
        return 0.0 if noise is None else float(np.max(np.asarray(noise.half_width(), dtype=np.float64)))

    return all(
        widest(mine) <= AS_PRECISE * widest(new) + 2 * float(mine.grid)
        for mine, new in zip(found, wished, strict=True)
        if mine is not None and new is not None
    )


def released(plan: Plan, noise: Sequence[Noise], cells: Sequence[NDArray[Any]]) -> tuple[Kept, ...]:
    """The noisy cells of an answer, as measurements for later ones."""
    return tuple(
        Kept(
            target,
            tuple(int(v) for v in values),
            float(mechanism.variance) / float(cell.unit) ** 2,
            isinstance(mechanism, Gaussian),
        )
        for target, cell, mechanism, values in zip(measured(plan), plan.tally.cells, noise, cells, strict=False)
        if target is not None and mechanism is not None and mechanism.half_width() / cell.unit < FAR
    )


def together(
    plan: Plan, noise: Sequence[Noise], cells: Cells, new: Sequence[Kept], kept: Callable[[str], list[Kept]]
) -> Blurred:
    """The same cells, combined with stored ones where that makes their bars narrower: none is wider than was bought."""
    summed = plan.summed
    if summed is not None and max(summed.added) > 1:  # sums of combinations, whose noises depend on each other
        return tuple(noise), cells
    fresh = {k.of: k for k in new}
    better: list[Mechanism] = list(noise)
    combined = list(cells)
    for i, target in enumerate(measured(plan)):
        if target is None or target not in fresh:
            continue
        old = kept(target.base)
        found = follow(target, [*old, fresh[target]]) if old else None
        if found is not None:
            unit = plan.tally.cells[i].unit
            variances = found[1] if summed is None else summed.sums(found[1])  # of what will be shown
            gaussian = found[2] if summed is None else bool(found[2].all())
            one, bought = Combined(variances * float(unit) ** 2, unit, gaussian), noise[i]
            if summed is None and bought is not None and one.half_width().max(initial=0.0) >= bought.half_width():
                continue
            better[i], combined[i] = one, np.rint(found[0]).astype(np.int64)
    return tuple(better), combined
