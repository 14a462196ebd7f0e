"""Mondrian: multidimensional recoding (LeFevre 2006). Rows are cut into boxes; a box's values become its extent.

*Strict* boxes do not overlap; *relaxed* ones may share a value at a cut. Numbers are cut anywhere, categories
along the order of their hierarchy, always at the best cut that leaves k rows on both sides. The other models
are kept by uniting boxes again: bottom up through the tree of cuts, two parts stay apart only if both pass.
That is exact for closed models, because a box whose parts pass passes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.groups.groups import Groups, histogram, targets_of
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.loss import scaled
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.search.problem import failing
from nowiser.microdata.table.column import Column, Floats, Ints, numbers_of
from nowiser.microdata.table.micro_table import MicroTable

BINS = 4096  # places at which a number with more values than that may be cut


@dataclass(frozen=True)
class Mondrian:
    """`relaxed` lets equal values fall on both sides of a cut where no other cut is left."""

    relaxed: bool = False
    name: ClassVar[str] = "mondrian"

    def apply(self, table: MicroTable, run: Run) -> Step:
        if not run.roles.quasi:
            raise Misconfigured("there is nothing to cut: no quasi-identifier is named")
        if any(m.scope == "table" for m in run.models):
            raise NotAnswerable("mondrian keeps models of groups only, not models of the whole table")
        dimensions = [Dimension.of(table[q], run.hierarchies[q]) for q in run.roles.quasi]
        least = max((int(m.limit) for m in run.models if m.name == "k-anonymity" and m.limit), default=2)
        if table.rows < least:
            raise NotAnswerable(f"the table has {table.rows} rows, fewer than k = {least}")
        run.progress(0.1, "cutting (the first time on a machine this compiles for some seconds)")
        boxes = united(table, run, cut(dimensions, least, relaxed=self.relaxed))
        run.progress(0.8, "naming the boxes")
        columns = [d.recoded(boxes) for d in dimensions]
        penalty = [d.penalty(boxes) for d in dimensions]
        book = {"boxes": len(boxes.starts), "relaxed": self.relaxed, "penalty": float(np.mean(penalty))}
        loss = float(np.mean([d.loss(boxes) for d in dimensions]))
        return Step(table.with_columns(*columns), self.name, book, 0, loss)


@dataclass(frozen=True, eq=False)
class Boxes:
    """The final boxes: rows in their order, and where each box starts in it."""

    rows: Ints
    starts: Ints

    @cached_property
    def sizes(self) -> Ints:
        return np.diff(np.append(self.starts, len(self.rows)))

    @cached_property
    def of_rows(self) -> Ints:
        """The box of every row."""
        box = np.empty(len(self.rows), np.int64)
        box[self.rows] = np.repeat(np.arange(len(self.starts)), self.sizes)
        return box


@dataclass(frozen=True, eq=False)
class Dimension:
    """One attribute as the kernel sees it: every row's place in the order of values."""

    name: str
    place: NDArray[np.int32]  # per row
    position: Floats  # per place: where it lies (numbers), or its rank
    labels: tuple[str | None, ...]  # per place
    ordered: bool
    span: float  # of the whole domain
    branches: Mapping[frozenset[str | None], str]  # sets of values that have a label of their own
    domain: Floats  # the numbers of the hierarchy's domain in order (ranks for categories)

    @staticmethod
    def of(column: Column, h: Hierarchy) -> "Dimension":
        nulls = column.nulls > 0
        count = len(column.values) + nulls
        ordered = column.is_numeric and not nulls
        if ordered:
            order = np.argsort(column.value_numbers, kind="stable")
            position = column.value_numbers[order].astype(np.float64)
            span = float(position[-1] - position[0])
        else:  # neighbours in the tree are neighbours in the order
            paths = [tuple(int(c) for c in h.matrix[v, ::-1]) for v in range(count)]
            order = np.array(sorted(range(count), key=lambda v: paths[v]), dtype=np.int64)
            position, span = np.arange(count, dtype=np.float64), float(h.domain)
        rank = np.empty(count, np.int32)
        rank[order] = np.arange(count, dtype=np.int32)
        codes = np.where(column.codes < 0, count - 1, column.codes)
        labels = tuple(column.labels[v] if v < len(column.values) else None for v in order)
        named = {} if ordered else branches(h, labels)
        domain = np.arange(h.domain, dtype=np.float64)
        if ordered:
            listed = numbers_of(pa.array([t for t in h.labels[0] if t is not None], pa.string()))
            domain = np.sort(listed) if np.isfinite(listed).all() else position
        return Dimension(column.name, rank[codes], position, labels, ordered, span, named, domain)

    def ends(self, boxes: Boxes) -> tuple[Ints, Ints]:
        """Lowest and highest place of every box."""
        sorted_places = self.place[boxes.rows]
        low, high = np.minimum.reduceat(sorted_places, boxes.starts), np.maximum.reduceat(sorted_places, boxes.starts)
        return low.astype(np.int64), high.astype(np.int64)

    def members(self, boxes: Boxes) -> NDArray[np.uint64]:
        """Which places every box has, as bits: boxes × words of 64 places."""
        place = self.place[boxes.rows]
        bit = np.uint64(1) << (place % 64).astype(np.uint64)
        words = []
        for word in range((len(self.labels) + 63) // 64):
            here = bit if len(self.labels) <= 64 else np.where(place // 64 == word, bit, np.uint64(0))
            words.append(np.bitwise_or.reduceat(here, boxes.starts))
        return np.stack(words, axis=1)

    def penalty(self, boxes: Boxes) -> float:
        """NCP: the mean over rows of the share of the domain that the released value spans."""
        if self.ordered:
            low, high = self.ends(boxes)
            share = (self.position[high] - self.position[low]) / self.span if self.span > 0 else np.zeros(len(low))
        else:
            covered = np.bitwise_count(self.members(boxes)).sum(axis=1)
            share = np.where(covered > 1, covered / self.span, 0.0)
        return float(share @ boxes.sizes / boxes.sizes.sum())

    def loss(self, boxes: Boxes) -> float:
        """ARX's Loss of this attribute: the share of the domain that a released value covers, scaled to 0 … 1."""
        if self.ordered:
            low, high = self.ends(boxes)
            first = np.searchsorted(self.domain, self.position[low], side="left")
            covered = np.searchsorted(self.domain, self.position[high], side="right") - first
        else:
            covered = np.bitwise_count(self.members(boxes)).sum(axis=1)
        rows = int(boxes.sizes.sum())
        return scaled(float(covered @ boxes.sizes) / len(self.domain), rows, len(self.domain))

    def recoded(self, boxes: Boxes) -> Column:
        """Every row shows the extent of its box."""
        if self.ordered:
            low, high = self.ends(boxes)
            distinct, inverse = np.unique(low * len(self.labels) + high, return_inverse=True)
            names = [self._range(*divmod(int(key), len(self.labels))) for key in distinct]
        else:
            words = self.members(boxes)
            inverse = np.zeros(len(words), np.int64)
            for word in words.T:  # rank the sets word by word
                _, inner = np.unique(word, return_inverse=True)
                _, inverse = np.unique(inverse * (int(inner.max()) + 1) + inner, return_inverse=True)
            _, first = np.unique(inverse, return_index=True)
            bits = np.unpackbits(words[first].view(np.uint8), axis=1, bitorder="little")
            names = [self._set(np.flatnonzero(row)) for row in bits]
        places: dict[str, int] = {}
        codes = np.array([-1 if t is None else places.setdefault(t, len(places)) for t in names], dtype=np.int32)
        of_rows = codes[inverse.reshape(-1)][boxes.of_rows]
        return Column.of_codes(self.name, of_rows, pa.array(list(places), pa.string()))

    def _range(self, low: int, high: int) -> str | None:
        return self.labels[low] if low == high else f"{self.labels[low]}-{self.labels[high]}"

    def _set(self, places: NDArray[Any]) -> str | None:
        """One value as it is; a whole branch of the hierarchy by its label; otherwise the values, joined."""
        own = frozenset(self.labels[int(p)] for p in places)
        if len(own) == 1:
            return next(iter(own))
        return self.branches.get(own) or " | ".join(sorted("NULL" if t is None else t for t in own))


def branches(h: Hierarchy, labels: tuple[str | None, ...]) -> dict[frozenset[str | None], str]:
    """The sets of the column's values that one label of the hierarchy covers."""
    paths = h.path()
    out: dict[frozenset[str | None], str] = {}
    for level in range(1, h.height + 1):
        sets: dict[str | None, set[str | None]] = {}
        for label in labels:
            sets.setdefault(paths[label][level], set()).add(label)
        for name, members in sets.items():
            if name is not None:
                out.setdefault(frozenset(members), name)
    return out


@dataclass(frozen=True, eq=False)
class Tree:
    """All cuts. Nodes come parents first; node i holds rows[first[i]:last[i]]."""

    rows: Ints
    parent: Ints
    first: Ints
    last: Ints
    leaf: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.parent)


def cut(dimensions: list[Dimension], k: int, *, relaxed: bool) -> Tree:
    """Run the kernel."""
    try:
        from nowiser.microdata.methods.mondrian_kernel import split
    except ImportError:
        raise Misconfigured(
            "mondrian is compiled with numba, which is not installed", hint="pip install nowiser[rows]"
        ) from None
    binned = [_binned(d) for d in dimensions]
    sizes = np.array([len(position) for _, position in binned], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    kind = np.int16 if sizes.max() < 2**15 else np.int32
    data = np.stack([place.astype(kind) for place, _ in binned], axis=1)
    ordered = np.array([d.ordered for d in dimensions])
    spans = np.array([d.span for d in dimensions])
    positions = np.concatenate([position for _, position in binned])
    return Tree(*split(data, sizes, ordered, positions, starts, spans, k, relaxed))


def _binned(dimension: Dimension) -> tuple[NDArray[np.int32], Floats]:
    """Places for the kernel: numbers with very many values are cut only between equally filled bins of them."""
    values = len(dimension.labels)
    if values <= BINS or not dimension.ordered:
        return dimension.place, dimension.position
    filled = np.cumsum(np.bincount(dimension.place, minlength=values))
    bin_of = np.minimum((filled - 1) * BINS // filled[-1], BINS - 1)
    bins, first = np.unique(bin_of, return_index=True)
    return np.searchsorted(bins, bin_of).astype(np.int32)[dimension.place], dimension.position[first]


def united(table: MicroTable, run: Run, tree: Tree) -> Boxes:
    """The boxes, after uniting boxes that break a model."""
    whole = np.zeros(len(tree), bool)  # nodes whose parts are united
    models = [m for m in run.models if m.name != "k-anonymity"]
    if models:
        groups = tree_groups(table, run, tree)
        passes = ~failing(models, groups)
        fine = np.where(tree.leaf, passes, True)  # whether the node is covered by boxes that pass
        for node in range(len(tree) - 1, -1, -1):
            if fine[node]:
                continue
            if passes[node]:
                whole[node] = fine[node] = True
            elif node:
                fine[tree.parent[node]] = False
        if not fine[0]:
            bad = next(m for m in models if m.failing(groups)[0])
            raise NotAnswerable(f"even the whole table as one box breaks {bad.name} = {bad.limit:g}")
    return _boxes(tree, whole)


def _boxes(tree: Tree, whole: NDArray[np.bool_]) -> Boxes:
    """Leaves, and nodes whose parts were united (then nothing below them counts)."""
    if not whole.any():
        return Boxes(tree.rows, np.sort(tree.first[tree.leaf]))
    closed = np.zeros(len(tree), bool)
    starts = []
    for node in range(len(tree)):
        if node and closed[tree.parent[node]]:
            closed[node] = True
        elif tree.leaf[node] or whole[node]:
            starts.append(int(tree.first[node]))
            closed[node] = True
    return Boxes(tree.rows, np.array(sorted(starts), dtype=np.int64))


def tree_groups(table: MicroTable, run: Run, tree: Tree) -> Groups:
    """Every node of the tree as a group: sizes and sensitive histograms, summed from the leaves up."""
    columns = [c for c in run.roles.sensitive if any(m.column == c for m in run.models)]
    targets = targets_of(table, columns, run.models, run.hierarchies)
    leaves = np.flatnonzero(tree.leaf)
    member = np.empty(len(tree.rows), np.int64)
    for i, node in enumerate(leaves):
        member[tree.rows[tree.first[node] : tree.last[node]]] = i
    histograms = []
    for target in targets:
        total = np.zeros((len(tree), len(target.totals)), np.int32)
        total[leaves] = histogram(member, len(leaves), table, target)
        for at in range(len(tree) - 1, 0, -1):
            total[tree.parent[at]] += total[at]
        histograms.append(total)
    codes = np.arange(len(tree), dtype=np.int32)[:, None]
    size = (tree.last - tree.first).astype(np.int64)
    return Groups(codes, size, tuple(histograms), tuple(targets), rows=table.rows)


METHOD = Mondrian
