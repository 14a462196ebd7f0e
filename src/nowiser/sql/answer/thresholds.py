"""Which groups are shown, and sums of finer ones: post-processing of noisy counts, so free."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.laplace import Laplace
from nowiser.sql.plan.groups import Listed
from nowiser.sql.plan.plan import Noise, Plan


def shown(plan: Plan, noise: Sequence[Noise], cells: list[NDArray[Any]]) -> tuple[Plan, list[NDArray[Any]]]:
    """The plan and its blurred cells with the groups whose noisy number of persons reaches the threshold.

    Where only the finest of several grouping sets was measured, the others are added up from it here.
    """
    if plan.summed is not None:
        return plan, [plan.summed.sums(c) for c in cells]
    if plan.discovery is None:
        return plan, cells
    mechanism = noise[plan.discovery.cell]
    assert isinstance(mechanism, Laplace), "discovered groups are planned with Laplace noise only"
    kept = np.flatnonzero(np.asarray(cells[plan.discovery.cell]) >= plan.discovery.threshold(mechanism))
    every = list(plan.groups)
    groups = Listed(len(plan.query.keys), tuple(every[i] for i in kept))
    return replace(plan, groups=groups), [c[kept] for c in cells]
