"""Claims of ρ: the same shifts at the cost Σ s²/(2σ²), for programs whose only noise is Gaussian.

For Rényi divergences the shift must not depend on the noise: one shift for everything that can happen on two given
inputs. So either data alone decide the path, or noise decides it and every comparison must compare the same in both
runs (its form moves by nothing at all).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from nowiser.verify import tree as t
from nowiser.verify.bounded.bound import Bound, Worst, localise
from nowiser.verify.bounded.cases import Case, cases, partners
from nowiser.verify.bounded.step import Solution, solve
from nowiser.verify.outside import Outside
from nowiser.verify.question import Question, walk
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Limits, Path, entries, paths, tree_of


def gaussian_noise(question: Question) -> bool:
    """Whether the program may draw Gaussian noise, for lists of whatever length."""
    programs = (question.program, *question.program.functions)
    return any(isinstance(n, t.Sample) and n.kind == "gaussian" for p in programs for n in walk(p.body))


def _alone(path: Path) -> None:
    if any(n.kind != "gaussian" for n in path.noises) or path.samples:
        line = next((n.line for n in path.noises if n.kind != "gaussian"), None)
        raise Outside("gaussian noise beside other noise", line, "gaussian", "one kind of noise in a program")


def gaussian_bound(question: Question, size: int, limits: Limits) -> Bound:
    """The least ρ that constant shifts give."""
    lengths = (size - 1, size) if question.neighbours.kind == "length" else (size,)
    found = {n: paths(question, n, None, limits) for n in lengths}
    for path in (p for each in found.values() for p in each):
        _alone(path)
    listed: list[Solution] = []
    pairs: list[Any] = []
    cost, worst = Fraction(0), None
    for case in cases(question.neighbours, size):
        for p, q, known, equal in _together(found, case):
            local, names, used = localise(known, (), _scales(found[case.first][0]), (), equal, ())
            solution = solve(local)
            if solution is None:
                why = "no shift of the noise hides the difference"
                return Bound(size, None, {}, Worst(case, found[case.first][0], why), None, found[size])
            place = next((i for i, s in enumerate(listed) if s is solution), len(listed))
            if place == len(listed):
                listed.append(solution)
            pairs.append([case.name, p, q, place, names, used])
            rho = _rho(solution, found[case.first][0])
            if worst is None or rho > cost:
                cost, worst = max(cost, rho), Worst(case, found[case.first][0])
    certificate = {"size": size, "gaussian": True, "proofs": [s.to_json() for s in listed], "pairs": pairs}
    return Bound(size, cost, certificate, worst, None, found[size])


def _together(found: Mapping[int, Sequence[Path]], case: Case) -> Any:
    """Names of the two paths, what is known, and which pairs of forms must be equal."""
    first, second = found[case.first], found[case.second]
    noises = first[0].noises
    if any(p.noises != noises for p in (*first, *second)):
        raise Outside("gaussian noise that is drawn on some paths only", noises[0].line if noises else None)
    if any(p.noisy_rows for p in first):
        if any(p.data_rows for p in first) or [p.name for p in first] != [p.name for p in second]:
            raise Outside("data and gaussian noise decide in turn", noises[0].line if noises else None)
        yield "*", "*", list(case.rows), [e for p, q in zip(first, second, strict=True) for e in _equal(p, q, case)]
        return
    root = tree_of(second)
    for path in first:
        for partner in partners(path, case, root):
            assert partner is not None
            other = second[partner[0]]
            known = [*case.rows, *path.data_rows, *(d.row for d in partner[1])]
            yield path.name, other.name, known, _equal(path, other, case)


def _equal(p: Path, q: Path, case: Case) -> list[tuple[Form, Form]]:
    (shape, mine), (shape_2, theirs) = entries(p.output), entries(q.output)
    if shape != shape_2:
        return [(Form({}, Fraction(1)), Form({}))]  # never equal
    rows = [(a.form, b.form) for a, b in zip(p.noisy_rows, q.noisy_rows, strict=True)]
    return [
        (g.put(case.data) - f, Form({n: c for n, c in g.terms.items() if n.startswith("x")}))
        for f, g in [*zip(mine, theirs, strict=True), *rows]
    ]


def _scales(path: Path) -> list[tuple[str, str, Fraction]]:
    return [(f"x{i}", n.kind, n.scale.constant) for i, n in enumerate(path.noises)]


def _rho(solution: Solution, path: Path) -> Fraction:
    tops = (solution.tops[f"x{i}"].get("", Fraction(0)) for i in range(len(path.noises)))
    return sum((t**2 / (2 * n.scale.constant**2) for t, n in zip(tops, path.noises, strict=True)), Fraction(0))
