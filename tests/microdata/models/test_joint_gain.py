"""Joint goals: counted over joint values they agree with brute force, in memory and in SQL."""

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import groups_of, targets_of
from nowiser.microdata.models.joint_gain import JointGain
from nowiser.microdata.recheck.recheck import Claim, Evidence, recheck
from nowiser.microdata.recipe import parse
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.write import write_table

GOALS = [
    "age within 2 and ill exactly",
    "age within 2 or ill exactly",
    "not ill exactly",
    "not (age within 3 and ill exactly)",
    "age within 5 and not age within 1",
    "age within 2 and not age exactly",
    "ill in {flu, cold} and not age in [30, 34]",
    "(ill exactly or town exactly) and age within 2",
]


def people(seed):
    random = np.random.default_rng(seed)
    rows = 40
    ages = [int(a) if random.random() > 0.1 else None for a in random.integers(25, 40, rows)]
    return MicroTable.of(
        [
            Column.of("q", random.choice(list("abc"), rows).tolist()),
            Column.of("age", ages),
            Column.of(
                "ill", [v if random.random() > 0.1 else None for v in random.choice(["flu", "cold", "no"], rows)]
            ),
            Column.of("town", random.choice(["x", "y"], rows).tolist()),
        ]
    )


def holds(tree, row, guess, by_number):
    kind = tree[0]
    if kind == "not":
        return not holds(tree[1], row, guess, by_number)
    if kind in {"and", "or"}:
        return (all if kind == "and" else any)(holds(part, row, guess, by_number) for part in tree[1:])
    value, centre = row[tree[1]], guess.get(tree[1])
    if kind == "exactly":
        return value is not None and value == centre if tree[1] in by_number else value == centre
    if kind == "among":
        return value in tree[2]
    if value is None:
        return False
    return abs(value - centre) <= tree[2] if kind == "within" else tree[2] <= value <= tree[3]


def brute(table, tree, parts):
    """Every guess on a fine grid, every group, row by row."""
    rows = [
        dict(zip(table.names, cells, strict=True))
        for cells in zip(*(c.to_arrow().to_pylist() for c in table.columns), strict=True)
    ]
    by_number = {"age"} if "'within', 'age'" in str(tree) else set()
    choices = {"age": [a / 2 for a in range(30, 100)], "ill": ["flu", "cold", "no", None, "?"], "town": ["x", "y", "?"]}
    guesses = [{}]
    for part in parts:
        guesses = [g | {part: c} for g in guesses for c in choices[part]]
    worst = -1.0
    for guess in guesses:
        right = [holds(tree, row, guess, by_number) for row in rows]
        before = sum(right) / len(rows)
        for q in "abc":
            mine = [r for r, row in zip(right, rows, strict=True) if row["q"] == q]
            worst = max(worst, sum(mine) / len(mine) - before)
    return worst


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_the_worst_guess_of_all(tmp_path, seed, goal):
    table = people(seed)
    model = JointGain(goal=goal)
    groups = groups_of(table, ["q"], targets_of(table, [], [model], {}))
    value = model.value(groups)
    assert value == pytest.approx(brute(table, model.tree, model.parts), abs=1e-12)
    write_table(table, tmp_path / "out.csv")
    claim = Claim("joint-gain", {"goal": goal, "tree": model.tree}, value)
    found = recheck(tmp_path / "out.csv", [claim], Evidence(("age", "ill", "town"), ("q",)), table.rows)
    assert found == {f"joint-gain (goal {goal})": pytest.approx(value, abs=1e-9)}


def test_rows_that_are_lost_for_certain_are_never_overstated():
    """Whatever part of a group survives at a finer node keeps its limit only if `must_lose` of the group is gone."""
    random = np.random.default_rng(0)
    for seed in range(20):
        table = people(seed)
        model = JointGain(gain=float(random.uniform(0.02, 0.3)), goal=GOALS[seed % len(GOALS)])
        whole = targets_of(table, [], [model], {})
        coarse = groups_of(table, [], whole)
        lost = float(model.must_lose(coarse)[0]) * table.rows
        fine = groups_of(table, ["q"], whole)
        assert fine.size[model.failing(fine)].sum() >= lost - 1e-9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gain": 0.1, "goal": "present"}, "cannot count"),
        ({"gain": 2, "goal": "ill exactly"}, "between 0 and 100"),
        ({"gain": 0.1, "goal": "ill exactly and born exactly"}, "no sensitive column"),
    ],
)
def test_goals_that_cannot_be_counted_are_refused(options, words):
    with pytest.raises(Misconfigured, match=words):
        parse({"quasi": ["q"], "sensitive": ["ill"], "models": [{"joint-gain": options}]})


def test_too_many_joint_values_are_refused_before_any_counting():
    rows = 3000
    table = MicroTable.of([Column.of(n, list(range(rows))) for n in ("a", "b")])
    model = JointGain(goal="a within 1 and b within 1")
    groups = groups_of(table, [], targets_of(table, [], [model], {}))
    with pytest.raises(Misconfigured, match="too many values together"):
        model.value(groups)
