"""What an expression means, in Python: the reference for engines, and how results are computed after the noise."""

from collections.abc import Callable
from typing import Any

from nowiser.sql import functions
from nowiser.sql.tree import Call, Expression, Literal

Lookup = Callable[[Expression], Any]  # the value of a Column, Grouped or Released


def evaluate(expression: Expression, lookup: Lookup) -> Any:
    """The value on one row. Never raises for any row: every function is total."""
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Call):
        return functions.apply(expression.function, [evaluate(a, lookup) for a in expression.args])
    return lookup(expression)
