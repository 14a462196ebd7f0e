"""Linear forms as dictionaries (`""` is the constant), and the one rule of every proof: a sum of what is known.

If every premise is ≥ 0 and the conclusion equals Σ multiplier·premise + a number ≥ 0 with multipliers ≥ 0, then the
conclusion is ≥ 0; it is > 0 if the number is, or if a premise that is > 0 is used.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

Form = Mapping[str, Fraction]
Premise = tuple[Form, bool]  # above 0 (True) or at least 0


def plus(*parts: tuple[Fraction | int, Form]) -> dict[str, Fraction]:
    """Σ factor·form."""
    found: dict[str, Fraction] = {}
    for factor, form in parts:
        for name, c in form.items():
            found[name] = found.get(name, Fraction(0)) + factor * c
    return {name: c for name, c in found.items() if c}


def replaced(form: Form, by: Mapping[str, Form]) -> dict[str, Fraction]:
    """With these symbols replaced by forms."""
    return plus(*((c, by[n] if n in by else {n: Fraction(1)}) for n, c in form.items()))


def follows(conclusion: Form, strict: bool, premises: Sequence[Premise], multipliers: Mapping[int, Fraction]) -> bool:
    """Whether these multipliers prove the conclusion."""
    if any(m < 0 or not 0 <= i < len(premises) for i, m in multipliers.items()):
        return False
    rest = plus((1, conclusion), *((-m, premises[i][0]) for i, m in multipliers.items()))
    if any(name for name in rest):
        return False
    number = rest.get("", Fraction(0))
    used = any(m > 0 and premises[i][1] for i, m in multipliers.items())
    return number >= 0 and (not strict or number > 0 or used)
