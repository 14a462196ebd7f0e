"""Whose statement it is: the catalogue's, where every table in it is a relation of the catalogue, or it has none.

The syntax tree decides, never the text. A statement that mixes tables of people with the catalogue is refused.
"""

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from nowiser.errors import NotAnswerable
from nowiser.sql.read.text.parameters import starts
from nowiser.sql.read.text.parse import measure
from nowiser.sql.read.text.tokens import tokens

MOST_CHARACTERS = 60_000
_HOMES = {"pg_catalog": "pg", "information_schema": "info", "nowiser": "own"}
# Spellings of operators and collations that the parser does not know; they mean what the plain ones do here
_OPERATOR = re.compile(r"OPERATOR\s*\(\s*pg_catalog\s*\.\s*([^)\s]{1,8})\s*\)", re.IGNORECASE)
_COLLATE = re.compile(r"COLLATE\s+(?:pg_catalog\s*\.\s*)?\"?(?:default|C|POSIX)\"?(?![\w.])", re.IGNORECASE)
_ARRAY_OF_NAMES = re.compile(r"::\s*(?:pg_catalog\s*\.\s*)?reg\w{1,12}\[\]", re.IGNORECASE)
_LISTS = re.compile(r"::\s*(?:pg_catalog\s*\.\s*)?(oid|name|xid)\s*\[\]", re.IGNORECASE)
_LIKELY = re.compile(r"pg_|information_schema|nowiser\s*\.|current_|session_user|version|SELECT", re.IGNORECASE)
_TEXTS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", re.DOTALL)


def without_values(text: str) -> str:
    """The text with NULL for each $1: its columns are the same."""
    pieces, end = [], 0
    for start, _ in sorted(starts(text).items()):
        stop = start + 1
        while text[stop : stop + 1].isdigit():
            stop += 1
        pieces += [text[end:start], "NULL"]
        end = stop
    return "".join([*pieces, text[end:]])


def tree_of(text: str) -> exp.Select | exp.SetOperation | None:
    """The syntax tree of one SELECT; None for anything else, which the gateway then refuses in its own words."""
    if len(text) > MOST_CHARACTERS or _LIKELY.search(text) is None:
        return None
    try:
        text = _plain(text)
        words = tokens(text)
        if not words or words[0].token_type not in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
            return None
        measure(text, words)
        found = [s for s in sqlglot.Dialect.get_or_raise("postgres").parser().parse(words, text) if s is not None]
    except (SqlglotError, NotAnswerable, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    tree = found[0] if len(found) == 1 else None
    while isinstance(tree, exp.Subquery) and not any(v for k, v in tree.args.items() if k != "this"):
        tree = tree.this
    return tree if isinstance(tree, exp.Select | exp.SetOperation) else None


def _plain(text: str) -> str:
    """The text with PostgreSQL's long spellings made short, outside of texts and quoted names."""
    pieces, end = [], 0
    for quoted in [*_TEXTS.finditer(text), None]:
        plain = text[end : len(text) if quoted is None else quoted.start()]
        plain = _LISTS.sub(lambda m: "::text[]" if m[1].lower() == "name" else "::bigint[]", plain)
        pieces.append(_ARRAY_OF_NAMES.sub("", _OPERATOR.sub(r"\1", plain)))
        if quoted is not None:
            pieces.append(quoted[0])
            end = quoted.end()
    return _COLLATE.sub(" ", "".join(pieces))


def home_of(table: exp.Table, known: dict[str, set[str]], declared: set[str]) -> str | None:
    """`pg`, `info` or `own` for a relation of the catalogue; None for any other."""
    if table.args.get("catalog") is not None and table.catalog.lower() != "nowiser":
        return None
    name, schema = table.name.lower(), table.db.lower()
    if schema:
        home = _HOMES.get(schema)
        return home if home is not None and (home != "own" or name in known["own"]) else None
    return "pg" if name in known["pg"] and name not in declared else None


def tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """The tables of a statement: neither names of WITH where they hold, nor functions that give rows."""
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.this, exp.Identifier) and (table.db or not _named_by_with(table)):
            yield table


def _named_by_with(table: exp.Table) -> bool:
    """Whether the name is that of a WITH around it. Within the WITH itself, only what comes before counts."""
    name = table.name.lower()
    inner: exp.Expr | None = table
    outer: exp.Expr | None = table.parent
    while outer is not None:
        if isinstance(outer, exp.With):
            at = next(i for i, one in enumerate(outer.expressions) if one is inner)
            named = outer.expressions[: at + bool(outer.args.get("recursive"))]
            inner, outer = outer.parent, None if outer.parent is None else outer.parent.parent
        else:
            found = outer.args.get("with_")
            named = found.expressions if isinstance(found, exp.With) else []
            inner, outer = outer, outer.parent
        if any(one.alias_or_name.lower() == name for one in named):
            return True
    return False


def is_ours(tree: exp.Expr, known: dict[str, set[str]], declared: set[str]) -> bool:
    """Whether the catalogue answers. Raises NotAnswerable where tables of both kinds stand in one statement."""
    ours = {home_of(t, known, declared) is not None for t in tables(tree)}
    if ours == {True, False}:
        raise NotAnswerable(
            "Tables of people and tables of the catalogue are not asked about together.", hint="Ask them one by one."
        )
    return ours != {False}
