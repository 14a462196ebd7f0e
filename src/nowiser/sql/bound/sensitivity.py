"""How far one person can move a cell: THEORY §9, decided from the tree and the policy alone.

Three neighbours, three distances, all in units of the cell:

* **presence**: one person, with at most m rows, comes or goes;
* **jump**: the secrets of one person are replaced by any others;
* **slope**: one attribute of one person moves by a distance, all else equal. Only where nothing that decides
  *which* rows count (conditions, keys, missing values) looks at a secret, and the summand is Lipschitz.

A sum charged by slope also costs a small jump: rounding to units moves each summand by up to one unit more than
its argument moved, and every operation on doubles by a bounded error. All of it is charged, not neglected. And of
several rows of a person one moves by the distance, the others in any way: unless the attribute is one value per person,
they are charged as a jump besides.

A cell is exact **by provenance** only: nothing secret is mentioned in anything that reaches it. Whatever range was
derived for it, a cell that a secret reaches can move by at least one unit.
docs/mathematics/sensitivity.md has the proofs; tests/gateway/test_neighbours.py tries to refute them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf

from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Protect, Role
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.bound.persons import attributes, linked
from nowiser.sql.bound.relations import Rows, key_values, rows, touched
from nowiser.sql.functions import ALLOWED
from nowiser.sql.interval import LARGEST
from nowiser.sql.plan.cells import Cell
from nowiser.sql.tree import Call, Column, Expression, Filter, Query, Scan, columns, conditions


@dataclass(frozen=True)
class Reach:
    """Distances in units of the cell. `about`: the attributes a jump is about. Squares are for Gaussian noise."""

    presence: int = 0
    jump: int = 0
    jump_squared: int = 0
    presence_squared: int | None = None  # None: the square of `presence`
    about: tuple[str, ...] = ()
    persons: str | None = None  # the table whose persons may come or go
    slope: tuple[tuple[str, Fraction], ...] = ()  # units per raw unit of each attribute
    rounding: Fraction = Fraction(0)  # the jump that a charge by slope costs besides

    @property
    def exact(self) -> bool:
        """Nothing secret reaches this cell: it is released as it is, and free."""
        return not self.about and self.persons is None


@dataclass(frozen=True)
class Lipschitz:
    """|f(x) − f(x')| ≤ Σ slope·|x − x'| + step, for f as an engine computes it, rounding included."""

    slope: tuple[tuple[str, Fraction], ...] = ()
    step: Fraction = Fraction(0)


def reach(cell: Cell, query: Query, policy: Policy, known: Rows | None = None) -> Reach:
    """`known`: what is known about the rows of the query, where that has been worked out already."""
    known = known or rows(query.relation, policy)
    table = known.persons
    if table is None:
        return Reach()
    sets = query.sets if query.sets is not None else (tuple(range(len(query.keys))),)
    if known.protect is Protect.PERSONS:
        return _persons(cell, query, policy, known, sets)
    keys = secret(*query.keys)
    deciding = (*_deciding(query), *secret(cell.condition, cell.not_null, *cell.distinct))
    if cell.argument is not None and cell.argument.type.nullable:
        deciding += tuple(c for c in secret(cell.argument) if c not in deciding)
    inner = secret(cell.argument)
    touched = tuple(sorted({a for c in (*keys, *deciding, *inner) for a in c.attributes}))
    if not touched:
        return Reach()
    # Where a secret decides which rows are joined, a row may find another partner and land in another group.
    moving = not known.plain and bool(_deciding(query))
    distance, squared = 0, 0
    for one in sets:
        own = [query.keys[i] for i in one]
        found = _replaced(
            cell,
            _contributions(cell, known, own, query, policy),
            keys=bool(own) and (moving or bool(secret(*own))),
            deciding=bool(deciding),
        )
        distance, squared = distance + found[0], squared + found[1]
    moved = Reach(jump=max(distance, 1), jump_squared=max(squared, 1), about=touched)
    if keys or deciding or cell.argument is None or cell.distinct:
        return moved
    line = lipschitz(cell.argument)
    shared = None if line is None else _rows_by_distance(inner, query, policy, known.most)
    if line is None or shared is None:
        return moved
    near, far = (n * len(sets) for n in shared)
    return replace(
        moved,
        slope=tuple((a, near * s / cell.unit) for a, s in line.slope),
        rounding=near * _rounding(cell.argument, line, cell.unit) + far * (cell.high - cell.low),
    )


def _rows_by_distance(looked: Sequence[Column], query: Query, policy: Policy, most: int) -> tuple[int, int] | None:
    """Of the rows of one person: how many move no further than the attribute of a goal does, and how many besides may
    move anyhow. None where none is known to move by the distance.

    An attribute that is one value per person, or of a table with one row per person, is the same in all rows, and all
    of them move together, however often they were joined. Else a goal is about the value in one of m rows. The others
    may depend on it in any way (a joint prior), so they jump; and of rows that were joined none need be the one.
    """
    if all(_one_value(c, policy) for c in looked):
        return most, 0
    source = query.relation
    while isinstance(source, Filter):
        source = source.source
    return (1, most - 1) if isinstance(source, Scan) and not limits_groups(source.table) else None


def _one_value(c: Column, policy: Policy) -> bool:
    """Whether all rows of a person have the same value. With limited groups other questions see other rows."""
    table = policy.table(c.table)
    assert table is not None, "slopes are of declared columns"
    return c.declared.one_per_person or (table.rows_per_person == 1 and not limits_groups(table))


def apart(found: Reach, groups: int) -> Reach:
    """The same where a person is in so many groups, with the same part of all in each: in L2, 1/√groups of it.

    For cells that stay apart. Not for histograms measured together, whose sums bring the groups together again.
    """
    if groups == 1:
        return found
    presence = Fraction(found.presence**2 if found.presence_squared is None else found.presence_squared)
    return replace(
        found, jump_squared=ceil(Fraction(found.jump_squared, groups)), presence_squared=ceil(presence / groups)
    )


def _persons(cell: Cell, query: Query, policy: Policy, known: Rows, sets: Sequence[tuple[int, ...]]) -> Reach:
    """Whole persons are protected: their rows come and go, and whoever is replaced may have other rows.

    With one row per person in the table that names the persons, a public key stays what it is when the secrets change.
    With several rows, rows of linked tables or rows that were joined, the set of rows may change with the secrets (the
    sick have other visits, the healthy none), so that rows leave one group and others enter another.
    """
    assert known.persons is not None
    deciding = (*_deciding(query), *secret(cell.condition, cell.not_null))
    if cell.argument is not None and cell.argument.type.nullable:
        deciding += secret(cell.argument)
    several = known.most > 1 or not known.plain
    distance = squared = presence = 0
    for one in sets:
        own = [query.keys[i] for i in one]
        m = _contributions(cell, known, own, query, policy)
        found = _replaced(
            cell,
            m,
            keys=bool(own) and (several or bool(secret(*own))),
            deciding=bool(deciding) or several or bool(cell.distinct),  # somebody else may have the same value
        )
        if cell.argument is None:  # whoever is replaced may as well have fewer rows: no count is free
            found = max(found[0], m), max(found[1], m * m)
        distance, squared = distance + found[0], squared + found[1]
        presence += m * cell.largest
    return Reach(
        presence=max(presence, 1),
        jump=max(distance, 1),
        jump_squared=max(squared, 1),
        about=_about(known, policy),
        persons=known.persons.name,
    )


def _deciding(query: Query) -> tuple[Column, ...]:
    """The secrets that decide which rows there are. Remembered on the relation: every cell asks."""
    found: tuple[Column, ...] | None = query.relation.__dict__.get("_deciding")
    if found is None:
        found = secret(*conditions(query.relation))
        query.relation.__dict__["_deciding"] = found
    return found


def _about(known: Rows, policy: Policy) -> tuple[str, ...]:
    """Every secret attribute of the persons. Remembered with what is known about the rows: every cell asks.

    Where there is none, linked tables are: whether somebody has rows there is a secret that a replaced person changes.
    """
    assert known.persons is not None
    found: tuple[str, ...] | None = known.__dict__.get("_about")
    if found is None:
        found = attributes(policy, known.persons) or linked(policy, known.persons)
        known.__dict__["_about"] = found
    return found


def _contributions(cell: Cell, known: Rows, keys: Sequence[Expression], query: Query, policy: Policy) -> int:
    """How many summands of a cell one person has, over all groups. A person is counted once in each group touched.

    Different values: with at most m rows a person adds at most m values, and replacing them replaces at most m. Of a
    key there are no more values than the person has rows in the table where it is one.
    """
    counted = {e.ident for e in cell.distinct if isinstance(e, Column)}
    if len(counted) < len(cell.distinct) or not counted:
        return known.most
    values = [key_values(key, policy) for key in known.keys if {i for _, i in key} == counted]
    if counted == {c.ident for c in known.person}:
        values.append(1)
    groups = touched(keys, query.relation, policy) if keys else 1
    return min([known.most, *(groups * most for most in values)])


def _replaced(cell: Cell, m: int, *, keys: bool, deciding: bool) -> tuple[int, int]:
    """L1 and squared L2 distance when the secrets of one person are replaced.

    With public keys every row stays in its group and moves inside [low, high], or [0 …] when a secret decides
    whether it counts. With secret keys a row may leave one group and enter another.
    """
    low, high = (min(cell.low, 0), max(cell.high, 0)) if deciding or keys else (cell.low, cell.high)
    spread = high - low
    if not keys:
        return m * spread, (m * spread) ** 2
    return 2 * m * cell.largest, m * m * max(2 * cell.largest**2, spread**2)


def _rounding(argument: Expression, line: Lipschitz, unit: Fraction) -> Fraction:
    """Units by which a summand can move beyond slope·distance: steps, errors of doubles, and rounding to units.

    Two numbers d apart round to whole numbers at most d + 1 apart. A whole number is a number of units as it is.
    """
    return line.step / unit + (0 if argument.type.kind is Kind.INTEGER else 1)


def lipschitz(e: Expression) -> Lipschitz | None:
    """Slopes of an expression in its secret columns; None where it can jump.

    By induction over the calls: the arguments u, u' that an engine computed are at most Σ slope·|x − x'| + step apart,
    the exact results of the function at u and u' at most `partials` times that plus its own `step`, and each computed
    result lies at most `wobble` from the exact one. Partials are bounds over all arguments an engine can compute.
    """
    if isinstance(e, Column):
        if e.declared.role is not Role.SENSITIVE:
            return Lipschitz()
        return None if e.type.nullable or e.derived is not None else Lipschitz(((e.attribute, Fraction(1)),))
    if not isinstance(e, Call):
        return Lipschitz()
    if not secret(e):
        # Whatever public columns give, they give it on both neighbouring tables, bit for bit.
        return Lipschitz()
    function = ALLOWED[e.function]
    if function.partials is None:
        return None
    types = tuple(a.type for a in e.args)
    slopes: dict[str, Fraction] = {}
    steps = [Fraction(0)]
    for partial, arg in zip(function.partials(types), e.args, strict=True):
        inner = lipschitz(arg)
        if inner is None or (partial == 0 and secret(arg)) or partial > LARGEST:
            return None
        by = Fraction(partial)
        for attribute, slope in inner.slope:
            have = slopes.get(attribute, Fraction(0))
            slopes[attribute] = max(have, by * slope) if function.combine == "max" else have + by * slope
        steps.append(by * inner.step)
    step = (max if function.combine == "max" else sum)(steps) + (function.step(types) if function.step else 0)
    wobble = function.wobble(e.type)
    return Lipschitz(tuple(sorted(slopes.items())), Fraction(step + 2 * wobble)) if wobble < inf else None


def secret(*expressions: Expression | None) -> tuple[Column, ...]:
    """The sensitive columns these expressions look at."""
    return tuple(c for c in columns(*expressions) if c.declared.role is Role.SENSITIVE)
