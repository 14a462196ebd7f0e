"""Columns that name people are recognised, and `keep: "*"` does not release them."""

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.microdata.identifiers import is_iban, recognised
from nowiser.microdata.table.column import Column

ROWS = 60
NAMES = [f"{first} {last}" for first in ("Ada", "Bob", "Cleo", "Dan", "Eve", "Fay") for last in "KLMNOPQRST"]

PEOPLE = {
    "contact": ([f"p{i}@mail.example.org" for i in range(ROWS)], "e-mail"),
    "reach": ([f"+49 30 {5551000 + i}" for i in range(ROWS)], "phone"),
    "call": ([f"(617) 555-{1000 + i}" for i in range(ROWS)], "phone"),
    "social": ([f"{100 + i}-45-{6000 + i}" for i in range(ROWS)], "social"),
    "bank": (["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"] * (ROWS // 2), "IBAN"),
    "site": ([f"https://example.org/{i % 7}" for i in range(ROWS)], "web"),
    "host": ([f"10.0.0.{i % 9}" for i in range(ROWS)], "IP"),
    "MRN": ([1000 + 7 * i for i in range(ROWS)], "record"),
    "patientName": (NAMES, "names"),
    "Nachname": (NAMES, "names"),
    "case_no": ([10_000 + 13 * i for i in range(ROWS)], "every row"),
    "row": (list(range(ROWS)), "every row"),
    "token": ([f"x{i}" for i in range(ROWS)], "every row"),
}
OTHERS = {
    "age": [20 + i % 40 for i in range(ROWS)],
    "income": [1000.5 + 17.3 * i * i for i in range(ROWS)],
    "zip4": [f"0213{i % 4}-100{i % 3}" for i in range(ROWS)],
    "born": [str(np.datetime64("1950-01-01") + 31 * i) for i in range(ROWS)],
    "hospital name": ["Charité", "Mercy"] * (ROWS // 2),
    "weight": [round(50 + i * 0.37, 4) for i in range(ROWS)],
    "diagnosis": ["E11.9", "I10", "J45.0"] * (ROWS // 3),
}


@pytest.mark.parametrize("name", PEOPLE)
def test_a_column_that_names_people_is_recognised(name):
    values, why = PEOPLE[name]
    assert why in (recognised(Column.of(name, values)) or "")


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_are_not(name):
    assert recognised(Column.of(name, OTHERS[name])) is None


def test_the_check_digits_of_an_iban_count():
    assert is_iban("DE89370400440532013000")
    assert not is_iban("DE89370400440532013001")


@pytest.mark.parametrize("stream", [False, True])
def test_keeping_everything_keeps_nobodys_name(tmp_path, stream):
    frame = pd.DataFrame({name: values for name, (values, _) in PEOPLE.items()} | OTHERS | {"sex": ["f", "m"] * 30})
    source = tmp_path / "people.csv"
    frame.to_csv(source, index=False)
    made = nw.publish(source, quasi="sex", k=2, keep=["*"], output=tmp_path / "out.csv", stream=stream)
    assert set(made.left_out) == set(PEOPLE)
    released = pd.read_csv(tmp_path / "out.csv")
    assert set(released.columns) == {"sex", *OTHERS}
