"""Dates that are not written as 2023-11-28: declared, or refused; never missing without a word."""

import random
from datetime import date, datetime, timedelta

import duckdb
import pytest

import nowiser
from nowiser.cli.check_data import inspect
from nowiser.engines import delimited
from nowiser.errors import Misconfigured
from nowiser.files.dates import FORMS, UNREAD, fitting, is_form, reader
from nowiser.model.schema import Csv
from nowiser.policy import parse, read
from support.here import here

DAY = date(2023, 11, 28)


def write(folder, spell, rows=2_000, name="visits.csv", late=28):
    """Patients and the dates of their visits, spelled somehow. How many were seen from June on."""
    draw = random.Random(7)
    days = [date(2023, draw.randrange(1, 13), draw.randrange(1, late + 1)) for _ in range(rows)]
    lines = [f"{i},{spell(d)},{draw.randrange(90)}" for i, d in enumerate(days)]
    (folder / name).write_text("\n".join(["patient_id,seen,cost", *lines, ""]), encoding="utf-8")
    return sum(d >= date(2023, 6, 1) for d in days)


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%Y.%m.%d", "%Y-%m-%d", "%d-%m-%Y 14:05"])
def test_init_proposes_the_form_and_the_answer_is_right(tmp_path, form):
    true = write(tmp_path, lambda d: d.strftime(form))
    assert here(tmp_path, "init", "visits.csv", "--yes").returncode == 0
    policy = read(tmp_path / "nowiser.yaml")
    assert not [f for f in inspect(policy).findings if f.level != "note"]
    assert (policy.tables[0].csv is None) is (form == "%Y-%m-%d")
    with nowiser.open(tmp_path / "nowiser.yaml") as gateway:
        since = "TIMESTAMP '2023-06-01 00:00:00'" if ":" in form else "DATE '2023-06-01'"
        answer = gateway.query(f"SELECT COUNT(*) FROM visits WHERE seen >= {since}", anyway=True)
    ((found,),), (bar,) = answer.rows, answer.error
    assert abs(found - true) < 4 * bar < true


def test_a_form_that_is_not_declared_is_a_problem_of_check_that_says_what_to_write(tmp_path):
    write(tmp_path, lambda d: d.strftime("%d.%m.%Y"))
    here(tmp_path, "init", "visits.csv", "--yes")
    text = (tmp_path / "nowiser.yaml").read_text()
    (line,) = [line for line in text.splitlines() if "csv: {dates" in line]
    (tmp_path / "nowiser.yaml").write_text(text.replace(line, ""))
    done = here(tmp_path, "check")
    assert done.returncode == 3
    assert "`csv: {dates: {seen: day.month.year}}`" in done.stderr


def test_dates_of_two_orders_at_once_are_a_warning(tmp_path):
    draw = iter(range(10_000))
    write(tmp_path, lambda d: d.strftime("%Y-%m-%d" if next(draw) % 10 else "%d.%m.%Y"))
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(csv=""))
    (warning,) = [f for f in inspect(read(tmp_path / "nowiser.yaml")).findings if f.level == "warning"]
    assert warning.text == "200 of 2,000 dates cannot be read: each counts as missing"


def test_nobody_guesses_which_number_is_the_day(tmp_path):
    write(tmp_path, lambda d: d.strftime("%d/%m/%Y"), late=12)
    done = here(tmp_path, "init", "visits.csv", "--yes")
    assert done.returncode == 3
    assert "--dates seen=day/month/year or --dates seen=month/day/year" in done.stderr
    assert here(tmp_path, "init", "visits.csv", "--yes", "--dates", "seen=day/month/year").returncode == 0
    assert read(tmp_path / "nowiser.yaml").tables[0].csv == Csv(dates=(("seen", "day/month/year"),))


@pytest.mark.parametrize(("form", "said"), [("%d.%m.%y", "four digits"), ("%y/%m/%d", "four digits")])
def test_years_of_two_digits_are_refused(tmp_path, form, said):
    write(tmp_path, lambda d: d.strftime(form))
    done = here(tmp_path, "init", "visits.csv", "--yes")
    assert done.returncode == 0 or said in done.stderr
    if done.returncode == 0:  # then it is a text, about which no date can be asked
        assert read(tmp_path / "nowiser.yaml").tables[0].column("seen").kind.value == "text"


def test_a_form_is_checked_where_it_is_said(tmp_path):
    write(tmp_path, lambda d: d.strftime("%d.%m.%Y"))
    done = here(tmp_path, "init", "visits.csv", "--yes", "--dates", "seen=dd.mm.yyyy")
    assert done.returncode == 3
    assert "where year, month and day stand" in done.stderr
    for wrong in ("seen: dd.mm.yyyy", "cost: day.month.year", "sen: day.month.year"):
        with pytest.raises(Misconfigured):
            parse(POLICY.format(csv=f"csv: {{dates: {{{wrong}}}}}"))


def test_forms_read_what_python_writes():
    for form in FORMS:
        assert is_form(form)
        spelled = form
        for word, letter in {
            "year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S",
        }.items():  # fmt: skip
            spelled = spelled.replace(word, letter)
        at = datetime(2023, 11, 28, 14, 5, 9) - timedelta(days=3)  # noqa: DTZ001
        back = datetime.strptime(at.strftime(spelled), spelled)  # noqa: DTZ007
        read_ = reader(form)
        assert read_(f" {at.strftime(spelled)} ") == (back.isoformat(" ") if "hour" in form else str(back.date()))
        assert [read_(t) for t in ("", "31.02.2023", "28.11.23", "x" + at.strftime(spelled))] == [UNREAD] * 4
    assert not any(map(is_form, ("", "day.month", "day.month.year.day", "year+month+day", "day.month.year minute")))
    assert fitting(["01.02.2023", "28.11.2023"]) == ("day.month.year",)
    assert fitting(["01/02/2023"]) == ("day/month/year", "month/day/year")


def test_only_declared_columns_are_rewritten_whatever_else_is_wrong_with_a_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b,c\n28.11.2023,28.11.2023,1\n1.2.2023\n2023-11-28,"x ""y""",2\n,,\n')
    delimited.mend(path, Csv(dates=(("A", "day.month.year"),)), tmp_path / "t.parquet")
    found = duckdb.sql(f"SELECT * FROM '{tmp_path / 't.parquet'}'").fetchall()
    assert found == [
        ("2023-11-28", "28.11.2023", "1"),
        ("2023-02-01", None, None),
        (UNREAD, 'x "y"', "2"),
        (None, None, None),
    ]


POLICY = """
nowiser: 1
tables:
  visits:
    source: visits.csv
    {csv}
    person: patient_id
    protect: values
    columns:
      patient_id: {{identifier: integer}}
      seen: {{sensitive: [2023-01-01, 2023-12-31]}}
      cost: {{sensitive: [0, 100], prior: uniform}}
attackers:
  - {{guess: visits.cost within 5, gain: 10%}}
"""


def test_a_date_has_a_belief_and_a_distance_like_a_number(tmp_path):
    write(tmp_path, lambda d: d.strftime("%Y-%m-%d"))
    done = here(tmp_path, "init", "visits.csv", "--yes", "--sensitive", "seen", "--prior", "uniform")
    assert done.returncode == 0
    assert "seen: {sensitive: [2023-01-01, 2023-12-31], prior: uniform}" in (tmp_path / "nowiser.yaml").read_text()
    assert [a.text for a in read(tmp_path / "nowiser.yaml").attackers] == ["visits.seen within 10"]


def test_a_note_is_no_person_and_a_record_number_is(tmp_path):
    lines = [f"{i % 700:05d},came {i} times,{i % 50}" for i in range(900)]
    (tmp_path / "v.csv").write_text("\n".join(["MRN,note,cost", *lines, ""]))
    assert here(tmp_path, "init", "v.csv", "--yes").returncode == 0
    assert read(tmp_path / "nowiser.yaml").tables[0].person == ("MRN",)


def test_native_country_is_not_proposed_as_public(tmp_path):
    lines = [f"{i % 90},{('Cuba', 'India', 'Peru')[i % 3]},{('ann', 'bob')[i % 2]}" for i in range(900)]
    (tmp_path / "v.csv").write_text("\n".join(["age,native-country,state", *lines, ""]))
    assert here(tmp_path, "init", "v.csv", "--yes").returncode == 0
    roles = {c.name: c.role.value for c in read(tmp_path / "nowiser.yaml").tables[0].columns}
    assert roles == {"age": "sensitive", "native-country": "sensitive", "state": "public"}


def test_policies_that_share_a_ledger_are_told_apart(tmp_path):
    write(tmp_path, lambda d: d.strftime("%Y-%m-%d"))
    assert "share one ledger" not in here(tmp_path, "init", "visits.csv", "--yes").stderr
    done = here(tmp_path, "init", "visits.csv", "--yes", "-o", "second.yaml")
    assert "second.yaml and nowiser.yaml share one ledger" in done.stderr
    assert "share one ledger" in here(tmp_path, "check").stdout
    text = (tmp_path / "second.yaml").read_text()
    (tmp_path / "second.yaml").write_text(text.replace("tables:", "ledger: sqlite:///.nowiser/second.sqlite\ntables:"))
    assert "share one ledger" not in here(tmp_path, "check").stdout
