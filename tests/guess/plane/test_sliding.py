"""Borders that move with the victim, and what may be added to the gains of corners: against plain sums and points."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nowiser.guess.plane.border import bounded, cut_up, paired
from nowiser.guess.plane.moving import Moving, moving
from nowiser.guess.plane.pieces import Grain
from nowiser.guess.plane.region import Placed, region_of
from nowiser.guess.plane.regions import QUICK, Regions, law_of
from nowiser.guess.plane.sliding import STRIPS, _Known
from nowiser.model.goal import parse_goal

sys.path.insert(0, str(Path(__file__).parent))
from planes import NAMES, histogram, square
from test_regions import attacks, grid_of, inside_of, wide_bell

SLID = [
    "x within 2 and y within 3",
    "x within 2 or y within 1",
    "not (x within 2 and y within 3)",
    "x within 2 and y in [3, 9]",
    "x within 2 and not x within 1",
    "(x, y) within 2.5",
    "(x, y) within 2.5 and x in [6, 9]",
    "(x, y) within 2.5 or y in [6, 9]",
    "(x, y) within 2.5 and y within 1",
    "not ((x, y) within 2.5 and x within 1)",
]


def family_of(prior, text, rates=(0.3, 0.2), jump=0.0):
    return Regions(law_of(prior), region_of(parse_goal(text), NAMES), np.array(rates), jump)


@pytest.mark.parametrize("text", SLID)
def test_every_moving_border_is_in_a_slab_with_what_is_beside_it(text):
    """Along each axis, for victims of a box: wherever inside and outside meet at a place that moves with them."""
    prior, goal, rng = histogram(), parse_goal(text), np.random.default_rng(3)
    law, region = law_of(prior), region_of(goal, NAMES)
    placed, met = Placed(region, np.array([7.3, 8.4]), np.array([0.31, 0.17])), 0
    still = {"x in [6, 9]": {6.0, 9.0}, "y in [6, 9]": {6.0, 9.0}, "y in [3, 9]": {3.0, 9.0}}
    for axis in range(2):
        fixed = set().union(*[ends for part, ends in still.items() if part in text and part[0] == "xy"[axis]])
        rows = moving(law, placed, axis)
        assert (rows is None) == (not region.moves(axis))
        if rows is None:
            continue
        for _ in range(12):
            victim = placed.at + placed.slack * rng.uniform(-1, 1, 2)
            y, along = float(rng.uniform(4.5, 12)), np.arange(2.0, 14.0, 1e-3) + rng.uniform(0, 1e-3)

            def inside(x, y=y, victim=victim, axis=axis):
                return inside_of(goal, victim, x, np.full_like(x, y)) if axis == 0 else inside_of(
                    goal, victim, np.full_like(x, y), x)  # fmt: skip

            whether = inside(along)
            for i in np.flatnonzero(whether[1:] != whether[:-1]):
                place = (along[i] + along[i + 1]) / 2
                if min((abs(place - f) for f in fixed), default=1.0) < 2e-3:
                    continue
                met += 1
                here = (rows.near - 1e-3 <= place) & (place <= rows.far + 1e-3) & (rows.first <= y) & (y <= rows.last)
                assert here.any()
                for right in (0, 1):
                    beside = bool(whether[i + right])
                    assert (rows.inside[right] & here)[here].sum() <= (here.sum() if beside else here.sum() - 1)
                    assert any((rows.inside[right][j] <= beside) and (rows.outside[right][j] <= (not beside))
                               for j in np.flatnonzero(here))  # fmt: skip
                    for j in np.flatnonzero(here & (rows.inside[right] == beside) & (rows.outside[right] != beside)):
                        # as far as there is room nothing changes, if this is the slab that is meant
                        span = place + (2 * right - 1) * np.linspace(2e-3, max(rows.room[right][j] - 4e-3, 2e-3), 9)
                        if len(np.flatnonzero(here)) == 1:
                            assert (inside(span) == beside).all()
    assert met > 10


def test_strips_end_at_borders_that_stay():
    placed = Placed(
        region_of(parse_goal("x within 2 and x in [4, 8.9]"), NAMES), np.array([7.3, 8.4]), np.array([0.31, 0.17])
    )
    rows = moving(law_of(wide_bell()), placed, 0)
    assert set(np.round(rows.near, 9)) == {4.99}  # the other one is beyond 8.9
    assert rows.room[0] == pytest.approx(4.99 - 4)
    assert rows.room[1] == pytest.approx(2)  # half the way to the other one
    assert moving(law_of(wide_bell()), placed, 1) is None


@pytest.mark.parametrize("text", ["x within 2 and y within 3", "x within 2 or y within 1", "(x, y) within 2.5"])
def test_slopes_are_those_towards_the_inside_and_strips_are_counted_on_their_side(text):
    family, rng = family_of(wide_bell(), text), np.random.default_rng(2)
    box, sliding = family.box(np.array([9.0, 7.0]), np.array([9.3, 7.2])), family.sliding
    for axis in range(2):
        known = sliding._known(box, axis, 0.4, 0.7)
        rows, signs = known.rows, set()
        for share in rng.random((30, 2)):
            along = rows.near + share[0] * (rows.far - rows.near)
            at = rows.points(along, rows.first + share[1] * (rows.last - rows.first))
            slope = family.law.slopes(at[:, 0], at[:, 1])[axis]
            left = rows.inside[0] | rows.outside[1]
            m = np.where(left, -slope, slope)
            signs |= set(left.tolist())
            some = (rows.inside[0] != rows.inside[1]) | (rows.outside[0] != rows.outside[1])
            assert (known.lean[0] <= m + 1e-9)[some].all()
            assert (m <= known.lean[1] + 1e-9)[some].all()
        assert signs == {False, True}
        sides = [sliding._strips(rows, known.density[1], right=right) for right in (False, True)]
        for (shares, total), sure, most in zip(
            known.limits, ([np.True_] * 2, rows.inside, rows.outside), (1.0, 0.7, 0.6), strict=True
        ):
            assert total == pytest.approx(most)
            assert shares == pytest.approx(sum(np.where(w, c, 0.0) for w, c in zip(sure, sides, strict=True)))


def known_of(density, lean, f, limits):
    length, crossed = (0.5, 0.25), (0.0, 2.0)
    n, rows = len(length), np.zeros(len(length))
    none = np.zeros(n, bool)
    both = rows, rows
    where = Moving(0, rows, rows, rows, rows, np.array(length), (none, none), (none, none), both, np.array(crossed))
    return _Known(where, *[tuple(np.array(x) for x in pair) for pair in (density, lean, f)], limits)


def test_curvature_and_jumps_are_what_the_formula_says():
    """Where density, slope and likelihood are known, K and M are plain sums; where they are not, the most of them."""
    p, m, f, length = np.array([0.3, 0.7]), np.array([0.8, -1.4]), np.array([1.7, 0.6]), np.array([0.5, 0.25])
    free = [(np.zeros(2), 1.0)]
    known = known_of((p, p), (m, m), (f, f), free)
    assert known.bent(0.9, 1.0, 1.0) == pytest.approx(((0.9 * f + m * (f - 1)) * p * length).sum(), rel=1e-8)
    assert known.jumps(1.0, 1.0) == pytest.approx(2 * 0.4 * 0.7 * 0.25)
    assert known.jumps(3.0, 0.5) == pytest.approx(2 * 0.8 * 0.7 * 0.25)
    either = known_of((p, p), (m - 0.3, m + 0.4), (f, f), free)  # the most of a likelihood above 1, the least below
    slope = np.where(f > 1, m + 0.4, m - 0.3)
    assert either.bent(2.0, 1.0, 1.0) == pytest.approx(((2 * f + slope * (f - 1)) * p * length).sum(), rel=1e-8)
    falls = known_of((p * 0.5, p), (m - 3, m - 3), (f * 4, f * 4), free)  # so much that less density is worse
    assert falls.bent(0.9, 1.0, 1.0) >= ((0.9 * 4 * f + (m - 3) * (4 * f - 1)) * p / 2 * length).sum()
    wide = known_of((p * 0.8, p * 1.1), (m - 0.3, m + 0.4), (f * 0.7, f * 1.2), free)
    rng, closest = np.random.default_rng(1), 0.0
    for share in [*rng.random((200, 3, 2)), *rng.integers(0, 2, (200, 3, 2)).astype(float)]:
        q, slope, value = p * (0.8 + 0.3 * share[0]), m - 0.3 + 0.7 * share[1], f * (0.7 + 0.5 * share[2])
        for low, high, turned in ((1.0, 1.0, value), (0.8, 1.3, value * rng.uniform(0.8, 1.3))):
            true = ((0.9 * turned + slope * (turned - 1)) * q * length).sum()
            assert true <= wide.bent(0.9, high, low) * (1 + 1e-9)
            closest = max(closest, true / wide.bent(0.9, high, low)) if high == 1.0 else closest
    assert closest > 0.8
    # what the prior has beside the borders: all Σ c·X add up to so much, and no more
    tight = known_of((p, p), (m, m), (f * 0, f * 9), [(np.array([2.0, 3.0]), 0.4)])
    assert tight.largest(np.array([1.0, 1.0])) == pytest.approx(0.2, rel=1e-8)
    assert tight.largest(np.array([1.0, 2.0])) == pytest.approx(2 * 0.4 / 3, rel=1e-8)


def test_likelihoods_on_borders_are_between_what_the_posterior_leaves_them():
    """Of a constant density all is known: what is left at a point, what a strip holds, and f between both bounds."""
    family = family_of(square(), "x within 3 and y within 3", (0.4, 0.25))
    low, high = np.array([6.9, 7.9]), np.array([7.3, 8.1])
    box, sliding = family.box(low, high), family.sliding
    weight, x, y = grid_of(square(), 640)
    victim = np.array([7.1, 8.0])
    wide = (np.abs(x - 7.1) <= 3.2) & (np.abs(y - 8.0) <= 3.1)
    points = np.array([[4.1, 8.5], [10.1, 6.0], [7.0, 11.0], [-1.0, -1.0], [17.0, -1.0]])
    bottom, top = sliding._values(box, points, np.zeros(5), 0.9)
    for z, least, most, slip in zip(points, bottom, top, (0.03, 0.03, 0.03, 0.002, 0.002), strict=True):
        cost = 0.4 * np.abs(x - z[0]) + 0.25 * np.abs(y - z[1])
        left, lifted = 0.1 / (weight * np.exp(-cost))[~wide].sum(), 0.9 / (weight * np.exp(cost))[wide].sum()
        assert left * 0.999 <= most <= left * (1 + slip)
        assert lifted * (1 - slip) <= least <= lifted * 1.001
    half = sliding._values(box, points, np.full(5, 0.3), 0.9)
    assert half[0] == pytest.approx(bottom * math.exp(-0.3))
    assert half[1] == pytest.approx(top * math.exp(0.3))
    own = inside_of(parse_goal("x within 3 and y within 3"), victim, x, y)
    f = np.exp(-0.4 * np.abs(x - 7.1) - 0.25 * np.abs(y - 8.0))
    f /= (weight * f).sum()
    posterior = float((weight * f)[own].sum())
    bottom, top = sliding._values(box, points, np.zeros(5), posterior * 0.999)
    for z, least, most in zip(points[:3], bottom, top, strict=False):
        assert least <= f.flat[np.argmin(np.hypot(x - z[0], y - z[1]))] <= most
    rows = moving(family.law, box.placed, 0)
    for right in (False, True):
        strips = sliding._strips(rows, np.full(rows.near.size, 1 / 256), right=right)
        width = STRIPS[:, None] * rows.room[right]
        # up to the middle between both borders, on the other side as far as a goal is wide; the prior ends at 16
        fits = np.where(width <= np.where(right, 16 - rows.far, rows.near), width, 0.0).max(axis=0)
        assert strips == pytest.approx((1 - np.exp(-0.4 * fits)) / 0.4, rel=1e-6)
        assert (fits > 0).all()
        inner = rows.inside[right]
        assert strips[inner] == pytest.approx((1 - math.exp(-0.4 * 3)) / 0.4, rel=1e-6)


@pytest.mark.parametrize("text", ["x within 3 and y within 3", "(x, y) within 3 and x in [5, 9]"])
def test_what_is_added_is_made_of_curvature_and_jumps(text):
    family = family_of(wide_bell(), text)
    low, high = np.array([6.9, 7.9]), np.array([7.3, 8.1])
    box, sliding = family.box(low, high), family.sliding
    pieces, total = box.cut.pieces, 0.0
    for axis, wide in ((0, 0.4), (1, 0.2)):
        known = sliding._known(box, axis, pieces.least + 0.1, min(pieces.most + 0.3, 1.0))
        total += max(known.bent(family.rates[axis], 1, 1), 0) * wide**2 / 8 + known.jumps(1, 1) * wide / 4
    assert family.more(box, 0.1, 0.3) == pytest.approx(total, rel=1e-6)
    assert total > 0


def test_a_jump_bends_what_is_added():
    """ψ' is at most `lifts` and at least e^{−J}, and bends by at most `bend` as far as corners are from each other."""
    family, rise = family_of(wide_bell(), "x within 3 and y within 3", jump=0.7), math.expm1(0.7)
    box, sliding = family.box(np.array([6.9, 7.9]), np.array([7.3, 8.1])), family.sliding
    pieces = box.cut.pieces
    after, top = (a / (1 + rise * (1 - a)) for a in (pieces.least + 0.1, min(pieces.most + 0.3, 1.0)))
    known = [(wide, sliding._known(box, axis, after, top)) for axis, wide in ((0, 0.4), (1, 0.2))]
    spread = sum(wide * k.largest(np.ones(k.rows.length.size)) for wide, k in known)
    lowest = 1 + rise * max(after - 2 * spread, 0.0)
    lifts, bend = (1 + rise) / lowest**2, 2 * rise * (1 + rise) / lowest**3
    total = sum(
        max(k.bent(r, lifts, math.exp(-0.7)), 0) * wide**2 / 8 for r, (wide, k) in zip((0.3, 0.2), known, strict=True)
    )
    assert family.more(box, 0.1, 0.3) == pytest.approx(total + bend * spread**2 / 8, rel=1e-6)
    assert bend * spread**2 > 0.01 * total


def totals(goal, victim, grid, parts=4):
    """The share of each cell of a grid in the victim's goal, by counting points."""
    _, x, y = grid
    steps = x[1, 0] - x[0, 0], y[0, 1] - y[0, 0]
    found = np.zeros(x.shape)
    for a in (np.arange(parts) + 0.5) / parts - 0.5:
        for b in (np.arange(parts) + 0.5) / parts - 0.5:
            found += inside_of(goal, victim, x + a * steps[0], y + b * steps[1])
    return found / parts**2


@pytest.mark.parametrize("text", ["(x, y) within 2.5", "(x, y) within 2.5 and x in [6, 9]", "x within 2 or y within 1"])
@pytest.mark.parametrize("prior", [histogram(), wide_bell()], ids=["histogram", "bell"])
def test_nobody_between_corners_gains_more_than_they_and_what_is_added(prior, text):
    goal, rates, rng = parse_goal(text), np.array([0.5, 0.3]), np.random.default_rng(7)
    family, grid, nearest = family_of(prior, text, rates), grid_of(prior, 240), 0.0
    for low in ((8.3, 7.0), (9.1, 8.2), (10.2, 9.4)):
        at = [int(np.searchsorted(line, v, "right")) - 1 for line, v in zip(family.lines, low, strict=True)]
        first, last = (np.array([line[i + n] for line, i in zip(family.lines, at, strict=True)]) for n in (0, 1))
        box, middle = family.box(first, last), (first + last) / 2
        places = [middle, first, last, np.array([first[0], last[1]]), np.array([last[0], first[1]])]
        masks = [totals(goal, v, grid) for v in places]
        for log in attacks(middle, rates, rng):
            f = np.exp(log(*grid[1:]))
            f = grid[0] * (f / (grid[0] * f).sum() - 1)
            own, *corners = (float((f * mask).sum()) for mask in masks)
            if own > 0:
                added = family.more(box, own * (1 - 1e-9), 1.0)
                assert own - sum(corners) / 4 <= added + 1e-3, "of the grid"
                nearest = max(nearest, (own - sum(corners) / 4) / added)
    assert nearest > 0.02


@pytest.mark.parametrize("text", ["x within 2 and y within 3", "x within 2 or y within 1", "(x, y) within 2.5"])
@pytest.mark.parametrize("prior", [histogram(), wide_bell()], ids=["histogram", "bell"])
def test_pairs_of_pieces_are_a_quick_bound(prior, text):
    """∫ over the inside of 1/V, with V what is left of the outside: by plain sums; and above what anybody attains."""
    rates, victim = np.array([0.3, 0.2]), np.array([7.5, 8.5])
    family = family_of(prior, text, rates)
    weight, x, y = grid_of(prior, 240)
    inside = inside_of(parse_goal(text), victim, x, y)
    first, second = (np.exp(-k * np.abs(np.subtract.outer(z, z))) for k, z in zip(rates, (x[:, 0], y[0]), strict=True))
    true = float((weight / (first @ (weight * ~inside) @ second))[inside].sum())
    cut = cut_up(family.law, Placed(family.region, victim, np.zeros(2)), rates, Grain(16, 3, 1.3, 1.0))
    found = paired(cut, rates)
    assert 0.97 * true <= found <= 1.2 * true
    assert bounded(cut, rates, QUICK[1]).attained <= found
    assert bounded(cut, rates, QUICK[1], enough=found * 1.01).odds == found


def test_pairs_of_small_pieces_are_sharp_and_what_lies_beyond_all_pieces_counts():
    rates, victim = np.array([0.3, 0.2]), np.array([7.5, 8.5])
    family = family_of(histogram(), "x within 2 and y within 3", rates)
    weight, x, y = grid_of(histogram(), 320)
    inside = inside_of(parse_goal("x within 2 and y within 3"), victim, x, y)
    first, second = (np.exp(-k * np.abs(np.subtract.outer(z, z))) for k, z in zip(rates, (x[:, 0], y[0]), strict=True))
    true = float((weight / (first @ (weight * ~inside) @ second))[inside].sum())
    cut = cut_up(family.law, Placed(family.region, victim, np.zeros(2)), rates, Grain(40, 3, 1.1, 0.3))
    assert 0.995 * true <= paired(cut, rates) <= 1.04 * true
    more = replace(cut, beyond=np.full(len(cut.points), 0.3))
    assert paired(more, rates) >= paired(cut, rates) + 0.3


def test_edges_of_the_prior_that_a_circle_crosses_are_counted():
    family = family_of(histogram(), "(x, y) within 2.5")
    rows = moving(family.law, Placed(family.region, np.array([7.3, 8.4]), np.array([0.31, 0.17])), 0)
    crossed = [sum(a < e < b for e in (0, 4, 8, 12, 16)) for a, b in zip(rows.near, rows.far, strict=True)]
    assert rows.crossed.tolist() == crossed
    assert 0 < sum(crossed) < len(crossed)
