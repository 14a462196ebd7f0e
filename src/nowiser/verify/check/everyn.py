"""Checking a proof for every length: from what holds at a head, every turn leads to what is said to hold at the next.

A state says, for each number at a loop head, how much larger it may be in the second run (`apart`), which rows hold
of the first run's whole numbers, and a form that what was spent so far does not exceed. All states that can be reached
from the start are visited, with every move that neighbours allow and every pair of paths; each must be treated.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nowiser.verify.check.arithmetic import Form, Premise, follows, plus, replaced
from nowiser.verify.check.bounded import choice_floors, form_of, partners
from nowiser.verify.check.follow import Known, Path, Rejected, support, values
from nowiser.verify.check.turns import Ends, Pieces, kept_values

ONE = Fraction(1)
BEFORE, AFTER = "before", "after"
Move = tuple[str, str, str, Form, list[Premise], int]  # name, phases, the second run's element, rows, which run skips
Key = tuple[Any, str, str, tuple[tuple[str, bool], ...]]
START: Key = ("start", BEFORE, "", ())


def ways(neighbours: str) -> dict[str, tuple[list[Move], int]]:
    """Every way of being neighbours: its moves, and how much longer the second list is."""
    kind, _, by = neighbours.partition(" ")
    limit = None if by == "arbitrary" else Fraction(by.removeprefix("by ") or 1)
    d: Form = {"d": ONE}
    quiet: list[Move] = [("same", p, p, d, [], 0) for p in (BEFORE, AFTER)]
    if kind == "length":
        return {
            "without": ([*quiet, ("skip", BEFORE, AFTER, d, [], 2)], -1),
            "with": ([*quiet, ("skip", BEFORE, AFTER, {"e": ONE}, [], 1)], 1),
        }
    if kind == "all" and limit is None:
        return {"all": ([("moved", BEFORE, BEFORE, {"e": ONE}, [], 0)], 0)}
    if kind == "all" and limit is not None:
        box: list[Premise] = [({"m": ONE * sign, "": limit}, False) for sign in (1, -1)]
        return {"all": ([("moved", BEFORE, BEFORE, {"d": ONE, "m": ONE}, box, 0)], 0)}
    if kind == "one" and limit is None:
        return {"one": ([*quiet, ("moved", BEFORE, AFTER, {"e": ONE}, [], 0)], 0)}
    if kind == "one" and limit is not None:
        span: list[Premise] = [({"m": ONE}, False), ({"m": -ONE, "": limit}, False)]
        return {
            f"one {name}": ([*quiet, ("moved", BEFORE, AFTER, {"d": ONE, "m": ONE * sign}, span, 0)], 0)
            for name, sign in (("up", 1), ("down", -1))
        }
    raise Rejected(f"neighbours {neighbours!r} are not known")


def check_every(
    parts: Sequence[Mapping[str, Any]], text: str, question: Mapping[str, Any], epsilon: Fraction | None
) -> Fraction:
    """The cost that is proved for lists of every length."""
    if not question["listed"]:
        raise Rejected("one number has one length")
    expected = ways(question["neighbours"])
    if [p["way"] for p in parts] != list(expected):
        raise Rejected("a way of being neighbours is missing")
    return max(_Way(part, text, question, epsilon, *expected[part["way"]]).cost() for part in parts)


class _Way:
    def __init__(  # noqa: PLR0917
        self,
        part: Mapping[str, Any],
        text: str,
        question: Mapping[str, Any],
        epsilon: Fraction | None,
        moves: list[Move],
        longer: int,
    ) -> None:
        self._part, self._question, self._moves, self._longer = part, question, moves, longer
        self._symbolic = epsilon is None and question["symbol"] != ""
        self._pieces = Pieces(text, question, epsilon)
        self._noisy, self._target = frozenset(part["noisy"]), part["target"]
        data = {"d", "e", "m"} if question["whole"] else set()
        self._whole = frozenset({"i", "n", *data, *(f"{s}.{n}" for n in part["whole"] for s in "vh")})
        if self._noisy & set(part["whole"]):
            raise Rejected("noise is no whole number")
        self._same: dict[Any, tuple[tuple[str, Any], ...]] = {}
        if self._target and (
            len(self._pieces.loops) != 1 or longer or self._pieces.start(self._pieces.loops[0]) is None
        ):
            raise Rejected("an index is followed through one loop over the private list only")

    def cost(self) -> Fraction:
        seen: set[Key] = set()
        waiting = [START]
        while waiting:
            key = waiting.pop()
            if key not in seen:
                seen.add(key)
                waiting += self._state(key)
        return Fraction(self._part["cost"])

    def _state(self, key: Key) -> list[Key]:
        """Check all turns that begin here; the states they lead to."""
        found: list[Key] = []
        if key == START:
            turns = list(self._pieces.begin())
        else:
            same = self._same[key[0], key[3]]
            lists = [n for n, v in same if v == "list"]
            numbers = list(self._said(key)["apart"])
            turns = list(self._pieces.turns(key[0], sorted(self._noisy), numbers, kept_values(same), lists))
        for mode in dict.fromkeys(m for m, _ in turns):
            paths = [p for m, p in turns if m == mode]
            for path in paths:
                for move in self._allowed(key, path.output, mode):
                    for edge in self._edges(key, path, paths, move, mode):
                        target = self._edge(key, move, *edge, mode)
                        found += [] if target is None else [target]
        return found

    def _said(self, key: Key) -> Mapping[str, Any]:
        name = _name(key)
        if name not in self._part["states"]:
            raise Rejected(f"the state {name} is not treated")
        state: Mapping[str, Any] = self._part["states"][name]
        own = {"", *(f"v.{n}" for n in state["apart"] if n not in self._noisy)}
        if any(n not in own for row in state["rows"] for n in row):
            raise Rejected("a row of a state is about something else than its numbers")
        return state

    def _allowed(self, key: Key, ends: Ends, mode: str) -> list[Move]:
        """Where no element is seen nothing moves; but a longer list has a turn more, whether it is looked at or not."""
        more = self._longer and mode == "turn" and isinstance(self._pieces.loops[key[0]], ast.For)
        same: Move = ("same", key[1], key[1], {"d": ONE}, [], 0)
        return [m for m in self._moves if m[1] == key[1]] if ends.touched or more else [same]

    def _runs(self, key: Key, move: Move) -> dict[str, Form]:
        """What stands for each symbol in the second run."""
        found: dict[str, Form] = {"d": move[3]}
        if self._longer:
            found |= {"n": {"n": ONE, "": ONE * self._longer}, "i": {"i": ONE, "g": ONE}}
        if key != START:
            for name, ends in self._said(key)["apart"].items():
                symbol = f"x.{name}" if name in self._noisy else f"v.{name}"
                found[symbol] = plus((1, {symbol: ONE}), (1, _apart_form(name, ends)))
        return found

    def _rows(self, key: Key, move: Move) -> list[Premise]:
        found: list[Premise] = []
        if key != START:
            state = self._said(key)
            found += [(form_of(row, {}), False) for row in state["rows"]]
            for name, (low, high) in sorted(state["apart"].items()):
                if low is None or low != high:
                    found += [] if low is None else [(plus((1, {f"h.{name}": ONE}), (-1, {"": Fraction(low)})), False)]
                    found += (
                        [] if high is None else [(plus((-1, {f"h.{name}": ONE}), (1, {"": Fraction(high)})), False)]
                    )
        return self._tight([*found, *move[4]])

    def _tight(self, rows: Sequence[Premise]) -> list[Premise]:
        """Above 0 is at least 1 where everything is a whole number."""
        return [
            (plus((1, form), (-1, {"": ONE})), False) if strict and _whole(form, self._whole) else (form, strict)
            for form, strict in rows
        ]

    def _edges(
        self, key: Key, path: Path, paths: Sequence[Path], move: Move, mode: str
    ) -> Iterator[tuple[Path | None, Path | None, list[Premise], str, bool]]:
        """Pairs of paths: first, second, what is known, the settledness of the index afterwards, whether loosely."""
        rows, runs = self._rows(key, move), self._runs(key, move)
        known = Known(rows)
        ends: Ends = path.output
        if move[5]:
            said = any(content for _, content in ends.outputs[1])
            if path.noises or any(d.noisy for d in path.decisions) or said or ends.to != key[0]:
                raise Rejected("a turn that only one run takes is seen")
            if ends.same != self._same[key[0], key[3]]:
                raise Rejected("a turn that only one run takes changes a truth value")
            own = [(replaced(f, runs), s) if move[5] == 1 else (f, s) for f, s in path.rows(noisy=False)]
            tight = self._tight([*rows, *own])
            yield (None, path, tight, "", False) if move[5] == 1 else (path, None, tight, "", False)
            return
        for d in path.decisions:
            if d.kind == "row" and not d.noisy and known.decide(d.form, d.strict) == (not d.outcome):
                return  # what is known at the head rules this path out
        if not self._target:
            for other, more in partners(path, paths, runs, rows):
                yield path, other, self._tight([*rows, *path.rows(noisy=False), *more]), "", False
            return
        settled = key[2] == "settled"
        if path.rows(noisy=False) or any(d.kind != "row" for d in path.decisions):
            raise Rejected("data decide beside the index")
        if ends.to is None:
            if mode != "exit":
                raise Rejected("the loop of an index is left early")
            if settled:
                yield path, path, rows, "", False
            return
        if values(ends.outputs)[1] or (mode == "turn" and not ends.touched) or mode == "exit":
            raise Rejected("a turn does more than settle an index")
        value = ends.numbers[self._target].form if self._target in ends.numbers else None
        assigns = key == START or value != {f"v.{self._target}": ONE}
        if value is None or (key != START and assigns and value != {"i": ONE}) or (key == START and any(value)):
            raise Rejected("the index is no index")
        if not settled:
            for other in paths:
                if other.noises != path.noises:
                    raise Rejected("the noise of a turn depends on noise")
                yield path, other, rows, "open", True
        if settled != assigns:
            yield path, path, rows, "settled", False

    def _edge(  # noqa: PLR0917
        self,
        key: Key,
        move: Move,
        first: Path | None,
        second: Path | None,
        known: list[Premise],
        settled: str,
        loose: bool,
        mode: str,
    ) -> Key | None:
        """Check one pair of paths; the state it leads to."""
        names = ["-" if p is None else f"{mode}:{p.name}" for p in (first, second)]
        edge = "|".join([_name(key), move[0], *names])
        if loose:
            edge += "|loose"
        if edge not in self._part["edges"]:
            raise Rejected(f"the turn {edge} is not treated")
        proof = self._part["edges"][edge]
        used = iter(proof["multipliers"])

        def require(conclusion: Form, strict: bool, premises: Sequence[Premise], what: str) -> None:
            if not follows(conclusion, strict, premises, {int(i): Fraction(m) for i, m in next(used).items()}):
                raise Rejected(f"not proved in the turn {edge}: {what}")

        runs = self._runs(key, move)
        some = first if first is not None else second
        assert some is not None
        ends: Ends = some.output
        self._alike(first, second, runs)
        noises = [(f"x{i}", kind, scale) for i, (kind, scale, _) in enumerate(some.noises)]
        shifts = {x: form_of(proof["shifts"].get(x, {}), {}) for x, _, _ in noises}
        steady = loose or (key[2] == "settled" and settled == "settled")
        for x, kind, _ in noises:
            if self._target and (shifts[x].keys() - {"", "m", "e"} or (steady and shifts[x])):
                raise Rejected("with an index in view, a shift depends on more than the element of its turn")
            if kind in {"discrete_laplace", "geometric"} and not (
                self._question["whole"] and _whole(shifts[x], self._whole)
            ):
                raise Rejected("integer noise is moved by something that need not be a whole number")
        standing = [row for x, kind, _ in noises for row in support(kind, x)]
        wide = known
        if first is not None and second is not None:
            wide = [*known, *first.rows(noisy=True), *standing]
            must = [(replaced(f, runs), strict) for f, strict in second.rows(noisy=True)]
            if loose:
                wide = [*wide, *must]
            else:
                for row, strict in (*must, *standing):
                    require(_moved(row, shifts), strict, wide, "a condition of the second run")
            self._outputs(first, second, runs, shifts, known, require)
        target = self._arrival(key, move, ends, settled)
        new = {f"v.{n}": (s.form if first is not None else {f"v.{n}": ONE}) for n, s in ends.numbers.items()}
        gaps: dict[str, Form] = {}
        if target is not None:
            state = self._said(target)
            for name, (low, high) in state["apart"].items():
                theirs = {f"v.{name}": ONE} if second is None else second.output.numbers[name].form
                mine = {f"v.{name}": ONE} if first is None else first.output.numbers[name].form
                raw = plus((1, replaced(theirs, runs)), (-1, mine))
                gaps[f"h.{name}"] = raw
                noise = {x: c for x, c in theirs.items() if x in shifts}
                for sign, end in ((1, low), (-1, high)):
                    if end is not None:
                        moved = plus((sign, raw), *((sign * c, shifts[x]) for x, c in noise.items()))
                        gap = plus((1, moved), (-sign, {"": Fraction(end)}))
                        require(gap, False, wide if loose else known, f"how far {name} is apart")
            for row in state["rows"]:
                require(replaced(form_of(row, {}), new), False, known, "a row of whole numbers")
        self._total(key, target, proof, (noises, shifts, known, first, second, runs), {**new, **gaps}, require)
        return target

    def _alike(self, first: Path | None, second: Path | None, runs: Mapping[str, Form]) -> None:
        """What must be literally the same in both runs."""
        for path in (first, second):
            if path is not None:
                for n in path.output.opaque:
                    if runs.get(n, {n: ONE}) != {n: ONE} or n.startswith(("x", "d")):
                        raise Rejected("a quotient of something that differs in the second run")
        if first is None or second is None:
            return
        a, b = first.output, second.output
        if (a.to, a.same, a.touched, set(a.numbers)) != (b.to, b.same, b.touched, set(b.numbers)):
            raise Rejected("the two runs do different things in one turn")
        if first.noises != second.noises:
            raise Rejected("the two runs draw different noise in one turn")
        for kind, _, power in first.noises:
            if kind == "gaussian" or (kind != "uniform" and power != (-1 if self._symbolic else 0)):
                raise Rejected("a scale times ε is not constant")

    def _arrival(self, key: Key, move: Move, ends: Ends, settled: str) -> Key | None:
        """The state after a turn; what must be so on every arrival is checked."""
        if ends.to is None:
            return None
        truths = tuple((n, v) for n, v in ends.same if isinstance(v, bool))
        target: Key = (ends.to, move[2] if ends.to == key[0] or key == START else BEFORE, settled, truths)
        state = self._said(target)
        if set(state["apart"]) != set(ends.numbers) or self._same.setdefault((ends.to, truths), ends.same) != ends.same:
            raise Rejected("a loop head is reached with other variables")
        for name, symbol in ends.numbers.items():
            if symbol.power and symbol.form:
                raise Rejected("a variable that is a multiple of ε")
            noise = any(n.startswith("x") for n in symbol.form)
            low, high = state["apart"][name]
            if (noise and name not in self._noisy) or (
                name in self._part["whole"] and not _whole(symbol.form, self._whole)
            ):
                raise Rejected(f"{name} is not what the certificate says")
            if name in self._noisy and settled != "open" and (low is None or low != high):
                raise Rejected(f"{name} has noise in it and is not a fixed distance apart")
        counter = self._pieces.counter(ends.to) if self._pieces.start(self._pieces.loops[ends.to]) is None else None
        if counter is not None:
            self._counts(key, ends, counter)
        return target

    def _counts(self, key: Key, ends: Ends, counter: str) -> None:
        """A `while` must not read an element twice: its counter rises with every turn."""
        value = ends.numbers[counter].form if counter in ends.numbers else None
        if value is None or counter not in self._part["whole"]:
            raise Rejected("the place that is read is no counter")
        if ends.to == key[0]:
            step = plus((1, value), (-1, {f"v.{counter}": ONE}))
            if any(step) or step.get("", 0) < 1:
                raise Rejected("an element may be read twice")
        elif any(value) or value.get("", 0) < 0:
            raise Rejected("a counter does not begin at a number")

    def _outputs(  # noqa: PLR0917
        self,
        first: Path,
        second: Path,
        runs: Mapping[str, Form],
        shifts: Mapping[str, Form],
        known: Sequence[Premise],
        require: Any,
    ) -> None:
        (shape, mine), (shape_2, theirs) = values(first.output.outputs), values(second.output.outputs)
        if shape != shape_2:
            raise Rejected("the outputs differ in what noise does not touch")
        for (f, p), (g, q) in zip(mine, theirs, strict=True):
            difference = plus((1, replaced(g, runs)), (-1, f))
            if p != q or any(n.startswith("x") for n in difference):
                raise Rejected("the noise in the two outputs differs")
            for sign in (1, -1):
                moved = plus((sign, difference), *((sign * g[x], s) for x, s in shifts.items() if x in g))
                require(moved, False, known, "the outputs are the same")

    def _total(  # noqa: PLR0917
        self, key: Key, target: Key | None, proof: Mapping[str, Any], turn: Any, new: Mapping[str, Form], require: Any
    ) -> None:
        noises, shifts, known, first, second, runs = turn
        total: list[tuple[Fraction | int, Form]] = []
        if key != START:
            total.append((-1, form_of(self._said(key)["cost"], {})))
        for x, kind, scale in noises:
            if kind in {"exponential", "geometric"}:
                total.append((-1 / scale, shifts[x]))
            elif kind != "uniform":
                top = form_of(proof["tops"].get(x, {}), {})
                total.append((-1 / scale, top))
                for sign in (-1, 1):
                    require(plus((1, top), (sign, shifts[x])), False, known, "a ceiling of a shift")
        if first is not None and second is not None:
            samples = [[d for d in p.decisions if d.kind != "row"] for p in (first, second)]
            priced = iter(proof["choices"])
            for a, b in zip(*samples, strict=True):
                if a.kind != b.kind or a.outcome != b.outcome or (a.kind == "flip" and a.form != b.form):
                    raise Rejected("a coin that depends on data")
                if a.kind == "choose":
                    price = form_of(next(priced), {})
                    total.append((-1, price))
                    for floor in choice_floors(a, b, runs, 1 if self._symbolic else 0):
                        require(plus((1, price), (-1, floor)), False, known, "the cost of a choice")
        spent: Form = {"": Fraction(self._part["cost"])}
        if target is not None:
            spent = form_of(self._said(target)["cost"], {})
            if any(n and n not in new for n in spent):
                raise Rejected("what was spent is bounded by something else than the state")
            spent = replaced(spent, new)
        require(plus((1, spent), *total), False, known, "what was spent")


def _moved(form: Form, shifts: Mapping[str, Form]) -> dict[str, Fraction]:
    return plus((1, form), *((form[x], s) for x, s in shifts.items() if x in form))


def _name(key: Key) -> str:
    return f"{key[0]}|{key[1]}|{key[2]}|{','.join(f'{n}={v}' for n, v in key[3])}"


def _apart_form(name: str, ends: Sequence[str | None]) -> Form:
    low, high = ends
    if low is not None and low == high:
        return plus((Fraction(low), {"": ONE}))
    return {f"h.{name}": ONE}


def _whole(form: Form, whole: frozenset[str]) -> bool:
    return all((not n or n in whole) and c.denominator == 1 for n, c in form.items())
