"""Conditions on values that are not among the declared ones: refused, since no row can have them.

A typing error (`faculty = 'Math'` for math) would otherwise be paid for and answered with nothing. Decided from the
policy and the text alone. Of public tables, whose answers are free, nothing is refused; nor is a list of which some
values are declared (`IN ('AIR', 'AIR REG')`, as query 19 of TPC-H has it).
"""

from collections.abc import Iterator
from difflib import get_close_matches

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.sql.bound.bounding import shown_end
from nowiser.sql.tree import Call, Column, Expression, Grouped, Literal, Query, computed, parts

COMPARED = ("=", "<>", "in")
FEW = 12  # values that a message lists


def refuse_undeclared(query: Query, policy: Policy) -> None:
    """Raise NotAnswerable where a column is compared with a value that is not declared for it."""
    for e in _expressions(query):
        for part in parts(e):
            if isinstance(part, Call) and part.function in COMPARED:
                found = [_undeclared(*pair, policy) for pair in _pairs(part, query)]
                if found and found[0] is not None and all(found):
                    raise found[0]


def _expressions(query: Query) -> Iterator[Expression]:
    yield from computed(query.relation)
    yield from query.keys
    for aggregate in query.aggregates:
        yield from (e for e in (aggregate.argument, aggregate.second, aggregate.condition) if e is not None)
    if query.having is not None:
        yield query.having


def _pairs(call: Call, query: Query) -> Iterator[tuple[Column, Literal]]:
    """The columns of a comparison with the constants they are compared with."""
    args = [query.keys[a.index] if isinstance(a, Grouped) and a.index < len(query.keys) else a for a in call.args]
    for column in (a for a in args if isinstance(a, Column) and a.derived is None):
        constants = [a for a in args if isinstance(a, Literal) and a.value is not None]
        if any(column.declared.domain and a.value in column.declared.domain for a in constants):
            continue  # one of a list is declared: the others find nothing, which is known
        yield from ((column, a) for a in constants)


def _undeclared(column: Column, literal: Literal, policy: Policy) -> NotAnswerable | None:
    """The refusal of one value; None where some row may have it."""
    declared, value, at = column.declared, literal.value, literal.span or column.span
    table = policy.table(column.table)
    if table is None or table.is_public or value is None:
        return None
    if declared.domain is not None:
        if value in declared.domain:
            return None
        message = f"{_said(value)} is not among the declared values of {column.attribute}."
        return NotAnswerable(message, hint=_suggestion(value, declared.domain), span=at)
    if declared.low is None or declared.high is None or not isinstance(value, int | float):
        return None
    if declared.low <= value <= declared.high:
        return None
    low, high = (shown_end(end, declared.kind) for end in (declared.low, declared.high))
    message = f"{column.attribute} is declared from {low} to {high}: no row has another value."
    return NotAnswerable(message, hint="Values outside count as the nearer end.", span=at)


def _said(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def _suggestion(value: object, domain: tuple[object, ...]) -> str:
    listed = ", ".join(_said(v) for v in domain[:FEW]) + (", …" if len(domain) > FEW else "")
    folded = {str(v).casefold().strip(): v for v in domain}
    near = get_close_matches(str(value).casefold().strip(), folded, 1)
    return f"Did you mean {_said(folded[near[0]])}? Declared: {listed}." if near else f"Declared: {listed}."
