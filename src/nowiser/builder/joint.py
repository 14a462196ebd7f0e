"""Several questions as fewer: questions about the same rows become one with all their results, and questions that
differ in one declared value (`faculty = 'math'`, `faculty = 'law'`) become one with GROUP BY.

Each is printed and read again first: one that does not mean the same afterwards stays as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sqlglot import exp

from nowiser.model.policy import Policy
from nowiser.model.schema import Column
from nowiser.report.answer import Answer
from nowiser.sql.canonical import canonical
from nowiser.sql.read.clauses import named
from nowiser.sql.read.text.parse import parse
from nowiser.sql.tree import Query

Read = Callable[[str], Query]
PER_COLUMN = {"values", "bars", "ranges", "expected"}  # what an answer says column by column
PLAIN = {"expressions", "from_", "joins", "where", "group"}  # the clauses of questions that are put together


@dataclass(frozen=True)
class Member:
    """Where the answer to one question is found in that to a joint one."""

    place: int  # of the question
    columns: tuple[tuple[str, str], ...]  # as called there, and as called by the question
    only: tuple[str, Any] | None = None  # the row whose key has this value


@dataclass(frozen=True)
class Measure:
    """One question that is asked, for all of its members. Of a single one without columns it is the answer itself."""

    sql: str
    members: tuple[Member, ...]


def alternatives(texts: Sequence[str], policy: Policy, read: Read) -> list[list[list[Measure]]]:
    """For each family of questions the ways to ask it: one by one, jointly about the same rows, all with GROUP BY."""
    families: dict[tuple[str, ...], dict[str, list[Asked]]] = {}
    for place, text in enumerate(texts):
        asked = _plain(place, text, policy, read)
        frame = (str(place),) if asked is None else asked.frame
        families.setdefault(frame, {}).setdefault("" if asked is None else asked.rows, [])
        if asked is not None:
            families[frame][asked.rows].append(asked)
    found = []
    for frame, by_rows in families.items():
        every = [asked for same in by_rows.values() for asked in same]
        places = [asked.place for asked in every] or [int(frame[0])]
        ways = [[Measure(texts[i], (Member(i, ()),)) for i in places]]
        if len(every) > 1:
            ways.append([_joint(same) for same in by_rows.values()])
        if len(by_rows) > 1:
            ways.append([_joint(every)])
        found.append(ways)
    return found


def part(answer: Answer, member: Member) -> Answer:
    """The answer to one question out of a joint one."""
    if not member.columns:
        return answer
    places = [answer.columns.index(there) for there, _ in member.columns]
    rows: Any = slice(None)
    if member.only is not None and answer.rows is not None:
        at = answer.columns.index(member.only[0])
        rows = np.array([row[at] == member.only[1] for row in answer.rows], dtype=bool)

    def cut(column: Any) -> Any:
        return column[rows] if isinstance(column, np.ndarray) else column

    width = len(answer.columns)
    columns: dict[str, Any] = {
        f.name: tuple(cut(value[i]) for i in places)
        for f in fields(answer)
        if f.name in PER_COLUMN and (value := getattr(answer, f.name)) is not None and len(value) == width
    }
    names = tuple(name for _, name in member.columns)
    exact = tuple(name for there, name in member.columns if there in answer.exact)
    return replace(answer, **columns, columns=names, exact=exact)


@dataclass(frozen=True)
class Asked:
    """A question that can be put together with others. `fixed`: its condition `column = value`, if it has just one."""

    place: int
    tree: exp.Select
    rows: str  # the text of what decides about its rows
    fixed: exp.EQ | None
    value: Any

    @property
    def frame(self) -> tuple[str, ...]:
        """What questions have in common that can be one."""
        if self.fixed is None:
            return ("rows", self.rows)
        bare = _without(self.tree, self.fixed)
        return ("value", _rows(bare), _text(self.fixed.this))


def _plain(place: int, text: str, policy: Policy, read: Read) -> Asked | None:
    tree = parse(text)
    assert isinstance(tree, exp.Select)
    keys = _keys(tree)
    aliases = {e.alias for e in tree.expressions if isinstance(e, exp.Alias)}
    if (
        {name for name, value in tree.args.items() if value} - PLAIN
        or (keys and any(v for name, v in tree.args["group"].args.items() if name != "expressions"))
        or not all(isinstance(k, exp.Column) and k.name not in aliases for k in keys)
        or any(tree.find(kind) for kind in (exp.Window, exp.Subquery, exp.Exists))
        or any(e.is_star for e in tree.expressions)
        or canonical(read(_text(tree))) != canonical(read(text))
    ):
        return None
    fixed, value = _fixed(tree, policy)
    return Asked(place, tree, _rows(tree), fixed, value)


def _joint(every: Sequence[Asked]) -> Measure:
    """One question with all results; where conditions differ in a value, by that value."""
    first, results = every[0], dict[str, exp.Expr]()
    for asked in every:
        results |= {_text(e.unalias()): e.unalias() for e in asked.tree.expressions}
    called = {text: f"m{i}" for i, text in enumerate(results)}
    whole = first.tree.copy()
    by_value = first.fixed is not None and len({asked.rows for asked in every}) > 1
    shown = [exp.alias_(e.copy(), called[text]) for text, e in results.items()]
    if by_value and first.fixed is not None:
        values = {_text(a.fixed.expression): a.fixed.expression.copy() for a in every if a.fixed is not None}
        whole = _without(first.tree, first.fixed)
        whole = whole.where(exp.In(this=first.fixed.this.copy(), expressions=list(values.values())), copy=False)
        shown.append(exp.alias_(first.fixed.this.copy(), "part"))
        whole.set("group", exp.Group(expressions=[*_keys(whole), first.fixed.this.copy()]))
    whole.set("expressions", shown)
    members = (
        Member(
            asked.place,
            tuple((called[_text(e.unalias())], named(e)) for e in asked.tree.expressions),
            ("part", asked.value) if by_value else None,
        )
        for asked in every
    )
    return Measure(_text(whole), tuple(members))


def _rows(tree: exp.Select) -> str:
    return " / ".join(_text(tree.args.get(clause)) for clause in ("from_", "joins", "where", "group"))


def _without(tree: exp.Select, fixed: exp.EQ) -> exp.Select:
    """The question without one of its conditions."""
    bare = tree.copy()
    others = [c.copy() for c in _conjuncts(bare) if _text(c) != _text(fixed)]
    bare.set("where", exp.Where(this=exp.and_(*others)) if others else None)
    return bare


def _keys(tree: exp.Select) -> list[exp.Expr]:
    return list(tree.args["group"].expressions) if tree.args.get("group") else []


def _fixed(tree: exp.Select, policy: Policy) -> tuple[exp.EQ | None, Any]:
    """The one condition `column = value` with a declared value, and the value; None where there is not just one."""
    home = tree.args["from_"].this
    table = policy.table(home.name) if isinstance(home, exp.Table) and not tree.args.get("joins") else None
    if table is None:
        return None, None
    found = []
    for c in _conjuncts(tree):
        if isinstance(c, exp.EQ) and isinstance(c.this, exp.Column) and isinstance(c.expression, exp.Literal):
            declared = table.column(c.this.name)
            value = None if declared is None else _declared(c.expression, declared)
            if value is not None and c.this.name not in (table.partition, *(k.name for k in _keys(tree))):
                found.append((c, value))
    return found[0] if len(found) == 1 else (None, None)


def _declared(literal: exp.Literal, column: Column) -> Any:
    return next((v for v in column.domain or () if str(v) == literal.name), None)


def _conjuncts(tree: exp.Select) -> list[exp.Expr]:
    where = tree.args.get("where")
    return [] if where is None else list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this])


def _text(tree: Any) -> str:
    if isinstance(tree, list):
        return " ".join(map(_text, tree))
    return "" if tree is None else str(tree.sql(dialect="postgres"))
