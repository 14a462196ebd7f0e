"""From a checked question to what is run and what it costs. Pure: no data, no connection.

    plan(query, policy) → Plan      cells to compute exactly, groups to report, ways to blur them
    way.charge(s)                   what the answer costs when its noise is `base / s`
    way.noise(s)                    that noise, one mechanism per cell (None: exact)

Groups are disjoint, so every group gets its own noise of the same scale and the person pays once (`reach` already
counts the groups one person can touch). Several cells are several releases: their charges add.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from nowiser.errors import NotAnswerable
from nowiser.model.charge import PICO, Account, Charge, ceil_fraction
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect, Value
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.sql.cells import Cell, Reading, count_cell, sum_cell
from nowiser.sql.evaluate import evaluate
from nowiser.sql.groups import Group, Groups
from nowiser.sql.select import domain
from nowiser.sql.sensitivity import Reach, reach, secret
from nowiser.sql.tree import Aggregate, Call, Column, Expression, Query, Relation, columns, conditions, scan

MOST_GROUPS = 1_000_000

Noise = Laplace | Gaussian | None


@dataclass(frozen=True)
class Tally:
    """The exact part: for each group of these rows, these whole numbers. All an engine has to understand."""

    relation: Relation
    keys: tuple[Column, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Way:
    """One way to blur the cells: a base scale per cell (None: exact) and what it costs at that scale."""

    name: str
    bases: tuple[Fraction | None, ...]
    grids: tuple[Fraction, ...]
    unit: Charge
    gaussian: bool = False

    def charge(self, s: Fraction) -> Charge:
        """The cost when all noise is `s` times as precise; rounded up."""
        return self.unit.times(s)

    def noise(self, s: Fraction) -> tuple[Noise, ...]:
        return tuple(self._one(b, g, s) for b, g in zip(self.bases, self.grids, strict=True))

    def _one(self, base: Fraction | None, grid: Fraction, s: Fraction) -> Noise:
        if base is None:
            return None
        return Gaussian(base * base / s, grid) if self.gaussian else Laplace(base / s, grid)


@dataclass(frozen=True)
class Plan:
    query: Query
    tally: Tally
    reaches: tuple[Reach, ...]
    readings: tuple[Reading, ...]  # one per aggregate
    groups: Groups  # in the order in which they are reported
    ways: tuple[Way, ...]  # none if everything is exact
    bounding: tuple[str, ...]

    @property
    def free(self) -> bool:
        return not self.ways

    def exact(self, reading: Reading) -> bool:
        return all(self.reaches[i].exact for i in (reading.top, reading.bottom) if i is not None)

    @property
    def public(self) -> Tally:
        """The part that touches nothing secret; what it gives may be looked at before anything is charged."""
        cells = tuple(c for c, r in zip(self.tally.cells, self.reaches, strict=True) if r.exact)
        return Tally(self.tally.relation, self.tally.keys, cells)


def plan(query: Query, policy: Policy) -> Plan:
    """Decide cells, groups and noise. Raises NotAnswerable where there are too many groups."""
    cells: list[Cell] = []
    readings = tuple(_reading(a, cells, query) for a in query.aggregates)
    reaches = tuple(reach(c, query, policy) for c in cells)
    tally = Tally(query.relation, query.keys, tuple(cells))
    return Plan(
        query,
        tally,
        reaches,
        readings,
        _groups(query),
        tuple(_ways(tally.cells, reaches, policy)),
        _bounding(query),
    )


def _reading(aggregate: Aggregate, cells: list[Cell], query: Query) -> Reading:
    table = scan(query.relation).table
    argument, condition = aggregate.argument, aggregate.condition

    def index(cell: Cell) -> int:
        if cell not in cells:
            cells.append(cell)
        return cells.index(cell)

    if aggregate.function == "count":
        return Reading(aggregate, index(count_cell(argument, condition)))
    assert argument is not None, "only COUNT goes without"
    if aggregate.function == "sum":
        return Reading(aggregate, index(sum_cell(argument, condition, centred=False)))
    # Where presence is secret the count is noisy too, and a sum measured from the middle of the range moves least.
    # The same holds where a secret decides which rows count.
    count = count_cell(argument, condition)
    deciding = secret(*conditions(query.relation), condition, count.not_null, *query.keys)
    noisy = not table.is_public and (table.protect is Protect.PERSONS or bool(deciding))
    return Reading(aggregate, index(sum_cell(argument, condition, centred=noisy)), index(count))


def _groups(query: Query) -> Groups:
    """Every combination of declared values that the conditions on the keys leave, empty groups too."""
    domains = tuple(domain(k.declared) or () for k in query.keys)
    every = Groups(domains)
    if len(every) > MOST_GROUPS:
        raise NotAnswerable(f"There would be {len(every):,} groups.", hint=f"At most {MOST_GROUPS:,} are reported.")
    deciding = [
        c
        for condition in conditions(query.relation)
        for c in _conjuncts(condition)
        if query.keys and set(columns(c)) <= set(query.keys)
    ]
    if not deciding:
        return every
    position = {k: i for i, k in enumerate(query.keys)}

    def holds(group: Group) -> bool:
        def lookup(leaf: Expression) -> Value | None:
            assert isinstance(leaf, Column)
            return group[position[leaf]]

        return all(evaluate(c, lookup) is True for c in deciding)

    return Groups(domains, tuple(i for i, group in enumerate(every) if holds(group)))


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        for arg in condition.args:
            yield from _conjuncts(arg)
    else:
        yield condition


def _ways(cells: tuple[Cell, ...], reaches: tuple[Reach, ...], policy: Policy) -> Iterator[Way]:
    if all(r.exact for r in reaches):
        return
    grids = tuple(c.unit for c in cells)
    bases = tuple(None if r.exact else Fraction(max(r.jump, r.presence)) for r in reaches)
    if any(r.slope for r in reaches):
        yield Way("Laplace noise, charged by distance", bases, grids, _charge(reaches, bases, by_slope=True))
    yield Way("Laplace noise", bases, grids, _charge(reaches, bases, by_slope=False))
    if policy.delta > 0:
        yield Way("Gaussian noise", bases, grids, _rho(reaches, bases), gaussian=True)


def _charge(reaches: tuple[Reach, ...], bases: tuple[Fraction | None, ...], *, by_slope: bool) -> Charge:
    def amounts() -> Iterator[tuple[Account, int]]:
        for r, base in zip(reaches, bases, strict=True):
            if base is None:
                continue
            if r.persons is not None:
                yield Account("presence", (r.persons,)), _pico(r.presence / base)
            if by_slope and r.slope:
                for attribute, slope in r.slope:
                    yield Account("slope", (attribute,)), _pico(slope / base)
                yield Account("jump", r.about), _pico(r.rounding / base)
            elif r.about:
                yield Account("jump", r.about), _pico(r.jump / base)

    return Charge.of(amounts())


def _rho(reaches: tuple[Reach, ...], bases: tuple[Fraction | None, ...]) -> Charge:
    """Zero-concentrated loss d²/(2σ²) of Gaussian noise with σ = base."""

    def amounts() -> Iterator[tuple[Account, int]]:
        for r, base in zip(reaches, bases, strict=True):
            if base is None:
                continue
            if r.persons is not None:
                yield Account("rho_presence", (r.persons,)), _pico(Fraction(r.presence) ** 2 / (2 * base * base))
            if r.about:
                yield Account("rho", r.about), _pico(r.jump_squared / (2 * base * base))

    return Charge.of(amounts())


def _pico(nats: Fraction) -> int:
    return ceil_fraction(nats * PICO)


def _bounding(query: Query) -> tuple[str, ...]:
    """What clipping and row limits may have lost: said from the policy, so that saying it tells nothing."""
    table = scan(query.relation).table
    notes = []
    if not table.is_public:
        m = table.rows_per_person
        notes.append(
            f"{table.name}: at most {m} row{'s' if m != 1 else ''} of each person count; any further are left out."
        )
    for aggregate in query.aggregates:
        for c in columns(aggregate.argument):
            if c.declared.low is not None and c.declared.high is not None and aggregate.function != "count":
                low, high = float(c.declared.low), float(c.declared.high)
                notes.append(f"{c.attribute}: values outside {low:g} to {high:g} count as the nearer end.")
    notes += [f"{key.attribute}: rows without one of the declared values appear in no group." for key in query.keys]
    return tuple(dict.fromkeys(notes))
