"""What `nowiser verify` answers: proved, refuted or unknown. Never "ok" for "nothing found".

* Proved: a certificate that `verify/check` accepts; `sizes` is None where it holds for lists of every length.
* Refuted: two neighbouring inputs, an event, how often it happens on each, and the ratio that is surely exceeded.
* Unknown: the line and the construct, and what would be accepted.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

BEFORE = 0.5  # the guess that a verdict is told with


def after(nats: float, before: float = BEFORE) -> float:
    """What a guess of `before` becomes when every output is at most e^nats times as likely."""
    return 1.0 if nats > 700 else before * math.exp(nats) / (1 - before + before * math.exp(nats))


def _told(verdict: Any) -> str:
    from nowiser.verify.words import told

    return told(verdict)


def _html(verdict: Any) -> str:
    from nowiser.verify.picture import html

    return html(verdict)


@dataclass(frozen=True)
class Event:
    """A set of outputs. An output is flattened to a row of numbers and truth values first (`flat`).

    shape: what stands at each place, None where any number does; limits: place, lowest, highest (None: no limit).
    """

    shape: tuple[float | bool | None, ...]
    limits: tuple[tuple[int, float | None, float | None], ...] = ()

    def holds(self, output: Any) -> bool:
        row = flat(output)
        if len(row) != len(self.shape):
            return False
        if any(want is not None and want != have for want, have in zip(self.shape, row, strict=True)):
            return False
        return all((low is None or row[i] >= low) and (high is None or row[i] <= high) for i, low, high in self.limits)

    @property
    def text(self) -> str:
        """For people: `output = [False, True]`, `output[0] ≥ 1 and output[1] ≥ 1`."""
        parts = []
        alone = len(self.shape) == 1
        if any(s is not None for s in self.shape):
            said = ["*" if s is None else _said(s) for s in self.shape]
            parts.append("output = " + (said[0] if alone else f"[{', '.join(said)}]"))
        for i, low, high in self.limits:
            place = "output" if alone else f"output[{i}]"
            if low is not None and high is not None:
                parts.append(f"{low:.6g} ≤ {place} ≤ {high:.6g}")
            elif low is not None:
                parts.append(f"{place} ≥ {low:.6g}")
            elif high is not None:
                parts.append(f"{place} ≤ {high:.6g}")
        return " and ".join(parts) or f"output has {len(self.shape)} entries"

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "shape": list(self.shape), "limits": [list(limit) for limit in self.limits]}


def flat(output: Any) -> tuple[Any, ...]:
    """A nested output as one row. Each list puts its length first, so that different nestings stay different."""
    if isinstance(output, (list, tuple)):
        return tuple(x for item in output for x in (_marked(item)))
    return (output,)


def _marked(item: Any) -> tuple[Any, ...]:
    return (len(item), *flat(item)) if isinstance(item, (list, tuple)) else (item,)


def _said(value: float | bool | None) -> str:
    return str(value) if isinstance(value, bool) or value is None else f"{value:.6g}"


@dataclass(frozen=True)
class Class:
    """Outputs of one kind, for the picture: their shares on both inputs, and whether they belong to the event."""

    label: str
    first: float
    second: float
    inside: bool


@dataclass(frozen=True)
class Frequency:
    """How often an event happens on one input: an interval that holds with the confidence of the verdict.

    times, of: what was counted; both 0 where the probability was computed and not counted.
    """

    low: float
    high: float
    times: int = 0
    of: int = 0

    def to_json(self) -> dict[str, float | int]:
        return {"low": self.low, "high": self.high, "times": self.times, "of": self.of}


@dataclass(frozen=True)
class Proved:
    """Every output is at most e^ε times as likely on one input as on its neighbour (or the claim's own sentence).

    smallest: the least claim this kind of proof gives, in units of the claim (eps, rho); text of a Fraction or of ln r.
    sizes: lists of up to so many elements; None for every length.
    curve: the least ε for lists of 1, 2, … elements; None where no bound is proved.
    nats: the claim at the ε of the guess (ε = 1 where it is symbolic).
    """

    claim: str
    smallest: str
    sizes: int | None
    certificate: Mapping[str, Any] = field(repr=False)
    curve: tuple[tuple[int, float | None], ...] = ()
    nats: float = 1.0
    engine: str = ""
    notes: tuple[str, ...] = ()

    __str__ = _told
    _repr_html_ = _html
    verdict: ClassVar[str] = "proved"
    exit_code: ClassVar[int] = 0

    @property
    def guess(self) -> tuple[float, float]:
        """Before → after: the ceiling for an attacker who wants to tell two neighbouring inputs apart."""
        return BEFORE, after(self.nats)

    def to_json(self) -> dict[str, Any]:
        before, then = self.guess
        return {
            "verdict": self.verdict,
            "claim": self.claim,
            "smallest": self.smallest,
            "sizes": self.sizes,
            "curve": [list(point) for point in self.curve],
            "engine": self.engine,
            "guess": {"before": before, "after": then},
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Refuted:
    """The claim is false: on `inputs_a` the event is more than e^claim times as likely as on `inputs_b`.

    ratio: the ratio that is exceeded with this confidence (infinite where the event cannot happen on b).
    """

    claim: str
    inputs_a: Mapping[str, Any]
    inputs_b: Mapping[str, Any]
    event: Event
    often_a: Frequency
    often_b: Frequency
    ratio: float
    allowed: float
    confidence: float = 1.0
    curve: tuple[tuple[int, float | None], ...] = ()
    why: str = ""
    classes: tuple[Class, ...] = field(default=(), repr=False, compare=False)

    __str__ = _told
    _repr_html_ = _html
    verdict: ClassVar[str] = "refuted"
    exit_code: ClassVar[int] = 1

    @property
    def guess(self) -> tuple[float, float]:
        """Before → after, at least: what an attacker knows who thought 50 % and saw the event."""
        if math.isinf(self.ratio):
            return BEFORE, 1.0
        return BEFORE, self.ratio / (1 + self.ratio)

    def to_json(self) -> dict[str, Any]:
        before, then = self.guess
        return {
            "verdict": self.verdict,
            "claim": self.claim,
            "inputs": [dict(self.inputs_a), dict(self.inputs_b)],
            "event": self.event.to_json(),
            "often": [self.often_a.to_json(), self.often_b.to_json()],
            "ratio": None if math.isinf(self.ratio) else self.ratio,
            "allowed": self.allowed,
            "confidence": self.confidence,
            "curve": [list(point) for point in self.curve],
            "guess": {"before": before, "after": then},
            "why": self.why,
        }


@dataclass(frozen=True)
class Unknown:
    """Neither proved nor refuted: why, where, what would be accepted, and what was reached."""

    claim: str
    reason: str
    line: int | None = None
    construct: str = ""
    hint: str = ""
    curve: tuple[tuple[int, float | None], ...] = ()

    __str__ = _told
    verdict: ClassVar[str] = "unknown"
    exit_code: ClassVar[int] = 2

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "claim": self.claim,
            "reason": self.reason,
            "line": self.line,
            "construct": self.construct,
            "hint": self.hint,
            "curve": [list(point) for point in self.curve],
        }


Verdict = Proved | Refuted | Unknown
