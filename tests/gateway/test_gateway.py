"""The flow of a question: what is charged, kept, refused, and said."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest

import nowiser as nw
from nowiser.engines.base import Broken
from nowiser.errors import Exhausted, Misconfigured, NotAnswerable, NotAuthorised, NotEvaluated, NowiserError
from nowiser.noise.laplace import Laplace

AVERAGE = "SELECT AVG(time) FROM visits WHERE faculty = 'math'"


def test_the_canteen(canteen):
    answer = canteen.query(AVERAGE, anyway=True)
    assert answer.columns == ("avg",)
    assert len(answer.rows) == 1
    assert answer.error[0] > 0
    assert answer.exact == ()
    cost = answer.cost["visits"]["time"]
    assert cost["slope"] > 0
    assert cost["jump"] < 1e-6
    assert cost["unit"] == 2
    (guess,) = answer.guesses
    assert guess["before"] < guess["after"] <= guess["limit"]
    assert 0.94 < answer.left < 0.96
    assert not answer.stored


def test_the_printed_guess_is_reproduced_from_the_printed_cost(canteen):
    answer = canteen.query(AVERAGE, anyway=True)
    cost = answer.cost["visits"]["time"]
    prior = nw.Truncated(nw.Normal(20, 5), 0, 60) if hasattr(nw, "Truncated") else nw.Normal(20, 5)
    found = nw.guess(prior, nw.Within(2), slope=cost["slope"], jump=cost["jump"])
    gain = answer.guesses[0]["after"] - answer.guesses[0]["before"]
    assert found.after - found.before == pytest.approx(gain, abs=2e-3)


def test_json_has_exactly_the_documented_keys(canteen):
    answer = canteen.query(AVERAGE, anyway=True)
    keys = ["columns", "rows", "error", "exact", "cost", "guesses", "left", "stored", "follows", "bounding"]
    assert list(json.loads(answer.to_json())) == keys
    explained = canteen.explain("SELECT COUNT(*) FROM visits WHERE time > 3")
    besides = ["price", "admitted", "useful", "expected"]
    assert list(json.loads(explained.to_json())) == [k for k in keys if k != "rows"] + besides
    assert list(answer.guesses[0]) == ["guess", "before", "after", "limit", "promise", "used", "answers"]
    assert explained.error[0] > 0
    assert answer.to_pandas().shape == (1, 2)
    assert answer.to_arrow().column_names == ["avg", "avg_error"]
    assert answer.to_arrow(errors=False).column_names == ["avg"]
    assert "<table>" in answer._repr_html_()


def test_the_same_question_gets_its_stored_answer_again_free(canteen):
    first = canteen.query(AVERAGE, anyway=True)
    again = canteen.query("select avg(v.TIME)\nfrom visits as v -- the same\nwhere 'math' = v.faculty", anyway=True)
    assert again.stored
    free = tuple(g | {"answers": None} for g in first.guesses)  # at no price there is no number of answers left
    assert again.to_dict() | {"stored": False} == first.to_dict() | {"guesses": list(free)}
    assert not canteen.query(AVERAGE, spend="4%", anyway=True).stored
    canteen_file = canteen.policy.path.parent / "canteen.csv"
    canteen_file.write_text(canteen_file.read_text() + "new,math,30\n")
    assert not canteen.query(AVERAGE, anyway=True).stored, "other data, another answer"


def test_public_questions_are_exact_and_free(canteen):
    answer = canteen.query("SELECT faculty, COUNT(*) FROM visits GROUP BY faculty", anyway=True)
    rows = dict(answer.rows)
    assert list(rows) == ["math", "computer science", "law"], "all declared groups, in order, empty ones too"
    assert rows["law"] == 0
    assert sum(rows.values()) == 300
    assert answer.exact == ("faculty", "count")
    assert answer.cost == {}
    assert answer.left == 1


def test_explain_touches_no_data_and_charges_nothing(canteen):
    (canteen.policy.path.parent / "canteen.csv").unlink()
    explained = canteen.explain(AVERAGE)
    assert explained.rows is None
    assert explained.left < 1
    assert canteen.allowance()["left"] == 1
    assert any("useless" in note for note in explained.notes)


def test_the_error_asked_for_is_the_error_given(canteen):
    answer = canteen.query("SELECT COUNT(*) FROM visits WHERE time > 20", error=60, anyway=True)
    assert 50 <= answer.error[0] <= 60
    answer = canteen.query("SELECT AVG(time) FROM visits", error=2, anyway=True)
    assert 1.99 <= answer.error[0] <= 2
    with pytest.raises(NotAnswerable, match="not known beforehand"):
        canteen.query("SELECT AVG(time) FROM visits WHERE time > 3", error=2, anyway=True)
    with pytest.raises(Misconfigured):
        canteen.query(AVERAGE, error=2, spend="1%", anyway=True)
    with pytest.raises(Misconfigured):
        canteen.query(AVERAGE, spend="200%", anyway=True)


def test_the_allowance_ends(canteen):
    asked = 0
    try:
        for asked in range(30):
            canteen.query(f"SELECT AVG(time) FROM visits WHERE student <> 's{asked}'", anyway=True)
    except Exhausted as refusal:
        assert "is left" in str(refusal)  # noqa: PT017 (how many were answered is what this is about)
    assert 18 <= asked <= 20
    left = canteen.allowance()["left"]
    assert left < 0.1
    before = canteen.allowance()
    with pytest.raises(Exhausted):
        canteen.query("SELECT AVG(time) FROM visits", error=0.0001, anyway=True)
    assert canteen.allowance() == before
    assert canteen.query("SELECT COUNT(*) FROM visits", anyway=True).rows == ((300,),), "what is free stays answered"


@pytest.mark.parametrize("sql", ["SELECT time FROM visits", "SELEC", "SELECT COUNT(*) FROM visits WHERE foo(time)"])
def test_a_refusal_charges_nothing_and_touches_no_data(canteen, sql, monkeypatch):
    monkeypatch.setattr(canteen, "_engine", None)
    with pytest.raises(NotAnswerable):
        canteen.query(sql, anyway=True)
    assert canteen.allowance()["left"] == 1


def test_a_failed_run_keeps_its_charge_and_says_nothing(canteen, monkeypatch):
    canteen._engine.prepared_version()

    def broken(tally):
        raise Broken("Alice earns 17")

    monkeypatch.setattr(canteen._engine, "run", broken)
    with pytest.raises(NotEvaluated) as caught:
        canteen.query(AVERAGE, anyway=True)
    assert "Alice" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert canteen.allowance()["left"] < 0.96
    monkeypatch.undo()
    assert not canteen.query(AVERAGE, anyway=True).stored


def test_analysts_are_known_by_name(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    policy.write_text(policy.read_text() + "analysts: {ann: 10%, bob: 50%}\n")
    with nw.open(policy) as gate:
        with pytest.raises(NotAuthorised):
            gate.query(AVERAGE, anyway=True)
        with pytest.raises(NotAuthorised):
            gate.query(AVERAGE, analyst="eve", anyway=True)
        gate.query(AVERAGE, analyst="ann", anyway=True)
        with pytest.raises(Exhausted):
            gate.query("SELECT AVG(time) FROM visits", analyst="ann", spend="6%", anyway=True)
        gate.query("SELECT AVG(time) FROM visits", analyst="bob", spend="6%", anyway=True)


def test_results_are_computed_after_the_noise(canteen):
    answer = canteen.query(
        "SELECT faculty, ROUND(AVG(time)) AS a, 1 + COUNT(*) AS n, CASE WHEN COUNT(*) = 0 THEN 'nobody' ELSE 'some' END AS w "
        "FROM visits GROUP BY faculty HAVING COUNT(*) >= 0 ORDER BY n DESC LIMIT 2 OFFSET 1",
        anyway=True,
    )
    assert answer.columns == ("faculty", "a", "n", "w")
    assert len(answer.rows) == 2
    assert answer.rows[1] == ("law", None, 1, "nobody")
    assert answer.exact == ("faculty", "n", "w")


def test_clipped_rows_are_estimated_on_request_and_charged(canteen):
    answer = canteen.query("SELECT SUM(time) FROM visits", clipped=True, spend="2%", anyway=True)
    assert any(re.search(r"outside the declared range: [0-9.]+ % of all, between", note) for note in answer.bounding)
    assert answer.cost["visits"]["time"]["jump"] > 1e-4
    assert answer.left < 0.99


BUSY = """
nowiser: 1
tables:
  visits:
    source: visits.csv
    person: who
    rows_per_person: 4
    protect: {protect}
    columns:
      who: identifier
      ward: {{public: [A, B]}}
      cost: {{sensitive: [0, 100]}}
attackers:
  - {{guess: visits.cost within 5, gain: 60%}}
answers: {{spend: 40%}}
"""


@pytest.fixture(params=["csv", "parquet"])
def busy(request, tmp_path):
    """500 persons with 2 rows, 300 with 6 and 200 with 20, of which at most 4 count: 600 + 3,200 are left out."""
    import duckdb

    def opened(protect):
        rows = [
            (f"p{i}", "AB"[k % 2], float(i % 90))
            for i in range(1000)
            for k in range(2 if i < 500 else 6 if i < 800 else 20)
        ]
        with duckdb.connect() as c:
            c.execute("CREATE TABLE v (who VARCHAR, ward VARCHAR, cost DOUBLE)")
            c.executemany("INSERT INTO v VALUES (?, ?, ?)", rows)
            c.execute(f"COPY v TO '{tmp_path}/visits.{request.param}'")
        (tmp_path / "nowiser.yaml").write_text(
            BUSY.format(protect=protect).replace("visits.csv", f"visits.{request.param}")
        )
        return nw.open(tmp_path / "nowiser.yaml")

    return opened


def test_rows_left_out_are_counted_free_where_who_is_there_is_public(busy):
    with busy("values") as gate:
        answer = gate.query("SELECT COUNT(*) FROM visits", clipped=True, anyway=True)
        assert answer.cost == {}
        assert answer.rows == ((3000,),)
        # of each person no more than were kept: 300 persons have 2 left out, 200 have 16, counted as 4
        assert answer.bounding[-1] == (
            "visits: about 1,400 rows were left out because their persons have more than may count "
            "(of each person no more counted than were kept): 31.8 % of all."
        )
        half = gate.query("SELECT COUNT(*) FROM visits WHERE ward = 'A'", clipped=True, anyway=True).bounding[-1]
        counted = int(re.search(r"about ([\d,]+) rows", half)[1].replace(",", ""))
        assert abs(counted - 700) < 120, "what a question looks at is as likely to be left out as anything"


def test_rows_left_out_are_estimated_and_charged_where_persons_are_secret(busy):
    with busy("persons") as gate:
        first = gate.query("SELECT COUNT(*) FROM visits", anyway=True)
        both = gate.query("SELECT COUNT(*) FROM visits", clipped=True, anyway=True)
        assert both.stored, "the question itself is known; only the estimate is new"
        assert both.left < first.left - 0.3
        found = re.search(r"about ([\d,]+) rows \(± ([\d,.]+)\) were left out .*%", both.bounding[-1])
        value, bar = (float(n.replace(",", "")) for n in found.groups())
        assert abs(value - 1400) < 5 * bar
        assert 4 <= bar < 400
        assert both.bounding[0] == (
            "visits: at most 4 rows of each person count; any further, however many, are left out "
            "(clipped=True estimates them); each would have raised the count by 1."
        )


def test_a_name_is_exact_only_if_all_columns_of_that_name_are(canteen):
    assert canteen.query("SELECT COUNT(*) AS a, SUM(time) AS a, COUNT(*) AS b FROM visits", anyway=True).exact == ("b",)


def test_persons_pay_presence_and_jump_for_every_attribute(hospital):
    gate = hospital()
    answer = gate.query("SELECT ward, COUNT(*), AVG(cost) FROM patients GROUP BY ward", anyway=True)
    for attribute in ("diagnosis", "cost"):
        cost = answer.cost["patients"][attribute]
        assert cost["presence"] > 0
        assert cost["jump"] > 0
        assert cost["slope"] == 0
    assert answer.exact == ("ward",)
    assert [g["guess"] for g in answer.guesses] == ["patients.diagnosis exactly", "present in patients"]
    assert all(0 <= row[2] <= 1000 for row in answer.rows)


QUESTIONS = [
    "SELECT COUNT(*) FROM patients WHERE name = 'Alice' AND diagnosis = 'HIV'",
    "SELECT SUM(1/(CASE WHEN name='Alice' AND diagnosis='HIV' THEN 0 ELSE 1 END)) FROM patients",
    "SELECT SUM(SQRT(CASE WHEN name='Alice' AND diagnosis='HIV' THEN -1 ELSE 1 END)) FROM patients",
    "SELECT AVG(CASE WHEN name='Alice' THEN cost END) FROM patients",
    "SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis",
    "SELECT CASE WHEN name='Alice' THEN diagnosis ELSE 'other' END k, COUNT(*) FROM patients GROUP BY k",
    "SELECT SUM(CAST(CASE WHEN name='Alice' AND diagnosis='HIV' THEN 9223372036854775807 ELSE 0 END AS BIGINT) + 1) FROM patients",
    "SELECT MAX(cost) FROM patients",
]


def test_the_outcome_is_the_same_with_and_without_alice(hospital):
    worlds = [hospital("with"), hospital("changed", "1,Alice,A,flu,10"), hospital("without", None)]
    for sql in QUESTIONS:
        outcomes = []
        for gate in worlds:
            try:
                answer = gate.query(sql, spend="1%", anyway=True)
                outcomes.append(
                    ("answered", answer.columns, len(answer.rows), answer.cost, answer.left, answer.guesses)
                )
            except NowiserError as error:
                outcomes.append((type(error).__name__, str(error)))
        assert outcomes[0] == outcomes[1] == outcomes[2], sql


@pytest.mark.parametrize("aggregate", ["SUM", "AVG"])
def test_noise_beyond_all_numbers_is_refused_before_anything_is_charged(canteen, aggregate):
    sql = f"SELECT {aggregate}(time * 1e296) FROM visits WHERE time > 3"
    for ask in (canteen.explain, canteen.query):
        with pytest.raises(NotAnswerable, match="larger than any number"):
            ask(sql, spend="0.0000000000000001%")
    assert canteen.allowance()["left"] == 1


def test_every_cell_has_noise_of_its_own_drawn_ahead_or_not(canteen):
    """Noise drawn while the engine works is used where there is exactly one number for each cell, else not at all."""
    noise = [Laplace(Fraction(10**9)), None]
    cells = [np.arange(50), np.arange(50)]
    drawn = [noise[0].blur(np.zeros(50, dtype=np.int64)), np.zeros(50, dtype=np.int64)]
    blurred, exact = canteen._blur(noise, cells, drawn)
    assert np.array_equal(blurred - cells[0], drawn[0])
    assert np.array_equal(exact, cells[1])
    for wrong in (drawn[0][:1], drawn[0][:49]):
        blurred, _ = canteen._blur(noise, cells, [wrong, drawn[1]])
        assert len(set((blurred - cells[0]).tolist())) > 40, "fresh noise, not one number for all"


def test_a_damaged_copy_is_made_anew(canteen_folder):
    sql = "SELECT faculty, COUNT(*) FROM visits GROUP BY faculty"
    with nw.open(canteen_folder / "nowiser.yaml") as gate:
        told = gate.query(sql, anyway=True).rows
    (copy,) = (canteen_folder / ".nowiser").glob("prepared-*.duckdb")
    copy.write_bytes(b"no database" * 1000)
    with nw.open(canteen_folder / "nowiser.yaml") as gate:
        assert gate.query(sql, spend="1%", anyway=True).rows == told
