"""HIPAA's eighteen identifiers are found, each in a column made for it; what the rule allows is not."""

import json
import sys

import pandas as pd
import pytest

from nowiser.cli.main import run
from nowiser.errors import Misconfigured
from nowiser.microdata.safe_harbor import SMALL_ZIP3, safe_harbor, words

# the rule's list, letter by letter: a column's name and some of its values
HELD = [
    ("A", "last_name", ["Adams", "Baker", "Clark"]),
    ("B", "city", ["Salem", "Dover", "Salem"]),
    ("B", "zip", ["02139", "10027", "94110"]),
    ("B", "zip", ["02139-4307", "10027-1234", "94110-0001"]),
    ("B", "home", ["02139-4307", "10027-1234", "94110-0001"]),
    ("B", "zip3", ["021", "036", "941"]),
    ("C", "admitted", ["2021-04-03", "2021-05-01", "2020-12-24"]),
    ("C", "admitted", ["April 3, 2021", "May 1, 2021", "May 2, 2021"]),
    ("C", "admitted", ["2021-04", "2021-05", "2020-12"]),
    ("C", "admitted", ["2021-Q1", "2021-Q2", "2020-Q4"]),
    ("C", "age", [35, 91, 47]),
    ("C", "age", ["30-39", "90-94", "40-49"]),
    ("C", "birth_year", [1920, 1975, 1980]),
    ("C", "month", [1, 2, 12]),
    ("D", "call", ["617-555-0101", "(212) 555-0199", "617 555 0102"]),
    ("E", "fax", ["x1", "x2", "x3"]),
    ("F", "contact", ["a@b.org", "none", "none"]),
    ("G", "number", ["123-45-6789", "987-65-4321", "111-22-3333"]),
    ("H", "mrn", [5, 5, 7]),
    ("I", "beneficiary", ["p1", "p2", "p2"]),
    ("J", "account", [55, 55, 77]),
    ("K", "driver_license", ["x", "y", "y"]),
    ("L", "vin", ["x", "y", "y"]),
    ("M", "device_serial", ["x", "y", "y"]),
    ("N", "seen", ["https://example.org/ann", "none", "none"]),
    ("O", "host", ["10.0.0.1", "10.0.0.2", "10.0.0.2"]),
    ("P", "fingerprint", ["x", "y", "y"]),
    ("Q", "photo", ["x.jpg", "y.jpg", "y.jpg"]),
    ("R", "patient_id", [7, 7, 9]),
    ("R", "code", list(range(100, 120))),
    ("A-R", "remark", ["no complaints at all today", "ok", "ok"]),
    ("F", "remark", ["write to ann@example.org before noon", "ok", "ok"]),
    ("D", "remark", ["call 617-555-0101 before noon please", "ok", "ok"]),
    ("C", "remark", ["came on 4/3/2021 with a cough", "ok", "ok"]),
]
ALLOWED = [
    ("state", ["MA", "NH", "NY"]),
    ("zip", ["021", "000", "941"]),
    ("zip", ["021**", "000**", "941**"]),
    ("admitted", [2021, 2021, 2020]),
    ("age", [35, 89, 47]),
    ("age", ["35", "90+", "47"]),
    ("age", ["35", "90 or older", ">89"]),
    ("birth_year", [1940, 1975, 1980]),
    ("diagnosis", ["J06", "I10", "E11"]),
    ("visits", [1, 2, 2]),
    ("sex", ["f", "m", "f"]),
    ("income", [10.5, 20.25, 31.0]),
]


@pytest.mark.parametrize(("letter", "name", "values"), HELD)
def test_each_identifier_is_found(letter, name, values):
    found = safe_harbor(pd.DataFrame({name: values, "sex": ["f"] * len(values)}), year=2026)
    assert letter in {f.letter for f in found.findings if f.column == name}
    assert found.clear == ("sex",)
    assert not found.holds


@pytest.mark.parametrize(("name", "values"), ALLOWED)
def test_what_the_rule_allows_is_not_found(name, values):
    found = safe_harbor(pd.DataFrame({name: values}), year=2026)
    assert found.findings == ()
    assert found.clear == (name,)
    assert "Not checked" in words(found)


def test_every_letter_of_the_rule_has_a_case():
    assert {letter for letter, _, _ in HELD} == {*"ABCDEFGHIJKLMNOPQR", "A-R"}


def test_a_newer_census_replaces_the_list():
    table = pd.DataFrame({"zip": ["036", "021"]})
    assert [f["values"] for f in safe_harbor(table).to_json()["findings"]] == [1]
    assert safe_harbor(table, small_zip3=["059"]).holds
    assert len(SMALL_ZIP3) == 17
    with pytest.raises(Misconfigured, match="three digits"):
        safe_harbor(table, small_zip3=["36"])


def test_an_age_of_ninety_is_asked_about():
    (found,) = safe_harbor(pd.DataFrame({"age": [30, 90]})).findings
    assert not found.must
    assert "90+" in found.remedy


def test_dates_of_birth_of_the_very_old_need_a_category():
    (found,) = safe_harbor(pd.DataFrame({"dob": ["1931-04-02", "1980-01-01"]}), year=2026).findings
    assert "1936 or earlier" in found.remedy


def test_no_value_is_printed(tmp_path, monkeypatch, capsys):
    table = pd.DataFrame({name + str(i): pd.Series(values) for i, (_, name, values) in enumerate(HELD)})
    table.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["nowiser", "risk", str(tmp_path / "t.csv"), "--safe-harbor"])
    with pytest.raises(SystemExit) as left:
        run()
    assert not left.value.code
    said = capsys.readouterr().out
    for secret in ["Adams", "Salem", "02139", "a@b.org", "123-45", "617", "example.org", "10.0.0"]:
        assert secret not in said


def test_the_command_speaks_json_and_takes_no_columns(tmp_path, monkeypatch, capsys):
    pd.DataFrame({"zip": ["02139", "03601"], "sex": ["f", "m"]}).to_csv(tmp_path / "t.csv", index=False)
    asked = ["nowiser", "risk", str(tmp_path / "t.csv"), "--safe-harbor", "--json"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit):
        run()
    out = json.loads(capsys.readouterr().out)
    assert out["nothing_found"] is False
    assert [f["letter"] for f in out["findings"]] == ["B"]
    for more in (["--quasi", "zip"], ["--people", "9"]):
        monkeypatch.setattr(sys, "argv", asked + more)
        with pytest.raises(SystemExit) as left:
            run()
        assert left.value.code == 3
