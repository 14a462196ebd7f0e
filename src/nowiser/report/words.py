"""Sentences a data-protection officer understands, from figures."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from math import inf, log, nextafter

from nowiser.model.advantage import Advantage, points, shown
from nowiser.model.cost import Cost


def who(advantage: Advantage) -> str:
    """The victim, as the object of a sentence."""
    if advantage.victim is None:
        return "the most exposed person" if advantage.worst else "the person"
    if advantage.worst:
        return f"the most exposed person (value {shown(advantage.victim)})"
    return f"a person whose value is {shown(advantage.victim)}"


def attempt(advantage: Advantage) -> str:
    """What the attacker tries, as a relative clause."""
    return (
        f"who guesses “{advantage.goal}” about {who(advantage)}"
        if advantage.goal
        else f"who guesses about {who(advantage)}"
    )


def cost_words(slope: float, jump: float) -> str:
    parts = [f"{name} {down(value)}" for name, value in (("slope", slope), ("jump", jump)) if value]
    return " and ".join(parts) or "nothing"


def down(value: float, digits: int = 6) -> str:
    """A cost with this many digits, rounded down: a printed allowance is never more than what was granted."""
    return _cut(value, digits, ROUND_FLOOR)


def up(value: float, digits: int = 4) -> str:
    """A scale of noise with this many digits, rounded up: printed noise is never less than what keeps the promise."""
    return _cut(value, digits, ROUND_CEILING)


def _cut(value: float, digits: int, rounding: str) -> str:
    exact = Decimal(repr(float(value)))
    if not exact:
        return "0"
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(step, rounding=rounding)):.{digits}g}"


def told(advantage: Advantage) -> list[str]:
    """The finding: before, after, and what kind of statement it is."""
    gain = points(advantage.gain, up=True).removesuffix(" %")
    after = points(advantage.after, up=True)
    cost = cost_words(advantage.slope, advantage.jump)
    lines = [
        f"Before the release an attacker {attempt(advantage)} is right with probability {points(advantage.before)}.",
        f"After releases that cost {cost} in all, no output lifts it above {after}: at most {gain} points better.",
    ]
    if advantage.tight:
        lines.append(f"This is not only a bound: {_attained(advantage)}.")
    else:
        lines.append("This is an upper bound; the exact figure may be lower.")
    return lines


def _attained(advantage: Advantage) -> str:
    witness = advantage.witness
    if witness.kind == "laplace" and witness.peak is not None and witness.rate > 0:
        return f"Laplace noise of scale {up(1 / witness.rate)} reaches it when the answer is {witness.peak:.6g}"
    if witness.kind == "randomised response":
        return "randomised response reaches it"
    return "a mechanism that reaches it is under `witness` with --json"


def on_average(before: float, after: float, how: str, *, worst: bool = True) -> str:
    """The second number. For one victim's ceiling it needs the reminder that it is about everybody."""
    reached = f"from {points(before)} to {points(after)}"
    people = "all people" if worst else "all people, not only this one,"
    return f"On average over {people} and all answers, the best attacker goes {reached} ({how})."


def calibrated(cost: Cost, radius: float | None, people: int = 100) -> list[str]:
    """What an allowed cost means for noise."""
    lines = []
    if cost.slope > 0 and radius is not None:
        sums, mean = laplace_scale(cost.slope, radius), laplace_scale(cost.slope, radius) / people
        lines += [f"Spent on one sum: {_noise(sums)}.", f"Spent on the average of {people} people: {_noise(mean)}."]
    if cost.jump > 0:
        lines.append(f"Spent on one count: {_noise(laplace_scale(cost.jump, 1.0))}.")
    return lines


def _noise(scale: float) -> str:
    return f"Laplace noise of scale {up(scale)}, so 95 % of answers are within ±{error_bar(scale):.4g}"


def laplace_scale(slope: float, radius: float) -> float:
    """Noise on a sum for a slope: it moves by one per unit of the value, the slope counts per radius; rounded up."""
    if not slope > 0:
        return inf
    scale = radius / slope
    return scale if Fraction(scale) * Fraction(slope) >= Fraction(radius) else nextafter(scale, inf)


def error_bar(scale: float, share: float = 0.95) -> float:
    """Half-width that holds this share of Laplace noise."""
    return scale * log(1 / (1 - share))
