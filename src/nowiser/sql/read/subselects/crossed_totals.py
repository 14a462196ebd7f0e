"""Totals beside the rows in FROM: `FROM visits, (SELECT COUNT(*) AS n FROM visits) AS t`.

    … COUNT(*) * 1.0 / t.n FROM visits, t GROUP BY ward, t.n          → COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits)
    … n * 1.0 / t.m FROM x CROSS JOIN (SELECT SUM(n) AS m FROM x) t   → n * 1.0 / (SELECT SUM(n) FROM x)
    … n * 1.0 / t.m FROM x CROSS JOIN (SELECT COUNT(*) AS m FROM v) t → the total stands in the SELECT that x is
    … n * 1.0 / (SELECT COUNT(*) FROM v) FROM x                       → the same

A SELECT of aggregates alone has one row, so it may stand in brackets wherever one of its columns does. What comes of
that is decided where totals in brackets are read (`same_rows.py`, `whole_answer.py`).
"""

from collections.abc import Mapping

from sqlglot import exp

from nowiser.sql.read.source import Context

_INSIDE = {"expressions", "from_", "joins", "where"}
_CLAUSES = ("expressions", "where", "having", "qualify", "order")
_OF_ONE = (exp.Max, exp.Min, exp.Avg, exp.AnyValue)  # of a number that is the same in all rows
_NAME = ":total"  # a name no analyst writes


def in_brackets(context: Context, tree: exp.Select) -> exp.Select | None:
    """The SELECT with its totals in brackets where their columns stood; None where FROM has none beside rows."""
    named = context.named
    if not tree.args.get("from_"):
        return None
    made = tree.copy()
    if not tree.args.get("joins"):
        return _beside_an_answer(made, named)
    joins = made.args["joins"]
    sources = [made.args["from_"].this, *(j.this for j in joins)]
    free = [True, *(_crossed(j) for j in joins)]
    if len(free) > 1:
        free[0] = free[1]
    totals = {i: t for i, s in enumerate(sources) if free[i] and (t := _total(s, named)) is not None}
    rest = [i for i in range(len(sources)) if i not in totals]
    if not totals or not rest:
        return None
    numbers = {(sources[i].alias_or_name.lower(), n): a for i, t in totals.items() for n, a in t.items()}
    others = [_names(context, sources[i]) for i in rest]
    for (_, n), a in list(numbers.items()):  # a name that no other source has stands without its table
        if sum(n in t for t in totals.values()) == 1 and all(o is not None and n not in o for o in others):
            numbers["", n] = a
    made.set("from_", exp.From(this=sources[rest[0]]))
    made.set("joins", [joins[i - 1] for i in rest[1:]])
    answer = _answer(sources[rest[0]], named) if len(rest) == 1 else None
    if answer is not None and not any(_about(a, sources[rest[0]]) for a in numbers.values()):
        return _within(made, answer, numbers)
    return _replaced(made, numbers)


def _crossed(join: exp.Join) -> bool:
    on = join.args.get("on")
    every = on is None or on == exp.true() or (isinstance(on, exp.EQ) and on.this == on.expression)
    return every and not any(join.args.get(k) for k in ("side", "method", "using"))


def _select(source: exp.Expr, named: Mapping[str, exp.Expr]) -> exp.Select | None:
    if isinstance(source, exp.Table) and not source.args.get("db"):
        found = named.get(source.name)
        inner = None if found is None else found.this
    else:
        inner = source.this if isinstance(source, exp.Subquery) else None
    alias = source.args.get("alias")
    renamed = alias is not None and alias.args.get("columns")
    return inner if isinstance(inner, exp.Select) and not renamed else None


def _names(context: Context, source: exp.Expr) -> set[str] | None:
    """What the columns of a source are called; None where that is not known here."""
    select = _select(source, context.named)
    if select is not None:
        return None if select.is_star else {e.alias_or_name.lower() for e in select.expressions}
    table = context.policy.table(source.name) if isinstance(source, exp.Table) else None
    return None if table is None else {c.name.lower() for c in table.columns}


def _total(source: exp.Expr, named: Mapping[str, exp.Expr]) -> dict[str, exp.Select] | None:
    """What each column of a SELECT of aggregates alone is, as a SELECT of its own."""
    select = _select(source, named)
    if select is None or not select.args.get("from_") or {k for k, v in select.args.items() if v} - _INSIDE:
        return None
    found = {}
    for item in select.expressions:
        if not isinstance(item, exp.Alias) or not isinstance(item.this, exp.AggFunc | exp.Filter):
            return None
        one = select.copy()
        one.set("expressions", [item.copy()])
        found[item.alias.lower()] = one
    return found


def _answer(source: exp.Expr, named: Mapping[str, exp.Expr]) -> exp.Select | None:
    select = _select(source, named)
    return select if select is not None and select.args.get("group") else None


def _beside_an_answer(made: exp.Select, named: Mapping[str, exp.Expr]) -> exp.Select | None:
    """Totals in brackets around an answer as columns of it; None where there are none."""
    source = made.args["from_"].this
    answer = _answer(source, named)
    if answer is None:
        return None
    numbers: dict[tuple[str, str], exp.Select] = {}
    for node in _nodes(made):
        for asked in [s for s in node.find_all(exp.Subquery) if s.find_ancestor(exp.Select) is made]:
            number = _number(asked.this, named)
            if number is not None and not _about(number, source):
                name = exp.to_identifier(f"{_NAME}:{len(numbers)}", quoted=True)
                numbers["", name.name] = number
                asked.replace(exp.Column(this=name))
    return _within(made, answer, numbers) if numbers else None


def _number(select: exp.Expr, named: Mapping[str, exp.Expr]) -> exp.Select | None:
    """The total that a SELECT in brackets is, or names: `(SELECT n FROM t)` where WITH has t."""
    if not isinstance(select, exp.Select) or not select.args.get("from_") or len(select.expressions) != 1:
        return None
    shown = select.expressions[0].unalias()
    if isinstance(shown, exp.Column) and {k for k, v in select.args.items() if v} == {"expressions", "from_"}:
        return (_total(select.args["from_"].this, named) or {}).get(shown.name.lower())
    inside = not {k for k, v in select.args.items() if v} - _INSIDE
    return select if inside and isinstance(shown, exp.AggFunc | exp.Filter) else None


def _nodes(made: exp.Select) -> list[exp.Expr]:
    found = [made.args.get(clause) for clause in _CLAUSES]
    return [n for f in found for n in (f if isinstance(f, list) else [f]) if isinstance(n, exp.Expr)]


def _about(number: exp.Select, source: exp.Expr) -> bool:
    """Whether it is a total of this answer's own rows."""
    asked = number.args["from_"].this
    return isinstance(asked, exp.Table) and isinstance(source, exp.Table) and asked.this == source.this


def _within(made: exp.Select, answer: exp.Select, numbers: dict[tuple[str, str], exp.Select]) -> exp.Select:
    """The totals as columns of the answer."""
    source, inner = made.args["from_"].this, answer.copy()
    shown: dict[tuple[str, str], exp.Expr] = {}
    for i, (key, number) in enumerate(numbers.items()):
        name = exp.to_identifier(f"{_NAME}{i}", quoted=True)
        inner.append("expressions", exp.Alias(this=exp.Subquery(this=number), alias=name))
        shown[key] = exp.Column(this=name.copy(), table=exp.to_identifier(source.alias_or_name))
    alias = exp.TableAlias(this=exp.to_identifier(source.alias_or_name))
    made.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
    return _replaced(made, shown)


def _replaced(made: exp.Select, numbers: Mapping[tuple[str, str], exp.Expr]) -> exp.Select:
    """The SELECT with the numbers in place of the columns that named them."""
    group = made.args.get("group")
    if group is not None:
        kept = [k for k in group.expressions if _named(k, numbers) is None]
        group.set("expressions", kept)
        if not kept and not any(group.args.get(k) for k in ("rollup", "cube", "grouping_sets")):
            made.set("group", None)
    for node in _nodes(made):
        for column in list(node.find_all(exp.Column)):
            _put(column, numbers)
    return made


def _put(column: exp.Column, numbers: Mapping[tuple[str, str], exp.Expr]) -> None:
    number = _named(column, numbers)
    if number is None:
        return
    whole: exp.Expr = column.parent if isinstance(column.parent, _OF_ONE) else column
    place = {k: whole.meta[k] for k in ("from", "to") if k in whole.meta}
    new = exp.Subquery(this=number.copy()) if isinstance(number, exp.Select) else number.copy()
    for part in new.walk():
        part.meta.update({k: v for k, v in place.items() if k not in part.meta})
    if isinstance(whole.parent, exp.Select):  # it is called what it was called
        new = exp.Alias(this=new, alias=exp.to_identifier(column.name))
    whole.replace(new)


def _named(node: exp.Expr, numbers: Mapping[tuple[str, str], exp.Expr]) -> exp.Expr | None:
    """The number that a column names."""
    return numbers.get((node.table.lower(), node.name.lower())) if isinstance(node, exp.Column) else None
