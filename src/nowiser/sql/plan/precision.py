"""How precise an answer is wanted, and what noise that means."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.model.policy import Policy
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.noise.summed import laplace_units
from nowiser.sql.aggregates.quantiles import MARGIN
from nowiser.sql.aggregates.syntax import QUANTILES
from nowiser.sql.plan.plan import Noise, Plan, Way
from nowiser.sql.read.expressions.constants import exact_number

WIDEST = Fraction(10**15)  # noise that wide and a million cells of it still fit into the integers engines keep


@dataclass(frozen=True)
class Wish:
    """An error bar to reach, or a share of the allowance to spend."""

    error: Fraction | None = None
    spend: Fraction | None = None

    def __str__(self) -> str:
        return f"error {self.error}" if self.error is not None else f"spend {self.spend}"


def wish(policy: Policy, error: float | Fraction | None, spend: float | Fraction | str | None) -> Wish:
    """What the analyst asked for, or the policy's default. Raises Misconfigured."""
    if error is not None and spend is not None:
        raise Misconfigured("Say either the error wanted or the share to spend, not both.")
    if error is not None:
        wanted = number(error, "error")
        if wanted <= 0:
            raise Misconfigured("The error wanted must be above zero.", hint="For example error=1.5.")
        if wanted > WIDEST:
            raise Misconfigured(f"The error wanted may be at most {float(WIDEST):.0e}.", hint="For example error=1.5.")
        return Wish(error=wanted)
    if spend is None:
        return Wish(spend=policy.spend)
    share = number(spend, "spend")
    if not 0 < share <= 1:
        raise Misconfigured("The share to spend must be above 0% and at most 100%.", hint='For example spend="5%".')
    return Wish(spend=share)


def number(value: float | Fraction | str, name: str) -> Fraction:
    try:
        if isinstance(value, str) and value.strip().endswith("%"):
            return exact_number(value.strip()[:-1].strip()) / 100
        return value if isinstance(value, Fraction) else exact_number(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise Misconfigured(f"{name} must be a number or a percentage, not {value!r}.") from None


def width(plan: Plan, way: Way, noise: tuple[Noise, ...]) -> Fraction:
    """How wide all bars are together, each measured by how far one person can move its cell.

    Where numbers are sums of several noises, as if all had the mean of their variances.
    """
    many = Fraction(1) if way.summed is None else Fraction(way.summed.mean_variance**0.5)
    return many * sum(
        (
            n.half_width() / (n.grid * max(r.jump, r.presence))
            for n, r in zip(noise, plan.reaches, strict=True)
            if n is not None
        ),
        Fraction(0),
    )


def needed(plan: Plan, way: Way, error: Fraction, fewest: int | None) -> Fraction:
    """How precise the noise must be so that every noisy column has at most this error.

    `fewest`: rows in the smallest group, where averages divide by a public number of rows.
    """
    found = Fraction(0)
    for reading in plan.readings:
        if plan.exact(reading):
            continue
        cell_error = error
        histogram = plan.histogram(reading)
        if reading.more or (histogram is not None and reading.aggregate.function in QUANTILES):
            raise NotAnswerable(
                "How precise this will be depends on the data, so no error can be promised.",
                hint='Say what to spend instead, for example spend="5%".',
                span=reading.aggregate.span,
            )
        if histogram is not None:  # a sum of several noises
            run = reading.run or (0, histogram.strategy.size)
            cell_error = error / Fraction(MARGIN * max(1.0, histogram.strategy.variance(*run)) ** 0.5)
        if reading.bottom is not None:
            if not plan.reaches[reading.bottom].exact or fewest is None:
                raise NotAnswerable(
                    "How many rows this average is over is not known beforehand, so no error can be promised.",
                    hint='Say what to spend instead, for example spend="5%".',
                    span=reading.aggregate.span,
                )
            cell_error = error * fewest
        base, grid = way.bases[reading.top], way.grids[reading.top]
        assert base is not None
        if way.summed is not None and (most := max(way.summed.added)) > 1:
            found = max(found, _summed(way, base, grid, cell_error, most))
            continue
        if way.gaussian:
            precise = base * base / Gaussian.with_error(cell_error, grid).spread
        else:
            precise = base / Laplace.with_error(cell_error, grid).scale
        found = max(found, precise)
    if not 0 < found < inf:
        raise NotAnswerable("This question has no noisy column to give an error to.")
    return found


def _summed(way: Way, base: Fraction, grid: Fraction, error: Fraction, n: int) -> Fraction:
    """How precise noise must be so that a sum of n of them stays within the error."""
    if way.gaussian:
        return n * base * base / Gaussian.with_error(error, grid).spread
    if n == 1:
        return base / Laplace.with_error(error, grid).scale
    units = error / grid - 2  # bars of sums are rounded up to whole units
    if units <= 0:
        return base * 10**9  # sums of this grid have no such bar; another way is cheaper
    return base * Fraction(laplace_units(n, 0.05)) / units
