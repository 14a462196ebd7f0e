"""A fitted model as a value: rows can be drawn from it as often as wanted, and it goes into a file and back.

It holds noisy figures only. Whatever is done with it costs nothing more.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.bought.domain import Attribute, Domain
from nowiser.errors import Misconfigured
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.synth.tree.beliefs import Beliefs
from nowiser.synth.tree.draw import draw
from nowiser.synth.tree.fit import believed
from nowiser.synth.tree.junction import Clique, junction_tree

FORM = "nowiser synthetic model"
VERSION = 1
MOST = 100_000_000  # rows drawn at once

Zeros = tuple[tuple[Clique, NDArray[np.bool_]], ...]


@dataclass(frozen=True, eq=False)
class Model:
    """Parameters over the sets of columns that were counted; `deviations`: of the noise on those counts."""

    table: str
    method: str
    domain: Domain
    parameters: Mapping[Clique, NDArray[np.float64]]
    deviations: Mapping[Clique, float]
    rows: float  # of the table, as far as noisy counts tell
    rho: float
    zeros: Zeros = ()
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.domain)

    @cached_property
    def beliefs(self) -> Beliefs:
        tree = junction_tree(self.sizes, [*self.parameters, *(c for c, _ in self.zeros)])
        return believed(tree, self.parameters, self.zeros)

    def codes(self, rows: int | None = None, random: np.random.Generator | None = None) -> list[NDArray[np.int32]]:
        """Cells of drawn rows, one array per column."""
        many = max(1, round(self.rows)) if rows is None else rows
        if not 1 <= many <= MOST:
            raise Misconfigured(f"rows must be from 1 to {MOST:,}, found {many:,}")
        return draw(self.beliefs, many, random or np.random.default_rng())

    def sample(self, rows: int | None = None, random: np.random.Generator | None = None) -> MicroTable:
        """Rows of nobody, each column in its own kind; as many as the table has, as far as is known."""
        random = random or np.random.default_rng()
        drawn = self.codes(rows, random)
        return MicroTable.of(
            Column.of(a.name, a.decode(codes, random)) for a, codes in zip(self.domain, drawn, strict=True)
        )

    def measured(self, columns: Sequence[int]) -> Clique | None:
        """The smallest set of columns counted together that has all of these."""
        wanted = set(columns)
        found = [c for c in self.parameters if wanted <= set(c)]
        return min(found, key=lambda c: self.parameters[c].size, default=None)

    def to_json(self) -> dict[str, Any]:
        return {
            "form": FORM,
            "version": VERSION,
            "table": self.table,
            "method": self.method,
            "rows": self.rows,
            "rho": self.rho,
            "domain": [a.to_json() for a in self.domain],
            "counted": [
                {"columns": list(c), "deviation": self.deviations.get(c), "parameters": theta.ravel().tolist()}
                for c, theta in self.parameters.items()
            ],
            "impossible": [{"columns": list(c), "cells": np.flatnonzero(z).tolist()} for c, z in self.zeros],
            "notes": dict(self.notes),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Model":
        """Raises Misconfigured for anything else, and for a model of another version."""
        if data.get("form") != FORM:
            raise Misconfigured("this is no model of synthetic rows", hint="Make one: nowiser synth … --model m.json.")
        if data.get("version") != VERSION:
            raise Misconfigured(
                f"the model is of version {data.get('version')!r}, and this nowiser reads version {VERSION}",
                hint="Draw rows from it with the nowiser that made it, or pay for a new one.",
            )
        try:
            return _read(data)
        except (KeyError, TypeError, ValueError, IndexError):
            raise Misconfigured("the model is damaged: a part of it is missing or of the wrong size") from None

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.to_json()) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> "Model":
        from nowiser.files.unreadable import there

        there(path)
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise Misconfigured(f"{path} is no model of synthetic rows: it is not JSON") from None
        return Model.from_json(read if isinstance(read, dict) else {})


def _read(data: Mapping[str, Any]) -> Model:
    domain = tuple(Attribute.from_json(a) for a in data["domain"])
    sizes = [a.size for a in domain]
    parameters: dict[Clique, NDArray[np.float64]] = {}
    deviations: dict[Clique, float] = {}
    for counted in data["counted"]:
        columns = tuple(int(v) for v in counted["columns"])
        parameters[columns] = np.array(counted["parameters"], np.float64).reshape([sizes[v] for v in columns])
        if not np.isfinite(parameters[columns]).all():
            raise ValueError("a parameter is no number")
        if counted["deviation"] is not None:
            deviations[columns] = float(counted["deviation"])
    zeros = []
    for impossible in data["impossible"]:
        columns = tuple(int(v) for v in impossible["columns"])
        cells = np.zeros([sizes[v] for v in columns], bool)
        cells.ravel()[impossible["cells"]] = True
        zeros.append((columns, cells))
    if {v for c in parameters for v in c} != set(range(len(domain))):
        raise ValueError("a column is missing")
    return Model(
        str(data["table"]),
        str(data["method"]),
        domain,
        parameters,
        deviations,
        float(data["rows"]),
        float(data["rho"]),
        tuple(zeros),
        dict(data["notes"]),
    )
