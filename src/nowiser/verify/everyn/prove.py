"""A proof for every length: one linear programme over all turns of all loops.

A state is a loop head together with how the two runs differ there. How far numbers without noise in them are apart is
computed by bounding it turn after turn. Numbers with noise in them are kept apart by a constant that is tried: 0, or
as far as an element can move, up or down. Then all shifts, and for each state a form that bounds what was spent, are
unknowns of one programme, whose conclusions are: every turn keeps what holds, and what was spent at the end is least.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from nowiser.verify import tree as t
from nowiser.verify.bounded.cases import Case, partners
from nowiser.verify.bounded.regions import combination, terms
from nowiser.verify.bounded.step import FREE, ONE_SIDED, written
from nowiser.verify.check.loops import plain
from nowiser.verify.everyn.machine import Facts, Follower, Head
from nowiser.verify.everyn.relation import (
    BEFORE,
    Apart,
    Key,
    Move,
    State,
    Way,
    allowed,
    name_of,
    second_run,
    tightened,
    ways,
    whole_symbols,
)
from nowiser.verify.language.read import read
from nowiser.verify.outside import MixedPowers, Outside
from nowiser.verify.programme import Premise, Programme, Solved, at
from nowiser.verify.question import Question
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Bounds, Limits, Path, Row, entries, support, tree_of

ROUNDS = 6
MOST_STATES = 40
START: Key = ("start", BEFORE, "", ())
Turns = Sequence[tuple[str, Path]]


class _No(Exception):
    """The attempt proves nothing."""


@dataclass(frozen=True)
class Edge:
    source: Key
    target: Key | None
    move: Move
    first: Path | None  # None: this run does not take the turn
    second: Path | None
    known: list[Row]
    runs: dict[str, Form]  # what stands for each symbol in the second run
    mode: str
    loose: bool = False  # the second run decides for itself, and nothing is shifted

    @property
    def name(self) -> str:
        paths = [("-" if p is None else f"{self.mode}:{p.name}") for p in (self.first, self.second)]
        return "|".join([name_of(self.source), self.move.name, *paths, *(["loose"] if self.loose else [])])


def every_length(question: Question, epsilon: Fraction | None, limits: Limits) -> tuple[Fraction, list[Any]] | None:
    """The least cost that is found, and the certificate: one part for each way of being neighbours."""
    text = plain(question.program.source, question.program.name, question.private)
    program = read(text, question.program.name)
    follower = Follower(question, program, epsilon, limits)
    worst, parts = Fraction(0), []
    for way in ways(question.neighbours):
        found = _way(question, follower, way, epsilon, limits)
        if found is None:
            return None
        worst = max(worst, found[0])
        parts.append(found[1])
    return worst, parts


def _way(
    question: Question, follower: Follower, way: Way, epsilon: Fraction | None, limits: Limits
) -> tuple[Fraction, Any] | None:
    attempt = Attempt(question, follower, way, epsilon, limits)
    wanted = question.claim.factor
    best: tuple[Fraction, Any] | None = None
    by = question.neighbours.by
    steps = (Fraction(0),) if by is None or question.neighbours.kind == "length" else (Fraction(0), by, -by)
    for target in ("", *attempt.indices()):
        for distances in product(steps, repeat=len(attempt.noisy)):
            if target and not any(distances):
                continue
            limits.check(": proofs for every length were being tried")
            try:
                found = attempt.solve(dict(zip(sorted(attempt.noisy), distances, strict=True)), target)
            except _No:
                continue
            if best is None or found[0] < best[0]:
                best = found
            if question.claim.symbol and best[0] <= wanted:
                return best
    return best


class Attempt:
    def __init__(
        self, question: Question, follower: Follower, way: Way, epsilon: Fraction | None, limits: Limits
    ) -> None:
        self._question, self._follower, self._way, self._limits = question, follower, way, limits
        self._symbolic = epsilon is None and bool(question.symbol)
        self._kept: dict[Any, Turns] = {}
        self.noisy: frozenset[str] = frozenset()
        self._heads: dict[Any, Head] = {}
        self._learn()

    def _turns(self, key: Key, rows: Sequence[Row] = ()) -> Turns:
        del rows
        if key[0] == "start":
            if "start" not in self._kept:
                self._kept["start"] = list(self._follower.begin())
            return self._kept["start"]
        kept = key[0], key[3], self.noisy
        if kept not in self._kept:
            head = self._heads[key[0], key[3]]
            self._kept[kept] = list(self._follower.turns(key[0], head, self.noisy, ()))
        return self._kept[kept]

    def _learn(self) -> None:
        """Every head that is reached, which numbers have noise in them, which are whole."""
        while True:
            self._heads, before = {}, self.noisy
            waiting: list[Key] = [START]
            while waiting:
                for _, path in self._turns(waiting.pop()):
                    facts: Facts = path.facts
                    if facts.to is None or facts.head is None:
                        continue
                    truths = _truths(facts.head)
                    self.noisy |= {n for n, f in facts.values.items() if any(s.startswith("x") for s in f.terms)}
                    known = self._heads.get((facts.to, truths))
                    if known is not None and known != facts.head:
                        raise Outside("a loop whose variables are not the same each time it is reached")
                    if known is None:
                        self._heads[facts.to, truths] = facts.head
                        waiting.append((facts.to, BEFORE, "", truths))
                    if len(self._heads) > MOST_STATES:
                        raise Outside("too many different states at the heads of loops")
            if self.noisy == before:
                break
        names = {n: True for head in self._heads.values() for n in head.numbers}
        while True:
            whole = whole_symbols(names, data=self._question.whole)
            keys = [START, *((to, BEFORE, "", truths) for to, truths in self._heads)]
            values = [(n, f) for k in keys for _, p in self._turns(k) for n, f in p.facts.values.items()]
            bad = {n for n, f in values if n in self.noisy or not _is_whole(f, whole)}
            if not any(names[n] for n in bad):
                break
            names |= dict.fromkeys(bad, False)
        self._names, self._whole = names, whole

    def indices(self) -> list[str]:
        """Names that say in which turn something happened: they keep their value, or become the loop's index."""
        if self._question.neighbours.kind == "length":
            return []
        found = []
        for name in sorted(self._names):
            values = [
                p.facts.values[name]
                for to, truths in self._heads
                for _, p in self._turns((to, BEFORE, "", truths))
                if name in p.facts.values
            ]
            own, index = Form.symbol(f"v.{name}"), Form.symbol("i")
            if own in values and index in values and all(v in {own, index} for v in values):
                found.append(name)
        return found

    def solve(self, distances: Mapping[str, Fraction], target: str) -> tuple[Fraction, Any]:
        states, edges = self._explore(distances, target)
        self._counters(states, edges)
        edges = [e for key in [START, *states] for e in self._edges(key, states, target)]
        programme = Programme()
        costs = {key: programme.form(self._cost_symbols(state)) for key, state in states.items()}
        written_edges = [self._require(programme, edge, states, costs) for edge in edges]
        solved = programme.solve()
        if solved is None:
            raise _No
        return solved.values[0], self._certificate(states, edges, costs, written_edges, solved, target)

    # --- exploring: which states are reached, and how far apart numbers without noise are

    def _explore(self, distances: Mapping[str, Fraction], target: str) -> tuple[dict[Key, State], list[Edge]]:
        states: dict[Key, State] = {}
        for turn in range(ROUNDS):
            changed = False
            edges = [e for key in [START, *states] for e in self._edges(key, states, target)]
            for edge in edges:
                if edge.target is None:
                    continue
                head = self._heads[edge.target[0], edge.target[3]]
                new = {}
                for name in head.numbers:
                    if name in self.noisy:
                        far = distances[name]
                        new[name] = Apart(-abs(far), abs(far)) if edge.target[2] == "open" else Apart(far, far)
                    else:
                        new[name] = self._bounded(_gap(edge, name, states), edge.known)
                state = states.get(edge.target)
                if state is None:
                    states[edge.target] = State(head, new)
                    changed = True
                    continue
                for name, apart in new.items():
                    joined = state.apart[name].joined(apart)
                    if joined != state.apart[name]:
                        if turn >= ROUNDS - 3:  # it grows with every turn
                            old = state.apart[name]
                            joined = Apart(
                                old.low if joined.low == old.low else None,
                                old.high if joined.high == old.high else None,
                            )
                        state.apart[name] = joined
                        changed = True
            if not changed:
                return states, edges
            self._limits.check(": loops were being compared")
        raise _No

    @staticmethod
    def _bounded(form: Form, known: Sequence[Row]) -> Apart:
        """The range of a form where these rows hold."""
        if form.plain:
            return Apart(form.constant, form.constant)
        if any(n.startswith("x") for n in form.terms):
            raise _No
        names = sorted({*form.terms, *(n for r in known for n in r.form.terms)})
        a = np.array([[-float(r.form.terms.get(n, 0)) for n in names] for r in known]) if known else None
        b = np.array([float(r.form.constant) for r in known]) if known else None
        ends: list[Fraction | None] = []
        for sign in (1, -1):
            c = np.array([sign * float(form.terms.get(n, 0)) for n in names])
            result = linprog(c, A_ub=a, b_ub=b, bounds=[(None, None)] * len(names), method="highs")
            if result.status == 2:  # these rows contradict each other
                return Apart(Fraction(0), Fraction(0))
            value = None if result.status != 0 else Fraction(float(sign * result.fun)).limit_denominator(1000)
            ends.append(None if value is None else value + form.constant)
        return Apart(ends[0], ends[1])

    def _edges(self, key: Key, states: Mapping[Key, State], target: str) -> Iterator[Edge]:
        state = states.get(key)
        turns = self._turns(key)
        for mode in dict.fromkeys(m for m, _ in turns):
            paths = [p for m, p in turns if m == mode]
            root = tree_of(paths)
            for path in paths:
                for move in allowed(self._way.moves, key[1], touched=path.facts.touched or self._turn_more(key, mode)):
                    runs = second_run(state, self.noisy, move, self._way.longer)
                    rows = [] if state is None else [*state.rows, *_apart_rows(state)]
                    if move.skips:
                        yield from self._skipped(key, path, move, rows, runs, mode, states)
                        continue
                    case = Case("", 0, 0, runs, tuple(tightened([*rows, *move.rows], self._whole)))
                    if _impossible(path, case.rows):
                        continue
                    if target:
                        yield from self._targeted(key, path, paths, move, case, mode, target)
                        continue
                    for partner in partners(path, case, root):
                        if partner is None:
                            raise _No
                        other = paths[partner[0]]
                        known = [*case.rows, *path.data_rows, *(d.row for d in partner[1])]
                        to, to_2 = (_target(p, move, key, "") for p in (path, other))
                        if to != to_2:
                            raise _No
                        yield Edge(key, to, move, path, other, tightened(known, self._whole), runs, mode)

    def _turn_more(self, key: Key, mode: str) -> bool:
        """Whether a longer list has a turn more here, even if the turn looks at no element."""
        loops = self._follower.machine.loops
        return bool(self._way.longer) and mode == "turn" and isinstance(loops[key[0]], t.For)

    def _skipped(  # noqa: PLR0917
        self, key: Key, path: Path, move: Move, rows: list[Row], runs: dict[str, Form], mode: str, states: Any
    ) -> Iterator[Edge]:
        """Only one run takes this turn: it may draw nothing and let nothing out."""
        del states
        said = any(content for _, content in path.output[1])
        if path.noises or path.samples or any(d.noisy for d in path.decisions) or said:
            raise _No
        if mode != "turn" or path.facts.to != key[0]:
            raise _No
        to = _target(path, move, key, "")
        own = [Row(r.form.put(runs), r.strict) if move.skips == 1 else r for r in path.data_rows]
        known = tightened([*rows, *own], self._whole)
        yield Edge(
            key, to, move, None if move.skips == 1 else path, path if move.skips == 1 else None, known, runs, mode
        )

    def _targeted(  # noqa: PLR0917
        self, key: Key, path: Path, paths: Sequence[Path], move: Move, case: Case, mode: str, target: str
    ) -> Iterator[Edge]:
        """For one index: before its turn the second run decides for itself; in it and after, both decide alike."""
        settled = key[2] == "settled"
        if path.data_rows or path.samples or (path.facts.touched is False and mode == "turn"):
            raise _No
        if path.facts.to is None:
            if settled:
                yield Edge(key, None, move, path, path, list(case.rows), dict(case.data), mode)
            return
        assigns = key[0] == "start" or path.facts.values.get(target) != Form.symbol(f"v.{target}")
        if entries(path.output)[1]:
            raise _No
        if settled and not assigns:
            to = _target(path, move, key, "settled")
            yield Edge(key, to, move, path, path, list(case.rows), dict(case.data), mode)
        if not settled:
            if assigns:
                to = _target(path, move, key, "settled")
                yield Edge(key, to, move, path, path, list(case.rows), dict(case.data), mode)
            for other in paths:
                if other.noises != path.noises:
                    raise _No
                to = _target(path, move, key, "open")
                yield Edge(key, to, move, path, other, list(case.rows), dict(case.data), mode, loose=True)

    # --- counters: rows about whole numbers of the first run that every turn keeps

    def _counters(self, states: Mapping[Key, State], edges: Sequence[Edge]) -> None:
        public = {f"v.{n}" for n, yes in self._names.items() if yes and n not in self.noisy}
        for key, state in states.items():
            rows = [d.row.form for e in edges if e.first is not None for d in e.first.decisions if not d.noisy]
            own = {f"v.{n}" for n in state.head.numbers} & public
            forms = [f for f in rows if f.terms.keys() <= own]
            state.rows = [
                Row(sign * f + delta, False) for f in dict.fromkeys(forms) for sign in (1, -1) for delta in (0, 1)
            ]
            del key
        while True:
            dropped = False
            for edge in edges:
                if edge.target is None or edge.first is None:
                    continue
                source = states[edge.source].rows if edge.source in states else []
                known = tightened([*source, *edge.known], self._whole)
                new = _values(edge)
                for row in list(states[edge.target].rows):
                    goal = Row(row.form.put(new), False)
                    if goal.form.plain:
                        keeps = goal.form.constant >= 0
                    else:
                        keeps = combination(goal, [r for r in known if _about(r, self._whole)]) is not None
                    if not keeps:
                        states[edge.target].rows.remove(row)
                        dropped = True
            if not dropped:
                return

    # --- the programme

    def _cost_symbols(self, state: State) -> list[str]:
        counters = [f"v.{n}" for n in state.head.numbers if self._names[n] and n not in self.noisy]
        ranges = [f"h.{n}" for n, a in state.apart.items() if not a.known and n not in self.noisy]
        return ["", *counters, *ranges]

    def _require(
        self, programme: Programme, edge: Edge, states: Mapping[Key, State], costs: Mapping[Key, Mapping[str, int]]
    ) -> dict[str, Any]:
        """The conclusions of one edge, in the order the checker has them."""
        first, second = edge.first, edge.second
        known = _premises(edge.known)
        noises = [] if first is None or second is None else self._noises(first, second)
        standing = [r for i, (_, kind, _) in enumerate(noises) for r in support(kind, f"x{i}")]
        wide = known if first is None or second is None else [*known, *_premises([*first.noisy_rows, *standing])]
        z = ["", *sorted({n for row, _ in known for n in row if n})]
        if edge.loose or (edge.target is not None and edge.target[2] and edge.source[2] == "settled"):
            z = []
        elif edge.source[2] or (edge.target is not None and edge.target[2]):
            z = [n for n in z if n in {"", "m", "e"}]
        shifts = {x: programme.form(z) for x, _, _ in noises}
        tops = {x: programme.form(z) for x, kind, _ in noises if kind not in {*ONE_SIDED, *FREE}}
        prices: list[dict[str, int]] = []
        if first is not None and second is not None:
            must = [Row(r.form.put(edge.runs), r.strict) for r in second.noisy_rows]
            if edge.loose:
                wide = [*wide, *_premises(must)]
            else:
                for row in (*must, *standing):
                    moved = [u for x, a in row.form.terms.items() if x in shifts for u in at(shifts[x], a)]
                    programme.require(terms(row.form), moved, wide, strict=row.strict)
            self._equal(programme, edge, shifts, known)
        if edge.target is not None:
            self._hats(programme, edge, states, shifts, wide if edge.loose else known)
        total = [] if edge.source not in costs else at(costs[edge.source], -1)
        for x, kind, scale in noises:
            if kind in ONE_SIDED:
                total += at(shifts[x], -1 / scale)
            elif x in tops:
                total += at(tops[x], -1 / scale)
                for sign in (-1, 1):
                    programme.require({}, [*at(tops[x]), *at(shifts[x], sign)], known)
        for floors in self._floors(edge):
            price = programme.form(["", *sorted({n for row, _ in known for n in row if n})])
            prices.append(price)
            total += at(price, -1)
            for floor in floors:
                programme.require({n: -c for n, c in terms(floor).items()}, at(price), known)
        if edge.target is None:
            total += [("", 0, Fraction(1))]
        else:
            new = _values(edge) | {f"h.{n}": _gap(edge, n, states) for n in states[edge.target].apart}
            for symbol, column in costs[edge.target].items():
                for n, c in terms(new[symbol]).items() if symbol else [("", Fraction(1))]:
                    total.append((n, column, c))
        programme.require({}, total, known)
        return {"shifts": shifts, "tops": tops, "choices": prices, "many": len(programme.conclusions)}

    def _noises(self, first: Path, second: Path) -> list[tuple[str, str, Fraction]]:
        if [(n.kind, n.scale) for n in first.noises] != [(n.kind, n.scale) for n in second.noises]:
            raise _No
        for noise in first.noises:
            if noise.kind == "gaussian" or (
                noise.kind in {"discrete_laplace", "geometric"} and not self._question.whole
            ):
                raise _No
            if self._symbolic and noise.kind != "uniform" and noise.scale.power != -1:
                raise MixedPowers("a scale times ε that is not constant", noise.line)
        return [(f"x{i}", n.kind, n.scale.constant) for i, n in enumerate(first.noises)]

    @staticmethod
    def _equal(programme: Programme, edge: Edge, shifts: Mapping[str, Any], known: list[Premise]) -> None:
        assert edge.first is not None
        assert edge.second is not None
        (shape, mine), (shape_2, theirs) = entries(edge.first.output), entries(edge.second.output)
        if shape != shape_2:
            raise _No
        for f, g in zip(mine, theirs, strict=True):
            moved = g.put(edge.runs)
            if moved.power != f.power:
                raise _No
            difference = Form(moved.terms, moved.constant) - Form(f.terms, f.constant)
            if any(n.startswith("x") for n in difference.terms):
                raise _No
            for sign in (1, -1):
                unknown = [u for x, c in g.terms.items() if x in shifts for u in at(shifts[x], sign * c)]
                programme.require(terms(difference.scaled(sign)), unknown, known)

    def _hats(
        self,
        programme: Programme,
        edge: Edge,
        states: Mapping[Key, State],
        shifts: Mapping[str, Any],
        premises: list[Premise],
    ) -> None:
        assert edge.target is not None
        state = states[edge.target]
        for name in state.head.numbers:
            apart = state.apart[name]
            gap = _gap(edge, name, states)
            second = None if edge.second is None else edge.second.facts.values[name]
            for sign, end in ((1, apart.low), (-1, apart.high)):
                if end is None:
                    continue
                moved = [] if second is None else [(x, c) for x, c in second.terms.items() if x in shifts]
                unknown = [u for x, c in moved for u in at(shifts[x], sign * c)]
                programme.require(terms((gap - end).scaled(sign)), unknown, premises)
        new = _values(edge)
        for row in state.rows:
            programme.require(terms(row.form.put(new)), [], _premises(edge.known))

    def _floors(self, edge: Edge) -> list[list[Form]]:
        if edge.first is None or edge.second is None:
            return []
        found = []
        power = 1 if self._symbolic else 0
        for a, b in zip(edge.first.samples, edge.second.samples, strict=True):
            if a.kind != b.kind or (a.kind == "flip" and a.form.constant != b.form.constant):
                raise _No
            if a.kind == "choose":
                ours, theirs = a.scores, [s.put(edge.runs) for s in b.scores]
                if any(s.power != power and (s.terms or s.constant) for s in (*ours, *theirs)):
                    raise MixedPowers("a score that is no multiple of ε", a.line)
                flat = [[Form(s.terms, s.constant) for s in side] for side in (ours, theirs)]
                own = flat[0][a.outcome] - flat[1][a.outcome]
                found.append([own + q - p for p, q in zip(*flat, strict=True)])
        return found

    def _certificate(  # noqa: PLR0917
        self,
        states: Mapping[Key, State],
        edges: Sequence[Edge],
        costs: Mapping[Key, Mapping[str, int]],
        parts: Sequence[Mapping[str, Any]],
        solved: Solved,
        target: str,
    ) -> Any:
        found: dict[str, Any] = {}
        start = 0
        for edge, part in zip(edges, parts, strict=True):
            found[edge.name] = {
                "shifts": {x: written(solved.form(c)) for x, c in part["shifts"].items()},
                "tops": {x: written(solved.form(c)) for x, c in part["tops"].items()},
                "choices": [written(solved.form(c)) for c in part["choices"]],
                "multipliers": [
                    {str(i): str(m) for i, m in each.items()} for each in solved.multipliers[start : part["many"]]
                ],
            }
            start = part["many"]
        return {
            "way": self._way.name,
            "target": target,
            "noisy": sorted(self.noisy),
            "whole": sorted(n for n, yes in self._names.items() if yes),
            "cost": str(solved.values[0]),
            "states": {
                name_of(key): {
                    "apart": {n: a.to_json() for n, a in state.apart.items()},
                    "rows": [written(terms(r.form)) for r in state.rows],
                    "cost": written(solved.form(costs[key])),
                }
                for key, state in states.items()
            },
            "edges": found,
        }


def _impossible(path: Path, rows: Sequence[Row]) -> bool:
    """Whether what is known at the head already rules this path out."""
    known = Bounds(rows)
    return any(
        known.decide(d.form, d.strict) == (not d.outcome) for d in path.decisions if d.kind == "row" and not d.noisy
    )


def _truths(head: Head) -> tuple[tuple[str, bool], ...]:
    return tuple((n, v) for n, v in head.fixed if isinstance(v, bool))


def _target(path: Path, move: Move, key: Key, target: str) -> Key | None:
    facts: Facts = path.facts
    if facts.to is None or facts.head is None:
        return None
    phase = move.target if facts.to == key[0] or key[0] == "start" else BEFORE
    return facts.to, phase, target, _truths(facts.head)


def _values(edge: Edge) -> dict[str, Form]:
    """The first run's numbers after the turn, by symbol."""
    if edge.first is not None:
        return {f"v.{n}": f for n, f in edge.first.facts.values.items()}
    assert edge.second is not None
    return {f"v.{n}": Form.symbol(f"v.{n}") for n in edge.second.facts.values}


def _gap(edge: Edge, name: str, states: Mapping[Key, State]) -> Form:
    """How much larger a number is in the second run after the turn, before the noise of the turn is shifted."""
    del states
    old = f"v.{name}"
    first = Form.symbol(old) if edge.first is None else edge.first.facts.values[name]
    second = Form.symbol(old) if edge.second is None else edge.second.facts.values[name]
    return second.put(edge.runs) - first


def _apart_rows(state: State) -> list[Row]:
    return [r for n, a in sorted(state.apart.items()) for r in a.rows(n)]


def _premises(rows: Sequence[Row]) -> list[Premise]:
    return [(terms(r.form), r.strict) for r in rows]


def _is_whole(form: Form, whole: frozenset[str]) -> bool:
    return form.terms.keys() <= whole and all(c.denominator == 1 for c in (*form.terms.values(), form.constant))


def _about(row: Row, whole: frozenset[str]) -> bool:
    return row.form.terms.keys() <= whole
