"""`gw.learn`, `nowiser learn`: charged before a row is read, before → after for every attacker, tried on other people."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import nowiser as nw
from nowiser.bought import rows as bought_rows
from nowiser.errors import Exhausted, Misconfigured, NotAnswerable, NotEvaluated
from nowiser.learn.learn import plan
from support.commands import nowiser
from support.learning import absolute

POLICY = """
nowiser: 1
tables:
  stays:
    source: stays.parquet
    person: patient
    rows_per_person: 2
    people: 20000
    columns:
      patient: {identifier: integer}
      ward: {sensitive: [surgery, cardiology, maternity]}
      days: {sensitive: [0, 60], kind: integer}
      cost: {sensitive: [0, 40000]}
      diagnosis: {sensitive: [injury, heart, birth], prior: uniform}
      note: {sensitive: text}
attackers:
  - {guess: stays.diagnosis exactly, gain: 10%, promise: on average}
  - {guess: present in stays, gain: 10%, promise: on average}
"""
WARDS = np.array(["surgery", "cardiology", "maternity"])
DIAGNOSES = np.array(["injury", "heart", "birth"])


@pytest.fixture
def policy(tmp_path):
    random = np.random.default_rng(0)
    many = 20_000
    ward = random.integers(3, size=many)
    which = np.where(random.random(many) < 0.8, ward, random.integers(3, size=many))
    days = random.integers(0, 61, size=many)
    columns = {
        "patient": np.arange(many) // 2,
        "ward": WARDS[ward],
        "days": days,
        "cost": 300.0 * days + random.uniform(0, 4000, many),
        "diagnosis": DIAGNOSES[which],
        "note": np.full(many, "x"),
    }
    parquet.write_table(pa.table(columns), tmp_path / "stays.parquet")
    (tmp_path / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path / "nowiser.yaml"


def test_a_model_under_a_policy(policy):
    gw = nw.open(policy)
    model = gw.learn("stays", target="diagnosis", features=["ward", "days", "cost"], spend="50%")
    card = model.card_
    assert type(model).__name__ == "Boosting"
    assert card.share == pytest.approx(0.5, abs=0.01)
    assert gw.allowance()["left"] == pytest.approx(0.5, abs=0.01)
    assert card.left == pytest.approx(gw.allowance()["left"], abs=0.01)
    assert [g["guess"] for g in card.guesses] == ["stays.diagnosis exactly", "present in stays"]
    assert all(g["before"] < g["after"] < g["limit"] for g in card.guesses)
    assert card.quality["accuracy"] + card.quality["within"] > 0.75
    assert 0.2 < card.quality["baseline"] < 0.5
    assert 0.4 < card.expected["accuracy"] <= 1
    new = {"ward": ["cardiology", "maternity"], "days": [3, 4], "cost": [100.0, 2000.0]}
    assert model.predict(new).tolist() == ["heart", "birth"]
    assert "→ at most" in str(card)
    again = nw.learn.from_json(model.to_json())
    assert again.card_ == card
    assert gw.ledger.verify()


def test_the_account_is_charged_before_a_row_is_read_and_stays_charged(policy, monkeypatch):
    gw = nw.open(policy)
    seen = []

    def unreadable(*_args, **_more):
        seen.append(gw.allowance()["left"])
        raise OSError("a row of somebody")

    monkeypatch.setattr("nowiser.learn.learn.counted", unreadable)
    with pytest.raises(NotEvaluated, match="It is charged") as refusal:
        gw.learn("stays", target="diagnosis", features=["ward"], spend="20%")
    assert "somebody" not in str(refusal.value)
    assert seen[0] < 0.81
    assert gw.allowance()["left"] < 0.81


def test_what_is_refused_is_refused_before_anything_is_charged_or_read(policy, monkeypatch):
    def never(*_args, **_more):
        raise AssertionError("read")

    monkeypatch.setattr(bought_rows, "counted", never)
    monkeypatch.setattr("nowiser.learn.learn.counted", never)
    gw = nw.open(policy)
    ask = gw.learn
    with pytest.raises(NotAnswerable, match="is a number"):
        ask("stays", target="days", features=["ward"])
    with pytest.raises(NotAnswerable, match="no range"):
        ask("stays", target="ward", features=["days"], model=nw.learn.LinearRegression())
    with pytest.raises(NotAnswerable, match="'note'"):
        ask("stays", target="ward", features=["note"])
    with pytest.raises(NotAnswerable, match="'patient'"):
        ask("stays", target="ward", features=["patient"])
    with pytest.raises(NotAnswerable, match="is the target"):
        ask("stays", target="ward", features=["ward"])
    with pytest.raises(Misconfigured, match="no column 'colour'"):
        ask("stays", target="ward", features=["colour"])
    with pytest.raises(Misconfigured, match="no table 'visits'"):
        ask("visits", target="ward")
    with pytest.raises(Misconfigured, match="name one"):
        ask("stays")
    with pytest.raises(Misconfigured, match="has no target"):
        ask("stays", target="ward", model=nw.learn.KMeans())
    with pytest.raises(Misconfigured, match="Leave rho, gain and bounds out"):
        ask("stays", target="ward", model=nw.learn.Boosting(rho=1))
    assert gw.allowance()["left"] == 1


def test_models_use_the_allowance_up_together(policy):
    gw = nw.open(policy)
    gw.learn("stays", target="cost", features=["days"], model=nw.learn.LinearRegression(), spend="60%")
    gw.learn("stays", features=["days", "cost"], model=nw.learn.KMeans(), spend="30%")
    with pytest.raises(Exhausted):
        gw.learn("stays", target="diagnosis", spend="20%")
    assert gw.allowance()["left"] == pytest.approx(0.1, abs=0.02)


def test_a_regression_tells_its_error_on_others(policy):
    model = nw.open(policy).learn(
        "stays", target="cost", features=["days"], model=nw.learn.LinearRegression(), spend="100%"
    )
    assert model.card_.quality["error"] < 4000 + model.card_.quality["within"]
    assert "Off by" in str(model.card_)
    assert model.predict({"days": [50]})[0] == pytest.approx(17_000, abs=3000)


def test_a_gradient_of_ones_own_is_paid_like_any_model_but_not_on_samples(policy):
    gw = nw.open(policy)
    given = {"target": "cost", "features": ["days"], "spend": "50%"}
    with pytest.raises(Misconfigured, match="all people are in each step"):
        gw.learn("stays", model=nw.learn.SGD(gradient=absolute, sample=0.1), **given)
    assert gw.allowance()["left"] == 1
    model = gw.learn("stays", model=nw.learn.SGD(gradient=absolute, steps=4, rate=4000), **given)
    assert model.card_.share == pytest.approx(0.5, abs=0.01)
    assert model.rho_ == pytest.approx(model.card_.rho)
    assert ", on average" in str(model.card_)


def test_a_plan_charges_nothing_and_says_what_a_spend_is_worth(policy):
    declared = nw.open(policy).policy
    little = plan(declared, "stays", target="diagnosis", features=["ward", "days"], spend="0.01%")
    much = plan(declared, "stays", target="diagnosis", features=["ward", "days"], spend="90%")
    assert little.expected["accuracy"] < much.expected["accuracy"]
    assert "Nothing was charged" in str(much)
    assert nw.open(policy).allowance()["left"] == 1


def test_no_model_without_a_failure_probability_under_a_promise_about_every_answer(policy):
    policy.write_text(POLICY.replace(", promise: on average", ""), encoding="utf-8")
    with pytest.raises(Misconfigured, match="delta"):
        nw.open(policy).learn("stays", target="diagnosis", features=["ward"])


def test_the_command(policy):
    def run(*words):
        return nowiser(policy.parent, *words)

    out = policy.parent / "model.json"
    common = ("learn", "stays", "-p", str(policy), "--target", "diagnosis", "--features", "ward,days")
    dry = run(*common, "--spend", "30%", "--dry")
    assert dry.returncode == 0, dry.stderr
    assert "Nothing was charged" in dry.stdout
    assert run(*common).returncode == 3  # no place to write to
    assert run(*common, "-o", str(out), "--model", "tree", "--set", "colour=1").returncode == 3
    done = run(*common, "--spend", "30%", "-o", str(out), "--model", "tree", "--set", "depth=2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["model"] == "DecisionTree"
    assert told["share"] == pytest.approx(0.3, abs=0.01)
    assert told["file"] == str(out)
    model = nw.learn.from_json(out.read_text(encoding="utf-8"))
    assert model.depth == 2
    assert any(rule.startswith("ward in") for rule in model.rules())
    assert run(*common, "--spend", "30%", "-o", str(out)).returncode == 3  # it is there already
    assert run(*common, "--spend", "90%", "-o", str(out), "--force").returncode == 4
