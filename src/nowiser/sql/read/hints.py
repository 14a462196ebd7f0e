"""What was probably meant: hints that speak SQL's words, never the parser's. Nothing here looks at data."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import zip_longest

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from nowiser.errors import Span
from nowiser.model.schema import Kind
from nowiser.policy.catalogue import named as in_quotes
from nowiser.sql.tree import Call, Column, Expression, Literal

# Functions that can be asked for by name: what a misspelled one may have meant.
ASKED = (
    "count", "sum", "avg", "median", "min", "max", "variance", "var_samp", "var_pop", "stddev", "stddev_samp",
    "stddev_pop", "corr", "covar_pop", "covar_samp", "percentile_cont", "percentile_disc", "abs", "ceil", "floor",
    "round", "trunc", "sqrt", "ln", "log", "exp", "power", "sign", "mod", "coalesce", "nullif", "greatest", "least",
    "lower", "upper", "length", "trim", "ltrim", "rtrim", "substring", "left", "right", "replace", "position", "concat",
    "extract", "date_trunc", "date_part", "date_diff", "datediff", "timestampdiff", "to_char", "width_bucket",
)  # fmt: skip
_MARKS = "‘’‚“”„´`«»"
_QUOTES = re.compile(f"[{_MARKS}\"']")
_TRUE, _FALSE = {"yes", "y", "on", "wahr", "ja", "true", "1"}, {"no", "n", "off", "falsch", "nein", "false", "0"}
_YES = (_TRUE | _FALSE) - {"0", "1"}
TRUTH = "Write x, NOT x, or x = TRUE, without quotes."

# The parser's name of an argument → what the analyst wrote
ARGUMENTS = {
    "sample": "TABLESAMPLE",
    "catalog": "the name of a database",
    "pivots": "PIVOT",
    "version": "a version",
    "joins": "a JOIN inside",
    "hints": "a hint",
    "ordinality": "WITH ORDINALITY",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "distinct": "DISTINCT",
    "having_max": "HAVING MAX",
    "nulls": "IGNORE NULLS",
    "match_condition": "MATCH_CONDITION",
    "unnest": "UNNEST",
    "with_": "WITH",
    "by_name": "BY NAME",
    "only": "ONLY",
    "when": "a version",
    "format": "FORMAT",
    "changes": "CHANGES",
    "rows_from": "ROWS FROM",
    "partition": "PARTITION",
    "exclude": "EXCLUDE",
    "except_": "EXCEPT",
    "replace": "REPLACE",
    "rename": "RENAME",
    "rollup": "ROLLUP",
    "cube": "CUBE",
    "grouping_sets": "GROUPING SETS",
    "all": "ALL",
    "totals": "TOTALS",
    "with_fill": "WITH FILL",
    "spec": "a frame",
    "partition_by": "PARTITION BY",
}
# Clauses of a SELECT
CLAUSES = {
    "kind": "SELECT AS",
    "hint": "A hint of an engine",
    "operation_modifiers": "A word between SELECT and its columns",
    "windows": "WINDOW",
    "laterals": "LATERAL",
    "locks": "FOR UPDATE",
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
    "pivots": "PIVOT",
    "cluster": "CLUSTER BY",
    "sort": "SORT BY",
    "distribute": "DISTRIBUTE BY",
    "sample": "TABLESAMPLE",
    "into": "INTO",
    "qualify": "QUALIFY",
    "expressions": "This SELECT",
    "joins": "JOIN",
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "prewhere": "PREWHERE",
    "settings": "SETTINGS",
    "format": "FORMAT",
    "options": "OPTION",
    "exclude": "EXCLUDE",
    "with_": "WITH",
}
# Expressions that are no functions
EXPRESSIONS: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.ArrayOverlaps: ("&& is not answered.", "Write AND."),
    exp.Tuple: ("A list in brackets is not answered here.", "Rows compare with = and IN: (a, b) = (1, 2)."),
    exp.Distinct: ("DISTINCT is not answered here.", "COUNT(DISTINCT x) is."),
    exp.Star: ("* is not answered here.", "Name a column."),
    exp.Array: ("A list is not answered here.", "Write x IN ('a', 'b')."),
    exp.Contains: ("CONTAINS is not answered.", "Write x LIKE '%a%'."),
    exp.StartsWith: ("STARTS_WITH is not answered.", "Write x LIKE 'a%'."),
    exp.DateSub: (
        "DATE_SUB is not answered.",
        "Write a - INTERVAL '3 months'. Between two dates: TIMESTAMPDIFF(YEAR, a, b) or DATE_DIFF('year', a, b).",
    ),
    exp.DateAdd: ("DATE_ADD is not answered.", "Write a + INTERVAL '3 months'."),
    exp.MonthsBetween: (
        "MONTHS_BETWEEN is not answered: databases cut months into different parts.",
        "TIMESTAMPDIFF(MONTH, b, a) counts completed months, (a - b) / 30.4375 is a fraction of days.",
    ),
    exp.DecodeCase: ("DECODE is not answered.", "Write CASE x WHEN 1 THEN 'a' ELSE 'b' END."),
    exp.Nvl2: ("NVL2 is not answered.", "Write CASE WHEN x IS NOT NULL THEN a ELSE b END."),
}


def words(name: str) -> str:
    """An argument of the parser in the words of SQL."""
    return ARGUMENTS.get(name, "such a clause")


def clause(name: str) -> str:
    return CLAUSES.get(name, "This clause")


def named(names: Iterable[str]) -> str:
    return f"There are {', '.join(map(_quoted, names))}."


def near(name: str, names: Sequence[str]) -> str:
    """The name that was probably meant, or all there are. `salary-class` without quotes is read as `salary`."""
    folded = {n.lower(): n for n in names}
    begun = [n for n in folded if n.startswith(name.lower()) and _quoted(n) != n]
    found = get_close_matches(name.lower(), list(folded), 1) or begun
    return f"Did you mean {_quoted(folded[found[0]])}?" if found else named(names)


def _quoted(name: str) -> str:
    """A name in quotes where it needs them; without, capitals do not matter."""
    return name if in_quotes(name.lower()) == name.lower() else in_quotes(name)


def function(name: str) -> str:
    """About a function that is not on the list."""
    found = get_close_matches(name.lower(), ASKED, 1, 0.7)
    return f"Did you mean {found[0].upper()}?" if found else "The reference lists every function that is."


def column(node: exp.Column, names: Sequence[str], columns: Sequence[Expression], beside: Expression | None) -> str:
    """About a name that is no column. `beside`: what it is compared with."""
    written = node.name
    plain = _QUOTES.sub("", written)
    texts = [str(v) for c in columns if isinstance(c, Column) for v in c.declared.domain or () if isinstance(v, str)]
    alike = [t for t in texts if t.lower() == plain.lower()]
    meant = next((t for t in (plain, *alike, *get_close_matches(plain, texts, 1, 0.8)) if t in texts), None)
    if written.lower() in ("count", "sum", "avg", "min", "max", "median"):
        return f"{written.upper()} takes brackets: {written.upper()}({'*' if written.lower() == 'count' else 'x'})."
    if written.lower() in ("unique", "top"):
        return "Write DISTINCT." if written.lower() == "unique" else "Write LIMIT 10 at the end."
    if (result := _result(node)) is not None:
        return result
    if beside is not None and beside.type.kind is Kind.BOOLEAN and plain.lower() in _YES:
        return TRUTH
    if meant is not None and not isinstance(node.parent, exp.Like | exp.ILike):
        return f"Did you mean the text {_text(meant)}? {named(names)}"
    if any(m in written for m in _MARKS):
        return f"Texts stand in straight single quotes: {_text(plain)}."
    if beside is not None and beside.type.kind is Kind.TEXT and not get_close_matches(written, names, 1):
        return f"Did you mean the text {_text(plain)}? {named(names)}"
    return near(written, names)


def _result(node: exp.Column) -> str | None:
    """Whether it names a column of the answer, which conditions on rows do not know."""
    where, select = node.find_ancestor(exp.Where), node.find_ancestor(exp.Select)
    if where is None or select is None or where.parent is not select:
        return None
    for output in select.expressions:
        if isinstance(output, exp.Alias) and output.alias.lower() == node.name.lower():
            if output.find(exp.AggFunc):
                return f"{node.name} is a result: write the condition in HAVING, after GROUP BY."
            return f"{node.name} is named in SELECT only: write its expression here, too."
    return None


def compared(node: exp.Expr) -> exp.Expr | None:
    """The column that a node is compared with."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Tuple):
        parent = parent.parent
    if not isinstance(parent, exp.Predicate | exp.In | exp.Like | exp.ILike | exp.Between):
        return None
    other = parent.this if node is not parent.this else parent.args.get("expression")
    return other if isinstance(other, exp.Column) else None


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def mismatch(args: Sequence[Expression]) -> str | None:
    """About arguments whose kinds do not meet."""
    kinds = {a.type.kind for a in args}
    numbers = kinds & {Kind.INTEGER, Kind.REAL}
    truth = next((a.value for a in args if isinstance(a, Literal) and isinstance(a.value, bool)), None)
    held = next((a for a in args if isinstance(a, Column) and a.type.kind is not Kind.BOOLEAN), None)
    if truth is not None and held is not None and (numbers or held.type.kind is Kind.TEXT):
        return _as_truth(held, truth)
    if Kind.BOOLEAN in kinds and numbers:
        if any(isinstance(a, Call) and a.function in ("<", "<=", ">", ">=", "=") for a in args):
            return "Write both conditions: 3 < x AND x < 5."
        return f"{TRUTH} As a number: CAST(x AS INTEGER)."
    if Kind.TEXT in kinds and numbers:
        given = next((a.value for a in args if isinstance(a, Literal) and a.type.kind in numbers), None)
        return f"Texts stand in single quotes: {_text(str(3 if given is None else given))}."
    if kinds & {Kind.DATE, Kind.TIMESTAMP} and len(kinds) > 1:
        return "Write dates as DATE '2024-12-31'."
    return None


def _as_truth(column: Column, truth: bool) -> str:
    """How a column of numbers or texts is compared with what was written as TRUE or FALSE."""
    name = _quoted(column.declared.name)
    if column.type.kind is not Kind.TEXT:
        return f"{name} holds numbers: write {name} = {int(truth)}."
    texts = [str(v) for v in column.declared.domain or ()]
    meant = next((t for t in texts if t.lower() in (_TRUE if truth else _FALSE)), texts[0] if texts else "yes")
    return f"{name} holds texts: write {name} = {_text(meant)}."


def spaced(text: str, names: Iterable[str]) -> tuple[str, Span] | None:
    """A name that needs quotes and stands in a text without."""
    for name in sorted((n for n in names if " " in n), key=len, reverse=True):
        found = re.search(rf"(?<![\w\"']){re.escape(name)}(?![\w\"'])", text, re.IGNORECASE)
        if found is not None:
            return f"Names with spaces stand in double quotes: {in_quotes(name)}.", Span(text, *found.span())
    return None


def condition(kind: Kind) -> str:
    """How something that is neither true nor false becomes a condition."""
    if kind is Kind.TEXT:
        return "Compare it with a text: x = 'a'."
    return "Compare it with something: x > 0."


def unreadable(text: str, tokens: Sequence[Token], at: int | None) -> tuple[str | None, Span | None]:
    """What is probably wrong with a text that is not SQL, and where. `at`: where the parser stopped."""
    for token, after in zip_longest(tokens, tokens[1:]):
        span, word = Span(text, token.start, token.end + 1), token.text.upper()
        follows = "" if after is None else after.text.upper()
        if token.token_type is TokenType.L_BRACKET and (
            token is tokens[0] or text[token.start - 1 : token.start] in " ,.(\n"
        ):
            return 'Names stand without brackets, or in double quotes: "the name".', span
        if word in ("GROUP", "ORDER") and follows and follows != "BY":
            return f"Write {word} BY.", span
        if word == "*" and follows == "*":
            return "A power is x ^ 2 or POWER(x, 2).", span
        if word == "FROM" and after is None:
            return "Name a table after FROM.", span
        if word in ("WHERE", "HAVING", "AND", "OR", "NOT") and (
            after is None or follows in ("GROUP", "ORDER", "LIMIT", ";")
        ):
            return f"A condition is missing after {word}.", span
        if word == "TOP":
            return "Write LIMIT 10 at the end.", span
        if word == "UNIQUE":
            return "Write DISTINCT.", span
        if word == "CONTAINS":
            return "Write x LIKE '%a%'.", span
    opened = sum(t.token_type is TokenType.L_PAREN for t in tokens) - sum(
        t.token_type is TokenType.R_PAREN for t in tokens
    )
    if opened:
        return f"A bracket is {'not closed' if opened > 0 else 'closed that was not opened'}.", None
    stop = next((i for i, t in enumerate(tokens) if at is not None and t.start <= at <= t.end), None)
    if stop is not None and stop > 1 and tokens[stop].token_type is TokenType.L_PAREN:
        name = tokens[stop - 1]
        if name.text.lower() in ASKED:
            return f"Is a comma missing before {name.text.upper()}?", Span(text, name.start, name.end + 1)
    return None, None
