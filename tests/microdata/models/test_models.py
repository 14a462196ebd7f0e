"""The contract of every model in the folder, and the definitions by hand and by SQL."""

from itertools import combinations

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata import registry
from nowiser.microdata.groups.compound import Part
from nowiser.microdata.groups.groups import Groups, Target, groups_of, joint_name, merge, target_of
from nowiser.microdata.measure import risk
from nowiser.microdata.models import GroupModel, TableModel
from nowiser.microdata.models.gain import Gain, windows
from nowiser.microdata.models.population_uniqueness import ESTIMATORS, PopulationUniqueness
from nowiser.microdata.search.problem import failing
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from support.tables import problem_of, random_table

# a limit for every model that about half of random groups break, per option that carries it
LIMITS = {
    "k-anonymity": {"k": 4},
    "alpha-k-anonymity": {"alpha": 0.6, "k": 4},
    "blank-k-anonymity": {"k": 4},
    "k-map": {"k": 6},
    "k-map-estimate": {"k": 6, "fraction": 0.3, "error": 0.2},
    "km-anonymity": {"k": 3},
    "delta-presence": {"high": 0.6},
    "distinct-l-diversity": {"l": 3},
    "entropy-l-diversity": {"l": 2.2},
    "recursive-cl-diversity": {"c": 2.0, "l": 2},
    "t-closeness": {"t": 0.25},
    "delta-disclosure": {"delta": 0.9},
    "beta-likeness": {"beta": 0.8},
    "enhanced-beta-likeness": {"beta": 0.8},
    "highest-risk": {"risk": 0.25},
    "average-risk": {"risk": 0.05},
    "sample-uniqueness": {"share": 0.02},
    "population-uniqueness": {"share": 0.001, "people": 2000},
    "gain": {"gain": 0.2},
    "joint-gain": {"gain": 0.2, "goal": "s within 1 and not z exactly"},
}


def made(name, **more):
    cls = registry.models()[name]
    about = {"about": "s"} if "about" in cls.__dataclass_fields__ else {}
    return cls(**LIMITS[name], **about, **more)


def random_groups(seed, count=40):
    """Groups with a target whose prior is that of all of them together, and a population around them."""
    random = np.random.default_rng(seed)
    histogram = (random.integers(0, 6, (count, 4)) * (random.random((count, 4)) < 0.5)).astype(np.int32)
    histogram[histogram.sum(axis=1) == 0, 0] = 1
    totals = histogram.sum(axis=0).astype(np.int64)
    target = Target("s", ("0", "1", "2", "3"), np.arange(4.0), totals, None, ordered=True)
    size = histogram.sum(axis=1).astype(np.int64)
    codes = np.arange(count, dtype=np.int32)[:, None]
    people = size + random.integers(0, 10, count)
    labels, numbers = ("0", "1", "2", "3", None), np.array([0.0, 1, 2, 3, np.nan])
    parts = (
        Part("s", labels, numbers, np.arange(4)),
        Part("z", ("x", "y", None), np.full(3, np.nan), np.arange(4) % 2),
    )
    joint = Target(joint_name(("s", "z")), ("0x", "1y", "2x", "3y"), np.arange(4.0), totals, parts=parts)
    return Groups(codes, size, (histogram, histogram), (target, joint), people, int(size.sum()))


def variants():
    for name in sorted(registry.models()):
        yield pytest.param(name, {}, id=name)
    for distance in ("ordered",):
        yield pytest.param("t-closeness", {"distance": distance}, id=f"t-closeness {distance}")
    yield pytest.param("delta-disclosure", {"absent": True}, id="delta-disclosure absent")
    yield pytest.param("alpha-k-anonymity", {"among": ("0", "3")}, id="alpha-k among")
    yield pytest.param("gain", {"within": 1.0}, id="gain within")
    yield pytest.param("gain", {"among": ("0", "3")}, id="gain among")
    yield pytest.param("highest-risk", {"attacker": "journalist"}, id="highest-risk journalist")
    for attacker in ("journalist", "marketer"):
        yield pytest.param("average-risk", {"attacker": attacker}, id=f"average-risk {attacker}")


def test_every_model_has_a_limit_here():
    assert set(LIMITS) == set(registry.models())


@pytest.mark.parametrize(("name", "more"), list(variants()))
def test_a_model_keeps_its_contract(name, more):
    model = made(name, **more)
    assert isinstance(model, GroupModel | TableModel)
    broken = 0
    for seed in range(20):
        groups = random_groups(seed)
        value = model.value(groups)
        told = model.to_json(groups)
        assert told["model"] == name
        assert told["holds"] == model.holds(value)
        if model.scope == "group":
            bad = model.failing(groups)
            broken += int(bad.sum())
            left = groups.keep(~bad)
            if len(left):
                assert model.holds(model.value(left)), "what is left after suppression keeps the limit"
            assert bad.any() != model.holds(value), "the value is the worst group's"
            assert ((model.must_lose(groups) > 0) <= bad).all(), "only a failing group must lose rows"
        else:
            broken += not model.holds(value)
    assert broken, "a test that nothing breaks would show nothing"


@pytest.mark.parametrize(("name", "more"), list(variants()))
def test_what_a_model_says_about_unions_is_true(name, more):
    model = made(name, **more)
    if model.scope == "table":
        for seed in range(30):
            groups = random_groups(seed, 30)
            half = merge(groups, np.arange(30) // 2, 15, groups.codes[::2])
            if model.closed and model.holds(model.value(groups)):
                assert model.holds(model.value(half))
        return
    for seed in range(30):
        groups = random_groups(seed, 30)
        pairs = merge(groups, np.arange(30) // 2, 15, groups.codes[::2])
        fails, pair_fails = model.failing(groups), model.failing(pairs)
        first, second = fails[::2], fails[1::2]
        if model.closed:
            assert not (pair_fails & ~first & ~second).any()
        if model.upward:
            assert not (pair_fails & (~first | ~second)).any()
        lost = np.where(fails, groups.size, 0)
        assert (model.must_lose(pairs) * pairs.size <= lost[::2] + lost[1::2] + 1e-6).all()


def test_gain_holds_against_every_attacker_who_knows_any_subset():
    """Enumerated: every subset of quasi-identifiers, every combination of values, every guess."""
    for seed in range(25):
        random = np.random.default_rng(seed)
        table, specs = random_table(random, quasi=4, rows=120)
        problem = problem_of(table, specs, (), "loss", 0)
        groups = problem.base
        limit = Gain(about="s").value(groups)
        prior = np.bincount(table["s"].codes) / table.rows
        codes = np.stack([table[f"q{j}"].codes for j in range(4)], axis=1)
        worst = {}
        for m in range(5):
            worst[m] = 0.0
            for known in combinations(range(4), m):
                seen = codes[:, list(known)]
                for combination in {tuple(r) for r in seen.tolist()}:
                    rows = (seen == np.array(combination, dtype=np.int32)).all(axis=1)
                    after = np.bincount(table["s"].codes[rows], minlength=len(prior)) / rows.sum()
                    worst[m] = max(worst[m], float((after - prior).max()))
            assert worst[m] <= limit + 1e-12
            if m:
                assert Gain(about="s", knows=m).value(groups) == pytest.approx(worst[m], abs=1e-12)
        assert worst[4] == pytest.approx(limit, abs=1e-12)


def test_suppression_for_attackers_who_know_a_part_leaves_nobody_wiser():
    for seed in range(25):
        random = np.random.default_rng(seed)
        table, specs = random_table(random, quasi=3, rows=90)
        groups = problem_of(table, specs, (), "loss", 0).base
        model = Gain(about="s", gain=0.15, knows=2)
        left = groups.keep(~failing((model,), groups))
        if len(left):
            assert model.value(left) <= 0.15 + 1e-9


def test_gain_within_covers_guesses_that_nobody_has():
    """Values 0 and 20: the guess 10 is within 10 of both."""
    table = MicroTable.of([Column.of("q", ["a", "a", "b", "b", "b", "b"]), Column.of("s", [0, 20, 0, 50, 50, 50])])
    groups = groups_of(table, ["q"], [target_of(table, "s")])
    assert Gain(about="s", within=10.0).value(groups) == pytest.approx(1 - 3 / 6)


def test_windows_are_all_sets_a_guess_can_cover():
    random = np.random.default_rng(3)
    for _ in range(30):
        numbers = np.unique(np.round(random.uniform(0, 20, 7), 1))
        within = float(np.round(random.uniform(0.2, 5), 1))
        slow = {tuple(np.flatnonzero(np.abs(numbers - y) <= within + 1e-9)) for y in np.arange(-6, 26, 0.01)}
        first, last = windows(numbers, within)
        fast = {tuple(range(a, b)) for a, b in zip(first, last, strict=True)}
        assert slow - {()} <= fast


def test_the_values_of_adult_by_sex_and_race(real_data):
    found = risk(real_data("adult/adult.csv"), quasi=["sex", "race"], sensitive="occupation")
    expected = {
        "k-anonymity": 87,
        "distinct-l-diversity": 10,
        "t-closeness": 0.324962,
        "beta-likeness": 17.722533,
        "delta-disclosure": 3.132722,
        "recursive-cl-diversity": 10.25,
    }
    for model, value in expected.items():
        assert found.value(model) == pytest.approx(value, abs=1e-6), model


def test_population_uniques_of_a_known_population_are_estimated_within_reason():
    """Two thousand of twenty thousand people, who have 20000 / (1..) cells: estimators see the right size of risk."""
    random = np.random.default_rng(1)
    people = random.zipf(1.6, 20_000) % 4_000
    truth = float((np.bincount(people) == 1).sum()) / len(people)
    sample = random.choice(people, 4_000, replace=False)
    table = MicroTable.of([Column.of("q", [str(v) for v in sample])])
    groups = groups_of(table, ["q"])
    for estimator in ESTIMATORS:
        found = PopulationUniqueness(people=20_000, estimator=estimator).value(groups)
        assert truth / 4 < found < truth * 4, estimator


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("gain", {"gain": 1.5}, "between 0 and 100"),
        ("gain", {"gain": 0.1, "within": -1.0}, "negative"),
        ("gain", {"gain": 0.1, "knows": 0}, "at least 1"),
        ("delta-presence", {"high": 0.2, "low": 0.5}, "low"),
        ("recursive-cl-diversity", {"c": 2.0}, "needs l"),
        ("population-uniqueness", {"share": 0.1}, "people"),
    ],
)
def test_limits_that_make_no_sense_are_refused(name, options, words):
    with pytest.raises(Misconfigured, match=words):
        registry.models()[name](**options)
