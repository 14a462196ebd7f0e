"""How far one person can move a cell: THEORY §9, decided from the tree and the policy alone.

Three neighbours, three distances, all in units of the cell:

* **presence**: one person, with at most m rows, comes or goes;
* **jump**: the secrets of one person are replaced by any others;
* **slope**: one attribute of one person moves by a distance, all else equal. Only where nothing that decides
  *which* rows count (conditions, keys, missing values) looks at a secret, and the summand is Lipschitz.

A sum charged by slope also costs a small jump: rounding to units moves each summand by up to one unit more than
its argument moved, and floating-point evaluation by a bounded error. Both are charged, not neglected.
docs/mathematics/sensitivity.md has the proofs; tests/gateway/test_neighbours.py tries to refute them.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite

from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Protect, Role, Table
from nowiser.sql.cells import Cell
from nowiser.sql.functions import ALLOWED
from nowiser.sql.tree import Call, Column, Expression, Query, columns, conditions, scan

ULP = Fraction(1, 2**50)  # a generous bound on the relative error of one double operation


@dataclass(frozen=True)
class Reach:
    """Distances in units of the cell. `about`: the attributes a jump is about. Squares are for Gaussian noise."""

    presence: int = 0
    jump: int = 0
    jump_squared: int = 0
    about: tuple[str, ...] = ()
    persons: str | None = None  # the table whose persons may come or go
    slope: tuple[tuple[str, Fraction], ...] = ()  # units per raw unit of each attribute
    rounding: Fraction = Fraction(0)  # the jump that a charge by slope costs besides

    @property
    def exact(self) -> bool:
        """Nothing secret moves this cell: it is released as it is, and free."""
        return not self.presence and not self.jump


@dataclass(frozen=True)
class Lipschitz:
    """|f(x) − f(x')| ≤ Σ slope·|x − x'| + step, and evaluation in doubles errs by at most `error`."""

    slope: tuple[tuple[str, Fraction], ...] = ()
    step: Fraction = Fraction(0)
    error: Fraction = Fraction(0)


def reach(cell: Cell, query: Query, policy: Policy) -> Reach:
    table = scan(query.relation).table
    if table.is_public:
        return Reach()
    m = table.rows_per_person
    keys = secret(*query.keys)
    deciding = secret(*conditions(query.relation), cell.condition, cell.not_null)
    if cell.argument is not None and cell.argument.type.nullable:
        deciding += tuple(c for c in secret(cell.argument) if c not in deciding)
    inner = secret(cell.argument)
    if table.protect is Protect.PERSONS:
        distance, squared = _replaced(cell, m, keys=bool(keys), deciding=bool(deciding) or m > 1)
        if cell.argument is None:  # whoever is replaced may as well have fewer rows: no count is free
            distance, squared = max(distance, m), max(squared, m * m)
        return Reach(
            presence=m * cell.largest,
            jump=distance,
            jump_squared=squared,
            about=attributes(policy, table),
            persons=root(policy, table).name,
        )
    touched = tuple(sorted({c.attribute for c in (*keys, *deciding, *inner)}))
    if not touched:
        return Reach()
    distance, squared = _replaced(cell, m, keys=bool(keys), deciding=bool(deciding))
    found = Reach(jump=distance, jump_squared=squared, about=touched)
    if keys or deciding or cell.argument is None:
        return found
    line = lipschitz(cell.argument)
    if line is None:
        return found
    return Reach(
        jump=distance,
        jump_squared=squared,
        about=touched,
        slope=tuple((a, m * s / cell.unit) for a, s in line.slope),
        rounding=m * _rounding(cell.argument, line, cell.unit),
    )


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
    """Units by which a summand can move beyond slope·distance: steps, float errors, and rounding to units.

    Two numbers d apart round to whole numbers at most d + 1 apart. Whole-number arithmetic has none of this.
    """
    if argument.type.kind is Kind.INTEGER:
        return line.step / unit
    return (line.step + 2 * line.error) / unit + 1


def lipschitz(e: Expression) -> Lipschitz | None:
    """Slopes of an expression in its secret columns; None where it can jump."""
    if isinstance(e, Column):
        if e.declared.role is not Role.SENSITIVE:
            return Lipschitz()
        return None if e.declared.nullable else Lipschitz(((e.attribute, Fraction(1)),))
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
    steps, errors = [Fraction(0)], [Fraction(0)]
    for partial, arg in zip(function.partials(types), e.args, strict=True):
        inner = lipschitz(arg)
        if inner is None or (partial == 0 and secret(arg)) or not isfinite(partial):
            return None
        by = Fraction(partial)
        for attribute, slope in inner.slope:
            have = slopes.get(attribute, Fraction(0))
            slopes[attribute] = max(have, by * slope) if function.combine == "max" else have + by * slope
        steps.append(by * inner.step)
        errors.append(by * inner.error)
    together = max if function.combine == "max" else sum
    step = together(steps) + (function.step(types) if function.step is not None else 0)
    error = Fraction(together(errors))
    if e.type.kind is Kind.REAL:
        error += ULP * Fraction(ceil(e.type.interval.magnitude))
    return Lipschitz(tuple(sorted(slopes.items())), Fraction(step), error)


def secret(*expressions: Expression | None) -> tuple[Column, ...]:
    """The sensitive columns these expressions look at."""
    return tuple(c for c in columns(*expressions) if c.declared.role is Role.SENSITIVE)


def root(policy: Policy, table: Table) -> Table:
    """The table whose rows are the persons."""
    seen = {table.name}
    while table.link is not None:
        found = policy.table(table.link.table)
        assert found is not None, "the policy reader checks links"
        assert found.name not in seen, "the policy reader checks links"
        seen.add(found.name)
        table = found
    return table


def attributes(policy: Policy, table: Table) -> tuple[str, ...]:
    """Every secret attribute of the persons a table is about."""
    persons = root(policy, table).name
    return tuple(
        sorted(
            f"{t.name}.{c.name}"
            for t in policy.tables
            if not t.is_public and root(policy, t).name == persons
            for c in t.columns
            if c.role is Role.SENSITIVE
        )
    )
