"""The search finds what brute force finds, and proves it."""

import importlib

import numpy as np
import pytest

from nowiser.microdata import registry
from nowiser.microdata.models.k_anonymity import KAnonymity
from nowiser.microdata.search.best_first import Search, search
from support.tables import brute_force, problem_of, random_models, random_table


@pytest.mark.parametrize("seed", range(300))
def test_optimum_equals_brute_force_for_any_models_loss_and_limit(seed):
    random = np.random.default_rng(seed)
    table, specs = random_table(random, quasi=int(random.integers(1, 4)), rows=int(random.integers(8, 50)))
    loss = sorted(registry.losses())[seed % len(registry.losses())]
    suppress = int(table.rows * random.choice([0, 0, 0.05, 0.2, 0.5]))
    problem = problem_of(table, specs, random_models(random, table), loss, suppress)
    truth = brute_force(problem, table, list(specs))
    found = search(problem)
    if truth is None:
        assert found.best is None
        assert found.bound == float("inf")
    else:
        assert found.best is not None
        assert found.best.loss == pytest.approx(truth.loss, abs=1e-9)
        assert found.optimal
        assert found.gap == 0


@pytest.mark.parametrize("setting", [("rollup", "WORD", 0), ("rollup", "MANY", 0), ("best_first", "MANY", 0)], ids=str)
@pytest.mark.parametrize("seed", range(300, 360))
def test_short_cuts_for_large_tables_change_nothing(monkeypatch, seed, setting):
    """Too wide to pack; tables so large that detours pay: the same optimum, by brute force."""
    module, name, value = setting
    monkeypatch.setattr(importlib.import_module(f"nowiser.microdata.search.{module}"), name, value)
    test_optimum_equals_brute_force_for_any_models_loss_and_limit(seed)


def test_out_of_time_states_a_gap_that_contains_the_optimum():
    random = np.random.default_rng(5)
    table, specs = random_table(random, quasi=4, rows=400)
    problem = problem_of(table, specs, (KAnonymity(k=5),), "loss", 20)
    exact = search(problem)
    hurried = Search(problem, seconds=-1.0)
    hurried._report = lambda *_: None
    stopped = hurried.run()
    assert stopped.best is not None
    assert stopped.best.loss - stopped.gap <= exact.best.loss + 1e-12 <= stopped.best.loss + 1e-9


def test_a_cut_only_rules_out_nodes_that_are_infeasible():
    for seed in range(40):
        random = np.random.default_rng(1000 + seed)
        table, specs = random_table(random, quasi=3, rows=60)
        problem = problem_of(table, specs, random_models(random, table), "loss", int(random.integers(0, 12)))
        run = Search(problem)
        run.run()
        from itertools import product

        from nowiser.microdata.search.problem import evaluate

        for cut in run.cuts[: run.cut_count]:
            for levels in product(*(range(int(c) + 1) for c in cut)):
                assert evaluate(problem, levels, run.rollup.groups(levels)) is None
