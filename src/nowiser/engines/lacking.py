"""A question an engine cannot compute exactly as defined is refused there, with the reason, before anything is run."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from nowiser.engines.base import Engine
from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Call, Type


def refuse_lacking(tally: Tally, engine: Engine) -> None:
    """Raises NotAnswerable for the first call the engine has no faithful spelling of."""
    for call in calls(tally):
        if call.function not in engine.capabilities.functions:
            reason: str | None = "it is not on the list of functions that mean there what they mean here"
        else:
            reason = engine.capabilities.lacks(call)
        if reason is not None:
            raise NotAnswerable(
                f"{call.function.upper()} is not answered on {engine.name}: {reason}.",
                hint="See `docs/reference/engines.md` for what each engine computes.",
                span=call.span,
            )


def calls(node: Any) -> Iterator[Call]:
    """Every call inside a tally, whatever relations it is made of."""
    left = [node]
    while left:
        here = left.pop()
        if isinstance(here, tuple):
            left.extend(reversed(here))
            continue
        if isinstance(here, Call):
            yield here
        left.extend(getattr(here, name) for name in _parts(here.__class__))


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """Where calls may stand in a node, last first: not in declarations, and not in plain values."""
    if not is_dataclass(kind) or issubclass(kind, schema.Table | schema.Column | Type):
        return ()
    return tuple(f.name for f in reversed(fields(kind)))
