"""What to say when the allowance does not cover a question: what it needs, what is left, what would be admitted."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.sql.plan.plan import Way

TRIED = (Fraction(1), Fraction(9, 10), Fraction(3, 4), Fraction(1, 2))  # of what is left
LEAST = Fraction(1, 1000)  # of the allowance; less is not worth asking with


def share_of(policy: Policy, charge: Charge) -> Fraction:
    """The share of an untouched allowance that a charge uses; above 1 where it is more than there ever was."""
    used = allowance.share_used(policy, charge)
    return used if used < 1 else 1000 * allowance.share_used(policy, charge.times(Fraction(1, 1000)))


def left_for(policy: Policy, totals: Charge, analyst: str | None, own: Charge) -> Fraction:
    """The share that is left: of the whole allowance, or of the analyst's own share, where that is less."""
    left = max(Fraction(0), 1 - allowance.share_used(policy, totals))
    if analyst is None or analyst not in policy.analysts:
        return left
    return min(left, max(Fraction(0), policy.analysts[analyst] - allowance.share_used(policy, own)))


def affordable(
    policy: Policy, ways: Sequence[Way], totals: Charge, left: Fraction, *, analyst: str | None, own: Charge
) -> str | None:
    """A share that would be admitted now, such as `3.2%`: about what is left. None where there is none."""
    for part in TRIED:
        if left * part < LEAST:
            return None
        percent = two_digits(100 * left * part)
        for way in ways:
            try:
                allowance.largest_multiple(policy, totals, way.unit, Fraction(percent) / 100, analyst=analyst, own=own)
            except Exhausted:
                continue
            return f"{percent}%"
    return None


def told(refusal: Exhausted, *, needed: Fraction, left: Fraction, spend: str | None) -> Exhausted:
    """The refusal with its figures, and a hint in the words of Python."""
    hint = refusal.hint
    if hint is None or "less precision" in hint:
        start = f"{float(left) * 100:.3g} % of the allowance is left"
        if spend is not None:
            hint = f'{start}: at most spend="{spend}" is admitted, and explain says how precise that is.'
        elif left < LEAST:
            hint = "Nothing of the allowance is left. Stored answers stay free; only the custodian can allow more."
        else:
            hint = f"{start}. Ask for less precision (a smaller spend=, a larger error=), or ask less."
    return Exhausted(
        refusal.message,
        hint=hint,
        span=refusal.span,
        needed=float(needed),
        left=float(left),
        ask={} if spend is None else {"spend": spend},
    )


def two_digits(percent: Fraction) -> str:
    """Two digits that count, rounded down: 3.2, 0.45, 12."""
    exact = Decimal(percent.numerator) / Decimal(percent.denominator)
    return format(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_FLOOR).normalize(), "f")
