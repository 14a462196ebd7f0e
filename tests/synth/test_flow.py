"""Synthetic rows under a policy: charged before data is read, in their kinds, in a file or not at all."""

import datetime as dt
import json
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest

import nowiser as nw
from nowiser.errors import Exhausted, Misconfigured, NotAnswerable, NotEvaluated, Useless
from nowiser.ledger.opening import for_policy
from nowiser.policy import read
from nowiser.synth import synth as flow
from nowiser.synth.ask import again
from nowiser.synth.model import Model
from support.commands import nowiser

POLICY = """
nowiser: 1
delta: 1e-9
tables:
  stays:
    source: stays.csv
    person: patient
    rows_per_person: 2
    people: 2000
    columns:
      patient: identifier
      ward: {sensitive: {values: [surgery, heart, eyes]}, nullable: false, prior: uniform}
      age: {kind: integer, sensitive: [0, 99], nullable: false, prior: uniform}
      cost: {sensitive: [0, 5000], grid: 0.01, prior: uniform, nullable: true}
      day: {kind: date, sensitive: [2024-01-01, 2024-12-31], prior: uniform}
      urgent: {kind: boolean, sensitive: {values: [true, false]}, nullable: false, prior: uniform}
attackers:
  - {guess: present in stays, gain: 20%, promise: on average}
  - {guess: stays.ward exactly, gain: 30%, promise: on average}
"""


@pytest.fixture
def ward(tmp_path):
    random = np.random.default_rng(11)
    lines = []
    for patient in range(2000):
        for _ in range(int(random.integers(1, 4))):  # some have more than count
            place = ("surgery", "heart", "eyes")[patient % 3]
            age = int(np.clip(random.normal(40 + 20 * (patient % 3), 8), 0, 99))
            cost = "" if random.random() < 0.1 else f"{random.gamma(3, 300):.2f}"
            day = dt.date(2024, 1, 1) + dt.timedelta(days=int(random.integers(366)))
            lines.append(f"{patient},{place},{age},{cost},{day},{str(place == 'heart').lower()}")
    (tmp_path / "stays.csv").write_text("patient,ward,age,cost,day,urgent\n" + "\n".join(lines) + "\n")
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    return tmp_path / "nowiser.yaml"


def charged(path):
    with for_policy(read(path)) as ledger:
        ledger.verify()
        return ledger.totals()


def test_rows_come_in_their_kinds_and_are_paid_for_once(ward, tmp_path):
    heard = []
    made = nw.synth(
        "stays", policy=ward, spend="60%", output=tmp_path / "rows.parquet", model=tmp_path / "m.json",
        told=lambda done, what: heard.append((done, what)),
    )  # fmt: skip
    table = pq.read_table(tmp_path / "rows.parquet")
    assert table.equals(made.to_arrow())
    assert table.column_names == ["ward", "age", "cost", "day", "urgent"]
    kinds = [str(c.type) for c in table.columns]
    assert kinds == ["string", "int64", "double", "date32[day]", "bool"]
    costs = [c for c in table["cost"].to_pylist() if c is not None]
    assert all(round(c, 2) == c and 0 <= c <= 5000 for c in costs)
    assert 0 < table["cost"].null_count < len(table) / 3
    assert 0.8 < len(table) / 3350 < 1.2  # at most two rows of each count
    heart, urgent = (np.array(table[c].to_pylist()) for c in ("ward", "urgent"))
    assert np.mean((heart == "heart") == urgent) > 0.8
    assert [g.after <= g.limit for g in made.guesses] == [True, True]
    assert 0.59 < made.spent <= 0.6
    assert heard[-1][0] == pytest.approx(1)
    before = charged(ward)
    assert before
    more = again(tmp_path / "m.json", rows=17, output=tmp_path / "more.csv")
    assert len(more) == 17
    assert charged(ward) == before
    assert (tmp_path / "more.csv").read_text().startswith("ward,age,cost,day,urgent\n")
    with pytest.raises(Exhausted):
        nw.synth("stays", policy=ward, spend="60%")
    assert charged(ward) == before


def test_answers_and_rows_are_one_account(ward):
    nw.synth("stays", policy=ward, spend="60%", method="independent")
    with nw.open(ward) as gate:
        assert gate.allowance()["left"] == pytest.approx(0.4, abs=0.01)
        with pytest.raises(Exhausted):
            gate.query("SELECT count(*) FROM stays", spend="50%")


REFUSED = [
    ({"table": "nothing"}, Misconfigured, "name one table"),
    ({"method": "magic"}, Misconfigured, "Methods: aim, mst, all, independent"),
    ({"columns": ["patient"]}, NotAnswerable, "names a person"),
    ({"columns": ["height"]}, Misconfigured, "no column 'height'"),
    ({"cells": {"cost": 400_000}}, Misconfigured, "at most 10,000; found 400000"),
    ({"cells": {"cost": 4000, "day": 366}}, NotAnswerable, "'cost' and 'day' together"),
    ({"cells": {"age": float("nan")}}, Misconfigured, "whole number, or the edges"),
    ({"cells": {"age": [10, float("inf")]}}, Misconfigured, "an edge of 'age' is no integer"),
    ({"cells": {"day": ["2024-02-30"]}}, Misconfigured, "an edge of 'day' is no date"),
    ({"cells": {"day": ["2025-02-01"]}}, Misconfigured, "strictly inside its range"),
    ({"cells": {"ward": "bought"}}, Misconfigured, "declared values, and no range"),
    ({"cells": {"height": "bought"}}, Misconfigured, "is not modelled"),
    ({"cells": {"age": "twenty"}}, Misconfigured, "whole number, or the edges"),
    ({"cells": {"age": "bought"}, "impossible": [{"age": "0 to 4"}]}, Misconfigured, "cells of 'age' are bought"),
    ({"report": "page.txt"}, Misconfigured, "must end in .html"),
    ({"report": "page.html", "target": "height"}, Misconfigured, "no column 'height' to predict"),
    ({"cells": {"cost": 0}}, Misconfigured, "at least one cell"),
    ({"workload": {"ward*height": 1}}, Misconfigured, "names 'height'"),
    ({"workload": {"ward*age": -1}}, Misconfigured, "above zero"),
    ({"workload": {"ward*age": float("nan")}}, Misconfigured, "above zero"),
    ({"impossible": [{"ward": "moon"}]}, Misconfigured, "no cell 'moon'"),
    ({"impossible": [{"ward": ["surgery", "heart", "eyes"]}]}, Misconfigured, "no row could be"),
    ({"rows": 0}, Misconfigured, "at least 1"),
    ({"spend": "0%"}, Misconfigured, "above 0%"),
    ({"spend": "0.001%"}, Useless, "of no use"),
    ({"spend": "0.0000000001%"}, Useless, "thousands of rows"),
    ({"output": "rows.txt"}, Misconfigured, "must end in"),
    ({"output": "nowhere/rows.csv"}, Misconfigured, "no folder"),
    ({"model": "m.txt"}, Misconfigured, "ends in .json"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_is_wrong_is_said_before_anything_is_charged(ward, tmp_path, monkeypatch, refused):
    options, kind, words = refused
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as error:
        nw.synth(**({"table": "stays", "policy": ward, "spend": "10%"} | options))
    assert words in str(error.value)
    assert not charged(ward)
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".")) == ["nowiser.yaml", "stays.csv"]


def test_a_table_that_is_not_there_costs_nothing(ward, tmp_path):
    (tmp_path / "stays.csv").rename(tmp_path / "gone.csv")
    with pytest.raises(Misconfigured):
        nw.synth("stays", policy=ward, spend="10%")
    assert not charged(ward)


def test_a_failure_after_the_charge_keeps_it_and_says_nothing(ward, tmp_path, monkeypatch):
    def broken(*_):
        raise ValueError("patient 17 has ward X")

    monkeypatch.setattr(flow.bought_rows, "counted", broken)
    with pytest.raises(NotEvaluated) as error:
        nw.synth("stays", policy=ward, spend="10%", output=tmp_path / "rows.csv")
    assert "17" not in str(error.value)
    assert charged(ward)
    assert not (tmp_path / "rows.csv").exists()


def test_interrupted_nothing_is_written(ward, tmp_path):
    def stopped(done, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nw.synth(
            "stays", policy=ward, spend="10%", output=tmp_path / "rows.csv", model=tmp_path / "m.json", told=stopped
        )
    assert charged(ward)
    assert not list(tmp_path.glob("rows*")) + list(tmp_path.glob("*m.json*"))


def test_impossible_cells_never_appear_and_weights_are_heard(ward):
    made = nw.synth(
        "stays", policy=ward, spend="60%", method="aim", columns=["ward", "urgent", "age"],
        impossible=[{"ward": ["surgery", "eyes"], "urgent": True}], workload={"age*ward": 5},
    )  # fmt: skip
    rows = made.to_arrow().to_pylist()
    assert not [r for r in rows if r["urgent"] and r["ward"] != "heart"]
    assert any(r["urgent"] for r in rows)
    assert ["ward", "age"] in made.to_json()["counted"] or ["age", "ward"] in made.to_json()["counted"]


def test_a_report_holds_the_rows_against_the_real_ones(ward, tmp_path):
    made = nw.synth("stays", policy=ward, spend="60%", method="mst", report=tmp_path / "r.html", target="urgent",
                    cells={"day": ["2024-04-01", "2024-07-01"]})  # fmt: skip
    found = made.to_json()["compared"]
    assert found["marginals"].keys() == {"ward", "age", "cost", "day", "urgent"}
    assert found["marginals"]["ward"] < 0.05
    assert 0.8 < found["classifier"]["released"] <= 1  # urgent is the heart's ward
    assert "for the custodian alone" in str(made)
    page = (tmp_path / "r.html").read_text()
    assert "For the custodian alone" in page
    assert "Synthetic rows of stays" in page
    assert "→ at most" in page
    assert made.to_json()["files"] == [str(tmp_path / "r.html")]


def test_models_go_through_a_file_and_others_are_refused(ward, tmp_path):
    made = nw.synth("stays", policy=ward, spend="30%", method="mst", model=tmp_path / "m.json")
    known = Model.load(tmp_path / "m.json")
    for one, other in zip(known.beliefs.tables, made.model.beliefs.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    whole = json.loads((tmp_path / "m.json").read_text())
    for change, words in [
        ({"version": 2}, "version 2"),
        ({"form": "other"}, "no model"),
        ({"counted": whole["counted"][:1]}, "damaged"),
        ({"rows": "many"}, "damaged"),
    ]:
        (tmp_path / "bad.json").write_text(json.dumps(whole | change))
        with pytest.raises(Misconfigured, match=words):
            Model.load(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(Misconfigured, match="no model"):
        Model.load(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(Misconfigured, match="not JSON"):
        Model.load(tmp_path / "bad.json")


def test_the_command_says_what_it_will_cost_first_and_asks_for_a_policy(ward, tmp_path):
    dry = nowiser(tmp_path, "synth", "--spend", "30%", "--dry")
    assert dry.returncode == 0, dry.stderr
    assert "Expected distance by noise alone" in dry.stdout
    assert not charged(ward)
    made = nowiser(tmp_path, "synth", "stays", "--spend", "30%", "--method", "mst", "-o", "s.csv", "--model", "m.json",
                   "--cells", "age=18:65", "--json")  # fmt: skip
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["files"] == ["m.json", "s.csv"]
    assert told["guesses"][0]["after"] <= told["guesses"][0]["limit"]
    drawn = nowiser(tmp_path, "synth", "m.json", "--rows", "5", "-o", "more.csv")
    assert "for free" in drawn.stdout
    assert len((tmp_path / "more.csv").read_text().splitlines()) == 6
    there = nowiser(tmp_path, "synth", "m.json", "--rows", "5", "-o", "more.csv")
    assert there.returncode == 3
    alone = nowiser(tmp_path, "synth", "stays.csv")
    assert alone.returncode == 3
    assert "nowiser init stays.csv" in alone.stderr


def test_cut_points_are_bought_where_rows_crowd_and_paid_from_the_same_purse(ward):
    """Costs crowd below 2,000 of 5,000: most cells of a bought cut lie there, and what is spent is what was charged."""
    policy = read(ward)
    request = flow.asked(policy, "stays", spend=Fraction(3, 5), method="independent", cells={"cost": "bought"})
    offer, _ = flow.offered(request)
    found, made = flow.measured(request, offer, lambda *_: None)
    cost = next(a for a in found.domain if a.name == "cost")
    assert 8 <= cost.present <= 20
    assert sum(float(e) < 2000 for e in cost.edges[1:-1]) >= 0.7 * (cost.present - 1)
    counted = sum(4 / (d**2 - 1 / 12) for d in made.deviations.values())  # m² = 4
    assert counted == pytest.approx(0.95 * float(offer.amount), rel=1e-3)
    rows = nw.synth("stays", policy=ward, spend="60%", method="mst", cells={"cost": "bought"}).to_arrow()
    assert np.median([c for c in rows["cost"].to_pylist() if c is not None]) == pytest.approx(800, rel=0.25)
