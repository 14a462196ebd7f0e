"""PRAM, the post-randomisation method: categories are exchanged by chance, with chances that are published.

The matrix is given, or built to keep each category with a stated probability, and made **invariant** on
request: then the frequencies of the release already are nearly unbiased. A matrix that were invariant to the true
counts would give them away (they are its left eigenvector), so it is made invariant to noisy ones: what it tells about
anybody is at most `TOLD` nats. With any matrix the codebook carries
unbiased estimates of the true frequencies and their standard deviations, per stratum group and in all.
Several columns can be treated as one (`joint`), so that impossible combinations never appear and the
joint frequencies are what is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.perturb.transition import Estimate, estimate, given, invariant, keeping, transit
from nowiser.microdata.risk.channel import Channel, Matrix, parted_channel
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Names,
    chosen,
    exchangeable,
    grouped,
    members,
    share,
    weights,
)
from nowiser.microdata.table.column import Codes, Column
from nowiser.microdata.table.micro_table import MicroTable

TOLD = 0.2  # nats: how much likelier a published matrix is with one person's category than with another


@dataclass(frozen=True)
class Pram:
    """Randomise categorical columns by a transition matrix.

    `matrix` is {column: {true: {released: chance}}} (for `joint`, the one key is the columns joined by
    `, ` and categories are values joined by `, `); without it each category is kept with probability
    `keep` (at least, when `invariant`). `strata` gives each group its own invariant matrix.
    """

    name: ClassVar[str] = "pram"

    columns: Names
    keep: float = 0.8
    invariant: bool = True
    joint: bool = False
    matrix: Mapping[str, Mapping[Any, Mapping[Any, float]]] = field(default_factory=dict)
    strata: Names | None = None

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="pram: columns")
        share(self.keep, what="pram: keep", zero=True)
        strata = strata_of(table, run.roles, self.strata)
        if set(strata) & set(names):
            raise Misconfigured("pram: a column cannot be randomised within groups of itself")
        units = [joined(table, names)] if self.joint else [table[n] for n in names]
        strange = sorted(set(self.matrix) - {u.name for u in units})
        if strange:
            raise Misconfigured(
                f"pram: a matrix is given for {', '.join(map(repr, strange))}",
                hint=f"This step randomises {', '.join(repr(u.name) for u in units)}.",
            )
        codes, count = grouped(table, strata)
        rows = members(codes, count)
        weight = weights(table, run.roles.weight)
        matrices = [[self._matrix(unit, unit.codes[r], run.random) for r in rows] for unit in units]

        released: list[Column] = []
        channels: dict[str, Channel] = {}
        book: dict[str, Any] = {}
        for unit, each in zip(units, matrices, strict=True):
            new = np.empty_like(unit.codes)
            parts = []
            for r, P in zip(rows, each, strict=True):
                new[r] = transit(unit.codes[r].astype(np.int64), P, run.random)
                parts.append(estimate(new[r].astype(np.int64), P, weight[r], column=unit.name))
            split = parted(unit, new, table, names) if self.joint else [Column.of_codes(unit.name, new, unit.values)]
            released += split
            channel = Matrix(unit.labels, np.array(each), codes, new.astype(np.int64))
            channels |= _apart(channel, unit, table, names) if self.joint else {unit.name: channel}
            book[unit.name] = _page(unit, each, parts)
        result = table.with_columns(*released)
        codebook: dict[str, Any] = {"invariant": self.invariant and not self.matrix}
        if codebook["invariant"]:
            codebook["the matrix tells at most (nats per person)"] = TOLD
        codebook |= {"columns": book, "strata": list(strata)}
        found = guesses_of(run, table, result, channels)
        return Step(result, self.name, codebook, guesses=found, channels=channels, independent=not self.joint)

    def _matrix(self, unit: Column, codes: Codes, random: np.random.Generator) -> np.ndarray:
        size = len(exchangeable(unit).values)
        if unit.name in self.matrix:
            return given(self.matrix[unit.name], unit.labels, column=unit.name)
        counts = np.bincount(codes[codes >= 0], minlength=size).astype(np.float64)
        if not self.invariant:
            return keeping(self.keep, size)
        return invariant(keeping(self.keep, size), noisy(counts, random), self.keep)


def noisy(counts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Counts with two-sided geometric noise: one person moves two of them by one, their likelihood by e^TOLD at most.

    At least one, so that a category nobody has looks like a rare one.
    """
    stop = -np.expm1(-TOLD / 2)
    noise = random.geometric(stop, len(counts)) - random.geometric(stop, len(counts))
    return np.asarray(np.maximum(1.0, counts + noise), dtype=np.float64)


def joined(table: MicroTable, names: Sequence[str]) -> Column:
    """Several columns as one whose categories are the combinations that occur; missing if any is missing."""
    if len(names) < 2:
        raise Misconfigured("pram: joint needs at least two columns")
    codes, count = grouped(table, names)
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(table.rows)[::-1]
    parts = [table[n] for n in names]
    gone = np.any([p.codes[first] < 0 for p in parts], axis=0)
    rank = np.cumsum(~gone) - 1
    labels = [", ".join(p.labels[p.codes[i]] for p in parts) for i in first[~gone]]
    if len(set(labels)) < len(labels):
        raise Misconfigured("pram: joint: values that contain ', ' make combinations ambiguous", hint="Recode them.")
    joint: Codes = np.where(gone[codes], -1, rank[codes]).astype(np.int32)
    return Column.of_codes(", ".join(names), joint, pa.array(labels, pa.string()))


def parted(unit: Column, new: Codes, table: MicroTable, names: Sequence[str]) -> list[Column]:
    """The joint codes as codes of the single columns again; rows with a missing part keep all their parts."""
    shown = unit.codes >= 0
    example = np.zeros(len(unit.values), dtype=np.int64)
    example[unit.codes[shown]] = np.flatnonzero(shown)
    out = []
    for name in names:
        column = table[name]
        codes = column.codes.copy()
        codes[shown] = column.codes[example[new[shown]]]
        out.append(Column.of_codes(name, codes, column.values))
    return out


def _apart(channel: Matrix, unit: Column, table: MicroTable, names: Sequence[str]) -> dict[str, Matrix]:
    """What the joint randomisation tells about each column by itself."""
    shown = unit.codes >= 0
    example = np.zeros(len(unit.values), dtype=np.int64)
    example[unit.codes[shown]] = np.flatnonzero(shown)
    joint = unit.codes.astype(np.int64)
    return {n: parted_channel(channel, joint, table[n].labels, table[n].codes[example].astype(np.int64)) for n in names}


def _page(unit: Column, each: Sequence[np.ndarray], parts: Sequence[Estimate]) -> dict[str, Any]:
    """What a reader of the file needs to estimate from it."""
    total = reduce(add, parts)
    return {
        "categories": list(unit.labels),
        "matrices": [P.tolist() for P in each],
        "estimated frequencies": total.frequencies.tolist(),
        "standard deviations": total.deviations.tolist(),
    }


METHOD = Pram
