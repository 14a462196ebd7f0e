"""The refuter: candidates for inputs and events by quick runs, one confirmation on fresh exact noise.

Where noise on numbers plays no part the two probabilities are computed instead.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from nowiser.verify.bounded.bound import Bound, Worst
from nowiser.verify.question import Question, said
from nowiser.verify.refute.classes import of_chances, of_runs
from nowiser.verify.refute.computed import chances, computable
from nowiser.verify.refute.events import Found, best, happened, score
from nowiser.verify.refute.inputs import Data, pairs
from nowiser.verify.refute.simulate import Noises, Point, exact, quick, simulate
from nowiser.verify.symbolic.paths import Limits, Path, entries, noisy, paths
from nowiser.verify.verdict import Event, Frequency, Refuted

CONFIDENCE = 0.99999
QUICK, CLOSER = 4000, 40_000
ROUNDS = (100_000, 400_000)  # fresh runs of a confirmation; the second only if the first came near
CANDIDATES = 60
ENOUGH = 6.0  # standard errors at which no further candidate is looked at
PROMISING = 2.5


def refute(
    question: Question, bounds: Sequence[Bound], failing: Sequence[Bound], limits: Limits, seconds: float = 15.0
) -> Refuted | None:
    """Two inputs and an event that break the claim at ε = 1, or None where none was found."""
    end = min(limits.end, time.monotonic() + seconds)
    curve = tuple((b.size, None if b.cost is None else float(b.cost)) for b in bounds)
    tried = []
    for b, line in [(b, line) for b in failing for line in lines(question)]:
        search = _Search(question, b, end, line)
        found = search.computed() or search.sampled()
        if isinstance(found, Refuted):
            return _with(found, curve, b)
        if found is not None and found[0].score > ENOUGH:  # the shortest lists that will do
            confirmed = search.confirmed(*found)
            if confirmed is not None:
                return _with(confirmed, curve, b)
        if found is not None:
            tried.append((found, search, b))
    for (candidate, d, e), search, b in sorted(tried, key=lambda each: -each[0][0].score)[:2]:
        confirmed = search.confirmed(candidate, d, e)
        if confirmed is not None:
            return _with(confirmed, curve, b)
    return None


def lines(question: Question) -> list[tuple[float, float]]:
    """The claim as p ≤ rise·q + start for the chances p and q of an event; for ρ some of the lines that it implies."""
    claim = question.claim
    if claim.kind == "rho":
        from nowiser.verify.auditor.claims import Concentrated

        rises, starts = Concentrated(claim.nats).line(np.array([0.003, 0.03, 0.2]))
        return [(float(r), float(s)) for r, s in zip(rises, starts, strict=True)]
    rise = float(claim.ratio) if claim.ratio is not None else math.exp(min(700.0, float(claim.factor)))
    return [(rise, float(claim.delta))]


def _with(found: Refuted, curve: Any, b: Bound) -> Refuted:
    return replace(found, curve=curve, why=uncovered(b.paths) or (b.worst.why if b.worst is not None else ""))


def uncovered(found: Sequence[Path]) -> str:
    """Labels: a place of the output that depends on data and on no noise, in words."""
    for path in found:
        for form in entries(path.output)[1]:
            if any(n.startswith("d") for n in form.terms) and not noisy(form):
                return "a number of the output depends on the data and on no noise"
    if all(not p.noises and not p.samples for p in found) and any(p.data_rows for p in found):
        return "the output depends on the data and on no noise"
    return ""


class _Search:
    def __init__(self, question: Question, b: Bound, end: float, line: tuple[float, float]) -> None:
        self._question, self._size, self._end = question, b.size, end
        self._worst: Worst | None = b.worst
        self._limits = Limits(end)
        self._paths = {len(b.paths) and b.size: b.paths}
        self._rise, self._loose = line

    def _of(self, size: int) -> Sequence[Path]:
        if size not in self._paths:
            self._paths[size] = paths(self._question, size, None, self._limits)
        return self._paths[size]

    def _point(self, data: Data) -> Point:
        publics = {f"p_{p}": Fraction(0) for p in self._question.program.parameters}
        return {**publics, **{f"d{i}": x for i, x in enumerate(data)}}

    def _pairs(self) -> Any:
        return pairs(self._question, self._size, self._of(self._size), self._worst, CANDIDATES)

    def computed(self) -> Refuted | None:
        """By computing, where all noise is coins and choices."""
        if not computable(self._of(self._size)):
            return None
        found: Refuted | None = None
        for d, e in self._pairs():
            for a, b in ((d, e), (e, d)):
                p, q = (chances(self._of(len(x)), self._point(x)) for x in (a, b))
                for output, chance in p.items():
                    other = q.get(output, Fraction(0))
                    ratio = math.inf if not other else float(chance / other) * (1 - 1e-12)
                    if float(chance) * (1 - 1e-12) > self._rise * float(other) + self._loose and (
                        found is None or ratio > found.ratio
                    ):
                        event = Event(output)
                        often = Frequency(float(chance), float(chance)), Frequency(float(other), float(other))
                        found = replace(self._refuted(a, b, event, often, ratio, 1.0), classes=of_chances(event, p, q))
        return found

    def sampled(self) -> tuple[Found, Data, Data] | None:
        """The best candidate by quick runs."""
        looking, closer = Noises(QUICK, quick()), Noises(CLOSER, quick(2))
        seen: list[tuple[float, Data, Data]] = []
        for number, (d, e) in enumerate(self._pairs()):
            if time.monotonic() > self._end:
                break
            a, b = (simulate(self._of(len(x)), self._point(x), looking) for x in (d, e))
            for one, other, x, y in ((a, b, d, e), (b, a, e, d)):
                seen.append((best(one, other, self._rise, self._loose, paired=number < 12).score, x, y))
        top: tuple[Found, Data, Data] | None = None
        for _, d, e in sorted(seen, key=lambda each: -each[0])[:4]:
            a, b = (simulate(self._of(len(x)), self._point(x), closer) for x in (d, e))
            found = best(a, b, self._rise, self._loose, paired=True)
            if top is None or found.score > top[0].score:
                top = found, d, e
        return top if top is not None and top[0].score > PROMISING / 2 else None

    def confirmed(self, candidate: Found, d: Data, e: Data) -> Refuted | None:
        """Fresh runs on exact noise; intervals hold together with the confidence that is said."""
        from nowiser.verify.auditor.exact import rate

        for runs in ROUNDS:
            outputs = [simulate(self._of(len(x)), self._point(x), Noises(runs, exact)) for x in (d, e)]
            counts = [happened(candidate.event, each) for each in outputs]
            p, q = (rate(c, runs, 1 - (1 - CONFIDENCE) / 2 / len(ROUNDS)) for c in counts)
            if p.low > self._rise * q.high + self._loose:
                often = Frequency(p.low, p.high, p.happened, p.of), Frequency(q.low, q.high, q.happened, q.of)
                found = self._refuted(d, e, candidate.event, often, p.low / q.high, CONFIDENCE)
                return replace(found, classes=of_runs(candidate.event, *outputs))
            if score(counts[0], counts[1], runs, self._rise, self._loose) < PROMISING:
                return None
        return None

    def _refuted(  # noqa: PLR0917
        self, d: Data, e: Data, event: Event, often: tuple[Frequency, Frequency], ratio: float, confidence: float
    ) -> Refuted:
        return Refuted(
            claim=str(self._question.claim),
            inputs_a=self._given(d),
            inputs_b=self._given(e),
            event=event,
            often_a=often[0],
            often_b=often[1],
            ratio=ratio,
            allowed=self._rise,
            confidence=confidence,
        )

    def _given(self, data: Data) -> dict[str, Any]:
        """All arguments, as they would be written."""
        found: dict[str, Any] = {}
        for name in self._question.program.parameters:
            if name == self._question.private:
                values = [_plain(x) for x in data]
                found[name] = values if self._question.listed else values[0]
            elif name in self._question.numbers:
                found[name] = _as_written(said(self._question.numbers[name]))
            else:
                found[name] = 1 if name == self._question.symbol else 0
        return found


def _plain(x: Fraction) -> int | float:
    return x.numerator if x.denominator == 1 else float(x)


def _as_written(text: Any) -> Any:
    return [_as_written(t) for t in text] if isinstance(text, list) else _plain(Fraction(text))
