"""The run of a charged question: exact cells, what is picked by noisy max, and noise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.engines.aligned import aligned, counts, with_found
from nowiser.engines.base import Engine
from nowiser.ledger.base import Reservation
from nowiser.noise.entropy import Entropy
from nowiser.noise.integers import add
from nowiser.sql.aggregates.picked import picked
from nowiser.sql.plan.choice import Chosen
from nowiser.sql.plan.groups import Listed
from nowiser.sql.plan.plan import Noise, Plan


def run(engine: Engine, planned: Plan) -> tuple[Plan, list[Any]]:
    """The exact part: cells, then histograms; and the groups, where they were found in the data."""
    cells: list[Any] = []  # arrays; of quantiles that are picked, the buckets that have rows
    if planned.tally.cells or isinstance(planned.groups, Listed):
        exact = engine.run(planned.tally)
        planned = with_found(exact, planned)
        cells = aligned(exact, planned)
    for histogram, tally in zip(planned.histograms, planned.tallies[1:], strict=True):
        cells.append(counts(engine.run(tally), planned, histogram))
    return planned, cells


def pick(planned: Plan, cells: list[Any], chosen: Chosen, entropy: Entropy) -> tuple[Plan, list[NDArray[Any]]]:
    """Quantiles, and groups by noisy max, where these are picked; nothing of the others goes any further."""
    planned, cells = picked(planned, cells, chosen.nats, entropy)
    if chosen.top is None:
        return planned, cells
    places = chosen.top.pick(cells[0], chosen.nats, entropy)
    every = list(planned.groups)
    largest = replace(planned, groups=Listed(len(planned.query.keys), tuple(every[i] for i in places)))
    # Without counts only the order of the picks is told.
    return largest, [cells[0][places] if chosen.top.counted else np.arange(len(places), 0, -1)]


def ahead(planned: Plan, chosen: Chosen, reservation: Reservation, entropy: Entropy) -> list[NDArray[Any]] | None:
    """What can be done while the engine works: the charge is anchored, and noise is drawn if it is known how much.

    Noise is independent of what it is added to, so it is the same noise whenever it is drawn.
    """
    reservation.anchor()
    if isinstance(planned.measured, Listed) or planned.histograms or chosen.top is not None:
        return None
    nothing = np.zeros(len(planned.measured), dtype=np.int64)
    return [nothing if n is None else n.blur(nothing, entropy) for n in chosen.noise]


def blur(
    noise: Sequence[Noise],
    cells: Sequence[NDArray[Any]],
    entropy: Entropy,
    drawn: list[NDArray[Any]] | None = None,
) -> list[NDArray[Any]]:
    """`drawn`: noise that was drawn ahead, a number for each cell, and is used here and nowhere else."""
    if drawn is not None and [d.shape for d in drawn] == [c.shape for c in cells]:
        return [c if n is None else add(c, d) for n, c, d in zip(noise, cells, drawn, strict=True)]
    return [
        c if n is None else n.blur(c.reshape(-1), entropy).reshape(c.shape) for n, c in zip(noise, cells, strict=True)
    ]
