"""Probabilistic record linkage (Fellegi and Sunter), with the probabilities learnt by EM and no pair enumerated.

Two rows agree or disagree on each of K columns: a pattern of K bits. Among true matches column c agrees with
probability m_c, among other pairs with u_c, independently. EM estimates m, u and the share of matches from
how often each pattern occurs among all pairs, and those counts come from group sizes: the number of
pairs that agree at least on a set S is Σ over keys of (original rows)·(released rows), and Möbius inversion
over the subsets turns "at least" into "exactly". So 10⁵ × 10⁵ rows cost 2^K groupings, not 10¹⁰ comparisons.

A victim is linked to the released rows that agree with her on the pattern of largest weight
Σ ln(m_c/u_c or (1−m_c)/(1−u_c)); several such rows share the guess. Numbers are compared by tenths of the
table, so that a little noise does not hide an agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.best_guess import Floats, Ints, clopper_pearson
from nowiser.microdata.risk.linking import coarse_codes, shared_codes
from nowiser.microdata.table.arrays import chosen, dense
from nowiser.microdata.table.micro_table import MicroTable

MOST_COLUMNS = 12


@dataclass(frozen=True, eq=False)
class FellegiSunter:
    """What EM learnt, and how many victims the best match finds."""

    columns: tuple[str, ...]
    m: Floats
    u: Floats
    matches: float  # estimated share of pairs that are true matches
    linked: float
    low: float
    high: float


def fellegi_sunter(original: MicroTable, released: MicroTable, columns: Sequence[str]) -> FellegiSunter:
    """Link every original row that was released to its best match."""
    names = chosen(original, columns, what="columns")
    chosen(released, columns, what="columns")
    if len(names) > MOST_COLUMNS:
        raise Misconfigured(f"probabilistic linkage compares at most {MOST_COLUMNS} columns, not {len(names)}")
    codes = [
        coarse_codes(original[n], released[n])
        if original[n].is_numeric and released[n].is_numeric and len(original[n].values) > 20
        else shared_codes(original[n], released[n])
        for n in names
    ]
    K = len(names)
    keys = {s: _keys([codes[c] for c in range(K) if s >> c & 1], original.rows, released.rows) for s in range(1 << K)}
    counts = pattern_counts(keys, K)
    m, u, share = learn(counts, K, min(original.rows, released.rows))
    linked = _link(keys, m, u, original, released)
    low, high = clopper_pearson(round(linked * released.rows), released.rows)
    return FellegiSunter(names, m, u, share, linked, low, high)


def _keys(columns: Sequence[tuple[Ints, Ints]], rows: int, others: int) -> tuple[Ints, Ints, int]:
    """Group numbers of the original and the released rows on these columns. Missing agrees with nothing."""
    key = np.zeros(rows + others, dtype=np.int64)
    for old, new in columns:
        both = np.concatenate([old, new]) + 1
        key, _ = dense(key * (int(both.max()) + 1) + both)
    key, count = dense(key)
    gap = np.zeros(rows + others, dtype=bool)
    for old, new in columns:
        gap |= np.concatenate([old, new]) < 0
    key = np.where(gap, count, key)
    return key[:rows], key[rows:], count


def pattern_counts(keys: dict[int, tuple[Ints, Ints, int]], K: int) -> Floats:
    """How many pairs agree exactly on each set of columns (bit c of the index: column c agrees)."""
    at_least = np.zeros(1 << K)
    for s, (old, new, count) in keys.items():
        here = np.bincount(old, minlength=count + 1)[:count].astype(np.float64)
        at_least[s] = here @ np.bincount(new, minlength=count + 1)[:count]
    for c in range(K):  # Möbius over supersets, one column at a time
        view = at_least.reshape(-1, 2, 1 << c)
        view[:, 0] -= view[:, 1]
    return np.maximum(at_least, 0.0)


def learn(counts: Floats, K: int, people: int) -> tuple[Floats, Floats, float]:
    """m, u and the share of matches by EM, from pattern counts.

    Started where linkage lives: matches agree nearly always, other pairs as often as chance has it.
    """
    bits = (np.arange(1 << K)[:, None] >> np.arange(K)) & 1
    total = counts.sum()
    chance = np.clip(counts @ bits / total, 1e-6, 1 - 1e-6)
    m, u, share = np.full(K, 0.9), chance, people / total
    for _ in range(200):
        like_m = np.exp(bits @ np.log(m) + (1 - bits) @ np.log(1 - m)) * share
        like_u = np.exp(bits @ np.log(u) + (1 - bits) @ np.log(1 - u)) * (1 - share)
        mine = counts * like_m / np.maximum(like_m + like_u, 1e-300)
        rest = counts - mine
        new_m = np.clip(mine @ bits / max(mine.sum(), 1e-300), 1e-6, 1 - 1e-6)
        new_u = np.clip(rest @ bits / max(rest.sum(), 1e-300), 1e-6, 1 - 1e-6)
        done = max(np.abs(new_m - m).max(), np.abs(new_u - u).max()) < 1e-10
        m, u, share = new_m, new_u, float(np.clip(mine.sum() / total, 1e-12, 1 - 1e-12))
        if done:
            break
    return m, u, share


def _link(
    keys: dict[int, tuple[Ints, Ints, int]], m: Floats, u: Floats, original: MicroTable, released: MicroTable
) -> float:
    """The share of released rows that the best match of their owner finds (ties shared)."""
    K = len(m)
    bits = (np.arange(1 << K)[:, None] >> np.arange(K)) & 1
    weight = bits @ np.log(m / u) + (1 - bits) @ np.log((1 - m) / (1 - u))
    waiting = np.ones(original.rows, dtype=bool)
    hit = np.zeros(original.rows)
    own = np.full(original.rows, -1, dtype=np.int64)
    own[released.origin] = np.arange(released.rows)
    for s in np.argsort(-weight, kind="stable"):
        old, new, count = keys[int(s)]
        found = np.bincount(new, minlength=count + 1)
        found[count] = 0  # rows with a missing value agree with nobody
        here = waiting & (found[old] > 0)
        mine = here & (own >= 0)
        agrees = np.zeros(original.rows, dtype=bool)
        agrees[mine] = new[own[mine]] == old[mine]
        hit[agrees] = 1 / found[old[agrees]]
        waiting &= ~here
        if not waiting.any():
            break
    return float(hit[own >= 0].mean()) if (own >= 0).any() else 0.0
