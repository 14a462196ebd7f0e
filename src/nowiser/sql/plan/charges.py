"""What noise costs, from how far one person moves each cell: amounts for the ledger at the base scale of the noise.

Laplace noise of scale b on a cell that moves by d costs d/b nats; by distance, L/b nats per unit. Gaussian noise of
deviation σ makes the two answers look d/σ apart; squares (d/σ)² and, by distance, (L/σ)² per unit² add up.
"""

from collections.abc import Iterator
from fractions import Fraction

from nowiser.model.charge import PICO, UNIT, Account, Charge, ceil_fraction
from nowiser.sql.bound.sensitivity import Reach

LEAST = Fraction(1, 1024)  # of c², so that rounding adds as squares do

Bases = tuple[Fraction | None, ...]
Amounts = Iterator[tuple[Account, int]]


def laplace(reaches: tuple[Reach, ...], bases: Bases, *, by_slope: bool, squares: bool) -> Charge:
    """Losses of Laplace noise; `squares`: theirs too, which promises on average count. Distances have none."""

    def amounts() -> Amounts:
        for r, base in zip(reaches, bases, strict=True):
            if base is not None and by_slope and r.slope:
                for attribute, slope in r.slope:
                    yield Account("slope", (attribute,)), _pico(slope / base)
                yield Account("jump", r.about), _pico(r.rounding / base)
                yield from _of_presence(r, base, squares=squares)
            elif base is not None:
                yield from pure(r, base, squares=squares)

    return Charge.of(amounts())


def pure(r: Reach, base: Fraction, *, squares: bool) -> Amounts:
    """Losses that do not depend on distances."""
    if r.about:
        yield Account("jump", r.about), _pico(r.jump / base)
    if r.about and squares:
        yield Account("square", r.about), _pico((r.jump / base) ** 2)
        yield Account("squared", r.about), int(r.jump / base * PICO)
    yield from _of_presence(r, base, squares=squares)


def _of_presence(r: Reach, base: Fraction, *, squares: bool) -> Amounts:
    if r.persons is None:
        return
    yield Account("presence", (r.persons,)), _pico(r.presence / base)
    if squares:
        yield Account("square_presence", (r.persons,)), _pico((r.presence / base) ** 2)
        yield Account("squared_presence", (r.persons,)), int(r.presence / base * PICO)


def gaussian(reaches: tuple[Reach, ...], bases: Bases, *, by_slope: bool) -> Charge:
    """Squares of how far apart two answers look.

    The square of Σ L_a·d_a + R is at most (1 + θ)·k·Σ (L_a·d_a)² + (1 + 1/θ)·R², for k attributes and any θ. R is
    rounding, and what other rows of the person may do; θ is about its share of all movement.
    """

    def amounts() -> Amounts:
        for r, base in zip(reaches, bases, strict=True):
            if base is None:
                continue
            if r.persons is not None:
                coming = r.presence**2 if r.presence_squared is None else r.presence_squared
                yield Account("mu_presence", (r.persons,)), _pico(Fraction(coming) / base**2)
            if by_slope and r.slope:
                theta = min(Fraction(1), max(LEAST, r.rounding / r.jump)) if r.rounding else Fraction(0)
                for attribute, slope in r.slope:
                    squared = (1 + theta) * len(r.slope) * (slope / base) ** 2
                    yield Account("c", (attribute,)), ceil_fraction(squared * UNIT["c"])
                if theta:
                    yield Account("mu", r.about), _pico((1 + 1 / theta) * (r.rounding / base) ** 2)
            elif r.about:
                yield Account("mu", r.about), _pico(r.jump_squared / base**2)

    return Charge.of(amounts())


def _pico(amount: Fraction) -> int:
    return ceil_fraction(amount * PICO)
