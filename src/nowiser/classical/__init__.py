"""Classical synthetic rows, WITHOUT differential privacy: modelled on real rows without noise, judged by attacks.

The package is itself what it does: `nowiser.classical("people.csv", …)` is `nowiser.classical.release.classical`.
`release` is the flow; a method (`sequential`, `copula`) draws columns; `values` puts them back into their kinds.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package one can call."""

    def __call__(self, table: Any, **options: Any) -> Any:
        """See `nowiser.classical.release.classical`."""
        from nowiser.classical.release import classical

        return classical(table, **options)


sys.modules[__name__].__class__ = _Callable
