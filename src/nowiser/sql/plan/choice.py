"""Which noise an answer gets: the most precise for what is to be spent, or the least spent for the error wanted."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.sql.aggregates.top import Top
from nowiser.sql.plan import precision
from nowiser.sql.plan.marginals import Marginals
from nowiser.sql.plan.plan import Noise, Plan, Way

FREE = Charge()


@dataclass(frozen=True)
class Chosen:
    """What an answer will cost and how precise it will be. Without noise: free."""

    charge: Charge
    noise: tuple[Noise, ...]
    name: str
    top: Top | None = None  # groups are picked first, at this total cost in nats
    nats: Fraction = Fraction(0)
    summed: Marginals | None = None  # grouping sets are sums of the finest
    unit: Charge = FREE  # what the noise costs at its base scale; without any, nothing secret is read


def choose(
    policy: Policy,
    planned: Plan,
    wish: precision.Wish,
    totals: Charge,
    *,
    analyst: str | None = None,
    own: Charge = FREE,
    fewest: int | None = None,
) -> Chosen:
    """The cheapest way to blur. Raises Exhausted where none is covered by what is left after `totals`.

    `fewest`: rows in the smallest group, where that is public and an error is wanted.
    """
    if planned.free:
        return Chosen(FREE, tuple(None for _ in planned.reaches), "exact")
    options: list[tuple[Fraction, Way, Fraction]] = []
    refusal: Exhausted | None = None
    for way in planned.ways:
        if wish.error is not None and way.top is not None:
            continue  # an error is promised for counts, not for which groups are picked
        try:
            if wish.spend is not None:
                s = _coarse(allowance.largest_multiple(policy, totals, way.unit, wish.spend, analyst=analyst, own=own))
                options.append((precision.width(planned, way, way.noise(s)), way, s))
            else:
                s = precision.needed(planned, way, wish.error or Fraction(0), fewest)
                options.append((allowance.share_used(policy, totals + way.charge(s)), way, s))
        except Exhausted as found:
            refusal = found
    if not options:
        if (
            totals or own
        ):  # the figures are those of the way that would be taken on the first day, as `explain` shows it
            first = choose(policy, planned, wish, FREE, fewest=fewest)
            allowance.admits(policy, totals, first.charge, analyst=analyst, own=own)
        raise refusal or AssertionError("a plan that is not free has a way")
    _, way, s = min(options, key=lambda option: option[0])
    return Chosen(way.charge(s), way.noise(s), way.name, way.top, s, way.summed, way.unit)


def _coarse(s: Fraction) -> Fraction:
    """A slightly smaller multiple with a short denominator: scales are drawn from and printed."""
    return Fraction(floor(s * 2**40), 2**40) or s
