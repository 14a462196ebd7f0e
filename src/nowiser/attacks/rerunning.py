"""A release made again from other rows: by the recipe of `publish`, or by a generator, which is checked first.

A generator is a function of a table and a seed. One of a table alone draws its own random numbers, as all do that
keep a promise (`nw.synth`): then the figures of an attack cannot be repeated. It is given the columns of the release.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nowiser.attacks.view import Rerun
from nowiser.errors import Misconfigured, Refused
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load

TRIED = 500  # rows of the first runs, which check a generator
Generator = Callable[..., Any]


def by_recipe(recipe: Recipe) -> Rerun:
    """Each run draws its own seed."""

    def made(table: MicroTable, random: np.random.Generator) -> MicroTable:
        from nowiser.microdata.publish import publish

        again = replace(recipe, seed=random.bytes(16).hex())
        try:
            return publish(MicroTable.of(table.columns), recipe=again).table
        except Refused as refused:
            raise Misconfigured(f"the recipe failed on {table.rows:,} of the rows: {refused}") from None

    return made


def by_generator(generator: Generator, columns: Sequence[str]) -> Rerun:
    """What it raises is told by the number of the run, without its words."""
    runs = 0

    def made(table: MicroTable, random: np.random.Generator) -> MicroTable:
        nonlocal runs
        runs += 1
        return generated(generator, only(table, columns), int(random.integers(2**31)), runs)

    return made


def generated(generator: Generator, table: MicroTable, seed: int, run: int) -> MicroTable:
    """One run. Its columns have to be those it was given."""
    try:
        out = load(generator(table.to_arrow(), seed) if seeded(generator) else generator(table.to_arrow()))
    except Exception as error:  # noqa: BLE001 (somebody else's code; its words may hold rows)
        raise Misconfigured(f"the generator failed in run {run} ({type(error).__name__})") from None
    if set(out.names) != set(table.names) or not out.rows:
        raise Misconfigured(f"the generator must answer rows with the columns it was given; it did not in run {run}")
    return out


def only(table: MicroTable, columns: Sequence[str]) -> MicroTable:
    return MicroTable.of([table[n] for n in columns if n in table])


def seeded(generator: Generator) -> bool:
    """Whether it takes a seed beside the table."""
    try:
        inspect.signature(generator).bind(None, 0)
    except TypeError:
        return False
    except ValueError:  # nobody can say
        return True
    return True


def check_generator(generator: Generator, table: MicroTable, seed: int, columns: Sequence[str]) -> list[str]:
    """The same seed has to give the same rows. Whether other rows and another seed give others is only said."""
    some = only(MicroTable.of(table.take(np.arange(min(TRIED, table.rows))).columns), columns)
    half = MicroTable.of(some.take(np.arange(some.rows // 2, some.rows)).columns)
    first, second, other = (
        generated(generator, t, s, run).to_arrow()
        for run, (t, s) in enumerate(((some, seed), (some, seed), (half, seed + 1)), 1)
    )
    if not seeded(generator):
        return ["the generator takes no seed: figures that need it differ from run to run"]
    if not first.equals(second):
        raise Misconfigured("the generator ignores its seed: the same rows and seed gave other rows in run 2")
    if first.equals(other):
        return ["the generator gives the same rows whatever it is given: it can tell nothing about anybody"]
    return []
