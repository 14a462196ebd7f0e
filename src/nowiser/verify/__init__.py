"""Programs that claim to be private: prove the claim, refute it, or say that neither was possible.

The package is itself what it does: `nowiser.verify(f, private="q", neighbours="all")` is `verify.verify.verify`.

Begin with `verify`, the flow on a page. `language` reads and runs programs, `symbolic` follows them on symbols,
`bounded` proves for lists of a given length, `everyn` for every length, `refute` finds two inputs and an event, `check`
accepts or rejects certificates and shares nothing with the others, `auditor` looks at black boxes. `samples` is noise.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package one can call."""

    def __call__(self, program: Any, *arguments: Any, **options: Any) -> Any:
        """See `nowiser.verify.verify.verify`."""
        from nowiser.verify.verify import verify

        return verify(program, *arguments, **options)


sys.modules[__name__].__class__ = _Callable
