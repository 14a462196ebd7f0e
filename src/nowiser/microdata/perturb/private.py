"""Noise, PRAM and randomised response that keep a promise of differential privacy, and pay for it.

What they share: everything that shapes the distribution (categories, ranges, scales) is stated by the
custodian and never read off the data; chance comes from the operating system and can be neither seeded
nor repeated; and the cost is a charge on the accounts of `table.column`, the same that SQL answers are
charged to. The number of rows and who has one is taken as known (`protect: values`): a file with one line
per person cannot hide that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb import exact_transition
from nowiser.microdata.perturb.ceiling import ceiling
from nowiser.microdata.perturb.in_units import from_units, in_units
from nowiser.microdata.perturb.randomised_response import widened
from nowiser.microdata.perturb.transition import estimate, given
from nowiser.microdata.risk.best_guess import Floats
from nowiser.microdata.table.arrays import chosen, numeric, weights
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.charge import PICO, Account, Charge, ceil_fraction
from nowiser.noise.discrete_laplace import discrete_laplace
from nowiser.noise.entropy import OS
from nowiser.noise.integers import add


@dataclass(frozen=True)
class PrivateNoise:
    """Integer Laplace noise of `scale` (raw units) on a column clipped to the stated range.

    *Cost.* The value moves by |x − x'|, its multiple of `grid` by at most one grid unit more (nothing more if
    the column is of an integer type and the grid divides 1). Noise with P ∝ e^(−|k|·grid/scale) on the grid
    therefore costs `slope` 1/scale per raw unit and, for a column that may lie off the grid, `jump` grid/scale.
    Clipping to the stated range moves no two values further apart; clamping the output afterwards is free.
    Of several rows of a person each may move by itself: one is charged by distance, the others whole, as `jump`.
    """

    name: ClassVar[str] = "private_noise"

    table: str  # the policy's name of the table: whose account pays
    column: str
    low: float
    high: float
    scale: float
    grid: float = 1.0
    rows_per_person: int = 1
    clamp: bool = False

    def apply(self, table: MicroTable, run: Run) -> Step:
        del run  # neither its seed nor its roles may shape the noise
        chosen(table, [self.column], what="private_noise: column")
        grid, scale = _exact(self.grid, "grid"), _exact(self.scale, "scale")
        low, high = Fraction(str(self.low)), Fraction(str(self.high))
        if not low < high or low % grid or high % grid:
            raise Misconfigured("private_noise: low must be below high, and both whole multiples of grid")
        if self.rows_per_person < 1:
            raise Misconfigured(f"private_noise: rows_per_person must be at least 1, not {self.rows_per_person}")
        column = numeric(table, self.column).column
        _complete(column, "private_noise")
        ends = int(low / grid), int(high / grid)
        units = _within(in_units(column, grid), *ends)  # as if clipped before: the ends are on the grid
        noisy = add(units, discrete_laplace(scale / grid, len(units), OS))
        if self.clamp:
            noisy = _within(noisy, *ends)
        fits = pa.types.is_integer(column.kind) and (1 / grid).denominator == 1
        released = from_units(column, noisy, grid)
        account = f"{self.table}.{self.column}"
        m = self.rows_per_person
        step = Fraction(0) if fits else grid
        jump = step + (m - 1) * (high - low + step)
        charge = Charge.of({Account("slope", (account,)): ceil_fraction(PICO / scale)})
        if jump:
            charge = charge + Charge.of({Account("jump", (account,)): ceil_fraction(jump / scale * PICO)})
        result = table.with_columns(released)
        codebook = {
            "noise": f"integer Laplace, scale {float(scale):g}, grid {float(grid):g}",
            "clipped to": [int(end) if end.denominator == 1 else float(end) for end in (low, high)],
            "variance to subtract": 2 * float(scale) ** 2,
            "differentially private": True,
        }
        reach = m * (high - low + step) / scale
        return Step(result, self.name, codebook, charge=charge, guesses=ceiling(self.column, reach), reach=reach)


@dataclass(frozen=True)
class PrivateResponse:
    """Randomised response over stated categories at a cost of `jump` nats per row of a person."""

    name: ClassVar[str] = "private_response"

    table: str
    column: str
    among: Sequence[Any]
    jump: float
    rows_per_person: int = 1

    def apply(self, table: MicroTable, run: Run) -> Step:
        chosen(table, [self.column], what="private_response: column")
        column = widened(table[self.column], self.among, what="private_response")
        W = exact_transition.response(len(column.values), _exact(self.jump, "jump"))
        return _randomise(self, column, W, table, run)


@dataclass(frozen=True)
class PrivatePram:
    """PRAM by a stated matrix {true: {released: chance}}, whose own cost is charged."""

    name: ClassVar[str] = "private_pram"

    table: str
    column: str
    matrix: Mapping[Any, Mapping[Any, float]]
    rows_per_person: int = 1

    def apply(self, table: MicroTable, run: Run) -> Step:
        chosen(table, [self.column], what="private_pram: column")
        column = widened(table[self.column], list(self.matrix), what="private_pram")
        W = exact_transition.whole(given(self.matrix, column.labels, column=self.column))
        return _randomise(self, column, W, table, run)


def _randomise(
    method: PrivateResponse | PrivatePram, column: Column, W: exact_transition.Whole, table: MicroTable, run: Run
) -> Step:
    if method.rows_per_person < 1:
        raise Misconfigured(f"{method.name}: rows_per_person must be at least 1, not {method.rows_per_person}")
    _complete(column, method.name)
    price = exact_transition.cost(W, column=column.name)
    P: Floats = W / exact_transition.ONE
    new = exact_transition.draw(column.codes.astype(np.int64), W, OS)
    found = estimate(new, P, weights(table, run.roles.weight), column=column.name)
    result = table.with_columns(Column.of_codes(column.name, new.astype(np.int32), column.values))
    charge = Charge.of({Account("jump", (f"{method.table}.{method.column}",)): price * method.rows_per_person})
    codebook = {
        "categories": list(column.labels),
        "matrix": P.tolist(),
        "jump": price / PICO,
        "estimated frequencies": found.frequencies.tolist(),
        "standard deviations": found.deviations.tolist(),
        "differentially private": True,
    }
    reach = Fraction(price * method.rows_per_person, PICO)
    return Step(result, method.name, codebook, charge=charge, guesses=ceiling(column.name, reach), reach=reach)


def _within(units: NDArray[Any], low: int, high: int) -> NDArray[Any]:
    """Clipped; whole numbers of any size stay whole."""
    if units.dtype == object or max(-low, high) >= 2**62:
        return np.array([min(max(int(u), low), high) for u in units], dtype=object)
    clipped: NDArray[Any] = np.clip(units, low, high)
    return clipped


def _exact(value: float, what: str) -> Fraction:
    try:
        exact = Fraction(str(value))
    except ValueError:
        raise Misconfigured(f"{what} must be a positive number, found {value!r}") from None
    if exact <= 0:
        raise Misconfigured(f"{what} must be a positive number, found {value!r}")
    return exact


def _complete(column: Column, what: str) -> None:
    if column.nulls:
        raise Misconfigured(
            f"{what}: {column.nulls} rows of {column.name!r} are missing; whose are would be told for free",
            hint="Make missing one of the stated categories, or fill it in, before this step.",
        )


METHODS = (PrivateNoise, PrivateResponse, PrivatePram)
