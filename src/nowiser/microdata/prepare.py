"""From data and a recipe to something a method can work on: roles checked, identifiers gone, hierarchies built."""

import hashlib
import os
from collections.abc import Callable, Collection
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.identifiers import is_unique, names_rows, recognised
from nowiser.microdata.method_contract import Roles, Run, quiet, silent
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.table.arrays import weights
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable, no_column
from nowiser.microdata.table.read import load


def prepare(
    original: MicroTable,
    recipe: Recipe,
    *,
    progress: Callable[[float, str], None] = quiet,
    notice: Callable[[str], None] = silent,
    persons: NDArray[np.int64] | None = None,
) -> tuple[MicroTable, Run]:
    """The table without identifiers, and what methods may use. Raises Misconfigured for anything that does not fit."""
    if not original.rows:
        raise Misconfigured("the table has no rows")
    check_roles(original, recipe)
    pseudonyms = {c for step in recipe.steps for c in getattr(step, "pseudonymises", ())}
    if persons is None:
        persons = persons_of(original, recipe, pseudonyms)
    gone = dict.fromkeys([*recipe.identifiers, *([recipe.person] if recipe.person else [])])
    table = original.without([c for c in gone if c not in pseudonyms])
    hierarchies = {name: hierarchy(table[name], spec, recipe.folder) for name, spec in recipe.quasi.items()}
    hierarchies |= {
        name: hierarchy(table[name], spec, recipe.folder) for name, spec in recipe.sensitive.items() if spec
    }
    people = None
    if recipe.population is not None:
        people = load(recipe.population if recipe.folder is None else recipe.folder / recipe.population)
    if people is not None and persons is not None:
        raise Misconfigured(
            "a population lists each person once, and this table has several rows of some",
            hint="Keep one row of each person, or use models that need no population.",
        )
    heads = original.rows if persons is None else len(np.unique(persons))
    run = Run(
        roles=recipe.roles,
        original=original,
        hierarchies=hierarchies,
        models=recipe.models,
        suppress=int(recipe.suppress * heads),
        loss=recipe.loss,
        gs_factor=recipe.gs_factor,
        importance=recipe.importance,
        random=generator(recipe.seed),
        progress=progress,
        seconds=recipe.seconds,
        population=people,
        persons=persons,
        within=recipe.within,
        notice=notice,
    )
    return table, run


def persons_of(table: MicroTable, recipe: Recipe, pseudonyms: Collection[str] = ()) -> NDArray[np.int64] | None:
    """Whose each row is, as a number; None where nobody has two."""
    if recipe.person is None:
        return None
    if recipe.person not in table:
        raise no_column(recipe.person, table.names, "person")
    shown = {*recipe.quasi, *recipe.sensitive, *recipe.keep}
    if recipe.person in shown:
        raise Misconfigured(
            f"{recipe.person!r} says whose a row is and cannot be released as it is",
            hint="Leave it out of quasi, sensitive and keep, or release a pseudonym of it.",
        )
    column = table[recipe.person]
    if column.nulls:
        raise Misconfigured(
            f"{column.nulls:,} rows have no {recipe.person!r}: nobody knows whose they are",
            hint="Leave these rows out, or give each of them a person of its own.",
        )
    if len(np.unique(column.codes)) == table.rows:
        return None
    if recipe.person in pseudonyms and not any(m.name == "km-anonymity" for m in recipe.models):
        raise Misconfigured(
            f"a pseudonym of {recipe.person!r} links the rows of a person, so their whole history can be known",
            hint="Promise km-anonymity too, as in models: {km-anonymity: {k: 5, m: 3}}, or leave the pseudonym out.",
        )
    return column.codes.astype(np.int64)


def generator(seed: str | None) -> np.random.Generator:
    """Random numbers from 128 secret bits: the seed's, or the operating system's."""
    secret = os.urandom(16) if seed is None else hashlib.sha256(seed.encode()).digest()[:16]
    return np.random.Generator(np.random.Philox(key=int.from_bytes(secret, "little")))


def check_roles(table: MicroTable, recipe: Recipe) -> None:
    """Every named column exists, has one role, and is not an identifier in disguise."""
    roles = {"quasi": tuple(recipe.quasi), "sensitive": tuple(recipe.sensitive), "identifiers": recipe.identifiers}
    for role, names in roles.items():
        for name in names:
            if name not in table:
                raise no_column(name, table.names, role)
    for (first, these), (second, those) in combinations(roles.items(), 2):
        both = sorted(set(these) & set(those))
        if both:
            raise Misconfigured(f"{both[0]!r} cannot be both {first} and {second}", hint="Give it one role.")
    handled = {name for step in recipe.steps for name in named_by(step)}
    for name, spec in recipe.quasi.items():
        if not spec and name not in handled and names_rows(table[name]):
            raise Misconfigured(
                f"the quasi-identifier {name!r} has a different value in each of the {table.rows} rows: "
                "is it an identifier?",
                hint=f'Remove it with identifiers=["{name}"], or give it a hierarchy, as in {name}:auto.',
            )
    for name in recipe.within:
        if not table[name].is_numeric:
            raise Misconfigured(f"a guess within {recipe.within[name]:g} needs numbers, and {name!r} has other values")
    if strange := sorted(set(recipe.importance) - set(recipe.quasi)):
        raise Misconfigured(f"importance is of quasi-identifiers, and {strange[0]!r} is none")
    check_weighed(table, recipe.roles)
    for name in (*recipe.sensitive, *recipe.keep):
        if name in table and not table[name].is_numeric and is_unique(table[name]):
            raise Misconfigured(
                f"the column {name!r} has a different value in each of the {table.rows} rows: is it an identifier?",
                hint=f'Remove it with identifiers=["{name}"].',
            )


def check_weighed(table: MicroTable, roles: Roles) -> None:
    """Weights, households and strata that are there, and weights that can weigh."""
    for role, names in {"household": (roles.household,), "strata": roles.strata, "weight": (roles.weight,)}.items():
        for name in names:
            if name is not None and name not in table:
                raise no_column(name, table.names, role)
    try:
        weights(table, roles.weight)  # refuses what is missing, no number, or not positive
    except Misconfigured as error:
        if error.message.startswith("weights"):
            raise
        raise Misconfigured(f"weight: {error.message}") from None


def named_by(step: Any) -> tuple[str, ...]:
    """The columns a step is told to change: what happens to them is decided, unique or not."""
    names = getattr(step, "columns", ()) or ()
    one = getattr(step, "column", None)
    return (*((names,) if isinstance(names, str) else tuple(names)), *((one,) if one else ()))


def released_columns(table: MicroTable, original: MicroTable, recipe: Recipe) -> tuple[MicroTable, tuple[str, ...]]:
    """Only columns somebody decided about: with a role, kept by name, or changed by a step. And those left out."""
    roles = recipe.roles
    named = {*roles.quasi, *roles.sensitive, *roles.strata, *recipe.keep}
    named |= {c for c in (roles.weight, roles.household) if c}
    changed = {c.name for c in table.columns if c.name not in named and _changed(c, table, original)}
    out = tuple(n for n in table.names if n not in named | changed)
    if "*" in recipe.keep:
        out = tuple(n for n in out if recognised(table[n]) is not None)
    if len(out) == len(table.names):
        raise Misconfigured(
            "no column would be released: none has a role, is kept by name, or is changed by a step",
            hint="Name columns under quasi, sensitive or keep; in a recipe they stand in the recipe itself.",
        )
    return table.without(out), out


def _changed(column: Column, table: MicroTable, original: MicroTable) -> bool:
    """Whether a step gave the column other values, or its values other rows (swapping, shuffling)."""
    if column.name not in original or not column.same_values(original[column.name]):
        return True
    return not original[column.name].same_rows(column, table.origin)
