"""Priors of single values: every set that a guess can be right for, and the worst of them, against one look at each."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density import sums
from nowiser.guess.density.line import line
from nowiser.guess.number import atoms
from nowiser.guess.number.leaf import profile_of
from nowiser.model.cost import Cost

PRIORS = st.lists(st.tuples(st.integers(0, 200), st.floats(0.01, 1)), min_size=2, max_size=60).map(
    lambda rows: {v / 4: m for v, m in rows}
)


def prior_of(table):
    total = sum(table.values())
    return nw.Atoms({v: m / total for v, m in table.items()})


@given(PRIORS, st.sampled_from([0.25, 0.3, 2.0, 11.0]))
@settings(max_examples=60, deadline=None)
def test_every_set_has_its_guess(table, radius):
    found = atoms.sets_of(line(prior_of(table)), radius)
    values = np.array(sorted(table))
    held = {(int(i), int(j)) for i, j in zip(found.first, found.beyond, strict=True)}
    assert len(held) == found.guesses.size
    assert (np.diff(found.guesses) > 0).all()
    for guess in np.concatenate([values, np.linspace(values[0], values[-1], 301)]):
        near = np.flatnonzero(np.abs(values - guess) <= radius * (1 + 1e-12))
        assert not near.size or (int(near[0]), int(near[-1]) + 1) in held


@pytest.mark.parametrize("few", [4, 10_000])
@given(
    PRIORS,
    st.sampled_from([0.3, 2.0, 11.0]),
    st.sampled_from([0.0, 0.01, 1.0, 30.0, 3000.0]),
    st.sampled_from([0, 0.7]),
)
@settings(max_examples=40, deadline=None)
def test_the_worst_set_is_the_worst_of_all(few, table, radius, slope, jump):
    prior = prior_of(table)
    profile = profile_of(prior, nw.Within(radius), Cost(slope, jump))
    every = atoms.sets_of(profile.line, radius).guesses
    looked = profile.at(every, smallest=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atoms, "FEW", few)
        patch.setattr(atoms, "BLOCK", 3)
        x, gain = atoms.most_exposed(profile.line, radius, profile.rate, jump)
    assert gain == pytest.approx(float((looked.after - looked.before).max()), abs=1e-11)
    assert x in every


@given(st.integers(2, 400), st.sampled_from([1.0, 300.0, 5000.0]), st.booleans(), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_sums_in_pieces_are_the_sums(n, wide, falling, seed):
    rng = np.random.default_rng(seed)
    exponents = np.sort(-rng.random(n) * wide * n).astype(sums.LONG)
    exponents = exponents[::-1] if falling else exponents
    weights = rng.random(n) + 1e-9
    whole = np.logaddexp.accumulate(np.log(weights.astype(sums.LONG)) + exponents)
    scale = 1e-15 + 1e-18 * float(np.abs(exponents).max())
    assert float(np.abs(sums._piecewise(weights, exponents) - whole).max()) <= scale * n
