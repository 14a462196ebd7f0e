"""Record swapping: risky people (or whole households) change places with others like them.

The values of the `swap` columns, usually where somebody lives, are exchanged between two records that
agree on the `match` columns. Who is swapped:

* everybody whose combination of quasi-identifiers occurs fewer than `k` times in the stratum;
* and so many others, drawn with chances proportional to their risk 1/frequency, that a share `share` of
  the units takes part. An attacker never knows whether the record he found was swapped.

Partners are looked for among all who agree on every `match` column; who finds none is tried again with
the last `match` column dropped, and so on (the size of the household is never dropped). Inside a group
the candidates are ordered by their `swap` value and paired half a group apart: that leaves as few pairs
with equal values as possible. Every marginal of the `swap` columns is kept exactly, also per stratum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.risk.channel import Released
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Floats,
    Ints,
    Mask,
    Names,
    chosen,
    dense,
    exchangeable,
    grouped,
    share,
)
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

ROUNDS = 4  # how often partners are looked for before a match column is dropped


@dataclass(frozen=True)
class RecordSwap:
    """Swap the `swap` columns between records alike in `match`, the risky ones first."""

    name: ClassVar[str] = "record_swap"

    swap: Names
    match: Names = ()
    share: float = 0.05
    k: int = 3
    household: str | None = None
    strata: Names | None = None

    def apply(self, table: MicroTable, run: Run) -> Step:
        swap = chosen(table, self.swap, what="record_swap: swap")
        match = chosen(table, self.match, what="record_swap: match") if self.match else ()
        share(self.share, what="record_swap: share", zero=True)
        if all(len(table[n].values) < 2 for n in swap):
            exchangeable(table[swap[0]])
        strata = strata_of(table, run.roles, self.strata)
        if set(swap) & (set(match) | set(strata)):
            raise Misconfigured("record_swap: a swap column cannot also be a match column or a stratum")
        household = self.household or run.roles.household
        if household is not None:
            chosen(table, [household], what="record_swap: household")
        unit, units = dense(table[household].codes) if household else (np.arange(table.rows), table.rows)
        size = np.bincount(unit, minlength=units)
        value = _one_per_unit(table, swap, unit, units, household)
        layer = _one_per_unit(table, strata, unit, units, household) if strata else np.zeros(units, dtype=np.int64)

        risk = unit_risk(table, run.roles.quasi or (*swap, *match), strata, unit, units)
        wanted = choose(risk, layer, self.share, self.k, run.random)
        profiles = [
            dense(_profile(table, match[:m], unit, units) * (int(layer.max()) + 1) + layer)[0]
            for m in range(len(match), -1, -1)
        ]
        partner = pair(wanted, value, profiles, size, run.random)

        origin = _row_partners(unit, units, size, partner)
        released = [Column.of_codes(n, table[n].codes[origin], table[n].values) for n in swap]
        result = table.with_columns(*released)
        swapped = int((partner != np.arange(units)).sum())
        codebook = {
            "units": units,
            "swapped": swapped,
            "asked for": int(wanted.sum()),
            "without a partner": int((wanted & (partner == np.arange(units))).sum()),
        }
        return Step(result, self.name, codebook, guesses=guesses_of(run, table, result, {n: Released() for n in swap}))


def unit_risk(table: MicroTable, quasi: Sequence[str], strata: Sequence[str], unit: Ints, units: int) -> Floats:
    """The largest 1/frequency of the quasi-identifiers among the members of each unit."""
    codes, count = grouped(table, tuple(dict.fromkeys((*quasi, *strata))))
    one = 1 / np.bincount(codes, minlength=count)[codes]
    risk = np.zeros(units)
    np.maximum.at(risk, unit, one)
    return risk


def choose(risk: Floats, layer: Ints, part: float, k: int, random: np.random.Generator) -> Mask:
    """All units with risk above 1/k, and by risk so many others that `part` of each stratum takes part.

    Half of the units that take part are chosen here; their partners are the other half.
    """
    wanted = risk > 1 / k
    chance = np.log(np.maximum(risk, 1e-300)) - np.log(random.exponential(size=len(risk)))  # Gumbel-top-k keys
    for s in range(int(layer.max()) + 1 if len(layer) else 0):
        here = np.flatnonzero(layer == s)
        missing = int(np.ceil(part * len(here) / 2)) - int(wanted[here].sum())
        if missing > 0:
            rest = here[~wanted[here]]
            wanted[rest[np.argsort(-chance[rest])[:missing]]] = True
    return wanted


def pair(wanted: Mask, value: Ints, profiles: list[Ints], size: Ints, random: np.random.Generator) -> Ints:
    """For every unit its partner (itself if none): same profile and size, different value."""
    partner = np.arange(len(value))
    free = np.ones(len(value), dtype=bool)
    for profile in profiles:
        group, _ = dense(profile * (int(size.max()) + 1) + size)
        for _ in range(ROUNDS):  # other donors are drawn each time
            need = wanted & free
            if not need.any():
                return partner
            a, b = _halves(need | _donors(need, free, group, random), group, value, random)
            useful = (value[a] != value[b]) & (wanted[a] | wanted[b])
            a, b = a[useful], b[useful]
            partner[a], partner[b] = b, a
            free[a] = free[b] = False
    return partner


def _halves(taking: Mask, group: Ints, value: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Inside each group, ordered by value: the first half and, half a group further, their partners."""
    rows = random.permutation(np.flatnonzero(taking))
    rows = rows[np.lexsort((value[rows], group[rows]))]
    start = np.searchsorted(group[rows], group[rows], side="left")
    count = np.searchsorted(group[rows], group[rows], side="right") - start
    half = count // 2
    left = np.flatnonzero(np.arange(len(rows)) - start < half)
    return rows[left], rows[left + (count - half)[left]]


def _donors(need: Mask, free: Mask, group: Ints, random: np.random.Generator) -> Mask:
    """As many random other free units of each group as there are units in need."""
    rest = np.flatnonzero(free & ~need)
    rest = random.permutation(rest)
    rest = rest[np.argsort(group[rest], kind="stable")]
    place = np.arange(len(rest)) - np.searchsorted(group[rest], group[rest], side="left")
    asked = np.bincount(group[need], minlength=int(group.max()) + 1)
    out = np.zeros(len(need), dtype=bool)
    out[rest[place < asked[group[rest]]]] = True
    return out


def _one_per_unit(table: MicroTable, names: Sequence[str], unit: Ints, units: int, household: str | None) -> Ints:
    """The code of these columns for each unit; refuses a household whose members differ in them."""
    codes, _ = grouped(table, names)
    first = np.zeros(units, dtype=np.int64)
    first[unit[::-1]] = codes[::-1]
    if (first[unit] != codes).any():
        raise Misconfigured(
            f"record_swap: members of one {household!r} differ in {', '.join(map(repr, names))}",
            hint="What is swapped, and the strata, must be the same for a whole household.",
        )
    return first


def _profile(table: MicroTable, names: Sequence[str], unit: Ints, units: int) -> Ints:
    """Equal for units whose members agree on these columns as a multiset."""
    codes, count = grouped(table, names)
    order = np.lexsort((codes, unit))
    place = np.arange(len(unit)) - np.searchsorted(unit[order], unit[order], side="left")
    profile = np.zeros(units, dtype=np.int64)
    for k in range(int(place.max()) + 1 if len(place) else 0):  # fold the k-th smallest member of every unit in
        step = np.full(units, count, dtype=np.int64)
        step[unit[order[place == k]]] = codes[order[place == k]]
        profile = dense(profile * (count + 1) + step)[0]
    return profile


def _row_partners(unit: Ints, units: int, size: Ints, partner: Ints) -> Ints:
    """For every row the row whose swap values it receives: the same place in the partner's unit."""
    order = np.argsort(unit, kind="stable")
    start = np.zeros(units, dtype=np.int64)
    start[1:] = np.cumsum(size)[:-1]
    place = np.empty(len(unit), dtype=np.int64)
    place[order] = np.arange(len(unit)) - start[unit[order]]
    return np.asarray(order[start[partner[unit]] + place])


METHOD = RecordSwap
