"""SQL text → the syntax tree of sqlglot, within limits that hold before anything recursive runs.

A text is measured, then cut into tokens, then its nesting is measured on the tokens, and only then parsed. So no
text can exhaust the stack or keep the parser busy. The analyst's text goes no further than this module and the
places (`Span`) marked in it: engines get SQL printed from our own tree.
"""

import logging
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from nowiser.errors import NotAnswerable, Span
from nowiser.sql.read.hints import unreadable
from nowiser.sql.read.text.parameters import UNKNOWN, known_places, places, put
from nowiser.sql.read.text.spellings import excepted, marked, respelled, topped
from nowiser.sql.read.text.tokens import tokens as cut

MOST_CHARACTERS = 20_000
MOST_TOKENS = 6_000
MOST_NESTING = 24
MOST_DEPTH = 120  # of the syntax tree; a chain of additions nests once per sign
MOST_SELECTS = 64  # in one question: a chain of WITH nests once for each
MOST_PREFIXES = 12  # NOT NOT … , - - …
LONGEST_NAME = 200  # of a table, a column, an alias: names are repeated in messages and answers

_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
# Tokens after which another operand or query may begin at once: runs of them nest without brackets.
_PREFIX = {
    getattr(TokenType, name)
    for name in (
        "NOT", "DASH", "PLUS", "TILDE", "SELECT", "WITH", "FROM", "ALL", "ANY", "SOME", "EXISTS", "DISTINCT",
        "INTERVAL", "UNION", "EXCEPT", "INTERSECT", "VALUES", "DPIPE_SLASH", "PIPE_SLASH", "AT_GT", "AMP", "PARAMETER",
        "COLON", "DCOLON", "DOT", "ARROW", "FARROW", "COLON_EQ", "EXCLAMATION", "STAR", "HASH", "LIKE", "ILIKE",
    )
    if hasattr(TokenType, name)
}  # fmt: skip

CHANGES = "Nothing can be changed, created or looked up here."
_INSTEAD = {"EXPLAIN": "`nowiser explain` says what a question would cost, and `explain` in Python."} | dict.fromkeys(
    ("AVG", "COUNT", "SUM", "MEDIAN", "MIN", "MAX"), "Write SELECT before it, and FROM with a table after it."
)

# sqlglot logs the text when it falls back to an opaque command. That is refused here, and nobody else logs questions.
logging.getLogger("sqlglot").disabled = True


def parse(text: str, parameters: Sequence[Any] | None = None) -> exp.Expr:
    """The one statement in the text. Raises NotAnswerable, naming the place.

    `parameters`: values of $1, $2, … or of each ? in turn. Raises Misconfigured where they do not fit.
    """
    length = len(text) + sum(len(p) for p in parameters or () if isinstance(p, str))
    if length > MOST_CHARACTERS:
        raise NotAnswerable(
            f"The question is {length:,} characters long.", hint=f"At most {MOST_CHARACTERS:,} are read."
        )
    if "\x00" in text:
        at = text.index("\x00")
        raise NotAnswerable("The question contains a NUL character.", span=Span(text, at, at + 1))
    lone = next((i for i, c in enumerate(text) if "\ud800" <= c <= "\udfff"), None)
    if lone is not None:  # half a character: it cannot be written down, hashed or underlined
        raise NotAnswerable(
            f"The question contains half of a character, at place {lone + 1}.", hint="Write it in UTF-8."
        )
    try:
        tokens = cut(text)
    except (SqlglotError, ValueError) as error:
        raise _unreadable(text, error) from None
    measure(text, tokens)
    marks = [] if parameters is None else places(tokens)
    if parameters is not None:
        tokens = put(tokens, parameters)
    try:
        tokens = marked(excepted(topped(text, tokens)))
        statements = sqlglot.Dialect.get_or_raise("postgres").parser().parse(tokens, text)
    except (SqlglotError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _unreadable(text, error, tokens) from None
    found = [s for s in statements if s is not None]
    if not found:
        raise NotAnswerable("There is no question.", hint="Ask, for example, SELECT COUNT(*) FROM …")
    if len(found) > 1:
        raise NotAnswerable(
            "One question at a time: there is more than one statement.",
            hint="Ask them one by one.",
            span=_second(text, tokens),
        )
    tree = found[0]
    if UNKNOWN in (parameters or ()):
        known_places(tree, marks)
    depth, selects = _annotate(tree)
    if depth > MOST_DEPTH:
        raise NotAnswerable(
            "The question is nested too deeply.",
            hint=f"At most {MOST_DEPTH} operations in a row. Put brackets around parts of a longer sum:"
            " (a + b + …) + (c + d + …).",
        )
    if selects > MOST_SELECTS:
        raise NotAnswerable(f"The question has {selects:,} SELECTs.", hint=f"At most {MOST_SELECTS} are read.")
    while isinstance(tree, exp.Subquery) and not any(v for name, v in tree.args.items() if name != "this"):
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        raise NotAnswerable(
            f"Only SELECT is answered, not {_name(tree)}.",
            hint="Ask them one by one. About rows of the same persons: SELECT COUNT(*) FROM (SELECT person FROM a"
            " UNION SELECT person FROM b) AS q; so with INTERSECT and EXCEPT.",
            span=place(tree, text),
        )
    if not isinstance(tree, exp.Select):
        what = next((t.text.upper() for t in tokens if t.token_type is not TokenType.L_PAREN), "that")
        raise NotAnswerable(
            f"Only SELECT is answered, not {what}.", hint=_INSTEAD.get(what, CHANGES), span=place(tree, text)
        )
    return respelled(tree)


def _annotate(tree: exp.Expr) -> tuple[int, int]:
    """Note in every node from where to where it stands, in one pass; how deep the tree is, and how many SELECTs it has.

    A chain of ANDs (or ORs) is deep in the syntax tree and flat in ours, so it counts as one level.
    """
    order, inside = [tree], list[list[exp.Expr]]()
    for node in order:  # which grows: breadth first
        inside.append(list(node.iter_expressions()))
        order += inside[-1]
    depth: dict[int, int] = {}
    for node, inner in zip(reversed(order), reversed(inside), strict=True):  # children before parents
        meta, flat, deepest = node.meta, isinstance(node, exp.And | exp.Or), 0
        start, end = meta.get("start"), meta.get("end")
        end = None if end is None else end + 1
        for n in inner:
            if (found := n.meta.get("from")) is not None:
                start = found if start is None else min(start, found)
                end = n.meta["to"] if end is None else max(end, n.meta["to"])
            deepest = max(deepest, depth[id(n)] + (not (flat and type(n) is type(node))))
        if start is not None and end is not None:
            meta["from"], meta["to"] = start, end
        depth[id(node)] = deepest
    return depth[id(tree)], sum(isinstance(node, exp.Select) for node in order)


def measure(text: str, tokens: list[Token]) -> None:
    """Refuse what would make a parser slow or deep."""
    if len(tokens) > MOST_TOKENS:
        raise NotAnswerable(f"The question has {len(tokens):,} words.", hint=f"At most {MOST_TOKENS:,} are read.")
    depth = run = 0
    for token in tokens:
        kind = token.token_type
        if kind in _NAMES and len(token.text) > LONGEST_NAME:
            raise NotAnswerable(
                f"A name has {len(token.text):,} letters.",
                hint=f"At most {LONGEST_NAME}.",
                span=Span(text, token.start, token.start + LONGEST_NAME),
            )
        depth += (kind in _OPEN) - (kind in _CLOSE and depth > 0)
        run = run + 1 if kind in _PREFIX else 0
        if depth > MOST_NESTING or run > MOST_PREFIXES:
            raise NotAnswerable(
                "The question is nested too deeply.",
                hint=f"At most {MOST_NESTING} levels are read.",
                span=Span(text, token.start, token.end + 1),
            )


def _second(text: str, tokens: list[Token]) -> Span | None:
    """The first word of the second statement: after a semicolon that comes after another word."""
    words = 0
    for before, token in pairwise(tokens):
        ends = before.token_type is TokenType.SEMICOLON
        words += not ends
        if ends and words and token.token_type is not TokenType.SEMICOLON:
            return Span(text, token.start, token.end + 1)
    return None


def place(node: exp.Expr, text: str) -> Span | None:
    """Where in the text a node stands, as far as its parts know; else where what it is a part of stands."""
    found: exp.Expr | None = node
    while found is not None and "from" not in found.meta:
        found = found.parent
    return None if found is None else Span(text, found.meta["from"], found.meta["to"])


def _name(tree: exp.Expr) -> str:
    return tree.key.upper() if not isinstance(tree, exp.Command) else str(tree.this).upper()


def _unreadable(text: str, error: Exception, tokens: list[Token] | None = None) -> NotAnswerable:
    if isinstance(error, RecursionError):
        return NotAnswerable("The question is nested too deeply.", hint=f"At most {MOST_NESTING} levels are read.")
    details: list[dict[str, Any]] = getattr(error, "errors", [])
    span = None
    message = "This is not SQL that can be read (PostgreSQL's dialect)."
    if details:
        first = details[0]
        line, column, marked = first.get("line"), first.get("col"), first.get("highlight") or ""
        if line and column:
            starts = [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]
            end = min(len(text), starts[min(line, len(starts)) - 1] + column)
            span = Span(text, max(0, end - max(1, len(marked))), end)
    hint, where = unreadable(text, tokens or [], None if span is None else span.start)
    if hint is None and "`" in text:
        hint = 'Names stand without backticks, or in double quotes: "the name".'
    hint = hint or "Check the brackets, quotes and the order of the clauses."
    return NotAnswerable(message, hint=hint, span=where or span, reason="syntax")
