"""Programs without noise on numbers: the chance of each output of one input, enclosed as closely as it takes."""

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from nowiser.verify.refute.simulate import Point
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Path
from nowiser.verify.verdict import flat

CONTEXT = Context(prec=60)
SLACK = Fraction(1, 10**50)
Chances = Mapping[tuple[Any, ...], Fraction]


def computable(paths: Sequence[Path]) -> bool:
    return all(not p.noises for p in paths)


def chances(paths: Sequence[Path], point: Point) -> Chances:
    """Within a relative error of 1e-50; exact where no choice is sampled."""
    found: dict[tuple[Any, ...], Fraction] = {}
    for path in paths:
        chance = Fraction(1)
        for d in path.decisions:
            if d.kind == "row":
                value = d.form.at(point)
                if (value > 0 if d.strict else value >= 0) != bool(d.outcome):
                    break
            elif d.kind == "flip":
                chance *= d.form.constant if d.outcome else 1 - d.form.constant
            else:
                scores = [s.at(point) for s in d.scores]
                weights = [_exp(s - max(scores)) for s in scores]
                chance *= weights[d.outcome] / sum(weights)
        else:
            output = tuple(_number(v, point) for v in flat(path.output))
            found[output] = found.get(output, Fraction(0)) + chance
    return found


def _exp(x: Fraction) -> Fraction:
    return Fraction(CONTEXT.exp(CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))))


def _number(value: Any, point: Point) -> Any:
    if isinstance(value, Form):
        value = value.at(point)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value
