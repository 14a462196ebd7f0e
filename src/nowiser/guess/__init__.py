"""What an attacker can learn: tight ceilings, calibration, composition, and other people's bounds.

The package is itself the question: `nowiser.guess(prior, goal, slope=1.0)` is `nowiser.guess.ask.guess`.
Heavy parts are imported when first used.

Begin with `ask` and `ceiling`: they choose which theorem applies. Then, by what the question is about,
`number` (goals on one number, whose priors are in `density`), `parts` (several independent attributes),
`grid` (dependent ones, by linear programme), `plane` and `solid` (two, three and more continuous ones);
`calibrate` goes back from a gain to a cost, `average` says what attackers reach on average, `budget` what was told
so far, `correlated` what other people's records tell.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package one can call: the question the package answers is its own name."""

    def __call__(
        self,
        prior: Any,
        goal: Any,
        *,
        slope: float = 0.0,
        jump: float = 0.0,
        victim: Any = None,
        costs: Any = None,
    ) -> Any:
        """The ceiling on an attacker's success at `goal`, over all mechanisms of this cost and all their outputs.

        See `nowiser.guess.ask.guess`.
        """
        from nowiser.guess.ask import guess

        return guess(prior, goal, slope=slope, jump=jump, victim=victim, costs=costs)


sys.modules[__name__].__class__ = _Callable
