"""Checking a proof for lists of one length."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nowiser.verify.check.arithmetic import Form, Premise, follows, plus, replaced
from nowiser.verify.check.follow import Decision, Known, Path, Rejected, support, values

ONE = Fraction(1)


def cases(neighbours: str, size: int) -> Iterator[tuple[str, int, int, Mapping[str, Form], list[Premise]]]:
    """Name, lengths of both lists, the second list in symbols of the first, and what is known of these."""
    kind, _, by = neighbours.partition(" ")
    limit = None if by == "arbitrary" else Fraction(by.removeprefix("by ") or 1)
    if kind == "length":
        for i in range(size):
            rest = [j for j in range(size) if j != i]
            less: dict[str, Form] = {f"d{k}": {f"d{j}": ONE} for k, j in enumerate(rest)}
            yield f"without {i}", size, size - 1, less, []
            more: dict[str, Form] = {f"d{j}": {f"d{k}": ONE} for k, j in enumerate(rest)}
            more[f"d{i}"] = {"e0": ONE}
            yield f"with {i}", size - 1, size, more, []
    elif kind == "all" and limit is None:
        yield "all", size, size, {f"d{i}": {f"e{i}": ONE} for i in range(size)}, []
    elif kind == "all" and limit is not None:
        box: list[Premise] = [({f"m{i}": ONE * s, "": limit}, False) for i in range(size) for s in (1, -1)]
        yield "all", size, size, {f"d{i}": {f"d{i}": ONE, f"m{i}": ONE} for i in range(size)}, box
    elif kind == "one":
        for i in range(size):
            if limit is None:
                yield f"one {i}", size, size, {f"d{i}": {"e0": ONE}}, []
                continue
            span: list[Premise] = [({"m0": ONE}, False), ({"m0": -ONE, "": limit}, False)]
            yield f"one {i} up", size, size, {f"d{i}": {f"d{i}": ONE, "m0": ONE}}, span
            yield f"one {i} down", size, size, {f"d{i}": {f"d{i}": ONE, "m0": -ONE}}, span
    else:
        raise Rejected(f"neighbours {neighbours!r} are not known")


def partners(
    path: Path, seconds: Sequence[Path], data: Mapping[str, Form], rows: Sequence[Premise]
) -> Iterator[tuple[Path, list[Premise]]]:
    """Every second run that data allow when noise decides alike, with what data had to decide for it."""
    noise = [d for d in path.decisions if d.noisy]

    def walk(left: Sequence[Path], depth: int, at: int, taken: list[Premise]) -> Iterator[tuple[Path, list[Premise]]]:
        if len(left[0].decisions) == depth:
            if at != len(noise):
                raise Rejected(f"path {path.name}: noise decides less in the second run")
            yield left[0], taken
            return
        decision = left[0].decisions[depth]
        branches: dict[int, list[Path]] = {}
        for p in left:
            branches.setdefault(p.decisions[depth].outcome, []).append(p)
        if decision.noisy:
            if at == len(noise) or noise[at].kind != decision.kind or noise[at].outcome not in branches:
                raise Rejected(f"path {path.name}: noise decides more in the second run")
            yield from walk(branches[noise[at].outcome], depth + 1, at + 1, taken)
            return
        form = replaced(decision.form, data)
        known = Known([*rows, *path.rows(noisy=False), *taken]).decide(form, decision.strict)
        for outcome in (1, 0) if known is None else (int(known),):
            row = Decision("row", form, decision.strict, outcome).row
            if outcome not in branches:
                raise Rejected("a path is missing")
            yield from walk(branches[outcome], depth + 1, at, [*taken, row] if known is None else taken)

    yield from walk(seconds, 0, 0, [])


def form_of(text: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Fraction]:
    """A form of the certificate, in the symbols of this pair; no noise may occur in it."""
    found = plus(*((Fraction(c), {names.get(n, n): ONE}) for n, c in text.items()))
    if any(n.startswith("x") for n in found):
        raise Rejected("a shift depends on noise")
    return found


def check_step(  # noqa: PLR0917
    proof: Mapping[str, Any],
    names: Mapping[str, str],
    known: Sequence[Premise],
    path: Sequence[Premise],
    noises: Sequence[tuple[str, str, Fraction]],
    must: Sequence[Premise],
    equal: Sequence[tuple[Form, Form]],
    choices: Sequence[Sequence[Form]],
    *,
    whole: bool,
    gaussian: bool = False,
) -> Fraction:
    """The cost that is proved for this pair of runs. noises: symbol, kind, scale in units of 1/ε."""
    used = iter(proof["multipliers"])
    shifts = {x: form_of(proof["shifts"].get(x, {}), names) for x, _, _ in noises}

    def require(conclusion: Form, strict: bool, premises: Sequence[Premise], what: str) -> None:
        multipliers = {int(i): Fraction(m) for i, m in next(used).items()}
        if not follows(conclusion, strict, premises, multipliers):
            raise Rejected(f"not proved: {what}")

    def moved(form: Form) -> dict[str, Fraction]:
        return plus((1, form), *((form[x], s) for x, s in shifts.items() if x in form))

    for row, strict in must:
        require(moved(row), strict, [*known, *path], "a condition of the second run")
    for difference, noise in equal:
        if any(n.startswith("x") for n in difference):
            raise Rejected("the noise in the two outputs differs")
        for sign in (1, -1):
            gap = plus((sign, difference), *((sign * noise[x], s) for x, s in shifts.items() if x in noise))
            require(gap, False, known, "the outputs are the same")
    cost = Fraction(proof["cost"])
    total: list[tuple[Fraction | int, Form]] = [(cost, {"": ONE})]
    for x, kind, scale in noises:
        if kind in {"discrete_laplace", "geometric"}:
            whole_names = all(not n.startswith("p_") for n in shifts[x])
            if not (whole and whole_names and all(c.denominator == 1 for c in shifts[x].values())):
                raise Rejected("integer noise is moved by something that need not be a whole number")
        if kind in {"exponential", "geometric"}:
            total.append((-1 / scale, shifts[x]))
        elif kind in {"laplace", "discrete_laplace"} or (kind == "gaussian" and gaussian):
            top = form_of(proof["tops"][x], names)
            if gaussian and any(top):
                raise Rejected("the ceiling of a Gaussian shift is no number")
            total.append((-1 / scale, top))
            for sign in (-1, 1):
                require(plus((1, top), (sign, shifts[x])), False, known, "a ceiling of a shift")
        elif kind != "uniform":
            raise Rejected(f"{kind} noise has no ε")
    for i, floors in enumerate(choices):
        price = form_of(proof["choices"][i], names)
        total.append((-1, price))
        for floor in floors:
            require(plus((1, price), (-1, floor)), False, known, "the cost of a choice")
    require(plus(*total), False, known, "the total cost")
    return cost


def choice_floors(first: Decision, second: Decision, data: Mapping[str, Form], power: int) -> list[Form]:
    """What the cost of one sampled choice must not be below: Z'/Z ≤ the largest of e^(s'_π(j) − s_j), any order π."""
    if len(first.scores) != len(second.scores):
        raise Rejected("the two runs choose among different numbers of candidates")
    if any(p != power and f for f, p in (*first.scores, *second.scores)):
        raise Rejected("a score is no multiple of ε")
    if any(n.startswith("x") for f, _ in (*first.scores, *second.scores) for n in f):
        raise Rejected("a score depends on noise")
    a: list[Form] = [f for f, _ in first.scores]
    b: list[Form] = [replaced(f, data) for f, _ in second.scores]
    own = plus((1, a[first.outcome]), (-1, b[first.outcome]))
    if not any(any(f) for f in (*a, *b)):
        a, b = (sorted(s, key=lambda f: f.get("", Fraction(0))) for s in (a, b))
    return [plus((1, own), (1, q), (-1, p)) for p, q in zip(a, b, strict=True)]


def check_size(
    certificate: Mapping[str, Any], found: Mapping[int, Sequence[Path]], question: Mapping[str, Any], *, symbolic: bool
) -> Fraction:
    """The cost proved for lists of this size, in units of ε (or as a number where ε is one)."""
    pairs = {(case, p, q): rest for case, p, q, *rest in certificate["pairs"]}
    regions = {n: _regions(certificate["regions"].get(str(n)), paths) for n, paths in found.items()}
    worst = Fraction(0)
    for case, first, second, data, rows in cases(question["neighbours"], certificate["size"]):
        for path, cone in regions[first]:
            others: list[tuple[Path, list[Premise], list[Premise]]]
            if cone is None:
                others = [(q, q.rows(noisy=True), more) for q, more in partners(path, found[second], data, rows)]
            else:
                if regions[second] and regions[second][0][1] is None:
                    raise Rejected("cones on one side only")
                others = [
                    (q, c, list[Premise]()) for q, c in regions[second] if c and values(q.output) == values(path.output)
                ][:1]
            if not others:
                raise Rejected(f"path {path.name} has no partner")
            for other, conditions, more in others:
                if (case, path.name, other.name) not in pairs:
                    raise Rejected(f"{case}: paths {path.name} and {other.name} are not treated")
                place, names, indices = pairs[case, path.name, other.name]
                everything = [*rows, *path.rows(noisy=False), *more]
                worst = max(
                    worst,
                    _pair(
                        certificate["proofs"][place],
                        names,
                        [everything[i] for i in indices],
                        (path, path.rows(noisy=True) if cone is None else cone),
                        (other, conditions),
                        data,
                        symbolic=symbolic,
                        whole=question["whole"],
                    ),
                )
    return worst


def _pair(  # noqa: PLR0917
    proof: Mapping[str, Any],
    names: Mapping[str, str],
    known: Sequence[Premise],
    one: tuple[Path, Sequence[Premise]],
    other: tuple[Path, Sequence[Premise]],
    data: Mapping[str, Form],
    *,
    symbolic: bool,
    whole: bool,
) -> Fraction:
    (path, rows), (second, conditions) = one, other
    if path.noises != second.noises:
        raise Rejected("the two runs draw different noise")
    if any(k != "uniform" and power != (-1 if symbolic else 0) for k, _, power in path.noises):
        raise Rejected("a scale times ε is not constant")
    (shape, mine), (shape_2, theirs) = values(path.output), values(second.output)
    if shape != shape_2 or [p for _, p in mine] != [p for _, p in theirs]:
        raise Rejected("the outputs differ in what noise does not touch")
    equal = []
    for (f, _), (g, _) in zip(mine, theirs, strict=True):
        equal.append((plus((1, replaced(g, data)), (-1, f)), {n: c for n, c in g.items() if n.startswith("x")}))
    floors = []
    sampled = [[d for d in p.decisions if d.kind != "row"] for p in (path, second)]
    for a, b in zip(*sampled, strict=True):
        if a.kind != b.kind or a.outcome != b.outcome or (a.kind == "flip" and a.form != b.form):
            raise Rejected("a coin that depends on data")
        if a.kind == "choose":
            floors.append(choice_floors(a, b, data, 1 if symbolic else 0))
    noises = [(f"x{i}", kind, scale) for i, (kind, scale, _) in enumerate(path.noises)]
    standing = [row for x, kind, _ in noises for row in support(kind, x)]
    must = [(replaced(f, data), strict) for f, strict in conditions]
    return check_step(proof, names, known, [*rows, *standing], noises, [*must, *standing], equal, floors, whole=whole)


def _regions(listed: Any, paths: Sequence[Path]) -> list[tuple[Path, list[Premise] | None]]:
    """Each path by itself, or the cones that the certificate merges them into, checked."""
    if listed is None:
        return [(p, None) for p in paths]
    by_name = {p.name: p for p in paths}
    if sorted(n for region in listed for n in region["paths"]) != sorted(by_name):
        raise Rejected("the cones do not consist of all paths")
    outputs = [values(by_name[region["paths"][0]].output)[0] for region in listed]
    if len(set(outputs)) < len(outputs):
        raise Rejected("two cones with one output")  # both could be moved to the same place
    found: list[tuple[Path, list[Premise] | None]] = []
    for region in listed:
        inside = [by_name[n] for n in region["paths"]]
        rows: list[Premise] = [({n: Fraction(c) for n, c in f.items()}, bool(s)) for f, s in region["rows"]]
        for p in paths:
            if p.rows(noisy=False) or any(d.kind != "row" for d in p.decisions) or p.noises != paths[0].noises:
                raise Rejected("paths of different kinds cannot be merged")
        standing = [row for i, (kind, _, _) in enumerate(paths[0].noises) for row in support(kind, f"x{i}")]
        shape = values(inside[0].output)
        for p, proofs in zip(inside, region["implied"], strict=True):
            if values(p.output) != shape or shape[1]:
                raise Rejected("merged paths have different outputs")
            for (form, strict), multipliers in zip(rows, proofs, strict=True):
                if not follows(form, strict, [*p.rows(noisy=True), *standing], _multipliers(multipliers)):
                    raise Rejected("a cone is too small")
        for p in paths:
            if p.name not in region["paths"]:
                premises = [*rows, *standing, *p.rows(noisy=True)]
                if not follows({}, True, premises, _multipliers(region["apart"][p.name])):
                    raise Rejected("a cone is too large")
        found.append((inside[0], rows))
    return found


def _multipliers(text: Mapping[str, str]) -> dict[int, Fraction]:
    return {int(i): Fraction(m) for i, m in text.items()}


def check_finite(found: Mapping[int, Sequence[Path]], question: Mapping[str, Any], size: int) -> Fraction:
    """The largest ratio of the probabilities of an output, for a program whose only noise is coins."""
    worst = ONE
    for _, first, second, data, rows in cases(question["neighbours"], size):
        for known, p in _distributions(found[first], {}, list(rows)):
            for _, q in _distributions(found[second], data, known):
                for output, chance in p.items():
                    if not q.get(output):
                        raise Rejected("an output is possible on one side only")
                    worst = max(worst, chance / q[output])
    return worst


def _distributions(
    paths: Sequence[Path], data: Mapping[str, Form], known: list[Premise]
) -> Iterator[tuple[list[Premise], dict[str, Fraction]]]:
    chances: dict[str, Fraction] = {}
    facts = Known(known)
    for path in paths:
        chance = ONE
        for d in path.decisions:
            if d.kind == "flip":
                chance *= d.form.get("", Fraction(0)) if d.outcome else 1 - d.form.get("", Fraction(0))
                continue
            if d.kind != "row" or path.noises or values(path.output)[1]:
                raise Rejected("this program has other noise than coins")
            form = replaced(d.form, data)
            holds = facts.decide(form, d.strict)
            if holds is None:
                for row in ((form, d.strict), (plus((-1, form)), not d.strict)):
                    yield from _distributions(paths, data, [*known, row])
                return
            if holds != bool(d.outcome):
                break
        else:
            if path.noises or values(path.output)[1]:
                raise Rejected("this program has other noise than coins")
            shape = values(path.output)[0]
            chances[shape] = chances.get(shape, Fraction(0)) + chance
    if sum(chances.values()) != 1:
        raise Rejected("the probabilities of the outputs do not add up to 1")
    yield known, chances
