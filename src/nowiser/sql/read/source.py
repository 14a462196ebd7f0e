"""The FROM clause: tables, sub-selects and how they are joined → one relation, and what its names mean.

Inner joins commute, so their conditions (those in ON and those in WHERE) are pooled and the tables are joined in
whatever order keeps the rows per person fewest. Rows of persons are only ever joined within one person: where the
question compares keys that lead to the same person, the comparison of the persons themselves is added. It changes
nothing if the declared keys are what they claim to be, and keeps the bound if they are not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Table
from nowiser.sql import functions
from nowiser.sql.bound import bounds
from nowiser.sql.bound.relations import Equal, different, names, rows
from nowiser.sql.functions import ALLOWED
from nowiser.sql.read import hints
from nowiser.sql.read.expressions.bind import Binder, truth
from nowiser.sql.read.names import SCHEMAS, Scope, column_type, matches, of_database
from nowiser.sql.read.text.parse import place
from nowiser.sql.read.written import written
from nowiser.sql.tree import (
    Call,
    Column,
    Expression,
    Filter,
    Join,
    Literal,
    Relation,
    Scan,
    Type,
    columns,
    conjuncts,
    holding,
)

_FILES = (".csv", ".tsv", ".txt", ".parquet")
MOST_TABLES = 16  # of one question, sub-selects included
TRUE = Literal(value=True, type=Type(Kind.BOOLEAN))


@dataclass(frozen=True)
class Source:
    """Something rows come from, and what its columns stand for."""

    relation: Relation
    columns: Mapping[str, Expression]


@dataclass
class Context:
    """One reading of one text: everything sub-selects share."""

    text: str
    policy: Policy
    named: dict[str, exp.Expr] = field(default_factory=dict)  # WITH
    number: "Callable[[Context, exp.Subquery], Expression] | None" = None  # what a public sub-select gives
    count: int = 0
    several: bool = False  # whether a sub-select was met whose groups hold several persons: an answer, if anything
    deep: int = 0  # how deep expressions over released rows are, one SELECT around the other

    def fresh(self, node: exp.Expr) -> str:
        """A name for another relation, t0, t1, … in the order of the question."""
        if self.count >= MOST_TABLES:
            raise self.refuse(node, "The question looks at too many tables.", f"At most {MOST_TABLES}.")
        self.count += 1
        return f"t{self.count - 1}"

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> NotAnswerable:
        return NotAnswerable(message, hint=hint, span=place(node, self.text))


SubSelect = Callable[[Context, exp.Expr], Source]


@dataclass
class From:
    """Reads one FROM clause. `sub` reads a sub-select."""

    context: Context
    tree: exp.Select
    sub: SubSelect
    sources: dict[str, Mapping[str, Expression]] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)
    pooled: list[Expression] = field(default_factory=list)  # conditions of inner joins
    waiting: list[Relation] = field(default_factory=list)  # relations of inner joins
    lists: bool = False  # whether a public table may be the list of groups (`listed_groups.py`)
    missing: frozenset[str] = frozenset()  # relations of persons that such a list is joined to

    def read(self) -> tuple[Scope, Callable[[Expression | None], Relation]]:
        """The names in sight, and what makes the relation once the condition of WHERE is known."""
        outer: list[tuple[Relation, Expression]] = []
        self.waiting.append(self.item(self.tree.args["from_"].this))
        for node in self.tree.args.get("joins") or ():
            side = self._side(node)
            before = dict(self.sources)
            relation = self.item(node.this)
            condition = self.condition(node, before)
            if self._listed(node, side, relation, condition, alone=not outer):
                self.waiting.append(relation)
                self.pooled += [c for c in conjuncts(condition) if c != TRUE]
            elif side == "RIGHT":
                self._swapped(node, relation, before, condition, outer)
            elif side == "LEFT":
                self._nullable(names(relation))
                outer.append((relation, condition))
            elif outer and {c.relation for c in columns(condition)} & {n for r, _ in outer for n in names(r)}:
                raise self.context.refuse(
                    node,
                    "A table joined on a column that LEFT JOIN may have left empty.",
                    "Write JOIN before LEFT JOIN.",
                )
            else:
                self.waiting.append(relation)
                self.pooled += [c for c in conjuncts(condition) if c != TRUE]
        scope = Scope(self.context.text, dict(self.sources), frozenset(self.merged))
        return scope, lambda where: self._placed(where, outer)

    def _listed(self, node: exp.Join, side: str, relation: Relation, condition: Expression, *, alone: bool) -> bool:
        """Whether an outer join keeps rows of a public table, as the list of groups."""
        if not self.lists or not side or not alone:
            return False
        one = any(rows(r, self.context.policy).secret for r in self.waiting)
        other = rows(relation, self.context.policy).secret
        if (one, other) != ((False, True) if side == "LEFT" else (True, False)):
            return False
        before = frozenset(n for r in self.waiting for n in names(r))
        kept, missing = (before, names(relation)) if side == "LEFT" else (names(relation), before)
        if any({c.relation for c in columns(part)} <= kept for part in conjuncts(condition)):
            raise self.context.refuse(node, "ON compares the list with columns of persons.", "Put the rest in WHERE.")
        self.missing |= missing
        return True

    def _swapped(
        self,
        node: exp.Join,
        relation: Relation,
        before: Mapping[str, Mapping[str, Expression]],
        condition: Expression,
        outer: list[tuple[Relation, Expression]],
    ) -> None:
        """`a RIGHT JOIN b` is `b LEFT JOIN a`, with everything before it as a."""
        if outer:
            raise self.context.refuse(
                node, "RIGHT JOIN after LEFT JOIN is not answered.", "Write that table first: FROM b LEFT JOIN (…)."
            )
        found, left = _ordered(self.waiting, self.pooled, self.context.policy)
        self._nullable(names(found))
        self.sources = {n: h for n, h in self.sources.items() if n not in before} | {
            n: h for n, h in self.sources.items() if n in before
        }  # a name in USING is that of the side whose rows all stay
        outer.append((filtered(found, left), condition))
        self.waiting, self.pooled = [relation], []

    def scope(self) -> Scope:
        return Scope(self.context.text, dict(self.sources), frozenset(self.merged))

    # -- what is joined ----------------------------------------------------------------------------------

    def item(self, node: exp.Expr) -> Relation:
        source, alias = self._source(node)
        if any(matches(alias, known) for known in self.sources):
            raise self.context.refuse(
                node, f"Two tables are called {alias.name}.", "Give one of them another name: AS."
            )
        name = str(alias.this) if alias.args.get("quoted") else str(alias.this).lower()
        self.sources[name] = source.columns
        return source.relation

    def _source(self, node: exp.Expr) -> tuple[Source, exp.Identifier]:
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery):
            self._only(node, "this", "alias")
            if alias is None or alias.this is None:
                name = exp.to_identifier(f"unnamed_{len(self.sources)}")
            else:
                name = alias.this
            return _renamed(self.context, node, self.sub(self.context, node.this), alias), name
        if isinstance(node, exp.Lateral):
            raise self.context.refuse(
                node,
                "LATERAL asks anew for each row and is not answered.",
                "JOIN (SELECT key, COUNT(*) AS n FROM … GROUP BY key) AS s ON s.key = …, or EXISTS in WHERE.",
            )
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            tables = ", ".join(t.name for t in self.context.policy.tables)
            hint = f"There are {tables}."
            if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
                hint = (
                    "A list of groups is (VALUES (1), (2)) AS g (m). Without one, GROUP BY shows all declared groups."
                )
            raise self.context.refuse(node, "FROM takes the name of a table.", hint)
        self._only(node, "this", "alias", "db", *(("catalog",) if of_database(node) else ()))
        home = node.args.get("db")
        if home is not None and home.name.lower() not in SCHEMAS and self._of_source(node) is None:
            every = [t.name for t in self.context.policy.tables]
            meant = next((t for t in every if t.lower() in (node.name.lower(), home.name.lower())), None)
            hint = f"Write {meant}." if meant else hints.near(node.name, every)
            raise self.context.refuse(node, f"There is no schema {home.name}.", hint)
        named = next((n for n in self.context.named if matches(node.this, n)), None) if home is None else None
        name = alias.this if alias is not None and alias.this is not None else node.this
        found = self._with(node, named) if named is not None else self._table(node)
        return _renamed(self.context, node, found, alias), name

    def _with(self, node: exp.Table, name: str) -> Source:
        """A sub-select of WITH, in its place. It sees those before it."""
        everything = self.context.named
        before = list(everything).index(name)
        self.context.named = dict(list(everything.items())[:before])
        try:
            cte = everything[name]
            return _renamed(self.context, node, self.sub(self.context, cte.this), cte.args.get("alias"))
        finally:
            self.context.named = everything

    def _of_source(self, node: exp.Table) -> Table | None:
        """The table whose source is called so, or stands in that schema: `source: clinic.visits`."""
        home = node.args.get("db")
        if home is None:
            return None
        named = [t for t in self.context.policy.tables if not t.source.lower().endswith(_FILES)]
        written = f"{home.name}.{node.name}".lower()
        found = [t for t in named if written in (t.source.lower(), f"{t.source.rpartition('.')[0]}.{t.name}".lower())]
        return found[0] if len(found) == 1 else None

    def _table(self, node: exp.Table) -> Source:
        tables = self.context.policy.tables
        of_source = self._of_source(node)
        found = [of_source] if of_source is not None else [t for t in tables if matches(node.this, t.name)]
        if len(found) != 1:
            same = (
                t.name for t in tables if node.name.lower() in (t.source.lower(), t.source.lower().rpartition(".")[2])
            )
            meant = next(same, node.name)
            hint = hints.near(meant, [t.name for t in tables])
            where = place(node, self.context.text)
            raise NotAnswerable(f"There is no table {node.name}.", hint=hint, span=where, reason="no table")
        if found[0].ends is not None:
            raise self.context.refuse(
                node,
                f"Rows of {found[0].name} join two people, so SQL does not ask about them.",
                "nowiser graph links, or gw.graph: degrees, triangles, links between groups.",
            )
        name = self.context.fresh(node)
        return Source(
            Scan(name, found[0]), {c.name: Column(name, found[0].name, c, column_type(c)) for c in found[0].columns}
        )

    def _only(self, node: exp.Expr, *known: str) -> None:
        for name, value in node.args.items():
            if name not in known and value not in (None, False, [], ()):
                raise self.context.refuse(
                    node, f"A table with {hints.words(name)} is not answered.", "Name the table alone."
                )

    # -- how it is joined --------------------------------------------------------------------------------

    def _side(self, node: exp.Join) -> str:
        """LEFT, RIGHT, or nothing for an inner join. Refuses what is none of them."""
        side, kind, method = (str(node.args.get(k) or "").upper() for k in ("side", "kind", "method"))
        for name, value in node.args.items():
            if name not in ("this", "on", "using", "side", "kind", "method") and value not in (None, False, [], ()):
                raise self.context.refuse(node, f"JOIN with {hints.words(name)} is not answered.", "Write JOIN … ON ….")
        if side not in ("", "LEFT", "RIGHT") or method or kind not in ("", "INNER", "OUTER", "CROSS"):
            word = " ".join(w for w in (method, side, kind) if w)
            hint = "Write JOIN … USING (column)." if method == "NATURAL" else "Write JOIN … ON …."
            if side == "FULL":
                hint = (
                    "Ask about FROM (SELECT … FROM a LEFT JOIN b ON … UNION ALL"
                    " SELECT … FROM b LEFT JOIN a ON … WHERE a.key IS NULL) AS u."
                )
            raise self.context.refuse(node, f"{word} JOIN is not answered.", hint)
        return side

    def condition(self, node: exp.Join, before: Mapping[str, Mapping[str, Expression]]) -> Expression:
        """What ON or USING says."""
        using = node.args.get("using") or []
        on = node.args.get("on")
        if on is not None:
            found = truth(Binder(self.scope(), self._no_aggregate).bind(on))
            if found.type.kind is not Kind.BOOLEAN:
                raise self.context.refuse(
                    on, f"A condition is true or false, not {found.type.kind.value}.", hints.condition(found.type.kind)
                )
            bounds.total(found)
            return found
        parts: list[Expression] = []
        for identifier in using:
            pair = [
                next((e for home in side for n, e in home.items() if matches(identifier, n)), None)
                for side in (before.values(), [h for n, h in self.sources.items() if n not in before])
            ]
            if None in pair:
                raise self.context.refuse(node, f"USING names {identifier.name}, which one side does not have.")
            self.merged.add(identifier.name.lower())
            a, b = (e for e in pair if e is not None)
            parts.append(functions.call("=", (a, b), place(node, self.context.text)))
        return functions.call("and", tuple(parts), parts[0].span) if len(parts) > 1 else parts[0] if parts else TRUE

    def _no_aggregate(self, node: exp.Expr) -> None:
        if isinstance(node, exp.AggFunc):
            raise self.context.refuse(
                node, f"{written(node, self.context.text)} cannot stand here.", "ON compares columns."
            )

    def _nullable(self, right: frozenset[str]) -> None:
        """Columns of the right side of a LEFT JOIN are NULL where there is no partner."""
        for name, found in self.sources.items():
            if any({c.relation for c in columns(e)} & right or not columns(e) for e in found.values()):
                if not all({c.relation for c in columns(e)} <= right for e in found.values()):
                    continue
                self.sources[name] = {n: self._empty(e, n) for n, e in found.items()}

    def _empty(self, e: Expression, name: str) -> Expression:
        if isinstance(e, Column):
            return replace(e, type=replace(e.type, nullable=True))
        if isinstance(e, Call) and ALLOWED[e.function].strict:
            return functions.call(e.function, tuple(self._empty(a, name) for a in e.args), e.span)
        if isinstance(e, Literal) and e.value is not None and e.span is None:
            return e
        raise NotAnswerable(
            f"What {name} is where LEFT JOIN finds nothing cannot be told from its expression.",
            hint="Compute it outside of the sub-select that is joined.",
            span=e.span,
        )

    def _placed(self, where: Expression | None, outer: list[tuple[Relation, Expression]]) -> Relation:
        """The same; where tables are put together by no condition that could be marked, FROM is."""
        try:
            return self._together(where, outer)
        except NotAnswerable as reason:
            if reason.span is not None:
                raise
            tables = [self.tree.args["from_"], *(self.tree.args.get("joins") or ())]
            raise self.context.refuse(tables[-1], reason.message, reason.hint) from None

    def _together(self, where: Expression | None, outer: list[tuple[Relation, Expression]]) -> Relation:
        """Join everything: first what is joined inwardly, then LEFT JOINs in their order, then the rest of WHERE."""
        inner = {n for r in self.waiting for n in names(r)}
        everything = list(conjuncts(where)) if where is not None else []
        everything += [c for o in everything for c in _common(o) if c not in everything]
        early = [c for c in everything if {x.relation for x in columns(c)} <= inner]
        found, left = _ordered([*self.waiting], [*self.pooled, *early], self.context.policy)
        late = [c for c in everything if c not in early]
        for relation, condition in outer:
            found, above = pulled(found)
            base, inside = pulled(relation)
            parts = [c for c in (*conjuncts(condition), *inside) if c != TRUE]
            found = joined_within(found, base, parts, self.context.policy, outer=True)
            left = [*above, *left]
        return filtered(found, [*left, *late])


def _common(condition: Expression) -> list[Expression]:
    """What every arm of an OR says: (a AND x) OR (a AND y) says a."""
    if not isinstance(condition, Call) or condition.function != "or":
        return []
    arms = [set(conjuncts(arm)) for arm in condition.args]
    return [c for c in conjuncts(condition.args[0]) if all(c in arm for arm in arms)]


def _ordered(waiting: list[Relation], pooled: list[Expression], policy: Policy) -> tuple[Relation, list[Expression]]:
    """Join relations one after the other, always the one that leaves fewest rows per person."""
    parts = [pulled(r) for r in waiting]
    pooled = [*pooled, *(c for _, above in parts for c in above)]
    left = [r for r, _ in parts]
    start = next((r for r in left if rows(r, policy).secret), left[0])
    left.remove(start)
    found = start
    while left:
        options: list[tuple[int, int, Join]] = []
        refusal: NotAnswerable | None = None
        for i, candidate in enumerate(left):
            usable = _usable(pooled, found, candidate)
            try:
                joined = joined_within(found, candidate, usable, policy)
                # A public table that nothing is compared with yet can wait.
                options.append((rows(joined, policy).most + (0 if usable else 10**12), i, joined))
            except NotAnswerable as reason:
                refusal = refusal or reason
        if not options:
            assert refusal is not None
            raise refusal
        _, i, joined = min(options, key=lambda o: o[:2])
        used = set(map(id, _usable(pooled, found, left[i])))
        pooled = [c for c in pooled if id(c) not in used]
        found = joined
        del left[i]
    return found, pooled


def _usable(pooled: list[Expression], found: Relation, candidate: Relation) -> list[Expression]:
    """The conditions that can be decided once the candidate is joined."""
    here, there = names(found), names(candidate)
    return [
        c
        for c in pooled
        if (looked := {x.relation for x in columns(c)}) <= here | there and looked & there and looked & here
    ]


def joined_within(
    left: Relation, right: Relation, parts: list[Expression], policy: Policy, *, outer: bool = False
) -> Join:
    """The join, within one person. Raises NotAnswerable where that is not what the conditions say."""
    joined = Join(left, right, together(within(left, right, parts, policy)), outer)
    rows(joined, policy)
    return joined


def within(left: Relation, right: Relation, parts: list[Expression], policy: Policy) -> list[Expression]:
    """The conditions, and that both rows belong to the same person, where both belong to persons."""
    a, b = rows(left, policy), rows(right, policy)
    at = parts[0] if parts else TRUE
    if a.persons is not None and b.persons is not None:
        same = Equal((*parts, *holding(left), *holding(right)))
        matching = a.persons.name == b.persons.name and same.matching(a.leading, b.leading)
        if not matching or not a.person or not b.person:
            raise different(a.persons, b.persons, at)
        if not Equal(tuple(parts)).pairwise(a.person, b.person):
            parts = [
                *parts,
                *(functions.call("=", (x, y), at.span) for x, y in zip(a.person, b.person, strict=True)),
            ]
    return parts


def pulled(relation: Relation) -> tuple[Relation, list[Expression]]:
    """The relation without the conditions at its top, and those."""
    found: list[Expression] = []
    while isinstance(relation, Filter):
        found = [*conjuncts(relation.condition), *found]
        relation = relation.source
    return relation, found


def filtered(relation: Relation, parts: list[Expression]) -> Relation:
    return Filter(relation, together(parts)) if parts else relation


def together(parts: list[Expression]) -> Expression:
    if not parts:
        return TRUE
    return functions.call("and", tuple(parts), parts[0].span) if len(parts) > 1 else parts[0]


def _renamed(context: Context, node: exp.Expr, source: Source, alias: exp.Expr | None) -> Source:
    wanted = alias.args.get("columns") if alias is not None else None
    if not wanted:
        return source
    if len(wanted) > len(source.columns):
        raise context.refuse(node, f"{len(wanted)} names for {len(source.columns)} columns.")
    old = list(source.columns)
    new = [str(i.this) if i.args.get("quoted") else str(i.this).lower() for i in wanted] + old[len(wanted) :]
    return Source(source.relation, dict(zip(new, source.columns.values(), strict=True)))
