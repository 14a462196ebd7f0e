"""What follows from earlier answers: free where it is precise enough, and of use where it is not.

Stored noisy cells are measurements of sums (`sql/plan/measured.py`). A question whose cells are combinations of them
is answered without a charge (`sql/answer/follows.py`); otherwise new cells are bought, and old and new together are more
precise than the new ones alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.ledger.base import Ledger
from nowiser.report.kept import cells_of
from nowiser.sql.answer.follows import Combined, Kept, follow
from nowiser.sql.plan.measured import measured
from nowiser.sql.plan.plan import Noise, Plan

AS_PRECISE = 1.02  # bars that differ by less are the same to whoever reads them

Cells = list[NDArray[Any]]
Blurred = tuple[tuple[Noise, ...], Cells]  # noise and value of each cell


def earlier(plan: Plan, ledger: Ledger, version: str, public: Callable[[], Cells]) -> Blurred | None:
    """The cells of a plan as they follow from stored ones; None unless all of them do.

    `public`: the exact cells of the plan, which are read only if everything else follows.
    """
    targets = measured(plan)
    if plan.free or plan.histograms or any(t is None and not r.exact for t, r in zip(targets, plan.reaches, strict=True)):
        return None
    noise: list[Noise] = []
    cells: Cells = []
    for target, cell in zip(targets, plan.tally.cells, strict=True):
        found = None
        if target is not None:
            kept = [c for answer in ledger.measurements(target.base, version) for c in cells_of(answer)]
            if (found := follow(target, kept)) is None:
                return None
        noise.append(None if found is None else Combined(found[1] * float(cell.unit) ** 2, cell.unit))
        cells.append(np.zeros(0) if found is None else np.rint(found[0]).astype(np.int64))
    if None in noise:
        exact = iter(public())
        cells = [next(exact) if n is None else c for n, c in zip(noise, cells, strict=True)]
    return tuple(noise), cells


def precise(found: Sequence[Noise], wished: Sequence[Noise]) -> bool:
    """Whether no bar is wider than what was to be bought."""
    return all(
        np.max(mine.half_width()) <= AS_PRECISE * float(new.half_width()) + 2 * float(mine.grid)
        for mine, new in zip(found, wished, strict=True)
        if mine is not None and new is not None
    )


def released(plan: Plan, noise: Sequence[Noise], cells: Sequence[NDArray[Any]]) -> tuple[Kept, ...]:
    """The noisy cells of an answer, as measurements for later ones."""
    return tuple(
        Kept(target, tuple(int(v) for v in values), float(mechanism.variance) / float(cell.unit) ** 2)
        for target, cell, mechanism, values in zip(measured(plan), plan.tally.cells, noise, cells, strict=False)
        if target is not None and mechanism is not None
    )


def together(
    plan: Plan, noise: Sequence[Noise], cells: Cells, new: Sequence[Kept], ledger: Ledger, version: str
) -> Blurred:
    """The same cells, combined with stored ones where that makes them more precise."""
    fresh = {k.of: k for k in new}
    better, combined = list(noise), list(cells)
    for i, target in enumerate(measured(plan)):
        if target is None or target not in fresh:
            continue
        kept = [c for answer in ledger.measurements(target.base, version) for c in cells_of(answer)]
        found = follow(target, [*kept, fresh[target]]) if kept else None
        if found is not None:
            unit = plan.tally.cells[i].unit
            better[i], combined[i] = Combined(found[1] * float(unit) ** 2, unit), np.rint(found[0]).astype(np.int64)
    return tuple(better), combined
