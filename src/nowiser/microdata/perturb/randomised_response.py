"""Randomised response: each value is kept with probability `keep`, else replaced by a uniform draw.

Warner's design for any number of categories, per column. `among` states the categories; without it the
ones that occur are used, and this method claims no differential privacy: `private_response` does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.transition import estimate, transit
from nowiser.microdata.risk.channel import Matrix
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Names,
    chosen,
    share,
    weights,
)
from nowiser.microdata.table.column import Column, text
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class RandomisedResponse:
    """Keep each value with probability `keep`, else draw one of the categories (its own included) uniformly."""

    name: ClassVar[str] = "randomised_response"

    columns: Names
    keep: float = 0.5
    among: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="randomised_response: columns")
        share(self.keep, what="randomised_response: keep")
        strange = sorted(set(self.among) - set(names))
        if strange:
            raise Misconfigured(
                f"randomised_response: among names {', '.join(map(repr, strange))}, not a column of the step"
            )
        columns = [widened(table[n], self.among.get(n), what="randomised_response") for n in names]
        weight = weights(table, run.roles.weight)

        released, channels, book = [], {}, {}
        for column in columns:
            size = len(column.values)
            P = np.full((size, size), (1 - self.keep) / size) + self.keep * np.eye(size)
            new = transit(column.codes.astype(np.int64), P, run.random)
            found = estimate(new, P, weight, column=column.name)
            released.append(Column.of_codes(column.name, new.astype(np.int32), column.values))
            channels[column.name] = Matrix(column.labels, P[None], np.zeros(table.rows, dtype=np.int64), new)
            book[column.name] = {
                "categories": list(column.labels),
                "estimated frequencies": found.frequencies.tolist(),
                "standard deviations": found.deviations.tolist(),
            }
        result = table.with_columns(*released)
        codebook = {"keep": self.keep, "columns": book}
        guessed = guesses_of(run, table, result, channels)
        return Step(result, self.name, codebook, guesses=guessed, channels=channels)


def widened(column: Column, among: Sequence[Any] | None, *, what: str) -> Column:
    """The column over the stated categories; refuses values outside them (how many, never which)."""
    if among is None:
        if len(column.values) < 2:
            raise Misconfigured(f"{what}: column {column.name!r} is constant; state its categories with `among`")
        return column
    labels = [text(v) for v in among]
    if len(set(labels)) < len(labels) or len(labels) < 2:
        raise Misconfigured(f"{what}: the categories of {column.name!r} must be at least two different values")
    place = {v: i for i, v in enumerate(labels)}
    move = np.array([place.get(v, -2) for v in column.labels] + [-1], dtype=np.int32)
    codes = move[column.codes]
    outside = int((codes == -2).sum())
    if outside:
        raise Misconfigured(
            f"{what}: {outside} rows of {column.name!r} have a value that is not among the stated categories",
            hint="State every category that can occur.",
        )
    kind = column.kind
    values = pa.array(labels, pa.string()) if len(column.values) == 0 else pa.array(labels, pa.string()).cast(kind)
    return Column.of_codes(column.name, codes, values)


METHOD = RandomisedResponse
