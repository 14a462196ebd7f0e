"""Before → after: exact where it says so, and never exceeded by an attacker who is really run."""

import numpy as np
import pytest
from scipy.stats import norm

from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.correlated_noise import CorrelatedNoise
from nowiser.microdata.perturb.noise import AddNoise
from nowiser.microdata.perturb.pram import Pram
from nowiser.microdata.perturb.randomised_response import RandomisedResponse
from nowiser.microdata.perturb.rank_swap import RankSwap
from nowiser.microdata.perturb.record_swap import RecordSwap
from nowiser.microdata.perturb.resample import Resample
from nowiser.microdata.perturb.sample import Sample
from nowiser.microdata.perturb.shuffle import Shuffle
from nowiser.microdata.risk.best_guess import Goal, best_window, best_windows, clopper_pearson
from nowiser.microdata.risk.guessing import FOUND, guesses
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

EXACTLY = "knows the quasi-identifiers exactly"
ROUGHLY = "knows the quasi-identifiers roughly"
NOTHING = "knows no quasi-identifier"


def people(rows=3000, seed=0):
    random = np.random.default_rng(seed)
    age = random.integers(20, 60, rows)
    return MicroTable.of(
        [
            Column.of("age", age.tolist()),
            Column.of("region", random.choice(list("abcd"), rows).tolist()),
            Column.of_numbers("income", random.normal(3000 + 20 * age, 600)),
            Column.of("illness", random.choice(["none", "flu", "asthma"], rows, p=[0.6, 0.3, 0.1]).tolist()),
        ]
    )


def run_of(table, seed=0, sensitive=("income",)):
    return Run(Roles(("age", "region"), sensitive), table, random=np.random.default_rng(seed))


def by_attacker(step):
    return {g.attacker: g for g in step.guesses}


def test_the_best_window_is_the_best_of_all_windows():
    random = np.random.default_rng(0)
    for _ in range(200):
        points = np.sort(random.integers(0, 30, random.integers(1, 12))).astype(float)
        mass = random.random(len(points))
        r = float(random.integers(0, 8))
        centre, held = best_window(points, mass, r)
        brute = max(mass[(points >= lo) & (points <= lo + 2 * r)].sum() for lo in points)
        assert held == pytest.approx(brute)
        assert mass[np.abs(points - centre) <= r + 1e-9].sum() == pytest.approx(held)
        assert best_windows(points, mass[None], r)[1][0] == pytest.approx(held)


def test_clopper_pearson_covers():
    assert clopper_pearson(0, 10)[0] == 0
    assert clopper_pearson(10, 10)[1] == 1
    assert clopper_pearson(5, 10) == (pytest.approx(0.1870860), pytest.approx(0.8129140))


def test_randomised_response_is_bayes_by_hand():
    table = MicroTable.of([Column.of("v", ["yes"] * 300 + ["no"] * 700)])
    run = Run(Roles((), ("v",)), table, random=np.random.default_rng(0))
    told = by_attacker(RandomisedResponse("v", keep=0.5).apply(table, run))[FOUND]
    assert told.before == pytest.approx(0.7)
    # answers: yes with .3·.75 + .7·.25, of which the better guess is right with max(.225, .175); no: max(.075, .525)
    assert told.after == pytest.approx(0.225 + 0.525)
    assert told.how == "Bayes"


def test_normal_noise_on_a_normal_column_is_bayes_in_closed_form():
    random = np.random.default_rng(0)
    table = MicroTable.of([Column.of_numbers("v", random.normal(0, 10, 60_000))])
    step = AddNoise("v", scale=5.0).apply(table, Run(Roles(()), table, random=random))
    from nowiser.microdata.risk.channel import Noise

    channel = Noise("normal", np.array([5.0]), strata=np.zeros(60_000, dtype=np.int64))
    told = guesses(table, step.table, (), "v", channels={"v": channel}, goal=Goal("v", 2.0))[0]
    spread = np.sqrt(1 / (1 / 100 + 1 / 25))
    assert told.before == pytest.approx(2 * norm.cdf(0.2) - 1, abs=0.01)
    assert told.after == pytest.approx(2 * norm.cdf(2 / spread) - 1, abs=0.01)


METHODS = [
    (AddNoise("income", share=0.5), "income"),
    (AddNoise("income", share=0.3, shape="laplace"), "income"),
    (CorrelatedNoise(["income", "age"], amount=0.5), "income"),
    (RankSwap("income", within=0.2), "income"),
    (Shuffle("income"), "income"),
    (Resample("income"), "income"),
    (Sample(0.3), "income"),
    (Pram("illness", keep=0.7), "illness"),
    (Pram("illness", keep=0.5, strata="region"), "illness"),
    (Pram(["illness", "region"], keep=0.5, joint=True), "illness"),
    (RandomisedResponse("illness", keep=0.4), "illness"),
    (RecordSwap("region", match="age", share=0.3), "income"),
    (RecordSwap("illness", share=0.4), "illness"),
]


def attack(table, released, rows_of, goal, prior_best):
    """A plain attacker, written anew: he looks at the candidate rows and guesses what most of them show."""
    right = 0
    column = goal.column
    true = table[column]
    labels = np.array([*released[column].labels, ""], dtype=object)[released[column].codes]
    truth = np.array([*true.labels, ""], dtype=object)[true.codes]
    for victim, rows in rows_of:
        if goal.within is None:
            if not len(rows):
                right += truth[victim] == prior_best
                continue
            names, counts = np.unique(labels[rows].astype(str), return_counts=True)
            right += str(truth[victim]) == names[np.argmax(counts)]
        else:
            values = np.sort(released[column].numbers[rows])
            guess = best_window(values, np.ones(len(values)), goal.within)[0] if len(values) else prior_best
            right += abs(true.numbers[victim] - guess) <= goal.within
    return right


@pytest.mark.parametrize(("method", "column"), METHODS, ids=lambda v: getattr(v, "name", v))
def test_no_plain_attacker_beats_the_printed_figures(method, column):
    table = people()
    run = run_of(table, sensitive=(column,))
    step = method.apply(table, run)
    told = by_attacker(step)
    assert {FOUND, EXACTLY, ROUGHLY, NOTHING} <= set(told)
    assert all(g.after >= g.before - 1e-12 for g in step.guesses)
    assert told[NOTHING].after <= told[ROUGHLY].after <= told[EXACTLY].after

    numeric = table[column].is_numeric
    goal = Goal(column, told[FOUND].within)
    random = np.random.default_rng(9)
    victims = random.choice(table.rows, 800, replace=False)
    own = np.full(table.rows, -1)
    own[step.table.origin] = np.arange(step.table.rows)
    names = [q for q in ("age", "region") if q != column]
    key = list(zip(*(np.array([str(x) for x in step.table[q].to_arrow().to_pylist()]) for q in names), strict=True))
    known = list(zip(*(np.array([str(x) for x in table[q].to_arrow().to_pylist()]) for q in names), strict=True))
    places = {}
    for i, k in enumerate(key):
        places.setdefault(k, []).append(i)
    best = best_window(np.sort(table[column].numbers), np.ones(table.rows), goal.within)[0] if numeric else "none"
    found_rows = [(v, np.array([own[v]])) for v in victims if own[v] >= 0]
    like_rows = [(v, np.array(places.get(known[v], []), dtype=int)) for v in victims]
    for attacker, rows in ((FOUND, found_rows), (EXACTLY, like_rows)):
        low, _ = clopper_pearson(attack(table, step.table, rows, goal, best), len(rows), 0.9999)
        ceiling = told[attacker].high if told[attacker].high is not None else told[attacker].after
        assert low <= ceiling + 0.01, (attacker, low, told[attacker])


@pytest.mark.parametrize(
    "method",
    [
        AddNoise("income", share=0.5),
        CorrelatedNoise("income", amount=0.5),
        Pram("illness", keep=0.6),
        RankSwap("income", within=0.3),
    ],
)
def test_the_bayes_attacker_really_reaches_what_is_printed(method):
    """Calibration: over the release, the guess of highest belief is right as often as the belief says."""
    column = "illness" if isinstance(method, Pram) else "income"
    table = people(rows=6000)
    step = method.apply(table, run_of(table, sensitive=(column,)))
    told = by_attacker(step)[FOUND]
    if column == "illness":
        P = np.array(step.codebook["columns"]["illness"]["matrices"][0])
        prior = np.bincount(table["illness"].codes) / table.rows
        guess = np.argmax(prior[:, None] * P, axis=0)[step.table["illness"].codes]
        right = guess == table["illness"].codes
    else:
        from nowiser.microdata.risk.belief import believe
        from nowiser.microdata.risk.channel import Noise, Ranks

        zeros = np.zeros(table.rows, dtype=np.int64)
        if isinstance(method, RankSwap):
            channel = Ranks(np.array([int(0.3 * table.rows)]), zeros)
        elif isinstance(method, AddNoise):
            channel = Noise("normal", np.array([0.5 * table["income"].numbers.std(ddof=1)]), strata=zeros)
        else:
            spread, f = table["income"].numbers.std(ddof=1), 1 / np.sqrt(1.5)
            centre = np.array([table["income"].numbers.mean()])
            channel = Noise("normal", np.array([f * np.sqrt(0.5) * spread]), np.array([f]), centre, zeros)
        goal = Goal("income", told.within)
        belief = believe(table["income"], step.table["income"], channel, goal)
        guess, _ = belief.guesses(np.arange(table.rows))
        right = np.abs(table["income"].numbers - guess) <= goal.within
    low, high = clopper_pearson(int(right.sum()), table.rows, 0.9999)
    assert low - 0.01 <= told.after <= high + 0.01


def test_generalised_groups_are_counted():
    """Recoding by a rule: the attacker applies the rule to what he knows and finds his victim's group."""
    table = MicroTable.of([Column.of("age", [21, 22, 23, 31, 32, 33]), Column.of("ill", list("aaabcd"))])
    coarse = table.with_columns(Column.of("age", ["20s"] * 3 + ["30s"] * 3))
    told = {g.attacker: g for g in guesses(table, coarse, ("age",), "ill")}
    assert told[EXACTLY].before == pytest.approx(0.5)
    assert told[EXACTLY].after == pytest.approx((3 + 1) / 6)
    assert told[EXACTLY].how == "enumerated"


def test_a_large_homogeneous_group_is_seen_through_pram():
    """Everyone of region a is ill: PRAM hides a row, not the group, and the attacker knows it."""
    table = MicroTable.of(
        [
            Column.of("region", ["a"] * 1000 + ["b"] * 1000),
            Column.of("ill", ["yes"] * 1000 + ["no", "yes", "no", "no"] * 250),
        ]
    )
    run = Run(Roles(("region",), ("ill",)), table, random=np.random.default_rng(0))
    told = by_attacker(Pram("ill", keep=0.6, invariant=False).apply(table, run))
    assert told[EXACTLY].after == pytest.approx((1000 + 750) / 2000, abs=0.02)


def test_perturbed_quasi_identifiers_hide_the_row():
    table = people()
    plain = {g.attacker: g for g in guesses(table, table, ("age", "region"), "income")}
    step = RankSwap(["age", "income"], within=0.3).apply(table, run_of(table))
    assert by_attacker(step)[EXACTLY].after < plain[EXACTLY].after - 0.05


def test_noise_on_dependent_columns_is_read_across_the_row():
    """Ten copies of one number, each with its own noise: their average gives it away."""
    random = np.random.default_rng(0)
    truth = random.normal(0, 10, 3000)
    table = MicroTable.of(Column.of_numbers(f"x{j}", truth + 0.01 * random.normal(size=3000)) for j in range(10))
    run = Run(Roles((), ("x0",)), table, random=random)
    alone = by_attacker(
        AddNoise("x0", share=1.0).apply(
            MicroTable.of([table["x0"]]), Run(Roles((), ("x0",)), MicroTable.of([table["x0"]]), random=random)
        )
    )[FOUND]
    across = by_attacker(AddNoise([f"x{j}" for j in range(10)], share=1.0).apply(table, run))[FOUND]
    assert across.how == "simulated"
    assert across.after > alone.after + 0.1
    averaged = np.mean(
        [AddNoise([f"x{j}"], share=1.0).apply(table, run).table[f"x{j}"].numbers for j in range(10)], axis=0
    )
    spread = across.within
    shrunk = averaged * 100 / (100 + 10)
    assert across.after >= (np.abs(shrunk - truth) <= spread).mean() - 0.04


def test_values_that_did_not_move_are_known():
    table = people()
    step = AddNoise("income", share=1.0, only="outliers", beyond=2.5).apply(table, run_of(table))
    assert by_attacker(step)[FOUND].after > 0.95
