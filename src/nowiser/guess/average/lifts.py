"""How much more often a guess is right on average, from one kind of answer: four functions of how often it was before.

Each says: somebody who was right in a share `before` of all cases is right in at most that share afterwards. They are
increasing and concave, and answers of different kinds are counted one after the other, in any order, however they were
asked (docs/mathematics/expected.md has the proofs). All results are rounded up.

| answers                                        | afterwards at most                                |
|------------------------------------------------|---------------------------------------------------|
| Gaussian, μ² = Σ (Δ/σ)² (`by_shift`)           | Φ(Φ⁻¹(before) + μ)                                |
| pure, ε in all, before all others (`by_odds`)  | odds times e^ε                                    |
| pure, ε in all, after others (`by_factor`)     | min(e^ε·before, 1 − e^−ε·(1 − before))            |
| with total ρ (`by_divergence`)                 | the largest s with d_α(s‖before) ≤ ρα for all α ≥ 1 |
"""

import math
from statistics import NormalDist

import numpy as np

NORMAL = NormalDist()
SLACK = 1e-13  # far above the float error of Φ, of its inverse and of a few operations
ORDERS = np.concatenate([[1 + 1e-6], 1 + 2.0 ** np.linspace(-2, 10, 97)])
PER_NAT = math.pi / 2  # a pure answer of ε is no more telling than a Gaussian one with μ² = ε²·π/2


def ndtr(z: float) -> float:
    """Φ(z), with all digits also far below zero."""
    return math.erfc(-z * math.sqrt(0.5)) / 2


def by_shift(before: float, mu: float) -> float:
    """After Gaussian answers with this μ."""
    if not 0 < before < 1 or mu <= 0:
        return min(1.0, max(0.0, before))
    return max(before, _up(ndtr(NORMAL.inv_cdf(before) + mu * (1 + SLACK))))


def by_odds(before: float, nats: float) -> float:
    """After answers that move every likelihood by at most e^nats, asked before any others."""
    if not 0 < before < 1 or nats <= 0:
        return min(1.0, max(0.0, before))
    fall = math.exp(-nats)
    return _up(before / (before + (1 - before) * fall))


def by_factor(before: float, nats: float) -> float:
    """After answers that move every likelihood by at most e^nats, beside any others."""
    if not 0 < before < 1 or nats <= 0:
        return min(1.0, max(0.0, before))
    return _up(min(before * math.exp(min(nats, 700.0)), 1 - math.exp(-nats) * (1 - before)))


def by_divergence(before: float, rho: float) -> float:
    """After answers whose Rényi divergences of order α are at most ρα. Fewer orders only make the bound larger."""
    if not 0 < before < 1 or rho <= 0:
        return min(1.0, max(0.0, before))
    low, high = before, 1.0
    for _ in range(44):
        middle = (low + high) / 2
        low, high = (middle, high) if _possible(middle, before, rho) else (low, middle)
    return _up(high)


def _possible(after: float, before: float, rho: float) -> bool:
    """Whether no order refutes that somebody is right that often."""
    if not before < after < 1:
        return after <= before
    a = ORDERS
    right = a * math.log(after) + (1 - a) * math.log(before)
    wrong = a * math.log1p(-after) + (1 - a) * math.log1p(-before)
    return bool((np.logaddexp(right, wrong) / (a - 1) <= rho * a * (1 + 1e-9) + 1e-13).all())


def _up(value: float) -> float:
    return min(1.0, max(0.0, value * (1 + SLACK)))
