"""Uniques: rows like no other in the sample, and how many of them are like no other in the population.

With sampling weights the chance that a sample unique standing for F people is a population unique is its
sampling rate 1/F (the negative binomial model of `individual`). Without weights, estimates from the sample
alone are those of the privacy models `population uniqueness` (Pitman, Zayatz, SNB).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.microdata.method_contract import Roles
from nowiser.microdata.risk.frequencies import Frequencies, frequencies
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Uniques:
    rows: int
    sample: int
    population: float  # expected number of sample uniques that are population uniques
    matches: float  # expected number of correct matches on sample uniques: Σ 1/F


def uniques(counts: Frequencies) -> Uniques:
    """Sample uniques, and what is expected of them in the population."""
    single = counts.sample == 1
    people = np.maximum(1.0, counts.population[single])
    rate = 1 / people
    with np.errstate(divide="ignore", invalid="ignore"):
        # E[1/F | f = 1] = p/(1−p)·ln(1/p), and Pr[F = 1 | f = 1] = p
        match = np.where(people > 1, -np.log(rate) * rate / np.where(people > 1, 1 - rate, 1), 1.0)
    return Uniques(len(counts.sample), int(single.sum()), float(rate.sum()), float(match.sum()))


def measure(table: MicroTable, roles: Roles) -> Mapping[str, Any]:
    """For `nowiser risk`."""
    if not roles.quasi:
        return {}
    found = uniques(frequencies(table, roles.quasi, roles.weight))
    out: dict[str, Any] = {"sample uniques": found.sample, "share": found.sample / max(1, found.rows)}
    if roles.weight is not None:
        out |= {"expected population uniques": found.population, "expected correct matches": found.matches}
    return out


TITLE = "uniques"
MEASURE = measure
