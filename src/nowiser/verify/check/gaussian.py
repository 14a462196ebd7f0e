"""Checking a proof of ρ: one constant ceiling for the shift of each Gaussian noise, whatever the noise is."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nowiser.verify.check.arithmetic import Form, Premise, plus, replaced
from nowiser.verify.check.bounded import cases, check_step, partners
from nowiser.verify.check.follow import Path, Rejected, values

SLACK = 1e-9
Equal = list[tuple[Form, Form]]


def check_gaussian(
    certificate: Mapping[str, Any], found: Mapping[int, Sequence[Path]], question: Mapping[str, Any]
) -> Fraction:
    """The ρ that is proved for lists of this size."""
    pairs = {(case, p, q): rest for case, p, q, *rest in certificate["pairs"]}
    worst = Fraction(0)
    for case, first, second, data, rows in cases(question["neighbours"], certificate["size"]):
        noises = found[first][0].noises
        for p in (*found[first], *found[second]):
            coins = any(d.kind != "row" for d in p.decisions)
            if coins or p.noises != noises or any(kind != "gaussian" or power for kind, _, power in p.noises):
                raise Rejected("other noise than the same Gaussian noise on each path")
        scales = [(f"x{i}", kind, scale) for i, (kind, scale, _) in enumerate(noises)]
        for p_name, q_name, known, equal in _together(found[first], found[second], data, rows):
            if (case, p_name, q_name) not in pairs:
                raise Rejected(f"{case}: paths {p_name} and {q_name} are not treated")
            place, names, indices = pairs[case, p_name, q_name]
            proof = certificate["proofs"][place]
            check_step(proof, names, [known[i] for i in indices], (), scales, (), equal, (), whole=False, gaussian=True)
            tops = (Fraction(proof["tops"][x].get("", 0)) for x, _, _ in scales)
            worst = max(worst, sum((t**2 / (2 * s**2) for t, (_, _, s) in zip(tops, scales, strict=True)), Fraction(0)))
    return worst


def _together(
    first: Sequence[Path], second: Sequence[Path], data: Mapping[str, Form], rows: list[Premise]
) -> Iterator[tuple[str, str, list[Premise], Equal]]:
    if any(p.rows(noisy=True) for p in (*first, *second)):
        if any(p.rows(noisy=False) for p in (*first, *second)) or [p.name for p in first] != [p.name for p in second]:
            raise Rejected("data and noise decide in turn")
        yield "*", "*", rows, [e for p, q in zip(first, second, strict=True) for e in _equal(p, q, data)]
        return
    for path in first:
        for other, more in partners(path, second, data, rows):
            yield path.name, other.name, [*rows, *path.rows(noisy=False), *more], _equal(path, other, data)


def _equal(p: Path, q: Path, data: Mapping[str, Form]) -> Equal:
    (shape, mine), (shape_2, theirs) = values(p.output), values(q.output)
    if shape != shape_2 or any(power for _, power in (*mine, *theirs)):
        raise Rejected("the outputs differ in what noise does not touch")
    rows = [(f, g) for (f, _), (g, _) in zip(p.rows(noisy=True), q.rows(noisy=True), strict=True)]
    both = [*((f, g) for (f, _), (g, _) in zip(mine, theirs, strict=True)), *rows]
    return [(plus((1, replaced(g, data)), (-1, f)), {n: c for n, c in g.items() if n.startswith("x")}) for f, g in both]


def delta_of(rho: Fraction, epsilon: float) -> float:
    """δ of Gaussian noise that is shifted by μ = √(2ρ) standard deviations, a little above the true value."""
    if not rho:
        return 0.0
    mu = math.sqrt(2 * float(rho))
    tail = 0.5 * math.erfc((epsilon / mu - mu / 2) / math.sqrt(2))
    other = 0.5 * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2))
    return tail - math.exp(epsilon) * other + SLACK * tail
