"""A disc on a plane: pieces that enclose the truth, and a ceiling between what attacks reach and a little more."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.plane.circle import held
from nowiser.guess.plane.maps import QUICK, ROUGH, SHARP, Disc, one_on_map
from nowiser.guess.plane.pieces import Grain, pieces_of, quadrant
from nowiser.guess.plane.plane import plane_of
from nowiser.guess.plane.sharing import Effort, Shares, _carried, equalised

sys.path.insert(0, str(Path(__file__).parent))
from planes import NAMES, attacked, bell, fine, histogram, shares, square

VICTIMS = [
    (square(), 2.0, (8.0, 8.0)),
    (square(), 2.0, (2.0, 2.0)),
    (square(), 2.0, (1.0, 7.0)),
    (histogram(), 3.0, (5.0, 9.3)),
    (bell(), 0.8, (1.2, 0.4)),
    (bell((1.0, 3.0)), 0.8, (0.3, 2.0)),
]


def support(plane, at):
    return np.array(plane.law.support).T - at


@pytest.mark.parametrize(("prior", "radius", "victim"), VICTIMS)
@pytest.mark.parametrize("grain", [QUICK[0], ROUGH[0], SHARP[0]])
def test_pieces_enclose_masses_and_averages(prior, radius, victim, grain):
    plane, at, rate = plane_of(prior, NAMES), np.array(victim), 0.7
    pieces, grid = pieces_of(plane, at, radius, rate, grain), fine(prior)
    weight, x, y = grid
    inside = shares(grid, victim, radius)
    truth = (weight * inside).sum()
    assert pieces.least <= truth * 1.001
    assert truth <= pieces.most * 1.001
    assert pieces.most - pieces.least < 0.02 * truth
    for angle in (0.3, 2.0, 4.4):
        z = radius * np.array([[math.cos(angle), math.sin(angle)]])
        away = np.hypot(x - victim[0] - z[0, 0], y - victim[1] - z[0, 1])
        near, far = (weight * inside * np.exp(rate * away)).sum(), (weight * (1 - inside) * np.exp(-rate * away)).sum()
        most = float(pieces.inside.mass @ pieces.inside.lifted(z, rate)[:, 0])
        least = float(pieces.outside.mass @ pieces.outside.lowered(z, rate)[:, 0])
        assert near <= most + 1e-4
        assert far >= least - 1e-4
        assert most < 1.12 * near
        assert least > 0.88 * far


@pytest.mark.parametrize("rate", [0.01, 0.3, 4.0])
def test_averages_over_a_piece_are_bounded_exactly(rate):
    """Of whole square cells of a constant density, and of one that varies by a known factor."""
    node, weight = np.polynomial.legendre.leggauss(40)
    plane, at = plane_of(square(), NAMES), np.array([8.0, 8.0])
    inside = pieces_of(plane, at, 2.0, rate, Grain(8, 2)).inside
    whole = np.flatnonzero(np.isclose(inside.mass, 0.25 / 256, rtol=1e-9))
    points = 2.0 * np.array([[1.0, 0.0], [-0.6, 0.8], [0.1, -0.99]])
    most, least = inside.lifted(points, rate), inside.lowered(points, rate)
    assert whole.size > 20
    for i in whole:
        x, y = inside.place[i, 0] + 0.25 * node, inside.place[i, 1] + 0.25 * node
        for j, z in enumerate(points):
            away = np.hypot(x[:, None] - z[0], y - z[1])
            up, down = ((np.multiply.outer(weight, weight) * np.exp(s * rate * away)).sum() / 4 for s in (1, -1))
            assert up * (1 - 1e-9) <= most[i, j] <= up * (1 + rate * 0.1)
            assert down * (1 - rate * 0.25) <= least[i, j] <= down * (1 + 1e-9)


@pytest.mark.parametrize("sd", [(0.2, 0.3), (1.0, 1.0), (0.1, 2.0)])
def test_averages_over_cut_and_uneven_pieces_are_bounded_together(sd):
    """Summed over all pieces, against a polar quadrature with ten digits; steep densities make places uncertain."""
    node, weight = np.polynomial.legendre.leggauss(80)
    at, radius, rate = np.array([0.1, 0.2]), 0.3, 0.9
    rho, turn = radius * (node + 1) / 2, np.arange(600) * 2 * np.pi / 600
    x, y = at[0] + rho[:, None] * np.cos(turn), at[1] + rho[:, None] * np.sin(turn)
    density = np.exp(-((x / sd[0]) ** 2) / 2 - (y / sd[1]) ** 2 / 2) / (2 * np.pi * sd[0] * sd[1])
    mass = density * (rho * weight)[:, None] * radius / 2 * 2 * np.pi / 600
    plane, points = plane_of(bell(sd), NAMES), radius * np.array([[1.0, 0.0], [-0.6, 0.8]])
    for grain in (Grain(4, 1), Grain(4, 2), QUICK[0], SHARP[0]):
        high = pieces_of(plane, at, radius, rate, grain).inside
        low = pieces_of(plane, at, radius, rate, grain, turned=True).inside
        for z in points:
            away = np.hypot(x - at[0] - z[0], y - at[1] - z[1])
            assert (mass * np.exp(rate * away)).sum() <= float(high.mass @ high.lifted(z[None], rate)[:, 0])
            assert (mass * np.exp(-rate * away)).sum() >= float(low.mass @ low.lowered(z[None], rate)[:, 0])


@pytest.mark.parametrize("sd", [(1.0, 1.0), (1.0, 3.0), (0.3, 2.0)])
def test_the_mass_of_a_disc_is_enclosed_to_all_digits(sd):
    at, radius = np.array([0.3, 1.1]), 0.8
    node, weight = np.polynomial.legendre.leggauss(60)
    rho, turn = radius * (node + 1) / 2, np.arange(400) * 2 * np.pi / 400
    x, y = at[0] + rho[:, None] * np.cos(turn), at[1] + rho[:, None] * np.sin(turn)
    density = np.exp(-((x / sd[0]) ** 2) / 2 - (y / sd[1]) ** 2 / 2) / (2 * np.pi * sd[0] * sd[1])
    exact = float((density * rho[:, None] * weight[:, None]).sum() * radius / 2 * 2 * np.pi / 400)
    plane = plane_of(bell(sd), NAMES)
    for grain in (QUICK[0], ROUGH[0], SHARP[0]):
        found = pieces_of(plane, at, radius, 0.5, grain)
        assert found.least <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= found.most
        assert found.most - found.least < 0.02 * exact


def test_turned_pieces_err_to_the_other_side():
    plane, at = plane_of(bell(), NAMES), np.array([0.5, 0.2])
    one, other = (pieces_of(plane, at, 0.8, 0.5, Grain(8, 2), turned=t) for t in (False, True))
    assert other.inside.mass.sum() < one.inside.mass.sum()
    assert other.outside.mass.sum() > one.outside.mass.sum()
    assert other.outside.mass.sum() == pytest.approx(1 - one.least, abs=1e-9)


def test_quadrants_are_areas():
    assert quadrant(2.0, np.array([2.0]), np.array([2.0]))[0] == pytest.approx(4 * math.pi)
    assert quadrant(2.0, np.array([0.0]), np.array([0.0]))[0] == pytest.approx(math.pi)
    side = (np.arange(4000) + 0.5) / 1000 - 2
    count = (np.hypot(side[:1500, None], side[:2700]) <= 2).sum() / 1e6  # x below -0.5, y below 0.7
    assert quadrant(2.0, np.array([-0.5]), np.array([0.7]))[0] == pytest.approx(count, abs=2e-3)


@pytest.mark.parametrize(("prior", "radius", "victim"), VICTIMS)
@pytest.mark.parametrize(("slope", "jump"), [(0.2, 0.0), (1.0, 0.4), (3.0, 0.0)])
def test_the_ceiling_is_just_above_planar_laplace(prior, radius, victim, slope, jump):
    plane, rate = plane_of(prior, NAMES), slope / radius
    found = one_on_map(plane, Disc(radius, rate, jump), np.array(victim))
    attack = attacked(fine(prior, 300), victim, radius, rate, jump, peaks=9)
    assert attack <= found.gain + 3e-4  # of the grid
    assert found.gain <= 1.035 * attack + 3e-4


@pytest.mark.parametrize(("prior", "radius", "victim"), VICTIMS[1:5])
def test_no_other_likelihood_gains_more(prior, radius, victim):
    """Not only cones: the largest of several, plateaus, distances from lines and from sets."""
    plane, rate, rng = plane_of(prior, NAMES), 0.9 / radius, np.random.default_rng(4)
    found, grid = one_on_map(plane, Disc(radius, rate, 0.0), np.array(victim)), fine(prior, 200)
    weight, x, y = grid
    inside = shares(grid, victim, radius)
    best = 0.0
    for _ in range(60):
        peaks = victim + radius * rng.uniform(-1.2, 1.2, (rng.integers(1, 5), 2))
        heights = rng.uniform(0, 0.6, len(peaks))
        logs = [h - rate * np.hypot(x - p[0], y - p[1]) for h, p in zip(heights, peaks, strict=True)]
        turn = rng.uniform(0, np.pi)
        line = -rate * np.abs((x - peaks[0][0]) * math.cos(turn) + (y - peaks[0][1]) * math.sin(turn))
        flat = -rate * np.maximum(np.hypot(x - peaks[0][0], y - peaks[0][1]) - radius * rng.uniform(0, 1), 0)
        for log in (np.maximum.reduce(logs), np.minimum(logs[0], line), flat, (logs[0] + line) / 2):
            f = weight * np.exp(log)
            best = max(best, (f * inside).sum() / f.sum() - (weight * inside).sum())
    assert 0.8 * found.gain < best <= found.gain + 5e-4


@pytest.mark.parametrize(
    "effort", [Effort(4, (0.5,), 1), Effort(4, (0.3, 0.1), 2), Effort(4, (0.3, 0.1, 0.03, 0.01), 8)]
)
def test_whatever_shares_it_ends_with_the_bound_is_above_the_programme(effort):
    import scipy.optimize

    rng, closest = np.random.default_rng(11), np.inf
    for _ in range(25):
        n, inner, outer = 4, rng.random(5), rng.random(6)
        up, down = np.exp(rng.uniform(0, 1, (5, n))), np.exp(-rng.uniform(0, 1, (6, n)))
        # heights h ≥ 0, then what each piece has: a_i ≤ h·up, b_j ≥ h·down, Σ b = 1, Σ a as large as can be
        signs = [(i, z, -up[i, z], 1.0) for i in range(5) for z in range(n)]
        signs += [(5 + j, z, down[j, z], -1.0) for j in range(6) for z in range(n)]
        rows = np.zeros((len(signs), n + 11))
        for row, (piece, z, factor, side) in zip(rows, signs, strict=True):
            row[z], row[n + piece] = factor, side
        goal = np.concatenate([np.zeros(n), -inner, np.zeros(6)])
        whole = np.concatenate([np.zeros(n + 5), outer])[None]
        best = -scipy.optimize.linprog(goal, rows, np.zeros(len(rows)), whole, [1.0]).fun
        found = equalised(Shares(inner, up, outer, down), np.ones(n), 1.0, effort, 0.0)
        assert found >= best * (1 - 1e-9)
        closest = min(closest, found / best)
    assert closest < (1.02 if effort.steps == 8 else 2)


def test_what_is_too_much_at_a_point_is_carried_to_others_for_what_it_costs():
    """The largest Σ h·A over Σ h·B, where heights are no farther apart than the points: a linear programme."""
    import scipy.optimize

    rng, shares = np.random.default_rng(5), []
    for _ in range(40):
        n, places = 7, rng.random((7, 2))
        a, b = rng.random(n), rng.random(n)
        apart = np.exp(2 * np.hypot(*np.moveaxis(places[:, None] - places, -1, 0)))
        pairs = [(z, y) for z in range(n) for y in range(n) if z != y]
        rows = np.zeros((len(pairs), n))
        for row, (z, y) in zip(rows, pairs, strict=True):
            row[z], row[y] = 1.0, -apart[z, y]
        best = -scipy.optimize.linprog(-a, rows, np.zeros(len(rows)), b[None], [1.0]).fun
        worst = float((a / b).max())
        found = _carried(a, b, apart, float(a.sum() / b.sum()), worst)
        assert best * (1 - 1e-9) <= found <= worst
        shares.append(found / best)
    assert np.median(shares) < 1.15
    assert min(shares) < 1.01


def test_more_effort_only_sharpens_and_enough_is_enough():
    plane, at, rate = plane_of(bell((1.0, 2.0)), NAMES), np.array([0.5, 0.5]), 0.8
    pieces = pieces_of(plane, at, 0.8, rate, Grain())
    found = [held(pieces, 0.8, rate, support(plane, at), Effort(40, (0.3, 0.1, 0.03, 0.01)[:n])).odds for n in (1, 4)]
    assert found[1] < found[0]
    early = held(pieces, 0.8, rate, support(plane, at), Effort(), enough=found[0]).odds
    assert found[1] <= early <= found[0]


def test_a_disc_that_holds_everything_and_costs_beyond_all_numbers():
    whole = one_on_map(plane_of(square(), NAMES), Disc(30.0, 0.1, 0.0), np.array([8.0, 8.0]))
    assert whole.before == pytest.approx(1)
    assert whole.gain < 1e-9
    steep = one_on_map(plane_of(square(), NAMES), Disc(2.0, 1e4, 0.0), np.array([8.0, 8.0]))
    assert steep.before + steep.gain == pytest.approx(1, abs=1e-9)
    none = one_on_map(plane_of(square(), NAMES), Disc(2.0, 0.0, 0.0), np.array([8.0, 8.0]))
    assert none.gain < 1e-9
    assert one_on_map(plane_of(bell(), NAMES), Disc(0.8, 0.0, 0.0), np.array([0.3, 0.4])).gain < 1e-9
    small = one_on_map(plane_of(bell(), NAMES), Disc(0.8, 1e-6, 0.0), np.array([0.3, 0.4])).gain
    assert 1e-8 < small < 5e-7


def test_victims_where_nobody_is_are_refused():
    with pytest.raises(Misconfigured, match="possible value of x"):
        nw.guess(square(), nw.Within(2), slope=1.0, victim=(17, 3))
