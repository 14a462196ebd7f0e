"""What the search is given, and what one node of the lattice is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups, as_released
from nowiser.microdata.groups.people import by_person
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.base import BoundLoss, Levels
from nowiser.microdata.models import Model, TableModel, sized
from nowiser.microdata.table.column import Ints


@dataclass(frozen=True, eq=False)
class Problem:
    """Distinct tuples at level 0 with their counts, what they may become, what must hold, what is minimised."""

    hierarchies: tuple[Hierarchy, ...]
    base: Groups  # codes are codes of the hierarchies' level 0
    models: tuple[Model, ...]
    loss: BoundLoss
    suppress: int = 0  # rows
    most: tuple[BoundLoss, float] | None = None  # another loss that must not exceed this

    @cached_property
    def heights(self) -> Levels:
        return tuple(h.height for h in self.hierarchies)

    @property
    def nodes(self) -> int:
        """The size of the lattice."""
        size = 1
        for h in self.hierarchies:
            size *= h.height + 1
        return size


@dataclass(frozen=True)
class Node:
    """A full-domain generalisation: the level of every attribute, and what it costs."""

    levels: Levels
    loss: float
    suppressed: int
    groups: int  # left after suppression


@dataclass(frozen=True)
class Found:
    """The outcome of a search. `bound` is proved: no feasible node has a smaller loss."""

    best: Node | None
    bound: float
    checked: int
    nodes: int
    others: tuple[Node, ...] = ()

    @property
    def optimal(self) -> bool:
        return self.best is not None and self.best.loss <= self.bound + 1e-12

    @property
    def gap(self) -> float:
        """How much better an unknown node could at most be."""
        return 0.0 if self.best is None else max(0.0, self.best.loss - self.bound)


def failing(models: Sequence[Model], groups: Groups) -> NDArray[np.bool_]:
    """Groups that break at least one model and must be suppressed, repeated until what is left stands.

    Only models that look beyond one group (a gain for attackers who know a part) can fail again after
    others were suppressed; for all other combinations the first round is the last.
    """
    groups = by_person(groups)
    out = np.zeros(len(groups), bool)
    for model in models:
        out |= model.failing(groups)
    if not out.any() or not any(getattr(m, "knows", None) is not None for m in models):
        return out
    while not out.all():
        left = np.flatnonzero(~out)
        again = np.zeros(len(left), bool)
        rest = by_person(groups.keep(~out))
        for model in models:
            again |= model.failing(rest)
        if not again.any():
            return out
        out[left[again]] = True
    return out


def suppressed(models: Sequence[Model], groups: Groups, most: int | None = None) -> NDArray[np.bool_]:
    """Groups that are left out: those too small, those that break a model, as few as make the rest keep table models.

    Those too small go first, and the others are judged by the shares that they show themselves, again and again:
    nothing that is told may depend on the secrets of rows left out. A table model cannot say which group is at fault,
    but which it blames most; these go first, one by one. Once more than `most` are out, it does not go on.
    """
    out = failing(sized(models), groups)
    if not groups.targets:
        out |= failing(models, groups)
    whole = [m for m in models if isinstance(m, TableModel) and m.limit is not None]
    while not out.all() and (most is None or affected(groups, out) <= most):
        rest, left = groups.keep(~out), np.flatnonzero(~out)
        again = np.flatnonzero(failing(models, as_released(rest))) if groups.targets else left[:0]
        if not len(again):
            judged = by_person(rest)
            broken = next((m for m in whole if not m.holds(m.value(judged))), None)
            if broken is None:
                return out
            again = _fewest(broken, judged)
        out[left[again]] = True
    return out


def _fewest(model: TableModel, groups: Groups) -> NDArray[np.int64]:
    """The shortest beginning of the order of blame without which the model holds."""
    real = np.flatnonzero(groups.size > 0)
    codes = [groups.codes[real, j] for j in range(groups.codes.shape[1])]  # ties: by their codes, however counted
    order = real[np.lexsort((*reversed(codes), -model.blame(groups)[real]))]
    low, high = 0, len(order)  # without `low` of them it fails, without `high` it holds
    while high - low > 1:
        middle = (low + high) // 2
        keep = np.ones(len(groups), bool)
        keep[order[:middle]] = False
        if model.holds(model.value(by_person(groups.keep(keep)))):
            high = middle
        else:
            low = middle
    return order[:high]


def affected(groups: Groups, bad: NDArray[np.bool_]) -> int:
    """Who loses a row when these groups are left out: persons where they are counted, else rows."""
    return int(groups.size[bad].sum()) if groups.people is None else groups.people.heads(bad)


def evaluate(problem: Problem, levels: Levels, groups: Groups) -> Node | None:
    """The node if it satisfies everything, else None. Exactly the groups that break a model are suppressed."""
    bad = suppressed(problem.models, groups, problem.suppress) if problem.suppress else failing(problem.models, groups)
    lost = int(groups.size[bad].sum())
    if affected(groups, bad) > problem.suppress or lost == int(groups.size.sum()):
        return None
    if lost and any(getattr(m, "rows_must_stay", False) for m in problem.models):
        return None
    if (groups.size[bad] == 0).any():  # a group of the population without a row cannot be helped by suppression
        return None
    kept = ~bad
    left = groups.keep(kept)
    judged = by_person(left)
    for model in problem.models:
        if model.scope == "table" and not model.holds(model.value(judged)):
            return None
    if problem.most is not None and problem.most[0].of(levels, groups, kept) > problem.most[1] + 1e-12:
        return None
    loss = problem.loss.of(levels, groups, kept)
    return Node(levels, loss, lost, int((left.size > 0).sum()))


def blocked(problem: Problem, groups: Groups) -> bool:
    """Whether this node *and every node below it* is ruled out.

    Without suppression: a closed model that fails here fails below. With a limit: the rows that are lost
    here and at every finer node (`must_lose`, of the models the strictest per group) exceed the limit.
    """
    if groups.people is not None:
        return _blocked_for_persons(problem, groups)
    if problem.suppress == 0:
        return any(
            m.failing(groups).any() or (m.scope == "table" and not m.holds(m.value(groups)))
            for m in problem.models
            if m.closed
        )
    if blocked_by_size(problem, groups.size):
        return True
    if any(isinstance(m, TableModel) and m.must_lose_rows(groups) > problem.suppress + 1e-6 for m in problem.models):
        return True
    others = [m for m in problem.models if m.scope == "group" and not getattr(m, "by_size", False)]
    if not others:
        return False
    lost, spare = np.zeros(len(groups)), problem.suppress / max(1, int(groups.size.sum()))
    for model in problem.models:
        if model.scope == "group":
            lost = np.maximum(lost, model.must_lose(groups, spare))
    return float(groups.size.astype(np.float64) @ lost) > problem.suppress + 1e-6


def _blocked_for_persons(problem: Problem, groups: Groups) -> bool:
    """The same where persons are counted: only what is closed (or upward) although groups may share persons."""
    judged = by_person(groups)
    models = [m for m in problem.models if getattr(m, "for_persons", False) and (m.upward or problem.suppress == 0)]
    bad = np.zeros(len(groups), bool)
    for model in models:
        bad |= model.failing(judged)
    return affected(groups, bad) > problem.suppress


def blocked_by_size(problem: Problem, size: Ints) -> bool:
    """The same from the sizes of the groups alone: true only if they suffice to rule the node out."""
    for model in problem.models:
        if getattr(model, "by_size", False) and model.limit is not None:
            short = size[size < model.limit]
            if int(short.sum()) > problem.suppress or (short == 0).any():
                return True
    return False
