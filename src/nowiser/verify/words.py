"""A verdict in words: what was shown, and what it means for somebody who guesses."""

from nowiser.percent import percent
from nowiser.verify.check.certificate import neighbours
from nowiser.verify.verdict import Frequency, Proved, Refuted, Unknown, Verdict

REAL = "Numbers are real in the proof; what rounding tells is no part of it."


def told(verdict: Verdict) -> str:
    match verdict:
        case Proved():
            return _proved(verdict)
        case Refuted():
            return _refuted(verdict)
    return _unknown(verdict)


def _proved(v: Proved) -> str:
    upto = "one element" if v.sizes == 1 else f"up to {v.sizes} elements"
    where = "for every input" if v.sizes is None else f"for lists of {upto}"
    before, then = v.guess
    lines = [
        f"Proved: {v.claim}, {where} ({v.engine}; the checker accepted the certificate).",
        f"Neighbours: {neighbours(v.certificate['question']['neighbours'])}. {REAL}",
        f"The least that this kind of proof gives is {_least(v.smallest)}.",
        f"An attacker who thought {percent(before, 0)} knows with at most {percent(then)} afterwards{_at(v.claim)}.",
    ]
    return "\n".join([*lines, *_curve(v.claim, v.curve), *(f"Note: {note}." for note in v.notes)])


def _refuted(v: Refuted) -> str:
    before, then = v.guess
    sure = "computed" if v.confidence == 1 else f"at {percent(v.confidence, 3)} confidence"
    more_or_less = " and a little more" if "δ" in v.claim or "ρ" in v.claim else ""
    more = "It cannot happen on the second" if v.ratio == float("inf") else f"That is {v.ratio:.4g} times as likely"
    lines = [
        f"Refuted: {v.claim} does not hold.",
        f"Inputs: {_inputs(v.inputs_a)} and {_inputs(v.inputs_b)}.",
        f"Event: {v.event.text}.",
        f"It happens with {_often(v.often_a)} on the first and with {_often(v.often_b)} on the second ({sure}).",
        f"{more}; {v.allowed:.4g} times{more_or_less} is claimed at most.",
        f"With these two inputs an attacker who thought {percent(before, 0)} now knows with {percent(then)}.",
    ]
    return "\n".join([*lines, *([f"Why: {v.why}."] if v.why else []), *_curve(v.claim, v.curve)])


def _unknown(v: Unknown) -> str:
    where = f" (line {v.line}{f': {v.construct}' if v.construct else ''})" if v.line else ""
    lines = [f"Unknown: {v.claim} was neither proved nor refuted.", f"What stopped it{where}: {v.reason}."]
    if v.hint:
        lines.append(f"What would be accepted: {v.hint}.")
    return "\n".join([*lines, *_curve(v.claim, v.curve)])


def _least(smallest: str) -> str:
    return smallest if smallest.startswith(("ln", "ρ")) else f"{smallest}·ε"


def _at(claim: str) -> str:
    if "ρ" in claim or "δ" in claim:
        return ", on average over what is seen"
    return " (at ε = 1)" if claim == "ε" or claim.endswith("·ε") else ""


def _often(f: Frequency) -> str:
    if f.low == f.high:
        return percent(f.low)
    return f"{percent(f.times / f.of)} [{percent(f.low)}, {percent(f.high)}]"


def _inputs(given: object) -> str:
    return ", ".join(f"{name} = {value}" for name, value in dict(given).items())  # type: ignore[call-overload]


def _curve(claim: str, curve: tuple[tuple[int, float | None], ...]) -> list[str]:
    if len(curve) < 2:
        return []
    said = ", ".join("none" if cost is None else f"{cost:.4g}" for _, cost in curve)
    return [f"Least {'ρ' if 'ρ' in claim else 'ε'} that shifts prove for lists of 1, 2, … elements: {said}."]
