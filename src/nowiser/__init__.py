"""Publish what the data says. Leave attackers no wiser.

Names are imported when first used, so that `import nowiser` and the command line start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name → the module it lives in
_HOMES: dict[str, str] = {}

if TYPE_CHECKING:
    pass

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (the names are strings)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'nowiser' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
