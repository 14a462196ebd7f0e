"""From a checked question to what is run and what it costs. Pure: no data, no connection.

    plan(query, policy) → Plan      cells to compute exactly, groups to report, ways to blur them
    way.charge(s)                   what the answer costs when its noise is `base / s`
    way.noise(s)                    that noise, one mechanism per cell (None: exact)

Groups are disjoint, so every group gets its own noise of the same scale and the person pays once (`reach` already
counts the groups one person can touch). Several cells are several releases: their charges add.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np

from nowiser.errors import NotAnswerable
from nowiser.guess.budget.on_average import gaussian_allowed
from nowiser.model.charge import PICO, Charge, ceil_fraction
from nowiser.model.policy import Policy
from nowiser.model.schema import Value
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.sql.aggregates.histograms import Histogram, measured
from nowiser.sql.aggregates.picked import Places
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.aggregates.readings import Readings
from nowiser.sql.aggregates.syntax import QUANTILES
from nowiser.sql.aggregates.top import Top, find
from nowiser.sql.bound.bounding import bounding
from nowiser.sql.bound.bounds import total
from nowiser.sql.bound.clipped_totals import clip, whole
from nowiser.sql.bound.groups_per_person import spread
from nowiser.sql.bound.relations import Rows, limited_groups, rows
from nowiser.sql.bound.sensitivity import Reach, apart, reach
from nowiser.sql.evaluate import evaluate
from nowiser.sql.plan import charges
from nowiser.sql.plan.cells import Cell, Reading
from nowiser.sql.plan.discovered import Discovery, discover
from nowiser.sql.plan.groups import Groups, Listed, SetGroups
from nowiser.sql.plan.keys import domain, effort, public_keys
from nowiser.sql.plan.marginals import Marginals, marginals, with_missing
from nowiser.sql.plan.parts import cells as cells_of
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.clauses import LIMITLESS
from nowiser.sql.steps import MOST_ROWS, MOST_VISITS, visits
from nowiser.sql.tree import Column, Expression, Query, Relation, columns, computed, existing, holding

MOST_GROUPS = LIMITLESS
MOST_CHECKED = 100_000

FREE = Charge()

Values = tuple[Value, ...]
Noise = Laplace | Gaussian | None


@dataclass(frozen=True)
class Way:
    """One way to blur the cells: a base scale per cell (None: exact) and what it costs at that scale."""

    name: str
    bases: tuple[Fraction | None, ...]
    grids: tuple[Fraction, ...]
    unit: Charge
    gaussian: bool = False
    fixed: Charge = FREE  # what is charged besides, however precise the noise
    top: Top | None = None  # the largest groups are picked first
    summed: Marginals | None = None  # the finest grouping is measured, coarser sets are its sums

    def charge(self, s: Fraction) -> Charge:
        """The cost when all noise is `s` times as precise; rounded up."""
        return self.unit.sharper(s) + self.fixed

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
    groups: Groups | SetGroups | Listed  # in the order in which they are reported
    ways: tuple[Way, ...]  # none if everything is exact
    bounding: tuple[str, ...]
    discovery: Discovery | None = None  # which groups there are is read off the data, with a threshold
    histograms: tuple[Histogram | Picking, ...] = ()  # computed besides the cells; `reaches` and noise go on with them
    summed: Marginals | None = None  # what is measured where grouping sets are sums of the finest
    places: tuple[Places | None, ...] = ()  # what was picked, for each of the histograms, once it is

    def through(self, summed: Marginals | None) -> "Plan":
        """The same question with all grouping sets as sums of the finest, if that is the way."""
        if summed is None:
            return self
        return replace(self, tally=replace(self.tally, sets=None), reaches=summed.reaches, summed=summed)

    @property
    def measured(self) -> Groups | SetGroups | Listed:
        """The groups whose cells an engine computes and noise is added to."""
        return self.groups if self.summed is None else self.summed.groups

    @property
    def free(self) -> bool:
        return not self.ways

    def exact(self, reading: Reading) -> bool:
        """Whether it is shown as it is. Quantiles are known to a bucket, with or without noise."""
        binned = self.histogram(reading) is not None and reading.aggregate.function in QUANTILES
        return not binned and all(self.reaches[i].exact for i in reading.cells)

    def histogram(self, reading: Reading) -> Histogram | Picking | None:
        """The histogram a reading is taken from, if it is from one."""
        at = reading.top - len(self.tally.cells)
        return self.histograms[at] if at >= 0 else None

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """Everything an engine computes: the cells, then every histogram."""
        besides = (Tally(self.query.relation, h.question(self.query).keys, (h.cell,)) for h in self.histograms)
        return (self.tally, *besides)

    @property
    def public(self) -> Tally:
        """The part that touches nothing secret; what it gives may be looked at before anything is charged."""
        cells = tuple(c for c, r in zip(self.tally.cells, self.reaches, strict=False) if r.exact)
        return replace(self.tally, cells=cells)


def plan(query: Query, policy: Policy, public: Mapping[int, Values] | None = None) -> Plan:
    """Decide cells, groups and noise. Raises NotAnswerable where there are too many groups.

    `public`: values of keys that were read where nothing is secret (`keys.public_keys`), by the place of the key.
    """
    query = whole(spread(query), policy)
    known = rows(query.relation, policy)
    declared = None if as_found(query, known) else _groups(query, public or {})
    many = 0 if declared is None else len(declared)
    if query.after and visits(query.after, many) > MOST_VISITS:
        raise NotAnswerable(
            f"Windows over {many:,} groups would look at too many rows.",
            hint="Ask for fewer of them at once, or for ROWS BETWEEN 6 PRECEDING AND CURRENT ROW.",
        )
    if query.after and declared is not None and len(declared) > MOST_ROWS:
        raise NotAnswerable(
            f"{len(declared):,} groups would be computed with further.",
            hint=f"At most {MOST_ROWS:,}: ask for them alone.",
        )
    collected = Readings(query, known, policy, declared if isinstance(declared, Groups) else None)
    readings = collected.all()
    cells = list(collected.cells)
    discovery = discover(query, known, policy, cells) if declared is None and known.secret else None
    readings = collected.numbered(readings, len(cells))
    few = limited_groups(query.keys, query.relation) or 1
    reaches = tuple(apart(reach(c, query, policy, known), few) for c in cells) + tuple(
        measured(reach(h.cell, h.question(query), policy, known), h.strategy) for h in collected.histograms
    )
    if discovery is not None and reaches[discovery.cell].exact:
        raise NotAnswerable(
            "The values of this key are not declared.",
            hint="The custodian can declare them, as in {public: [a, b, c]}.",
            span=query.keys[0].span,
        )
    tally = Tally(query.relation, query.keys, tuple(cells), query.sets, clip(query.relation, known.person))
    picks = {i: h for i, h in enumerate(collected.histograms, len(cells)) if isinstance(h, Picking)}
    ways = list(_ways(tally.cells, reaches, policy, discovery, picks))
    if isinstance(declared, SetGroups):
        finest = tuple(reach(c, replace(query, sets=None), policy, known) for c in cells)
        ways += _summing(marginals(query, declared, cells, finest), tally.cells, policy)
    if isinstance(declared, Groups):
        if policy.reuse and (missing := with_missing(query, declared, cells, reaches)) is not None:
            ways = [replace(way, summed=missing) for way in ways]
        ways += _picking(find(query, cells, readings, reaches, known, len(declared)), reaches, policy)
    parts = cells_of(query.relation, policy)
    found = Plan(
        query,
        tally,
        reaches,
        readings,
        declared if declared is not None else Listed(len(query.keys)),
        tuple(ways if parts is None else (replace(w, unit=w.unit.within(parts)) for w in ways)),
        bounding(query, found=discovery is not None),
        discovery,
        collected.histograms,
    )
    for one in found.tallies:
        _total(one)
    return found


def _total(tally: Tally) -> None:
    """Refuse what some row could overflow, wherever in the statement it stands."""
    cells = (e for c in tally.cells for e in (c.argument, c.condition, c.not_null, *c.distinct) if e is not None)
    for e in (*computed(tally.relation), *tally.keys, *cells):
        total(e)


def as_found(query: Query, known: Rows) -> bool:
    """Whether groups are reported as SQL would: those that have rows. Where everything is public nothing is hidden."""
    binned = any(a.function in QUANTILES - {"min", "max"} or a.function == "running" for a in query.aggregates)
    return not known.secret and bool(query.keys) and query.sets is None and not binned


def keys_to_read(query: Query, policy: Policy) -> Iterator[tuple[int, Relation]]:
    """Keys whose values are not declared but stand where nothing is secret, and where that is."""
    if as_found(query, rows(query.relation, policy)):
        return
    conditions = holding(query.relation)
    for i, key in enumerate(query.keys):
        if domain(key, conditions) is None and (home := public_keys(key, query.relation)) is not None:
            yield i, home


def _groups(query: Query, public: Mapping[int, Values]) -> Groups | SetGroups | None:
    """Every combination of values that the conditions on the keys leave, empty groups too; None if not known."""
    holds = holding(query.relation)
    domains = [public[i] if i in public else domain(k, holds) for i, k in enumerate(query.keys)]
    if query.sets is not None:
        if any(d is None for d in domains):
            at = next(k for k, d in zip(query.keys, domains, strict=True) if d is None)
            raise NotAnswerable(
                "The values of this key are not declared, and GROUPING SETS need them.",
                hint="Ask each set as a question of its own with GROUP BY, or list the values in WHERE: key IN (…).",
                span=at.span,
            )
        parts = tuple(
            _product([query.keys[i] for i in one], [domains[i] or () for i in one], holds) for one in query.sets
        )
        found = SetGroups(len(query.keys), query.sets, parts, query.marks)
        _few(len(found))
        return found
    if any(d is None for d in domains):
        return None
    return _product(query.keys, [d or () for d in domains], holds)


def _few(number: int) -> None:
    if number > MOST_GROUPS:
        raise NotAnswerable(f"There would be {number:,} groups.", hint=f"At most {MOST_GROUPS:,} are reported.")


def _product(keys: Sequence[Expression], domains: Sequence[Values], holds: Sequence[Expression]) -> Groups:
    every = Groups(tuple(domains))
    deciding = [
        c
        for c in holds
        if keys
        and (found := columns(c))
        and set(found) <= {k for k in keys if isinstance(k, Column)}
        and not existing(c)
    ]
    if not deciding:
        _few(len(every))
        return every
    position = {k: i for i, k in enumerate(keys) if isinstance(k, Column)}
    # A condition on one key cuts its values before they are multiplied.
    narrowed, left = list(domains), MOST_CHECKED
    for c in deciding:
        if len(looked := columns(c)) == 1:
            i = position[looked[0]]
            left -= len(narrowed[i]) * effort(c)
            if left < 0:  # groups that a condition empties are reported with nothing in them, which is true
                break
            narrowed[i] = tuple(v for v in narrowed[i] if evaluate(c, lambda _, v=v: v) is True)  # type: ignore[misc]  # one leaf
    every = Groups(tuple(narrowed))
    _few(len(every))
    joint = [c for c in deciding if len(columns(c)) > 1]
    if not joint:
        return every
    checked = sum(effort(c) * prod(len(narrowed[position[x]]) for x in columns(c)) for c in joint)
    if checked > MOST_CHECKED:
        raise NotAnswerable(
            f"Conditions that compare keys would have to be checked for {checked:,} combinations of their values.",
            hint="Put conditions on single keys, or group by fewer.",
            span=joint[0].span,
        )

    kept = np.ones(tuple(len(d) for d in narrowed), dtype=bool)
    for c in joint:
        own = [position[x] for x in columns(c)]
        names = [x.ident for x in columns(c)]
        holds_for = np.zeros([len(narrowed[i]) for i in own], dtype=bool)
        for at in np.ndindex(*holds_for.shape):
            row = {n: narrowed[i][k] for n, i, k in zip(names, own, at, strict=True)}
            holds_for[at] = evaluate(c, lambda leaf, row=row: row[leaf.ident]) is True  # type: ignore[misc]  # columns
        order = sorted(range(len(own)), key=own.__getitem__)
        shape = [len(narrowed[i]) if i in own else 1 for i in range(len(narrowed))]
        kept &= holds_for.transpose(order).reshape(shape)
    return Groups(every.domains, tuple(np.flatnonzero(kept.ravel()).tolist()))


def _ways(
    cells: tuple[Cell, ...],
    reaches: tuple[Reach, ...],
    policy: Policy,
    discovery: Discovery | None,
    picks: Mapping[int, Picking],
) -> Iterator[Way]:
    if all(r.exact for r in reaches):
        return
    fixed = Charge() if discovery is None else discovery.charge
    grids = tuple(c.unit for c in cells) + (Fraction(1),) * (len(reaches) - len(cells))
    bases = tuple(
        None if r.exact else picks[i].base(r) if i in picks else Fraction(max(r.jump, r.presence))
        for i, r in enumerate(reaches)
    )
    picked = Charge.of((a, ceil_fraction(nats * PICO)) for i, p in picks.items() for a, nats in p.cost(reaches[i]))
    averaged = any(attacker.on_average for attacker in policy.attackers)
    distances = (True, False) if any(r.slope for r in reaches) else (False,)
    for by_slope in distances:
        unit = charges.laplace(reaches, bases, by_slope=by_slope, squares=averaged) + picked
        yield Way("Laplace noise" + ", charged by distance" * by_slope, bases, grids, unit, fixed=fixed)
    for by_slope in distances if averaged else (False,):
        unit = charges.gaussian(reaches, bases, by_slope=by_slope)
        if discovery is None and not picks and gaussian_allowed(policy, unit):
            yield Way("Gaussian noise" + ", charged by distance" * by_slope, bases, grids, unit, gaussian=True)


def _summing(summed: Marginals | None, cells: tuple[Cell, ...], policy: Policy) -> Iterator[Way]:
    if summed is not None:
        for way in _ways(cells, summed.reaches, policy, None, {}):
            yield replace(way, name=f"{way.name}; coarser sets are sums of the finest, measured once", summed=summed)


def _picking(top: Top | None, reaches: tuple[Reach, ...], policy: Policy) -> Iterator[Way]:
    """One nat in all, however it is shared between picks and counts."""
    if top is None:
        return
    one, averaged = Fraction(1), any(attacker.on_average for attacker in policy.attackers)
    r = replace(reaches[0], jump=1, presence=1)
    unit = Charge.of(charges.pure(r, one, squares=averaged))
    base = Fraction(2 * top.together) if top.counted else None
    yield Way(f"the {top.picks} largest picked by noisy max", (base,), (Fraction(1),), unit, top=top)
