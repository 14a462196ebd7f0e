"""The search over victims of a plane, with families whose gains are known."""

import math

import numpy as np
import pytest

from nowiser.guess.plane.exposed import GAP, Exposed, Seen, within_limit, worst


class Hill:
    """Gains that fall from a top: h·e^{−|v − top|²/2}. Second derivatives are at least −h, so w²/8 is enough."""

    def __init__(self, top, height=0.4, count=7, more=1.0):
        self.top, self.height, self.factor = np.array(top), height, more
        self.lines = np.linspace(0.0, 7.0, count + 1), np.linspace(-3.0, 3.0, count)
        self.most, self.boxes = 1.0, 0

    def gain(self, v):
        return self.height * math.exp(-float(((v - self.top) ** 2).sum()) / 2)

    def first(self):
        return np.ones((self.lines[0].size - 1, self.lines[1].size - 1))

    def likely(self, places):
        return np.array([self.gain(v) for v in places])

    def at(self, place, enough, *, rough):
        return Seen(self.gain(place) * (1.3 if rough else 1.0), settled=not rough)

    def exposed(self, place, *, sharp):
        return Exposed(place, 0.1, self.gain(place), self.gain(place), place, 1 if sharp else -1)

    def box(self, low, high):
        self.boxes += 1
        return low, high

    def more(self, box, known, bound):
        return self.factor * self.height * float(((box[1] - box[0]) ** 2).sum()) / 8

    def enclosed(self, box):
        return self.gain(np.clip(self.top, *box))


@pytest.mark.parametrize("top", [(3.21, 0.77), (0.0, -3.0), (6.9, 2.4), (2.0, 0.0)])
def test_the_top_is_never_above_the_bound_and_the_victim_is_near_it(top):
    hill = Hill(top)
    found = worst(hill)
    assert hill.height <= found.gain <= hill.height * (1 + GAP) + 1e-8
    assert found.own >= hill.height * (1 - GAP)
    assert np.abs(found.at - hill.top).max() < 0.5


def test_a_search_that_ends_early_says_more_not_less():
    hill = Hill((3.21, 0.77), count=3)
    bounds = [worst(hill, work).gain for work in (1, 30, 300, 3000)]
    assert min(bounds) >= hill.height
    assert bounds == sorted(bounds, reverse=True)


def test_a_limit_is_said_to_be_kept_only_where_it_is():
    hill = Hill((3.21, 0.77))
    assert within_limit(hill, 0.41).gain <= 0.41
    assert within_limit(hill, 0.39).gain > 0.39
    assert within_limit(hill, 0.41, work=1).gain > 0.41  # nothing is known yet


def test_what_is_known_beforehand_is_never_exceeded_and_spares_a_search_that_is_near_it():
    hill = Hill((3.21, 0.77))
    for most, searched in [(0.41, False), (0.5, True)]:
        hill.most, hill.boxes = most, 0
        found = worst(hill)
        assert hill.height <= found.gain <= most
        assert (hill.boxes > 0) == searched
    hill.most = 0.3  # said wrongly: then the bound is that of the victim who was looked at, not less
    assert worst(hill).gain == worst(hill).own


def test_a_search_in_vain_ends_early():
    hill = Hill((3.21, 0.77), more=1e9)
    hill.enclosed = lambda _: 1.0  # type: ignore[method-assign]  # which tells nothing
    boxes = []
    for most in (0.45, 0.6):  # only where somebody is known to gain nearly as much
        hill.most, hill.boxes = most, 0
        assert worst(hill, work=600).gain == most
        boxes.append(hill.boxes)
    assert boxes[0] < 0.25 * boxes[1]


def test_one_axis_may_not_matter():
    hill = Hill((3.21, 0.0))
    hill.lines = hill.lines[0], np.array([0.0])
    hill.first = lambda: np.ones((hill.lines[0].size - 1, 1))  # type: ignore[method-assign]  # one row
    found = worst(hill)
    assert hill.height <= found.gain <= hill.height * (1 + GAP) + 1e-8


class Uneven(Hill):
    """Somebody inside the last box gains .3, of whom corners tell nothing; the bound for one victim, .4, is rough.

    What is added to corners is only about those who gain more than is known already: here nobody.
    """

    def gain(self, v):
        return 0.4 if np.array_equal(v, [0.0, -3.0]) else 0.1

    def first(self):
        bounds = super().first()
        bounds[0, 0] = 0.25
        return bounds

    def exposed(self, place, *, sharp):
        return Exposed(place, 0.1, 0.2, 0.2, place)

    def more(self, box, known, bound):
        return 0.0 if known >= 0.3 else 0.5


def test_who_gains_less_than_the_bound_for_one_victim_is_not_forgotten():
    assert worst(Uneven((0.0, -3.0))).gain >= 0.3
