"""What there is to choose from, found by looking into the folders: adding a file adds a choice.

| folder      | a module exposes          | chosen by                                    |
|-------------|---------------------------|----------------------------------------------|
| `models/`   | `MODEL`, a dataclass      | `models:` of a recipe, flags of `publish`     |
| `losses/`   | `LOSS`                    | `loss:` of a recipe                           |
| `methods/`, `perturb/` | `METHOD`, a dataclass, or `METHODS`, several | `steps:` of a recipe |
| `risk/`     | `MEASURE`: (MicroTable, Roles) → mapping, and `TITLE` | `nowiser risk` runs them all |
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from nowiser.errors import Misconfigured

HALF = 0.5  # the gs-factor under which generalising and suppressing count alike


@cache
def _found(folder: str, attribute: str) -> tuple[Any, ...]:
    package_name = f"nowiser.microdata.{folder}"
    if importlib.util.find_spec(package_name) is None:
        return ()
    package = importlib.import_module(package_name)
    found: list[Any] = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        if info.name.endswith("_kernel"):
            continue  # compiled insides: importing them imports a compiler
        module = importlib.import_module(f"{package_name}.{info.name}")
        found.extend([getattr(module, attribute)] if hasattr(module, attribute) else [])
        found.extend(getattr(module, f"{attribute}S", ()))
    return tuple(found)


def models() -> dict[str, Any]:
    return {m.name: m for m in _found("models", "MODEL")}


def losses() -> dict[str, Any]:
    return {loss.name: loss for loss in _found("losses", "LOSS")}


def loss(name: str, gs: float, weights: Sequence[float]) -> Any:
    """The loss with ARX's gs-factor and a weight per attribute (none: all alike), which only ARX's losses know."""
    found = losses()[name]
    if gs == HALF and not weights:
        return found
    if not hasattr(found, "weighing"):
        able = ", ".join(n for n, each in losses().items() if hasattr(each, "weighing"))
        raise Misconfigured(f"the loss {name!r} knows no gs_factor and no importance", hint=f"These do: {able}.")
    return found.weighing(gs, weights)


def methods() -> dict[str, Any]:
    return {m.name: m for folder in ("methods", "perturb") for m in _found(folder, "METHOD")}


def measures() -> dict[str, Any]:
    """Risk measures by title; each is called with (table, roles) and answers a mapping of plain values."""
    package = "nowiser.microdata.risk"
    if importlib.util.find_spec(package) is None:
        return {}
    folder = importlib.import_module(package)
    out = {}
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package}.{info.name}")
        if hasattr(module, "MEASURE"):
            out[module.TITLE] = module.MEASURE
    return out


def make(kind: str, choices: Mapping[str, Any], name: str, options: Mapping[str, Any]) -> Any:
    """The choice with these options; unknown names and options are errors that list what there is."""
    from pydantic import TypeAdapter, ValidationError

    if name not in choices:
        raise Misconfigured(f"there is no {kind} {name!r}", hint=f"There are: {', '.join(sorted(choices))}.")
    cls = choices[name]
    known = [f.name for f in fields(cls)]
    unknown = set(options) - set(known)
    if unknown:
        allowed = ", ".join(known) or "none"
        raise Misconfigured(
            f"{kind} {name!r} has no option {', '.join(map(repr, sorted(unknown)))}", hint=f"Its options: {allowed}."
        )
    try:
        return TypeAdapter(cls).validate_python(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"]) or "its options"
        raise Misconfigured(f"{kind} {name!r}: {where}: {first['msg']} (found {first['input']!r})") from None
