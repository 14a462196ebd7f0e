"""How well a model can be expected to do at a price, before anything is spent: tried on rows that were made up.

Features are drawn evenly from what is declared, and the target from a rule that depends on some of them. The same
model is fitted with the noise of this price, and with next to none. No secret is touched; what it says is how much the
noise takes away from a table of about this size, not how well real rows can be predicted.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.learn.domain import Category, Domain
from nowiser.learn.estimator import Classifier, Estimator, Regressor
from nowiser.learn.rows import Floats

ROWS = 10_000  # where the policy does not say how many people there are
HELD = 3_000  # rows that the models are tried on
LITTLE_NOISE = 1000
STEEP = 3.0  # of the rule


def expected(model: Estimator, domain: Domain, rho: Fraction, people: int | None) -> dict[str, float]:
    """With this noise, and without; empty for models that predict nothing."""
    if not isinstance(model, Classifier | Regressor):
        return {}
    random = np.random.default_rng(1859)  # no secret depends on it
    rows = min(people or ROWS, model.tried_on)
    # fewer rows are looked at with the noise they would have, that of all rows of a person: ρ counts squares
    rho = rho * Fraction((people or ROWS) ** 2, (rows * model.rows_per_person) ** 2)
    table = {n: _drawn(k, rows + HELD, random) for n, k in zip(domain.names, domain.kinds, strict=True)}
    target = _target(model, domain.spread(table), random)
    seen = {n: v[:rows] for n, v in table.items()}
    new = {n: v[rows:] for n, v in table.items()}
    found = []
    for price in (rho, Fraction(LITTLE_NOISE)):
        tried = replace(model, rho=price, gain=None, bounds=domain, rows_per_person=1)
        found.append(tried.fit(seen, target[:rows]).score(new, target[rows:]))
    name = "accuracy" if isinstance(model, Classifier) else "r2"
    return {"rows": float(people or ROWS), name: max(0.0, found[0]), "without": max(0.0, *found)}


def _drawn(kind: Any, many: int, random: np.random.Generator) -> NDArray[Any]:
    if isinstance(kind, Category):
        drawn: NDArray[Any] = np.array(kind.values, dtype=object)[random.integers(len(kind.values), size=many)]
        return drawn
    return random.uniform(kind.low, kind.high, many)


def _target(model: Any, spread: Floats, random: np.random.Generator) -> NDArray[Any]:
    many = 1 if isinstance(model, Regressor) else len(model.classes)
    scores = (spread - spread.mean(axis=0)) @ random.standard_normal((spread.shape[1], many))
    scores = scores / np.maximum(scores.std(axis=0), 1e-9)
    if isinstance(model, Regressor):
        low, high = model.target or (0.0, 1.0)
        noisy = 0.8 * scores[:, 0] + 0.6 * random.standard_normal(len(scores))
        return np.asarray((low + high) / 2 + (high - low) / 8 * noisy)
    noisy = STEEP * scores + random.gumbel(size=scores.shape)
    return np.asarray(np.array(list(model.classes), dtype=object)[np.argmax(noisy, axis=1)])
