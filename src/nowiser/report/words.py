"""Sentences a data-protection officer understands, from figures."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from math import ceil, inf, log, nextafter

from nowiser.model.advantage import Advantage, points, shown
from nowiser.model.cost import Cost

EXACTLY = 1e-6  # a ceiling so near to what a mechanism reaches is reached in all digits that are printed


def who(advantage: Advantage) -> str:
    """The victim, as the object of a sentence."""
    if advantage.victim is None:
        return "the most exposed person" if advantage.worst else "the person"
    if isinstance(advantage.victim, dict):
        about = getattr(advantage.asked, "attributes", ()) or advantage.victim  # the rest of a record does not matter
        value = shown({name: v for name, v in advantage.victim.items() if name in about})
        return f"the most exposed person ({value})" if advantage.worst else f"a person with {value}"
    value = f"whose value is {shown(advantage.victim)}"
    return f"the most exposed person ({value})" if advantage.worst else f"a person {value}"


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


def up(value: float, digits: int = 6) -> str:
    """A scale of noise with this many digits, rounded up: printed noise is never less than what keeps the promise."""
    return _cut(value, digits, ROUND_CEILING)


def _cut(value: float, digits: int, rounding: str) -> str:
    if value == inf:
        return "more than 1e+308"
    exact = Decimal(repr(float(value)))
    if not exact:
        return "0"
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(step, rounding=rounding)):.{digits}g}"


def told(advantage: Advantage, limit: Fraction | None = None) -> list[str]:
    """The finding: before, after, and what kind of statement it is. `limit`: the gain that was allowed."""
    before, after, gain = advantage.figures(limit)
    cost = cost_words(advantage.slope, advantage.jump)
    lines = [
        f"Before the release an attacker {attempt(advantage)} is right with probability {before}.",
        f"After releases that cost {cost} in all, no output lifts it above {after}: at most {gain} points better.",
    ]
    if advantage.tight:
        nearly = "" if advantage.attained >= (1 - EXACTLY) * advantage.after else ", to a thousandth"
        lines.append(f"This is not only a bound: {_attained(advantage)}{nearly}.")
    else:
        lines.append(f"This is an upper bound.{advantage.gap()}")
    return lines


def _attained(advantage: Advantage) -> str:
    witness = advantage.witness
    if witness.kind == "laplace" and witness.peak is not None and witness.rate > 0:
        return f"Laplace noise of scale {1 / witness.rate:.6g} reaches it when the answer is {witness.peak:.6g}"
    if witness.kind == "randomised response":
        return "randomised response reaches it"
    return "a mechanism that reaches it is under `witness` with --json"


def on_average(before: float, after: float, how: str, *, ceiling: float = 1.0, worst: bool = True) -> str:
    """The second number. It is about everybody, which has to be said where one person's ceiling may be lower."""
    reached = f"from {points(before)} to {points(after)}"
    people = "all people"
    if not worst:
        people += ", not only this one,"
    elif round(1000 * after) > ceil(1000 * ceiling):  # as printed
        people += ", also those who were easier to guess before,"
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
    scale = radius / slope if slope > 0 else inf
    if scale == inf:
        return inf
    return scale if Fraction(scale) * Fraction(slope) >= Fraction(radius) else nextafter(scale, inf)


def error_bar(scale: float, share: float = 0.95) -> float:
    """Half-width that holds this share of Laplace noise."""
    return scale * log(1 / (1 - share))
