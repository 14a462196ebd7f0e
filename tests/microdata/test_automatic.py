"""Hierarchies nobody named: what suits the values, nested, and the same after a way through csv files."""

from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies import automatic, files
from nowiser.microdata.hierarchies.spec import hierarchy
from nowiser.microdata.table.column import Column


def path(column, spec="auto", at=0):
    return hierarchy(column, spec).path()[column.labels[at]]


DAYS = [date(1970, 1, 31) + timedelta(days=977 * i) for i in range(20)]
SPELLINGS = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y", "%d%b%Y", "%B %d, %Y", "%Y/%m/%d"]


@pytest.mark.parametrize("spelling", [*SPELLINGS, "%Y-%m-%dT00:00:00Z", "%d.%m.%Y 13:05"])
def test_dates_of_any_common_spelling_become_months_quarters_years(spelling):
    column = Column.of("born", [d.strftime(spelling) for d in DAYS])
    tree = hierarchy(column, None)
    for day in DAYS:
        quarter = f"{day.year}-Q{(day.month - 1) // 3 + 1}"
        said = (f"{day:%Y-%m}", quarter, str(day.year), f"{day.year // 10}0s", "*")
        assert tree.path()[day.strftime(spelling)][1:] == said


def test_a_date_whose_month_is_unclear_keeps_its_year_only_unless_the_order_is_told():
    column = Column.of("day", [f"0{a}/0{b}/2021" for a in range(1, 6) for b in range(1, 6)])
    assert path(column) == ("01/01/2021", "2021", "*")
    assert hierarchy(column, "dates:mdy").path()["03/04/2021"][1] == "2021-03"
    assert hierarchy(column, "dates:dmy").path()["03/04/2021"][1] == "2021-04"
    with pytest.raises(Misconfigured, match="no dates in the order ymd"):
        hierarchy(column, "dates:ymd")


def test_two_digit_years_get_no_century():
    column = Column.of("born", [d.strftime("%d.%m.%y") for d in DAYS])
    assert path(column, at=column.labels.index("31.01.70"))[1:] == ("70-01", "70-Q1", "70", "*")


def test_impossible_days_are_no_dates():
    assert automatic.proposed(Column.of("x", [f"31.{m:02d}.2020" for m in range(1, 13)])) != "dates"


@pytest.mark.parametrize(
    ("name", "values", "spec"),
    [
        ("age", range(17, 91), "intervals:5:10:20:40"),
        ("zip", [f"{i:05d}" for i in range(2100, 2200)], "prefix:4:3:2:1"),
        ("zip", [str(i) for i in range(47600, 47700)], "prefix:4:3:2:1"),
        ("diagnosis", ["E11.9", "E11.2", "I10", "J45.0", "J45.9", "K21", "M54.5", "N39.0", "F32.1"], "prefix:3:1"),
        ("job", [f"job {chr(97 + i)}" for i in range(14)], "frequency:8:3"),
        ("sex", ["f", "m"], "flat"),
        ("nothing", [None, None], "flat"),
    ],
)
def test_what_is_proposed_suits_the_values(name, values, spec):
    assert automatic.proposed(Column.of(name, list(values) * 2)) == spec


def test_outliers_share_one_interval():
    incomes = [*range(0, 50_000, 100), 900_000, 4_000_000]
    column = Column.of("income", incomes)
    tree = hierarchy(column, None)
    assert "top=" in automatic.proposed(column)
    assert tree.path()["900000"][1] == tree.path()["4000000"][1] == "60000 or more"


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-(10**6), 10**6), min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_numbers_fall_into_nested_intervals_that_hold_them(numbers):
    column = Column.of("x", [float(x) for x in numbers])
    tree = hierarchy(column, None)  # `build` refuses what is not nested
    sizes = [len(set(tree.matrix[:-1, level])) for level in range(tree.height + 1)]
    assert all(more >= less for more, less in pairwise(sizes))
    assert sizes[-1] == 1
    for label, row in tree.path().items():
        for wide in row[1:-1]:
            if label is not None and wide.startswith("["):
                low, high = map(float, wide[1:-1].split(", "))
                assert low <= float(label) < high


def test_the_most_frequent_stay_apart_and_others_never_meet_a_value_of_that_name():
    column = Column.of("job", ["a"] * 5 + ["b"] * 3 + ["other values"] * 4 + ["c", "d"])
    tree = hierarchy(column, "frequency:2:1").path()
    assert tree["a"] == ("a", "a", "a", "*")
    assert tree["other values"] == ("other values", "other values", "other values'", "*")
    assert tree["b"] == ("b", "other values'", "other values'", "*")
    with pytest.raises(Misconfigured, match="fall from level to level"):
        hierarchy(column, "frequency:1:2")


def test_a_tree_may_be_uneven():
    column = Column.of("land", ["DE", "FR", "PL", "JP"])
    tree = hierarchy(column, {"tree": {"Europe": {"West": ["DE", "FR"], "East": ["PL"]}, "Asia": ["JP"]}}).path()
    assert tree["DE"] == ("DE", "West", "Europe", "*")
    assert tree["JP"] == ("JP", "JP", "Asia", "*")


def test_written_hierarchies_are_read_back_as_they_were(tmp_path):
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 100, 300),
            'a;b, "c"': random.choice(["x;y", 'say "no"', "plain", "ä", "1", "2", "3"], 300),
            "born": [str(d) for d in random.choice(np.array(DAYS, dtype=object), 300)],
            "ill": random.choice(["flu", "none"], 300),
        }
    )
    found = nw.hierarchies(frame)
    paths = found.to_csv(tmp_path / "levels")
    assert len(paths) == 4
    quasi = ["age", 'a;b, "c"', "born"]
    for name in quasi:
        read = files.found(tmp_path / "levels", quasi)[name]
        column = Column.of(name, frame[name])
        assert hierarchy(column, read).path() == found.hierarchies[name].path()
    same = [
        nw.publish(frame, quasi=quasi, sensitive="ill", k=5, suppress=0.1, hierarchies=h)
        for h in (None, tmp_path / "levels")
    ]
    assert same[0].chosen.levels == same[1].chosen.levels
    assert same[0].chosen.loss == pytest.approx(same[1].chosen.loss, abs=1e-12)
    with pytest.raises(Misconfigured, match="already there"):
        found.to_csv(tmp_path / "levels")
    with pytest.raises(Misconfigured, match="no folder"):
        nw.publish(frame, quasi=quasi, k=5, hierarchies=tmp_path / "nowhere")


def test_a_table_of_stars_is_not_the_first_choice_where_another_keeps_the_promises():
    frame = pd.DataFrame({"q": [f"v{i:02d}" for i in np.repeat(np.arange(20), 3)] + ["rare"]})
    made = nw.publish(frame, quasi={"q": "flat"}, k=3)
    assert [c.levels for c in made.candidates if c.levels] == [{"q": 1}]  # one rule for all rows: only stars
    assert made.chosen.title == "local_recoding"
    assert made.table["q"].distinct == 20
