import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from nowiser.errors import Misconfigured
from nowiser.microdata.perturb import exact_transition
from nowiser.microdata.perturb.private import PrivateNoise, PrivatePram, PrivateResponse
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.charge import PICO, Account
from nowiser.noise.entropy import OS
from support.commands import nowiser
from support.seeds import seed as seeded


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 40), st.floats(1e-3, 20))
def test_randomised_response_never_costs_more_than_asked(size, jump):
    W = exact_transition.response(size, Fraction(jump))
    assert (W.sum(axis=1) == exact_transition.ONE).all()
    worst = max(Fraction(int(W[i, y]), int(W[j, y])) for i, j, y in itertools.product(range(min(size, 4)), repeat=3))
    assert math.log(worst) <= jump
    assert math.log(worst) >= jump * 0.999 - 1e-6  # nor wastes much of it
    assert exact_transition.cost(W, column="v") >= math.log(worst) * PICO


def test_draws_have_exactly_these_chances():
    W = exact_transition.response(3, Fraction(1))
    drawn = exact_transition.draw(np.zeros(100_000, dtype=np.int64), W, OS)
    seen = np.bincount(drawn, minlength=3)
    assert stats.chisquare(seen, W[0] / exact_transition.ONE * 1e5).pvalue > 1e-7
    for wrong in (Fraction(13, 10), Fraction(7, 10)):
        other = exact_transition.response(3, wrong)[0] / exact_transition.ONE * 1e5
        assert stats.chisquare(seen, other).pvalue < 1e-7


def test_the_charge_of_a_response_goes_to_the_attribute(run):
    table = MicroTable.of([Column.of("v", ["a", "b"] * 500)])
    method = PrivateResponse("visits", "v", ["a", "b", "c"], jump=1.0, rows_per_person=2)
    step = method.apply(table, run(table, sensitive=("v",)))
    amount = step.charge[Account("jump", ("visits.v",))]
    assert 2 * 0.999 * PICO < amount <= 2 * PICO * (1 + 1e-11) + 4
    (bound,) = step.guesses
    assert bound.after - bound.before == pytest.approx(math.tanh(2 / 4), abs=1e-9)


def test_no_prior_and_no_output_beats_the_ceiling():
    W = exact_transition.response(3, Fraction(1)) / exact_transition.ONE
    gain = math.tanh(1 / 4)
    for p in np.linspace(0.01, 0.98, 60):
        prior = np.array([p, (1 - p) / 2, (1 - p) / 2])
        post = prior[:, None] * W / (prior @ W)
        assert (post - prior[:, None]).max() <= gain + 1e-12
    two = exact_transition.response(2, Fraction(1)) / exact_transition.ONE
    worst = 1 / (1 + math.exp(0.5))
    assert worst * two[0, 0] / (worst * two[0, 0] + (1 - worst) * two[1, 0]) - worst == pytest.approx(gain, abs=1e-6)


def test_what_is_printed_does_not_depend_on_the_data(run):
    """The codebook is published: only the released values themselves may depend on the column."""
    tables = [MicroTable.of([Column.of("v", ["a", "b"] * 50)]), MicroTable.of([Column.of("v", ["a"] * 99 + ["b"])])]
    steps = [PrivateResponse("t", "v", ["a", "b"], jump=1.0).apply(t, run(t, sensitive=("v",))) for t in tables]
    assert steps[0].guesses == steps[1].guesses
    for step in steps:  # the estimates are computed from what was released
        released = np.bincount(step.table["v"].codes, minlength=2)
        P = np.array(step.codebook["matrix"])
        assert step.codebook["estimated frequencies"] == pytest.approx(np.linalg.solve(P.T, released))


def test_a_matrix_pays_for_its_largest_ratio(run):
    table = MicroTable.of([Column.of("v", ["a", "b"] * 5)])
    matrix = {"a": {"a": 0.75, "b": 0.25}, "b": {"a": 0.25, "b": 0.75}}
    step = PrivatePram("t", "v", matrix).apply(table, run(table))
    assert step.charge[Account("jump", ("t.v",))] == pytest.approx(math.log(3) * PICO, rel=1e-9)
    with pytest.raises(Misconfigured, match="rule a category out"):
        PrivatePram("t", "v", {"a": {"a": 1.0}, "b": {"a": 0.5, "b": 0.5}}).apply(table, run(table))


def test_noise_is_laplace_of_the_stated_scale_and_costs_slope(run):
    table = MicroTable.of([Column.of("v", [30] * 40_000)])
    step = PrivateNoise("t", "v", 0, 60, scale=5).apply(table, run(table))
    noise = step.table["v"].numbers - 30
    assert noise.std() == pytest.approx(5 * math.sqrt(2), rel=0.05)
    assert abs(noise.mean()) < 0.25
    assert step.charge[Account("slope", ("t.v",))] == PICO // 5
    assert step.charge[Account("jump", ("t.v",))] == 0
    for wrong in (3.5, 6.5):
        assert abs(noise.std() / (wrong * math.sqrt(2)) - 1) > 0.05


def test_a_real_column_pays_for_its_rounding(run):
    table = MicroTable.of([Column.of("v", [1.26, 7.3])])
    step = PrivateNoise("t", "v", 0, 10, scale=2, grid=0.5).apply(table, run(table))
    assert step.charge[Account("slope", ("t.v",))] == PICO // 2
    assert step.charge[Account("jump", ("t.v",))] == PICO // 4
    assert all(float(v) % 0.5 == 0 for v in step.table["v"].numbers)


def test_it_cannot_be_seeded(run):
    table = MicroTable.of([Column.of("v", list(range(200)))])
    method = PrivateNoise("t", "v", 0, 200, scale=10)
    releases = [method.apply(table, run(table, seed=3)).table["v"].numbers.tolist() for _ in range(2)]
    assert releases[0] != releases[1]


def test_values_are_clipped_to_the_stated_range_and_clamped_if_asked(run):
    table = MicroTable.of([Column.of("v", [-1000, 1000] * 200)])
    step = PrivateNoise("t", "v", 0, 10, scale=1, clamp=True).apply(table, run(table))
    assert step.table["v"].numbers.min() >= 0
    assert step.table["v"].numbers.max() <= 10


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (PrivateNoise("t", "v", 0, 10, scale=0), "scale"),
        (PrivateNoise("t", "v", 10, 0, scale=1), "low must be below high"),
        (PrivateNoise("t", "v", 0.5, 10, scale=1), "multiples of grid"),
        (PrivateNoise("t", "v", 0, 10, scale=1, rows_per_person=0), "rows_per_person"),
        (PrivateNoise("t", "gap", 0, 10, scale=1), "missing"),
        (PrivateResponse("t", "v", [1, 2, 3], jump=-1), "jump"),
        (PrivateResponse("t", "v", [1], jump=1), "two different"),
        (PrivateResponse("t", "v", [1, 5], jump=1), "2 rows"),
        (PrivateResponse("t", "v", [1, 2, 3], jump=99), "at most 30"),
        (PrivateResponse("t", "v", [1, 2, 3], jump=1, rows_per_person=0), "rows_per_person"),
    ],
)
def test_bad_input_is_refused(run, method, words):
    table = MicroTable.of([Column.of("v", [1, 2, 3]), Column.of("gap", [1, None, 2])])
    with pytest.raises(Misconfigured, match=words):
        method.apply(table, run(table))


POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    protect: values
    columns:
      id: identifier
      sex: {public: [f, m]}
      ill: {sensitive: {values: [flu, none]}, nullable: false}
attackers:
  - {guess: people.ill exactly, gain: 30%}
"""
RECIPE = """
quasi: {sex: }
sensitive: {ill: }
identifiers: [id]
steps:
  - private_response: {table: people, column: ill, among: [flu, none], jump: JUMP}
"""


@pytest.fixture
def custodian(tmp_path):
    rows = [f"{i},{'fm'[i % 2]},{('flu', 'none', 'none')[i % 3]}" for i in range(300)]
    (tmp_path / "people.csv").write_text("id,sex,ill\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def test_the_cost_stands_in_the_same_ledger_as_the_answers(custodian):
    (custodian / "recipe.yaml").write_text(RECIPE.replace("JUMP", "0.5"), encoding="utf-8")
    done = nowiser(custodian, "publish", "-p", "nowiser.yaml", "--recipe", "recipe.yaml", "-o", "out.csv")
    assert done.returncode == 0, done.stderr
    account = json.loads(nowiser(custodian, "ledger", "--json").stdout)
    entry = account["entries"][-1]
    assert entry["kind"] == "publication"
    assert entry["cost"]["jump(people.ill)"] == pytest.approx(0.5, abs=1e-9)
    assert account["left"] < 1


def test_a_release_is_judged_together_with_what_was_answered(custodian):
    (custodian / "recipe.yaml").write_text(RECIPE.replace("JUMP", "0.5"), encoding="utf-8")
    nowiser(custodian, "publish", "-p", "nowiser.yaml", "--recipe", "recipe.yaml", "-o", "out.csv", "--keep-order")
    options = ("--quasi", "sex", "--sensitive", "ill", "-p", "nowiser.yaml", "--json")
    done = nowiser(custodian, "compare", "people.csv", "out.csv", *options)
    told = {g["attacker"]: g for g in json.loads(done.stdout)["guesses"]}
    alone = told["has found the victim's row"]
    both = told["has found the victim's row, and has the answers given so far"]
    odds = (
        alone["high"] / (1 - alone["high"]) * math.exp(2 * 0.5)
    )  # given rows, another value of hers is another person's too
    assert both["after"] == pytest.approx(odds / (1 + odds), rel=1e-6)
    assert both["how"] == "bound"


def test_the_codebook_says_nothing_about_true_values_of_a_private_column(tmp_path):
    """Two tables that differ in the private column only: what is published besides the rows differs in nothing else."""
    from nowiser.microdata.publish import publish

    books = []
    for turn in (0, 1):
        rows = {
            "sex": ["f", "m"] * 100,
            "ill": [("flu", "none")[(i // 2 + turn * (i % 7 == 0)) % 2] for i in range(200)],
            "job": [("a", "b")[i // 4 % 2] for i in range(200)],
        }
        steps = [
            {"private_response": {"table": "t", "column": "ill", "among": ["flu", "none"], "jump": 1.0}},
            {"pram": {"columns": ["job"], "keep": "90%"}},
        ]
        options = {"quasi": ["sex"], "sensitive": ["ill", "job"], "steps": steps, "seed": seeded(3)}
        made = publish(
            MicroTable.of([Column.of(n, v) for n, v in rows.items()]), **options, output=tmp_path / f"{turn}.csv"
        )
        assert {g.how for g in made.chosen.guesses} > {"bound"}  # the custodian's report says more
        books.append(json.loads((tmp_path / f"{turn}.codebook.json").read_text(encoding="utf-8")))
        assert "For the custodian only" in (tmp_path / f"{turn}.report.html").read_text(encoding="utf-8")
    for book in books:
        assert {g["how"] for g in book["guesses"]} <= {"bound", "counted"}
        assert [g["how"] for g in book["guesses"] if g["column"] == "ill"] == ["bound"]
    assert books[0]["guesses"][0] == books[1]["guesses"][0]
