"""ARX's Loss with its gs-factor, weights and both means, against its definition row by row."""

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata import registry
from nowiser.microdata.search.best_first import search
from nowiser.microdata.search.problem import evaluate, failing
from nowiser.microdata.search.rollup import Rollup
from support.tables import brute_force, problem_of, random_models, random_table


def slow(problem, table, levels, *, gs, weights, geometric):
    """Per attribute: shares of kept rows × gFactor, of suppressed rows share + sFactor·(1 − share); scaled; the mean."""
    s, g = (2 * gs if gs < 0.5 else 1.0), (1.0 if gs <= 0.5 else 1 - 2 * (gs - 0.5))
    groups = Rollup(problem).groups(levels)
    failed = np.flatnonzero(failing(problem.models, groups))
    codes = [groups.codes[:, j][failed].tolist() for j in range(len(levels))]
    bad = set(zip(*codes, strict=True))
    trees = problem.hierarchies
    rows = [[int(h.matrix[table[f"q{j}"].codes[i], levels[j]]) for j, h in enumerate(trees)] for i in range(table.rows)]
    each = []
    for j, h in enumerate(problem.hierarchies):
        total = 0.0
        for row in rows:
            share = h.shares[levels[j]][row[j]]
            total += share + s * (1 - share) if tuple(row) in bad else g * share
        least = g * len(rows) / h.domain
        each.append(max(0.0, (total - least) / (len(rows) - least)) if len(rows) > least else 0.0)
    w = np.array(weights) / sum(weights)
    return float(np.prod((1 + np.array(each)) ** w) - 1) if geometric else float(w @ each)


@pytest.mark.parametrize("seed", range(60))
def test_a_weighed_loss_is_what_arx_defines_and_its_optimum_that_of_brute_force(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 4))
    table, specs = random_table(random, quasi=count, rows=int(random.integers(8, 40)))
    gs = float(random.choice([0, 0.2, 0.5, 0.8, 1]))
    weights = [float(w) for w in random.choice([0.5, 1, 3], count)]
    name = ("loss", "geometric")[seed % 2]
    suppress = int(table.rows * random.choice([0, 0.1, 0.4]))
    plain = problem_of(table, specs, random_models(random, table), name, suppress)
    bound = registry.loss(name, gs, weights).bind(plain.hierarchies, plain.base)
    problem = type(plain)(plain.hierarchies, plain.base, plain.models, bound, suppress)
    truth, found = brute_force(problem, table, list(specs)), search(problem)
    assert (found.best is None) == (truth is None)
    if truth is not None:
        assert found.best.loss == pytest.approx(truth.loss, abs=1e-9)
        assert found.optimal
    for levels in [problem.heights, tuple(0 for _ in specs), *([found.best.levels] if found.best else [])]:
        node = evaluate(problem, levels, Rollup(problem).groups(levels))
        if node is not None and all(m.scope == "group" for m in problem.models):  # who is left out is plain
            right = slow(problem, table, levels, gs=gs, weights=weights, geometric=name == "geometric")
            assert node.loss == pytest.approx(right, abs=1e-9)


def frame():
    random = np.random.default_rng(4)
    return pd.DataFrame({"age": random.integers(20, 60, 400), "zip": random.integers(10, 50, 400).astype(str)})


def test_an_important_column_is_generalised_less():
    levels = {
        name: nw.publish(frame(), quasi=["age", "zip"], k=8, steps=["generalise"], importance={name: 20}).chosen.levels
        for name in ("age", "zip")
    }
    assert levels["age"]["age"] < levels["zip"]["age"]
    assert levels["zip"]["zip"] < levels["age"]["zip"]


def test_a_small_gs_factor_suppresses_more():
    lost = [
        nw.publish(frame(), quasi=["age", "zip"], k=4, suppress=0.3, steps=["generalise"], gs_factor=gs).chosen
        for gs in (0.05, 0.95)
    ]
    assert lost[0].suppressed > lost[1].suppressed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "height", "gs_factor": 0.2}, "no gs_factor"),
        ({"gs_factor": 1.2}, "between 0 and 100"),
        ({"importance": {"age": 0}}, "positive number"),
        ({"importance": {"name": 2}}, "quasi-identifiers"),
    ],
)
def test_weights_that_make_no_sense_are_refused(options, words):
    with pytest.raises(Misconfigured, match=words):
        nw.publish(frame(), quasi=["age", "zip"], k=2, **options)
