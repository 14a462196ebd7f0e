"""Nothing is charged for answers that tell nothing, and nothing secret decides which those are."""

import json
import random

import pytest

import nowiser
from nowiser.dbapi import ProgrammingError, connect
from nowiser.errors import Useless

COARSE = "SELECT COUNT(*) FROM visits WHERE time < 20"
FINE = "SELECT AVG(time) FROM visits"


def spent(gate):
    return gate._ledger.totals()


def test_a_useless_answer_is_refused_with_its_figures_and_not_charged(canteen):
    before = spent(canteen)
    with pytest.raises(Useless) as refusal:
        canteen.query(COARSE)
    error = refusal.value
    assert (error.exit_code, error.kind) == (2, "useless")
    (figure,) = error.figures
    assert figure["column"] == "count"
    assert figure["share"] == pytest.approx(figure["error"] / figure["of"])
    assert figure["share"] >= 0.2
    assert error.binding == "visits.time within 2"
    assert "anyway=True" in error.hint
    assert spent(canteen) == before
    assert json.dumps(error.to_json())
    explained = canteen.explain(COARSE)
    assert explained.to_dict()["useful"] is False
    assert explained.useless.message == error.message
    assert explained.error[0] == pytest.approx(figure["error"])


def test_who_asks_for_a_wide_bar_is_told_to_ask_for_a_narrower_one(canteen):
    with pytest.raises(Useless) as refusal:
        canteen.query(FINE, error=20)
    assert "A smaller error=" in refusal.value.hint
    assert refusal.value.levers == []
    assert canteen.query(FINE, error=2).error[0] <= 2


def test_levers_are_what_the_changed_question_then_gives(canteen):
    with pytest.raises(Useless) as refusal:
        canteen.query(COARSE)
    levers = refusal.value.levers
    spends = [lever for lever in levers if lever["ask"]]
    assert spends
    for lever in spends:
        assert canteen.explain(COARSE, **lever["ask"]).error[0] == pytest.approx(lever["error"], rel=0.02)
        assert (canteen.explain(COARSE, **lever["ask"]).useless is None) == lever["useful"]


def test_anyway_asks_and_stored_answers_are_free_without_it(canteen):
    first = canteen.query(COARSE, anyway=True)
    before = spent(canteen)
    again = canteen.query(COARSE)
    assert again.stored
    assert again.rows == first.rows
    assert spent(canteen) == before


def test_every_surface_passes_anyway_on(canteen):
    connection = connect(canteen)
    with pytest.raises(ProgrammingError, match="not be worth its price"):
        connection.execute(COARSE)
    assert connection.cursor().execute(COARSE, anyway=True).fetchone()
    median = "SELECT MEDIAN(time) FROM visits"
    assert connect(canteen, anyway=True).execute(median).fetchone()


def test_a_useful_answer_is_given(canteen):
    explained = canteen.explain(FINE)
    assert explained.useless is None
    answer = canteen.query(FINE)
    assert answer.error[0] == pytest.approx(explained.expected["avg"], rel=1e-6), "the number of rows is public"


def test_coalesce_changes_no_bar(canteen):
    plain, filled = (canteen.explain(f"SELECT {e} AS s FROM visits") for e in ("SUM(time)", "COALESCE(SUM(time), 0)"))
    assert filled.expected["s"] == pytest.approx(plain.expected["s"], rel=1e-6)


def test_averages_over_nobody_are_null_and_free(canteen):
    before = spent(canteen)
    law = (
        "SELECT AVG(time), SUM(time), COUNT(*) FILTER (WHERE time < 5), MEDIAN(time) FROM visits WHERE faculty = 'law'"
    )
    answer = canteen.query(law)
    assert answer.rows == ((None, 0, 0, None),)
    assert answer.cost == {}
    assert canteen.query("SELECT MIN(time), MAX(time) FROM visits WHERE faculty = 'law'").rows == ((None, None),)
    assert set(answer.exact) == set(answer.columns)
    assert spent(canteen) == before
    assert canteen.explain(law).price == 0.0
    with_others = canteen.query("SELECT faculty, AVG(time) FROM visits GROUP BY faculty", anyway=True)
    assert dict(with_others.rows)["law"] is None


@pytest.mark.parametrize("protect", ["values", "persons"])
def test_limit_0_is_free(tmp_path, open_canteen, protect):
    gate = open_canteen(protect)
    before = spent(gate)
    answer = gate.query("SELECT faculty, AVG(time) FROM visits GROUP BY faculty LIMIT 0")
    assert answer.rows == ()
    assert spent(gate) == before


# -- where the number of rows is secret ----------------------------------------------------------------------------------


def test_of_unknown_size_only_the_absurd_is_refused(open_canteen):
    gate = open_canteen("persons")
    count = "SELECT COUNT(*) FROM visits"
    assert gate.explain(count).useless is None, "a million persons are assumed"
    with pytest.raises(Useless, match="1,000,000 rows"):
        gate.query(count, spend="0.001%")


def test_the_policy_may_say_how_many_people_there_are(open_canteen):
    gate = open_canteen("persons", people=300)
    with pytest.raises(Useless, match="the policy says"):
        gate.query("SELECT COUNT(*) FROM visits")
    assert open_canteen("persons", people=300_000).explain("SELECT COUNT(*) FROM visits").useless is None


def test_a_count_that_was_told_is_used(open_canteen):
    gate = open_canteen("persons")
    average = "SELECT AVG(time) FROM visits"
    assert gate.explain(average, spend="1%").useless is None
    (count,), *_ = gate.query("SELECT COUNT(*) FROM visits", spend="50%").rows
    with pytest.raises(Useless, match="as an answer told before") as refusal:
        gate.query(average, spend="1%")
    assert f"({count} rows" in refusal.value.message


def test_groups_that_cannot_be_shown_are_not_paid_for(open_canteen):
    gate = open_canteen("persons", people=300)
    before = spent(gate)
    with pytest.raises(Useless, match="nothing would be shown"):
        gate.query("SELECT note, COUNT(*) FROM visits GROUP BY note")
    assert spent(gate) == before
    assert gate.query("SELECT note, COUNT(*) FROM visits GROUP BY note", anyway=True).rows == ()


# -- words -----------------------------------------------------------------------------------------------------------------


def test_a_bar_over_the_whole_range_says_so(canteen):
    told = str(canteen.query("SELECT AVG(time) FROM visits", spend="0.01%", anyway=True))
    assert "(no information)" in told
    assert "(no information)" not in str(canteen.query(FINE))


def test_values_and_intervals_stay_inside_the_range(canteen, open_canteen):
    for gate in (canteen, open_canteen("persons")):
        for spend in ("0.1%", "0.2%", "0.3%", "0.4%"):
            answer = gate.query("SELECT faculty, AVG(time) AS t FROM visits GROUP BY faculty", spend=spend, anyway=True)
            assert all(t is None or 0 <= t <= 60 for _, t in answer.rows)
            assert all(i is None or 0 <= i[0] <= i[1] <= 60 for i in answer.interval()["t"])
            assert all(e is None or 0 < e <= 60 for _, e in answer.errors())


def test_before_is_fixed_and_the_points_are_said(canteen):
    seen = [canteen.allowance()["guesses"][0]["before"]]
    for spend in ("5%", "20%", "30%"):
        (guess,) = canteen.query(FINE, spend=spend).guesses
        seen.append(guess["before"])
        assert guess["limit"] == pytest.approx(guess["before"] + 0.05)
        assert guess["after"] <= guess["limit"]
    assert len(set(seen)) == 1
    told = str(canteen.query("SELECT AVG(time) FROM visits WHERE faculty = 'math'", spend="5%", anyway=True))
    assert "of 5 points used, about 8 such answers left" in told


def test_as_many_such_answers_are_left_as_are_said(canteen):
    left = canteen.query(FINE, spend="20%").guesses[0]["answers"]
    for i in range(left):
        canteen.query(f"SELECT AVG(time) AS a{i} FROM visits WHERE time >= 0 - {i}.5", spend="20%", anyway=True)
    assert left == 4
    with pytest.raises(nowiser.Exhausted):
        canteen.query("SELECT AVG(time) FROM visits WHERE faculty = 'math'", spend="20%")


def test_notes_are_said_once_and_kept_in_json(canteen):
    first, second = (
        canteen.query(f"SELECT AVG(time) FROM visits WHERE faculty = '{f}'", anyway=True)
        for f in ("math", "computer science")
    )
    assert "Note: " in str(first)
    assert "Note: " not in str(second)
    assert first.to_dict()["bounding"] == second.to_dict()["bounding"] != []


def test_what_row_limits_bias_is_not_called_exact(canteen):
    told = str(canteen.query("SELECT COUNT(*) FROM visits"))
    assert "Exact" not in told
    assert "Without noise and free" in told


def tabled(folder, rows, column):
    """A table of these values of a column, about secret wards."""
    (folder / "t.csv").write_text("\n".join(["ward,age", *(f"{w},{a}" for w, a in rows), ""]))
    (folder / "nowiser.yaml").write_text(f"""
nowiser: 1
tables:
  t:
    source: t.csv
    person: each row
    protect: values
    columns:
      ward: {{sensitive: [a, b, c, d, e, f, g, h]}}
      age: {{sensitive: [0, 100], kind: integer, prior: uniform}}
attackers:
  - {{guess: {column}, gain: 10%}}
answers: {{spend: 10%}}
""")
    return nowiser.open(folder / "nowiser.yaml")


def test_the_bar_of_max_is_not_promised_smaller_than_it_is(tmp_path):
    """Ages as people have them: next to nobody is near the declared end."""
    draw = random.Random(3)
    rows = [("a", min(95, max(17, round(draw.gauss(38, 13))))) for _ in range(30_000)]
    with tabled(tmp_path, rows, "t.age within 2") as gateway:
        for sql in ("SELECT MAX(age) FROM t", "SELECT MIN(age) FROM t"):
            said, more = gateway.explain(sql), gateway.explain(sql, spend="60%")
            ((bar,),) = [gateway.query(sql, anyway=True).error]
            (told,) = said.expected.values()
            assert bar > 15
            assert told > 0.6 * bar
            assert next(iter(more.expected.values()), 0) < told


def test_averages_by_a_secret_key_are_not_judged_as_if_all_groups_were_alike(tmp_path):
    draw = random.Random(4)
    rows = [(draw.choices("abcdefgh", [8**-k for k in range(8)])[0], draw.randrange(20, 60)) for _ in range(6_000)]
    with tabled(tmp_path, rows, "t.age within 2") as gateway:
        said = gateway.explain("SELECT ward, AVG(age) FROM t GROUP BY ward")
        assert said.useless is not None
        with pytest.raises(Useless):
            gateway.query("SELECT ward, AVG(age) FROM t GROUP BY ward")
        assert gateway.allowance()["left"] == 1.0


def test_the_letters_of_a_text_are_no_questions(canteen):
    one = canteen.what_if(FINE)
    assert str(one) == str(canteen.what_if([FINE]))
