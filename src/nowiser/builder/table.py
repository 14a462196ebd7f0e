"""A table of the policy to build questions on. Lazy: nothing is read until a question of it is run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from nowiser.builder.expressions import Expression, col, column, condition
from nowiser.builder.gate import Gate
from nowiser.builder.question import Output, Question
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.policy.catalogue import ColumnFacts, catalogue
from nowiser.report.tables import Tables

MOST_PARTS = 1_000


@dataclass(frozen=True)
class Schema(Mapping[str, ColumnFacts]):
    """The columns of a table by name, as declared: type, role, values, range. Prints and draws itself."""

    tables: Tables

    def __getitem__(self, name: str) -> ColumnFacts:
        return {c.name: c for c in self.tables.facts[0].columns}[name]

    def __iter__(self) -> Iterator[str]:
        return (c.name for c in self.tables.facts[0].columns)

    def __len__(self) -> int:
        return len(self.tables.facts[0].columns)

    def __str__(self) -> str:
        return str(self.tables)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.tables._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of a table that fulfil conditions, perhaps grouped. `agg` makes a question of it."""

    gate: Gate
    name: str
    conditions: tuple[Expression, ...] = ()
    keys: tuple[Output, ...] = ()

    @property
    def schema(self) -> Schema:
        """What the policy declares: types, ranges, values, and what is secret. Nothing is read from the data."""
        facts = next(t for t in catalogue(self.gate.policy) if t.name == self.name)
        return Schema(Tables((facts,)))

    def where(self, *conditions: Expression) -> "Table":
        """Only rows that fulfil all conditions."""
        return replace(self, conditions=(*self.conditions, *map(condition, conditions)))

    def group_by(self, *keys: str | Expression, **named: str | Expression) -> "Table":
        """Groups of rows with equal keys: names of columns, or expressions (`decade=nw.col("age") / 10`)."""
        return replace(self, keys=(*self.keys, *map(_output, keys), *((n, column(k)) for n, k in named.items())))

    def agg(self, *asked: Expression, **named: Expression) -> Question:
        """What is asked about each group (about all rows, without `group_by`): `agg(n=nw.count())`."""
        for one in (*asked, *named.values()):
            if not isinstance(one, Expression):
                raise Misconfigured(f"agg takes aggregates, not {one!r}.", hint="For example agg(n=nw.count()).")
        outputs = (*((None, e) for e in asked), *named.items())
        if not outputs and not self.keys:
            raise Misconfigured("There is no question.", hint="For example agg(n=nw.count()).")
        return Question(self.gate, self.name, self.conditions, self.keys, outputs)

    def partition(self, by: str) -> "dict[str | int | bool, Table]":
        """A table for each declared value of a column, by value: any order, and no row is in two of them.

        Where the policy declares `partition:` on the column, a question about one part is charged to that part alone.
        """
        if by not in self.schema:
            near = get_close_matches(by, list(self.schema), 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(self.schema)}."
            raise NotAnswerable(f"There is no column {by}.", hint=hint)
        values = _values(self.schema[by])
        if values is None or len(values) > MOST_PARTS:
            raise NotAnswerable(
                f"The values of {by} are not declared, or more than {MOST_PARTS:,}.",
                hint="Parts are made by the declared values of a column.",
            )
        return {value: self.where(col(by) == value) for value in values}

    def __repr__(self) -> str:
        told = [e.sql() for e in self.conditions] + [f"by {e.sql()}" for _, e in self.keys]
        return f"<Table {self.name}{': ' if told else ''}{'; '.join(told)}>"

    def _repr_html_(self) -> str:
        return self.schema._repr_html_()


def table(gate: Gate, name: str) -> Table:
    """The table of this name. Raises NotAnswerable where the policy has none."""
    names = [t.name for t in gate.policy.tables]
    if name not in names:
        near = get_close_matches(str(name), names, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}."
        raise NotAnswerable(f"There is no table {name}.", hint=hint)
    return Table(gate, name)


def _output(key: str | Expression) -> Output:
    """A column keeps its name; other expressions have none unless they are given one."""
    found = column(key)
    return found.alone, found


def _values(facts: ColumnFacts) -> "tuple[str | int | bool, ...] | None":
    if facts.values is not None:
        return facts.values
    if facts.type == "boolean":
        return (False, True)
    if facts.type == "integer" and facts.range is not None and facts.range[1] - facts.range[0] < MOST_PARTS:
        return tuple(range(facts.range[0], facts.range[1] + 1))
    return None
