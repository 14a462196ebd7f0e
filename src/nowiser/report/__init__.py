"""How results are told: words, pictures, files. Charts are imported when first used."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "charts":
        return import_module("nowiser.report.charts")
    raise AttributeError(f"module 'nowiser.report' has no attribute {name!r}")
