"""Categories by a tree that is written out: `{Europe: {West: [DE, FR], East: [PL]}, Asia: [JP]}`."""

from collections.abc import Iterator, Mapping
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.hierarchy import ROOT, Hierarchy, build
from nowiser.microdata.table.column import Column


def of_tree(column: Column, tree: Any) -> Hierarchy:
    """Leaves are values; where a branch is shorter than the others its values stay as they are a level longer."""
    if not isinstance(tree, Mapping):
        raise Misconfigured(f"the tree of {column.name!r} is a mapping: label: [values], or label: {{label: [values]}}")
    paths = list(_leaves(tree, ()))
    depth = max((len(p) for p in paths), default=1)
    rows = [[path[-1]] * (depth - len(path) + 1) + list(path[-2::-1]) + [ROOT] for path in paths]
    return build(column, rows, kind="tree")


def _leaves(node: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(node, Mapping):
        for label, inside in node.items():
            yield from _leaves(inside, (*above, str(label)))
    elif isinstance(node, list):
        for inside in node:
            yield from _leaves(inside, above)
    elif node is not None:
        yield (*above, str(node))
