"""Figures are about the table that is written, whatever steps came before."""

import numpy as np
import pandas as pd
import pytest

import nowiser as nw

EXACTLY, NOTHING = "knows the quasi-identifiers exactly", "knows no quasi-identifier"


@pytest.fixture
def people():
    random = np.random.default_rng(0)
    zips = [f"{i:04d}" for i in range(400)]
    return pd.DataFrame({"zip": zips, "ill": random.choice(["no", "flu", "hiv"], 400, p=[0.5, 0.4, 0.1])})


def test_a_row_that_generalising_hides_is_not_said_to_be_found(people):
    """Every zip is unique: before generalise the attacker finds her row, after it he finds nothing."""
    steps = [{"pram": {"columns": "ill", "keep": 0.9}}, {"generalise": {"levels": {"zip": 4}}}]
    made = nw.publish(people, quasi={"zip": "prefix"}, sensitive="ill", k=5, steps=steps)
    told = {g.attacker: g for g in made.chosen.guesses}
    out = made.to_pandas()
    assert set(out["zip"]) == {out["zip"][0]}
    commonest = out["ill"].value_counts().idxmax()  # all that is left to who does not know the row
    right = (people["ill"] == commonest).mean()
    assert told[EXACTLY].after == pytest.approx(right, abs=0.03)
    assert told[EXACTLY].after == pytest.approx(told[NOTHING].after, abs=0.03)


def test_two_perturbations_of_different_columns_are_measured_together():
    random = np.random.default_rng(1)
    sick = random.random(2000) < 0.4
    table = pd.DataFrame({"ill": np.where(sick, "yes", "no"), "sign": np.where(sick, "high", "low")})
    steps = [{"pram": {"columns": "ill", "keep": 0.6}}, {"pram": {"columns": "sign", "keep": 0.95}}]
    made = nw.publish(table, sensitive="ill", keep=["sign"], steps=steps)
    out, truth = made.to_pandas(), table["ill"].to_numpy()[made.table.origin]
    right = (np.where(out["sign"] == "high", "yes", "no") == truth).mean()  # the attacker reads the other column
    (found,) = [g for g in made.chosen.guesses if g.attacker.startswith("has found")]
    assert right > 0.9
    assert found.high is not None
    assert found.high >= right - 0.01
