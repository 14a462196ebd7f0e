"""PostgreSQL's SQL about its catalogue → DuckDB's over our tables.

One rule per difference; inner nodes before outer ones. Nothing reaches DuckDB that is no known relation or function:
`rewritten` gives the text only where each of them was looked up.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.server.catalogue.allowed import unknown
from nowiser.server.catalogue.belongs import home_of, tables
from nowiser.server.catalogue.named import named

NAMES = ("regclass", "regtype", "regproc", "regprocedure", "regnamespace", "regrole")
_TEXTS = ("NAME", "TEXT", "BPCHAR", "VARCHAR", "CHAR", "CITEXT", "PG_NODE_TREE", "ACLITEM", "INET", "REGCONFIG", "XID",
          "INFORMATION_SCHEMA.SQL_IDENTIFIER", "INFORMATION_SCHEMA.CHARACTER_DATA",
          "INFORMATION_SCHEMA.YES_OR_NO")  # fmt: skip
_PLAIN_TYPES = {
    "INT2": "SMALLINT", "INT4": "INTEGER", "INT8": "BIGINT", "FLOAT8": "DOUBLE", "FLOAT4": "FLOAT", "BOOL": "BOOLEAN",
    "OID": "UINTEGER", "CID": "UINTEGER", "INFORMATION_SCHEMA.CARDINAL_NUMBER": "INTEGER", "TIMESTAMPTZ": "TIMESTAMP",
}  # fmt: skip
_VECTORS = ("indkey", "indoption", "indclass", "indcollation", "proargtypes")
_LISTS = ("conkey", "confkey", "conpfeqop", "conppeqop", "conffeqop", "conexclop", "proallargtypes", "stxkeys")
_FUNCTIONS = ("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze", "typsubscript",
              "amhandler")  # fmt: skip
_WHOLE = ("OID", "INT", "BIGINT", "INTEGER", "INT8", "INT4")
_USERS = ("user", "current_user", "session_user", "current_role")


@dataclass(frozen=True)
class Known:
    """What a statement may name: relations by home, with their columns; the account; the settings of its session."""

    relations: dict[str, set[str]]
    columns: dict[tuple[str, str], dict[str, int]]
    declared: set[str]
    me: str
    settings: dict[str, str]


def rewritten(tree: exp.Expr, known: Known) -> str:
    """The statement for DuckDB. Raises NotAnswerable, naming what is missing."""
    tree = tree.copy()
    for select in tree.find_all(exp.Select):
        select.set("expressions", [_aliased(e) for e in select.expressions])
    homes = {t.alias_or_name: (home_of(t, known.relations, known.declared), t.name.lower()) for t in tables(tree)}
    _function_scans(tree)
    for table in list(tables(tree)):
        _relation(table, known)
    for node in reversed(list(tree.dfs())):
        new = _one(node, known, homes)
        if new is not node:
            if node is tree:
                tree = new
            else:
                node.replace(new)
    if (name := unknown(tree)) is not None:
        raise missing("function", name)
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier | exp.Func):
            raise missing("relation", table.sql("postgres")[:60])
    for node in tree.find_all(exp.Parameter, exp.Placeholder, exp.SessionParameter, exp.Command, exp.Into, exp.Lock):
        raise missing("meaning of", node.sql("postgres")[:60])
    return tree.sql("duckdb", copy=False)


def missing(what: str, name: str) -> NotAnswerable:
    return NotAnswerable(
        f"The catalogue here has no {what} {name}.", hint="It has what clients need to show tables and columns."
    )


def call(name: str, *args: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(args))


def _aliased(e: exp.Expr) -> exp.Expr:
    """With the name PostgreSQL gives it, since DuckDB gives another."""
    if isinstance(e, exp.Star) or e.is_star:
        return e
    if isinstance(e, exp.Alias):
        alias = e.args["alias"]
        if not alias.args.get("quoted"):  # folded, as PostgreSQL does
            e.set("alias", exp.to_identifier(alias.name.lower(), quoted=True))
        return e
    name = named(e)
    plain = isinstance(e, exp.Column) and not e.this.args.get("quoted")
    return exp.alias_(e.copy(), name.lower() if plain else name, quoted=True)


def _relation(table: exp.Table, known: Known) -> None:
    """A relation of the catalogue by the name it has in DuckDB."""
    home, name = home_of(table, known.relations, known.declared), table.name.lower()
    if home is None or name not in known.relations[home]:
        raise missing("relation", table.sql("postgres")[:60])
    if table.args.get("alias") is None:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
    table.set("this", exp.to_identifier(name, quoted=True))
    table.set("db", exp.to_identifier({"own": "main"}.get(home, home)))
    table.set("catalog", exp.to_identifier("temp" if home == "own" else "cat"))


def _function_scans(tree: exp.Expr) -> None:
    """FROM f(x) AS i: a table with one column i."""
    for table in list(tree.find_all(exp.Table)):
        function, alias = table.this, table.args.get("alias")
        if isinstance(function, exp.Dot):
            function = function.expression
            table.set("this", function)
        if not isinstance(function, exp.Func):
            continue
        if table.args.get("db") is not None:
            if table.db.lower() != "pg_catalog":
                raise missing("function", table.sql("postgres")[:60])
            table.set("db", None)
        if isinstance(function, exp.Anonymous):
            if function.name.lower() == "pg_partition_ancestors":  # there are no partitions
                table.set("ordinality", None)
                function.set("this", "no_partitions")
                function.set("expressions", [])
            continue
        name = alias.name if alias is not None else (function.name or function.key).lower()
        column = alias.columns[0].name if alias is not None and alias.columns else name
        gives_rows = isinstance(function, exp.Explode | exp.Unnest | exp.StringToArray | exp.ExplodingGenerateSeries)
        scan = exp.select(exp.alias_(function.copy() if gives_rows else call("unnest", function.copy()), column))
        table.replace(exp.Subquery(this=scan, alias=exp.TableAlias(this=exp.to_identifier(name))))


def _one(node: exp.Expr, known: Known, homes: dict[str, tuple[str | None, str]]) -> exp.Expr:
    """A node as DuckDB says it; the same node where that is no different."""
    for kind, rule in _RULES:
        if isinstance(node, kind):
            node = rule(node, known, homes)
            if not isinstance(node, kind):
                break
    return node


def _column(node: exp.Column, known: Known, homes: dict[str, tuple[str | None, str]]) -> exp.Expr:
    name = node.name.lower()
    if not node.table and not node.this.quoted and name in _USERS:
        return exp.Literal.string(known.me)
    if not node.table and not node.this.quoted and name == "current_catalog":
        return exp.Literal.string("nowiser")
    home, relation = homes.get(node.table, (None, ""))
    if name == "tableoid" and home is not None:
        return call("to_regclass", exp.Literal.string(f"pg_catalog.{relation}"))
    if node.args.get("db"):
        node.set("db", None)
        node.set("catalog", None)
    return node


def _dot(node: exp.Dot, *_: object) -> exp.Expr:
    """pg_catalog.f(x) is f(x); (f(x)).n stays."""
    left, right = node.this, node.expression
    if isinstance(right, exp.Func) and isinstance(left, exp.Identifier | exp.Column):
        if left.name.lower() not in ("pg_catalog", "information_schema"):
            raise missing("function", f"{left.name}.{right.name or right.key}")
        return right
    return node


def _anonymous(node: exp.Anonymous, known: Known, _: object) -> exp.Expr:
    name, args = node.name.lower(), node.expressions
    if (
        name == "current_setting"
        and args
        and isinstance(args[0], exp.Literal)
        and args[0].this.lower() in known.settings
    ):
        return exp.Literal.string(known.settings[args[0].this.lower()])
    if name == "set_config" and len(args) == 3:
        value: exp.Expr = args[1]
        return value
    if name in ("json_build_object", "jsonb_build_object"):
        return call("json_object", *args)
    if name == "pg_partition_ancestors":
        return exp.cast(exp.null(), "UINTEGER", dialect="duckdb")
    if name == "generate_subscripts" and args:
        vector = isinstance(args[0], exp.Column) and args[0].name.lower() in _VECTORS
        return call("subscripts", args[0], exp.Literal.number(0 if vector else 1))
    if name == "_pg_expandarray":
        return call("expandarray", *args)
    if name == "format" and args and isinstance(args[0], exp.Literal):
        return _format(args)
    if name == "replace" and len(args) == 3:
        return call("replaced", *args)
    if name in ("concat", "concat_ws"):
        return _concat(args)
    return node


def _format(args: list[exp.Expr]) -> exp.Expr:
    """format('%I.%s', a, b)"""
    rest, parts = list(args[1:]), list[exp.Expr]()
    for piece in re.split(r"(%[sIL])", args[0].this):
        if piece in ("%s", "%I", "%L") and rest:
            text = exp.cast(rest.pop(0), "TEXT")
            parts.append({"%s": text, "%I": call("quote_ident", text), "%L": call("quote_literal", text)}[piece])
        elif piece:
            parts.append(exp.Literal.string(piece.replace("%%", "%")))
    return _concat(parts)


def _concat(parts: list[exp.Expr]) -> exp.Expr:
    """Texts one after the other, of which NULL is empty."""
    found: exp.Expr = exp.Literal.string("")
    for part in parts:
        found = call("joined", found, exp.Coalesce(this=exp.cast(part, "TEXT"), expressions=[exp.Literal.string("")]))
    return found


def _type_name(node: exp.Cast) -> str:
    return node.to.sql("postgres").upper().replace("PG_CATALOG.", "").replace('"', "")


def _cast(node: exp.Cast, *_: object) -> exp.Expr:
    written = _type_name(node)
    base, several = written.removesuffix("[]"), written.endswith("[]")
    if base.lower() in NAMES and not several:
        return _of_name(node, "regproc" if base == "REGPROCEDURE" else base.lower())
    if several and isinstance(node.this, exp.Literal) and node.this.is_string:
        node.set("this", _listed(node.this))
    base = base.split("(")[0]
    if base in ("INT2VECTOR", "OIDVECTOR", "ANYARRAY", "REGOPER", "REGOPERATOR"):
        inner: exp.Expr = node.this
        return inner
    if base in _TEXTS and isinstance(node.this, exp.Column) and node.this.name.lower() in _FUNCTIONS:
        return call("regproc_name", node.this)
    if base in _TEXTS and not several and isinstance(node.this, exp.Column):
        if node.this.name.lower() in _VECTORS:  # '1 2', as PostgreSQL writes a vector, and '{1,2}' a list
            return call("array_to_string", node.this, exp.Literal.string(" "))
        if node.this.name.lower() in _LISTS:
            inside = call("array_to_string", node.this, exp.Literal.string(","))
            return call("joined", call("joined", exp.Literal.string("{"), inside), exp.Literal.string("}"))
    if base in _TEXTS:
        return exp.cast(node.this, "TEXT[]" if several else "TEXT", dialect="duckdb")
    if base in _PLAIN_TYPES:
        return exp.cast(node.this, _PLAIN_TYPES[base] + ("[]" if several else ""), dialect="duckdb")
    return node


def _of_name(node: exp.Cast, kind: str) -> exp.Expr:
    """'visits'::regclass is a number where it is compared, and a name where it is shown."""
    up = node.parent
    while isinstance(up, exp.Paren):
        up = up.parent
    inner = node.this
    if isinstance(up, exp.Cast):
        to = _type_name(up)
        if to in _WHOLE or to.lower() in NAMES:
            return call(f"{kind}_oid", inner)
        return call(f"{kind}_name", call(f"{kind}_oid", inner))
    top: exp.Expr = node
    while isinstance(top.parent, exp.Paren | exp.Alias | exp.Coalesce | exp.Case | exp.If):
        top = top.parent
    shown = (isinstance(top.parent, exp.Select) and top.arg_key == "expressions") or isinstance(
        up, exp.DPipe | exp.Order
    )
    number = call(f"{kind}_oid", inner)
    return call(f"{kind}_name", number) if shown else number


def _listed(literal: exp.Literal) -> exp.Array:
    """'{a,b}' as a list."""
    body = literal.this.strip().removeprefix("{").removesuffix("}")
    items = [x.strip().strip('"') for x in body.split(",")] if body else []
    return exp.Array(expressions=[exp.Literal.string(x) for x in items])


def _any(node: exp.Any | exp.All, *_: object) -> exp.Expr:
    inner = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    if isinstance(inner, exp.Literal) and inner.is_string:
        node.set("this", exp.Paren(this=_listed(inner)))
    return node


def _bracket(node: exp.Bracket, *_: object) -> exp.Expr:
    """Vectors begin at 0 in PostgreSQL, lists at 1 in DuckDB. (The parser counts lists from 0.)"""
    if isinstance(node.this, exp.Column) and node.this.name.lower() in _VECTORS:
        node.set("expressions", [exp.Add(this=e.copy(), expression=exp.Literal.number(1)) for e in node.expressions])
    return node


def _like(node: exp.Like | exp.ILike, *_: object) -> exp.Expr:
    """A backslash escapes in PostgreSQL by itself."""
    pattern = node.expression
    plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.this
    if plain or isinstance(node.parent, exp.Escape) or isinstance(pattern, exp.Any | exp.Array):
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _joined(node: exp.DPipe, *_: object) -> exp.Expr:
    if any(isinstance(side, exp.Array) for side in (node.this, node.expression)):
        return call("list_concat", node.this, node.expression)
    return call("joined", node.this, node.expression)


def _user(_: exp.Expr, known: Known, __: object) -> exp.Expr:
    return exp.Literal.string(known.me)


_Rule = Callable[..., exp.Expr]
_RULES: tuple[tuple[type[exp.Expr] | tuple[type[exp.Expr], ...], _Rule], ...] = (
    (exp.Dot, _dot),
    (exp.Column, _column),
    ((exp.CurrentUser, exp.SessionUser), _user),
    (exp.CurrentCatalog, lambda *_: exp.Literal.string("nowiser")),
    (exp.CurrentDatabase, lambda *_: exp.Literal.string("nowiser")),
    (exp.CurrentSchema, lambda *_: exp.Literal.string("public")),
    (exp.CurrentSchemas, lambda n, *_: call("current_schemas", n.this)),
    (exp.CurrentVersion, lambda *_: call("version")),
    (exp.Anonymous, _anonymous),
    (exp.Format, lambda n, *_: _format([n.this, *n.expressions]) if isinstance(n.this, exp.Literal) else n),
    (exp.Concat, lambda n, *_: _concat(n.expressions)),
    (exp.ConcatWs, lambda n, *_: _concat(n.expressions)),
    (exp.Replace, lambda n, *_: call("replaced", n.this, n.expression, n.args["replacement"])),
    (
        exp.ArrayToString,
        lambda n, *_: call("array_to_string", n.this, n.expression, *([n.args["null"]] if n.args.get("null") else [])),
    ),
    (exp.StringToArray, lambda n, *_: call("string_to_array", n.this, n.expression)),
    (exp.ArraySize, lambda n, *_: call("array_length", n.this, exp.Literal.number(1))),
    (exp.Cast, _cast),
    ((exp.Any, exp.All), _any),
    (exp.Bracket, _bracket),
    ((exp.Like, exp.ILike), _like),
    (exp.DPipe, _joined),
    (exp.RegexpLike, lambda n, *_: call("regexp_matches", n.this, n.expression)),
    (exp.RegexpILike, lambda n, *_: call("regexp_matches", n.this, n.expression, exp.Literal.string("i"))),
)


def types(tree: exp.Expr, known: Known) -> list[int | None]:
    """The declared type of each column of a result that is a plain column of the catalogue; None for others."""
    select = tree
    while isinstance(select, exp.SetOperation):
        select = select.left
    homes = {t.alias_or_name: (home_of(t, known.relations, known.declared), t.name.lower()) for t in tables(select)}
    found: list[int | None] = []
    for item in select.expressions:
        node = item.unalias() if isinstance(item, exp.Alias) else item
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
            wanted = (
                [homes[node.table]] if isinstance(node, exp.Column) and node.table in homes else list(homes.values())
            )
            found += [t for home, name in wanted if home is not None for t in known.columns[home, name].values()]
            continue
        found.append(_type_of(node, homes, known) if isinstance(node, exp.Column) else None)
    return found


def _type_of(node: exp.Column, homes: dict[str, tuple[str | None, str]], known: Known) -> int | None:
    among = [homes[node.table]] if node.table in homes else list(homes.values()) if not node.table else []
    for home, name in among:
        if home is not None and node.name.lower() in known.columns.get((home, name), {}):
            return known.columns[home, name][node.name.lower()]
    return None
