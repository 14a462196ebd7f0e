"""Answers as frames, intervals and pictures: every number keeps its error bar."""

import importlib
from dataclasses import replace

import pyarrow as pa
import pytest

import nowiser
from nowiser import extras
from nowiser.errors import Misconfigured
from nowiser.report.answer import Answer, bar_of
from nowiser.sql.answer.vectors import vector


def answer(columns, exact=()):
    """Columns: name → (values, bar or bars)."""
    bars = [vector(b) if isinstance(b, list) else b for _, b in columns.values()]
    values = tuple(vector(v) for v, _ in columns.values())
    return Answer(tuple(columns), values, tuple(bars), exact, {"t": {}}, (), 0.9, False, ())


WARDS = answer(
    {"ward": (["A", "B", "C"], 0.0), "n": ([120, 83, 7], 12.0), "mean": ([13.1, None, 9.9], [0.5, None, None])},
    exact=("ward",),
)
EXPLAINED = Answer(("avg",), None, (1.5,), (), {}, (), 1.0, False, ())


def test_frames_have_a_column_of_errors_behind_each_noisy_one():
    names = ["ward", "n", "n_error", "mean", "mean_error"]
    assert WARDS.to_arrow().column_names == names
    assert list(WARDS.to_pandas().columns) == names
    assert WARDS.to_polars().columns == names
    assert WARDS.to_polars()["mean_error"].to_list() == [0.5, None, None]
    assert WARDS.to_pandas()["n_error"].tolist() == [12.0] * 3
    assert list(WARDS.to_pandas(errors=False).columns) == ["ward", "n", "mean"]


def test_bars_of_dates_are_days_and_of_times_seconds():
    found = answer({"d": (["2024-02-27", None], 3.2), "t": (["2024-02-28 23:59:00", None], 90.0)})
    found = replace(found, kinds=("date", "timestamp"))
    assert found.interval() == {
        "d": [("2024-02-23", "2024-03-02"), None],
        "t": [("2024-02-28 23:57:30", "2024-02-29 00:00:30"), None],
    }
    assert found.cells()[0] == ("2024-02-27 ± 3.2 days", "2024-02-28 23:59:00 ± 90 seconds")
    assert [bar_of(bar, "timestamp") for bar in (0.5, 300, 8_000, 400_000)] == [
        "0.5 seconds",
        "5 minutes",
        "2.22 hours",
        "4.63 days",
    ]


def test_a_name_that_is_taken_gets_another():
    found = answer({"x": ([1.0], 2.0), "x_error": ([3.0], 4.0)})
    assert found.to_arrow().column_names == ["x", "x_error_", "x_error", "x_error_error"]
    twice = Answer(("x", "x"), (vector([1]), vector([2])), (0.0, 0.0), ("x",), {}, (), 1.0, False, ())
    assert len(set(twice.to_polars().columns)) == 2
    assert list(twice.to_pandas().columns) == ["x", "x"]


def test_intervals():
    assert WARDS.interval() == {
        "n": [(108.0, 132.0), (71.0, 95.0), (-5.0, 19.0)],
        "mean": [(12.6, 13.6), None, None],
    }


@pytest.mark.parametrize(("package", "make"), [("pandas", WARDS.to_pandas), ("polars", WARDS.to_polars)])
def test_what_is_missing_says_its_name(package, make, monkeypatch):
    real = importlib.import_module

    def without(name, *rest):
        if name == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(extras, "import_module", without)
    with pytest.raises(Misconfigured, match=f"needs {package}") as caught:
        make()
    assert f"pip install 'nowiser[{package}]'" in caught.value.hint


def test_print_is_short_and_hides_nothing():
    assert str(WARDS).splitlines() == [
        "ward  n         mean",
        "A     120 ± 12  13.1 ± 0.5",
        "B     83 ± 12   –",
        "C     7 ± 12    9.9 ± ?",
        "± is the 95 % error bar; 90.0 % of the allowance is left.",
    ]
    assert repr(WARDS) == "<Answer: ward, n, mean; 3 rows>"
    many = answer({"n": (list(range(50)), 1.0)})
    assert "… 30 more rows" in str(many)
    assert "<script>" not in answer({"<script>": (["<script>"], 0.0)})._repr_html_()


def points(chart):
    """What is drawn in the first panel: key → (low, value, high)."""
    spec = chart.to_dict(format="vega-lite")
    spec = spec.get("vconcat", [spec])[0]
    found = spec["data"]["values"] if "data" in spec else spec["layer"][0]["data"]["values"]
    return {row["key"]: (row["low"], row["value"], row["high"]) for row in found}


def test_pictures():
    assert points(WARDS.plot("mean")) == {"A": (12.6, 13.1, 13.6), "C": (9.9, 9.9, 9.9)}
    assert len(WARDS.plot().to_dict(format="vega-lite")["vconcat"]) == 2
    alone = answer({"avg": ([13.1], 0.5)})
    assert list(points(alone.plot()).values()) == [(12.6, 13.1, 13.6)]
    hours = answer({"hour": ([0, 1, 2], 0.0), "n": ([5, 6, 7], 1.0)}, exact=("hour",))
    assert points(hours.plot())[2] == (6, 7, 8)
    days = answer({"day": (["2024-01-01", "2024-01-02"], 0.0), "n": ([5, 6], 1.0)}, exact=("day",))
    assert "temporal" in str(days.plot().to_dict(format="vega-lite"))
    keyed = answer({"w": (["a", "b"], 0.0), "n": ([5, 6], 0.0), "m": ([1.0, 2.0], 0.5)}, exact=("w", "n"))
    assert set(points(keyed.plot())) == {"a", "b"}, "an exact count is no key"
    two = answer({"y": ([1, 1, 2], 0.0), "w": (["a", "b", "a"], 0.0), "m": ([1.0, 2.0, 3.0], 0.5)}, exact=("y", "w"))
    assert set(points(two.plot())) == {"1, a", "1, b", "2, a"}


@pytest.mark.parametrize(
    "draw",
    [
        EXPLAINED.plot,
        EXPLAINED.to_arrow,
        lambda: WARDS.plot("ward"),
        lambda: answer({"w": (["a"], 0.0)}, exact=("w",)).plot(),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises(Misconfigured):
        draw()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_release_without_the_package_says_its_name_too(package, monkeypatch):
    release = nowiser.publish(pa.table({"age": [1, 1, 2, 2], "ill": ["a", "b", "a", "b"]}), quasi=["age"], k=2)

    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", without)
    with pytest.raises(Misconfigured, match=f"needs {package}"):
        getattr(release, f"to_{package}")()
