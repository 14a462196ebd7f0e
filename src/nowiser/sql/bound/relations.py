"""Whose the rows of a relation are, and how many of them one person can have.

A relation is about persons if a table of persons has a part in it. Every row then belongs to exactly one person, and
what it holds depends on that person's rows and public tables alone:

* a **scan** has at most `rows_per_person` rows of each person, because the prepared copy has;
* rows of one person are **joined** with rows of the same person: m·n of them, or fewer where the condition compares
  a key that is unique among the rows of a person. Joined with a public table each row finds at most one partner;
* a **sub-select per person** has one row for each value of its keys among the rows of a person;
* **window functions** over rows of one person put something beside each row: no more rows than before;
* the **union** of branches has the rows of all of them;
* **EXISTS** keeps or drops a row by what other rows of the same person, or public rows, say: no more rows than before.

So removing a person removes at most `most` rows and leaves all others as they are, and replacing a person's secrets
replaces at most `most` rows by at most as many. Anything else is refused. tests/gateway/test_relations.py tries to
refute it on small tables.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Protect, Table
from nowiser.sql.bound.groups_per_person import limits_groups, most
from nowiser.sql.bound.persons import naming, owner, owner_columns, root
from nowiser.sql.evaluate import evaluate
from nowiser.sql.read.names import column_type
from nowiser.sql.tree import (
    Call,
    Column,
    Exists,
    Expression,
    Filter,
    Join,
    Literal,
    PerPerson,
    Relation,
    Scan,
    Union,
    Windowed,
    columns,
    conjuncts,
    existing,
    holding,
)

ANY = 10**12
_TRIED = 1_000  # values of a column in one condition
MOST_ROWS = 100_000  # of one person: more would let anybody be seen in how long a question takes

Ident = tuple[str, str]
Key = frozenset[tuple[str, Ident]]  # {(table.column it refers to, column here)}: equal keys, same person


@dataclass(frozen=True)
class Rows:
    """What is known about the rows of a relation. `persons` is None where they are nobody's."""

    persons: Table | None = None
    protect: Protect = Protect.VALUES
    most: int = 0  # rows of one person
    person: tuple[Column, ...] = ()  # columns that name the person
    keys: frozenset[Key] = frozenset()  # columns that lead to one person
    unique: frozenset[frozenset[Ident]] = frozenset()  # at most one row of a person (of all, if public) per value
    # Rows of one table, and of which persons these are is known: a public column of it is nobody's secret. Not of
    # linked tables where persons are protected: whoever is replaced may have other rows there, or none.
    plain: bool = True
    # Columns that the policy says lead to rows of the same person. Nothing enforces it, so joins compare the persons
    # besides, and no bound follows from it.
    references: frozenset[Key] = frozenset()

    @property
    def leading(self) -> frozenset[Key]:
        """Whatever leads to a person, by the policy's word at least."""
        return self.keys | self.references

    @property
    def secret(self) -> bool:
        return self.persons is not None


def rows(relation: Relation, policy: Policy) -> Rows:
    """Raises NotAnswerable where a person could have any number of rows, or a row several persons.

    Remembered on the node: relations never change, and the same one is asked about many times while planning.
    """
    remembered = relation.__dict__.get("_rows")
    if remembered is not None and remembered[0] is policy:
        known: Rows = remembered[1]
        return known
    found = _rows(relation, policy)
    relation.__dict__["_rows"] = (policy, found)
    return found


def _rows(relation: Relation, policy: Policy) -> Rows:
    match relation:
        case Scan():
            return _scanned(relation, policy)
        case Filter():
            found = rows(relation.source, policy)
            for e in existing(relation.condition):
                found = _looking(found, relation, e, policy)
            return _narrowed(found, relation.condition)
        case Join():
            return _joined(relation, policy)
        case PerPerson():
            return _per_person(relation, policy)
        case Windowed():
            return _windowed(relation, policy)
        case Union():
            return _united(relation, policy)


def _scanned(relation: Scan, policy: Policy) -> Rows:
    table, name = relation.table, relation.relation
    unique = {frozenset((name, c) for c in key) for key in table.unique}
    if table.is_public:
        return Rows(unique=frozenset(unique))
    persons = root(policy, table)
    if most(relation) == 1:
        unique.add(frozenset())
    keys = {frozenset((f"{table.name}.{c}", (name, c)) for c in key) for key in table.unique}
    if table.link is not None:
        pairs = zip(table.link.references, table.link.columns, strict=True)
        keys.add(frozenset((f"{table.link.table}.{there}", (name, here)) for there, here in pairs))
    own = owner(policy, table)
    if own:
        keys.add(frozenset((f"{persons.name}.{n}", (name, c)) for n, c in zip(naming(persons), own, strict=True)))
    protect = Protect.PERSONS if Protect.PERSONS in (table.protect, persons.protect) else Protect.VALUES
    return Rows(
        persons,
        protect,
        most(relation),
        tuple(Column(name, table.name, c, column_type(c)) for c in owner_columns(policy, table)),
        frozenset(keys),
        frozenset(unique),
        # Whose groups are limited has rows in many of them, and with other secrets may have them in others.
        # And whoever is replaced is still a person, but may have no row at all in a table that is linked to it.
        plain=relation.by is None and (table.link is None or protect is Protect.VALUES),
        references=frozenset(
            frozenset(
                (f"{to.table}.{there}", (name, here)) for there, here in zip(to.references, to.columns, strict=True)
            )
            for to in table.references
        ),
    )


def _looking(source: Rows, relation: Filter, e: Exists, policy: Policy) -> Rows:
    """The rows that EXISTS leaves. What it says of a row depends on the rows of the same person and public ones."""
    inner = rows(e.relation, policy)
    if inner.persons is None:
        return source
    if source.persons is None:
        raise NotAnswerable(
            "Public rows would be chosen by rows of persons, and the choice would be an answer without noise.",
            hint="Ask about the persons, and join the public table to them.",
            span=e.span,
        )
    same = Equal((*conjuncts(e.condition), *holding(relation.source), *holding(e.relation)))
    if source.persons.name != inner.persons.name or not same.pairwise(source.person, inner.person):
        raise different(source.persons, inner.persons, e)
    if source.most * inner.most > MOST_ROWS:
        raise NotAnswerable(
            f"For one person {source.most * inner.most:,} pairs of rows would be compared here.",
            hint=f"At most {MOST_ROWS:,}: sum per person in a sub-select first.",
            span=e.span,
        )
    protect = Protect.PERSONS if Protect.PERSONS in (source.protect, inner.protect) else Protect.VALUES
    return replace(source, protect=protect, plain=False)


def _narrowed(source: Rows, condition: Expression) -> Rows:
    """Fewer rows of a person, where a condition leaves few values of a key: `day = …`, `row_number <= 3`."""
    most, whose = source.most, {c.ident for c in source.person}
    for key in source.unique:
        most = min(most, prod(_left(ident, condition, most) for ident in key - whose))
    if most == source.most:
        return source
    return replace(source, most=most, unique=source.unique | {frozenset()} if most == 1 else source.unique)


def _left(ident: Ident, condition: Expression, most: int) -> int:
    """How many values a condition leaves of a column, as far as it says so in plain words; else `most`."""
    few = most
    for c in conjuncts(condition):
        looked = columns(c)
        if not isinstance(c, Call) or {x.ident for x in looked} != {ident} or existing(c):
            continue
        column, args = looked[0], c.args
        if c.function in ("in", "="):
            others = [e for e in args if e != column]
            if len(others) == len(args) - 1 and all(isinstance(e, Literal) for e in others):
                few = min(few, len(others))
        ends = column.type.bounds
        listed = column.type.kind is Kind.INTEGER and ends is not None and not column.type.nullable
        if listed and ends is not None and ends.high - ends.low < _TRIED:
            values = range(int(ends.low), int(ends.high) + 1)
            few = min(few, sum(evaluate(c, lambda _, v=v: v) is True for v in values))  # type: ignore[misc]  # one leaf
    return few


def _joined(relation: Join, policy: Policy) -> Rows:
    for e in existing(relation.condition):
        raise NotAnswerable(
            "EXISTS and IN (SELECT …) are not answered where tables are put together.",
            hint="Put the condition in WHERE, outside of what is joined by LEFT JOIN.",
            span=e.span,
        )
    left, right = rows(relation.left, policy), rows(relation.right, policy)
    same = Equal((*holding(relation.left), *holding(relation.right), *conjuncts(relation.condition)))
    at = relation.condition
    one_right, one_left = same.covers(right.unique, relation.left), same.covers(left.unique, relation.right)
    unique = (left.unique if one_right else frozenset()) | (
        right.unique if one_left and not relation.outer else frozenset()
    )
    if not left.secret and not right.secret:
        both = frozenset(a | b for a in left.unique for b in right.unique)
        return Rows(unique=unique or both, plain=False)
    if left.secret != right.secret:
        if relation.outer and right.secret:
            raise NotAnswerable(
                "A public table with persons joined to it where there are any: each person would remove a row.",
                hint="Write the table of persons first: FROM persons LEFT JOIN public, or use JOIN.",
                span=at.span,
            )
        if not (one_right if left.secret else one_left):
            raise NotAnswerable(
                "Each row of a person could be joined with any number of rows of the public table.",
                hint="Compare all columns of a key that the policy declares `unique` in the public table.",
                span=at.span,
            )
        whose = left if left.secret else right
        return replace(whose, unique=unique, plain=False)
    assert left.persons is not None
    assert right.persons is not None
    if left.persons.name != right.persons.name or not same.pairwise(left.person, right.person):
        raise different(left.persons, right.persons, at)
    product = left.most * (max(1, right.most) if relation.outer else right.most)
    most = min(
        product,
        left.most if one_right else product,
        (left.most + right.most if relation.outer else right.most) if one_left else product,
    )
    if most > MOST_ROWS:
        raise NotAnswerable(
            f"One person could have {most:,} rows here.",
            hint=f"At most {MOST_ROWS:,}: join on a key that is unique, or sum per person in a sub-select first.",
            span=at.span,
        )
    if most == 1:
        unique |= {frozenset()}
    keys = left.keys if relation.outer else left.keys | right.keys
    protect = Protect.PERSONS if Protect.PERSONS in (left.protect, right.protect) else Protect.VALUES
    references = left.references if relation.outer else left.references | right.references
    return Rows(left.persons, protect, most, left.person, keys, unique, plain=False, references=references)


def different(left: Table, right: Table, at: Expression) -> NotAnswerable:
    """The refusal of a join that would bring different persons together."""
    if left.name != right.name:
        return NotAnswerable(
            f"This joins rows of different persons: those of {left.name} with those of {right.name}.",
            hint="Ask about them one by one.",
            span=at.span,
        )
    names = ", ".join(f"{left.name}.{n}" for n in naming(left)) or "a declared person column"
    return NotAnswerable(
        "This joins rows of different persons: nothing says that both rows belong to the same one.",
        hint=f"Compare the columns that name the person ({names}), or follow a link of the policy, in ON. Other keys of"
        " the same persons can be declared in the policy: `references`.",
        span=at.span,
    )


def _per_person(relation: PerPerson, policy: Policy) -> Rows:
    source = rows(relation.source, policy)
    renamed = {e.ident: new.ident for new, e in relation.keys if isinstance(e, Column)}
    renamed |= {old.ident: new.ident for new, old in relation.person if old.ident not in renamed}
    grouped = [e.ident for _, e in relation.keys if isinstance(e, Column)]
    most = source.most
    if len(grouped) == len(relation.keys):
        most = min([most, *(key_values(key, policy) for key in source.keys if set(grouped) <= {i for _, i in key})])
    visible = frozenset(new.ident for new, _ in relation.keys)
    keys, references = (
        frozenset(frozenset((name, renamed[i]) for name, i in key) for key in some if all(i in renamed for _, i in key))
        for some in (source.keys, source.references)
    )
    return Rows(
        source.persons,
        source.protect,
        most,
        tuple(new for new, _ in relation.person),
        keys,
        frozenset({visible, frozenset()}) if most == 1 else frozenset({visible}),
        plain=False,
        references=references,
    )


def _windowed(relation: Windowed, policy: Policy) -> Rows:
    """The rows of the source, each with what depends on rows of its own person alone."""
    source = rows(relation.source, policy)
    by_person = {e.ident for e in relation.person}
    for _, w in relation.windows:
        assert by_person <= {e.ident for e in w.partition if isinstance(e, Column)}, "a window looks at one person"
    renamed = {old.ident: new.ident for new, old in relation.columns}
    new = {old.ident: new for new, old in relation.columns}
    keys, references = (
        frozenset(frozenset((name, renamed[i]) for name, i in key) for key in some if all(i in renamed for _, i in key))
        for some in (source.keys, source.references)
    )
    unique = {frozenset(renamed[i] for i in key) for key in source.unique if all(i in renamed for i in key)}
    for number, w in relation.windows:
        by = {e.ident if isinstance(e, Column) else None for e in w.partition} - by_person
        if w.function == "row_number" and by <= renamed.keys():
            unique.add(frozenset({number.ident, *(renamed[i] for i in by if i is not None)}))
    return Rows(
        source.persons,
        source.protect,
        source.most,
        tuple(new[c.ident] for c in relation.person),
        keys,
        frozenset(unique),
        plain=False,
        references=references,
    )


def key_values(key: Key, policy: Policy) -> int:
    """How many values of a key one person can have: as many as rows in the table where it is a key."""
    (name,) = {n.partition(".")[0] for n, _ in key}
    table = policy.table(name)
    assert table is not None
    columns = {n.partition(".")[2] for n, _ in key}
    if table.link is None and columns == set(naming(table)):
        return 1
    return ANY if limits_groups(table) else table.rows_per_person  # such a copy keeps rows beyond the limit


def _united(relation: Union, policy: Policy) -> Rows:
    found = [rows(source, policy) for source, _ in relation.branches]
    first = found[0]
    if not any(r.secret for r in found):
        return Rows(plain=False)
    persons = first.persons
    assert persons is not None, "the reader refuses unions of persons and public rows"
    keys: set[Key] = set()
    if relation.person:
        keys.add(
            frozenset((f"{persons.name}.{n}", c.ident) for n, c in zip(naming(persons), relation.person, strict=True))
        )
        shown = [_shown(outputs, r) for (_, outputs), r in zip(relation.branches, found, strict=True)]
        keys |= {frozenset((n, relation.columns[i].ident) for n, i in key) for key in frozenset.intersection(*shown)}
    protect = Protect.PERSONS if any(r.protect is Protect.PERSONS for r in found) else Protect.VALUES
    return Rows(persons, protect, sum(r.most for r in found), relation.person, frozenset(keys), plain=False)


def _shown(outputs: Sequence[Expression], r: Rows) -> frozenset[frozenset[tuple[str, int]]]:
    """The keys that a branch shows, and which output each of their columns is (the first that is it)."""
    at: dict[Ident, int] = {}
    for i, e in enumerate(outputs):
        if isinstance(e, Column):
            at.setdefault(e.ident, i)
    return frozenset(frozenset((n, at[c]) for n, c in key) for key in r.keys if all(c in at for _, c in key))


def touched(keys: Sequence[Expression], relation: Relation, policy: Policy) -> int:
    """In how many groups of these keys one person can have rows, at most.

    No more than the person has rows, and where groups are limited by the only column of the keys, no more than that.
    A key is a function of the rows it looks at: where those are of tables in which a person has a, b, … rows, there
    are at most a·b·… combinations of them, however many rows were joined to them. Of a person's own row there is one,
    so whoever has many visits still lives in one city. Where LEFT JOIN may find nothing, nothing is one more.
    """
    known = rows(relation, policy)
    if (few := limited_groups(keys, relation)) is not None:
        return min(known.most, few)
    homes = {c.relation for e in keys for c in columns(e)}
    found = [(rows(part, policy), spare) for part, spare in _leaves(relation) if names(part) & homes]
    if not all(r.secret for r, _ in found):  # which public row is found depends on the row it was joined to
        return known.most
    return min(known.most, prod(r.most + spare for r, spare in found))


def limited_groups(keys: Sequence[Expression], relation: Relation) -> int | None:
    """In how many groups one person can be because that is limited (`groups_per_person.py`); None where it is not.

    Then a person's share of each group is limited too: to the same part of what `rows` says of all groups together.
    """
    source = relation
    while isinstance(source, Filter):
        source = source.source
    if not isinstance(source, Scan) or source.by is None or {c.declared.name for c in columns(*keys)} != {source.by}:
        return None
    return source.table.groups_per_person


def _leaves(relation: Relation, spare: int = 0) -> Iterator[tuple[Relation, int]]:
    """What a relation was joined from, and 1 where that may have found no partner."""
    match relation:
        case Filter():
            yield from _leaves(relation.source, spare)
        case Join():
            yield from _leaves(relation.left, spare)
            yield from _leaves(relation.right, 1 if relation.outer else spare)
        case _:
            yield relation, spare


class Equal:
    """Which columns are equal wherever these conditions hold."""

    def __init__(self, conditions: tuple[Expression, ...]) -> None:
        self._of: dict[Ident, Ident] = {}
        for c in conditions:
            if isinstance(c, Call) and c.function == "=":
                a, b = c.args
                if isinstance(a, Column) and isinstance(b, Column) and a.type.kind is b.type.kind:
                    self._of[self._top(a.ident)] = self._top(b.ident)

    def _top(self, ident: Ident) -> Ident:
        while ident in self._of and self._of[ident] != ident:
            ident = self._of[ident]
        return ident

    def equal(self, a: Ident, b: Ident) -> bool:
        return self._top(a) == self._top(b)

    def pairwise(self, left: tuple[Column, ...], right: tuple[Column, ...]) -> bool:
        return (
            bool(left)
            and len(left) == len(right)
            and all(self.equal(a.ident, b.ident) for a, b in zip(left, right, strict=True))
        )

    def covers(self, unique: frozenset[frozenset[Ident]], other: Relation) -> bool:
        """Whether some unique key is compared, column by column, with columns of the other side."""
        there = names(other)
        known = {self._top(i) for i in self._idents() if i[0] in there}
        return any(all(self._top(i) in known for i in key) for key in unique)

    def _idents(self) -> set[Ident]:
        return {*self._of, *self._of.values()}

    def matching(self, left: frozenset[Key], right: frozenset[Key]) -> bool:
        """Whether keys that lead to the same person are compared."""
        return any(
            {n for n, _ in a} == {n for n, _ in b} and all(self.equal(i, dict(b)[n]) for n, i in a)
            for a in left
            for b in right
        )


def names(relation: Relation) -> frozenset[str]:
    """The names under which a relation's columns are known."""
    match relation:
        case Filter():
            return names(relation.source)
        case Join():
            return names(relation.left) | names(relation.right)
        case Scan() | PerPerson() | Windowed() | Union():
            return frozenset({relation.relation})
