"""Links between people as a frozen value: names, links, labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nowiser.errors import Misconfigured

Ints = NDArray[np.int64]
Names = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Graph:
    """People by number, and who is linked to whom: every link once, the smaller number first, sorted; none to oneself.

    labels: what else is known of each person, as in a class or a ward.
    """

    names: Names
    links: Ints  # m × 2
    labels: Mapping[str, Names] = field(default_factory=dict)

    @staticmethod
    def of(people: int | Names, links: Any, labels: Mapping[str, Names] | None = None) -> "Graph":
        """Cleans: links to oneself go, double ones count once."""
        names = np.arange(people) if isinstance(people, int | np.integer) else np.asarray(people)
        pairs = np.asarray(links, np.int64).reshape(-1, 2)
        if len(pairs) and not (pairs.min() >= 0 and pairs.max() < len(names)):
            raise Misconfigured("a link leads to somebody who is not among the people")
        return Graph(names, tidy(pairs, len(names)), dict(labels or {}))

    def __post_init__(self) -> None:
        for name, values in self.labels.items():
            if len(values) != len(self.names):
                raise Misconfigured(f"label {name!r} is given for {len(values)} of {len(self.names)} people")

    @property
    def people(self) -> int:
        return len(self.names)

    @property
    def size(self) -> int:
        """How many links there are."""
        return len(self.links)

    @cached_property
    def degrees(self) -> Ints:
        return np.bincount(self.links.ravel(), minlength=self.people).astype(np.int64)

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """Symmetric, 0 and 1."""
        both = np.concatenate([self.links, self.links[:, ::-1]])
        ones = np.ones(len(both), np.float64)
        made = sparse.csr_array((ones, (both[:, 0], both[:, 1])), shape=(self.people, self.people))
        made.sort_indices()
        return made

    @property
    def keys(self) -> Ints:
        """Every link as one number, sorted."""
        return keys(self.links, self.people)

    @property
    def density(self) -> float:
        """The share of all pairs that are linked."""
        pairs = self.people * (self.people - 1) // 2
        return self.size / pairs if pairs else 0.0

    def linked(self, a: Ints, b: Ints) -> NDArray[np.bool_]:
        """For each pair whether it is linked."""
        asked = np.minimum(a, b) * self.people + np.maximum(a, b)
        there = self.keys
        at = np.searchsorted(there, asked)
        return (at < len(there)) & (there[np.minimum(at, len(there) - 1)] == asked) if len(there) else asked < 0

    def renumbered(self, order: Ints, names: Names | None = None) -> "Graph":
        """The same links; person i becomes number order[i]."""
        back = np.empty(self.people, np.int64)
        back[order] = np.arange(self.people)
        return Graph.of(
            self.names[back] if names is None else names,
            order[self.links],
            {label: values[back] for label, values in self.labels.items()},
        )

    def with_links(self, links: Any) -> "Graph":
        return Graph.of(self.names, links, self.labels)

    def __repr__(self) -> str:
        return f"<Graph: {self.people:,} people, {self.size:,} links>"


def tidy(links: Ints, people: int) -> Ints:
    """Sorted, each link once, none to oneself."""
    low, high = np.minimum(links[:, 0], links[:, 1]), np.maximum(links[:, 0], links[:, 1])
    kept = np.unique((low * people + high)[low != high])
    return np.stack([kept // max(people, 1), kept % max(people, 1)], axis=1)


def keys(links: Ints, people: int) -> Ints:
    return links[:, 0] * people + links[:, 1]
