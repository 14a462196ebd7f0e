"""How a price came about, as lines of a tree: how far each part can move, which noise hides that, how precise."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.report.answer import rounded
from nowiser.report.softer import softer
from nowiser.report.spoken import spoken
from nowiser.sql.aggregates.histograms import Histogram
from nowiser.sql.aggregates.picked import HIDDEN
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.bound.sensitivity import Reach
from nowiser.sql.plan.cells import Cell, Reading
from nowiser.sql.plan.plan import Noise, Plan


def derivation(plan: Plan, way: str, noise: Sequence[Noise], nats: Fraction) -> tuple[str, ...]:
    """The derivation, one line per fact, indented by two spaces per level. `nats`: how much quantiles are picked at."""
    found = plan.discovery is not None
    many = "groups found in the data" if found else f"{len(plan.groups):,} group{'s' if len(plan.groups) != 1 else ''}"
    lines = [f"{many}; {way}", *_threshold(plan, noise)]
    names = [_named(c) for c in plan.tally.cells]
    names += [_measured(h) for h in plan.histograms]
    every = (*plan.tally.cells, *plan.histograms)
    for name, one, reach, mechanism in zip(names, every, plan.reaches, noise, strict=True):
        lines.append(f"  {name}")
        cell = one if isinstance(one, Cell) else one.cell
        if isinstance(one, Picking):
            lines += [f"    {line}" for line in (*_moves(cell, reach), *_picks(one, nats))]
            continue
        if mechanism is None and not reach.exact:
            lines.append("    not shown: only which groups are largest is told")
            continue
        if mechanism is None:
            lines.append("    nothing secret moves it: exact and free")
            continue
        lines += [f"    {line}" for line in _moves(cell, reach)]
        kind = "Gaussian" if isinstance(mechanism, Gaussian) else "Laplace"
        lines.append(f"    integer {kind} noise, ± {rounded(float(mechanism.half_width()), 4)} in 95 of 100 cases")
    for reading in plan.readings:
        top = noise[reading.top]
        counted = reading.top < len(plan.tally.cells)  # quantiles are read off buckets, and say their own precision
        if counted and top is not None and not reading.more and not plan.exact(reading):
            lines += _useful(plan.tally.cells[reading.top], reading, float(top.half_width()))
    return (*lines, *softer(plan))


def _measured(histogram: Histogram | Picking) -> str:
    if isinstance(histogram, Picking):
        many = f"{len(histogram.targets)} values" if len(histogram.targets) > 1 else "a value"
        return f"{many} picked among {histogram.size:,} buckets of the range"
    return f"rows counted in {len(histogram.buckets):,} buckets, {histogram.strategy.name}"


def _picks(picking: Picking, nats: Fraction) -> list[str]:
    """How many rows from the wanted rank a pick lies, where values are spread evenly around it."""
    lines = []
    for q, rate in zip(picking.targets, picking.rates, strict=True):
        if q in (0, 1):
            lines.append(f"{'MAX' if q else 'MIN'}: aims {ceil(HIDDEN / (rate * nats)):,} rows from the end")
        else:
            off = ceil(3 / (rate * nats))  # e^-3 = 5 %
            lines.append(f"quantile {float(q):.4g}: within about {off:,} rows of it in 95 of 100 cases")
    if picking.inner:
        lines.append("the other half of the cost counts rows around the values, for their error bars")
    return lines


def _useful(cell: Cell, reading: Reading, half: float) -> list[str]:
    """How many people it takes for an answer to be worth its price, said before anything is spent."""
    span = float((cell.high - cell.low) * cell.unit)
    if reading.bottom is not None and span:
        return [
            f"  average: ± {rounded(half, 4)} divided by the number of rows; ± {rounded(half / 100)} over 100 rows",
            f"    below {5 * half / span:,.0f} rows it is off by 20 % of its range or more: useless",
        ]
    if reading.aggregate.function == "count":
        return [f"  count: below {5 * half:,.0f} rows it is off by 20 % or more: useless"]
    if reading.aggregate.function == "sum" and span:
        needed = f"below {5 * half / span:,.0f} rows it is off by 20 % or more of what they may add up to"
        return [f"  sum: {needed}: useless"]
    return []


def _threshold(plan: Plan, noise: Sequence[Noise]) -> list[str]:
    """From how many persons on a group that nobody declared is shown."""
    if plan.discovery is None:
        return []
    mechanism = noise[plan.discovery.cell]
    assert isinstance(mechanism, Laplace), "discovered groups are planned with Laplace noise only"
    least, delta = plan.discovery.threshold(mechanism), float(plan.discovery.delta)
    return [f"  a group is shown if its noisy number of persons is {least:,} or more; one person's alone: {delta:.1g}"]


def _named(cell: Cell) -> str:
    counted = "different values counted" if cell.distinct else "rows counted"
    what = counted if cell.argument is None else f"sum of {spoken(cell.argument)}"
    return what + (f" where {spoken(cell.condition)}" if cell.condition is not None else "")


def _moves(cell: Cell, reach: Reach) -> list[str]:
    unit = cell.unit
    lines = []
    if reach.persons is not None:
        lines.append(f"moves by at most {rounded(float(reach.presence * unit), 4)} when a person comes or goes")
    if reach.about:
        about = ", ".join(reach.about)
        lines.append(f"moves by at most {rounded(float(reach.jump * unit), 4)} when {about} of a person changes")
    lines += [
        f"moves by at most {rounded(float(slope * unit), 4)} per unit of {attribute}"
        for attribute, slope in reach.slope
    ]
    return lines
