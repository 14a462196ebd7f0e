"""Linear forms with exact coefficients, times one power of ε: `ε^power · (constant + Σ coefficient·symbol)`.

Forms are what numbers are while a program is followed with symbols for data, publics and noise. ε itself is the form
with power 1 and constant 1, so `2/eps` has power −1, and a verdict holds for every ε when each scale has it.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from nowiser.verify.outside import MixedPowers, Outside

Number = int | Fraction
Value = "Form | Fraction | int"


class Form:
    """Immutable by agreement; `terms` has no zeros."""

    __slots__ = ("constant", "power", "terms")

    def __init__(self, terms: Mapping[str, Fraction], constant: Fraction = Fraction(0), power: int = 0) -> None:
        self.terms, self.constant, self.power = terms, constant, power

    @staticmethod
    def symbol(name: str) -> "Form":
        return Form({name: Fraction(1)})

    @property
    def plain(self) -> bool:
        """A number, apart from its power of ε."""
        return not self.terms

    def __add__(self, other: object) -> "Form":
        right = lift(other)
        if right is None:
            return NotImplemented
        if self.power != right.power:
            if right.plain and not right.constant:
                return self
            if self.plain and not self.constant:
                return right
            raise MixedPowers("a sum of terms with different powers of the symbol ε")
        terms = dict(self.terms)
        for name, c in right.terms.items():
            new = terms.get(name, 0) + c
            if new:
                terms[name] = new
            else:
                terms.pop(name, None)
        return Form(terms, self.constant + right.constant, self.power)

    __radd__ = __add__

    def scaled(self, factor: Number, power: int = 0) -> "Form":
        if not factor:
            return Form({})
        return Form({n: c * factor for n, c in self.terms.items()}, self.constant * factor, self.power + power)

    def __neg__(self) -> "Form":
        return self.scaled(-1)

    def __sub__(self, other: object) -> "Form":
        right = lift(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: object) -> "Form":
        left = lift(other)
        return NotImplemented if left is None else left + -self

    def __mul__(self, other: object) -> "Form":
        right = lift(other)
        if right is None:
            return NotImplemented
        if right.plain:
            return self.scaled(right.constant, right.power)
        if self.plain:
            return right.scaled(self.constant, self.power)
        raise Outside("a product of two values that are not numbers", hint="a number times a private or noisy value")

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> "Form":
        right = lift(other)
        if right is None:
            return NotImplemented
        if not right.plain:
            raise Outside("a division by a value that is not a number", hint="a division by a number")
        if not right.constant:
            raise Outside("a division by zero")
        return self.scaled(1 / Fraction(right.constant), -right.power)

    def __rtruediv__(self, other: object) -> "Form":
        left = lift(other)
        return NotImplemented if left is None else left / self

    def put(self, values: Mapping[str, "Form"]) -> "Form":
        """With these symbols replaced."""
        if not any(name in values for name in self.terms):
            return self
        kept = {n: c for n, c in self.terms.items() if n not in values}
        found = Form(kept, self.constant)
        for name, c in self.terms.items():
            if name in values:
                found += values[name].scaled(c)
        return Form(found.terms, found.constant, self.power)

    def at(self, values: Mapping[str, Fraction]) -> Fraction:
        return self.constant + sum((c * values[n] for n, c in self.terms.items()), Fraction(0))

    @property
    def key(self) -> tuple[tuple[tuple[str, Fraction], ...], Fraction, int]:
        return tuple(sorted(self.terms.items())), self.constant, self.power

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        parts = [*(f"{c}·{n}" for n, c in sorted(self.terms.items())), *([str(self.constant)] if self.constant else [])]
        text = " + ".join(parts) or "0"
        return text if not self.power else f"ε^{self.power}·({text})"


def lift(value: object) -> Form | None:
    """A number as a form."""
    if isinstance(value, Form):
        return value
    return Form({}, Fraction(value)) if isinstance(value, (int, Fraction)) else None


def settled(form: Form) -> Form | Fraction:
    """A form that is a number, as a number."""
    return form.constant if form.plain and (not form.power or not form.constant) else form


def total(forms: Iterable[Form]) -> Form:
    found = Form({})
    for form in forms:
        found += form
    return found
