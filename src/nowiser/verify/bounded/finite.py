"""Programs whose only noise is coins: the probability of every output, exactly.

For each way in which the data of two neighbours can decide the program's comparisons, both output distributions are
sums of products of rational numbers. The largest ratio is the claim's exact value: ln 3 for randomised response.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from nowiser.verify.bounded.cases import Case
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Bounds, Node, Path, Row, entries, tree_of

Outputs = dict[str, Fraction]


@dataclass(frozen=True)
class Ratio:
    """The largest: `value` is None where an output is possible on one side only."""

    value: Fraction | None
    output: str = ""
    case: str = ""
    rows: tuple[Row, ...] = ()


def finite(paths: Sequence[Path]) -> bool:
    return all(not p.noises and all(d.kind == "flip" for d in p.samples) and not entries(p.output)[1] for p in paths)


def largest_ratio(first: Sequence[Path], second: Sequence[Path], case: Case) -> Ratio:
    """Over all data that the case allows. Data that contradict each other count too: the ratio is never too small."""
    found = Ratio(Fraction(1))
    one, other = tree_of(first), tree_of(second)
    for known, p in outputs(one, first, {}, Bounds(case.rows), case.rows):
        for both, q in outputs(other, second, case.data, Bounds(known), known):
            for output, chance in p.items():
                if not q.get(output):
                    return Ratio(None, output, case.name, both)
                ratio = chance / q[output]
                if found.value is not None and ratio > found.value:
                    found = Ratio(ratio, output, case.name, both)
    return found


def outputs(
    root: Node, paths: Sequence[Path], data: Mapping[str, Form], bounds: Bounds, rows: tuple[Row, ...]
) -> Iterator[tuple[tuple[Row, ...], Outputs]]:
    """For each way in which data can decide: what is known then, and the chance of each output."""
    waiting = [(bounds, rows)]
    while waiting:
        known, taken = waiting.pop()
        open_row, found = _chances(root, paths, data, known)
        if open_row is None:
            yield taken, found
            continue
        for row in (open_row, Row(-open_row.form, not open_row.strict)):
            further = known.copy()
            further.add(row)
            waiting.append((further, (*taken, row)))


def _chances(root: Node, paths: Sequence[Path], data: Mapping[str, Form], known: Bounds) -> tuple[Row | None, Outputs]:
    """The chance of each output, or a comparison that is still open."""
    found: Outputs = {}
    waiting = [(root, Fraction(1))]
    while waiting:
        node, chance = waiting.pop()
        decision = node.decision
        if decision is None:
            output = entries(paths[node.path].output)[0]
            found[output] = found.get(output, Fraction(0)) + chance
        elif decision.kind == "flip":
            p = decision.form.constant
            waiting += [(node.next[1], chance * p), (node.next[0], chance * (1 - p))]
        else:
            form = decision.form.put(data)
            outcome = known.decide(form, decision.strict)
            if outcome is None:
                return Row(form, decision.strict), {}
            waiting.append((node.next[int(outcome)], chance))
    return None, found
