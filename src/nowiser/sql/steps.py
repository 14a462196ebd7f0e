"""What is computed from the rows of an answer: post-processing of released numbers, free.

A question releases noisy rows (`Query.outputs`). `Query.after` is a list of steps, each of which makes a table of the
table before; its expressions look at that table by `Shown(i)`, column i. No step can see a row of data: what it is
computed from was released, or could have been.

    Keep      rows for which a condition is true                      WHERE, HAVING, QUALIFY
    Gather    one row for each value of the keys                      GROUP BY, AVG(n), MAX(n)
    Beside    columns computed from other rows, behind the others     RANK() OVER, SUM(n) OVER
    Project   the columns of SELECT
    Sort, Once, Slice                                                 ORDER BY, DISTINCT, LIMIT
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from nowiser.sql.tree import (
    Call,
    Column,
    Exists,
    Expression,
    Grouped,
    Literal,
    Order,
    Output,
    Released,
    Shown,
)

MOST_ROWS = 10_000  # groups of an answer that is computed with further
MOST_VISITS = 1_500_000  # rows that are looked at for windows


@dataclass(frozen=True)
class Total:
    """An aggregate over released rows."""

    function: str  # of `answer/totals.py`
    argument: Expression | None = None  # COUNT(*) if there is none
    condition: Expression | None = None


@dataclass(frozen=True)
class Frame:
    """From which row to which: how far from the current one, None for the end. `peers`: rows of its rank are in it."""

    first: int | None
    last: int | None
    peers: bool = False


WHOLE = Frame(None, None)


@dataclass(frozen=True)
class Window:
    """A value for each row, from the rows of its partition."""

    function: str  # of `answer/windows.py`, or of a Total
    args: tuple[Expression, ...]
    partition: tuple[Expression, ...]
    order: tuple[Order, ...]
    frame: Frame = WHOLE
    condition: Expression | None = None

    def over(self, leaf: Callable[[Expression], Expression | None]) -> "Window":
        """The same window over other leaves."""
        return replace(
            self,
            args=tuple(put(a, leaf) for a in self.args),
            partition=tuple(put(p, leaf) for p in self.partition),
            order=tuple(replace(o, expression=put(o.expression, leaf)) for o in self.order),
            condition=None if self.condition is None else put(self.condition, leaf),
        )


@dataclass(frozen=True)
class Keep:
    condition: Expression


@dataclass(frozen=True)
class Gather:
    keys: tuple[Expression, ...]
    totals: tuple[Total, ...]


@dataclass(frozen=True)
class Beside:
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class Project:
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class Sort:
    order: tuple[Order, ...]


@dataclass(frozen=True)
class Once:
    """Equal rows are shown once."""


@dataclass(frozen=True)
class Slice:
    limit: int | None
    offset: int = 0


Step = Keep | Gather | Beside | Project | Sort | Once | Slice


def visits(steps: tuple[Step, ...], rows: int) -> int:
    """How many rows windows look at, all together, over a table of so many."""
    found = 0
    for step in steps:
        for w in step.windows if isinstance(step, Beside) else ():
            span = rows if w.frame.first is None or w.frame.last is None else w.frame.last - w.frame.first + 1
            found += rows if w.frame == WHOLE else rows * max(0, min(span, rows)) // (1 if w.frame.last != 0 else 2)
    return found


def expressions(step: Any) -> Iterator[Expression]:
    """Every expression of a step, outermost ones only."""
    if isinstance(step, Column | Literal | Call | Grouped | Released | Exists | Shown):
        yield step
    elif isinstance(step, tuple):
        for one in step:
            yield from expressions(one)
    elif is_dataclass(step):
        for one in fields(step):
            yield from expressions(getattr(step, one.name))


def text(step: Any, expression: Callable[[Expression], str]) -> str:
    """A step in one unambiguous line."""
    if isinstance(step, Column | Literal | Call | Grouped | Released | Exists | Shown):
        return expression(step)
    if isinstance(step, tuple):
        return f"[{' '.join(text(one, expression) for one in step)}]"
    if is_dataclass(step):
        inner = " ".join(text(getattr(step, one.name), expression) for one in fields(step))
        return f"({type(step).__name__.lower()} {inner})"
    return repr(step)


def put(e: Expression, leaf: Callable[[Expression], Expression | None]) -> Expression:
    """The same expression with other leaves."""
    found = leaf(e)
    if found is not None:
        return found
    return replace(e, args=tuple(put(a, leaf) for a in e.args)) if isinstance(e, Call) else e
