"""Runs the steps that compute further with the rows of an answer (`sql/steps.py`). Everything here is free.

A table is rows of traced numbers, a note for each column whether noise has a part in it, and a note whether noise has
decided which rows there are or in which order they stand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.answer.totals import SumBar, counted, total
from nowiser.sql.answer.traced import Half, Traced, barless, computed, exact
from nowiser.sql.answer.windows import OTHERS, RANKS, elsewhere, framed, in_order, ranks
from nowiser.sql.evaluate import evaluate
from nowiser.sql.steps import Beside, Gather, Keep, Once, Project, Slice, Sort, Step, Window
from nowiser.sql.tree import Expression, Shown, parts

Row = list[Traced]


@dataclass(frozen=True)
class Noise:
    """Which columns are noisy, and whether noise decides which rows there are, or their order."""

    columns: tuple[bool, ...]
    rows: bool = False
    order: bool = False

    def of(self, *expressions: Expression | None) -> bool:
        shown = (p for e in expressions if e is not None for p in parts(e) if isinstance(p, Shown))
        return any(self.columns[p.index] for p in shown)


def noisy(noise: Noise, steps: Sequence[Step]) -> Noise:
    """The same after these steps. Known before any data is read."""
    for step in steps:
        noise = _noisy(noise, step)
    return noise


def _noisy(noise: Noise, step: Step) -> Noise:
    match step:
        case Keep(condition):
            return replace(noise, rows=noise.rows or noise.of(condition))
        case Gather(keys, totals):
            chosen = noise.rows or noise.of(*keys)
            return Noise(
                (
                    *(noise.of(k) for k in keys),
                    *(chosen or noise.of(t.condition) or _total_noisy(noise, t.function, t.argument) for t in totals),
                ),
                chosen and bool(keys),
            )
        case Beside(windows):
            return replace(noise, columns=(*noise.columns, *(_window_noisy(noise, w) for w in windows)))
        case Project(outputs):
            return replace(noise, columns=tuple(noise.of(o.expression) for o in outputs))
        case Sort(order):
            return replace(noise, order=noise.of(*(o.expression for o in order)))
        case Once():
            return replace(noise, rows=noise.rows or any(noise.columns))
        case Slice():
            return replace(noise, rows=noise.rows or noise.order)


def _total_noisy(noise: Noise, function: str, argument: Expression | None) -> bool:
    if function == "count" and argument is not None and not argument.type.nullable:
        return False  # every row counts
    return noise.of(argument)


def _window_noisy(noise: Noise, w: Window) -> bool:
    placed = noise.of(*w.partition, *(o.expression for o in w.order), w.condition)
    return placed or noise.rows or (not w.order and noise.order) or noise.of(*w.args)


@dataclass
class Table:
    """Rows after some steps. `among`: how many rows there were before noise first chose from them."""

    rows: list[Row]
    noise: Noise
    sum_bar: SumBar
    among: int = 1

    def after(self, steps: Sequence[Step]) -> "Table":
        found = self
        for step in steps:
            found = found.then(step)
        return found

    def then(self, step: Step) -> "Table":
        noise, many = _noisy(self.noise, step), len(self.rows)
        among = max(1, many) if noise.rows and not self.noise.rows else self.among
        match step:
            case Keep(condition):
                held = self.column(condition)
                rows = [r for r, h in zip(self.rows, held, strict=True) if h.value is True]
            case Gather():
                rows, among = self._gathered(step), self.among
            case Beside(windows):
                found = [self._window(w) for w in windows]
                rows = [[*r, *(f[i] for f in found)] for i, r in enumerate(self.rows)]
            case Project(outputs):
                columns = [self.column(o.expression) for o in outputs]
                rows = [[c[i] for c in columns] for i in range(many)]
            case Sort(order):
                columns = [self.column(o.expression) for o in order]
                keys = [[c[i].value for c in columns] for i in range(many)]
                rows = [self.rows[i] for i in in_order(keys, order)]
            case Once():
                kept: dict[tuple[Any, ...], Row] = {}
                for row in self.rows:
                    kept.setdefault(tuple(t.value for t in row), row)
                rows = list(kept.values())
            case Slice(limit, offset):
                rows = self.rows[offset : None if limit is None else offset + limit]
        return Table(rows, noise, self.sum_bar, among)

    def column(self, e: Expression) -> list[Traced]:
        """The values of an expression, row by row."""
        if isinstance(e, Shown):
            return [row[e.index] for row in self.rows]
        found = []
        for row in self.rows:
            leaf = partial(_leaf, row)
            found.append(computed(e, evaluate(e, lambda x, leaf=leaf: leaf(x).value), leaf))  # type: ignore[misc]  # one row
        return found

    def _gathered(self, step: Gather) -> list[Row]:
        keys = [self.column(k) for k in step.keys]
        groups: dict[tuple[Any, ...], list[int]] = {} if step.keys else {(): []}
        for i in range(len(self.rows)):
            groups.setdefault(tuple(k[i].value for k in keys), []).append(i)
        chosen = self.noise.rows or self.noise.of(*step.keys)
        conditions = [None if t.condition is None else self.column(t.condition) for t in step.totals]
        values = [None if t.argument is None else self.column(t.argument) for t in step.totals]
        rows = []
        for places in groups.values():
            row = [k[places[0]] for k in keys]
            for one, condition, column in zip(step.totals, conditions, values, strict=True):
                inside = [i for i in places if condition is None or condition[i].value is True]
                noise = chosen or self.noise.of(one.condition)
                row.append(self._total(one.function, inside, one.argument, column, noise=noise))
            rows.append(row)
        return rows

    def _total(
        self, function: str, places: Sequence[int], e: Expression | None, column: list[Traced] | None, *, noise: bool
    ) -> Traced:
        if column is None or e is None or (function == "count" and not e.type.nullable):
            return counted(len(places), noise=noise)
        return total(function, [column[i] for i in places], e.type.kind, self.sum_bar, noise=noise)

    def _window(self, w: Window) -> list[Traced]:
        partition, by = [self.column(p) for p in w.partition], [self.column(o.expression) for o in w.order]
        args = [self.column(a) for a in w.args]
        held = None if w.condition is None else self.column(w.condition)
        groups: dict[tuple[Any, ...], list[int]] = {}
        for i in range(len(self.rows)):
            groups.setdefault(tuple(p[i].value for p in partition), []).append(i)
        found: list[Traced | None] = [None] * len(self.rows)
        for places in groups.values():
            keys = [[c[i].value for c in by] for i in places]
            order = in_order(keys, w.order)
            sorted_keys, at = [keys[i] for i in order], [places[i] for i in order]
            for i, one in zip(at, self._over(w, at, sorted_keys, args, held), strict=True):
                found[i] = one
        return [one for one in found if one is not None]

    def _over(
        self, w: Window, at: list[int], keys: list[list[Any]], args: list[list[Traced]], held: list[Traced] | None
    ) -> list[Traced]:
        """One partition, its rows in order."""
        placed = self.noise.rows or self.noise.of(*w.partition, *(o.expression for o in w.order), w.condition)
        placed = placed or (not w.order and self.noise.order)
        if w.function in RANKS:
            tiles = int(args[0][at[0]].value) if args else 1
            numbers = ranks(w.function, keys, w.order, tiles)
            return [barless(n) if placed else exact(n, Kind.INTEGER) for n in numbers]
        frames = framed(w.frame, keys, w.order)
        if w.function in OTHERS:
            found = elsewhere(w.function, [[a[i] for i in at] for a in args], frames)
            return [barless(f.value) for f in found] if placed else found
        known: dict[tuple[int, int], Traced] = {}
        for start, stop in frames:
            if (start, stop) not in known:
                inside = [i for i in at[start:stop] if held is None or held[i].value is True]
                argument, column = (w.args[0], args[0]) if w.args else (None, None)
                known[start, stop] = self._total(w.function, inside, argument, column, noise=placed)
        return [known[f] for f in frames]


def _leaf(row: Row, e: Expression) -> Traced:
    assert isinstance(e, Shown), "steps see released rows only"
    return row[e.index]


def bars(table: Table, column: int) -> list[Half]:
    """The bar of each row; where noise has a part in a column, no number of it passes for exact."""
    if not table.noise.columns[column]:
        return [0.0] * len(table.rows)
    return [row[column].bar(table.among) or None for row in table.rows]
