"""A question an engine cannot compute exactly as defined is refused there, with the reason, before anything is run."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from nowiser.engines.base import Engine
from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.sql.plan import Tally
from nowiser.sql.tree import Call


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
    if isinstance(node, schema.Table | schema.Column):
        return
    if isinstance(node, Call):
        yield node
    if isinstance(node, tuple):
        for item in node:
            yield from calls(item)
    elif is_dataclass(node):
        for f in fields(node):
            yield from calls(getattr(node, f.name))
