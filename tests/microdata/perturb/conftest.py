"""Tables and runs for the methods."""

import numpy as np
import pytest

from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@pytest.fixture
def numbers():
    """A table of correlated numbers."""

    def make(rows=400, columns=3, seed=0):
        random = np.random.default_rng(seed)
        mix = random.normal(size=(columns, columns)) + np.eye(columns)
        values = random.normal(size=(rows, columns)) @ mix * 10 + 50
        return MicroTable.of(Column.of_numbers(f"x{j}", values[:, j]) for j in range(columns))

    return make


@pytest.fixture
def people():
    """Numbers and categories that depend on one another."""

    def make(rows=1500, seed=0):
        random = np.random.default_rng(seed)
        age = random.integers(18, 80, rows)
        income = np.round(np.exp(9 + 0.01 * age + random.normal(0, 0.5, rows)), 2)
        sick = random.random(rows) < 0.1 + 0.008 * (age - 18)
        return MicroTable.of(
            [
                Column.of("age", age.tolist()),
                Column.of("sex", random.choice(["f", "m"], rows).tolist()),
                Column.of("region", random.choice(list("abcde"), rows, p=[0.4, 0.3, 0.15, 0.1, 0.05]).tolist()),
                Column.of_numbers("income", income),
                Column.of("illness", np.where(sick, random.choice(["flu", "asthma"], rows), "none").tolist()),
                Column.of("home", (np.arange(rows) // 3).tolist()),
                Column.of("weight", (1 + np.arange(rows) % 3).tolist()),
            ]
        )

    return make


@pytest.fixture
def run():
    """A run with a seed."""

    def make(table, seed=1, **roles):
        return Run(Roles(**({"quasi": ()} | roles)), table, random=np.random.default_rng(seed))

    return make
