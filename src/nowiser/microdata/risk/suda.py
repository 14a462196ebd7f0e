"""Special uniques (SUDA): how few attributes single a row out.

A *minimal sample unique* (MSU) of a row is a set of attributes on which the row is unique while on every
proper subset it is not. Few attributes, and many such sets, make a row easy to find. With K attributes an
MSU of size s scores (K − s)!, the number of ways to add the other attributes one by one, and the SUDA score
of a row is the sum over its MSUs. The data-intrusion score (DIS) turns scores into the chance that a match
on all attributes is right, calibrated by the chance that a unique match is right in the whole file: with U
unique rows, P rows in pairs and sampling fraction φ, that is Uφ / (Uφ + P(1 − φ)).

Uniqueness only grows with more attributes, so a unique row is minimal on a set exactly if it is unique on
none of the sets with one attribute fewer. All sets are visited by size; the grouping of a set is refined from that
of its prefix, and rows that are not unique on all attributes are never looked at again. Values may be numbers
or text; missing values never make a row unique and never agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles
from nowiser.microdata.risk.best_guess import Floats, Ints
from nowiser.microdata.table.arrays import chosen, dense
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True, eq=False)
class Suda:
    """Scores per row, and how many minimal sample uniques of each size (1…K) each row has."""

    columns: tuple[str, ...]
    score: Floats
    dis: Floats
    sizes: Ints  # rows × K
    contribution: Floats  # share of the total score that sets containing the column carry

    @property
    def uniques(self) -> int:
        return int((self.score > 0).sum())


def suda(table: MicroTable, quasi: Sequence[str], *, fraction: float = 0.01, largest: int | None = None) -> Suda:
    """SUDA and DIS scores of every row. `largest` limits the size of the sets that are looked at."""
    names = chosen(table, quasi, what="quasi-identifiers")
    if not 0 < fraction < 1:
        raise Misconfigured(f"the sampling fraction must lie between 0 and 1, not {fraction:g}")
    K, n = len(names), table.rows
    most = K if largest is None else min(K, largest)
    if sum(_choose(K, s) for s in range(1, most + 1)) > 200_000:
        raise Misconfigured(
            f"{K} quasi-identifiers have too many combinations", hint="Limit the size of the sets with `largest`."
        )
    columns = [table[m] for m in names]
    codes = [c.codes.astype(np.int64) for c in columns]
    widths = [len(c.values) for c in columns]
    # a missing value is made different from every other, and rows that owe uniqueness to it are not counted
    present = np.column_stack([c >= 0 for c in codes])
    sizes = np.zeros((n, K), dtype=np.int64)
    held = np.zeros((n, K))
    unique: dict[tuple[int, ...], np.ndarray] = {}
    groups: dict[tuple[int, ...], tuple[Ints, int]] = {(): (np.zeros(n, dtype=np.int64), 1)}
    for size in range(1, most + 1):
        fresh: dict[tuple[int, ...], tuple[Ints, int]] = {}
        seen: dict[tuple[int, ...], np.ndarray] = {}
        for chosen_set in combinations(range(K), size):
            prefix, last = groups[chosen_set[:-1]], chosen_set[-1]
            grouping = dense(prefix[0] * (widths[last] + 1) + codes[last] + 1)
            counts = np.bincount(grouping[0], minlength=grouping[1])
            single = (counts[grouping[0]] == 1) & present[:, chosen_set].all(axis=1)
            known = np.zeros(n, dtype=bool)
            for left_out in range(size):
                smaller = chosen_set[:left_out] + chosen_set[left_out + 1 :]
                if smaller:
                    known |= unique[smaller]
            minimal = single & ~known
            sizes[minimal, size - 1] += 1
            for j in chosen_set:
                held[minimal, j] += factorial(K - size)
            fresh[chosen_set], seen[chosen_set] = grouping, single | known
        groups, unique = fresh, seen
    value = np.array([float(factorial(K - s)) for s in range(1, K + 1)])
    score = sizes @ value
    total = score.sum()
    contribution = held.sum(axis=0) / total if total else np.zeros(K)
    return Suda(names, score, dis_scores(score, codes, widths, fraction), sizes, contribution)


def dis_scores(score: Floats, codes: Sequence[Ints], widths: Sequence[int], fraction: float) -> Floats:
    """Data-intrusion scores from SUDA scores."""
    key = np.zeros(len(score), dtype=np.int64)
    for c, w in zip(codes, widths, strict=True):
        key, _ = dense(key * (w + 1) + c + 1)
    counts = np.bincount(key)
    uniques, pairs = int((counts == 1).sum()), 2 * int((counts == 2).sum())
    risky = score > 0
    out = np.zeros(len(score))
    if not uniques or not risky.any():
        return out
    right = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    power = 1 + (8 - len(codes)) / 20
    scaled = score[risky] ** power
    adjust = (1 / scaled).sum()
    out[risky] = 1 / (1 + (uniques / right - uniques) / (scaled * adjust))
    return out


def _choose(n: int, k: int) -> int:
    return factorial(n) // (factorial(k) * factorial(n - k))


def measure(table: MicroTable, roles: Roles) -> Mapping[str, Any]:
    """For `nowiser risk`."""
    if not roles.quasi:
        return {}
    largest = None if len(roles.quasi) <= 12 else 3
    found = suda(table, roles.quasi, largest=largest)
    return {
        "special uniques": found.uniques,
        "highest SUDA score": float(found.score.max(initial=0.0)),
        "highest DIS score": float(found.dis.max(initial=0.0)),
        "minimal uniques by size": found.sizes.sum(axis=0).tolist(),
        "contribution of the columns": dict(zip(found.columns, found.contribution.tolist(), strict=True)),
    }


TITLE = "special uniques (SUDA)"
MEASURE = measure
