"""Rays: never below an attack or the linear programme's likelihood, for any victim and wherever the rays begin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nowiser as nw
from nowiser.guess.maps import _Search, map_of
from nowiser.guess.rays import Rays
from nowiser.guess.space import space_of

NAMES = ("x", "y")


def histogram(seed, n=4, wide=16.0):
    masses = np.random.default_rng(seed).random((n, n)) ** 3 + 1e-3
    return nw.JointHistogram(NAMES, [np.linspace(0, wide, n + 1)] * 2, masses / masses.sum())


def attacks(prior, at, radius, rate, fine=160):
    """The largest posterior under planar Laplace noise, over peaks; on a fine grid, with its error."""
    if isinstance(prior, nw.JointHistogram):
        side = (np.arange(fine) + 0.5) / fine * 16
        x, y = np.meshgrid(side, side, indexing="ij")
        bins = (side // 4).astype(int)
        weight = prior.masses[np.ix_(bins, bins)]
    else:
        x, y = np.meshgrid(*[np.linspace(-6, 6, fine)] * 2, indexing="ij")
        weight = np.exp(-(x**2) / 2 - y**2 / 2)
    inside = np.hypot(x - at[0], y - at[1]) <= radius
    found = []
    for turn in np.linspace(0, 2 * np.pi, 9):
        for share in (0.0, 0.4, 0.8, 1.0):
            peak = at[0] + share * radius * np.cos(turn), at[1] + share * radius * np.sin(turn)
            f = weight * np.exp(-rate * np.hypot(x - peak[0], y - peak[1]))
            found.append(f[inside].sum() / f.sum())
    return max(found), weight[inside].sum() / weight.sum()


places = st.tuples(st.floats(0.5, 15.5), st.floats(0.5, 15.5)).map(np.array)


@given(
    st.integers(0, 5), places, st.sampled_from([1.5, 3.0]), st.floats(0.02, 3), st.floats(0, 6.28), st.floats(0, 0.95)
)
@settings(max_examples=25, deadline=None)
def test_no_attack_gains_more_wherever_the_rays_begin(seed, at, radius, slope, turn, share):  # noqa: PLR0917 (drawn by hypothesis)
    prior, rate = histogram(seed), slope / radius
    rays = Rays(space_of(prior, NAMES, {}, 48 * 48), rate)
    centre = at + share * radius * np.array([np.cos(turn), np.sin(turn)])
    sectors = rays.sectors(at, radius, centre, rays.shares(at, radius)[1])
    after, _ = attacks(prior, at, radius, rate)
    for odds in (sectors.quick(), sectors.sharp(rate)):
        assert odds / (1 + odds) >= after - 4e-3  # of the attack's grid
    assert sectors.sharp(rate) <= sectors.quick()


@pytest.mark.parametrize(("slope", "wide"), [(0.2, 1.08), (1.0, 1.1)])
def test_in_the_middle_of_an_even_map_rays_come_near_the_attack(slope, wide):
    prior = nw.JointHistogram(NAMES, [[0, 16], [0, 16]], [[1.0]])
    at, rate = np.array([8.0, 8.0]), slope / 2
    rays = Rays(space_of(prior, NAMES, {}, 96 * 96), rate)
    odds = rays.sectors(at, 2.0, at, rays.shares(at, 2.0)[1]).sharp(rate)
    weight = np.ones((4, 4)) / 16
    after, before = attacks(nw.JointHistogram(NAMES, [np.linspace(0, 16, 5)] * 2, weight), at, 2.0, rate, 320)
    assert odds / (1 + odds) - before <= wide * (after - before)


@pytest.mark.parametrize("prior", [histogram(3), {"x": nw.Normal(0, 1), "y": nw.Normal(0, 1)}], ids=["cells", "normal"])
@pytest.mark.parametrize("slope", [0.2, 1.5])
def test_a_box_of_victims_is_bounded_for_each_of_them(prior, slope):
    radius, rng = 1.2, np.random.default_rng(5)
    search = _Search(map_of(prior, NAMES), radius, slope / radius, 0.0)
    span = (1.0, 15.0) if isinstance(prior, nw.JointHistogram) else (-2.0, 2.0)
    for size in (0.6, 0.1):
        low = rng.uniform(*span, 2)
        shift = rng.uniform(-0.4, 0.4, 2)
        bounds = search.quick(low, low + size, shift), search.sharp(low, low + size, shift)[0]
        for at in [low, low + size, *(low + size * rng.random((4, 2)))]:
            after, before = attacks(prior, at, radius, slope / radius)
            assert min(bounds) >= after - before - 4e-3
