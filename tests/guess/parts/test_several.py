"""One search for all choices of the victims that are finitely many: the same as by corners."""

import pytest

import nowiser as nw
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.parts.corners import worst_of_several
from nowiser.guess.parts.formula import formula
from nowiser.guess.parts.several import worst_with_one_range


@pytest.mark.parametrize(
    "text", ["a within 1 and dish exactly", "a within 1 or dish exactly", "not a within 1 and dish exactly"]
)
@pytest.mark.parametrize("prior", [nw.Normal(0, 1), nw.Uniform(0, 10), nw.Atoms({0: 0.2, 1: 0.5, 3: 0.3})])
def test_one_search_agrees_with_the_corners(prior, text):
    dishes = nw.Categories({"soup": 0.3, "pasta": 0.6, "fish": 0.1})
    profiles = (
        profile_of(prior, nw.Within(1), nw.Cost(0.8, 0.1)),
        profile_of(dishes, nw.Exactly(), nw.Cost(0.0, 0.5)),
    )
    of = formula(nw.parse_goal(text))
    one = worst_with_one_range(profiles, of)
    assert one is not None
    assert one.gain == pytest.approx(worst_of_several(profiles, of).gain, abs=3e-6)


def test_two_ranges_are_left_to_the_corners():
    profile = profile_of(nw.Normal(0, 1), nw.Within(1), nw.Cost(0.8))
    assert worst_with_one_range((profile, profile), formula(nw.parse_goal("a within 1 and b within 1"))) is None
