"""Priors known by their distribution function: the search follows cells, and what cells get wrong is bounded."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.cut import cells_of
from nowiser.guess.number.follow import PLAIN, Follow
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.number.profile import Near

PRIORS = [
    (nw.LogNormal(3, 0.4), 2.0),
    (nw.LogNormal(0, 1), 0.5),
    (nw.Frozen("gamma", 2.0), 0.5),
    (nw.Frozen("beta", 2.0, 3.0), 0.1),
    (nw.Frozen("beta", 0.5, 0.5), 0.1),  # two peaks
]


@pytest.mark.parametrize(("prior", "radius"), PRIORS)
@pytest.mark.parametrize("slope", [0.2, 1.0])
def test_no_victim_gains_more_than_the_worst(prior, radius, slope):
    worst = nw.guess(prior, nw.Within(radius), slope=slope)
    profile = profile_of(prior, nw.Within(radius), nw.Cost(slope))
    low, high = (float(end) for end in (profile.line.victims()[0].min(), profile.line.victims()[1].max()))
    x = np.unique(np.append(np.linspace(low, min(high, low + 60 * radius), 1500), worst.victim))
    found = profile.at(x)
    gains = found.after - found.before
    assert gains.max() <= worst.gain + 1e-12
    assert worst.gain <= gains.max() + 3e-4


@pytest.mark.parametrize(("prior", "radius"), PRIORS[:4])
def test_the_cells_are_never_further_from_the_truth_than_they_say(prior, radius):
    """Against twenty times as many cells: ln of both factors of the theorem, at the plain crossing, range by range."""
    row = CellLine(cells_of(prior))  # chords are `test_chord_line`'s; cells are for mixtures with an unknown family
    plain = row.plain
    k = 1.0 / radius
    low, high = float(row.victims()[0].min()), float(row.victims()[1].max())
    x = np.linspace(low + 2 * radius, min(high - 2 * radius, low + 12 * radius), 41)
    first, last = x[:-1], x[1:]
    ends = [(v - radius, v + radius, plain.tight(k, v - radius, v + radius)[1]) for v in (first, last)]
    slip = row.sums(k).spread(ends[0], ends[1])
    assert np.isfinite(slip).all()
    for share in (0.0, 0.37, 1.0):
        v = first + share * (last - first)
        true, _ = row.tight(k, v - radius, v + radius)
        rough, _ = plain.tight(k, v - radius, v + radius)
        assert (np.log1p(true) <= np.log1p(rough) + 2 * slip + 1e-9).all()


@pytest.mark.parametrize("prior", [nw.LogNormal(3, 0.5), nw.LogNormal(0, 1), nw.Normal(20, 5)])
@pytest.mark.parametrize(("slope", "jump"), [(0.3, 0.0), (1.0, 0.0), (1.0, 0.4), (6.0, 0.0)])
def test_one_slope_for_all_bounds_every_victim_of_a_range(prior, slope, jump):
    """Against each victim's own posterior at the crossing, which a Laplace peak there reaches."""
    profile = profile_of(prior, nw.Within(2.0), nw.Cost(slope, jump))
    assert isinstance(profile, Near)
    follow = Follow(profile, PLAIN, negated=False)
    low, high = (float(end) for end in (profile.line.victims()[0].min(), profile.line.victims()[1].max()))
    x = np.linspace(max(low, -15.0), min(high, 400.0), 300)
    with np.errstate(all="ignore"):
        bound = follow._local(x[:-1], x[1:])
    assert np.isfinite(bound).any()
    for share in (0.0, 0.31, 0.77, 1.0):
        before, after = follow.nodes(x[:-1] + share * (x[1:] - x[:-1]))[:2]
        assert (after - before <= bound + 1e-5).all()  # the cells themselves are off by less than that


def test_a_step_of_the_density_at_the_end_of_a_goal_is_no_slope():
    profile = profile_of(nw.Histogram([0, 1000, 1004, 2000], [0.001, 0.998, 0.001]), nw.Within(2.0), nw.Cost(1.0))
    assert isinstance(profile, Near)
    with np.errstate(all="ignore"):
        found = Follow(profile, PLAIN, negated=False)._local(np.array([1002.0, 500.0]), np.array([1002.0, 500.0]))
    assert found[0] == np.inf
    assert found[1] < 1


def test_nothing_is_assumed_about_families_with_more_than_one_mode():
    cells = cells_of(nw.Frozen("arcsine"))
    assert (cells.wobble == cells.masses).all()
    assert (cells_of(nw.Frozen("gamma", 2.0)).wobble < cells_of(nw.Frozen("gamma", 2.0)).masses).mean() > 0.99


def test_a_wide_histogram_at_a_tiny_slope_is_tight():
    prior = nw.Histogram([0, 3e8, 6e8, 1e9], [0.3, 0.5, 0.2])
    worst = nw.guess(prior, nw.Within(1), slope=1e-6)
    assert worst.gain == pytest.approx(2e-6, rel=1e-2)
    assert nw.guess(prior, nw.Within(1), slope=1e-6, victim=worst.victim).gain == pytest.approx(worst.gain, rel=1e-4)
