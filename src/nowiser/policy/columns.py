"""What is declared about a column.

    student: identifier
    faculty: {public: [math, computer science]}      two texts: the values there are
    time:    {sensitive: [0, 60]}                    two numbers (dates, timestamps): lowest and highest
    age:     {sensitive: [0, 120], kind: integer}    a range of whole numbers
    stars:   {sensitive: {values: [1, 5]}}           the explicit forms, where two numbers are meant as values
    weight:  {sensitive: {range: [0, 300]}, grid: 0.1}
    smoker:  {sensitive: boolean}                    a kind alone: no range, no values

A range of numbers is of kind `real` unless `kind: integer` is said: reading a real column as integers would
change answers, the other way round changes nothing. A list of values takes its kind from the values.

Missing values. A sensitive column with a range or values is taken to have none (`nullable: false`): should
there be one, the gateway reads it as the middle of the range, or the first value, so that no answer depends on
whether a value is missing. With `nullable: true` that a value is missing is a secret of its own: NULLs are
skipped as SQL does, and every question about the column costs `jump`, because there is no distance from a
number to "nothing". Public columns and columns without range follow SQL's rules.

Several rows. A sensitive column of a table with several rows per person has a value in each of them, and what
they have to do with each other is not declared: one may move a little while the others jump. With
`one_per_person: true` it is one value of the person (an age, a salary): every row gets the value of the person's
first row in the source, and sums of it are charged by distance for all rows.
"""

from dataclasses import dataclass
from fractions import Fraction

from nowiser.model.schema import Column, Kind, Role, Value
from nowiser.policy import shape, values
from nowiser.policy.tree import Entries, Items, Leaf, Node

_KINDS = {kind.value: kind for kind in Kind}
_ROLES = {role.value: role for role in Role}
_ORDERED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class _Declared:
    kind: Kind
    low: Fraction | None = None
    high: Fraction | None = None
    domain: tuple[Value, ...] | None = None


def read_column(name: str, node: Node, table: str) -> Column:
    what = f"column {table}.{name}"
    if isinstance(node, Leaf):
        return Column(name, Kind.TEXT, values.choice(node, what, _ROLES))
    entries = values.mapping(node, what)
    entries.only(shape.keys_of(shape.Column), what)
    role, declaration = _role(entries, what)
    said = entries.get("kind")
    kind = values.choice(said, f"kind of {what}", _KINDS) if said is not None else None
    declared = _declared(declaration, kind, role, what)
    grid = entries.get("grid")
    if grid is not None and declared.kind not in (Kind.INTEGER, Kind.REAL):
        grid.place.wrong(f"{what} is of kind {declared.kind.value} and has no grid", "Only numbers have one.")
    prior = entries.get("prior")
    if prior is not None and role is not Role.SENSITIVE:
        prior.place.wrong(f"{what} is not sensitive and has no prior", "Priors are beliefs about sensitive columns.")
    nullable, one = entries.get("nullable"), entries.get("one_per_person")
    if one is not None and role is not Role.SENSITIVE:
        one.place.wrong(
            f"{what} is not sensitive, so one_per_person has no meaning there",
            "It says of a sensitive column that all rows of a person have the same value. Leave it out.",
        )
    bounded = declared.low is not None or declared.domain is not None
    return Column(
        name=name,
        kind=declared.kind,
        role=role,
        low=declared.low,
        high=declared.high,
        grid=values.positive(grid, f"grid of {what}") if grid is not None else None,
        domain=declared.domain,
        nullable=values.flag(nullable, f"nullable of {what}")
        if nullable is not None
        else not (role is Role.SENSITIVE and bounded),
        one_per_person=one is not None and values.flag(one, f"one_per_person of {what}"),
    )


def _role(entries: Entries, what: str) -> tuple[Role, Node]:
    said = [name for name in _ROLES if name in entries.entries]
    if len(said) != 1:
        entries.place.wrong(
            f"{what} must be exactly one of {', '.join(_ROLES)}",
            "For example `{public: [a, b]}`, `{sensitive: [0, 60]}` or `identifier`.",
        )
    return _ROLES[said[0]], entries.entries[said[0]]


def _declared(node: Node, kind: Kind | None, role: Role, what: str) -> _Declared:
    if isinstance(node, Leaf):
        if node.raw in _KINDS and node.plain:
            named = _KINDS[node.raw]
            if kind not in (None, named):
                node.place.wrong(f"{what} is declared of kind {named.value} and of kind {kind.value}")
            kind = named
        elif node.value is not True:
            node.place.wrong(
                f"{what}: after `{role.value}:` comes a list of values, a range, a kind, or true",
                f"For example `[a, b]`, `[0, 60]`, true. Kinds: {', '.join(_KINDS)}.",
            )
        kind = kind or Kind.TEXT
        return _Declared(kind, domain=(False, True) if kind is Kind.BOOLEAN else None)
    if role is Role.IDENTIFIER:
        node.place.wrong(
            f"{what} is an identifier and has no declared values", "Write `identifier` or `{identifier: integer}`."
        )
    if isinstance(node, Items):
        found = values.kind_of(node.items)
        if len(node.items) == 2 and (kind or found) in _ORDERED:
            return _range(node, kind, what)
        return _domain(node, kind, what)
    node.only(("range", "values"), what)
    if len(node.entries) != 1:
        node.place.wrong(f"{what} needs either `range: [low, high]` or `values: [a, b, …]`")
    (form, inner), *_ = node.entries.items()
    return (_range if form == "range" else _domain)(values.sequence(inner, f"{form} of {what}"), kind, what)


def _range(node: Items, kind: Kind | None, what: str) -> _Declared:
    if len(node.items) != 2:
        node.place.wrong(f"the range of {what} must be two values, like [0, 60]")
    found = values.kind_of(node.items)
    kind = kind or (Kind.REAL if found is Kind.INTEGER else found)
    if kind not in _ORDERED:
        node.place.wrong(f"the range of {what} must be two numbers, two dates or two timestamps")
    low, high = (values.raw_units(item, kind, f"range of {what}") for item in node)
    if not low < high:
        node.place.wrong(f"the range of {what} is empty: the first value must be less than the second")
    return _Declared(kind, low, high)


def _domain(node: Items, kind: Kind | None, what: str) -> _Declared:
    if not node.items:
        node.place.wrong(f"{what} is declared without any value")
    kind = kind or values.kind_of(node.items)
    if kind is None:
        node.place.wrong(f"the values of {what} are of different kinds", "Put all texts in quotes, or none.")
    members: list[Value] = []
    for item in node:
        value = values.member(item, kind, f"a value of {what}")
        if value in members:
            item.place.wrong(f"this value stands twice in {what}")
        members.append(value)
    if kind in _ORDERED:
        numbers = [Fraction(value) for value in members if not isinstance(value, str)]
        return _Declared(kind, min(numbers), max(numbers), tuple(members))
    return _Declared(kind, domain=tuple(members))
