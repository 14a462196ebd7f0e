"""The least ε for lists of one length, over all paths and all neighbours, with the proof of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nowiser.verify.bounded.cases import Case, cases, partners
from nowiser.verify.bounded.finite import Ratio, finite, largest_ratio
from nowiser.verify.bounded.regions import Multipliers, Region, merged, single, terms
from nowiser.verify.bounded.step import Solution, Step, solve
from nowiser.verify.outside import MixedPowers, Outside
from nowiser.verify.question import Question
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import WHOLE, Decision, Limits, Path, Row, entries, paths, support, tree_of


@dataclass(frozen=True)
class Worst:
    """Where the bound is attained or where there is none: what the refuter looks at first."""

    case: Case
    path: Path
    why: str = ""
    active: tuple[Row, ...] = ()  # of the neighbours' rows, those that bind where the cost is largest


@dataclass(frozen=True)
class Bound:
    """cost: in units of ε (of 1 where ε is a number); None: no bound. ratio: of a finite program, instead."""

    size: int
    cost: Fraction | None
    certificate: Mapping[str, Any] = field(repr=False, default_factory=dict)
    worst: Worst | None = None
    ratio: Ratio | None = None
    paths: Sequence[Path] = field(repr=False, default=())


def bound(question: Question, size: int, epsilon: Fraction | None, limits: Limits) -> Bound:
    """For lists of `size` elements (`length`: the longer list has so many)."""
    found = {n: paths(question, n, epsilon, limits) for n in _lengths(question, size)}
    every = cases(question.neighbours, size)
    if all(finite(p) for p in found.values()):
        return _finite(size, found, every)
    _supported(question, found[size])
    if epsilon is None and question.symbol:
        _scales(found.values())
    best: Bound | None = None
    for merging in (True, False):
        regions = {n: merged(p, limits) if merging else single(p) for n, p in found.items()}
        if all(r is not None for r in regions.values()):
            tried = _Search(question, size, epsilon, found, regions, limits).bound(every)  # type: ignore[arg-type]
            if best is None or best.cost is None or (tried.cost is not None and tried.cost < best.cost):
                best = tried
            if best.cost is not None:
                break
    assert best is not None
    return best


def _lengths(question: Question, size: int) -> list[int]:
    return [size - 1, size] if question.neighbours.kind == "length" else [size]


def _finite(size: int, found: Mapping[int, Sequence[Path]], every: Sequence[Case]) -> Bound:
    worst = Ratio(Fraction(1))
    for case in every:
        ratio = largest_ratio(found[case.first], found[case.second], case)
        if worst.value is not None and (ratio.value is None or ratio.value > worst.value):
            worst = ratio
    at = Worst(next((c for c in every if c.name == worst.case), every[0]), found[size][0])
    return Bound(size, None, {"size": size, "finite": True}, at, worst, found[size])


def _supported(question: Question, found: Sequence[Path]) -> None:
    for path in found:
        for noise in path.noises:
            if noise.kind == "gaussian" and question.claim.kind == "eps":
                raise Outside(
                    "gaussian noise has no ε: its privacy loss has no end", noise.line, "gaussian", "--rho, or ε with δ"
                )
            if noise.kind in WHOLE and not question.whole:
                raise Outside(
                    f"{noise.kind} on values that need not be whole numbers",
                    noise.line,
                    noise.kind,
                    "declare them: d: list[int], or --whole",
                )


def _scales(every: Any) -> None:
    for found in every:
        for path in found:
            for noise in path.noises:
                if noise.kind != "uniform" and noise.scale.power != -1:
                    raise MixedPowers("a scale times ε that is not constant", noise.line)


class _Search:
    def __init__(  # noqa: PLR0917
        self,
        question: Question,
        size: int,
        epsilon: Fraction | None,
        found: Mapping[int, Sequence[Path]],
        regions: Mapping[int, Sequence[Region]],
        limits: Limits,
    ) -> None:
        self._question, self._size, self._epsilon = question, size, epsilon
        self._paths, self._regions, self._limits = found, regions, limits
        self._trees = {n: tree_of(p) for n, p in found.items()}
        self._proofs: dict[int, int] = {}  # id of a solution → its place
        self._listed: list[Solution] = []
        self._pairs: list[Any] = []
        self._cost = Fraction(0)
        self._worst: Worst | None = None

    def bound(self, every: Sequence[Case]) -> Bound:
        for case in every:
            self._limits.check(f": lists of {self._size} were not finished")
            for region in self._regions[case.first]:
                stuck = self._region(region, case)
                if stuck is not None:
                    return Bound(self._size, None, {}, stuck, None, self._paths[self._size])
        certificate = {
            "size": self._size,
            "regions": {
                str(n): [_region_json(r, self._paths[n]) for r in found]
                for n, found in self._regions.items()
                if _cones(found)
            },
            "proofs": [s.to_json() for s in self._listed],
            "pairs": self._pairs,
        }
        return Bound(self._size, self._cost, certificate, self._worst, None, self._paths[self._size])

    def _region(self, region: Region, case: Case) -> Worst | None:
        path = self._paths[case.first][region.paths[0]]
        if len(region.paths) > 1 or _cones(self._regions[case.first]):
            here: list[Any] = [(r.paths[0], r, []) for r in self._regions[case.second] if _same(r, region)]
            pairs: list[tuple[int, Region, list[Decision]]] = here[:1]
            if not pairs:
                return Worst(case, path, "an output that only one of two neighbours can give")
        else:
            pairs = []
            for partner in partners(path, case, self._trees[case.second]):
                if partner is None:
                    return Worst(case, path, "noise decides in one run where it does not in the other")
                pairs.append((partner[0], self._regions[case.second][partner[0]], partner[1]))
        for number, other, taken in pairs:
            second = self._paths[case.second][number]
            step = self._step(region, path, other, second, case, taken)
            if isinstance(step, str):
                return Worst(case, path, step)
            local, symbols, known = step
            solution = solve(local)
            if solution is None:
                return Worst(case, path, "no shift of the noise hides the difference")
            place = self._proofs.setdefault(id(solution), len(self._listed))
            if place == len(self._listed):
                self._listed.append(solution)
            self._pairs.append([case.name, path.name, second.name, place, symbols, known])
            if self._worst is None or solution.cost > self._cost:
                self._cost, self._worst = (
                    max(self._cost, solution.cost),
                    Worst(case, path, "", _active(solution, case, known)),
                )
        return None

    def _step(  # noqa: PLR0917
        self, region: Region, path: Path, other: Region, second: Path, case: Case, taken: Sequence[Decision]
    ) -> tuple[Step, dict[str, str], list[int]] | str:
        """The programme of this pair, its symbols, and which of the known rows it uses; or why there is none."""
        if [(n.kind, n.scale) for n in region.noises] != [(n.kind, n.scale) for n in other.noises]:
            return "the two runs draw different noise"
        shape, numbers = entries(region.output)
        shape_2, numbers_2 = entries(other.output)
        if shape != shape_2:
            return "the outputs differ in what noise does not touch"
        choices = []
        for a, b in zip(path.samples, second.samples, strict=True):
            if a.kind == "flip" and a.form.constant != b.form.constant:
                return "a coin whose probability depends on data"
            if a.kind == "choose":
                floors = self._choice(a, b, case)
                if isinstance(floors, str):
                    return floors
                choices.append(floors)
        equal = []
        for f, g in zip(numbers, numbers_2, strict=True):
            moved = g.put(case.data)
            if moved.power != f.power:
                return "the outputs differ by a power of ε"
            equal.append((_inner(moved) - _inner(f), Form({n: c for n, c in g.terms.items() if n.startswith("x")})))
        must = [Row(r.form.put(case.data), r.strict) for r in other.rows]
        rows = [*case.rows, *path.data_rows, *(d.row for d in taken)]
        standing = [s for i, n in enumerate(region.noises) for s in support(n.kind, f"x{i}")]
        scales = [(f"x{i}", n.kind, n.scale.constant) for i, n in enumerate(region.noises)]
        return localise(rows, [*region.rows, *standing], scales, [*must, *standing], equal, choices)

    def _choice(self, first: Decision, second: Decision, case: Case) -> list[Form] | str:
        """What −ln of the ratio of one choice is at most, as forms; in units of ε where it is a symbol."""
        power = 1 if self._epsilon is None and self._question.symbol else 0
        if len(first.scores) != len(second.scores):
            return "the two runs choose among different numbers of candidates"
        a, b = first.scores, [s.put(case.data) for s in second.scores]
        if any(s.power != power and (s.terms or s.constant) for s in (*a, *b)):
            raise MixedPowers("a score that is no multiple of ε", first.line)
        a, b = tuple(_inner(s) for s in a), [_inner(s) for s in b]
        order_a, order_b = list(range(len(a))), list(range(len(b)))
        if all(s.plain for s in (*a, *b)):
            order_a.sort(key=lambda j: a[j].constant)
            order_b.sort(key=lambda j: b[j].constant)
        own = a[first.outcome] - b[first.outcome]
        return [own + b[k] - a[j] for j, k in zip(order_a, order_b, strict=True)]


def _active(solution: Solution, case: Case, known: Sequence[int]) -> tuple[Row, ...]:
    """The dual of the total cost: which of the neighbours' rows hold with equality at its maximum."""
    used = (known[i] for i, m in solution.multipliers[-1].items() if m)
    return tuple(case.rows[i] for i in used if i < len(case.rows))


def _inner(form: Form) -> Form:
    return Form(form.terms, form.constant)


def _cones(found: Sequence[Region]) -> bool:
    return any(r.implied for r in found)


def _same(a: Region, b: Region) -> bool:
    return entries(a.output)[0] == entries(b.output)[0]


def localise(  # noqa: PLR0917
    known: Sequence[Row],
    path: Sequence[Row],
    noises: Sequence[tuple[str, str, Fraction]],
    must: Sequence[Row],
    equal: Sequence[tuple[Form, Form]],
    choices: Sequence[Sequence[Form]],
) -> tuple[Step, dict[str, str], list[int]]:
    """The step in symbols z0, z1, … with the known rows that touch it, so that equal problems are recognised."""
    conclusions = [*(f for f, _ in equal), *(r.form for r in must), *(f for each in choices for f in each)]
    relevant = {n for f in (*conclusions, *(r.form for r in path)) for n in f.terms}
    left = list(range(len(known)))
    used: list[int] = []
    while True:
        touching = [i for i in left if any(n in relevant for n in known[i].form.terms)]
        if not touching:
            break
        used += touching
        left = [i for i in left if i not in touching]
        relevant |= {n for i in touching for n in known[i].form.terms}
    used.sort()
    names: dict[str, str] = {}
    for form in (*conclusions, *(known[i].form for i in used), *(r.form for r in path)):
        for n in sorted(form.terms):
            if not n.startswith("x") and n not in names:
                names[n] = f"z{len(names)}"

    def local(form: Form) -> tuple[tuple[str, Fraction], ...]:
        return tuple(sorted((names.get(n, n), c) for n, c in terms(form).items()))

    step = Step(
        tuple((local(known[i].form), known[i].strict) for i in used),
        tuple((local(r.form), r.strict) for r in path),
        tuple(noises),
        tuple((local(r.form), r.strict) for r in must),
        tuple((local(f), local(g)) for f, g in equal),
        tuple(tuple(local(f) for f in each) for each in choices),
    )
    return step, {z: n for n, z in names.items()}, used


def _region_json(region: Region, paths: Sequence[Path]) -> dict[str, Any]:
    def listed(multipliers: Multipliers) -> dict[str, str]:
        return {str(i): str(m) for i, m in multipliers.items()}

    return {
        "paths": [paths[i].name for i in region.paths],
        "rows": [[{n: str(c) for n, c in terms(r.form).items()}, r.strict] for r in region.rows],
        "implied": [[listed(m) for m in each] for each in region.implied],
        "apart": {paths[i].name: listed(m) for i, m in region.apart.items()},
    }
