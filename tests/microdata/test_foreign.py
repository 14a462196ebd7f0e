"""Excel, SPSS and Stata files are read as their programs show them; without the library the extra is named."""

import datetime as dt

import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata.table import foreign
from nowiser.microdata.table.read import load

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra statistics")

FRAME = pd.DataFrame({"age": [20.0, 30, 20, 30] * 3, "sex": [1.0, 2, 1, 2] * 3, "ill": ["flu", "cold", "", "flu"] * 3})


@pytest.mark.parametrize("suffix", ["sav", "zsav", "por", "dta", "xpt"])
def test_statistics_files_show_labels_and_whole_numbers(tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    labels = {"variable_value_labels": {"sex": {1: "man", 2: "woman"}}} if suffix in {"sav", "zsav", "dta"} else {}
    write = {"sav": "sav", "zsav": "sav", "por": "por", "dta": "dta", "xpt": "xport"}[suffix]
    more = {"compress": True} if suffix == "zsav" else {}
    getattr(pyreadstat, f"write_{write}")(FRAME, str(path), **labels, **more)
    table = load(path)
    names = [n.lower() for n in table.names]
    assert names == ["age", "sex", "ill"]
    read = dict(zip(names, table.columns, strict=True))
    assert read["age"].to_arrow().to_pylist() == [20, 30, 20, 30] * 3
    assert read["sex"].labels == (("man", "woman") if labels else ("1", "2"))
    assert read["ill"].nulls == 3


def test_excel_is_read_and_published(tmp_path):
    book = openpyxl.Workbook()
    for line in [["age", "born", "ill"], *([20 + i % 2, dt.date(1980, 1 + i, 3), None] for i in range(12))]:
        book.active.append(line)
    book.save(tmp_path / "data.xlsx")
    table = load(tmp_path / "data.xlsx")
    assert table["born"].labels[0] == "1980-01-03"
    assert table["ill"].nulls == 12
    made = nw.publish(tmp_path / "data.xlsx", quasi=["age", "born"], k=3, suppress=0.1, output=tmp_path / "out.csv")
    assert made.chosen.smallest >= 3
    assert pd.read_csv(tmp_path / "out.csv").columns.tolist() == ["age", "born"]


@pytest.mark.parametrize(("name", "extra"), [("data.xlsx", "excel"), ("data.sav", "statistics")])
def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch, name, extra):
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setattr(foreign, "find_spec", lambda _: None)
    with pytest.raises(Misconfigured) as refused:
        load(tmp_path / name)
    assert f"nowiser[{extra}]" in (refused.value.hint or "")


@pytest.mark.parametrize("name", ["data.xlsx", "data.sav", "data.dta"])
def test_what_is_no_such_file_is_refused_without_a_word_of_it(tmp_path, name):
    (tmp_path / name).write_bytes(b"secret,words\n1,2\n")
    with pytest.raises(Misconfigured) as refused:
        load(tmp_path / name)
    assert "secret" not in str(refused.value)


def test_excel_without_names_or_rows_is_refused(tmp_path):
    book = openpyxl.Workbook()
    book.save(tmp_path / "empty.xlsx")
    with pytest.raises(Misconfigured):
        load(tmp_path / "empty.xlsx")
    book.active.append(["a", None])
    book.active.append([1, 2])
    book.save(tmp_path / "nameless.xlsx")
    with pytest.raises(Misconfigured, match="column 2 has no name"):
        load(tmp_path / "nameless.xlsx")
