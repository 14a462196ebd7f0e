"""Rows settled one node of the lattice at a time: what local recoding and cell suppression have in common.

At a node, every group of the rows not yet settled that breaks no model is released at that node's levels.
Groups settled at different nodes carry different labels. Where they carry the same, they unite, which all
closed models survive; the flow measures the final table in any case.
"""

from dataclasses import dataclass, field

import numpy as np

from nowiser.microdata.groups.groups import Groups, merge
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.losses.loss import scaled
from nowiser.microdata.search.problem import Problem, failing
from nowiser.microdata.search.rollup import Rollup
from nowiser.microdata.table.column import Codes, Ints
from nowiser.microdata.table.micro_table import group_codes


@dataclass
class Settling:
    """Distinct tuples, and the node at which each was settled (−1: not yet)."""

    problem: Problem
    nodes: list[Levels] = field(default_factory=list)
    at: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.at = np.full(len(self.problem.base), -1, np.int64)
        self.group = np.full(len(self.problem.base), -1, np.int64)  # settled tuples of one group share a number
        self._groups = 0
        self.rollup = Rollup(self.problem)
        self.bottom = tuple(0 for _ in self.problem.heights)

    @property
    def open_rows(self) -> int:
        return int(self.problem.base.size[self.at < 0].sum())

    def open(self) -> Groups:
        return self.problem.base.keep(self.at < 0)

    def good(self, levels: Levels) -> tuple[Groups, Codes, Ints]:
        """The groups of the open tuples at a node that pass, every open tuple's codes there, and its group or −1."""
        base = self.open()
        groups = self.rollup.roll(base, self.bottom, levels)
        bad = failing(self.problem.models, groups)
        columns = [self.rollup.maps[j][0][level][base.codes[:, j]] for j, level in enumerate(levels)]
        sizes = [len(h.labels[level]) for h, level in zip(self.problem.hierarchies, levels, strict=True)]
        both = [np.concatenate([c, groups.codes[:, j]]) for j, c in enumerate(columns)]
        key, _ = group_codes(both, sizes)
        own, theirs = key[: len(base)], key[len(base) :]
        order = np.argsort(theirs)
        member = order[np.searchsorted(theirs[order], own)]
        return groups, np.stack(columns, axis=1), np.where(bad[member], -1, member)

    def gain(self, levels: Levels) -> int:
        """How many open rows this node would settle."""
        groups = self.rollup.roll(self.open(), self.bottom, levels)
        return int(groups.size[~failing(self.problem.models, groups)].sum())

    def settle(self, levels: Levels) -> int:
        """Settle what passes at this node; the number of rows."""
        left = np.flatnonzero(self.at < 0)
        if not len(left):
            return 0
        _, _, member = self.good(levels)
        settled = left[member >= 0]
        if not len(settled):
            return 0
        self.nodes.append(levels)
        self.at[settled] = len(self.nodes) - 1
        self.group[settled] = member[member >= 0] + self._groups
        self._groups += len(self.problem.base) + 1
        return int(self.problem.base.size[settled].sum())

    def absorb(self, levels: Levels) -> None:
        """Let open tuples join settled groups that look like them at this node.

        The groups they join (the smallest that suffice) are released at this node together with them, so
        everybody in the new group still looks alike.
        """
        left = np.flatnonzero(self.at < 0)
        usable = np.array([all(a <= b for a, b in zip(n, levels, strict=True)) for n in self.nodes] + [False])
        settled = np.flatnonzero(usable[self.at])
        if not len(left) or not len(settled):
            return
        key = self._keys(levels)
        for wanted in np.unique(key[left]):
            mine = left[key[left] == wanted]
            near = settled[(key[settled] == wanted) & (self.at[settled] >= 0)]
            groups, inverse = np.unique(self.group[near], return_inverse=True)
            rows = np.bincount(inverse, weights=self.problem.base.size[near], minlength=len(groups))
            joined = mine
            for g in np.argsort(rows, kind="stable"):
                joined = np.concatenate([joined, near[inverse == g]])
                if self._passes(joined):
                    self.nodes.append(levels)
                    self.at[joined] = len(self.nodes) - 1
                    self._groups += 1
                    self.group[joined] = self._groups
                    break

    def _keys(self, levels: Levels) -> Ints:
        columns = [self.rollup.maps[j][0][at][self.problem.base.codes[:, j]] for j, at in enumerate(levels)]
        sizes = [len(h.labels[at]) for h, at in zip(self.problem.hierarchies, levels, strict=True)]
        return np.asarray(group_codes(columns, sizes)[0], dtype=np.int64)

    def _passes(self, tuples: Ints) -> bool:
        part = self.problem.base.keep(np.isin(np.arange(len(self.at)), tuples))
        whole = merge(part, np.zeros(len(part), np.int64), 1, part.codes[:1])
        return not failing(self.problem.models, whole).any()

    def finish(self, limit: int) -> bool:
        """Bring the open rows below the limit: reopen what was settled last, together with them, at the top."""
        top = self.problem.heights
        while self.open_rows > limit and self.nodes:
            self.at[self.at == len(self.nodes) - 1] = -1
            self.nodes.pop()
            self.settle(top)
            if self.open_rows > limit and self.nodes and self.nodes[-1] == top:
                self.at[self.at == len(self.nodes) - 1] = -1
                self.nodes.pop()
        return self.open_rows <= limit

    def loss(self) -> float:
        """ARX's Loss of the outcome: every row at its own node's levels, open rows lost."""
        base, rows = self.problem.base, int(self.problem.base.size.sum())
        total = 0.0
        for j, h in enumerate(self.problem.hierarchies):
            covered = float(base.size[self.at < 0].sum())
            for n, levels in enumerate(self.nodes):
                mine = self.at == n
                codes = self.rollup.maps[j][0][levels[j]][base.codes[mine, j]]
                covered += float(base.size[mine] @ h.shares[levels[j]][codes])
            total += scaled(covered, rows, h.domain)
        return total / max(1, len(self.problem.hierarchies))


def climb(settling: Settling, top: Levels | None = None) -> None:
    """From the bottom up: settle, then raise the attribute that settles most rows for the loss it adds."""
    problem = settling.problem
    top = problem.heights if top is None else top
    parts = problem.loss.parts
    levels = settling.bottom
    settling.settle(levels)
    path = [levels]
    while settling.open_rows and levels != top:
        options = []
        for j, height in enumerate(top):
            if levels[j] < height:
                nxt = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
                cost = float(parts[j][nxt[j]] - parts[j][levels[j]]) if parts is not None else 1.0
                options.append(((settling.gain(nxt) + 1) / (cost + 1e-9), -j, nxt))
        levels = max(options)[2]
        path.append(levels)
        settling.settle(levels)
    for levels in path:
        settling.absorb(levels)
