"""Victims far out in a heavy tail: one bound for all of them, against likelihoods around some."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import nowiser as nw
from nowiser.guess.plane.region import region_of
from nowiser.guess.plane.regions import Regions, law_of
from nowiser.guess.plane.remote import Remote, _without
from nowiser.model.goal import parse_goal

sys.path.insert(0, str(Path(__file__).parent))
from planes import NAMES
from test_regions import inside_of

PRIOR = {"x": nw.Frozen("t", 3), "y": nw.Normal(0, 1)}


def remote(text, prior=PRIOR, rates=(0.5, 0.4), jump=0.0, *, straight=False):
    law = law_of(prior, NAMES)
    return Remote(law, region_of(parse_goal(text), NAMES), np.array(rates), jump, straight=straight)


def attacked(text, victim, rates, *, straight, n=300):
    """The gain of cones at and around the victim, and of such a cone and one at the middle of [0, 1]."""
    near = np.concatenate([victim[0] + np.linspace(-25, 25, n), np.linspace(-25, 25, n), np.array([0.0, 1.0])])
    cuts = [np.unique(near), np.linspace(-7, 7, n)]
    borders = [np.concatenate([[-1e9], (c[1:] + c[:-1]) / 2, [1e9]]) for c in cuts]
    weight = np.multiply.outer(np.diff(stats.t(3).cdf(borders[0])), np.diff(stats.norm.cdf(borders[1])))
    x, y = np.meshgrid(*cuts, indexing="ij")
    inside, found = inside_of(parse_goal(text), np.array(victim), x, y), 0.0
    for shift in (-0.3, 0.0, 0.3):
        at = victim[0] + shift, victim[1] + shift
        away = [abs(x - at[0]), abs(y - at[1])]
        cost = rates[0] * np.hypot(*away) if straight else rates[0] * away[0] + rates[1] * away[1]
        for log in (
            -cost,
            np.maximum(-cost, -rates[0] * abs(x - 0.5) - 25.0),
            np.maximum(-cost, -rates[0] * abs(x - 0.5)),
        ):
            f = weight * np.exp(log)
            found = max(found, (f * inside).sum() / f.sum() - weight[inside].sum())
    return found


@pytest.mark.parametrize(
    ("text", "straight", "sharp"),
    [
        ("(x, y) within 1", True, 1.7),
        ("(x, y) within 1 or x in [0, 1]", False, 1.5),
        pytest.param("(x, y) within 1", False, 1.7, marks=pytest.mark.long),
        pytest.param("x within 1 or y within 1", False, 2.5, marks=pytest.mark.long),
    ],
)
def test_nobody_far_out_gains_more(text, straight, sharp):
    rates = (0.5, 0.5) if straight else (0.5, 0.4)
    family = remote(text, rates=rates, straight=straight)
    (low, high), others = family.near
    assert -200 < low < -20
    assert 20 < high < 200
    assert others == (-9.0, 9.0)  # a radius beside all that is likely
    bound, best = family.gain(), 0.0
    for x in (high, 2 * high, 20 * high):
        for y in (0.0, 1.5):
            best = max(best, attacked(text, (x, y), rates, straight=straight))
    assert 0.02 < best <= bound + 1e-3
    assert bound <= sharp * best


@pytest.mark.parametrize(("text", "straight", "sharp"), [("x within 1", False, 1.17), ("(x, y) within 2", True, 1.06)])
def test_steep_costs_leave_little_room(text, straight, sharp):
    """Where nearly all is told the bound is nearly what is told: a fifth less would be too low."""
    bound, best = remote(text, rates=(2.0, 2.0), straight=straight).gain(), 0.0
    high = remote(text, rates=(2.0, 2.0), straight=straight).near[0][1]
    for y in (0.0, 1.0):
        best = max(best, attacked(text, (high, y), (2.0, 2.0), straight=straight))
    assert 0.84 < best <= bound
    assert 0.8 * bound < best
    assert bound <= sharp * best


def test_a_density_that_ends_or_falls_fast_has_nobody_far_out():
    for first in (nw.Normal(0, 1), nw.Uniform(0, 500), nw.Truncated(nw.Frozen("t", 3), -50, 50)):
        family = remote("(x, y) within 1", {"x": first, "y": nw.Frozen("laplace")})
        assert family.near[0] == family.people(0)
        assert family.gain() == 0.0


def test_those_far_out_along_both_axes_count():
    both = {"x": nw.Frozen("t", 3), "y": nw.Frozen("t", 3)}
    family = remote("(x, y) within 1", both)
    flat = Regions(
        law_of({"x": nw.Uniform(-60, 60), "y": nw.Uniform(-60, 60)}, NAMES), family.region, family.rates, 0.0
    )
    alone = flat.exposed(np.zeros(2), sharp=False)
    far = [(0, 1), (0, -1), (1, 1), (1, -1)]
    assert alone.own <= family._corners(far) <= 1.6 * alone.own
    assert remote("(x, y) within 1 or x in [0, 1]", both)._corners(far) == 1.0  # nothing is known then


def test_parts_that_are_never_met_are_put_aside():
    region = region_of(parse_goal("(x within 1 or x in [0, 1]) and not (x, y) within 2 or y within 3"), NAMES)
    still = [(p.axis, p.radius) for p in _without(region, 0, static=True, to=50.0).bands]
    assert still == [(0, 1.0), (0, None), (1, 3.0)]
    moved = _without(region, 0, static=False, to=50.0)
    assert not moved.discs
    assert [(p.radius, p.low) for p in moved.bands] == [(None, 50.0), (None, 0.0), (None, 50.0), (3.0, 0.0)]


def test_the_worst_victim_of_a_heavy_tail_is_no_longer_refused():
    """It was refused: the worst of a disc that is denied, or that has a cost for distances and another part."""
    denied = nw.guess({"x": nw.Frozen("t", 3), "y": nw.Uniform(0, 4)}, "not (x, y) within 2", slope=0.5)
    assert denied.worst
    assert denied.victim["x"] == pytest.approx(0.0, abs=0.5)  # where most of all others are: the tail is certain
    assert 1 - denied.before <= denied.gain <= 1.06 * (1 - denied.before)
