"""The population behind a table: how many people look alike, for k-map, δ-presence and the journalist."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.method_contract import Run
from nowiser.microdata.table.column import Codes
from nowiser.microdata.table.micro_table import group_codes


def with_population(base: Groups, run: Run, hierarchies: Sequence[Hierarchy]) -> Groups:
    """The base groups with people counted, and groups of people none of whom is in the table (size 0)."""
    people = run.population
    if people is None:
        return base
    columns: list[Codes] = []
    for name, hierarchy in zip(run.roles.quasi, hierarchies, strict=True):
        column = people[name]
        place = {label: code for code, label in enumerate(hierarchy.labels[0])}
        missing = [label for label in column.labels if label not in place]
        if missing:
            raise Misconfigured(
                f"the population's column {name!r} has values outside the hierarchy: {', '.join(map(repr, missing))}",
                hint="Use a hierarchy that lists them, or leave those people out.",
            )
        codes = np.array([place[label] for label in column.labels] + [place.get(None, -1)], dtype=np.int32)
        columns.append(codes[column.codes])
    sizes = [len(h.labels[0]) for h in hierarchies]
    both = [np.concatenate([base.codes[:, j], c]) for j, c in enumerate(columns)]
    key, _ = group_codes(both, sizes)
    distinct, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    count, own = len(distinct), len(base)
    size = np.zeros(count, np.int64)
    size[inverse[:own]] = base.size
    histograms = []
    for histogram in base.histograms:
        wide = np.zeros((count, histogram.shape[1]), histogram.dtype)
        wide[inverse[:own]] = histogram
        histograms.append(wide)
    counted = np.bincount(inverse[own:], minlength=count).astype(np.int64)
    if (counted < size).any():
        raise Misconfigured(
            "the population does not contain the table: some rows of the table look like fewer people than rows",
            hint="The population file must list everybody, those in the table included.",
        )
    codes = np.stack([b[first] for b in both], axis=1)
    return replace(base, codes=codes, size=size, histograms=tuple(histograms), population=counted)
