"""Optional packages."""

from importlib import import_module
from typing import Any

from nowiser.errors import Misconfigured


def extra(name: str) -> Any:
    """An optional package. Raises Misconfigured with the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise Misconfigured(
            f"This needs {name}, which is not installed.", hint=f"Install it: pip install 'nowiser[{name}]'."
        ) from None
