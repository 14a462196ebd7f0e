"""Rows of several SELECTs together: UNION ALL, and UNION, INTERSECT and EXCEPT within persons.

UNION ALL has the rows of all branches. The others compare rows, and only rows of one person are compared with each
other: their columns must lead to a person. They are read as GROUP BY all columns over UNION ALL:

    a UNION b        every group
    a INTERSECT b    groups with rows of a and of b
    a EXCEPT b       groups with rows of a alone

So missing values equal each other, as SQL says, and bounds are those of a sub-select per person.
"""

from dataclasses import replace

from sqlglot import exp

from nowiser.model import schema
from nowiser.model.schema import Kind, Role
from nowiser.sql.bound.relations import Rows, rows
from nowiser.sql.interval import hull, point
from nowiser.sql.read import hints
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import Scope
from nowiser.sql.read.source import Context, Source, SubSelect
from nowiser.sql.read.subselects.derived import derived_column
from nowiser.sql.read.subselects.per_person import per_person
from nowiser.sql.tree import Column, Expression, Literal, Type, Union

SIDE = "side"  # which branch a row is of: 1 or 2


def united(context: Context, node: exp.SetOperation, sub: SubSelect) -> Source:
    """The relation of UNION, INTERSECT or EXCEPT. `sub` reads a branch."""
    word, distinct = node.key.upper(), bool(node.args.get("distinct"))
    if not distinct and word != "UNION":
        raise context.refuse(node, f"{word} ALL is not answered.", f"Write {word}: equal rows count once.")
    for name, value in node.args.items():
        if name not in ("this", "expression", "distinct", "with_") and value not in (None, False, [], ()):
            raise context.refuse(
                node, f"{_called(node)} with {hints.words(name)} is not answered.", "Put it around: (SELECT …) AS q."
            )
    read = [sub(context, branch) for branch in ([node.this, node.expression] if distinct else _branches(node))]
    _check(context, node, read)
    if not distinct:
        return _together(context, node, read)
    side = SIDE
    while any(side in b.columns for b in read):  # no column of the analyst's may be called so
        side += "_"
    if word != "UNION":
        sides = (Literal(i, Type(Kind.INTEGER, bounds=point(i))) for i in (1, 2))
        # columns are matched by their place, and the side stands behind all of them
        read = [Source(b.relation, {**b.columns, side: which}) for b, which in zip(read, sides, strict=True)]
    return _compared(context, node, _together(context, node, read), side)


def _compared(context: Context, node: exp.SetOperation, both: Source, side: str) -> Source:
    """Equal rows of a person as one group, of those that the operation keeps."""
    word = node.key.upper()
    known, shown = rows(both.relation, context.policy), [n for n in both.columns if n != side]
    seen = {e.ident for n, e in both.columns.items() if n != side and isinstance(e, Column)}
    if not any({i for _, i in key} <= seen for key in known.keys):
        if not known.secret:
            message, hint = f"{word} of public tables alone is not answered.", "COUNT(DISTINCT key) over UNION ALL is."
        else:
            message = f"{word} would compare rows of different persons, and is not answered."
            hint = f"Name the person in both: SELECT person, … FROM a {word} SELECT person, … FROM b."  # noqa: S608 (a hint)
        raise context.refuse(node, message, hint)
    listed = [exp.column(exp.to_identifier(n, quoted=True)) for n in shown]
    least, largest = (f(this=exp.column(exp.to_identifier(side, quoted=True))) for f in (exp.Min, exp.Max))
    kept = {
        "UNION": None,
        "INTERSECT": exp.Having(this=exp.LT(this=least, expression=largest)),
        "EXCEPT": exp.Having(this=exp.EQ(this=largest, expression=exp.Literal.number(1))),
    }
    group = exp.Group(expressions=[c.copy() for c in listed])
    select = exp.Select(expressions=listed, group=group, having=kept[word])
    for part in select.walk():
        part.meta.update({k: v for k, v in node.meta.items() if k in ("from", "to")})
    return per_person(context, select, both.relation, Scope(context.text, {"": both.columns}))


def _called(node: exp.SetOperation) -> str:
    return node.key.upper() if node.args.get("distinct") else f"{node.key.upper()} ALL"


def _branches(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Union) and not node.args.get("distinct"):
        return [*_branches(node.this), *_branches(node.expression)]
    return [node]


def _together(context: Context, node: exp.SetOperation, branches: list[Source]) -> Source:
    """All rows of all branches.

    Engines know its columns by names of ours: by the analyst's, one could pass for another, or for the person's.
    """
    found = [rows(b.relation, context.policy) for b in branches]
    name = context.fresh(node)
    arms = [tuple(b.columns.values()) for b in branches]
    made = [_column(context, node, name, n, [a[i] for a in arms]) for i, n in enumerate(branches[0].columns)]
    fitted = [tuple(c[1][k] for c in made) for k in range(len(branches))]
    new = [replace(c, declared=replace(c.declared, name=f"column_{i}")) for i, (c, _) in enumerate(made, 1)]
    person = _persons(name, found)
    if person:
        fitted = [(*arm, *r.person) for arm, r in zip(fitted, found, strict=True)]
    relation = Union(
        name,
        (*new, *person),
        tuple((b.relation, arm) for b, arm in zip(branches, fitted, strict=True)),
        person,
    )
    return Source(relation, dict(zip(branches[0].columns, new, strict=True)))


def _persons(relation: str, found: list[Rows]) -> tuple[Column, ...]:
    """Columns of the union that name the person, where every branch has them."""
    if not found[0].secret or not all(r.person for r in found):
        return ()
    person = []
    for i, c in enumerate(found[0].person):
        declared = schema.Column(f":person:{i}", c.declared.kind, Role.IDENTIFIER, nullable=False)
        person.append(Column(relation, "union", declared, Type(declared.kind, bounds=c.type.bounds), derived=()))
    return tuple(person)


def _check(context: Context, node: exp.SetOperation, branches: list[Source]) -> None:
    if len({len(b.columns) for b in branches}) > 1:
        raise context.refuse(node, f"The branches of {_called(node)} have different numbers of columns.")
    found = [rows(b.relation, context.policy) for b in branches]
    if len({r.persons.name if r.persons is not None else None for r in found}) > 1:
        raise context.refuse(
            node, f"{_called(node)} of rows about different persons is not answered.", "Ask about them one by one."
        )


def _column(
    context: Context, node: exp.SetOperation, relation: str, name: str, arms: list[Expression]
) -> tuple[Column, list[Expression]]:
    """One column of all branches, and what it is in each of them."""
    binder = Binder(Scope(context.text, {}), lambda _: None)
    fitted = list(binder.meet(*arms))
    kinds = {e.type.kind for e in fitted}
    if len(kinds) > 1:
        raise context.refuse(node, f"Column {name} of {_called(node)} is of different kinds in its branches.")
    kind = kinds.pop()
    nullable = any(e.type.nullable for e in fitted)
    ends = [e.type.interval for e in fitted if e.type.bounds is not None]
    bounds = hull(x for b in ends for x in (b.low, b.high)) if len(ends) == len(fitted) else None
    domains = [e.declared.domain if isinstance(e, Column) else None for e in fitted]
    every = None if None in domains else tuple(dict.fromkeys(v for d in domains if d is not None for v in d))
    type_ = Type(kind, nullable, bounds, max(e.type.error for e in fitted))
    return derived_column(relation, name, type_, fitted, every), fitted
