"""Columns that are kept beside the quasi-identifiers: what whoever knows one of them finds is said."""

import numpy as np
import pandas as pd

import nowiser as nw
from nowiser.microdata.publish import release
from nowiser.microdata.recipe import parse

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "zip": ["10"] * 20 + ["20"] * 20,
        "ill": RANDOM.choice(["a", "b"], 40),
        "weight": RANDOM.permutation(np.arange(1, 41) * 1.5),
        "year": ["2023"] * 40,
        "wave": [1, 2] * 20,
    }
)
RECIPE = {"quasi": {"zip": None}, "sensitive": ["ill"], "models": {"k-anonymity": 5}, "steps": ["generalise"]}


def made(**more):
    said = []
    return release(TABLE, parse(RECIPE | more), notice=said.append), said


def test_whoever_knows_a_kept_value_finds_smaller_groups_and_that_is_said():
    out, said = made(weight="weight", keep=["year", "wave"])
    frame = out.to_pandas()
    found = {c: int(frame.groupby(["zip", c]).size().min()) for c in ("weight", "year", "wave")}
    told = {n: c["smallest group of who knows it too"] for n, c in out.codebook["kept"].items()}
    assert told == {n: rows for n, rows in found.items() if rows < out.chosen.smallest} == {"weight": 1, "wave": 10}
    assert any("weight, wave" in s and "with 'weight': 1 row" in s for s in said)


def test_nothing_is_said_where_nothing_is_kept():
    out, said = made()
    assert not out.codebook["kept"]
    assert not any("Released as they are" in s for s in said)
    assert nw.publish(TABLE, recipe=RECIPE | {"keep": ["year"]}).codebook["kept"] == {}
