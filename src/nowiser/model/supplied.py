"""Functions of packages above the model that its values offer as methods: an average, a picture in a notebook.

The model imports nothing above it. The public package, which knows where every name lives, supplies them when it is
imported (`nowiser/__init__.py`); their modules are imported when they are first called.
"""

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
_LOADERS: dict[str, Callable[[], Function]] = {}


def supply(name: str, load: Callable[[], Function]) -> None:
    """Offer under a name the function that `load` imports."""
    _LOADERS[name] = load


def supplied(name: str) -> Function:
    """The function that was supplied under this name."""
    return _LOADERS[name]()
