"""Every attack there is, found by looking into the rooms: adding a file adds an attacker."""

import importlib
import importlib.util
import pkgutil
from functools import cache

from nowiser.attacks.view import Attack
from nowiser.errors import Misconfigured

ROOMS = ("tables", "sparse", "tables_published", "gateways", "graphs")


@cache
def attacks() -> dict[str, Attack]:
    """By name, the quickest first."""
    found: list[Attack] = []
    for room in ROOMS:
        name = f"nowiser.attacks.{room}"
        if importlib.util.find_spec(name) is None:
            continue
        package = importlib.import_module(name)
        for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
            module = importlib.import_module(f"{name}.{info.name}")
            found.extend([module.ATTACK] if hasattr(module, "ATTACK") else [])
            found.extend(getattr(module, "ATTACKS", ()))
    found.sort(key=lambda a: (a.minutes, a.name))
    return {a.name: a for a in found}


def chosen(against: str, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> tuple[Attack, ...]:
    """The attackers of one game, those named, without those to be left out."""
    there = {n: a for n, a in attacks().items() if a.against == against}
    for name in (*only, *skip):
        if name not in attacks():
            raise Misconfigured(f"there is no attack {name!r}", hint=f"There are: {', '.join(attacks())}.")
        if name not in there:
            raise Misconfigured(f"the attack {name!r} is not one on {against}", hint=f"These are: {', '.join(there)}.")
    return tuple(a for n, a in there.items() if (not only or n in only) and n not in skip)
