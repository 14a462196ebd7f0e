"""Models of the whole table use the suppression limit, and the best is the best: every table and subset is tried."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import NotAnswerable

AGES = [["20", "20-24", "20-29"], ["22", "20-24", "20-29"], ["26", "25-29", "20-29"], ["28", "25-29", "20-29"]]
PLACES = [["a", "north"], ["b", "north"], ["c", "south"]]


def table(seed):
    random = np.random.default_rng(seed)
    rows = int(random.integers(8, 26))
    ages = random.choice(["20", "22", "26", "28"], rows, p=[0.5, 0.3, 0.15, 0.05])
    return pd.DataFrame({"age": ages, "place": random.choice(list("abc"), rows, p=[0.6, 0.3, 0.1])})


def average(sizes, _):
    return len(sizes) / sum(sizes)


def unique(sizes, _):
    return sum(n == 1 for n in sizes) / sum(sizes)


def loss(frame, levels, kept):
    """ARX's Loss from its definition: the share of the domain a label covers, all of it for a row left out."""
    total = 0.0
    for name, tree, level in (("age", AGES, levels[0]), ("place", PLACES, levels[1])):
        rows = [[*path, "*"] for path in tree if path[0] in set(frame[name])]
        label = {path[0]: path[level] for path in rows}
        cover = {value: sum(path[level] == label[value] for path in rows) for value in label}
        part = [(cover[v] - 1) / (len(rows) - 1) if len(rows) > 1 else 0.0 for v in frame[name]]
        total += sum(p if k else 1.0 for p, k in zip(part, kept, strict=True)) / len(frame)
    return total / 2


def exhaustive(frame, value, limit, suppress):
    """The fewest rows that must go at every node, over all subsets of its groups."""
    trees = [{p[0]: [*p, "*"] for p in tree} for tree in (AGES, PLACES)]
    found = {}
    for levels in product(range(4), range(3)):
        labels = [(trees[0][a][levels[0]], trees[1][p][levels[1]]) for a, p in zip(frame.age, frame.place, strict=True)]
        groups = pd.Series(labels).value_counts()
        for count in range(len(groups)):
            fits = [
                sum(groups.iloc[list(gone)])
                for gone in combinations(range(len(groups)), count)
                if value([n for i, n in enumerate(groups) if i not in gone], None) <= limit + 1e-9
            ]
            if fits and min(fits) <= min(suppress, found.get(levels, suppress)):
                found[levels] = min(fits)
    return found


CASES = [("average-risk", average, 0.3), ("average-risk", average, 0.2), ("sample-uniqueness", unique, 0.05)]


@pytest.mark.parametrize(("model", "value", "limit"), CASES)
@pytest.mark.parametrize("seed", range(8))
def test_no_level_that_needs_no_more_suppression_is_missed(model, value, limit, seed):
    frame = table(seed)
    quasi = {"age": [[*p, "*"] for p in AGES], "place": [[*p, "*"] for p in PLACES]}
    can = exhaustive(frame, value, limit, int(0.25 * len(frame)))

    def made(**step):
        return nw.publish(
            frame, quasi=quasi, models={model: limit}, suppress="25%", steps=[{"generalise": step}]
        ).chosen

    for levels, fewest in can.items():
        here = made(levels=dict(zip(("age", "place"), levels, strict=True)))
        assert here.suppressed == fewest
    if not can:
        with pytest.raises(NotAnswerable):
            made()
        return
    best = made()
    assert best.optimal is True
    assert best.loss == pytest.approx(min(made(levels=dict(zip(("age", "place"), at, strict=True))).loss for at in can))
    assert best.holds


def test_the_limit_is_used_and_helps():
    frame = pd.DataFrame({"age": ["20"] * 20 + ["22"] * 20 + ["26", "28"], "place": ["a"] * 42})
    quasi = {"age": [[*p, "*"] for p in AGES], "place": [[*p, "*"] for p in PLACES]}
    options = {"quasi": quasi, "models": {"average-risk": 0.06}, "steps": ["generalise"]}
    assert nw.publish(frame, **options).chosen.loss > 0.1
    few = nw.publish(frame, **options, suppress="5%").chosen
    assert few.suppressed == 2
    assert few.levels == {"age": 0, "place": 0}
    assert few.loss < 0.06


def test_a_lower_limit_of_presence_is_not_broken_by_leaving_rows_out(tmp_path):
    everybody = pd.DataFrame({"age": ["20"] * 10 + ["22"] * 10})
    everybody.to_csv(tmp_path / "people.csv", index=False)
    here = pd.DataFrame({"age": ["20"] * 9 + ["22"] * 3})
    options = {"quasi": {"age": [["20", "*"], ["22", "*"]]}, "population": str(tmp_path / "people.csv")}
    recipe = options | {"models": {"delta-presence": {"low": 0.2, "high": 0.7}}, "suppress": "80%"}
    made = nw.publish(here, recipe=recipe | {"steps": ["generalise"]}).chosen
    assert made.levels == {"age": 1}  # leaving out the nine would say that no "20" is there
    assert made.suppressed == 0
