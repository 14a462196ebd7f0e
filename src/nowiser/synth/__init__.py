"""Rows of nobody: tables drawn from a noisy model, under the same promise as answers and releases.

The package is itself what it does: `nowiser.synth("stays", spend="30%")` is `nowiser.synth.ask.synth`.

Begin with `synth`, the flow on a page. `wanted` checks what is asked, `meter` is the purse that noisy counts and
choices are paid from, `counts` the only place that sees rows. `methods` say what is counted, one file each; `tree`
holds the distribution: cliques, messages, the fit, and the drawing of rows. `model` is what is kept.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package one can call."""

    def __call__(self, table: str | None = None, *, policy: str | Path | None = None, **options: Any) -> Any:
        """See `nowiser.synth.ask.synth`."""
        from nowiser.synth.ask import synth

        return synth(table, policy=policy, **options)


sys.modules[__name__].__class__ = _Callable
