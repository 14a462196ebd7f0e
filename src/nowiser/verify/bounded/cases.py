"""Neighbouring inputs as cases, and which path the second run takes when the first takes a given one.

A case writes the data of the second run as forms of the first run's symbols and of `m0, m1, …` (how far elements move)
or `e0, …` (new values), with what is known of these.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from nowiser.verify.question import Neighbours
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Bounds, Decision, Node, Path, Row


@dataclass(frozen=True)
class Case:
    """first, second: the lengths of the two lists. data: what stands for d0, d1, … of the second run."""

    name: str
    first: int
    second: int
    data: Mapping[str, Form]
    rows: tuple[Row, ...]


def cases(neighbours: Neighbours, size: int) -> list[Case]:
    """Every way in which a list of this size, as the longer one, can differ from a neighbour."""
    symbol = Form.symbol
    if neighbours.kind == "length":
        found = []
        for i in range(size):
            shorter = {f"d{j}": symbol(f"d{j if j < i else j + 1}") for j in range(size - 1)}
            found.append(Case(f"without {i}", size, size - 1, shorter, ()))
            longer = {f"d{j}": symbol(f"d{j if j < i else j - 1}") for j in range(size)} | {f"d{i}": symbol("e0")}
            found.append(Case(f"with {i}", size - 1, size, longer, ()))
        return found
    if neighbours.kind == "all":
        if neighbours.by is None:
            return [Case("all", size, size, {f"d{i}": symbol(f"e{i}") for i in range(size)}, ())]
        moved = {f"d{i}": symbol(f"d{i}") + symbol(f"m{i}") for i in range(size)}
        by = Fraction(neighbours.by)
        box = tuple(Row(Form({f"m{i}": Fraction(sign)}, by), False) for i in range(size) for sign in (1, -1))
        return [Case("all", size, size, moved, box)]
    if neighbours.by is None:
        return [Case(f"one {i}", size, size, {f"d{i}": symbol("e0")}, ()) for i in range(size)]
    span = (Row(symbol("m0"), False), Row(Form({"m0": Fraction(-1)}, Fraction(neighbours.by)), False))
    return [
        Case(f"one {i} {name}", size, size, {f"d{i}": Form({f"d{i}": Fraction(1), "m0": Fraction(sign)})}, span)
        for i in range(size)
        for name, sign in (("up", 1), ("down", -1))
    ]


def partners(path: Path, case: Case, root: Node) -> Iterator[tuple[int, list[Decision]] | None]:
    """The paths of the second run that data allow, when noise decides as in the first; None where it cannot.

    With each path the decisions on it that only data took and that were open, in the case's symbols.
    """
    noise = [d for d in path.decisions if d.noisy]
    known = Bounds([*case.rows, *path.data_rows])
    yield from _walk(root, noise, 0, known, case, [])


def _walk(  # noqa: PLR0917
    node: Node, noise: Sequence[Decision], at: int, known: Bounds, case: Case, taken: list[Decision]
) -> Iterator[tuple[int, list[Decision]] | None]:
    while node.decision is not None:
        decision = node.decision
        if decision.noisy:
            if at == len(noise) or noise[at].kind != decision.kind or noise[at].outcome not in node.next:
                yield None
                return
            node, at = node.next[noise[at].outcome], at + 1
            continue
        form = decision.form.put(case.data)
        outcome = known.decide(form, decision.strict)
        if outcome is None:
            for value in (1, 0):
                if value in node.next:
                    row = Decision("row", form, decision.strict, value, False, decision.line)
                    further = known.copy()
                    further.add(row.row)
                    yield from _walk(node.next[value], noise, at, further, case, [*taken, row])
            return
        if int(outcome) not in node.next:
            yield None
            return
        node = node.next[int(outcome)]
    yield (node.path, taken) if at == len(noise) else None
