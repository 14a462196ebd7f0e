"""Several attributes: the bound over all combinations of victims is never below one, and hardly above the worst."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.parts.corners import _Part, worst_of_several
from nowiser.guess.parts.formula import formula, value

GOALS = [
    "a within 2 and b within 0.5",
    "a within 2 and not b within 0.5",
    "not a within 2 and b within 0.5",
    "not a within 2 and not b within 0.5",
    "a within 2 or b within 0.5",
    "a within 2 or not b within 0.5",
    "not (a within 2 and not b within 0.5)",
]


def pairs(goal, priors, costs):
    """The gain of every pair of victims on a fine grid."""
    a = profile_of(priors["a"], nw.Within(2), costs["a"]).at(np.linspace(5, 35, 1201))
    b = profile_of(priors["b"], nw.Within(0.5), costs["b"]).at(np.linspace(-4, 4, 1201))
    whole = goal.startswith("not (")
    text = goal[5:] if whole else goal
    a = a.negated() if text.startswith("not a") else a
    b = b.negated() if "not b" in text else b
    if whole:  # not (a and not b) = not a or b
        a, b = a.negated(), b.negated()
    if (" and " in text) != whole:
        return np.multiply.outer(a.after, b.after) - np.multiply.outer(a.before, b.before)
    return np.multiply.outer(1 - a.before, 1 - b.before) - np.multiply.outer(1 - a.after, 1 - b.after)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("slope", "jump"), [(1.0, 0.0), (0.2, 0.3)])
def test_two_normals_are_tight_to_a_hundred_thousandth(goal, slope, jump):
    priors = {"a": nw.Normal(20, 5), "b": nw.Normal(0, 1)}
    costs = {"a": nw.Cost(slope, jump), "b": nw.Cost(0.7 * slope, 0.1)}
    found = nw.guess(priors, goal, costs=costs)
    seen = float(pairs(goal, priors, costs).max())
    assert seen - 1e-12 <= found.gain <= seen + 1e-5
    own = nw.guess(priors, goal, costs=costs, victim=found.victim)
    assert own.gain == pytest.approx(found.gain, abs=1e-5)


def test_a_third_attribute_with_labels_joins_them():
    priors = {"a": nw.Normal(20, 5), "b": nw.Uniform(-4, 4), "dish": nw.Categories({"soup": 0.3, "pasta": 0.7})}
    costs = {"a": nw.Cost(1.0), "b": nw.Cost(0.5), "dish": nw.Cost(0.0, 0.5)}
    text = "(a within 2 or not b within 0.5) and dish exactly"
    found = nw.guess(priors, text, costs=costs)
    rng = np.random.default_rng(2)
    for _ in range(20):
        victim = {"a": rng.normal(20, 5), "b": rng.uniform(-4, 4), "dish": rng.choice(["soup", "pasta"]).item()}
        assert nw.guess(priors, text, costs=costs, victim=victim).gain <= found.gain
    own = nw.guess(priors, text, costs=costs, victim=found.victim)
    assert own.gain == pytest.approx(found.gain, abs=1e-5)


PRIORS = {
    "bells": {"a": nw.Normal(0, 1), "b": nw.Normal(3, 2), "c": nw.Normal(-1, 0.5)},
    "mixed": {"a": nw.Normal(0, 1), "b": nw.Uniform(0, 10), "c": nw.Histogram([0, 2, 5, 9], [0.2, 0.5, 0.3])},
}
COSTS = {"a": nw.Cost(0.7), "b": nw.Cost(0.4, 0.2), "c": nw.Cost(1.1)}
THREE = [
    "a within 1 and b within 1 and c within 1",
    "a within 1 or b within 1 or c within 1",
    "a within 1 and (b within 1 or not c within 1)",
]


@pytest.mark.parametrize("priors", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("goal", THREE)
def test_three_continuous_attributes_are_tight(priors, goal):
    worst = nw.guess(priors, goal, costs=COSTS)
    grids = [np.linspace(-4, 4, 81), np.linspace(-1, 10, 111), np.linspace(-3, 9, 121)]
    figures = []
    for name, grid in zip("abc", grids, strict=True):
        row = profile_of(priors[name], nw.Within(1), COSTS[name])
        low, high = (float(end) for end in (row.line.victims()[0].min(), row.line.victims()[1].max()))
        at = row.at(grid[(grid >= low) & (grid <= high)])
        figures.append(at.negated() if f"not {name}" in goal else at)
    of = formula(nw.parse_goal(goal))
    shape = [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]
    after = value(of, [f.after.reshape(s) for f, s in zip(figures, shape, strict=True)])
    before = value(of, [f.before.reshape(s) for f, s in zip(figures, shape, strict=True)])
    assert (after - before).max() <= worst.gain + 1e-12
    own = nw.guess(priors, goal, costs=COSTS, victim=worst.victim)
    assert worst.gain - 5e-6 <= own.gain <= worst.gain + 1e-12


@pytest.mark.long
def test_four_attributes_with_a_heavy_tail_among_them_are_tight():
    priors = {**PRIORS["bells"], "d": nw.Frozen("t", 3.0)}
    costs = {**COSTS, "d": nw.Cost(0.5)}
    text = "a within 1 and b within 1 and (c within 1 or d within 1)"
    worst = nw.guess(priors, text, costs=costs)
    own = nw.guess(priors, text, costs=costs, victim=worst.victim)
    assert worst.gain - 2e-5 <= own.gain <= worst.gain + 1e-12


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "text", ["a within 1 and b exactly and c within 2", "a within 1 or (b exactly and not c within 2)"]
)
def test_of_finitely_many_victims_the_worst_is_found_exactly(text, seed):
    rng = np.random.default_rng(seed)
    masses = [rng.dirichlet(np.full(n, 2.0)) for n in (9, 5, 7)]
    priors = [
        nw.Atoms(dict(enumerate(masses[0].tolist()))),
        nw.Categories({str(i): float(m) for i, m in enumerate(masses[1])}),
        nw.Atoms({1.3 * i: float(m) for i, m in enumerate(masses[2])}),
    ]
    parts = [nw.Within(1), nw.Exactly(), nw.Within(2)]
    costs = [nw.Cost(*rng.uniform(0, 1.5, 2)), nw.Cost(0.0, rng.uniform(0, 1.5)), nw.Cost(rng.uniform(0, 1.5))]
    profiles = [profile_of(p, g, c) for p, g, c in zip(priors, parts, costs, strict=True)]
    of = formula(nw.parse_goal(text))
    every = [p.at(p.start()[0]) for p in profiles]
    if "not c" in text:
        every[2] = every[2].negated()
    combinations = itertools.product(*[range(len(np.atleast_1d(f.before))) for f in every])
    truth = max(
        value(of, [f.after[i] for f, i in zip(every, pick, strict=True)])
        - value(of, [f.before[i] for f, i in zip(every, pick, strict=True)])
        for pick in combinations
    )
    found = worst_of_several(profiles, of)
    assert truth - 1e-13 <= found.gain <= truth + 1e-6


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("prior", [nw.Normal(0, 1), nw.Uniform(0, 10), nw.Histogram([0, 2, 5, 9], [0.2, 0.5, 0.3])])
def test_no_victim_lies_beyond_the_corners_in_any_direction(prior, negated):
    profile = profile_of(prior, nw.Within(1), nw.Cost(0.7, 0.1))
    low, high = max(profile.start()[0].min(), -6), min(profile.start()[1].max(), 12)
    figures = profile.at(np.linspace(low, high, 400))
    figures = figures.negated() if negated else figures
    part = _Part(profile, negated=negated)
    rng = np.random.default_rng(5)
    for step in range(12):
        corners = part.corners()
        assert ((corners > -1e-12) & (corners < 1 + 1e-12)).all()
        for share in np.linspace(0, 1, 41):
            most = ((1 - share) * figures.after - share * figures.before).max()
            assert most <= ((1 - share) * corners[:, 0] - share * corners[:, 1]).max() + 1e-12, step
        part.ask(*rng.dirichlet([1, 1]))
