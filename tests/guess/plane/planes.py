"""Maps for the tests of discs, and the same maps as fine grids, on which anything can be added up plainly."""

import numpy as np

import nowiser as nw

NAMES = ("x", "y")


def histogram(seed=1, n=4, wide=16.0):
    masses = np.random.default_rng(seed).random((n, n))
    return nw.JointHistogram(NAMES, [np.linspace(0, wide, n + 1)] * 2, masses / masses.sum())


def square():
    return nw.JointHistogram(NAMES, [[0, 16], [0, 16]], [[1.0]])


def bell(sd=(1.0, 1.0), correlation=0.0):
    a, b = sd
    return nw.MultivariateNormal(NAMES, [0, 0], [[a * a, correlation * a * b], [correlation * a * b, b * b]])


def fine(prior, n=400):
    """Weights (adding up to one) and places of small cells."""
    if isinstance(prior, nw.MultivariateNormal):
        reach = 6 * np.sqrt(np.diag(prior.covariance))
        sides = [(2 * np.arange(n) + 1 - n) / n * r for r in reach]
        x, y = np.meshgrid(*sides, indexing="ij")
        both = np.stack([x, y], -1)
        weight = np.exp(-((both @ np.linalg.inv(prior.covariance)) * both).sum(-1) / 2)
        return weight / weight.sum(), x, y
    side = (np.arange(n) + 0.5) / n * 16
    x, y = np.meshgrid(side, side, indexing="ij")
    cells = [np.clip(np.searchsorted(e, side, "right") - 1, 0, e.size - 2) for e in prior.edges]
    weight = (prior.masses / np.multiply.outer(*[np.diff(e) for e in prior.edges]))[np.ix_(*cells)]
    return weight / weight.sum(), x, y


def shares(grid, victim, radius, parts=5):
    """Which share of each small cell is in the disc, by counting points."""
    _, x, y = grid
    found = np.zeros(x.shape)
    for a in (np.arange(parts) + 0.5) / parts - 0.5:
        for b in (np.arange(parts) + 0.5) / parts - 0.5:
            away = np.hypot(x + a * (x[1, 0] - x[0, 0]) - victim[0], y + b * (y[0, 1] - y[0, 0]) - victim[1])
            found += away <= radius
    return found / parts**2


def attacked(grid, victim, radius, rate, jump=0.0, *, peaks=5):
    """The gain of planar Laplace noise with the best of several outputs."""
    weight, x, y = grid
    inside = shares(grid, victim, radius, 3)
    before, best = (weight * inside).sum(), 0.0
    for shift in np.linspace(-0.8, 0.8, peaks):
        for lift in np.linspace(-0.8, 0.8, peaks):
            peak = victim[0] + shift * radius, victim[1] + lift * radius
            f = weight * np.exp(-rate * np.hypot(x - peak[0], y - peak[1]))
            odds = np.exp(jump) * (f * inside).sum() / (f * (1 - inside)).sum()
            best = max(best, odds / (1 + odds))
    return best - before
