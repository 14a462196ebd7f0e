"""The tight ceiling: reference values, laws, extremes, refusals."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured

REFERENCE = [
    (nw.Uniform(12, 28), nw.Within(2), {"slope": 1.0, "victim": 20}, 0.643914),
    (nw.Uniform(0, 100), nw.Within(5), {"slope": 1.0, "victim": 2}, 0.753403),
    (nw.Normal(20, 5), nw.Within(2), {"slope": 1.0, "victim": 20}, 0.699531),
    (nw.Normal(20, 5), nw.Within(2), {"slope": 1.0, "victim": 30}, 0.539319),
    (nw.Presence(0.25), nw.Present(), {"jump": 0.8}, 0.425897),
    (nw.Categories(range(10)), nw.Exactly(), {"jump": 1.0}, 0.231969),
    (nw.Atoms({0: 0.2, 2: 0.8}), nw.Within(1), {"slope": 1.0, "victim": 0}, 0.648786),
]


@pytest.mark.parametrize(("prior", "goal", "asked", "after"), REFERENCE)
def test_reference_values(prior, goal, asked, after):
    assert nw.guess(prior, goal, **asked).after == pytest.approx(after, abs=5e-7)


def test_reference_of_the_smallest_posterior():
    found = nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=1.0, victim=20)
    assert found.smallest == pytest.approx(0.032059, abs=5e-7)


def test_reference_of_the_worst_prior():
    found = nw.guess(nw.Unknown(), nw.Present(), jump=1.0)
    assert found.before == pytest.approx(0.377541, abs=5e-7)
    assert found.gain == pytest.approx(0.244919, abs=5e-7)


def test_shape_of_the_answer():
    found = nw.guess(nw.Normal(20, 5), "within 2", slope=1.0, victim=20)
    assert repr(found) == "Advantage(before=0.310843, after=0.699531)"
    assert list(found.to_json())[:8] == ["before", "after", "gain", "slope", "jump", "victim", "witness", "expected"]
    assert "31.1 % before the release, and with at most 70.0 % after it: at most 38.9 points better" in str(found)
    assert found.odds == pytest.approx(found.after / (1 - found.after) * (1 - found.before) / found.before)


# --- oracle: the ratio of THEORY 2, maximised over t with forty digits --------------------------------------


def oracle(density, low, high, l, u, k, peak):  # noqa: PLR0917 (the arguments of the formula)
    """max over t of the ratio of integrals, by brute force in high precision."""
    mpmath.mp.dps = 20

    def ratio(t):
        def weight(a, b):
            return mpmath.quad(
                lambda x: density(x) * mpmath.exp(-k * abs(x - t)), sorted({a, b, *([t] if a < t < b else [])})
            )

        inside = weight(l, u)
        return inside / (inside + weight(low, l) + weight(u, high))

    # the ratio has one maximum, which the reported peak must be: every other t is lower, also very near ones
    best = ratio(mpmath.mpf(peak))
    others = [l + (u - l) * i / 8 for i in range(9)] + [peak - mpmath.mpf("1e-4"), peak + mpmath.mpf("1e-4")]
    assert max(ratio(t) for t in others) <= best
    return best


@pytest.mark.parametrize(("x", "slope"), [(20, 1.0), (27, 0.3), (9, 4.0)])
def test_normal_agrees_with_forty_digits_and_stays_above(x, slope):
    answer = nw.guess(nw.Normal(20, 5), nw.Within(2), slope=slope, victim=x)
    found = answer.after
    exact = oracle(
        lambda y: mpmath.npdf(y, 20, 5),
        mpmath.mpf(-30),
        mpmath.mpf(70),
        mpmath.mpf(x - 2),
        mpmath.mpf(x + 2),
        slope / 2,
        answer.witness.peak,
    )
    assert exact - mpmath.mpf("1e-14") <= found <= exact + mpmath.mpf("1e-11")


def exact_atoms(values, masses, l, u, k):
    """The same for atoms in exact reals: t is an atom of the goal."""
    mpmath.mp.dps = 40
    best = mpmath.mpf(0)
    for t in values:
        if l <= t <= u:
            weights = [
                mpmath.mpf(m) * mpmath.exp(-mpmath.mpf(k) * abs(mpmath.mpf(v) - mpmath.mpf(t)))
                for v, m in zip(values, masses, strict=True)
            ]
            inside = sum((w for v, w in zip(values, weights, strict=True) if l <= v <= u), mpmath.mpf(0))
            best = max(best, inside / sum(weights))
    return best


@st.composite
def atoms(draw, most=8):
    n = draw(st.integers(2, most))
    values = draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n, unique=True))
    weights = np.array(draw(st.lists(st.integers(1, 1000), min_size=n, max_size=n)), float)
    return nw.Atoms([v / 4 for v in values], weights / weights.sum())


@given(atoms(), st.floats(0.1, 10), st.floats(1e-6, 20), st.data())
@settings(max_examples=80, deadline=None)
def test_atoms_agree_with_exact_reals_and_stay_above(prior, radius, slope, data):
    x = float(data.draw(st.sampled_from(list(prior.values))))
    found = nw.guess(prior, nw.Within(radius), slope=slope, victim=x).after
    exact = exact_atoms(prior.values, prior.masses, x - radius, x + radius, slope / radius)
    assert exact <= found + mpmath.mpf("1e-17") or found == 1.0
    assert found <= exact * (1 + mpmath.mpf("1e-6"))


# --- laws ----------------------------------------------------------------------------------------------------

lines = st.one_of(
    st.tuples(st.floats(-50, 50), st.floats(0.5, 100)).map(lambda p: nw.Uniform(p[0], p[0] + p[1])),
    st.tuples(st.floats(-50, 50), st.floats(0.2, 30)).map(lambda p: nw.Normal(*p)),
    atoms(),
    st.lists(st.integers(1, 9), min_size=1, max_size=6).map(
        lambda w: nw.Histogram(np.arange(len(w) + 1.0), np.array(w) / sum(w))
    ),
    st.tuples(st.floats(0.2, 3), st.floats(0.2, 3)).map(
        lambda p: nw.Mixture([(0.25, nw.Normal(0, p[0])), (0.75, nw.Normal(5, p[1]))])
    ),
    st.floats(0.5, 3).map(lambda s: nw.Truncated(nw.Normal(0, s), -1, 4)),
)
slopes = st.floats(0, 8)


def some_victim(prior, share):
    """A possible value of the prior."""
    match prior:
        case nw.Atoms():
            return float(prior.values[min(int(share * prior.values.size), prior.values.size - 1)])
        case nw.Uniform() | nw.Truncated():
            low, high = prior.low, prior.high
        case nw.Histogram():
            low, high = prior.edges[[0, -1]].tolist()
        case _:
            low, high = -60.0, 60.0
    return float(np.clip(low + share * (high - low), low, high))


@given(lines, st.floats(0.05, 5), slopes, slopes, slopes, slopes, st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_more_cost_never_tells_less(prior, radius, s1, s2, j1, j2, share):  # noqa: PLR0917 (drawn by hypothesis)
    x = some_victim(prior, share)
    low = nw.guess(prior, nw.Within(radius), slope=min(s1, s2), jump=min(j1, j2), victim=x)
    high = nw.guess(prior, nw.Within(radius), slope=max(s1, s2), jump=max(j1, j2), victim=x)
    # rounded against ourselves by some millionths, and not always by the same formula
    assert low.after <= high.after * (1 + 1e-5) + 1e-9
    assert low.smallest >= high.smallest * (1 - 1e-5) - 1e-9
    assert low.before == pytest.approx(high.before, rel=1e-5, abs=1e-9)
    for found in (low, high):
        assert 0 <= found.smallest <= found.before <= found.after <= 1
        assert math.isfinite(found.gain)


@pytest.mark.parametrize(
    ("joint", "alone"),
    [
        (nw.JointAtoms(["a"], {(1.0,): 0.5, (2.0,): 0.3, (5.0,): 0.2}), nw.Atoms({1.0: 0.5, 2.0: 0.3, 5.0: 0.2})),
        (nw.MultivariateNormal(["a"], [20.0], [[25.0]]), nw.Normal(20, 5)),
        (nw.JointHistogram(["a"], [[0, 1, 3]], [0.4, 0.6]), nw.Histogram([0, 1, 3], [0.4, 0.6])),
    ],
)
@pytest.mark.parametrize("victim", [{"a": 2.0}, None])
def test_a_joint_prior_of_one_attribute_is_that_of_the_attribute(joint, alone, victim):
    for goal in ("a within 1.5", "not a within 1.5", "a in [0, 2]"):
        one, other = (nw.guess(prior, goal, slope=0.7, victim=victim) for prior in (joint, {"a": alone}))
        assert one.gain == pytest.approx(other.gain, rel=1e-4)


@given(lines, st.floats(0.05, 5), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_no_cost_no_gain(prior, radius, share):
    for victim in (some_victim(prior, share), None):
        found = nw.guess(prior, nw.Within(radius), slope=0.0, victim=victim)
        assert found.gain == 0
        assert found.odds == 1
        assert found.smallest == found.before


@given(lines, st.floats(0.05, 5), st.floats(0.01, 4), st.one_of(st.just(0.0), st.floats(0, 2)), st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_the_worst_victim_is_worse_than_each(prior, radius, slope, jump, share):
    worst = nw.guess(prior, nw.Within(radius), slope=slope, jump=jump)
    for part in (share, share / 2, 1 - share / 3):
        each = nw.guess(prior, nw.Within(radius), slope=slope, jump=jump, victim=some_victim(prior, part))
        assert each.gain <= worst.gain + 1e-13
    own = nw.guess(prior, nw.Within(radius), slope=slope, jump=jump, victim=worst.victim)
    assert own.gain >= worst.gain * (1 - 1e-3) - 1e-12  # and he is one, to a thousandth


@given(lines, st.floats(0.05, 5), st.floats(0.01, 4), st.floats(0, 2), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_the_witness_attains_the_ceiling(prior, radius, slope, jump, share):
    if not isinstance(prior, nw.Atoms):
        prior = nw.Uniform(-3, 9)
    x = some_victim(prior, share)
    found = nw.guess(prior, nw.Within(radius), slope=slope, jump=jump, victim=x)
    if isinstance(prior, nw.Atoms):
        values, masses = prior.values, prior.masses
    else:
        # goal ends among the borders of a fine grid, exact masses
        edges = np.unique(np.concatenate([np.linspace(-3, 9, 40001), np.clip([x - radius, x + radius], -3, 9)]))
        values, masses = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 12
    weights = masses * np.array([found.witness.likelihood(v) for v in values])
    inside = np.array([found.witness.contains(v) for v in values])
    assert weights[inside].sum() / weights.sum() == pytest.approx(found.after, abs=2e-6)


# --- extremes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [1e-12, 1e-6, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("prior", [nw.Normal(0, 1), nw.Uniform(-10, 10), nw.Histogram([-10, 0, 10], [0.5, 0.5]),
                                   nw.Atoms({-10: 0.5, 0: 0.25, 10: 0.25}), nw.LogNormal(0, 1), nw.Frozen("gamma", 2.0),
                                   nw.Truncated(nw.Normal(0, 1), -10, 10)])  # fmt: skip
def test_extreme_slopes_and_tails_are_numbers(prior, slope):
    for victim in (10.0, None):
        found = nw.guess(prior, nw.Within(0.5), slope=slope, victim=victim)
        assert 0 <= found.smallest <= found.before <= found.after <= 1
        assert not math.isnan(found.odds)
        if slope == 1e-12:
            assert found.gain < 3e-6
        if slope == 1e4:
            assert found.after > 0.999


def test_a_victim_ten_standard_deviations_out_is_right():
    found = nw.guess(nw.Normal(0, 1), nw.Within(1), slope=0.5, victim=10)
    mpmath.mp.dps = 40
    k = mpmath.mpf("0.5")
    left, right = (
        mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.exp(k * x), [-30, -10, 0, 5, 9]),
        mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.exp(-k * x), [11, 12, 15, 30]),
    )
    t = mpmath.mpf(found.witness.peak)
    p = mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.exp(k * x), [9, t]) / left
    q = mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.exp(-k * x), [t, 11]) / right
    bound = max(p, q)
    assert found.after == pytest.approx(float(bound / (1 + bound)), rel=1e-6)
    assert found.before == pytest.approx(float(mpmath.ncdf(-9) - mpmath.ncdf(-11)), rel=1e-10)


def test_ranges_of_a_thousand_million():
    wide = nw.guess(nw.Uniform(-5e8, 5e8), nw.Within(1), slope=1.0, victim=0.25)
    assert wide.after == pytest.approx(1 - math.exp(-1), rel=1e-6)  # the rest of the range is too far to matter
    far = nw.guess(nw.Normal(1e9, 1e9), nw.Within(1), slope=1.0, victim=1e9)
    assert 0 <= far.after - (1 - math.exp(-1)) < 1e-4
    for prior, radius in ((nw.Uniform(0, 1e9), 2), (nw.Uniform(-5e8, 5e8), 1)):
        assert -1e-9 <= nw.guess(prior, nw.Within(radius), slope=1.0).after - (1 - math.exp(-2)) < 1e-4


def test_a_hundred_thousand_atoms():
    prior = nw.Atoms(np.arange(1e5), np.full(100_000, 1e-5))
    found = nw.guess(prior, nw.Within(2), slope=1.0, victim=50_000)
    k = 0.5
    inside = 1 + 2 * (math.exp(-k) + math.exp(-2 * k))
    assert found.after == pytest.approx(inside / (inside + 2 * math.exp(-3 * k) / (1 - math.exp(-k))), abs=1e-7)
    assert nw.guess(prior, nw.Within(2), slope=1.0).gain > found.gain


# --- refusals -------------------------------------------------------------------------------------------------

REFUSED = [
    (lambda: nw.guess(nw.Normal(0, 1), nw.Within(1), slope=-1), "slope must be a finite number of at least 0, found -1"),
    (lambda: nw.guess(nw.Normal(0, 1), nw.Within(1), jump=math.nan), "jump must be .* found nan"),
    (lambda: nw.guess(nw.Uniform(0, 1), nw.Within(1), slope=1, victim=2), "victim must be between 0 and 1.*found 2"),
    (lambda: nw.guess(nw.Uniform(0, 1), nw.Within(1), slope=1, victim="x"), "victim must be a number"),
    (lambda: nw.guess(nw.Normal(0, 1), nw.Exactly(), slope=1), "exactly on a continuous scale"),
    (lambda: nw.guess(nw.Normal(0, 1), nw.In([1, 2]), slope=1), "no probability on a continuous scale"),
    (lambda: nw.guess(nw.Categories(["a", "b"]), nw.Within(1), jump=1), "labels, which have no distances"),
    (lambda: nw.guess(nw.Categories(["a", "b"]), nw.Exactly(), slope=1), "slope must be 0"),
    (lambda: nw.guess(nw.Categories(["a", "b"]), nw.Exactly(), jump=1, victim="c"), "victim must be one of"),
    (lambda: nw.guess(nw.Categories(["a", "b"]), nw.In(["c"]), jump=1), "no label 'c'"),
    (lambda: nw.guess(nw.Unknown(), nw.Within(1), slope=1), "not even its range"),
    (lambda: nw.guess(nw.Unknown(0, 1), nw.Within(0.1), slope=1, victim=0.5), "prior is unknown"),
    (lambda: nw.guess(nw.Unknown(0, 1), nw.Within(2), slope=1), "always met"),
    (lambda: nw.guess(nw.Normal(0, 1), nw.Present(), jump=1), "needs the prior Presence or Unknown"),
    (lambda: nw.guess({"a": nw.Normal(0, 1)}, "b within 1", costs={}), "no prior for b"),
    (lambda: nw.guess({"a": nw.Normal(0, 1), "b": nw.Normal(0, 1)}, "a within 1 and b within 1", slope=1), "costs per attribute"),
    (lambda: nw.guess(nw.Normal(0, 1), nw.Within(1), slope=1, costs={"a": nw.Cost(1)}), "either slope and jump, or costs"),
    (lambda: nw.guess(3, nw.Within(1)), "prior must be a prior"),
    (lambda: nw.guess(nw.Normal(0, 1), 3), "goal must be a goal"),
    (lambda: nw.guess({"a": nw.Normal(0, 1)}, "b within 1"), "there is no prior for b"),
    (lambda: nw.guess(nw.JointAtoms(["a"], {(1.0,): 0.5, (2.0,): 0.5}), "b within 1", slope=1), "there is no prior for b"),
    (lambda: nw.guess(nw.Truncated(nw.Normal(0, 1), 80, 90), nw.Within(1), slope=1), "nothing of"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "says"), REFUSED)
def test_bad_questions_are_refused_with_exit_code_three(ask, says):
    with pytest.raises(Misconfigured, match=says) as caught:
        ask()
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("prior", "goal"),
    [
        ({"time": nw.Normal(20, 5)}, "time within 2"),
        (nw.Normal(20, 5), "time within 2"),
        (nw.Atoms({1: 0.5, 2: 0.2, 3: 0.3}), "time in {1, 3}"),
        ({"time": nw.Normal(20, 5)}, "not time within 2"),
        (nw.JointAtoms(["time", "dish"], {(1, 1): 0.5, (2, 3): 0.5}), "time exactly"),
        (nw.MultivariateNormal(["time", "dish"], [0, 0], [[1, 0], [0, 1]]), "time within 1"),
    ],
)
@pytest.mark.parametrize("victim", [None, 20])
def test_what_is_misspelt_is_not_free(prior, goal, victim):
    """A cost for an attribute nobody speaks of used to count for nothing: gain 0."""
    misspelt = {"tiem": nw.Cost(5.0)}
    who = None if victim is None else {"time": victim, "dish": victim}
    for ask in (
        lambda: nw.guess(prior, goal, costs=misspelt, victim=who),
        lambda: nw.guess(prior, goal, costs={"time": nw.Cost(0.1), **misspelt}, victim=who),
        lambda: nw.largest(prior, goal, gain=0.05, along=misspelt, victim=who),
    ):
        with pytest.raises(Misconfigured, match=r"there is a cost for tiem, but the (prior|goal) is about time"):
            ask()


def test_misspelt_costs_are_refused_in_averages_and_with_part_of_the_record_known():
    with pytest.raises(Misconfigured, match="there is a cost for tiem"):
        nw.expected({"time": nw.Normal(20, 5)}, "time within 2", costs={"tiem": nw.Cost(5.0)})
    with pytest.raises(Misconfigured, match="there is a cost for tiem"):
        nw.expected(nw.Normal(20, 5), "time within 2", costs={"tiem": nw.Cost(5.0)})
    records = nw.JointAtoms(["f", "t"], {("a", 1.0): 0.5, ("b", 2.0): 0.2, ("b", 3.0): 0.3})
    for costs in ({"tt": nw.Cost(0, 1)}, {"t": nw.Cost(0, 1), "ff": nw.Cost(0, 1)}):
        with pytest.raises(Misconfigured, match="there is a cost for"):
            nw.knowing_part(records, "t exactly", ["f"], costs=costs)


def test_two_costs_for_one_attribute_without_a_name_are_refused():
    with pytest.raises(Misconfigured, match="there is a cost for b, but the goal is about one attribute"):
        nw.guess(nw.Normal(20, 5), nw.Within(2), costs={"a": nw.Cost(1.0), "b": nw.Cost(1.0)})
    one = nw.guess(nw.Normal(20, 5), nw.Within(2), costs={"a": nw.Cost(1.0)}, victim=20)
    same = nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0, victim=20)
    assert one.after == pytest.approx(same.after, abs=1e-11)
    assert one.expected == pytest.approx(nw.expected(nw.Normal(20, 5), nw.Within(2), costs={"x": nw.Cost(1.0)}).after)


@pytest.mark.parametrize("costs", ["x", 3, [nw.Cost(1)], {"time": 3}])
def test_costs_are_a_mapping_to_costs(costs):
    for prior in ({"time": nw.Normal(20, 5)}, nw.Normal(20, 5)):
        with pytest.raises(Misconfigured, match="must be a"):
            nw.guess(prior, "time within 2", costs=costs)


def test_costs_of_independent_attributes_beside_the_goal_count_for_nothing():
    """Sets with gaps and repeated attributes refused the cost of another prior, with a false reason."""
    priors = {"a": nw.Atoms({1: 0.2, 2: 0.3, 5: 0.5}), "b": nw.Uniform(0, 1)}
    costs = {"a": nw.Cost(1.0), "b": nw.Cost(1.0)}
    for goal in ("a in {1, 5}", "a within 1 or a in {5}", "a in {1, 2}"):
        both = nw.guess(priors, goal, costs=costs)
        alone = nw.guess({"a": priors["a"]}, goal, costs={"a": costs["a"]})
        assert both.after == pytest.approx(alone.after, abs=1e-12)
        assert dict(both.costs) == costs


def test_odds_of_the_rarest_are_finite_or_infinite_never_an_error():
    from nowiser.guess.figures import odds_factor

    assert odds_factor(5e-324, 1 - 2.0**-53) == float("inf")
    assert odds_factor(1e-320, 0.5) == float("inf")
    assert odds_factor(1e-300, 1e-299) == pytest.approx(10)
    assert odds_factor(0.25, 0.5) == pytest.approx(3)


@pytest.mark.parametrize(
    "prior",
    [
        nw.Normal(20, 5),
        nw.Uniform(0, 50),
        nw.Mixture([(0.5, nw.Normal(0, 1)), (0.5, nw.Uniform(0, 2))]),
        nw.Atoms({1: 0.5, 200: 0.5}),
        nw.Truncated(nw.Normal(20, 5), 10, 30),
    ],
    ids=lambda p: type(p).__name__,
)
@pytest.mark.parametrize("slope", [3e99, 1e300])
def test_slopes_beyond_all_numbers_are_refused_by_name(prior, slope):
    for victim in (None, 1):
        with pytest.raises(Misconfigured, match="slope must be at most"):
            nw.guess(prior, nw.Within(2), slope=slope, victim=victim if not isinstance(prior, nw.Truncated) else 20)
    assert nw.guess(prior, nw.Within(0.3), slope=1e30).after == 1.0


@pytest.mark.parametrize("victim", [None, 20])
def test_slopes_beyond_all_numbers_are_refused_for_several_conditions_and_wide_priors(victim):
    with pytest.raises(Misconfigured, match="slope must be at most"):
        nw.guess(nw.Normal(20, 5), nw.Within(3) & nw.In.between(15, 22), slope=1e99, victim=victim)
    with pytest.raises(Misconfigured, match="slope must be at most"):
        nw.guess(nw.Normal(0, 1e200), nw.Within(1e150), slope=1e60, victim=victim)


def test_steep_costs_of_records_raise_no_warning():
    records = nw.JointAtoms(["x", "y"], {(1, 1): 0.5, (2, 2): 0.3, (5, 2): 0.2})
    for slope in (1e3, 1e4, 1e100):
        assert nw.guess(records, "x within 1", costs={"x": nw.Cost(slope), "y": nw.Cost(slope)}).after <= 1.0


@pytest.mark.parametrize(
    ("prior", "goal"),
    [
        (nw.Atoms({1: 0.5, 2: 0.5}), nw.In({1}) & nw.In({2})),
        (nw.Categories({"a": 0.5, "b": 0.5}), nw.In({"a"}) & nw.In({"b"})),
        (nw.Normal(0, 1), nw.In.between(0, 1) & nw.In.between(2, 3)),
    ],
)
def test_goals_that_contradict_themselves_are_never_met(prior, goal):
    with pytest.raises(Misconfigured, match="the goal is never met"):
        nw.guess(prior, goal, jump=1.0)


def test_a_victim_of_the_only_attribute_is_one_value():
    for victim in ({}, {"y": 1, "z": 5}):
        with pytest.raises(Misconfigured, match=f"victim must give one value, .* found {len(victim)}"):
            nw.guess(nw.Normal(0, 1), nw.Within(1), slope=1.0, victim=victim)


def test_victims_may_be_decimals_and_fractions_as_costs_may():
    same = nw.guess(nw.Normal(0, 1), nw.Within(1), slope=1.0, victim=0.5)
    for victim in (Decimal("0.5"), Fraction(1, 2)):
        assert nw.guess(nw.Normal(0, 1), nw.Within(1), slope=Decimal(1), victim=victim).after == same.after
    both = nw.guess({"t": nw.Normal(0, 1)}, "t within 1", costs={"t": nw.Cost(1)}, victim={"t": Decimal("0.5")})
    assert both.after == pytest.approx(same.after, abs=1e-11)
    assert nw.largest(nw.Normal(0, 1), nw.Within(1), gain=Decimal("0.05"), victim=0) == nw.largest(
        nw.Normal(0, 1), nw.Within(1), gain="5%", victim=0
    )
    with pytest.raises(Misconfigured, match="gain must be a percentage"):
        nw.largest(nw.Normal(0, 1), nw.Within(1), gain=Decimal("NaN"))


@pytest.mark.parametrize(
    ("prior", "goal", "victim"),
    [
        (nw.Categories({"soup": 0.3, "pasta": 0.7}), nw.In({"soup"}), "pizza"),
        (nw.Presence(0.5), nw.Present(), "abc"),
        (nw.Uniform(12, 28), nw.In.between(14, 16), 99),
    ],
)
def test_a_victim_is_possible_also_where_everybody_has_one_goal(prior, goal, victim):
    with pytest.raises(Misconfigured, match="victim must be"):
        nw.guess(prior, goal, jump=1.0, victim=victim)


def test_costs_below_all_digits_gain_nobody_any():
    for victim in (None, 20):
        found = nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=1e-320, victim=victim)
        assert 0 < found.gain < 1e-7


def test_exactly_needs_a_possible_value():
    with pytest.raises(Misconfigured, match=r"victim must be a possible value .* found 1\.5"):
        nw.guess(nw.Atoms({1: 0.5, 2: 0.5}), nw.Exactly(), jump=1.0, victim=1.5)
    assert nw.guess(nw.Atoms({1: 0.5, 2: 0.5}), nw.Exactly(), jump=1.0, victim=2).before == pytest.approx(
        0.5, abs=1e-12
    )


def test_nobody_is_called_true_when_nothing_is_known():
    found = nw.guess(nw.Unknown(), nw.Exactly(), jump=1.0)
    assert found.victim == "some value"
    assert nw.guess(nw.Unknown(), nw.Present("t"), jump=1.0).victim is True


@pytest.mark.parametrize(
    ("prior", "goal", "cost", "victim"),
    [
        (nw.Atoms({0: 0.2, 2: 0.3, 5: 0.5}), ~nw.Within(1), {"slope": 0.5}, 2),
        (nw.Atoms({0: 0.2, 2: 0.3, 5: 0.5}), ~nw.Within(1), {"slope": 0.5}, None),
        (nw.Atoms({0: 0.2, 2: 0.3, 5: 0.5}), ~nw.In.between(1, 3), {"slope": 0.5, "jump": 0.3}, None),
        (nw.Atoms({0: 0.2, 2: 0.3, 5: 0.5}), ~nw.Exactly(), {"jump": 0.3}, 0),
        (nw.Categories({"a": 0.3, "b": 0.7}), ~nw.Exactly(), {"jump": 1.0}, "a"),
        (nw.Categories({"a": 0.3, "b": 0.7}), nw.Exactly(), {"jump": 1.0}, "a"),
        (nw.Atoms({0: 0.2, 2: 0.3, 5: 0.5}), nw.Within(1), {"slope": 0.5, "jump": 0.3}, 2),
    ],
)
def test_replaying_the_witness_gives_after_also_for_what_is_denied(prior, goal, cost, victim):
    found = nw.guess(prior, goal, **cost, victim=victim)
    values = prior.labels if isinstance(prior, nw.Categories) else prior.values.tolist()
    weight = {v: found.witness.likelihood(v) * m for v, m in zip(values, prior.masses, strict=True)}
    right = sum(w for v, w in weight.items() if found.witness.contains(v))
    assert right / sum(weight.values()) == pytest.approx(found.after, abs=1e-6)
    assert found.witness.to_json()["complement"] == str(goal).startswith("not")
    assert found.witness.jump >= 0
