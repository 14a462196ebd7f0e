"""`risk`: what an existing table gives away, measured with every model and every registered risk measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata import registry
from nowiser.microdata.candidates import counted, group_size_bins, own_gains, row_gain_bins
from nowiser.microdata.codebook import plain
from nowiser.microdata.groups.groups import Groups, groups_of, target_of
from nowiser.microdata.groups.people import by_person
from nowiser.microdata.hierarchies.spec import Spec, hierarchy
from nowiser.microdata.method_contract import Guessing, Roles
from nowiser.microdata.models.blank_k_anonymity import BlankKAnonymity
from nowiser.microdata.models.gain import Gain
from nowiser.microdata.prepare import check_weighed, persons_of
from nowiser.microdata.recipe import Recipe, columns, near
from nowiser.microdata.table.arrays import grouped
from nowiser.microdata.table.column import Floats, Ints
from nowiser.microdata.table.micro_table import MicroTable, group_codes
from nowiser.microdata.table.read import load

FEW_BLANK = 6  # columns with blanks up to which blanks are also counted as anything


@dataclass(frozen=True, eq=False)
class Risk:
    """The measurements. `models` has one entry per model (and sensitive column), `measures` the registered measures."""

    rows: int
    groups: int
    models: tuple[Mapping[str, Any], ...]
    guesses: tuple[Guessing, ...]
    measures: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Any] = field(default_factory=dict)
    row_gains: Mapping[str, Floats] = field(default_factory=dict)  # per sensitive column, per row of the table

    @property
    def gain(self) -> float | None:
        return max((g.gain for g in self.guesses), default=None)

    def value(self, model: str, column: str | None = None) -> float | None:
        """One model's value."""
        for entry in self.models:
            if entry["model"] == model and column in (None, entry["column"]):
                found: float | None = entry["value"]
                return found
        raise KeyError(model)

    def to_json(self) -> dict[str, Any]:
        guesses = [
            {"attacker": g.attacker, "column": g.column, "goal": g.aim, "before": g.before, "after": g.after}
            for g in self.guesses
        ]
        out: dict[str, Any] = plain(
            {
                "rows": self.rows,
                "groups": self.groups,
                "models": [dict(m) for m in self.models],
                "gain": self.gain,
                "guesses": guesses,
                "measures": dict(self.measures),
            }
        )
        return out

    def _repr_html_(self) -> str:
        from nowiser.report.released_table import risk_html

        return risk_html(self.to_json(), dict(self.pictures))


def risk(
    data: Any,
    *,
    quasi: Mapping[str, Spec] | Sequence[str] | str,
    sensitive: Mapping[str, Spec] | Sequence[str] | str = (),
    weight: str | None = None,
    household: str | None = None,
    person: str | None = None,
    people: int | None = None,
    folder: Path | None = None,
    measures: bool = True,
) -> Risk:
    """Measure a table as it stands with all models; `people` is the size of the population it was drawn from,
    `person` the column that says whose a row is, where people have several: then people are counted.

    >>> import nowiser as nw, pandas as pd
    >>> table = pd.DataFrame({"sex": ["f", "f", "m"], "ill": ["a", "b", "a"]})
    >>> nw.risk(table, quasi="sex", sensitive="ill").value("k-anonymity")
    1.0
    """
    table = load(data)
    known, (guessed, within) = columns(quasi, "quasi"), near(columns(sensitive, "sensitive"), "sensitive")
    for name in (*known, *guessed):
        table[name]  # raises for a column that is not there
    if not known:
        raise Misconfigured("name at least one quasi-identifier", hint='As in quasi="age,zip,sex".')
    if not table.rows:
        raise Misconfigured("the table has no rows")
    roles = Roles(tuple(known), tuple(guessed), weight=weight, household=household, people=people)
    check_weighed(table, roles)
    trees = {n: hierarchy(table[n], spec, folder) for n, spec in guessed.items() if spec}
    targets = [target_of(table, n, trees.get(n)) for n in guessed]
    owners = persons_of(table, Recipe(known, guessed, person=person))
    groups = by_person(groups_of(table, tuple(known), targets, persons=owners))
    found = {}
    if measures:
        each = table if owners is None else table.take(one_of_each(table, tuple(known), owners))
        found = {title: plain(told) for title, ask in registry.measures().items() if (told := ask(each, roles))}
    pictures = {"row_gains": row_gain_bins(groups, within=within), "group_sizes": group_size_bins(groups)}
    lifts = {t.column: gains_by_row(table, groups, tuple(known), t.column, within.get(t.column)) for t in targets}
    return Risk(
        table.rows,
        len(groups),
        tuple(all_models(groups, people, within)),
        counted(groups, within=within),
        found,
        pictures,
        lifts,
    )


def one_of_each(table: MicroTable, quasi: Sequence[str], owners: Ints) -> NDArray[np.bool_]:
    """One row of each person in each group of look-alikes: so that measures of rows count persons."""
    group, count = grouped(table, quasi)
    _, first = np.unique(owners * count + group, return_index=True)
    return np.asarray(np.isin(np.arange(table.rows), first), dtype=bool)


def all_models(groups: Groups, people: int | None, within: Mapping[str, float]) -> list[dict[str, Any]]:
    """Every model that can be measured on this table, once per sensitive column where it is about one."""
    out: list[dict[str, Any]] = []
    for cls in registry.models().values():
        fields = cls.__dataclass_fields__
        if getattr(cls, "needs_population", False):
            continue  # counts a population that is not here
        if cls is BlankKAnonymity and (groups.people is not None or blank_columns(groups) > FEW_BLANK):
            continue
        if "goal" in fields:
            continue  # about a goal that nobody stated
        if "fraction" in fields:
            if people is not None:
                rate = min(1.0, float(groups.size.sum()) / people)
                out.extend(
                    cls(fraction=rate, estimator=e).to_json(groups) | {"estimator": e} for e in ("binomial", "poisson")
                )
            continue
        if "people" in fields:
            if people is not None:
                out.extend(
                    cls(people=people, estimator=e).to_json(groups) | {"estimator": e}
                    for e in ("pitman", "zayatz", "snb")
                )
            continue
        if "about" not in fields:
            out.append(cls().to_json(groups))
            continue
        for target in groups.targets:
            out.append(cls(about=target.column).to_json(groups))
            if cls is Gain and target.column in within:
                near_it = cls(about=target.column, within=within[target.column]).to_json(groups)
                out.append(near_it | {"within": within[target.column]})
            if "distance" in fields and target.ordered:
                out.append(cls(about=target.column, distance="ordered").to_json(groups) | {"distance": "ordered"})
            if "distance" in fields and target.hierarchy is not None:
                told = cls(about=target.column, distance="hierarchical").to_json(groups)
                out.append(told | {"distance": "hierarchical"})
    return out


def blank_columns(groups: Groups) -> int:
    """Quasi-identifiers with blanks: every set of them is joined with every other where blanks may be anything."""
    return sum(bool((np.asarray(groups.codes[:, j]) < 0).any()) for j in range(groups.codes.shape[1]))


def gains_by_row(
    table: MicroTable, groups: Groups, quasi: Sequence[str], column: str, within: float | None = None
) -> Floats:
    """For every row, how much better its own value can be guessed by who finds its group."""
    lifts = own_gains(groups, column, within)
    parts = [table[q] for q in quasi]
    both = [np.concatenate([c.codes, groups.codes[:, j]]) for j, c in enumerate(parts)]
    key, _ = group_codes(both, [len(c.values) for c in parts])
    order = np.argsort(key[table.rows :])
    group = order[np.searchsorted(key[table.rows :][order], key[: table.rows])]
    value = table[column].codes
    return np.asarray(lifts[group, np.where(value < 0, lifts.shape[1] - 1, value)], dtype=np.float64)
