"""The red team: what attackers really reach, held against what was promised.

The package is itself a question: `nowiser.attacks()` lists every attack there is. An attack, one file of a room
(`tables`, `sparse`, `tables_published`, `gateways`), sees a `View`; a game (`victims.py`, `rows.py`) makes it and
keeps the truth; `harness.py` runs and scores; `assess.py` is the flow.
"""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package one can call: the question the package answers is its own name."""

    def __call__(self) -> tuple[Mapping[str, Any], ...]:
        """Every attack: name, goal, what it is against, what it knows, needs, and where it is from."""
        from nowiser.attacks.attack import attacks

        return attacks()


sys.modules[__name__].__class__ = _Callable
