"""Normal scores and the regression that shuffling and model-based resampling share.

A column becomes its normal scores Φ⁻¹((rank − ½)/n): whatever its marginal, it now is standard normal
and only the dependence is left (the normal copula). Categories among the explaining columns become
indicators of their frequent values.
"""

from collections.abc import Sequence

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles
from nowiser.microdata.perturb.covariance import nearest_correlation, root
from nowiser.microdata.table.arrays import Floats, Ints, Names, chosen
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

MOST_INDICATORS = 40  # per categorical column; rarer values are explained by the constant


def given_columns(
    table: MicroTable, roles: Roles, changed: Sequence[str], given: Names | None, strata: Sequence[str], *, step: str
) -> tuple[str, ...]:
    """What explains the columns that a step changes: those it names, or else the quasi-identifiers that stay."""
    if given is None:
        return tuple(q for q in roles.quasi if q in table and q not in (*changed, *strata))
    names = chosen(table, given, what=f"{step}: given") if given else ()
    if both := sorted(set(names) & set(changed)):
        raise Misconfigured(f"{step}: {', '.join(map(repr, both))} cannot be both among columns and given")
    return names


def normal_scores(column: Column, rows: Ints) -> Floats:
    """Φ⁻¹((rank − ½)/n) with average ranks, scaled to variance one. Codes are in order, so ranks need no sorting."""
    from scipy.special import ndtri

    codes = column.codes[rows]
    counts = np.bincount(codes, minlength=len(column.values))
    ranks = np.cumsum(counts) - (counts - 1) / 2
    used = counts > 0
    each = np.zeros(len(counts))
    each[used] = ndtri((ranks[used] - 0.5) / len(rows))
    spread = np.sqrt((counts * each**2).sum() / len(rows) - ((counts * each).sum() / len(rows)) ** 2)
    return np.asarray((each / spread if spread > 0 else each)[codes])


def explaining(table: MicroTable, names: Sequence[str], rows: np.ndarray) -> Floats:
    """The columns that stay as they are, as regressors: scores of numbers, indicators of categories."""
    parts: list[Floats] = []
    for name in names:
        column = table[name]
        here = column.codes[rows]
        if column.is_numeric and (here >= 0).all():
            parts.append(normal_scores(column, rows)[:, None])
        else:
            parts.append(_indicators(column, here))
    return np.hstack(parts) if parts else np.empty((len(rows), 0))


def generate(confidential: Floats, given: Floats, random: np.random.Generator) -> Floats:
    """New scores with the conditional law of the confidential scores given the others.

    With joint normality, `X | S ~ N(Sβ, Σ_XX − β' Σ_SS β)`; the new scores are drawn from exactly that,
    independently of the true X given S. So the generated (X', S) have the correlations of (X, S), and,
    given S, tell nothing more about a person's own X.
    """
    n = len(confidential)
    if given.shape[1] == 0:
        sigma = nearest_correlation(np.atleast_2d(np.corrcoef(confidential.T)))
        return np.asarray(random.standard_normal(confidential.shape) @ root(sigma).T)
    centred = given - given.mean(axis=0)
    cross = centred.T @ confidential / n
    beta = np.linalg.pinv(centred.T @ centred / n, rcond=1e-10, hermitian=True) @ cross
    fitted = centred @ beta
    rest = confidential.T @ confidential / n - fitted.T @ fitted / n
    return np.asarray(fitted + random.standard_normal(confidential.shape) @ root(rest).T)


def _indicators(column: Column, codes: np.ndarray) -> Floats:
    counts = np.bincount(codes + 1, minlength=len(column.values) + 1)
    order = np.argsort(-counts, kind="stable")
    kept = [k for k in order[: MOST_INDICATORS + 1] if 0 < counts[k] < len(codes)][1:]  # the first is the constant
    return np.column_stack([(codes + 1 == k).astype(np.float64) for k in kept]) if kept else np.empty((len(codes), 0))
