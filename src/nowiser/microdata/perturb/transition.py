"""Transition matrices: `P[i, j]` is the chance that true category i is released as category j.

Everything PRAM and randomised response need: reading and checking a matrix, building one, making it
invariant, drawing from it, and estimating the true frequencies from the released ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.table.arrays import Floats, Ints


def given(matrix: Mapping[Any, Mapping[Any, float]], values: Sequence[str], *, column: str) -> Floats:
    """A matrix written as {true: {released: chance}}, for these categories (compared as text).

    Refuses categories of the data that have no row, names that are no category, and rows that are
    negative or do not sum to one.
    """
    rows = {str(k): {str(j): float(p) for j, p in row.items()} for k, row in matrix.items()}
    known = set(values)
    absent = [v for v in values if v not in rows]
    if absent:
        raise Misconfigured(
            f"the matrix of {column!r} has no row for {len(absent)} categories of the column",
            hint=f"Missing: {', '.join(map(repr, absent[:10]))}{' …' if len(absent) > 10 else ''}.",
        )
    strange = sorted({n for k, row in rows.items() for n in (k, *row) if n not in known})
    if strange:
        raise Misconfigured(
            f"the matrix of {column!r} names {', '.join(map(repr, strange[:10]))}, which the column does not have",
            hint=f"Its categories: {', '.join(map(repr, values))}.",
        )
    P = np.array([[rows[i].get(j, 0.0) for j in values] for i in values])
    return stochastic(P, values, column=column)


def stochastic(P: Floats, values: Sequence[str], *, column: str) -> Floats:
    """The matrix itself if its rows are probabilities, else a refusal naming the rows."""
    odd = np.argwhere(~((P >= 0) & (P <= 1 + 1e-9)))
    if len(odd):
        shown = ", ".join(f"{values[i]!r} → {values[j]!r} is {P[i, j]:g}" for i, j in odd[:5])
        raise Misconfigured(f"the matrix of {column!r}: chances must lie between 0 and 1; {shown}")
    sums = P.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > 1e-9)
    if len(wrong):
        shown = ", ".join(f"{values[i]!r} sums to {sums[i]:.6g}" for i in wrong[:5])
        raise Misconfigured(
            f"the matrix of {column!r}: rows must sum to 1; {shown}", hint="Chances that are not named are zero."
        )
    return np.asarray(P / sums[:, None])


def keeping(keep: float, size: int) -> Floats:
    """Stay with probability `keep`, else move to each other category with equal chance."""
    if size < 2:
        return np.ones((size, size))
    return np.full((size, size), (1 - keep) / (size - 1)) + np.eye(size) * (keep - (1 - keep) / (size - 1))


def invariant(P: Floats, frequencies: Floats, keep: float) -> Floats:
    """A matrix with `frequencies @ Q == frequencies`, built from P, whose diagonal is at least `keep`.

    *Why invariant:* let `R[j, i] = t_i P[i, j] / Σ_k t_k P[k, j]`, the Bayes inverse of P under the
    true frequencies t. Then `t P R = t`, so the two-step matrix `P R` is invariant, and so is every
    mixture of it with the identity; the mixture with the least weight on the identity that lifts the
    whole diagonal to `keep` is returned. Categories that do not occur stay as they are.
    """
    t = frequencies / frequencies.sum()
    seen = t > 0
    joint = t[:, None] * P
    with np.errstate(invalid="ignore", divide="ignore"):
        back = np.where(joint.sum(axis=0) > 0, joint / joint.sum(axis=0), 0.0).T
    Q = P @ back
    Q[~seen] = np.eye(len(t))[~seen]
    Q /= Q.sum(axis=1, keepdims=True)
    low = np.diag(Q).min()
    if low >= keep:
        return Q
    mix = (1 - keep) / (1 - low)  # mix·low + (1 − mix) = keep
    return np.asarray(mix * Q + (1 - mix) * np.eye(len(t)))


def transit(codes: Ints, P: Floats, random: np.random.Generator) -> Ints:
    """One draw per row from the row's line of P; missing (−1) stays missing."""
    size = len(P)
    ends = np.cumsum(P, axis=1)
    ends[:, -1] = 1.0
    flat = (ends + np.arange(size)[:, None]).ravel()
    safe = np.where(codes >= 0, codes, 0)
    drawn = np.searchsorted(flat, safe + random.random(len(codes)), side="right") - safe * size
    drawn = np.clip(drawn, 0, size - 1)
    return np.where(codes >= 0, drawn, -1)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Unbiased estimates of the true (weighted) frequencies and the covariance that the randomisation adds."""

    frequencies: Floats
    covariance: Floats

    @property
    def deviations(self) -> Floats:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.frequencies + other.frequencies, self.covariance + other.covariance)


def estimate(released: Ints, P: Floats, weight: Floats, *, column: str) -> Estimate:
    """What the true frequencies were, from released codes alone.

    `E[t*] = Pᵀ t`, hence `t̂ = P⁻ᵀ t*` is unbiased. Rows are randomised independently, so
    `Var(t*) = Σ_k s_k (diag(p_k) − p_k p_kᵀ)` with `p_k` the k-th line of P and `s_k` the sum of squared
    weights of the rows that truly are k; `s` is estimated by the same inversion. Then
    `Var(t̂) = P⁻ᵀ Var(t*) P⁻¹`.
    """
    size = len(P)
    if np.linalg.cond(P) > 1e12:
        raise Misconfigured(
            f"the matrix of {column!r} cannot be inverted, so no frequency could be estimated from the release",
            hint="Keep each value with a higher probability, or make rows of the matrix differ more.",
        )
    shown = released >= 0
    back = np.linalg.inv(P.T)
    counts = np.bincount(released[shown], weights=weight[shown], minlength=size)
    squares = back @ np.bincount(released[shown], weights=weight[shown] ** 2, minlength=size)
    spread = np.diag(P.T @ squares) - (P.T * squares) @ P
    return Estimate(back @ counts, back @ spread @ back.T)
