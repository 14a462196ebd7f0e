"""A table that is to be released, as the models judge it: its groups, and what was known of its secrets before."""

from collections.abc import Sequence

from nowiser.microdata.groups.groups import Groups, Target, groups_of, targets_of
from nowiser.microdata.method_contract import Run
from nowiser.microdata.table.micro_table import MicroTable


def measured_groups(table: MicroTable, run: Run, *, only_limited: bool = False) -> Groups:
    """The groups of a released table, its sensitive columns judged against the custodian's whole table.

    A column whose values a step replaced is judged against itself. With `only_limited` just what a model looks at.
    """
    limited = {m.column for m in run.models}
    names = [c for c in run.roles.sensitive if c in table and (c in limited or not only_limited)]
    targets: list[Target] = []
    for name in names:
        same = table[name].same_values(run.original[name])
        targets += targets_of(run.original if same else table, [name], [], run.hierarchies if same else {})
    for parts in dict.fromkeys(m.parts for m in run.models if m.parts and all(c in table for c in m.parts)):
        models = [m for m in run.models if m.parts == parts]
        targets += targets_of(whole_of(table, run.original, parts), [], models, {})
    return groups_of(table, [q for q in run.roles.quasi if q in table], targets, persons=run.owners(table))


def whole_of(table: MicroTable, original: MicroTable, parts: Sequence[str]) -> MicroTable:
    """Where the joint values of these columns are known from: the original, unless a step changed one of them."""
    kept = all(table[c].same_values(original[c]) and original[c].same_rows(table[c], table.origin) for c in parts)
    return original if kept else table
