"""Which groups there can be: the values a key can show, known without looking at any person."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from nowiser.model.schema import Kind, Protect, Role, Value
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import ALLOWED, weigh
from nowiser.sql.functions.calendar import DAY
from nowiser.sql.functions.dates import SHORT
from nowiser.sql.tree import (
    Call,
    Column,
    Expression,
    Filter,
    Literal,
    Relation,
    Scan,
    Type,
    columns,
    existing,
    holding,
    scans,
)

MOST_VALUES = 100_000  # of one key
# From the start of a year (month …) so many microseconds lead into the next one, and not beyond it.
STEPS = SHORT | {
    unit: days * DAY for unit, days in (("year", 366), ("quarter", 92), ("month", 31), ("week", 7), ("day", 1))
}
MOST_TRIED = 3_000  # combinations of column values that are put into an expression
USUAL = 2_000  # letters of an expression that is tried as one
FEW_TRIED = 200  # with so few, rather than a range that may have gaps


def domain(e: Expression, conditions: Sequence[Expression] = ()) -> tuple[Value, ...] | None:
    """Every value a group key can show, in order: listed by a condition, declared, or what its parts make of it.

    None where that is not known. NULL is not among them: rows without a value appear in no group.
    """
    return _Domains(conditions).of(e)


@dataclass(frozen=True)
class _Domains:
    """What is known of parts of a key, each looked at once: nested COALESCE would double the work at every level."""

    conditions: Sequence[Expression]
    _known: dict[Expression, tuple[Value, ...] | None] = field(default_factory=dict)

    def of(self, e: Expression) -> tuple[Value, ...] | None:
        if e not in self._known:
            self._known[e] = self._found(e)
        return self._known[e]

    def _found(self, e: Expression) -> tuple[Value, ...] | None:
        listed = _listed(e, self.conditions)
        if listed is not None:
            return listed
        match e:
            case Column():
                return declared_values(e)
            case Literal():
                return () if e.value is None else (e.value,)
            case Call():
                few = _tried(e, self, FEW_TRIED) or _arms(e, self) or _starts(e) or _range(e.type)
                return few or _tried(e, self, MOST_TRIED) or _through(e, self)
        return None


def _listed(e: Expression, conditions: Iterable[Expression]) -> tuple[Value, ...] | None:
    """The values that `key IN (…)` or `key = …` leaves."""
    for c in conditions:
        if not isinstance(c, Call) or c.function not in ("in", "="):
            continue
        args = c.args if c.args[0] == e else c.args[::-1] if c.function == "=" else ()
        if args and args[0] == e and all(isinstance(a, Literal) for a in args[1:]):
            values = [a.value for a in args[1:] if isinstance(a, Literal) and a.value is not None]
            return tuple(dict.fromkeys(values))
    return None


def declared_values(column: Column) -> tuple[Value, ...] | None:
    """The values of a column as they are listed, or whole numbers and days of its range."""
    return column.declared.domain if column.declared.domain is not None else _range(column.type)


def _range(t: Type) -> tuple[Value, ...] | None:
    if t.kind is Kind.BOOLEAN:
        return (False, True)
    if t.kind not in (Kind.INTEGER, Kind.DATE) or t.bounds is None or not t.bounds.finite:
        return None
    low, high = -int(-t.bounds.low // 1), int(t.bounds.high // 1)
    return tuple(range(low, high + 1)) if high - low < MOST_VALUES else None


def _starts(e: Call) -> tuple[Value, ...] | None:
    """The starts of years, months, hours … between the first and the last: not every day in between."""
    unit, found, kind = e.function.partition("_start_of_")
    bounds = e.type.bounds
    if not found or bounds is None or not bounds.finite:
        return None
    step = STEPS[unit] // (DAY if kind == Kind.DATE.value else 1)
    start, last = int(bounds.low), int(bounds.high)
    if (last - start) // step > MOST_VALUES:
        return None
    starts = ALLOWED[e.function].evaluate
    values: list[Value] = []
    while start <= last:
        values.append(start)
        start = starts(start + step)  # inside the next one
    return tuple(values)


def _tried(e: Call, known: _Domains, most: int) -> tuple[Value, ...] | None:
    """The values of an expression over all values of its columns, where those are few."""
    looked = columns(e)
    domains = [known.of(c) for c in looked]
    if any(d is None for d in domains):
        return None
    values = [(*d, None) if c.type.nullable else d for d, c in zip(domains, looked, strict=True) if d is not None]
    if prod(len(v) for v in values) * effort(e) > most:
        return None
    found: dict[Value, None] = {}
    for combination in product(*values):
        row = dict(zip((c.ident for c in looked), combination, strict=True))
        value = evaluate(e, lambda leaf, row=row: row[leaf.ident])  # type: ignore[misc]  # leaves are columns
        if value is not None:
            found[value] = None
    return _sorted(found, e.type.kind)


def _through(e: Call, known: _Domains) -> tuple[Value, ...] | None:
    """The values of a function over all values of its one argument that is no constant, where those are few."""
    varying = [a for a in e.args if not isinstance(a, Literal)]
    inner = varying[0] if len(varying) == 1 else e
    found = known.of(inner) if inner is not e and isinstance(inner, Call) else None
    if found is None or len(found) * effort(e) > MOST_TRIED:
        return None
    values: dict[Value, None] = {}
    for value in (*found, None) if inner.type.nullable else found:
        put = tuple(Literal(value, inner.type) if a is inner else a for a in e.args)
        shown = evaluate(replace(e, args=put), lambda _: None)
        if shown is not None:
            values[shown] = None
    return _sorted(values, e.type.kind)


def _arms(e: Call, known: _Domains) -> tuple[Value, ...] | None:
    """CASE over anything shows one of its arms; COALESCE one of its arguments."""
    if e.function not in ("case", "coalesce"):
        return None
    arms = (*e.args[1:-1:2], e.args[-1]) if e.function == "case" else e.args
    found = [known.of(a) for a in arms]
    if any(d is None for d in found):
        return None
    values = dict.fromkeys(v for d in found if d is not None for v in d)
    return _sorted(values, e.type.kind) if len(values) <= MOST_VALUES else None


def effort(e: Expression) -> int:
    """How much work it is to try one value, in usual expressions: a long one counts as many."""
    return 1 + weigh(e) // USUAL


def _sorted(values: Iterable[Value], kind: Kind) -> tuple[Value, ...]:
    found = tuple(values)
    return found if kind is Kind.TEXT else tuple(sorted(found))


def public_keys(e: Expression, relation: Relation) -> Relation | None:
    """Where the values of a key can be read without touching a secret: a public table, or public columns.

    Under `protect: values` everybody knows who is there and the public columns. Whoever is protected as a person is
    not looked at.
    """
    homes = {c.relation for c in columns(e)}
    found = [s for s in scans(relation) if s.relation in homes]
    if len(found) != 1 or len(homes) != 1:
        return None
    table = found[0].table
    visible = table.is_public or (
        table.protect is Protect.VALUES and all(c.declared.role is Role.PUBLIC for c in columns(e))
    )
    if not visible:
        return None
    public: Relation = Scan(found[0].relation, table)
    for c in holding(relation):
        looked = columns(c)
        own = {x.relation for x in looked} == homes and c.type.kind is Kind.BOOLEAN and not existing(c)
        if own and (table.is_public or all(x.declared.role is Role.PUBLIC for x in looked)):
            public = Filter(public, c)
    return public
