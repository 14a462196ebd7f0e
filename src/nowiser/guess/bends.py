"""Where the logarithm of a density is concave and where it is convex, for the families of scipy of which that is known.

With f = ln density in standard units (location 0, scale 1), f'' changes its sign at the points given here, at most; the
formulas follow from f by differentiating twice. Between such points f lies on one side of its chords and on the other
side of their neighbours' continuations, which is all that `chords` needs to know about a distribution.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from nowiser.model.prior import Frozen

CONCAVE, CONVEX = -1, 1


@dataclass(frozen=True)
class Bends:
    """Points in order; the sign of f'' on each stretch between them; λ with f' ≤ −λ far right (f' ≥ λ far left)."""

    points: tuple[float, ...]
    signs: tuple[int, ...]
    rates: tuple[float, float] = (0.0, 0.0)


def _one(sign: int) -> Bends:
    return Bends((), (sign,))


def _concave_if(yes: bool) -> Bends:
    return _one(CONCAVE if yes else CONVEX)


def _then(first: int, *points: float) -> Bends:
    """Alternating signs."""
    return Bends(points, tuple(first * (-1) ** i for i in range(len(points) + 1)))


def _power(c: float, a2: float, a1: float, a0: float) -> Bends:
    """Here x²f''(1+y)² = a2·y² + a1·y + a0 with y = x^c."""
    root = a1 * a1 - 4 * a2 * a0
    found = {(-a1 + side * math.sqrt(root)) / (2 * a2) for side in (-1, 1)} if root > 0 and a2 else set()
    points = sorted(y ** (1 / c) for y in found if y > 0)
    first = a0 or a1 or a2
    return _then(CONVEX if first >= 0 else CONCAVE, *points)


def _beta(a: float, b: float) -> Bends:
    """Here f'' = (1−a)/x² + (1−b)/(1−x)²."""
    if (a - 1) * (b - 1) >= 0:
        return _concave_if(a >= 1 and b >= 1)
    return _then(CONCAVE if a > 1 else CONVEX, 1 / (1 + math.sqrt(abs((1 - b) / (a - 1)))))


def _beta_prime(a: float, b: float) -> Bends:
    """Here x²f'' = (1−a) + (a+b)·z², z = x/(1+x)."""
    if a <= 1:
        return _one(CONVEX)
    z = math.sqrt((a - 1) / (a + b))
    return _then(CONCAVE, z / (1 - z))


def _f(one: float, two: float) -> Bends:
    """A multiple of a beta prime: x·one/two."""
    found = _beta_prime(one / 2, two / 2)
    return Bends(tuple(x * two / one for x in found.points), found.signs)


def _gamma(a: float) -> Bends:
    return Bends((), (CONCAVE if a >= 1 else CONVEX,), (0.0, 1.0))


def _chi(df: float) -> Bends:
    """Here f'' = (1−df)/x² − 1."""
    return _one(CONCAVE) if df >= 1 else _then(CONVEX, math.sqrt(1 - df))


def _extreme(c: float) -> Bends:
    """Here f'' = −(1−c)·u⁻²·(u^{1/c} + c), u = 1 − cx."""
    if c >= 0:
        return _concave_if(c <= 1)
    return _then(CONCAVE, (1 - (-c) ** c) / c)


def _pareto(c: float) -> Bends:
    """Here f'' = c(c+1)/(1+cx)²."""
    return _concave_if(-1 <= c <= 0)


def _general_normal(beta: float) -> Bends:
    """Here f = −|x|^β: a cusp at zero where β < 1, convex on both sides of it."""
    return _then(CONCAVE) if beta >= 1 else Bends((0.0,), (CONVEX, CONVEX))


# Log-concave and log-convex whatever their arguments. (`exponnorm` is a convolution of log-concave densities.)
_CONCAVE = """expon exponnorm genlogistic gompertz gumbel_l gumbel_r halflogistic halfnorm hypsecant loggamma logistic
maxwell moyal norm rayleigh semicircular skewnorm truncexpon truncnorm"""
_CONVEX = """arcsine loguniform lomax pareto reciprocal"""

# shape parameters → bends; f for each family (up to a constant) beside it where it is not the textbook's
_FAMILIES: dict[str, Callable[..., Bends]] = {
    "beta": _beta,
    "betaprime": _beta_prime,
    # (cd−1)·ln x − (d+1)·ln(1 + x^c)
    "burr": lambda c, d: _power(c, 1 + c, -2 * (c * d - 1) - (d + 1) * c * (c - 1), 1 - c * d),
    # (c−1)·ln x − (d+1)·ln(1 + x^c)
    "burr12": lambda c, d: _power(c, c * d + 1, (1 - c) * (2 + (d + 1) * c), 1 - c),
    "cauchy": lambda: _then(CONVEX, -1.0, 1.0),
    "chi": _chi,
    "chi2": lambda df: Bends((), (CONCAVE if df >= 2 else CONVEX,), (0.0, 0.5)),
    "erlang": _gamma,
    "f": _f,
    "fisk": lambda c: _power(c, c + 1, (1 - c) * (2 + 2 * c), 1 - c),
    "gamma": _gamma,
    "genextreme": _extreme,
    "gennorm": _general_normal,
    "genpareto": _pareto,
    "halfcauchy": lambda: _then(CONCAVE, 1.0),
    "invgamma": lambda a: _then(CONCAVE, 2 / (a + 1)),
    "invgauss": lambda mu: Bends((2 / 3,), (CONCAVE, CONVEX), (0.0, 1 / (2 * mu * mu))),
    "invweibull": lambda c: _then(CONCAVE, c ** (1 / c)),
    "laplace": lambda: Bends((0.0,), (CONCAVE, CONCAVE)),
    "levy": lambda: _then(CONCAVE, 2 / 3),
    "lognorm": lambda s: _then(CONCAVE, math.exp(min(1 - s * s, 700.0))),
    # (2ν−1)·ln x − νx²
    "nakagami": lambda nu: _one(CONCAVE) if nu >= 0.5 else _then(CONVEX, math.sqrt((1 - 2 * nu) / (2 * nu))),
    "powerlaw": lambda a: _concave_if(a >= 1),
    "t": lambda df: _then(CONVEX, -math.sqrt(df), math.sqrt(df)),
    "triang": lambda c: Bends((c,), (CONCAVE, CONCAVE)),
    "wald": lambda: Bends((2 / 3,), (CONCAVE, CONVEX), (0.0, 0.5)),
    # (c−1)·ln x − x^c, so that x²f'' = (1−c)(1 + c·x^c)
    "weibull_max": lambda c: _concave_if(c >= 1),
    "weibull_min": lambda c: _concave_if(c >= 1),
}


def bends(prior: Frozen) -> Bends | None:
    """The bends of a prior in its own units; None where they are not known."""
    for everywhere, sign in ((_CONCAVE, CONCAVE), (_CONVEX, CONVEX)):
        if prior.name in everywhere.split():
            return _one(sign)
    family = _FAMILIES.get(prior.name)
    if family is None:
        return None
    shapes = prior.scipy().dist.shapes
    names = [*(shapes.split(", ") if shapes else []), "loc", "scale"]
    given = {"loc": 0.0, "scale": 1.0, **dict(zip(names, prior.args, strict=False)), **dict(prior.kwds)}
    found = family(*(given[n] for n in names[:-2]))
    loc, scale = given["loc"], given["scale"]
    left, right = found.rates
    return Bends(tuple(loc + scale * x for x in found.points), found.signs, (left / scale, right / scale))
