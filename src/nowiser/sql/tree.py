"""The questions nowiser can think: a small frozen tree, typed when it is built.

    Query ─ relation ──── Scan | Filter | Join | PerPerson | Windowed | Union
          ├ keys          expressions; one group for each of their values
          ├ aggregates    Aggregate(function, argument, condition): what will be released, with noise
          ├ outputs, having, order, limit                    over Grouped and Released: after the noise, free
          └ after         steps over the rows that came out: totals of totals, windows, joins (`steps.py`)

An expression is a Column, a Literal, or a Call of a function on the allow-list (`nowiser.sql.functions`);
comparisons, AND, CASE, IN and LIKE are Calls too; Exists asks about other rows of the same person, or public ones.
What the tree cannot say cannot be asked. Two trees are equal if they mean the same text-for-text; where in the SQL a
node came from (`span`) does not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal as OneOf

from nowiser.errors import Span
from nowiser.model import schema
from nowiser.model.schema import Kind, Value
from nowiser.sql.interval import End, Interval

if TYPE_CHECKING:
    from nowiser.sql.steps import Step


@dataclass(frozen=True)
class Type:
    """What an expression can be: its kind, whether it can be NULL, and for ordered kinds between which ends.

    `error`: how far a computed real may lie from what exact arithmetic would give; infinite where that is not known.
    """

    kind: Kind
    nullable: bool = False
    bounds: Interval | None = None
    error: End = 0

    @property
    def interval(self) -> Interval:
        assert self.bounds is not None, "only ordered kinds have bounds"
        return self.bounds


@dataclass(frozen=True)
class Column:
    """A column of a scanned table, with everything the policy declares about it."""

    relation: str  # which scan: t0, t1, …
    table: str
    declared: schema.Column
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)
    of: str | None = None  # the declared column this one was derived from when the table was prepared
    derived: tuple[str, ...] | None = None  # of a sub-select: the secret attributes its values were computed from

    @property
    def attribute(self) -> str:
        """What of the person it tells: `table.column`."""
        return f"{self.table}.{self.of or self.declared.name}"

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute of the person it tells about."""
        return (self.attribute,) if self.derived is None else self.derived

    def __hash__(self) -> int:
        return hash((self.relation, self.declared.name))  # equal columns have equal names; the rest takes long

    @property
    def ident(self) -> tuple[str, str]:
        """Which column of which relation, whatever is known about it."""
        return self.relation, self.declared.name


@dataclass(frozen=True)
class Literal:
    """A constant. Dates are days and timestamps microseconds since 1970-01-01."""

    value: Value | None
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A function of the allow-list applied to arguments. Build it with `functions.call`, which types and weighs it."""

    function: str
    args: tuple["Expression", ...]
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)
    weight: int = field(default=0, compare=False, repr=False)  # about how many letters it takes an engine's SQL
    depth: int = field(init=False, compare=False, repr=False)  # how many calls stand inside one another

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((a.depth for a in self.args if isinstance(a, Call)), default=0))

    def __hash__(self) -> int:
        """Reckoned once: else each level of a nested expression would be gone through again."""
        found = self.__dict__.get("_hash")
        if found is None:
            found = hash((self.function, self.args))
            object.__setattr__(self, "_hash", found)
        return int(found)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}  # differs between processes


@dataclass(frozen=True)
class Grouped:
    """In outputs: the value of the i-th group key."""

    index: int
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Released:
    """In outputs: the i-th aggregate, as released."""

    index: int
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Shown:
    """In what is computed from released rows (`steps.py`): column i of the rows before."""

    index: int
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Exists:
    """In conditions of rows: whether a relation has a row for which `condition` is true; it may look at both rows."""

    relation: "Relation"
    condition: "Expression"
    negated: bool = False
    type: Type = Type(Kind.BOOLEAN)
    span: Span | None = field(default=None, compare=False, repr=False)


Expression = Column | Literal | Call | Grouped | Released | Exists | Shown


@dataclass(frozen=True)
class Scan:
    """All rows of a table of the policy, at most `rows_per_person` of each person."""

    relation: str
    table: schema.Table
    by: str | None = None  # rows are limited per value of this column and person (`groups_per_person.py`)
    whole: bool = False  # all rows of the person there; what they come to is clipped instead (`clipped_totals.py`)


@dataclass(frozen=True)
class Filter:
    """The rows for which the condition is true (not false, not NULL)."""

    source: "Relation"
    condition: Expression


@dataclass(frozen=True)
class Join:
    """Pairs of rows for which the condition is true; with `outer` also rows of the left that have no partner."""

    left: "Relation"
    right: "Relation"
    condition: Expression
    outer: bool = False


Added = OneOf["count", "sum", "avg", "min", "max", "distinct"]


@dataclass(frozen=True)
class Fold:
    """An exact aggregate over the rows of one person, inside a question; never released as it is."""

    function: Added
    argument: Expression | None = None
    condition: Expression | None = None
    unit: Fraction = Fraction(1)  # sums of reals are sums of whole units, whatever the order of the rows


@dataclass(frozen=True)
class PerPerson:
    """One row for each value of the keys among the rows of one person. No row mixes persons."""

    relation: str
    source: "Relation"
    person: tuple[tuple[Column, Column], ...]  # (new column, column of the source)
    keys: tuple[tuple[Column, Expression], ...]
    folds: tuple[tuple[Column, Fold], ...]


@dataclass(frozen=True)
class Union:
    """The rows of all branches. Each branch gives an expression for every column."""

    relation: str
    columns: tuple[Column, ...]
    branches: tuple[tuple["Relation", tuple[Expression, ...]], ...]
    person: tuple[Column, ...] = ()  # which of the columns name the person


@dataclass(frozen=True)
class RowWindow:
    """A window function over rows of one person, inside a question: the place of a row, or what stands beside it.

    `order` leaves no ties where they would matter, so that it is the same row whatever engine looks.
    """

    function: OneOf["row_number", "rank", "dense_rank", "lag", "lead", "first_value"] | Added
    partition: tuple[Expression, ...]  # the person among them
    order: tuple["Order", ...] = ()
    argument: Expression | None = None
    offset: int = 1  # of LAG and LEAD
    unit: Fraction = Fraction(1)  # as of a Fold

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything it looks at."""
        argument = () if self.argument is None else (self.argument,)
        return (*self.partition, *(o.expression for o in self.order), *argument)


@dataclass(frozen=True)
class Windowed:
    """Every row of the source, and beside it what window functions give among the rows of the same person."""

    relation: str
    source: "Relation"
    person: tuple[Column, ...]  # which of the columns name the person
    columns: tuple[tuple[Column, Column], ...]  # (new column, column of the source)
    windows: tuple[tuple[Column, RowWindow], ...]


Relation = Scan | Filter | Join | PerPerson | Windowed | Union


@dataclass(frozen=True)
class Aggregate:
    """Over the rows of a group for which `condition` is true: COUNT(*) if there is no argument."""

    function: str  # a name of `nowiser.sql.aggregates`
    argument: Expression | None = None
    condition: Expression | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    distinct: bool = False  # different values are counted once
    second: Expression | None = None  # of CORR and COVAR
    at: Fraction | None = None  # which quantile
    descending: bool = False  # of a running sum


@dataclass(frozen=True)
class Output:
    name: str
    expression: Expression


@dataclass(frozen=True)
class Order:
    expression: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Query:
    relation: Relation
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    sets: tuple[tuple[int, ...], ...] | None = None  # GROUPING SETS: which keys each set groups by
    distinct: bool = False  # equal rows of the answer are shown once
    repeated: int | None = None  # rows of public tables: each group is shown as often as this aggregate says
    marks: tuple[tuple[int, ...], ...] = ()  # GROUPING(…): of which keys; shown as if they were keys after the keys
    after: tuple["Step", ...] = ()  # what is computed from the rows above: post-processing, free

    @property
    def results(self) -> tuple[Output, ...]:
        """The columns that are shown in the end."""
        made: list[tuple[Output, ...]] = [step.outputs for step in self.after if hasattr(step, "outputs")]
        return made[-1] if made else self.outputs


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it; of EXISTS also what decides which rows it looks among."""
    return _walk(expression, looking=True)


def existing(expression: Expression) -> tuple[Exists, ...]:
    """Every EXISTS that stands in a condition, not those inside others."""
    return tuple(e for e in _walk(expression, looking=False) if isinstance(e, Exists))


def _walk(expression: Expression, *, looking: bool) -> Iterator[Expression]:
    """Outer before inner, left before right; a part that many share is met once, so that sharing stays cheap."""
    left, met = [expression], set[int]()
    while left:
        here = left.pop()
        if id(here) in met:
            continue
        met.add(id(here))
        yield here
        if isinstance(here, Call):
            left += reversed(here.args)
        elif looking and isinstance(here, Exists):
            left += reversed((*conditions(here.relation), here.condition))


def columns(*expressions: Expression | None) -> tuple[Column, ...]:
    """Every column these expressions look at, once."""
    found = {p: None for e in expressions if e is not None for p in parts(e) if isinstance(p, Column)}
    return tuple(found)


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Every table a relation reads, in the order of the question."""
    match relation:
        case Scan():
            return (relation,)
        case Filter():
            looked = tuple(s for e in existing(relation.condition) for s in scans(e.relation))
            return scans(relation.source) + looked
        case PerPerson() | Windowed():
            return scans(relation.source)
        case Join():
            return scans(relation.left) + scans(relation.right)
        case Union():
            return tuple(s for source, _ in relation.branches for s in scans(source))


def conditions(relation: Relation) -> tuple[Expression, ...]:
    """Everything that decides which rows there are: conditions, and what sub-selects group by."""
    match relation:
        case Scan():
            return ()
        case Filter():
            return (*conditions(relation.source), relation.condition)
        case Join():
            return (*conditions(relation.left), *conditions(relation.right), relation.condition)
        case PerPerson():
            return (*conditions(relation.source), *(e for _, e in relation.keys))
        case Windowed():
            return (*conditions(relation.source), *(e for _, w in relation.windows for e in w.expressions))
        case Union():
            return tuple(c for source, _ in relation.branches for c in conditions(source))


def computed(relation: Relation) -> Iterator[Expression]:
    """Every expression an engine computes to make the rows of a relation."""
    match relation:
        case Scan():
            return
        case Filter():
            yield from computed(relation.source)
            yield relation.condition
            for e in existing(relation.condition):
                yield from computed(e.relation)
                yield e.condition
        case Join():
            yield from (*computed(relation.left), *computed(relation.right), relation.condition)
        case PerPerson():
            yield from computed(relation.source)
            yield from (e for _, e in relation.keys)
            yield from (e for _, fold in relation.folds for e in (fold.argument, fold.condition) if e is not None)
        case Windowed():
            yield from computed(relation.source)
            yield from (e for _, w in relation.windows for e in w.expressions)
        case Union():
            for source, arm in relation.branches:
                yield from (*computed(source), *arm)


def holding(relation: Relation) -> tuple[Expression, ...]:
    """Conditions that are true of every row of the relation."""
    match relation:
        case Filter():
            return (*holding(relation.source), *conjuncts(relation.condition))
        case Join():
            right = () if relation.outer else (*holding(relation.right), *conjuncts(relation.condition))
            return (*holding(relation.left), *right)
    return ()


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The parts of an AND."""
    if isinstance(condition, Call) and condition.function == "and":
        for arg in condition.args:
            yield from conjuncts(arg)
    else:
        yield condition


def scan(relation: Relation) -> Scan:
    """The first table a relation reads."""
    return scans(relation)[0]
