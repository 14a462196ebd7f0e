"""Who was a model fitted on? An honest one does not tell more than was paid for; one without noise is refuted."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import nowiser as nw
from nowiser.attacks.models import membership
from nowiser.errors import Misconfigured
from nowiser.learn.spending import Spending
from support.commands import nowiser

WIDTH = 120
NAMES = [f"c{i}" for i in range(WIDTH)]


def people(many, seed):
    """Coin flips, and a class that has nothing to do with them: whatever fits was remembered."""
    random = np.random.default_rng(seed)
    return {n: random.integers(0, 2, many) for n in NAMES} | {"ill": random.choice(["no", "yes"], many)}


INSIDE, OUTSIDE = people(160, 0), people(160, 1)


def fitted(rho=0.02):
    bounds = dict.fromkeys(NAMES, (0, 1))
    model = nw.learn.LogisticRegression(rho=rho, bounds=bounds, classes=["no", "yes"], steps=150)
    return model.fit({n: INSIDE[n] for n in NAMES}, INSIDE["ill"])


def test_an_honest_model_keeps_what_was_paid_for():
    tried = membership(fitted(), INSIDE, OUTSIDE, "ill", seed=0)
    assert not tried.refuted
    assert 0.5 < tried.ceiling < 0.6
    assert tried.after.of == 160


def test_a_model_without_noise_is_refuted(monkeypatch, tmp_path):
    monkeypatch.setattr(Spending, "blurred", lambda self, exact, variance: exact.astype(float))
    model = fitted()
    tried = membership(model, INSIDE, OUTSIDE, "ill", seed=0)
    assert tried.refuted
    assert "REFUTED" in str(tried)
    for name, table in (("inside", INSIDE), ("outside", OUTSIDE)):
        csv.write_csv(pa.table(table), tmp_path / f"{name}.csv")
    (tmp_path / "model.json").write_text(model.to_json(), encoding="utf-8")
    words = ("attack", "model.json", "--original", "inside.csv", "--sensitive", "ill")
    done = nowiser(tmp_path, *words, "--control", "outside.csv", "--json")
    assert done.returncode == 9, done.stderr
    assert json.loads(done.stdout)["refuted"] is True
    assert nowiser(tmp_path, *words).returncode == 3  # nobody to compare with


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": None}, "say what the model predicts"),
        ({"target": "sick"}, "no column 'sick'"),
        ({"outside": people(10, 2)}, "needs 40 people"),
        ({"model": nw.learn.PCA(rho=1)}, "those that transform"),
    ],
)
def test_what_is_missing_is_said(change, words):
    given = {"model": fitted(), "inside": INSIDE, "outside": OUTSIDE, "target": "ill"} | change
    with pytest.raises(Misconfigured, match=words):
        membership(**given)
