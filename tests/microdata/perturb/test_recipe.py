"""Every method is a step of a recipe, by its name, with plain values, reproducibly unless it is private."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import yaml

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata import registry
from nowiser.model.charge import Account
from support.seeds import seed as seeded

STEPS = {
    "noise": "{columns: income, share: 0.3}",
    "correlated_noise": "{columns: [income, age], amount: 0.2, covariance: unbiased}",
    "rank_swap": "{columns: [income], within: 0.1}",
    "record_swap": "{swap: region, match: [sex], share: 0.2}",
    "pram": "{columns: ill, keep: 0.7}",
    "randomised_response": "{columns: [ill], keep: 0.5, among: {ill: ['yes', 'no', unsure]}}",
    "shuffle": "{columns: income, given: [age]}",
    "resample": "{columns: income, model: copula, given: [age, region]}",
    "sample": "{share: 0.5}",
    "private_noise": "{table: people, column: age, low: 0, high: 120, scale: 4}",
    "private_response": "{table: people, column: ill, among: ['yes', 'no'], jump: 1.5}",
    "private_pram": "{table: people, column: ill, matrix: {'yes': {'yes': 0.8, 'no': 0.2}, 'no': {'yes': 0.2, 'no': 0.8}}}",
}
PRIVATE = {"private_noise", "private_response", "private_pram"}


def people(rows=240):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, rows),
            "sex": random.choice(["f", "m"], rows),
            "region": random.choice(["a", "b", "c"], rows),
            "income": random.gamma(2, 1000, rows).round(2),
            "ill": random.choice(["yes", "no"], rows),
        }
    )


def test_no_method_is_forgotten():
    here = {n for n, m in registry.methods().items() if ".perturb." in m.__module__}
    assert here == set(STEPS)


def release(frame, name, seed=3):
    step = {name: yaml.safe_load(STEPS[name])}
    options = {"quasi": ["age", "sex", "region"], "sensitive": ["income", "ill"], "steps": [step], "seed": seeded(seed)}
    return nw.publish(frame, **options)


def rows(made):
    """The rows in no order: they are written in a random one, seed or no seed."""
    return sorted(map(str, made.to_arrow().to_pylist()))


@pytest.mark.parametrize("name", STEPS)
def test_the_step_runs_is_reproducible_and_says_what_it_did(name):
    made = release(people(), name)
    step = made.chosen.steps[-1]
    assert step.method == name
    json.dumps(made.to_json(), allow_nan=False)
    if name in PRIVATE:  # a ceiling that does not depend on the data
        assert {g.how for g in step.guesses} == {"bound"}
    else:
        assert {g.column for g in step.guesses} == {"income", "ill"}
    assert step.table.names[:5] == ("age", "sex", "region", "income", "ill")
    same = rows(made) == rows(release(people(), name))
    assert same != (name in PRIVATE)
    assert bool(step.charge) == (name in PRIVATE)
    if name not in PRIVATE:
        assert rows(made) != rows(release(people(), name, seed=4))


def test_polars_gives_the_same_release_as_pandas():
    frame = people()
    assert rows(release(frame, "noise")) == rows(release(pl.from_pandas(frame), "noise"))


def test_charges_of_private_steps_name_the_policys_attribute():
    step = release(people(), "private_noise").chosen.steps[-1]
    assert step.charge[Account("slope", ("people.age",))] == 250_000_000_000


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"noise": {"columns": "income", "strength": 2}}, "strength"),
        ({"pram": {"columns": "ill", "keep": "much"}}, "keep"),
        ({"pram": {"columns": "ill", "matrix": {"ill": {"yes": {"yes": 1.0}}}}}, "no row for 1"),
        ({"noise": {"columns": "ill"}}, "numbers"),
        ({"shuffle": {"columns": "nowhere"}}, "nowhere"),
    ],
)
def test_a_bad_step_is_refused_and_nothing_is_written(tmp_path, step, words):
    with pytest.raises(Misconfigured, match=words):
        nw.publish(people(), quasi=["age"], sensitive="ill", steps=[step], output=tmp_path / "out.csv", keep=["income"])
    assert not list(tmp_path.iterdir())
