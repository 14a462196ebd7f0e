"""Random small tables, published in every way; an attacker who reads only the file never beats the printed figure.

He knows everybody's quasi-identifiers and who was left out, finds the group of a victim, and guesses what is most
frequent there. From the codebook he learns nothing about those left out: were their secrets others and the same rows
released, it would say the same. Where a step changed values he takes them as they are, or what his victim's look-alikes
show. Written with pandas alone. Several releases: `releases/test_random_histories.py`.
"""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata import registry
from nowiser.microdata.publish import publish

QUASI = {"zip": "prefix", "age": "intervals:10:20"}
GENERALISE = {"generalise": {}}
COUNTED = {
    "generalise": [GENERALISE],
    "mondrian": ["mondrian"],
    "local_recoding": ["local_recoding"],
    "record_suppression": [GENERALISE, "record_suppression"],
    "cell_suppression": ["cell_suppression"],
    "microaggregation": [{"microaggregation": {"k": 2, "columns": ["age"], "value": "median"}}, GENERALISE],
    "rounding": [{"rounding": {"column": "age", "to": 20}}, "cell_suppression"],
    "top_bottom": [{"top_bottom": {"column": "age", "top": 30, "label_top": "30+"}}, "record_suppression"],
    "pseudonym": [{"pseudonym": {"column": "who", "key_env": "PSEUDONYM_KEY"}}, GENERALISE],
}
CHANGED = {
    "noise": {"columns": "score", "share": 0.5},
    "correlated_noise": {"columns": ["score", "cost"], "amount": 0.5},
    "rank_swap": {"columns": "score", "within": 0.3},
    "record_swap": {"swap": "ill", "share": 0.5},
    "shuffle": {"columns": "score"},
    "resample": {"columns": "score"},
    "sample": {"share": 0.6},
    "pram": {"columns": "ill", "keep": 0.6},
    "randomised_response": {"columns": "ill", "keep": 0.5},
}
MODELS = [
    {"gain": 0.3}, {"gain": 0.6}, {"gain": {"gain": 0.5, "about": "score", "within": 1}},
    {"gain": {"gain": 0.4, "about": "ill", "knows": 1}}, {"gain": {"gain": 0.5, "about": "ill", "among": ["a", "b"]}},
    {"joint-gain": {"gain": 0.5, "goal": "ill exactly and score within 2"}},
    {"distinct-l-diversity": {"l": 2, "about": "ill"}}, {"entropy-l-diversity": {"l": 1.5, "about": "ill"}},
    {"recursive-cl-diversity": {"c": 3, "l": 2, "about": "ill"}}, {"t-closeness": {"t": 0.5, "about": "ill"}},
    {"t-closeness": {"t": 0.3, "about": "score", "distance": "ordered"}}, {"alpha-k-anonymity": 0.8},
    {"beta-likeness": {"beta": 2, "about": "ill"}}, {"enhanced-beta-likeness": {"beta": 3, "about": "ill"}},
    {"delta-disclosure": {"delta": 1.5, "about": "ill"}}, {"average-risk": 0.4}, {"highest-risk": 0.5},
    {"sample-uniqueness": 0.1}, {"population-uniqueness": {"share": 0.5, "people": 100}}, {},
    {"km-anonymity": {"k": 2, "m": 2}}, {"k-map": 3}, {"k-map-estimate": {"k": 3, "fraction": 0.5}},
    {"delta-presence": {"low": 0, "high": 0.9}}, {"blank-k-anonymity": 2},
]  # fmt: skip


def table(random, people):
    person = np.arange(people)
    if random.random() < 0.4:  # some have several rows
        person = np.repeat(person, random.integers(1, 4, people))
    ill = random.choice(list("abc"), people, p=random.dirichlet([2, 2, 1]))[person]
    changes = random.random(len(person)) < 0.2
    score = random.integers(0, 8, len(person))
    return pd.DataFrame(
        {
            "who": [f"p{p}" for p in person],
            "zip": [f"{a}{b}" for a, b in random.integers(1, 4, (len(person), 2))],
            "age": random.choice([20, 25, 30, 40], len(person)),
            "ill": np.where(changes, random.choice(list("abc"), len(person)), ill),
            "score": score,
            "cost": score + random.integers(0, 9, len(person)),
        }
    )


def drawn(seed, folder):
    """A table, and everything `publish` is asked for."""
    random = np.random.default_rng(seed)
    frame = table(random, int(random.integers(8, 20)))
    method, model = sorted(COUNTED)[random.integers(len(COUNTED))], MODELS[random.integers(len(MODELS))]
    asked = {"quasi": QUASI, "sensitive": {"ill": None, "score": 1}, "identifiers": ["who"], "seconds": 5}
    asked |= {"models": {"k-anonymity": int(random.integers(2, 4))} | model, "steps": COUNTED[method]}
    asked["suppress"] = float(random.choice([0, 0.1, 0.3]))
    if set(model) & {"k-map", "delta-presence"}:
        frame = frame.drop_duplicates("who", ignore_index=True)
        everybody = pd.concat([frame, table(random, 40)])[["zip", "age"]]
        everybody.to_csv(folder / "people.csv", index=False)
        asked["population"] = str(folder / "people.csv")
    if "blank-k-anonymity" in model:
        frame = frame.drop_duplicates("who", ignore_index=True)
        asked |= {"models": model, "steps": [{"cell_suppression": {"blank": "any"}}]}
    if frame["who"].duplicated().any():
        asked["person"] = "who"
    if method == "pseudonym" and "person" in asked:
        asked["models"] = asked["models"] | {"km-anonymity": {"k": 2, "m": 3}}
    return random, frame, asked, method, model


def published(frame, asked):
    try:
        return publish(frame, recipe=asked)
    except (NotAnswerable, Misconfigured):
        return None


def groups(frame, made):
    """Per group and person the row numbers of the original: he knows who is in which group."""
    out = made.to_pandas()[["zip", "age"]].astype(object).where(lambda f: f.notna(), "?").astype(str)
    out["who"], out["at"] = frame["who"].to_numpy()[made.table.origin], made.table.origin
    return out


def most(parts, people, hit):
    """The largest gain of a guess: `hit` says which rows of the original it is right about."""
    right = pd.Series(hit).loc[parts["at"]].to_numpy()
    ever = parts.assign(right=right).groupby("who")["right"].any()
    inside = parts.assign(right=right).groupby(["zip", "age", "who"])["right"].any()
    return float((inside.groupby(level=[0, 1]).mean() - ever.loc[people].mean()).max())


def attacked(frame, made):
    """(column, gain of the best guess) of every counted figure."""
    parts = groups(frame, made)
    people = parts["who"].unique()
    ill, score = frame["ill"].to_numpy(), frame["score"].to_numpy()
    yield "ill", max(most(parts, people, ill == v) for v in "abc")
    yield "score", max(most(parts, people, np.abs(score - c) <= 1) for c in np.arange(0, 8, 0.5))


def same_of_those_left_out(random, frame, asked, made):
    """With other secrets of those left out: what file and codebook say, where the same rows are released."""
    gone = np.setdiff1d(np.arange(len(frame)), made.table.origin)
    for _ in range(2 if len(gone) else 0):
        world = frame.copy()
        for name in ("ill", "score"):
            world.loc[gone, name] = random.choice(made.to_pandas()[name].to_numpy(), len(gone))
        again = published(world, asked)
        if again is not None and sorted(again.table.origin) == sorted(made.table.origin):
            shown = ["zip", "age", "ill", "score"]
            rows = [m.to_pandas().sort_values(shown)[shown].to_csv(index=False) for m in (again, made)]
            if rows[0] == rows[1]:
                yield json.dumps(again.codebook, sort_keys=True) == json.dumps(made.codebook, sort_keys=True)


def tried(seeds, folder, claimed=1.0):
    beaten, used, elsewhere = [], [], 0
    for seed in seeds:
        random, frame, asked, method, model = drawn(seed, folder)
        made = published(frame, asked)
        if made is None or not len(made.to_pandas()):
            continue
        used.append((method, next(iter(model), "none")))
        printed = {g.column: g for g in made.chosen.guesses if g.how == "counted"}
        for column, found in attacked(frame, made):
            if found > claimed * max(g.gain for g in made.chosen.guesses if g.column == column) + 1e-9:
                beaten.append((seed, column, found, printed))
        same = list(same_of_those_left_out(random, frame, asked, made))
        elsewhere += len(same)
        if not all(same):
            beaten.append((seed, "codebook"))
    return beaten, used, elsewhere


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("PSEUDONYM_KEY", "k" * 40)


def test_no_method_and_no_model_is_left_out():
    private = {n for n in registry.methods() if n.startswith("private_")}  # ceilings: test_attacked.py
    assert set(COUNTED) | set(CHANGED) == set(registry.methods()) - private
    assert {name for model in MODELS for name in model} == set(registry.models()) - {"k-anonymity"}


def test_who_reads_the_file_never_beats_the_printed_figure(tmp_path):
    beaten, used, elsewhere = tried(range(60), tmp_path)
    assert not beaten
    assert len(used) > 20
    assert elsewhere > 3


def test_figures_a_tenth_lower_would_be_caught(tmp_path):
    beaten, used, _ = tried(range(12), tmp_path, claimed=0.9)
    assert len({seed for seed, *_ in beaten}) > len(used) / 2


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_who_reads_the_file_never_beats_the_printed_figure_on_a_thousand_tables(tmp_path, block):
    beaten, used, elsewhere = tried(range(1000 + 100 * block, 1100 + 100 * block), tmp_path)
    assert not beaten
    assert len(used) > 30
    assert len({method for method, _ in used}) >= len(COUNTED) - 2
    assert elsewhere > 5


def changed(seed):
    """Per attacker how many of how many victims are guessed, and the upper end of the printed figure."""
    random = np.random.default_rng(seed)
    frame = table(random, int(random.integers(30, 60))).drop_duplicates("who", ignore_index=True)
    method = sorted(CHANGED)[seed % len(CHANGED)]
    steps = [{method: CHANGED[method]}]
    if random.random() < 0.5:
        steps.append({"generalise": {"levels": {"zip": 1, "age": 1}}})
    asked = {"quasi": QUASI, "sensitive": {"ill": None, "score": 1}, "keep": ["cost"], "identifiers": ["who"]}
    made = published(frame, asked | {"steps": steps})
    if made is None:
        return
    out, truth = made.to_pandas(), frame.iloc[made.table.origin].reset_index(drop=True)
    if len(out) < 10:
        return
    alike = [out["zip"].astype(str), out["age"].astype(str)]
    looks = {
        "has found": (out["ill"], out["score"]),
        "knows the quasi-identifiers exactly": (
            out["ill"].groupby(alike).transform(lambda s: s.mode()[0]),
            out["score"].groupby(alike).transform("median"),
        ),
    }
    for who, (ill, score) in looks.items():
        rights = {"ill": ill == truth["ill"], "score": (score - truth["score"]).abs() <= 1 + 1e-9}
        for g in made.chosen.guesses:
            if g.attacker.startswith(who) and g.how != "counted":
                yield method, int(rights[g.column].sum()), len(out), g.after if g.high is None else g.high


def against(seeds):
    """Who beats a figure by more than chance; and by how much all together, in standard deviations."""
    beaten, excess, variance, used = [], 0.0, 0.0, set()
    for seed in seeds:
        for method, right, victims, figure in changed(seed):
            used.add(method)
            if binom.sf(right - 1, victims, min(1.0, figure)) < 1e-7:
                beaten.append((seed, method, right, victims, figure))
            excess, variance = excess + right - victims * figure, variance + victims * figure * (1 - figure)
    return beaten, excess / np.sqrt(variance), used


def test_no_figure_of_an_attack_on_the_true_table_stands_beside_the_file():
    """A share that is true, times the rows, less what the file shows, would tell who was changed or left out."""
    frame = table(np.random.default_rng(7), 40).drop_duplicates("who", ignore_index=True)
    for method, options in CHANGED.items():
        made = publish(
            frame, quasi=QUASI, sensitive={"ill": None, "score": 1}, keep=["cost"], steps=[{method: options}]
        )
        book = made.codebook
        assert {g["how"] for g in book["guesses"]} <= {"counted"}
        assert {g.column for g in made.chosen.guesses if g.how != "counted"} == set(book["attacked"])
        assert book["attacked"]


def test_who_takes_changed_values_as_they_are_never_beats_the_printed_figure():
    beaten, together, used = against(range(27))
    assert not beaten
    assert together < 4
    assert used == set(CHANGED)


@pytest.mark.long
@pytest.mark.parametrize("block", range(4))
def test_who_takes_changed_values_as_they_are_never_beats_it_on_hundreds_of_tables(block):
    beaten, together, _ = against(range(1000 + 60 * block, 1060 + 60 * block))
    assert not beaten
    assert together < 4
