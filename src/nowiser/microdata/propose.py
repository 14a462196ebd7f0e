"""`hierarchies`: what every column would become where nobody names a hierarchy, to be seen and edited before use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nowiser.microdata.hierarchies import automatic, files
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.hierarchies.spec import Spec, hierarchy
from nowiser.microdata.identifiers import recognised
from nowiser.microdata.recipe import columns
from nowiser.microdata.table.micro_table import no_column
from nowiser.microdata.table.read import load


@dataclass(frozen=True, eq=False)
class Proposed:
    """One hierarchy per column, how it is written, and the columns that seem to name people."""

    hierarchies: Mapping[str, Hierarchy]
    specs: Mapping[str, Spec]
    identifiers: Mapping[str, str]  # and why

    def to_csv(self, folder: str | Path, *, force: bool = False) -> tuple[Path, ...]:
        """A csv file per column; `nw.publish(…, hierarchies=folder)` reads them back."""
        return files.write(tuple(self.hierarchies.values()), Path(folder), force=force)

    def to_json(self) -> dict[str, Any]:
        told = {
            name: {"hierarchy": said(self.specs[name]), "kind": h.kind, "labels": sizes(h), "example": example(h)}
            for name, h in self.hierarchies.items()
        }
        return {"columns": told, "identifiers": dict(self.identifiers)}


def said(spec: Spec) -> str:
    return spec if isinstance(spec, str) else "given"


def sizes(h: Hierarchy) -> list[int]:
    """How many labels each level has."""
    return [sum(label is not None for label in level) for level in h.labels]


def example(h: Hierarchy) -> list[str]:
    """What the value in the middle becomes, level by level."""
    path = h.path()
    values = [v for v in path if v is not None]
    return [str(label) for label in path[values[len(values) // 2]]] if values else []


def hierarchies(
    data: Any, quasi: Mapping[str, Spec] | Sequence[str] | str | None = None, *, folder: Path | None = None
) -> Proposed:
    """The hierarchy of each column: the one named, or what suits its values. All columns but identifiers, if none are.

    >>> import nowiser as nw, pandas as pd
    >>> found = nw.hierarchies(
    ...     pd.DataFrame(
    ...         {
    ...             "born": ["1980-03-01", "1981-07-12", "1990-01-05"] * 2
    ...             + ["2001-12-30"] * 3
    ...             + ["1977-05-05", "1960-02-02"]
    ...         }
    ...     )
    ... )
    >>> found.specs["born"], found.to_json()["columns"]["born"]["example"]
    ('dates', ['1981-07-12', '1981-07', '1981-Q3', '1981', '1980s', '*'])
    """
    table = load(data)
    identifiers = {c.name: why for c in table.columns if (why := recognised(c)) is not None}
    named = columns(quasi, "hierarchies")
    for name in named:
        if name not in table:
            raise no_column(name, table.names)
    wanted = named or dict.fromkeys(n for n in table.names if n not in identifiers)
    specs = {name: spec or automatic.proposed(table[name]) for name, spec in wanted.items()}
    built = {name: hierarchy(table[name], spec, folder) for name, spec in specs.items()}
    return Proposed(built, specs, {n: why for n, why in identifiers.items() if not named or n in named})
