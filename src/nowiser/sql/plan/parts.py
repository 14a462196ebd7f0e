"""Which persons a question is about, where a table is partitioned: those with certain values of a fixed public column.

The rule is structural. A relation is about cells c₁ … c_n where every row of it belongs to a person whose key is one of
them, because a condition says `key = c` or `key IN (…)` with declared values, or `key >= c` of days and whole numbers
in a range. `key <> c` says nothing here: somebody whose key is not declared at all would be concerned by every such
question and be charged in none.
"""

from math import ceil, floor

from nowiser.model.policy import Policy
from nowiser.model.schema import Column as Declared, Table, Value
from nowiser.sql.bound.persons import root
from nowiser.sql.bound.relations import rows
from nowiser.sql.tree import (
    Call,
    Column,
    Expression,
    Filter,
    Join,
    Literal,
    PerPerson,
    Relation,
    Union,
    Windowed,
    conjuncts,
)

MOST = 1_000  # cells of one question; about more of them it is charged to everybody

LONGEST = 40_000  # values of a range that are told apart by < and >: a century of days
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

Cell = tuple[str, ...]


def cells(relation: Relation, policy: Policy) -> tuple[Cell, ...] | None:
    """The cells whose persons alone can matter to what is computed from these rows; None: all persons can."""
    persons = rows(relation, policy).persons
    home = root(policy, persons) if persons is not None else None
    if home is None or home.partition is None:
        return None
    column = home.column(home.partition)
    assert column is not None, "the reader of policies checks it"
    found = _values(relation, home, column)
    if not found or len(found) > MOST or len(found) >= _many(column):
        return None
    return tuple(sorted((f"{home.name}.{column.name}", str(value)) for value in found))


def _many(column: Declared) -> int:
    if column.domain is not None:
        return len(column.domain)
    assert column.low is not None
    assert column.high is not None
    return floor(column.high) - ceil(column.low) + 1


def _values(relation: Relation, home: Table, column: Declared) -> frozenset[Value] | None:
    """The values of the key that persons with a row here can have; None where nothing is said."""
    match relation:
        case Filter():
            said = [_said(c, home, column) for c in conjuncts(relation.condition)]
            return _both(_values(relation.source, home, column), *said)
        case Join():
            left = _values(relation.left, home, column)
            if relation.outer:  # conditions on what is joined remove no row of the left
                return left
            said = [_said(c, home, column) for c in conjuncts(relation.condition)]
            return _both(left, _values(relation.right, home, column), *said)
        case PerPerson() | Windowed():
            return _values(relation.source, home, column)
        case Union():
            every = [_values(source, home, column) for source, _ in relation.branches]
            return _either(every)
    return None


def _said(condition: Expression, home: Table, column: Declared) -> frozenset[Value] | None:
    """The declared values a condition leaves of the key."""
    if not isinstance(condition, Call):
        return None
    if condition.function == "or":
        return _either([_said(part, home, column) for part in condition.args])
    if condition.function == "and":
        return _both(*(_said(part, home, column) for part in condition.args))
    if condition.function in _TURNED:
        return _ranged(condition, home, column)
    if condition.function not in ("=", "in"):
        return None
    key, *others = condition.args
    if condition.function == "=" and isinstance(key, Literal):
        key, others = others[0], [key]
    if not _is_key(key, home, column):
        return None
    values = [e.value for e in others if isinstance(e, Literal) and e.type.kind is column.kind]
    if len(values) != len(others):
        return None
    declared = [v for v in values if v is not None and _is_declared(v, column)]
    return frozenset(declared) if len(declared) == sum(v is not None for v in values) else None


def _is_key(e: Expression, home: Table, column: Declared) -> bool:
    return isinstance(e, Column) and (e.table, e.declared) == (home.name, column) and not (e.derived or e.of)


def _ranged(condition: Call, home: Table, column: Declared) -> frozenset[Value] | None:
    """`key < c` and the like: what is left of a range. Values beyond it count as its ends; missing ones have no row."""
    (key, limit), sign = condition.args, condition.function
    if isinstance(key, Literal):
        key, limit, sign = limit, key, _TURNED[sign]
    known = isinstance(limit, Literal) and limit.type.kind is column.kind and isinstance(limit.value, int)
    if not known or not _is_key(key, home, column) or column.domain is not None:
        return None
    assert isinstance(limit, Literal)
    assert isinstance(limit.value, int)
    assert column.low is not None
    assert column.high is not None
    low, high, at = ceil(column.low), floor(column.high), limit.value
    if high - low >= LONGEST:
        return None
    if sign.startswith("<"):
        high = min(high, at - (sign == "<"))
    else:
        low = max(low, at + (sign == ">"))
    return frozenset(range(low, high + 1))


def _is_declared(value: Value, column: Declared) -> bool:
    if column.domain is not None:
        return value in column.domain
    assert column.low is not None
    assert column.high is not None
    return isinstance(value, int) and column.low <= value <= column.high


def _both(*found: frozenset[Value] | None) -> frozenset[Value] | None:
    known = [f for f in found if f is not None]
    return frozenset.intersection(*known) if known else None


def _either(found: list[frozenset[Value] | None]) -> frozenset[Value] | None:
    known = [f for f in found if f is not None]
    return frozenset().union(*known) if known and len(known) == len(found) else None
