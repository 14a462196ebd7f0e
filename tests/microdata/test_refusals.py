"""Bad input for every step, for `risk` and for `compare`: refused by name, and nothing is written."""

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata.prepare import generator
from support.seeds import seed as seeded

MATRIX = {"flu": {"flu": 1.0}, "none": {"none": 1.0}, "cold": {"cold": 1.0}}


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(3)
    income = random.normal(3000, 500, 60)
    return pd.DataFrame(
        {
            "age": random.integers(20, 30, 60),
            "ill": random.choice(["flu", "none", "cold"], 60),
            "income": income,
            "twice": 2 * income + 1,
            "gaps": np.where(np.arange(60) == 3, np.nan, income),
            "flat": 7,
            "gone": np.full(60, np.nan),
            "words": np.where(np.arange(60) % 2, "12", "a b"),
            "endless": np.where(np.arange(60) == 5, np.inf, income),
            "debt": random.integers(-1, 5, 60),
        }
    )


STEPS = [
    ({"noise": {"columns": "flat"}}, "noise: column 'flat' is constant"),
    ({"noise": {"columns": "gone"}}, "noise: column 'gone' has no values"),
    ({"noise": {"columns": "words"}}, "noise: column 'words' must hold numbers; other values in 30 rows of 60"),
    ({"noise": {"columns": "endless"}}, "noise: column 'endless' has infinite values"),
    ({"noise": {"columns": "nope"}}, "noise: the table has no column 'nope'"),
    ({"correlated_noise": {"columns": ["income", "flat"]}}, "correlated_noise: column 'flat' is constant"),
    ({"correlated_noise": {"columns": ["income", "twice"]}}, "singular: 'income', 'twice' determine one another"),
    ({"correlated_noise": {"columns": ["income", "gaps"]}}, r"missing values in 'gaps' \(1 row\)"),
    ({"rank_swap": {"columns": "flat"}}, "rank_swap: column 'flat' is constant"),
    ({"rank_swap": {"columns": "gone"}}, "rank_swap: column 'gone' has no values"),
    ({"record_swap": {"swap": "flat"}}, "record_swap: column 'flat' is constant"),
    ({"shuffle": {"columns": "flat"}}, "shuffle: column 'flat' is constant"),
    ({"shuffle": {"columns": "income", "given": ["income"]}}, "shuffle: 'income' cannot be both"),
    ({"resample": {"columns": "flat"}}, "resample: column 'flat' is constant"),
    ({"resample": {"columns": "income", "given": ["income"]}}, "resample: 'income' cannot be both"),
    ({"microaggregation": {"columns": ["flat"]}}, "microaggregation: column 'flat' is constant"),
    ({"microaggregation": {"columns": ["income"], "k": 100}}, "60 rows has no group of k = 100"),
    ({"pram": {"columns": "flat"}}, "pram: column 'flat' is constant"),
    ({"pram": {"columns": "gone"}}, "pram: column 'gone' has no values"),
    ({"pram": {"columns": "ill", "matrix": {"ill": {"flu": {"flu": 1}}}}}, "no row for 2 categories"),
    (
        {"pram": {"columns": "ill", "matrix": {"ill": MATRIX | {"flu": {"flu": 0.5, "none": 0.4}}}}},
        "pram: the matrix of 'ill': rows must sum to 1; 'flu' sums to 0.9",
    ),
    (
        {"pram": {"columns": "ill", "matrix": {"ill": MATRIX | {"flu": {"flu": 1.5, "none": -0.5}}}}},
        "'flu' → 'flu' is 1.5, 'flu' → 'none' is -0.5",
    ),
    ({"private_noise": {"table": "t", "column": "age", "low": 0, "high": 9, "scale": 0}}, "private_noise: scale must"),
]


@pytest.mark.parametrize(("step", "said"), STEPS, ids=[str(s) for s, _ in STEPS])
def test_a_step_that_cannot_be_done_is_named_and_leaves_nothing(frame, tmp_path, step, said):
    with pytest.raises(Misconfigured, match=said):
        nw.publish(frame, quasi=["age"], sensitive=["ill"], steps=[step], seed=seeded(1), output=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


ROLES = [
    ({"weight": "debt"}, "weights 'debt' must be positive"),
    ({"weight": "words"}, "weight: column 'words' must hold numbers"),
    ({"weight": "gone"}, "weight: column 'gone' has no values"),
    ({"weight": "nope"}, "weight: the table has no column 'nope'"),
    ({"household": "nope"}, "household: the table has no column 'nope'"),
]


@pytest.mark.parametrize(("roles", "said"), ROLES, ids=str)
def test_weights_and_households_are_checked_by_every_command(frame, roles, said):
    recipe = {"quasi": ["age"], "sensitive": ["ill"], "steps": [{"pram": {"columns": "ill"}}], **roles}
    with pytest.raises(Misconfigured, match=said):
        nw.publish(frame, recipe=recipe)
    with pytest.raises(Misconfigured, match=said):
        nw.risk(frame, quasi=["age"], **roles)
    with pytest.raises(Misconfigured, match=said):
        nw.compare(frame, frame, quasi=["age"], **roles)


def test_strata_and_targets_that_are_not_there_are_refused(frame):
    with pytest.raises(Misconfigured, match="strata: the table has no column 'nope'"):
        nw.publish(frame, recipe={"quasi": ["age"], "strata": ["nope"], "steps": [{"pram": {"columns": "ill"}}]})
    with pytest.raises(Misconfigured, match="no column 'nope'"):
        nw.compare(frame, frame, target="nope")


@pytest.mark.parametrize("step", [{"shuffle": {"columns": "income"}}, {"rank_swap": {"columns": "income"}}], ids=str)
def test_a_column_whose_rows_changed_places_is_changed_and_so_released(frame, step):
    made = nw.publish(frame, quasi=["age"], steps=[step], seed=seeded(1))
    assert made.table.names == ("age", "income")
    assert sorted(made.to_pandas()["income"]) == sorted(frame["income"])


def test_noise_that_repeats_the_data_is_refused():
    """Data drawn with the seed of the noise: their residual would be nothing but rounding."""
    values = generator(seeded(5)).standard_normal((2, 400))
    table = pd.DataFrame({"x": values[0], "y": values[1] + values[0]})
    with pytest.raises(Misconfigured, match="combination of the data"):
        nw.publish(table, steps=[{"correlated_noise": {"columns": ["x", "y"]}}], seed=seeded(5))


def test_several_columns_in_one_text_are_named_as_a_list(frame):
    with pytest.raises(Misconfigured, match=r"Several columns are a list: \['age', 'debt'\]"):
        nw.publish(frame, quasi="age, debt", sensitive="ill", k=2)
