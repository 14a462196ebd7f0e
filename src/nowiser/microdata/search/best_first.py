"""The best full-domain generalisation, with proof.

Nodes are taken in the order of a lower bound that holds for everything above them, starting at the
untouched table. Three facts keep the search exact and small:

1. *Cuts.* When the monotone models rule a node out, they rule out everything below it. The node is first
   lifted to a highest node u that is still ruled out; from then on any node l ≤ u is replaced by the
   nodes l with attribute j raised to u_j + 1, one per attribute, because every feasible node above l
   exceeds u somewhere. Large parts of the lattice are never listed.
2. *Stop.* When the smallest bound left is no better than the best node found, that node is optimal.
3. *No children.* Where the loss rises with generalisation, nothing above a node that needs no
   suppression and has only closed models can be better than it.

If time runs out first, the smallest bound left is the proved gap.
"""

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.method_contract import quiet
from nowiser.microdata.search.problem import Found, Node, Problem, blocked, blocked_by_size, evaluate
from nowiser.microdata.search.rollup import Rollup
from nowiser.microdata.table.column import Codes

LARGE = 100_000  # nodes from which a good first guess is worth a search of its own

MANY = 20_000  # groups from which the order of lifting is chosen for speed


@dataclass
class Search:
    """One run over one lattice."""

    problem: Problem
    seconds: float = 60.0
    progress: Callable[[float, str], None] = quiet
    rollup: Rollup = field(init=False)
    best: Node | None = None
    found: list[Node] = field(default_factory=list)
    cuts: Codes = field(init=False)
    cut_count: int = 0
    checked: int = 0

    def __post_init__(self) -> None:
        self.rollup = Rollup(self.problem)
        self.cuts = np.zeros((64, len(self.problem.hierarchies)), np.int32)
        self._parts = self.problem.loss.parts
        self._seen: set[Levels] = set()
        self._heap: list[tuple[float, Levels]] = []
        self._lift_order = list(range(len(self.problem.heights)))
        self._sizes_decide = self.problem.base.people is None and all(
            getattr(m, "by_size", False) for m in self.problem.models
        )
        self._simple = all(m.closed for m in self.problem.models) and self.problem.loss.rising

    def run(self) -> Found:
        """Best-first to the proof, or to the end of the time."""
        end = time.monotonic() + self.seconds
        self._dive()
        if self.problem.nodes > LARGE and self.problem.loss.rising:
            self._exchange(time.monotonic() + self.seconds / 4)
        self._push(0.0, tuple(0 for _ in self.problem.heights))
        first = self._heap[0][0] if self._heap else 0.0
        turn = 0
        while self._heap:
            floor, levels = heapq.heappop(self._heap)
            if self.best is not None and floor >= self.best.loss - 1e-12:
                break
            turn += 1
            if turn % 64 == 0:
                if time.monotonic() > end:
                    return self._result(floor)
                self._report(first, floor)
            self._visit(floor, levels)
        return self._result(self.best.loss if self.best else float("inf"))

    def _result(self, bound: float) -> Found:
        others = sorted(self.found, key=lambda n: (n.loss, n.suppressed))[:20]
        return Found(self.best, bound, self.checked, self.problem.nodes, tuple(others))

    def _report(self, first: float, floor: float) -> None:
        if self.best is None:
            self.progress(0.0, f"{self.checked} checks, nothing feasible yet")
            return
        span = self.best.loss - first
        done = min(1.0, (floor - first) / span) if span > 0 else 1.0
        self.progress(done, f"best {self.best.loss:.6f}, at least {floor:.6f}, {self.checked} checks")

    def _floor(self, inherited: float, levels: Levels) -> float:
        if self._parts is None:
            return inherited
        return float(sum(p[level] for p, level in zip(self._parts, levels, strict=True)))

    def _push(self, inherited: float, levels: Levels) -> None:
        if levels in self._seen:
            return
        self._seen.add(levels)
        floor = self._floor(inherited, levels)
        if self.best is None or floor < self.best.loss - 1e-12:
            heapq.heappush(self._heap, (floor, levels))

    def _visit(self, floor: float, levels: Levels) -> None:
        cut = self._cut_above(levels)
        if cut is None:
            ruled_out = self._ruled_out_from(levels)
            if ruled_out is not None:
                cut = self._lift(ruled_out)
        if cut is not None:
            for j, height in enumerate(self.problem.heights):
                if cut[j] < height:
                    self._push(floor, (*levels[:j], cut[j] + 1, *levels[j + 1 :]))
            return
        groups = self.rollup.groups(levels)
        node = self._consider(levels, groups)
        if node is not None and node.suppressed == 0 and self._simple:
            return
        floor = max(floor, self.problem.loss.floor(levels, groups))
        for j, height in enumerate(self.problem.heights):
            if levels[j] < height:
                self._push(floor, (*levels[:j], levels[j] + 1, *levels[j + 1 :]))

    def _consider(self, levels: Levels, groups: Groups) -> Node | None:
        self.checked += 1
        node = evaluate(self.problem, levels, groups)
        if node is not None:
            self.found.append(node)
            better = (node.loss, node.suppressed, node.levels)
            if self.best is None or better < (self.best.loss, self.best.suppressed, self.best.levels):
                self.best = node
        return node

    def _cut_above(self, levels: Levels) -> Levels | None:
        if not self.cut_count:
            return None
        above = np.logical_and.reduce(self.cuts[: self.cut_count] >= np.array(levels, np.int32), axis=1)
        at = int(above.argmax())
        return tuple(int(x) for x in self.cuts[at]) if above[at] else None

    def _ruled_out_from(self, levels: Levels) -> Levels | None:
        """A node at or above this one that is ruled out, and this one with it; None if it is not.

        Groups are few where the attribute with most values is generalised, so it is looked for there first.
        """
        tried = [levels]
        if len(self.problem.base) > MANY:
            widest = max(range(len(levels)), key=lambda j: len(self.problem.hierarchies[j].labels[levels[j]]))
            heights = range(levels[widest], self.problem.heights[widest] + 1)
            tried = [(*levels[:widest], level, *levels[widest + 1 :]) for level in reversed(heights)]
        for trial in tried:
            self.checked += 1
            if blocked(self.problem, self.rollup.groups(trial)):
                return trial
        return None

    def _lift(self, levels: Levels) -> Levels:
        """A highest node above `levels` that the monotone models still rule out; remembered as a cut."""
        current = list(levels)
        groups = self.rollup.groups(levels)
        order = self._lift_order
        if len(groups) > MANY:  # first what unites most groups, so that the rest is cheap
            order = sorted(order, key=lambda j: -len(self.problem.hierarchies[j].labels[levels[j]]))
        for j in order:
            low, high = current[j], self.problem.heights[j]  # `low` is ruled out; find the highest such level
            while low < high:
                middle = high if low == current[j] else (low + high + 1) // 2
                trial = (*current[:j], middle, *current[j + 1 :])
                self.checked += 1
                rolled = self._ruled_out(groups, tuple(current), trial)
                if rolled is not None:
                    current[j], low, groups = middle, middle, rolled
                else:
                    high = middle - 1
        if self.cut_count == len(self.cuts):
            self.cuts = np.concatenate([self.cuts, np.zeros_like(self.cuts)])
        self.cuts[self.cut_count] = current
        self.cut_count += 1
        self._lift_order = self._lift_order[1:] + self._lift_order[:1]
        return tuple(current)

    def _ruled_out(self, groups: Groups, start: Levels, trial: Levels) -> Groups | None:
        """The groups at `trial` if it is ruled out. Sizes alone are counted first; they often decide."""
        if self._sizes_decide and not blocked_by_size(self.problem, self.rollup.sizes_at(groups, start, trial)):
            return None
        rolled = self.rollup.roll(groups, start, trial)
        return rolled if blocked(self.problem, rolled) else None

    def _dive(self) -> None:
        """A first feasible node: from the top down, always the step that lowers the bound most and stays feasible."""
        heights = self.problem.heights
        current = heights
        if self._consider(current, self.rollup.groups(current)) is None or not self.problem.loss.rising:
            return
        stuck: set[int] = set()
        while len(stuck) < len(heights):
            options = [j for j in range(len(heights)) if j not in stuck and current[j] > 0]
            if not options:
                return
            steps = {j: (*current[:j], current[j] - 1, *current[j + 1 :]) for j in options}
            j = min(options, key=lambda i: (self._floor(0.0, steps[i]), i))
            if self._consider(steps[j], self.rollup.groups(steps[j])) is None:
                stuck.add(j)
            else:
                current = steps[j]

    def _exchange(self, end: float) -> None:
        """A better node near the best: one attribute finer and at most one other coarser, as long as that helps."""
        improved = True
        while improved and self.best is not None and time.monotonic() < end:
            improved = False
            levels, heights = self.best.levels, self.problem.heights
            for down in range(len(levels)):
                if not levels[down] or improved:
                    continue
                finer = (*levels[:down], levels[down] - 1, *levels[down + 1 :])
                others = [u for u in range(len(levels)) if u != down and levels[u] < heights[u]]
                for trial in [finer, *((*finer[:u], finer[u] + 1, *finer[u + 1 :]) for u in others)]:
                    before = self.best
                    if self._floor(0.0, trial) < before.loss and self._cut_above(trial) is None:
                        self._consider(trial, self.rollup.groups(trial))
                        if self.best is not before:
                            improved = True
                            break


def search(problem: Problem, *, seconds: float = 60.0, progress: Callable[[float, str], None] = quiet) -> Found:
    """The best node of the lattice for this problem, and what is proved about it."""
    return Search(problem, seconds, progress).run()
