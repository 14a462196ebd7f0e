"""A hierarchy from one rule per level: what each distinct value becomes there, closed by the root."""

from collections.abc import Callable, Sequence

from nowiser.microdata.hierarchies.hierarchy import ROOT, Hierarchy, build
from nowiser.microdata.table.column import Column

Rule = Callable[[int], str]  # from the code of a value to its label


def climb(column: Column, rules: Sequence[Rule], *, kind: str, ordered: bool = False) -> Hierarchy:
    """The value, what each rule makes of it, `*`."""
    rows = [[label, *(rule(code) for rule in rules), ROOT] for code, label in enumerate(column.labels)]
    return build(column, rows or [["", ROOT]], kind=kind, ordered=ordered)


def flat(column: Column) -> Hierarchy:
    """The value, then `*`."""
    return climb(column, [], kind="value, *")
