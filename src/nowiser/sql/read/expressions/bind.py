"""Expressions of sqlglot → our typed tree. A construct that has no rule cannot be asked.

The rules are in `constructs.py`: one function per construct, and a table of them. Every rule says which arguments of
the syntax node it understands (`only`): a node with anything else set is refused, so that a new version of the parser
cannot slip a meaning past us. The parser has already limited how deep an expression nests.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from nowiser.errors import NotAnswerable, Span
from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.interval import point
from nowiser.sql.read import hints
from nowiser.sql.read.expressions.constants import bare, null, read_as
from nowiser.sql.read.expressions.reasons import ASK_FIRST, NTILES, REASONS, ROW_WINDOWS, SPELLED
from nowiser.sql.read.names import Scope
from nowiser.sql.read.text.parse import place
from nowiser.sql.read.written import written
from nowiser.sql.tree import Call, Expression, Literal, Type

DEEPEST = 240  # functions inside one another; whatever walks the tree needs a few frames for each

# Kinds that stand beside each other, and the one in which they meet: a day begins at midnight
_MEETING = {frozenset({Kind.INTEGER, Kind.REAL}): Kind.REAL, frozenset({Kind.DATE, Kind.TIMESTAMP}): Kind.TIMESTAMP}

Leaf = Callable[[exp.Expr], Expression | None]  # what a clause adds: aggregates, keys, aliases


@dataclass(frozen=True)
class Binder:
    """Binds expressions of one clause. `leaf` may claim a node before the rules do, or refuse it.

    Every node is bound once, however many rules look at it: what came out, a refusal too, is kept. So the work is
    linear in the length of the text.
    """

    scope: Scope
    leaf: Leaf
    _bound: dict[int, tuple[exp.Expr, Expression | NotAnswerable]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # by identity: nodes compare by everything inside them. The node is held so that no other gets its number

    def bind(self, node: exp.Expr | None) -> Expression:
        """The typed expression. Raises NotAnswerable with the place."""
        if not isinstance(node, exp.Expr):  # f() where f(x) is wanted
            raise NotAnswerable("A function without an argument.", hint="Rows are counted by COUNT(*).")
        _, found = self._bound.get(id(node), (node, None))
        if found is None:
            try:
                found = self._shallow(node, self._bind(node))
            except NotAnswerable as refusal:
                found = refusal
            self._bound[id(node)] = node, found
        if isinstance(found, NotAnswerable):
            raise found.with_traceback(None)
        return found

    def _bind(self, node: exp.Expr) -> Expression:
        from nowiser.sql.read.expressions.rules import RULES

        found = self.leaf(node)
        if found is not None:
            return found
        rule = RULES.get(type(node))
        if rule is None:
            raise self.unknown(node)
        return rule(self, node)

    def _shallow(self, node: exp.Expr, found: Expression) -> Expression:
        """Columns of sub-selects stand for expressions, so a tree may be deeper than its text."""
        if isinstance(found, Call) and found.depth > DEEPEST:
            raise self.refuse(
                node, "The question is nested too deeply.", f"At most {DEEPEST} functions inside one another."
            )
        return found

    def quietly(self, node: exp.Expr) -> Expression | None:
        """The same; None where it cannot be read."""
        try:
            return self.bind(node)
        except NotAnswerable:
            return None

    def call(self, function: str, node: exp.Expr, *args: Expression) -> Expression:
        """A call of an allowed function, at the place of the node."""
        if function in ("and", "or", "not"):
            args = tuple(map(truth, args))
        try:
            return functions.call(function, args, self.place(node))
        except NotAnswerable as refusal:
            wrong = next((a.type.kind for a in args if a.type.kind is not Kind.BOOLEAN), None)
            if function in ("and", "or", "not") and wrong is not None:
                refusal.hint = hints.condition(wrong)
            refusal.hint = refusal.hint or hints.mismatch(args)
            raise

    def place(self, node: exp.Expr) -> Span | None:
        return place(node, self.scope.text)

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> NotAnswerable:
        return NotAnswerable(message, hint=hint, span=self.place(node))

    def only(self, node: exp.Expr, *known: str) -> None:
        """Refuse a node that carries more than we understand."""
        for name, value in node.args.items():
            if name not in known and value not in (None, False, [], ()):
                word = written(node, self.scope.text)
                if name in hints.ARGUMENTS:
                    raise self.refuse(node, f"{word} with {hints.words(name)} is not answered.")
                raise self.refuse(node, f"{word} is not answered with so many arguments, or in this form.")

    def unknown(self, node: exp.Expr) -> NotAnswerable:
        if isinstance(node, exp.Exists) or (isinstance(node, exp.Query) and isinstance(node.parent, exp.In)):
            return self.refuse(
                node,
                "Whether other rows exist is not answered here: EXISTS and IN (SELECT …) stand in WHERE, with AND.",
                "Or join with them, one row per key: LEFT JOIN (SELECT key, COUNT(*) AS n FROM … GROUP BY key) AS s"
                " ON s.key = …, and ask for s.n IS NULL or s.n IS NOT NULL wherever a condition stands.",
            )
        if isinstance(node, exp.All):
            return self.refuse(
                node,
                "ALL (SELECT …) is not answered.",
                "x > ALL (SELECT y …) is x > (SELECT MAX(y) …), about the same person.",
            )
        if isinstance(node, exp.Subquery | exp.Select | exp.Any):
            return self.refuse(node, "A question inside a condition is not answered.", ASK_FIRST)
        if isinstance(node, exp.Parameter | exp.Placeholder):
            return self.refuse(node, "A parameter has no value here.", "Write the value itself.")
        if isinstance(node, exp.Window):
            instead = NTILES if isinstance(node.this, exp.Ntile) else ROW_WINDOWS
            return self.refuse(node, "Window functions look at single rows and are not answered here.", instead)
        if type(node) in hints.EXPRESSIONS:
            return self.refuse(node, *hints.EXPRESSIONS[type(node)])
        if not isinstance(node, exp.Func):
            return self.refuse(node, "This expression is not answered.", "The reference lists everything that is.")
        name = node.name if isinstance(node, exp.Anonymous) else spelled(node)
        name, word = SPELLED.get(name.lower(), name), written(node, self.scope.text)
        if name.lower() in REASONS:
            why, instead = REASONS[name.lower()]
            return self.refuse(node, f"{word} is not answered. {why}", instead)
        if isinstance(node, exp.AggFunc):
            known = "COUNT, SUM, AVG, VARIANCE, STDDEV, CORR, MEDIAN, MIN, MAX are, in SELECT."
            return self.refuse(node, f"{word} is not answered here.", known)
        if word == "This":  # an operator
            return self.refuse(node, "This operator is not answered.", "The reference lists everything that is.")
        return self.refuse(node, f"{word} is not on the list of allowed functions.", hints.function(word))

    # -- kinds that meet ---------------------------------------------------------------------------------

    def meet(self, *args: Expression) -> tuple[Expression, ...]:
        """The same expressions in one kind: NULL and quoted constants take the kind of what they stand beside."""
        kinds = {a.type.kind for a in args if not bare(a)}
        kind = _MEETING.get(frozenset(kinds)) or (next(iter(kinds)) if len(kinds) == 1 else None)
        return args if kind is None else tuple(self.into(a, kind) for a in args)

    def into(self, expression: Expression, kind: Kind) -> Expression:
        if isinstance(expression, Literal):
            if expression.value is None:
                return null(kind, expression.span)
            if isinstance(expression.value, str) and kind is not Kind.TEXT:
                return read_as(expression, kind)
        if kind is Kind.TIMESTAMP and expression.type.kind is Kind.DATE:
            return functions.call("date_to_timestamp", (expression,), expression.span)
        return self.real(expression) if kind is Kind.REAL else expression

    def real(self, expression: Expression) -> Expression:
        """A whole number as a real; anything else as it is."""
        if expression.type.kind is not Kind.INTEGER:
            return expression
        if isinstance(expression, Literal) and isinstance(expression.value, int):
            value = float(expression.value)
            return Literal(value, Type(Kind.REAL, bounds=point(Fraction(value))), expression.span)
        return functions.call("to_real", (expression,), expression.span)


def truth(e: Expression) -> Expression:
    """A whole number as a condition: whether it is not zero."""
    if e.type.kind is not Kind.INTEGER:
        return e
    return functions.call("<>", (e, Literal(0, Type(Kind.INTEGER, bounds=point(0)))), e.span)


def spelled(node: exp.Expr) -> str:
    """What a function is called in SQL."""
    return node.sql_name() if isinstance(node, exp.Func) else node.key
