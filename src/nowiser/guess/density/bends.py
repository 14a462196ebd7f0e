"""Where the logarithm of a density is concave and where it is convex, for the families of scipy of which that is known.

With f = ln density in standard units (location 0, scale 1), f'' changes its sign at the points given here, at most; the
formulas follow from f by differentiating twice. Between such points f lies on one side of its chords and on the other
side of their neighbours' continuations, which is all that `chords` needs to know about a distribution.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

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


def _where(polynomial: Sequence[float], low: float, high: float, back: Callable[[float], float] = float) -> Bends:
    """Here f'' has the sign of a polynomial (highest power first) in y; `back` tells x from y, growing or falling.

    All its roots are found, so it changes its sign nowhere else between low and high.
    """
    roots = np.roots(np.trim_zeros(np.array(polynomial, float), "f"))
    real = roots.real[np.abs(roots.imag) <= 1e-9 * (1 + np.abs(roots))]
    y = np.array(sorted(float(r) for r in real if low < r < high))
    ends = np.concatenate([[max(low, min(y, default=0.0) - 1)], y, [min(high, max(y, default=0.0) + 1)]])
    signs = [CONVEX if np.polyval(polynomial, m) > 0 else CONCAVE for m in (ends[1:] + ends[:-1]) / 2]
    points = [back(float(v)) for v in y]
    if points and back(float(ends[0] + ends[1]) / 2) > points[0]:
        points, signs = points[::-1], signs[::-1]
    return Bends(tuple(points), tuple(signs))


def _argus(chi: float) -> Bends:
    """Here f'' = −1/z − (1+z)/(1−z)² + χ², z = x²."""
    square = np.array([1.0, -2.0, 1.0])  # (1−z)²
    found = np.polyadd(chi * chi * np.polymul([1.0, 0.0], square), -square)
    return _where(np.polyadd(found, [-1.0, -1.0, 0.0]).tolist(), 0.0, 1.0, math.sqrt)


def _exponential_power(b: float) -> Bends:
    """Here x²f'' = (1−b)(1 + b·y(e^y − 1)) − b²y²e^y, y = x^b.

    Divided by y·e^y it falls for b < 1: its derivative there is (1−b)e^{−y}(b − 1/y − 1/y²) − b², which could be
    positive only for y > 1/b, where e^{−y} < b. So it has one root.
    """
    if b >= 1:
        return _one(CONCAVE)
    low, high = -40.0, 7.0
    for _ in range(200):
        middle = (low + high) / 2
        y = math.exp(middle)
        value = (1 - b) * (math.exp(-y) + b * y * -math.expm1(-y)) - b * b * y * y
        low, high = (middle, high) if value > 0 else (low, middle)
    return _then(CONVEX, math.exp(low / b))


def _hypergeometric(a: float, b: float, c: float, z: float) -> Bends:
    """Here f'' = (1−a)/x² + (1−b)/(1−x)² + cz²/(1+zx)²."""
    x, rest, third = ([1.0, 0.0, 0.0], [1.0, -2.0, 1.0], [z * z, 2 * z, 1.0])
    found = np.polyadd((1 - a) * np.polymul(rest, third), (1 - b) * np.polymul(x, third))
    return _where(np.polyadd(found, c * z * z * np.polymul(x, rest)).tolist(), 0.0, 1.0)


def _breit_wigner(rho: float) -> Bends:
    """Here f = −ln D, D = (z−ρ²)² + ρ², z = x²: the sign of D'² − D·D''."""
    away = np.array([1.0, -rho * rho])
    square = np.polymul(away, away)
    found = 16 * np.polymul([1.0, 0.0], square)
    other = np.polymul(np.polyadd(square, [rho * rho]), [12.0, -4 * rho * rho])
    return _where(np.polysub(found, other).tolist(), 0.0, math.inf, math.sqrt)


def _half_logistic(c: float) -> Bends:
    """Here f'' has the sign of (1+c)v² + (2c − 2/c)v − (1−c), v = (1−cx)^{1/c}."""
    return _where([1 + c, 2 * c - 2 / c, c - 1], 0.0, 1.0, lambda v: (1 - v**c) / c)


def _general_gamma(a: float, c: float) -> Bends:
    """Here x²f'' = (1−ca) − c(c−1)x^c for c > 0, and f = (ca−1)·ln x − x^c for either sign."""
    y = (1 - c * a) / (c * (c - 1)) if c != 1 else -1.0
    first = 1 - c * a if c > 0 else -c * (c - 1)  # what counts next to zero
    first = first or -c * (c - 1)
    return _then(CONVEX if first > 0 else CONCAVE, *([y ** (1 / c)] if y > 0 else []))


def _skew_t(a: float, b: float) -> Bends:
    """With w = x/√(a+b+x²), A = a+½, B = b+½: f'' has the sign of 2(A+B)w² − (A−B)w − (A+B)."""
    return _where([2 * (a + b + 1), b - a, -(a + b + 1)], -1.0, 1.0, lambda w: math.sqrt((a + b) / (1 - w * w)) * w)


def _birth(c: float) -> Bends:
    """Here f'' = 3/(2x²) − 1/(x+1)² − 1/(c²x³)."""
    d = 1 / (c * c)
    found = _where([0.5, 3 - d, 1.5 - 2 * d, -d], 0.0, math.inf)
    return Bends(found.points, found.signs, (0.0, d / 2))


def _wrapped(c: float) -> Bends:
    """Here f = −ln(1 + c² − 2c·cos x), f'' has the sign of 2c − (1+c²)·cos x."""
    x = math.acos(2 * c / (1 + c * c))
    return _then(CONCAVE, x, 2 * math.pi - x)


def _pearson(skew: float) -> Bends:
    """A gamma density with 4/skew² for its shape, moved and mirrored; a normal one without skew."""
    return _concave_if(abs(skew) <= 2)


def _general_normal(beta: float) -> Bends:
    """Here f = −|x|^β: a cusp at zero where β < 1, convex on both sides of it."""
    return _then(CONCAVE) if beta >= 1 else Bends((0.0,), (CONVEX, CONVEX))


# Log-concave and log-convex whatever their arguments. `exponnorm` and `irwinhall` are convolutions of log-concave
# densities. genexpon: f' = −(a+b) + by + bcy/q with y = e^{−cx} falling and q = a + b − by growing. powernorm:
# f'' = −1 + (1−c)·h with h = −(ln Φ)'' between 0 and 1. rice: x²f'' = −1 − x² + z²(ln I₀)''(z) with z = bx, where the
# last is at most 0.68 (`test_bends`). trapezoid: the logarithm of a concave function.
_CONCAVE = """anglit cosine expon exponnorm genexpon genlogistic gompertz gumbel_l gumbel_r halflogistic halfnorm
hypsecant irwinhall loggamma logistic maxwell moyal norm powernorm rayleigh rice semicircular skewnorm truncexpon
truncnorm uniform"""
_CONVEX = """arcsine bradford loguniform lomax pareto reciprocal"""

# shape parameters → bends; f for each family (up to a constant) beside it where it is not the textbook's
_FAMILIES: dict[str, Callable[..., Bends]] = {
    # −2·ln x − (a − 1/x)²/2, so that x⁴f'' = 2x² + 2ax − 3
    "alpha": lambda a: _then(CONCAVE, 3 / (a + math.sqrt(a * a + 6))),
    "argus": _argus,
    "beta": _beta,
    "betaprime": _beta_prime,
    # (cd−1)·ln x − (d+1)·ln(1 + x^c)
    "burr": lambda c, d: _power(c, 1 + c, -2 * (c * d - 1) - (d + 1) * c * (c - 1), 1 - c * d),
    # (c−1)·ln x − (d+1)·ln(1 + x^c)
    "burr12": lambda c, d: _power(c, c * d + 1, (1 - c) * (2 + (d + 1) * c), 1 - c),
    "cauchy": lambda: _then(CONVEX, -1.0, 1.0),
    "chi": _chi,
    "chi2": lambda df: Bends((), (CONCAVE if df >= 2 else CONVEX,), (0.0, 0.5)),
    # a normal density with the tail (m/β − β − x)^{−m} below −β, where their slopes meet
    "crystalball": lambda beta, _m: _then(CONVEX, -beta),
    "erlang": _gamma,
    "exponpow": _exponential_power,
    "f": _f,
    "fatiguelife": _birth,
    "fisk": lambda c: _power(c, c + 1, (1 - c) * (2 + 2 * c), 1 - c),
    "gamma": _gamma,
    "gausshyper": _hypergeometric,
    "gengamma": _general_gamma,
    "genhalflogistic": _half_logistic,
    # (p−1)·ln x − b(x + 1/x)/2
    "geninvgauss": lambda p, b: _then(CONCAVE, *([b / (1 - p)] if p < 1 else [])),
    "genextreme": _extreme,
    "gennorm": _general_normal,
    "genpareto": _pareto,
    "gibrat": lambda: _then(CONCAVE, 1.0),
    "halfcauchy": lambda: _then(CONCAVE, 1.0),
    "halfgennorm": lambda beta: _concave_if(beta >= 1),
    "invgamma": lambda a: _then(CONCAVE, 2 / (a + 1)),
    "invgauss": lambda mu: Bends((2 / 3,), (CONCAVE, CONVEX), (0.0, 1 / (2 * mu * mu))),
    "invweibull": lambda c: _then(CONCAVE, c ** (1 / c)),
    "jf_skew_t": _skew_t,
    # −(a+1)/a·ln(a + x^a)
    "kappa3": lambda a: _then(CONCAVE, (a * (a - 1)) ** (1 / a)) if a > 1 else _one(CONVEX),
    "laplace": lambda: Bends((0.0,), (CONCAVE, CONCAVE)),
    "laplace_asymmetric": lambda _kappa: Bends((0.0,), (CONCAVE, CONCAVE)),
    "levy": lambda: _then(CONCAVE, 2 / 3),
    "levy_l": lambda: _then(CONVEX, -2 / 3),
    "loglaplace": lambda c: Bends((1.0,), (CONCAVE if c >= 1 else CONVEX, CONVEX)),
    "lognorm": lambda s: _then(CONCAVE, math.exp(min(1 - s * s, 700.0))),
    # (k−1)·ln x − (1 + k/s)·ln(1 + x^s)
    "mielke": lambda k, s: _power(s, 1 + s, -2 * (k - 1) - (s + k) * (s - 1), 1 - k),
    # (2ν−1)·ln x − νx²
    "nakagami": lambda nu: _one(CONCAVE) if nu >= 0.5 else _then(CONVEX, math.sqrt((1 - 2 * nu) / (2 * nu))),
    "pearson3": _pearson,
    "powerlaw": lambda a: _concave_if(a >= 1),
    "rdist": lambda c: _concave_if(c >= 2),
    # −ln(x)/2 − (1/x + μ²x)/2μ²
    "recipinvgauss": lambda mu: Bends((2 / mu**2,), (CONCAVE, CONVEX), (0.0, 0.5)),
    "rel_breitwigner": _breit_wigner,
    "skewcauchy": lambda a: _then(CONVEX, a - 1, a + 1),
    "t": lambda df: _then(CONVEX, -math.sqrt(df), math.sqrt(df)),
    "trapezoid": lambda c, d: Bends((c, d), (CONCAVE,) * 3),
    "triang": lambda c: Bends((c,), (CONCAVE, CONCAVE)),
    "truncpareto": lambda b, _c: _concave_if(b <= -1),
    "truncweibull_min": lambda c, _a, _b: _concave_if(c >= 1),
    "vonmises_line": lambda _kappa: _then(CONVEX, -math.pi / 2, math.pi / 2),
    "wald": lambda: Bends((2 / 3,), (CONCAVE, CONVEX), (0.0, 0.5)),
    # (c−1)·ln x − x^c, so that x²f'' = (1−c)(1 + c·x^c)
    "weibull_max": lambda c: _concave_if(c >= 1),
    "weibull_min": lambda c: _concave_if(c >= 1),
    "wrapcauchy": _wrapped,
}


def bends(prior: Frozen) -> Bends | None:
    """The bends of a prior in its own units; None where they are not known."""
    for everywhere, sign in ((_CONCAVE, CONCAVE), (_CONVEX, CONVEX)):
        if prior.name in everywhere.split():
            return _one(sign)
    family = _FAMILIES.get(prior.name)
    if family is None:
        from nowiser.guess.density.inflections import LOOKED, MEASURED, measured

        if prior.name in MEASURED:
            return measured(prior.scipy())
        family = LOOKED.get(prior.name)
    if family is None:
        return None
    shapes = prior.scipy().dist.shapes
    names = [*(shapes.split(", ") if shapes else []), "loc", "scale"]
    given = {"loc": 0.0, "scale": 1.0, **dict(zip(names, prior.args, strict=False)), **dict(prior.kwds)}
    found = family(*(given[n] for n in names[:-2]))
    loc, scale = given["loc"], given["scale"]
    left, right = found.rates
    return Bends(tuple(loc + scale * x for x in found.points), found.signs, (left / scale, right / scale))
