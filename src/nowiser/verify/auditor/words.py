"""An audit in words and as JSON."""

from typing import TYPE_CHECKING, Any

from nowiser.percent import percent

if TYPE_CHECKING:
    from nowiser.verify.auditor.audit import Audit

LONG = 60


def told(found: "Audit") -> str:
    """What was found: never "private", "safe" or "passed"."""
    sure = percent(found.confidence, 0)
    if not found.refuted:
        bound = f"it is {found.least:.3g} at least" if found.least else "nothing is known from below"
        looked = f"{found.samples:,} samples of each input in {found.seconds:.1f} s"
        return f"No violation of {found.claim} found with {looked} ({bound}, at {sure} confidence). This is no proof."
    p, q = found.often
    before, after = found.guess
    lines = [
        f"Refuted: {found.claim} does not hold ({found.level} is more than {found.least:.3g}, at {sure} confidence; "
    ]
    lines[0] += f"{found.samples:,} samples of each input, {found.seconds:.1f} s)."
    lines.append(f"Inputs: {short(found.inputs[0])} and {short(found.inputs[1])}.")
    lines.append(f"Event: {found.event}.")
    first = f"{percent(p.value)} [{percent(p.low)}, {percent(p.high)}]"
    second = f"{percent(q.value)} [{percent(q.low)}, {percent(q.high)}]"
    lines.append(f"It happens with {first} on the first and with {second} on the second ({p.of:,} fresh runs of each).")
    knows = f"an attacker who thought {percent(before, 0)} and sees the event knows with at least {percent(after, 0)}"
    lines.append(f"With these two inputs {knows} which one it was.")
    return "\n".join(lines)


def as_json(found: "Audit") -> dict[str, Any]:
    return {
        "verdict": "refuted" if found.refuted else "unknown",
        "claim": found.claim,
        "level": found.level,
        "least": found.least,
        "confidence": found.confidence,
        "samples": found.samples,
        "seconds": round(found.seconds, 3),
        "inputs": [repr(given) for given in found.inputs],
        "event": found.event,
        "rates": [each.to_json() for each in found.often],
        "guess": {"before": found.guess[0], "after": found.guess[1]},
    }


def short(given: Any) -> str:
    """An input in a sentence."""
    text = repr(given)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
