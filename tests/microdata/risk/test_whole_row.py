"""The printed attacker is at least as good as honest ones written here: who read columns together, or few of many."""

import numpy as np
import pandas as pd

import nowiser as nw

FOUND = "has found the victim's row"


def test_two_columns_that_tell_only_together_are_read_together():
    random = np.random.default_rng(0)
    a, b = random.integers(0, 2, 3000), random.integers(0, 2, 3000)
    ill = np.where(random.random(3000) < 0.95, a ^ b, 1 - (a ^ b))
    table = pd.DataFrame({"a": a.astype(str), "b": b.astype(str), "ill": np.where(ill == 1, "yes", "no")})
    steps = [{"pram": {"columns": "ill", "keep": 0.6}}]
    made = nw.publish(table, sensitive="ill", keep=["a", "b"], steps=steps)
    out, truth = made.to_pandas(), table["ill"].to_numpy()[made.table.origin]
    reading = np.where(out["a"] != out["b"], "yes", "no")  # who reads two kept columns
    right = (reading == truth).mean()
    (told,) = [g for g in made.chosen.guesses if g.attacker == FOUND]
    assert right > 0.93
    assert told.high >= right
    assert told.after > right - 0.02


def test_columns_that_tell_nothing_do_not_drown_the_one_that_does():
    random = np.random.default_rng(1)
    job = random.integers(0, 6, 2000)
    ill = np.where(random.random(2000) < 0.8, np.isin(job, [1, 4]), random.random(2000) < 0.5)
    noise = {f"n{i}": random.integers(0, 30, 2000).astype(str) for i in range(8)}
    table = pd.DataFrame({"job": job.astype(str), **noise, "ill": np.where(ill, "yes", "no")})
    made = nw.publish(table, quasi=["job", *noise], sensitive="ill", steps=[{"pram": {"columns": "ill", "keep": 0.75}}])
    out, truth = made.to_pandas(), table["ill"].to_numpy()[made.table.origin]
    reading = out.groupby("job")["ill"].agg(lambda s: s.value_counts().idxmax())  # of nine columns he reads one
    right = (reading[out["job"]].to_numpy() == truth).mean()
    told = {g.attacker: g for g in made.chosen.guesses}
    assert right > 0.85
    assert told[FOUND].high >= right - 0.02  # what is drawn differs from run to run
    assert told["knows the quasi-identifiers exactly"].high >= right - 0.01
