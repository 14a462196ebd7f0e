"""Population uniques estimated anew from the sizes of the written file's groups.

The same three estimators as the model `population-uniqueness`, solved in another way: exact chances from
logarithms of factorials, and the likelihood of the Pitman formula climbed without derivatives. Only the sizes of
the groups in the file enter.
"""

from collections.abc import Callable, Mapping
from math import exp, expm1, lgamma, log, log1p
from typing import Any

Sizes = Mapping[int, int]  # size of a group → how many groups have it
Pair = tuple[float, float]
Score = Callable[[float, float], float]


def population_uniques(sizes: Sizes, people: int | None, estimator: str) -> float:
    """The estimated share of the population that is unique."""
    rows = sum(size * count for size, count in sizes.items())
    people = rows if people is None else people
    ones = sizes.get(1, 0)
    if not rows or not ones:
        return 0.0
    if people == rows:
        return ones / rows
    found = {"pitman": _pitman, "zayatz": _zayatz, "snb": _snb}[estimator](sizes, rows, people)
    return min(1.0, max(0.0, found / people))


def _pitman(sizes: Sizes, rows: int, people: int) -> float:
    cells = sum(sizes.values())

    def likelihood(log_theta: float, logit: float) -> float:
        theta, alpha = exp(log_theta), 1 / (1 + exp(-logit))
        total = (cells - 1) * log(alpha) + lgamma(theta / alpha + cells) - lgamma(theta / alpha + 1)
        total += sum(count * (lgamma(size - alpha) - lgamma(1 - alpha)) for size, count in sizes.items())
        return total - lgamma(theta + rows) + lgamma(theta + 1)

    log_theta, logit = _climb(likelihood, ((-10.0, 25.0), (-15.0, 15.0)))
    theta, alpha = exp(log_theta), 1 / (1 + exp(-logit))
    return exp(alpha * log(people) + lgamma(theta + 1) - lgamma(theta + alpha))


def _zayatz(sizes: Sizes, rows: int, people: int) -> float:
    def choose(n: int, k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

    def once(size: int) -> float:  # that a class of this size shows as one row in the sample
        if people - size < rows - 1:
            return 0.0
        return exp(log(size) + choose(people - size, rows - 1) - choose(people, rows))

    ones = sizes[1]
    chance = ones * once(1) / sum(count * once(size) for size, count in sizes.items())
    return ones * chance * people / rows


def _snb(sizes: Sizes, rows: int, people: int) -> float:
    f, ones, twos = rows / people, sizes[1], sizes.get(2, 0)
    unseen = {size: (1 - f) ** size for size in sizes}
    a = sum(c * s * f**2 * (1 - f**2) ** (s - 1) for s, c in sizes.items())
    b = sum(c * unseen[s] * expm1(min(s, 700) * log1p(f)) for s, c in sizes.items())
    d = sum(c * unseen[s] for s, c in sizes.items()) / sum(c * s * f * (1 - f) ** (s - 1) for s, c in sizes.items())
    cells = sum(sizes.values()) + ones * a / b * d**2

    def closeness(log_alpha: float, logit: float) -> float:
        alpha, beta = exp(log_alpha), 1 / (1 + exp(-logit))
        rest = (1 - f) * (1 - beta)
        scale = (beta / (1 - rest)) ** alpha
        one = cells * f * scale * (1 + alpha * rest / (1 - rest))
        two = cells * f**2 * alpha * (1 - beta) * (2 - (1 - alpha) * rest) * scale / (2 * (1 - rest) ** 2)
        return -float((one - ones) ** 2 + (two - twos) ** 2) / max(1, ones) ** 2

    log_alpha, logit = _climb(closeness, ((-12.0, 8.0), (-20.0, 12.0)))
    return float(cells * (1 / (1 + exp(-logit))) ** exp(log_alpha))


def _climb(score: Score, bounds: tuple[Pair, Pair]) -> Pair:
    """The highest point of a function of two numbers: the best of a grid, then smaller and smaller simplices."""
    from scipy.optimize import minimize

    (low_a, high_a), (low_b, high_b) = bounds

    def against(point: Any) -> float:
        inside = low_a <= point[0] <= high_a and low_b <= point[1] <= high_b
        return -score(float(point[0]), float(point[1])) if inside else float("inf")

    steps = 25
    grid = [
        (low_a + (high_a - low_a) * i / steps, low_b + (high_b - low_b) * j / steps)
        for i in range(steps + 1)
        for j in range(steps + 1)
    ]
    best = min(grid, key=against)
    for _ in range(6):
        options = {"xatol": 1e-11, "fatol": 0.0, "maxiter": 4000, "maxfev": 4000}
        at = minimize(against, best, method="Nelder-Mead", options=options).x
        best = float(at[0]), float(at[1])
    return best
