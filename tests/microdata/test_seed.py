"""Whoever can try all seeds can undo all noise: an attacker who does, and what stops him."""

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from support.seeds import seed as seeded

RANDOM = np.random.default_rng(3)
TABLE = pd.DataFrame({"age": RANDOM.integers(20, 60, 300), "income": RANDOM.integers(1000, 9000, 300)})
OPTIONS = {"quasi": "age", "sensitive": "income", "steps": [{"noise": {"columns": "income", "scale": 2000}}]}


def undone(released, known):
    """Draws the noise of every short seed, and takes the one that gives the incomes the attacker knows."""
    for guess in range(2000):
        noise = np.random.default_rng(guess).normal(0, 2000, len(released))
        if np.abs(released[:5] - noise[:5] - known[:5]).max() < 1:
            return np.rint(released - noise)
    return None


@pytest.mark.parametrize("short", [11, "11", "seed", "a" * 31, "0" * 32, "12" * 16])
def test_a_seed_that_can_be_tried_is_refused(short):
    with pytest.raises(Misconfigured, match="at least 32 random hexadecimal digits"):
        nw.publish(TABLE, **OPTIONS, seed=short)


def test_a_seed_never_stands_beside_the_order_of_the_rows():
    with pytest.raises(Misconfigured, match="do not go together"):
        nw.publish(TABLE, **OPTIONS, seed=seeded(1), keep_order=True)


def test_the_attacker_who_tries_seeds_undoes_a_short_one_and_nothing_else():
    noise = np.random.default_rng(11).normal(0, 2000, len(TABLE))
    true = TABLE["income"].to_numpy()
    assert (undone(true + noise, true) == true).all()  # as it was released before
    made = nw.publish(TABLE, **OPTIONS, keep_order=True).to_pandas()["income"].to_numpy()
    assert undone(made, true) is None


def test_the_seed_is_not_printed():
    made = nw.publish(TABLE, **OPTIONS, seed=seeded(1))
    assert seeded(1) not in repr(made.recipe) + str(made.codebook) + str(made.to_json()) + str(made.report())
