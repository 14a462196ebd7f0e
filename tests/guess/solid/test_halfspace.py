"""Nothing is easier to guess about normal attributes than a half-space."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import ndtr, ndtri

import nowiser as nw
from nowiser.guess.ceiling import ceiling
from nowiser.guess.solid.halfspace import SIGNS, Halfspace, shift_of, shift_on_map

SHARES = st.floats(1e-9, 1 - 1e-9)


@given(SHARES, st.floats(1e-6, 5))
def test_a_tilt_attains_it(share: float, shift: float) -> None:
    """A half-space and e^{Kx}: the posterior is Φ(Φ⁻¹(p) + K), and nothing is promised that is not kept."""
    attained = float(ndtr(ndtri(share) + shift))
    found = Halfspace(shift, 0.0).after(share)
    assert attained <= found <= attained + 1e-9 * min(attained, 1.0) + 1e-12


@given(SHARES, st.floats(1e-6, 5))
def test_a_jump_alone_is_randomised_response(share: float, jump: float) -> None:
    told = math.exp(jump)
    attained = told * share / (1 - share + told * share)
    found = Halfspace(0.0, jump).after(share)
    assert attained * (1 - 1e-14) <= found <= attained * (1 + 1e-11)


@given(SHARES, st.floats(0, 3), st.floats(0, 2))
def test_the_smallest_is_the_largest_of_everything_else(share: float, shift: float, jump: float) -> None:
    space = Halfspace(shift, jump)
    assert space.smallest(share) == pytest.approx(1 - space.after(1 - share), abs=1e-12)
    assert space.smallest(share) <= share <= space.after(share)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 3), st.floats(0, 2))
def test_the_largest_gain_of_a_range(one: float, other: float, shift: float, jump: float) -> None:
    low, high = sorted((one, other))
    p = np.linspace(low, high, 4000)
    moved = ndtr(ndtri(p) + shift)
    gains = math.exp(jump) * moved / (1 - moved + math.exp(jump) * moved) - p
    found = Halfspace(shift, jump).gain(low, high)
    assert gains.max() - 1e-12 <= found
    assert found <= gains.max() + 1e-7 or (low < 1e-3 and found <= gains.max() * 1.02 + 1e-3)


def test_no_range_is_needed_for_a_bound() -> None:
    assert Halfspace(0.4, 0.0).gain(0.0, 1.0) == pytest.approx(2 * ndtr(0.2) - 1, abs=1e-8)
    assert Halfspace(0.0, 0.2).gain(0.0, 1.0) == pytest.approx(math.tanh(0.05), abs=1e-8)
    assert Halfspace(0.0, 0.0).gain(0.0, 1.0) == 0.0
    assert Halfspace(1e4, 0.0).gain(0.0, 1.0) == 1.0
    assert 0 < Halfspace(1e-12, 0.0).gain(0.0, 1.0) < 1e-9


@settings(max_examples=40)
@given(st.floats(-3, 3), st.floats(0.1, 3), st.floats(0.01, 4), st.floats(0, 1))
def test_above_the_tight_ceiling_of_one_number(victim: float, radius: float, slope: float, jump: float) -> None:
    """Which is found in quite another way."""
    tight = ceiling(nw.Normal(0, 1), nw.Within(radius), nw.Cost(slope, jump), victim)
    found = Halfspace(slope / radius, jump)
    assert tight.after <= found.after(tight.before) + 1e-10
    assert tight.smallest >= found.smallest(tight.before) - 1e-10
    ray = ceiling(nw.Normal(0, 1), nw.In.between(victim, 40.0), nw.Cost(slope / radius, jump))
    assert found.after(ray.before) == pytest.approx(ray.after, abs=1e-9)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(0.2, 2), st.floats(0.05, 2)), min_size=2, max_size=4))
def test_above_the_product_of_independent_attributes(parts: list[tuple[float, float, float]]) -> None:
    names = "abcd"[: len(parts)]
    goal = nw.And(tuple(nw.On(n, nw.Within(r)) for n, (_, r, _) in zip(names, parts, strict=True)))
    costs = {n: nw.Cost(k * r) for n, (_, r, k) in zip(names, parts, strict=True)}
    victim = {n: x for n, (x, _, _) in zip(names, parts, strict=True)}
    tight = ceiling(dict.fromkeys(names, nw.Normal(0, 1)), goal, costs, victim)
    space = Halfspace(shift_of(np.eye(len(parts)), np.array([k for _, _, k in parts])), 0.0)
    assert tight.after <= space.after(tight.before) + 1e-10


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_what_costs_come_to(seed: int, n: int) -> None:
    """No step is charged more than K times its length, and one is charged as much."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n)) + 0.1 * np.eye(n)
    rates = rng.random(n) * rng.integers(0, 2, n)
    shift, rate = shift_of(root @ root.T, rates), float(rng.random())
    on_map = shift_on_map(root @ root.T, rate)
    steps = rng.standard_normal((500, n))
    moved, length = steps @ root.T, np.sqrt((steps**2).sum(axis=1))
    assert (np.abs(moved) @ rates <= shift * length * (1 + 1e-12)).all()
    assert (rate * np.sqrt((moved**2).sum(axis=1)) <= on_map * length * (1 + 1e-9)).all()
    signs = np.stack(np.meshgrid(*[[-1.0, 1.0]] * n), -1).reshape(-1, n) * rates
    best = signs @ root  # the direction of z in which the cost with these signs grows fastest
    charged = np.abs(best @ root.T) @ rates
    assert shift <= (charged / np.maximum(np.sqrt((best**2).sum(axis=1)), 1e-300)).max() * (1 + 1e-9) + 1e-300


def test_of_many_attributes_the_lengths_are_added() -> None:
    n = SIGNS + 2
    assert shift_of(np.eye(n), np.ones(n)) == pytest.approx(n)
    assert shift_of(np.eye(SIGNS), np.ones(SIGNS)) == pytest.approx(math.sqrt(SIGNS))
