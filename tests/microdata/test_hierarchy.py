"""Hierarchies: every form, and every mistake."""

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.table.column import Column


def levels(column, spec, folder=None):
    tree = hierarchy(column, spec, folder)
    return {label: tree.path()[label] for label in column.labels}


def test_without_a_spec_a_value_becomes_a_star():
    assert levels(Column.of("a", ["x", "y"]), None) == {"x": ("x", "*"), "y": ("y", "*")}


def test_prefixes_of_codes_and_dates():
    assert levels(Column.of("zip", ["02141"]), "prefix")["02141"] == ("02141", "0214*", "021**", "02***", "0****", "*")
    assert levels(Column.of("zip", ["02141"]), {"prefix": [3, 1]})["02141"] == ("02141", "021**", "0****", "*")
    assert levels(Column.of("day", ["2024-05-17"]), "prefix")["2024-05-17"] == ("2024-05-17", "2024-05", "2024", "*")


def test_intervals_are_nested_and_named_by_their_ends():
    ages = Column.of("age", [3, 17, 24])
    assert levels(ages, "intervals:5:10")["17"] == ("17", "15-19", "10-19", "*")
    assert levels(Column.of("x", [1.5]), {"intervals": [1], "from": 0.5})["1.5"] == ("1.5", "[1.5, 2.5)", "*")


def test_rules_and_groups():
    column = Column.of("day", ["1987-02-03", "1991-12-31"])
    assert levels(column, {"rule": ["year", "decade"]})["1987-02-03"] == ("1987-02-03", "1987", "1980s", "*")
    assert levels(Column.of("n", [14, 26]), {"rule": ["round 10"]})["14"] == ("14", "10", "*")
    fruit = Column.of("f", ["apple", "pear", "leek"])
    assert levels(fruit, {"groups": [{"fruit": ["apple", "pear"]}]})["leek"] == ("leek", "leek", "*")
    assert levels(fruit, {"groups": [{"fruit": ["apple", "pear"]}]})["pear"] == ("pear", "fruit", "*")


def test_null_stays_null_until_the_root():
    tree = hierarchy(Column.of("a", ["x", None, "y"]), [["x", "g", "*"], ["y", "h", "*"]])
    assert tree.path()[None] == (None, None, "*")
    assert tree.domain == 3
    assert [round(float(s.sum()), 9) for s in tree.shares] == [1, 1, 1]


def test_a_file_may_list_values_that_no_row_has_and_they_count_in_the_domain(tmp_path):
    (tmp_path / "h.csv").write_text("x;g;*\ny;g;*\nz;h;*\n", encoding="utf-8")
    tree = hierarchy(Column.of("a", ["x"]), "h.csv", tmp_path)
    assert tree.domain == 3
    assert tree.shares[1][tree.matrix[0, 1]] == pytest.approx(2 / 3)


def test_recoding_keeps_the_type_at_level_zero():
    column = Column.of("age", [30, 41])
    tree = hierarchy(column, "intervals:10")
    assert tree.recode(column, 0) is column
    assert tree.recode(column, 1).to_arrow().to_pylist() == ["30-39", "40-49"]


@pytest.mark.parametrize(
    ("values", "spec", "words"),
    [
        (["a", "b", "b"], [["a", "*"]], r"'b' \(2 rows\)"),
        (["a"], [["a", "x", "*"], ["b", "*"]], "different numbers of levels"),
        (["a"], [["a", "x"], ["a", "y"]], "twice"),
        (["a", "b"], [["a", "g", "1"], ["b", "g", "2"]], "not nested"),
        (["a"], "intervals:5", "intervals need numbers"),
        ([1, 2], "intervals:4:6", "multiple"),
        ([1, 2], "intervals:0", "positive"),
        (["a"], "prefix:0", "whole numbers from 1"),
        (["a"], {"prefix": [1, 3]}, "must fall"),
        (["a"], {"rule": ["shout"]}, "unknown rule"),
        (["a"], {"hat": 1}, "Allowed"),
        (["a"], "hat", "none of the forms"),
        (["a"], "gone.csv", "not there"),
    ],
)
def test_mistakes_are_explained(values, spec, words):
    with pytest.raises(Misconfigured, match=words):
        hierarchy(Column.of("c", values), spec)


def test_numbers_and_codes_are_told_apart():
    assert Column.of("zip", ["02141", "02142"]).is_numeric is False
    assert Column.of("age", ["9", "10"]).is_numeric is True
    assert Column.of("age", ["9", "10"]).labels == ("9", "10"), "in the order of numbers"
    assert np.isnan(Column.of("x", ["1", None]).numbers[1])
