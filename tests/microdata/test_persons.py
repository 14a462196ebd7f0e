"""Rows are not people: everything counts persons, and an attacker who knows whose rows are whose finds no more."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.for_policy import from_policy
from nowiser.microdata.publish import release
from nowiser.microdata.recipe import parse


def visits(seed, people=40, most=4):
    random = np.random.default_rng(seed)
    rows = []
    for who in range(people):
        home = random.choice(["11", "12", "21", "22"], p=[0.5, 0.3, 0.15, 0.05])
        for _ in range(int(random.integers(1, most + 1))):
            away = home if random.random() < 0.7 else random.choice(["11", "12", "21", "22"])
            rows.append((f"p{who}", away, random.choice(["f", "m"]), random.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1])))
    return pd.DataFrame(rows, columns=["id", "zip", "sex", "ill"])


def groups_of(out, owners, quasi):
    """Group → person → values, from the released rows and whose they are."""
    found = defaultdict(lambda: defaultdict(set))
    for row, who in zip(out.to_dict("records"), owners, strict=True):
        found[tuple(row[q] for q in quasi)][who].add(row["ill"])
    return found


def most_gained(found):
    """The attacker who says "she has once had v" of everybody whose row is in a group."""
    everybody = defaultdict(set)
    for members in found.values():
        for who, values in members.items():
            everybody[who] |= values
    worst = -1.0
    for v in "abc":
        before = sum(v in values for values in everybody.values()) / len(everybody)
        for members in found.values():
            worst = max(worst, sum(v in values for values in members.values()) / len(members) - before)
    return worst


def test_six_rows_about_one_person_are_a_group_of_one():
    table = pd.DataFrame({"id": ["x"] * 6 + list("abcdef"), "zip": ["1"] * 6 + ["2"] * 6, "ill": ["flu", "no"] * 6})
    options = {"quasi": {"zip": [["1", "*"], ["2", "*"]]}, "sensitive": "ill", "k": 5, "steps": ["generalise"]}
    assert nw.publish(table, **options).chosen.levels == {"zip": 0}  # told nothing, rows count
    made = nw.publish(table, **options, person="id")
    assert made.chosen.levels == {"zip": 1}
    assert made.chosen.smallest == 7
    assert "id" not in made.table
    assert nw.risk(table, quasi="zip", sensitive="ill", person="id").value("k-anonymity") == 1
    assert nw.risk(table, quasi="zip", sensitive="ill", person="id").value("sample-uniqueness") > 0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("suppress", ["0", "20%"])
def test_no_attacker_gains_more_from_histories_than_is_printed(tmp_path, seed, suppress):
    table = visits(seed)
    options = {"quasi": {"zip": "prefix", "sex": None}, "sensitive": "ill", "person": "id", "suppress": suppress}
    limits = {"k": 4, "gain": "60%"}
    made = nw.publish(table, **options, **limits, steps=["generalise"], output=tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv", dtype=str)
    owners = table["id"].to_numpy()[made.table.origin]
    found = groups_of(out, owners, ["zip", "sex"])
    assert min(len(members) for members in found.values()) == made.chosen.smallest >= 4
    (guess,) = made.chosen.guesses
    assert most_gained(found) == pytest.approx(guess.gain)
    assert guess.gain <= 0.6 + 1e-9
    gone = set(table["id"]) if not len(out) else set(np.delete(table["id"].to_numpy(), made.table.origin))
    assert len(gone) <= (0 if suppress == "0" else 0.2 * table["id"].nunique())
    assert made.rechecked["k-anonymity"] == made.chosen.smallest


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "models", [{"k-anonymity": 5}, {"gain": 0.4}, {"k-anonymity": 3, "average-risk": 0.2}], ids=str
)
def test_the_best_is_the_best_of_all_levels(seed, models):
    table = visits(seed)
    options = {"quasi": {"zip": "prefix", "sex": None}, "sensitive": "ill", "person": "id", "models": models}

    def at(zip_level, sex):
        step = {"generalise": {"levels": {"zip": zip_level, "sex": sex}}}
        try:
            return nw.publish(table, **options, steps=[step], suppress="10%").chosen.loss
        except NotAnswerable:
            return np.inf

    best = min(at(z, s) for z in range(3) for s in range(2))
    assert nw.publish(table, **options, steps=["generalise"], suppress="10%").chosen.loss == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("suppress", ["0", "40%"])
def test_whoever_knows_m_rows_of_a_person_finds_k_persons(tmp_path, seed, suppress):
    table = visits(seed, people=60, most=3)
    options = {"quasi": {"zip": "prefix", "sex": None}, "sensitive": "ill", "person": "id", "suppress": suppress}
    models = {"km-anonymity": {"k": 3, "m": 2}}
    made = nw.publish(table, **options, models=models, steps=["generalise"], output=tmp_path / "out.csv")
    histories = defaultdict(set)
    for row, at in zip(made.to_pandas().to_dict("records"), made.table.origin, strict=True):
        histories[table["id"][at]].add((row["zip"], row["sex"]))
    known = {c for rows in histories.values() for m in (1, 2) for c in combinations(sorted(rows), m)}
    fewest = min(sum(set(c) <= rows for rows in histories.values()) for c in known)
    assert fewest >= 3
    assert made.chosen.verdicts[0]["value"] == fewest


def test_every_model_counts_persons_in_the_file_as_in_the_search(tmp_path):
    table = visits(3, people=60)
    table["ill"] = table["ill"].map({"a": "10", "b": "20", "c": "30"})
    models = [
        {"distinct-l-diversity": 1}, {"entropy-l-diversity": 1}, {"recursive-cl-diversity": {"c": 99, "l": 2}},
        {"t-closeness": 1}, {"t-closeness": {"t": 1, "about": "ill", "distance": "ordered"}}, {"beta-likeness": 99},
        {"enhanced-beta-likeness": 99}, {"delta-disclosure": 99}, {"average-risk": 1}, {"sample-uniqueness": 1},
        {"highest-risk": 1}, {"gain": 1}, {"gain": {"gain": 1, "about": "ill", "within": 10}}, {"gain": {"gain": 1, "knows": 1}},
        {"gain": {"gain": 1, "about": "ill", "among": ["10", "30"]}}, {"joint-gain": {"gain": 1, "goal": "ill within 10 and ward exactly"}},
        {"km-anonymity": {"k": 1, "m": 3}},
    ]  # fmt: skip
    table["ward"] = np.random.default_rng(0).choice(["x", "y"], len(table))
    options = {"quasi": {"zip": "prefix", "sex": None}, "sensitive": ["ill", "ward"], "person": "id"}
    made = nw.publish(table, **options, models=models, k=2, steps=["generalise"], output=tmp_path / "out.csv")
    assert len(made.rechecked) >= len(models)


def test_rows_without_a_person_and_released_persons_are_refused():
    table = visits(0)
    options = {"quasi": {"zip": "prefix"}, "sensitive": "ill", "k": 2}
    with pytest.raises(Misconfigured, match="nobody knows whose"):
        nw.publish(table.assign(id=table["id"].where(table.index > 2)), **options, person="id")
    with pytest.raises(Misconfigured, match="cannot be released as it is"):
        nw.publish(table, **options, keep=["id"], person="id")
    with pytest.raises(Misconfigured, match="no column 'who'"):
        nw.publish(table, **options, person="who")
    steps = [{"pseudonym": {"column": "id", "key_env": "KEY"}}, "generalise"]
    with pytest.raises(Misconfigured, match="whole history"):
        nw.publish(table, **options, steps=steps, person="id")


def test_a_policy_says_whose_the_rows_are(tmp_path):
    """One person has six rows on the isle: a group of one, whatever rows_per_person allows."""
    rows = [(f"p{i}", ("north", "south")[i % 2], ("flu", "none")[i // 2 % 2]) for i in range(40)]
    rows += [("victim", "isle", ("flu", "none")[i % 2]) for i in range(6)]
    pd.DataFrame(rows, columns=["id", "town", "ill"]).to_csv(tmp_path / "t.csv", index=False)
    policy = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    rows_per_person: 6
    protect: values
    columns:
      id: {identifier: text}
      town: {public: [north, south, isle]}
      ill: {sensitive: {values: [flu, none]}}
attackers:
  - {guess: t.ill exactly, gain: 99%}
"""
    (tmp_path / "nowiser.yaml").write_text(policy, encoding="utf-8")
    source = from_policy(tmp_path / "nowiser.yaml", None, None)
    recipe = {"quasi": {"town": None}, "sensitive": ["ill"], "identifiers": ["id"], "steps": ["generalise"]}
    recipe = source.promised(parse(recipe | {"models": {"k-anonymity": 3}}))
    made = release(source.needed(), recipe, check=source.check, counting=source.counting)
    assert made.chosen.levels == {"town": 1}
    assert made.chosen.smallest == 41
    (guess,) = [g for g in made.chosen.guesses if g.column == "ill"]
    assert guess.before == pytest.approx(21 / 41)  # persons who ever had it
