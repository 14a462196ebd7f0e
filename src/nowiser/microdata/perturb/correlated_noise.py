"""Correlated noise: columns move together, so that the covariance of the release is that of the data.

With `y = x + e`, `e ~ N(0, d·Σ)`, the covariance of `y` is `(1+d)·Σ`: correlations are kept, variances
grow. Three ways to deal with the growth:

* `inflated` releases `y`: a reader divides covariances by `1+d`;
* `unbiased` releases `m + A(y − m)` with `A (Σ + dΣ) Aᵀ = Σ`: the covariance is `Σ` on average over the noise;
* `exact` does the same with noise made exactly orthogonal to the data and exactly of covariance `d·Σ`:
  the release has the sample mean and covariance of the data, to rounding.

*Why `exact` is exact:* the drawn noise is replaced by its residual on `[1, x]` (so its sample mean and
its sample covariance with `x` vanish) and then whitened and coloured to `d·Σ`; hence
`cov(y) = Σ + dΣ` holds for this very sample, and `A` undoes it.

`robust` estimates `Σ` for the noise without being steered by outliers: by ranks (Spearman with median
deviations) or by the minimum covariance determinant.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.covariance import covariance_of, robust_covariance, root
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.risk.channel import Channel, Noise
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.risk.together import Together
from nowiser.microdata.table.arrays import (
    Floats,
    Names,
    all_back,
    chosen,
    grouped,
    matrix,
    members,
    varying,
    weights,
)
from nowiser.microdata.table.micro_table import MicroTable

SOLVED = (
    "correlated_noise keeps sums of {} to the last digit. Of {:,} rows they may tell the values to whoever solves for "
    "them, and the figures are not about him. Say whole: true, or have at least {:,} rows in each stratum."
)
BLOCK = 4096  # rows whose products are taken together


@dataclass(frozen=True)
class CorrelatedNoise:
    """Add noise with the columns' own covariance, `amount` times it (d above)."""

    name: ClassVar[str] = "correlated_noise"

    columns: Names
    amount: float = 0.1
    covariance: Literal["exact", "unbiased", "inflated"] = "exact"
    robust: Literal["ranks", "mcd"] | None = None
    strata: Names | None = None
    whole: bool = False  # rounding integers would spoil exactness

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="correlated_noise: columns")
        if not self.amount > 0:
            raise Misconfigured(f"correlated_noise: amount must be positive, not {self.amount:g}")
        if self.covariance not in ("exact", "unbiased", "inflated"):
            raise Misconfigured(
                f"correlated_noise: covariance must be exact, unbiased or inflated, not {self.covariance!r}"
            )
        if self.robust not in (None, "ranks", "mcd"):
            raise Misconfigured(f"correlated_noise: robust must be ranks or mcd, not {self.robust!r}")
        values, columns = matrix(table, names)
        for column in columns:
            varying(column)
        weight = weights(table, run.roles.weight)
        codes, count = grouped(table, strata_of(table, run.roles, self.strata))

        released = np.empty_like(values if count > 1 else values[:0], order="F")
        noises, undos, centres, book = [], [], [], []
        for rows in members(codes, count):
            here, mine = (values, weight) if count == 1 else (values[rows], weight[rows])
            sigma = covariance_of(here, mine, names)
            noise = self.amount * (robust_covariance(here, self.robust, names, run.random) if self.robust else sigma)
            centre = mine @ here / mine.sum()
            undo = np.eye(len(names)) if self.covariance == "inflated" else shrink(sigma, noise)
            moved = perturbed(here, noise, undo, mine, run.random, exact=self.covariance == "exact")
            if count == 1:
                released = moved
            else:
                released[rows] = moved
            noises.append(noise)
            undos.append(undo)
            centres.append(centre)
            book.append({"rows": len(rows), "covariance of the noise": noise.tolist(), "map": undo.tolist()})
        result = table.with_columns(*all_back(columns, released, real=not self.whole))
        law = Together(names, np.array(centres), np.array(undos), np.array(noises), codes, exact=not self.whole)
        if law.fewest < law.enough:
            run.notice(SOLVED.format(", ".join(names), law.fewest, law.enough))
        channels = channels_of(law)
        codebook: dict[str, Any] = {"covariance": self.covariance, "amount": self.amount, "strata": book}
        found = guesses_of(run, table, result, channels)
        return Step(result, self.name, codebook, guesses=found, channels=channels, independent=False)


def channels_of(noise: Together) -> dict[str, Channel]:
    """What is published about each column by itself, and with it what is published about all of them."""
    A = noise.undo
    deviation = np.sqrt(np.diagonal(A @ noise.covariance @ np.swapaxes(A, 1, 2), axis1=1, axis2=2))
    factor = np.diagonal(A, axis1=1, axis2=2)
    return {
        n: Noise("normal", deviation[:, j], factor[:, j], noise.centre[:, j], noise.strata, noise, own=True)
        for j, n in enumerate(noise.names)
    }


def perturbed(
    values: Floats, noise: Floats, undo: Floats, weight: Floats, random: np.random.Generator, *, exact: bool
) -> Floats:
    """`m + A(x + e − m)` with e of covariance `noise`: of the sample, orthogonal to x, if `exact`.

    The draws E enter only through products: with β the regression of E on the centred data X and T the map that
    gives the residual E − Xβ the covariance `noise`, the release is `m + X(I − βT)Aᵀ + E·T·Aᵀ`: two passes, block by
    block, so that a block's products are taken while it is near.
    """
    n, d = values.shape
    share = weight / weight.sum()
    centre = share @ values
    E = random.standard_normal((d, n))
    mean_e, map_x, map_e = np.zeros(d), np.eye(d), root(noise)
    blocks = [slice(first, first + BLOCK) for first in range(0, n, BLOCK)]
    if exact:
        if n < 2 * d + 2:
            raise Misconfigured(
                f"correlated_noise: a stratum of {n} rows is too small for exact covariance of {d} columns",
                hint=f"At least {2 * d + 2} rows are needed; use fewer strata, or covariance: unbiased.",
            )
        gram, cross, own = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
        for at in blocks:  # X is centred, so that only E's own moments need its mean
            x, e = values[at].T - centre[:, None], E[:, at]
            wx, we = x * share[at], e * share[at]
            mean_e += we.sum(axis=1)
            gram += wx @ x.T
            cross += wx @ e.T
            own += we @ e.T
        own -= np.outer(mean_e, mean_e)
        scale = np.sqrt(np.diag(gram))
        beta = np.linalg.solve(gram / np.outer(scale, scale), cross / scale[:, None]) / scale[:, None]
        # covariance_of divides by 1 − Σ share² (the weighted n/(n−1)); so must the noise
        rest = (own - cross.T @ beta) / (1 - float(share @ share))
        if np.linalg.eigvalsh(rest)[0] < 1e-9:
            raise Misconfigured(
                "correlated_noise: the noise that this seed gives is a combination of the data themselves",
                hint="The data were drawn with the same seed: choose another one, or none.",
            )
        map_e = np.linalg.inv(root(rest)) @ root(noise)
        map_x = np.eye(d) - beta @ map_e
    of_x, of_e = (map_x @ undo.T).T, (map_e @ undo.T).T
    for at in blocks:  # each block of the release takes the place of the draws that it is made of
        moved = of_x @ (values[at].T - centre[:, None])
        moved += of_e @ (E[:, at] - mean_e[:, None])
        np.add(moved, centre[:, None], out=E[:, at])
    return E.T


def shrink(sigma: Floats, noise: Floats) -> Floats:
    """A with A (Σ + N) Aᵀ = Σ: roots of both, I/√(1+d) when N = d·Σ."""
    return np.asarray(root(sigma) @ np.linalg.inv(root(sigma + noise)))


METHOD = CorrelatedNoise
