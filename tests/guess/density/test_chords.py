"""Chords of ln density: how wrong they are is measured, and it is never more than is said."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.density.bends import Bends
from nowiser.guess.density.chords import WORST, _wrong, chords_of
from nowiser.guess.density.curves import curve_of
from nowiser.guess.density.line import line

FAMILIES = [
    nw.Frozen("t", 3.0, loc=20.0, scale=5.0),
    nw.Frozen("cauchy"),
    nw.Frozen("pareto", 1.5),
    nw.Frozen("weibull_min", 0.7),
    nw.Frozen("beta", 0.5, 0.5),
    nw.Frozen("beta", 2.0, 5.0),
    nw.Frozen("gamma", 0.5),
    nw.Frozen("skewnorm", 4.0),
    nw.Frozen("levy"),
    nw.Frozen("genextreme", -0.3),
    nw.Frozen("laplace"),
    nw.Frozen("alpha", 3.57),
    nw.Frozen("beta", 0.5, 0.7, loc=5.0, scale=40.0),  # 1 − x loses its digits at the upper end
    nw.Frozen("cosine"),  # so does 1 + cos x
    nw.Frozen("genhyperbolic", 0.5, 1.5, -0.5),
    nw.Frozen("invgauss", 0.145),  # scipy does not find its quantiles
    nw.Frozen("irwinhall", 10),
    nw.Frozen("johnsonsu", 2.5, 2.2),
    nw.Truncated(nw.Frozen("lomax", 3.0), 0.5, 40.0),
]


@pytest.mark.parametrize("prior", FAMILIES)
def test_ln_density_is_nowhere_further_from_its_chord_than_is_said(prior):
    found = chords_of(prior)
    assert found is not None
    assert found.off < WORST
    whole = prior.prior if isinstance(prior, nw.Truncated) else prior
    rng = np.random.default_rng(7)
    i = rng.integers(0, found.points.size - 1, 4000)
    x = found.points[i] + rng.uniform(size=i.size) * (found.points[i + 1] - found.points[i])
    gap = curve_of(whole)[0].logpdf(x) - found.log(x)
    if whole is not prior:
        gap = gap - np.log(whole.scipy().cdf(prior.high) - whole.scipy().cdf(prior.low))
    assert gap.max() - gap.min() <= found.off + 1e-9
    assert found.off < 30 * max(float(np.ptp(gap)), 1e-10)  # and it is not said to be much worse than it is


@pytest.mark.parametrize("prior", FAMILIES)
def test_everybody_is_between_the_points_or_counted_beyond_them(prior):
    found = chords_of(prior)
    assert found is not None
    inside = float(found.exact(found.points[:1], found.points[-1:])[0])
    assert inside + sum(found.beyond) >= 1 - 1e-9
    assert max(found.beyond) < 1e-5
    low, high = found.victims
    assert float(found.exact(np.array([low]), np.array([high]))[0]) >= 1 - 2.1e-12


def test_a_density_that_does_not_bend_as_said_is_found_out():
    x = np.linspace(-3.0, 3.0, 200)
    assert np.isinf(_wrong(x, -np.log1p(x * x), Bends((), (-1,)))).any()


def test_discrete_families_are_heaps_and_unknown_ones_have_no_chords():
    heaps = chords_of(nw.Frozen("poisson", 3.0))
    assert heaps is not None
    assert np.isneginf(heaps.logs).all()
    assert heaps.heaps.sum() == pytest.approx(1.0)
    assert chords_of(nw.Frozen("kstwo", 10)) is None


def test_nothing_left_is_refused():
    with pytest.raises(Misconfigured, match="nothing of"):
        chords_of(nw.Truncated(nw.Frozen("pareto", 2.0), -5.0, 0.5))


def test_what_is_heaped_at_an_end_that_was_cut_is_nowhere_else():
    """Intervals beside the range of a part were taken as that end itself: its mass counted for everybody."""
    cut = nw.Truncated(nw.Atoms({0: 0.4, 2: 0.3, 5: 0.3}), 2, 6)
    beside = chords_of(cut).exact(np.array([-1.0, 1.0, 6.5]), np.array([0.0, 2.0, 7.0]))
    np.testing.assert_allclose(beside, [0.0, 0.5, 0.0], atol=1e-12)
    found, told = (
        nw.guess(nw.Mixture([(0.5, part), (0.5, nw.Normal(0, 1))]), nw.Within(0.5), slope=0.1, victim=-1)
        for part in (cut, nw.Atoms({2: 0.5, 5: 0.5}))
    )
    assert found.before == pytest.approx(told.before, abs=1e-12)
    assert found.after == pytest.approx(told.after, abs=1e-9)
    row = line(nw.Mixture([(0.5, cut), (0.5, nw.Frozen("gamma", 2.0, loc=2.0))]))
    assert row.mass(np.array([0.0]), np.array([1.0])) == 0.0
