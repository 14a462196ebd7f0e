"""Who was left out: what file and codebook tell about people whose rows are not in the file.

The attacker knows everybody's quasi-identifiers, the recipe and this program. He tries every value that those left out
may have, publishes in each of these worlds, and keeps those in which he finds the same rows and the same codebook.
"""

import json
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import NotAnswerable
from nowiser.microdata.publish import publish

ILLS = ("cold", "flu", "none")
K_ONLY = [{"k-anonymity": 3}, {"k-anonymity": 2, "average-risk": 0.5}]


def people(random, rows):
    frame = pd.DataFrame(
        {
            "zip": [f"{a}{b}" for a, b in random.integers(1, 4, (rows, 2))],
            "age": random.choice(["20", "30", "40"], rows, p=[0.6, 0.3, 0.1]),
            "ill": random.choice(ILLS, rows, p=random.dirichlet([2, 2, 2])),
        }
    )
    return frame.assign(zip=frame["zip"].where(random.random(rows) < 0.9, "99"))


def told(frame, models, method="generalise", suppress="12%"):
    """What everybody sees, and which rows are missing; None where nothing would be published."""
    quasi = {"zip": "prefix", "age": None}
    steps = [method] if isinstance(method, str) else method
    try:
        made = publish(frame, quasi=quasi, sensitive="ill", models=models, suppress=suppress, steps=steps)
    except NotAnswerable:
        return None
    rows = sorted(map(tuple, made.to_pandas().astype(str).to_numpy().tolist()))
    gone = sorted(set(range(len(frame))) - set(made.table.origin.tolist()))
    return rows, json.dumps(made.codebook, sort_keys=True), tuple(gone)


def belief(frame, models, method="generalise"):
    """Per value, how likely the first of those left out has it, by who publishes in every world; and the shares shown."""
    seen = told(frame, models, method)
    if seen is None or not 0 < len(seen[2]) <= 2:
        return None
    gone = list(seen[2])
    shown = Counter(row[-1] for row in seen[0])
    weight = {v: shown[v] / len(seen[0]) for v in ILLS}
    found = Counter()
    for values in product([v for v in ILLS if weight[v]], repeat=len(gone)):
        world = frame.copy()
        world.loc[gone, "ill"] = values
        again = told(world, models, method)
        if again is not None and again[:2] == seen[:2]:
            found[values[0]] += np.prod([weight[v] for v in values])
    total = sum(found.values())
    return {v: (weight[v], found[v] / total if total else None) for v in ILLS}


def tried(seeds, models, method="generalise"):
    """Worst gain about somebody left out, per release that leaves somebody out."""
    out = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        frame = people(random, int(random.integers(14, 26)))
        known = belief(frame, models, method)
        if known is not None and known["cold"][1] is not None:
            out.append(max(after - before for before, after in known.values()))
    return out


@pytest.mark.parametrize("models", K_ONLY)
def test_file_and_codebook_tell_nothing_about_those_left_out(models):
    gains = tried(range(40), models)
    assert len(gains) >= 8
    assert max(gains) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("method", ["local_recoding", "record_suppression"])
def test_no_method_tells_about_those_left_out(method):
    gains = tried(range(30), {"k-anonymity": 2}, ["generalise", method] if method.startswith("record") else method)
    assert len(gains) >= 4
    assert max(gains) == pytest.approx(0, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("models", K_ONLY)
@pytest.mark.parametrize("method", ["generalise", "local_recoding"])
def test_a_thousand_releases_tell_nothing_about_those_left_out(models, method):
    gains = tried(range(1000, 1250), models, method)
    assert len(gains) >= 40
    assert max(gains) == pytest.approx(0, abs=1e-9)


LOOKS = [{"k-anonymity": 2, "gain": 0.35}, {"k-anonymity": 2, "t-closeness": {"t": 0.45, "about": "ill"}}]
NINES = {"zip": [["1", "*"], ["2", "*"], ["9", "*"]]}


@pytest.mark.parametrize("steps", [["generalise"], ["record_suppression"], ["local_recoding"]])
def test_whether_a_limit_was_kept_does_not_tell_the_secret_of_who_was_left_out(steps):
    """Five live in 1; a share of 0.8 there is within 30 points of 10/19, not of 9/19. So it told the value in 9."""
    said = {}
    for last in "ab":
        frame = pd.DataFrame({"zip": list("1" * 5 + "2" * 13 + "9"), "ill": list("aaaab" + "a" * 5 + "b" * 8 + last)})
        made = publish(frame, quasi=NINES, sensitive="ill", k=2, gain="30%", suppress="10%", steps=steps)
        said[last] = sorted(made.to_pandas()["zip"]), made.codebook["choice"]
    assert said["a"] == said["b"] or "tells nothing" not in said["a"][1]


@pytest.mark.parametrize("models", LOOKS)
def test_limits_on_secrets_tell_nothing_about_those_left_out_where_it_is_said(models):
    """He publishes with every value of those left out, as above; now the models look at the values."""
    said = 0
    for seed in range(24):
        random = np.random.default_rng(seed)
        frame = people(random, int(random.integers(14, 26)))
        seen = told(frame, models)
        if seen is not None and seen[2] and "tells nothing about anybody" in seen[1]:
            known = belief(frame, models)
            said += known is not None
            assert known is None or max(after - before for before, after in known.values()) < 1e-9
    assert said >= 3


SEED = "5f0c7a9e31d24b68a1c3e5f708192a3b"


def test_a_sample_says_nothing_of_those_not_drawn():
    """The codebook said 0.7 of ten rows, the file showed five of six: two of the four not drawn were known."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"zip": random.choice(list("12"), 10), "ill": random.choice(list("abc"), 10)})
    asked = {"quasi": ["zip"], "sensitive": "ill", "steps": [{"sample": {"share": 0.6}}], "seed": SEED}
    books = set()
    for value in "abc":
        made = publish(frame, **asked)
        books.add(json.dumps(made.codebook, sort_keys=True))
        frame.loc[np.setdiff1d(np.arange(10), made.table.origin), "ill"] = value
    assert len(books) == 1
    assert made.codebook["attacked"] == ["ill"]
    assert {g["column"] for g in made.to_json()["guesses"]} == {"ill"}  # the custodian sees the figures


def test_a_share_of_the_whole_table_is_nowhere_in_the_codebook():
    """Sixty rows, one left out: nothing in the codebook is a share of sixty that the file does not show itself."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"zip": ["1"] * 30 + ["2"] * 29 + ["3"], "ill": [*random.choice(ILLS, 59), "rare"]})
    made = publish(frame, quasi={"zip": [["1", "*"], ["2", "*"], ["3", "*"]]}, sensitive="ill", k=5, suppress="2%")
    assert made.chosen.suppressed == 1
    assert "rare" not in json.dumps(made.codebook)
    (guess,) = made.codebook["guesses"]
    shares = [n / 59 for n in made.to_pandas()["ill"].value_counts()]
    assert any(guess["before"] == pytest.approx(s) for s in shares)
    assert made.codebook["columns"]["ill"]["distinct"] == 3


def test_limits_hold_among_the_released_rows_alone():
    """Where a limit holds against the whole table only, a stricter search finds a version, or nothing is published."""
    held = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        frame = people(random, 40)
        try:
            made = publish(
                frame, quasi={"zip": "prefix", "age": None}, sensitive="ill", k=2, gain="20%", suppress="15%"
            )
        except NotAnswerable:
            continue
        out = made.to_pandas()
        shares = out["ill"].value_counts(normalize=True)
        for _, group in out.groupby(["zip", "age"], dropna=False):
            for value, share in group["ill"].value_counts(normalize=True).items():
                assert share - shares[value] <= 0.2 + 1e-6
        held += made.chosen.suppressed > 0
    assert held >= 2


def lifts(frame):
    """The largest gain per group."""
    groups = pd.crosstab([frame["zip"], frame["age"]], frame["ill"], normalize="index")
    return (groups - frame["ill"].value_counts(normalize=True)).max(axis=1)


def kept_by_hand(frame, gain):
    """Groups go while they break the limit among those that stay."""
    while len(frame):
        groups = frame.groupby(["zip", "age"])["ill"]
        lift = lifts(frame)
        bad = lift[(lift > gain + 1e-9) | (groups.size() < 2)].index
        if not len(bad):
            return frame
        frame = frame[~frame.set_index(["zip", "age"]).index.isin(bad)]
    return frame


def test_the_search_itself_judges_what_is_left_and_proves_it_best():
    held = 0
    for seed in range(40):
        frame = people(np.random.default_rng(seed), 40)
        asked = {"quasi": {"zip": "prefix", "age": None}, "sensitive": "ill", "k": 2, "gain": 0.25, "suppress": 0.3}
        try:
            made = publish(frame, **asked, steps=["generalise"])
        except NotAnswerable:
            continue
        whole = frame.copy()
        level = made.chosen.levels
        whole["zip"] = [z[: 2 - level["zip"]] + "*" * level["zip"] for z in whole["zip"]]
        whole["age"] = whole["age"] if not level["age"] else "*"
        assert made.chosen.optimal is True
        sizes = whole.groupby(["zip", "age"])["ill"].transform("size")
        left = kept_by_hand(whole[sizes >= 2], 0.25)  # those too small first, so that their secrets do not matter
        assert made.chosen.rows == len(left)
        held += len(left) < (sizes >= 2).sum()
    assert held >= 2
