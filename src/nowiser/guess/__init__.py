"""What an attacker can learn: sound ceilings, the costs that keep them within a limit, and what is known beside.

The package is itself the question: `nowiser.guess(prior, goal, slope=1.0)` is `nowiser.guess.ask.guess`.

Begin with `ask` and `ceiling`: they split a question into parts. Then, by what a part is about, `labels`, `number` (one
number) and `joint` (attributes that depend on each other, maps); `product` joins independent parts. `bracket` goes back
from a gain to a cost. Above them `budget` says what was told so far, `average` what attackers reach on average,
`correlated` what other people's records tell, `beside` what else is known, and `compose` adds up costs.
"""

import sys
from types import ModuleType
from typing import Any

from nowiser.guess.ask import guess


class _Callable(ModuleType):
    """A package one can call: the question the package answers is its own name."""

    def __call__(
        self,
        prior: Any,
        goal: Any,
        *,
        slope: float | None = None,
        jump: float | None = None,
        victim: Any = None,
        costs: Any = None,
    ) -> Any:
        """The ceiling on an attacker's success at `goal`, over all mechanisms of this cost and all their outputs.

        See `nowiser.guess.ask.guess`.
        """
        return guess(prior, goal, slope=slope, jump=jump, victim=victim, costs=costs)


sys.modules[__name__].__class__ = _Callable
