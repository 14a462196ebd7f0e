"""Other dialects' spellings → PostgreSQL's: one rule each, on the tokens or the syntax tree, before binding.

| written                                      | read as                                          |
|----------------------------------------------|--------------------------------------------------|
| SELECT TOP 10 …                              | SELECT … LIMIT 10                                |
| MEAN(x), AVERAGE(x)                          | AVG(x)                                           |
| VAR(x), VARP(x), STDEVP(x)                   | VAR_SAMP(x), VAR_POP(x), STDDEV_POP(x)           |
| PERCENTILE_CONT(x, p), QUANTILE_CONT(x, p)   | PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x)     |
| COUNT_IF(c), SUM(a > b), AVG(a > b)          | COUNT(*) FILTER (WHERE c), of 1 and 0            |
| IF(c, a, b), IIF(c, a, b)                    | CASE WHEN c THEN a ELSE b END                    |
| ISNULL(x), ISNULL(x, y)                      | x IS NULL, COALESCE(x, y)                        |
| YEAR(d), MONTH(d), DAY(d), QUARTER(d)        | EXTRACT(YEAR FROM d), …                          |
| TRY_CAST(x AS t), DATE(d)                    | CAST(x AS t), which never fails here; as a date  |
| MINUS                                        | EXCEPT                                           |

Every rule keeps the place of what it replaces, so that refusals underline what was written.
"""

from collections.abc import Callable
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from nowiser.errors import NotAnswerable, Span

MARK = " "  # at the end of the name of a function: no analyst can write it
# How long between two dates (`between.py`): how often a unit began, or how many were completed
BEGAN = ("date_diff", "datediff", "datetime_diff")
COMPLETED = ("timestampdiff", "timestamp_diff")


def marked(tokens: list[Token]) -> list[Token]:
    """The names of these functions, marked so that their arguments are read as they stand."""
    names = {name.upper() for name in (*BEGAN, *COMPLETED)}
    found = list(tokens)
    for i, (token, after) in enumerate(pairwise(tokens)):
        called = after.token_type is TokenType.L_PAREN and token.token_type is TokenType.VAR
        if called and token.text.upper() in names:
            found[i] = Token(TokenType.VAR, token.text + MARK, token.line, token.col, token.start, token.end)
    return found


def excepted(tokens: list[Token]) -> list[Token]:
    """`SELECT … MINUS SELECT …` with EXCEPT."""
    found = list(tokens)
    for i, (token, after) in enumerate(pairwise(tokens)):
        minus = token.token_type is TokenType.VAR and token.text.upper() == "MINUS"
        if minus and after.token_type in (TokenType.SELECT, TokenType.L_PAREN):
            found[i] = Token(TokenType.EXCEPT, "EXCEPT", token.line, token.col, token.start, token.end)
    return found


def topped(text: str, tokens: list[Token]) -> list[Token]:
    """`SELECT TOP 10 …` with LIMIT 10 at its end."""
    at = 1 if len(tokens) < 2 or tokens[1].token_type is not TokenType.DISTINCT else 2
    if len(tokens) < at + 3 or tokens[0].token_type is not TokenType.SELECT or tokens[at].text.upper() != "TOP":
        return tokens
    bracket = tokens[at + 1].token_type is TokenType.L_PAREN
    number, after = at + 1 + bracket, at + 2 + 2 * bracket
    if tokens[number].token_type is not TokenType.NUMBER or len(tokens) <= after:
        return tokens
    if tokens[after].text.upper() in ("PERCENT", "WITH"):
        raise NotAnswerable(
            "TOP takes a number of rows, without PERCENT and TIES.",
            hint="Write ORDER BY … LIMIT 10 at the end.",
            span=Span(text, tokens[at].start, tokens[after].end + 1),
        )
    if tokens[after].token_type in (TokenType.COMMA, TokenType.FROM, TokenType.ALIAS):
        return tokens  # a column called top
    top, count = tokens[at], tokens[number]
    limit = Token(TokenType.LIMIT, "LIMIT", top.line, top.col, top.start, top.end)
    rest = tokens[after:]
    end = len(rest)
    while end and rest[end - 1].token_type is TokenType.SEMICOLON:
        end -= 1
    return [*tokens[:at], *rest[:end], limit, count, *rest[end:]]


def respelled(tree: exp.Expr) -> exp.Expr:
    """The same tree in PostgreSQL's spelling."""
    for node in reversed(list(tree.walk())):  # inner ones first
        rule = _RULES.get(type(node)) or (_NAMED.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None)
        if rule is None or node.parent is None:
            continue
        parent, place = node.parent, {k: node.meta[k] for k in ("from", "to") if k in node.meta}
        found = rule(node)
        if found is None:
            continue
        for part in found.walk(prune=lambda n: "from" in n.meta):
            part.meta.update({k: v for k, v in place.items() if k not in part.meta})
        assert node.arg_key is not None
        if node.index is None:
            parent.set(node.arg_key, found)
        else:
            parent.args[node.arg_key][node.index] = found
            parent.set(node.arg_key, parent.args[node.arg_key])
    return tree


def _same(kind: type[exp.Expr]) -> Callable[[exp.Expr], exp.Expr | None]:
    """A function of one argument under another name."""

    def rule(node: exp.Expr) -> exp.Expr | None:
        return kind(this=node.expressions[0]) if len(node.expressions) == 1 else None

    return rule


def _percentile(kind: type[exp.Expr]) -> Callable[[exp.Expr], exp.Expr | None]:
    """F(x, p) or F(p, x): the number is the share."""

    def rule(node: exp.Expr) -> exp.Expr | None:
        two = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.args.get("expression")]
        if len(two) != 2 or any(not isinstance(e, exp.Expr) for e in two):
            return None
        share, of = two if isinstance(two[0], exp.Literal) else reversed(two)
        if not isinstance(share, exp.Literal):
            return None
        order = exp.Order(expressions=[exp.Ordered(this=of, nulls_first=False)])
        return exp.WithinGroup(this=kind(this=share), expression=order)

    return rule


def _count_if(node: exp.Expr) -> exp.Expr | None:
    condition = exp.Where(this=node.this)
    return (
        None
        if isinstance(node.this, exp.Distinct)
        else exp.Filter(this=exp.Count(this=exp.Star()), expression=condition)
    )


def _of_truth(node: exp.Expr) -> exp.Expr | None:
    """SUM and AVG of a comparison: of 1 where it is true, 0 where it is false, nothing where it is unknown."""
    inner = node.this
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Predicate | exp.Connector | exp.Not) or isinstance(inner, exp.SubqueryPredicate):
        return None
    return type(node)(this=exp.Cast(this=inner, to=exp.DataType(this=exp.DType.INT)))


def _if(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node.parent, exp.Case) or node.args.get("true") is None:
        return None  # an arm of CASE
    arm = exp.If(this=node.this, true=node.args["true"])
    return exp.Case(ifs=[arm], default=node.args.get("false"))


def _is_null(node: exp.Expr) -> exp.Expr | None:
    match node.expressions:
        case [one]:
            return exp.Paren(this=exp.Is(this=one, expression=exp.Null()))
        case [one, other]:
            return exp.Coalesce(this=one, expressions=[other])
    return None


def _part(node: exp.Expr) -> exp.Expr | None:
    return exp.Extract(this=exp.var(node.key.upper()), expression=node.this)


def _cast(node: exp.Expr) -> exp.Expr | None:
    return exp.Cast(this=node.this, to=node.args["to"])


def _date(node: exp.Expr) -> exp.Expr | None:
    if any(v for k, v in node.args.items() if k != "this") or node.this is None:
        return None
    return exp.Cast(this=node.this, to=exp.DataType(this=exp.DType.DATE))


Rule = Callable[[exp.Expr], exp.Expr | None]
_NAMED: dict[str, Rule] = {
    "mean": _same(exp.Avg),
    "average": _same(exp.Avg),
    "var": _same(exp.Variance),
    "varp": _same(exp.VariancePop),
    "stdevp": _same(exp.StddevPop),
    "isnull": _is_null,
    "percentile": _percentile(exp.PercentileCont),
    "quantile_cont": _percentile(exp.PercentileCont),
    "quantile_disc": _percentile(exp.PercentileDisc),
}
_RULES: dict[type[exp.Expr], Rule] = {
    exp.PercentileCont: _percentile(exp.PercentileCont),
    exp.PercentileDisc: _percentile(exp.PercentileDisc),
    exp.CountIf: _count_if,
    exp.Sum: _of_truth,
    exp.Avg: _of_truth,
    exp.If: _if,
    exp.Year: _part,
    exp.Quarter: _part,
    exp.Month: _part,
    exp.Day: _part,
    exp.TryCast: _cast,
    exp.Date: _date,
}
