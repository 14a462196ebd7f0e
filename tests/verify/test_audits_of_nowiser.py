"""nowiser's own answers and releases as black boxes: their costs are kept, and halved noise is caught."""

from fractions import Fraction

import pyarrow as pa
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata.perturb import private
from nowiser.noise import laplace
from nowiser.policy.reader import parse
from nowiser.verify.auditor import Question, audit

POLICY = """
nowiser: 1
engine: duckdb
tables:
  visits:
    source: canteen.csv
    person: student
    rows_per_person: 1
    protect: persons
    columns:
      student: identifier
      faculty: {public: [math, physics]}
      ill: {sensitive: ["no", "yes"], prior: {categories: {"no": 0.5, "yes": 0.5}}}
attackers:
  - {guess: visits.ill exactly, gain: 38%}
"""
ROWS = [{"student": f"s{i}", "faculty": "math", "ill": "no"} for i in range(6)]
CHANGED = [{**ROWS[0], "ill": "yes"}, *ROWS[1:]]
COUNT = "SELECT COUNT(*) AS n FROM visits WHERE ill = 'yes'"


@pytest.fixture
def counted(tmp_path):
    return Question(parse(POLICY, tmp_path / "nowiser.yaml"), COUNT, spend=1)


def test_an_answer_keeps_the_cost_that_explain_tells(counted):
    cost = counted.cost(ROWS)
    assert cost["jump"] > 1
    found = audit(counted, ROWS, CHANGED, epsilon=cost["jump"], samples=400, seconds=600, confidence=0.999)
    assert not found.refuted, str(found)


def test_an_answer_with_halved_noise_is_caught(counted, monkeypatch):
    cost = counted.cost(ROWS)
    whole = laplace.discrete_laplace
    monkeypatch.setattr(laplace, "discrete_laplace", lambda scale, *rest, **more: whole(scale / 2, *rest, **more))
    found = audit(counted, ROWS, CHANGED, epsilon=cost["jump"], samples=1500, seconds=600)
    assert found.refuted, str(found)


def released(minutes):
    """Minutes with private noise: two neighbours differ by one minute, which costs 1/scale and 0 for whole numbers."""
    step = {"private_noise": {"table": "visits", "column": "minutes", "low": 0, "high": 60, "scale": 1}}
    table = pa.table({"place": ["a"] * len(minutes), "minutes": pa.array(minutes, pa.int64())})
    found = nw.publish(table, quasi=["place"], keep=["minutes"], steps=[step])
    return sorted(found.to_arrow()["minutes"].to_pylist())


def test_a_release_by_a_private_step_keeps_its_cost():
    found = audit(released, [20], [21], epsilon=1.0, samples=400, seconds=600, confidence=0.999)
    assert not found.refuted, str(found)


def test_a_release_with_a_quarter_of_its_noise_is_caught(monkeypatch):
    whole = private.discrete_laplace
    monkeypatch.setattr(private, "discrete_laplace", lambda scale, *rest: whole(Fraction(scale) / 4, *rest))
    found = audit(released, [20], [21], epsilon=1.0, samples=600, seconds=600)
    assert found.refuted, str(found)


def test_other_libraries_and_refusals(counted, tmp_path):
    """A refusal is an output; a table that is not there is said at once."""
    refused = Question(parse(POLICY, tmp_path / "nowiser.yaml"), "SELECT ill FROM visits")
    with pytest.raises(Misconfigured, match="raises on every run"):
        audit(refused, ROWS, CHANGED, epsilon=1.0)
    with pytest.raises(Misconfigured, match="name one table"):
        Question(parse(POLICY, tmp_path / "nowiser.yaml"), COUNT, table="stays")
