"""Bounds by carrying what is inside outside: never below the linear programme, and nearly as sharp."""

import numpy as np
import pytest

from nowiser.guess.grid.carried import Along, Effort, Pairs, carried
from nowiser.guess.grid.programme import Programme, solve


def drawn(seed, shape):
    rng = np.random.default_rng(seed)
    masses = rng.random(shape) ** 2
    inside = rng.random(shape) < 0.3
    inside.ravel()[0], inside.ravel()[-1] = True, False
    return masses / masses.sum(), inside, [np.sort(rng.random(n)) * 4 for n in shape]


def programme(masses, inside, cost):
    p, q = np.nonzero(~np.eye(masses.size, dtype=bool))
    return solve(Programme(masses.ravel(), (p, q, cost[p, q])), inside.ravel()).ceiling


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rate", [0.2, 1.5])
def test_costs_along_axes(seed, rate):
    masses, inside, places = drawn(seed, (5, 4, 3))
    tables = tuple(rate * np.abs(x[:, None] - x) for x in places)
    grid = np.stack(np.meshgrid(*places, indexing="ij"), -1).reshape(-1, 3)
    exact = programme(masses, inside, rate * np.abs(grid[:, None] - grid).sum(axis=-1))
    odds = carried((masses * inside, masses * ~inside), Along(tables), Effort()).odds
    before = float(masses[inside].sum())
    assert exact <= odds / (1 + odds) + 1e-9
    assert odds / (1 + odds) - before <= 1.25 * (exact - before) + 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_costs_of_all_pairs(seed):
    masses, inside, places = drawn(seed, (6, 5))
    grid = np.stack(np.meshgrid(*places, indexing="ij"), -1).reshape(-1, 2)
    cost = 0.7 * np.linalg.norm(grid[:, None] - grid, axis=-1)
    exact = programme(masses, inside, cost)
    kernel = Pairs(cost[np.ix_(inside.ravel(), ~inside.ravel())], inside, ~inside)
    odds = carried((masses * inside, masses * ~inside), kernel, Effort()).odds
    assert exact <= odds / (1 + odds) + 1e-9 <= 1.03 * exact


def test_whatever_it_starts_from_and_however_early_it_stops_it_is_a_bound():
    masses, inside, places = drawn(9, (5, 4))
    tables = tuple(0.8 * np.abs(x[:, None] - x) for x in places)
    grid = np.stack(np.meshgrid(*places, indexing="ij"), -1).reshape(-1, 2)
    exact = programme(masses, inside, 0.8 * np.abs(grid[:, None] - grid).sum(axis=-1))
    for seed in range(5):
        start = np.random.default_rng(seed).normal(size=masses.shape)
        for rounds in (1, 3):
            effort = Effort(((0.1, rounds), (1.0, rounds)))
            odds = carried((masses * inside, masses * ~inside), Along(tables), effort, start).odds
            assert exact <= odds / (1 + odds) + 1e-9


def test_nothing_inside_and_nothing_outside():
    masses = np.full((2, 2), 0.25)
    kernel = Along((np.zeros((2, 2)),) * 2)
    assert carried((0 * masses, masses), kernel, Effort()).odds == 0
    assert carried((masses, 0 * masses), kernel, Effort()).odds == np.inf
