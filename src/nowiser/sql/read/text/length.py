"""How long a question becomes when it is written out for an engine: columns of sub-selects stand for expressions.

One expression is held short where it is built (`functions.HEAVIEST`). Here all expressions of a question together are,
so that hundreds of aggregates of a long column are refused before anything is planned, printed or sent.
"""

from collections.abc import Iterator

from nowiser.errors import NotAnswerable
from nowiser.sql.functions import weigh
from nowiser.sql.steps import expressions
from nowiser.sql.tree import (
    Exists,
    Expression,
    Filter,
    Join,
    PerPerson,
    Query,
    Relation,
    Scan,
    Union,
    Windowed,
    existing,
)

LONGEST = 1_000_000  # letters, about


def refuse_long(query: Query) -> None:
    """Raises NotAnswerable where the question would be longer than an engine should be asked to read."""
    length = sum(weigh(e) for e in every_expression(query))
    if length > LONGEST:
        raise NotAnswerable(
            f"Written out for an engine this would be about {length:,} letters long: columns of sub-selects stand for"
            " what they are computed from, each time they are named.",
            hint=f"At most {LONGEST:,}. Ask for fewer results at once.",
        )


def every_expression(query: Query) -> Iterator[Expression]:
    """Everything that is computed anywhere in a question."""
    yield from query.keys
    for a in query.aggregates:
        yield from (e for e in (a.argument, a.second, a.condition) if e is not None)
    yield from (o.expression for o in query.outputs)
    yield from (o.expression for o in query.order)
    for step in query.after:
        yield from expressions(step)
    if query.having is not None:
        yield query.having
    yield from _of(query.relation)


def _of(relation: Relation) -> Iterator[Expression]:
    match relation:
        case Scan():
            return
        case Filter():
            yield from _of(relation.source)
            yield from _condition(relation.condition)
        case Join():
            yield from _of(relation.left)
            yield from _of(relation.right)
            yield from _condition(relation.condition)
        case PerPerson():
            yield from _of(relation.source)
            yield from (e for _, e in relation.keys)
            yield from (e for _, f in relation.folds for e in (f.argument, f.condition) if e is not None)
        case Windowed():
            yield from _of(relation.source)
            yield from (e for _, w in relation.windows for e in w.expressions)
        case Union():
            for source, arm in relation.branches:
                yield from _of(source)
                yield from arm


def _condition(condition: Expression) -> Iterator[Expression]:
    yield condition
    for looked in existing(condition):
        yield from _looked(looked)


def _looked(exists: Exists) -> Iterator[Expression]:
    yield from _of(exists.relation)
    yield from _condition(exists.condition)
