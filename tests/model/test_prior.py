"""Priors are checked, frozen values."""

import math

import numpy as np
import pytest
import scipy.stats

from nowiser.errors import Misconfigured
from nowiser.model.prior import (
    Atoms,
    Categories,
    Empirical,
    Frozen,
    Histogram,
    JointAtoms,
    JointHistogram,
    LogNormal,
    Mixture,
    MultivariateNormal,
    Normal,
    Presence,
    Present,
    Truncated,
    Uniform,
    Unknown,
)

MAKERS = [
    lambda: Uniform(12, 28),
    lambda: Normal(20, 5),
    lambda: LogNormal(0, 1),
    lambda: Frozen(scipy.stats.gamma(2, scale=3)),
    lambda: Atoms({0: 0.2, 2: 0.8}),
    lambda: Histogram([0, 1, 3], [0.5, 0.5]),
    lambda: Empirical([3, 1, 1]),
    lambda: Categories({"soup": 0.3, "pasta": 0.7}),
    lambda: Mixture([(0.5, Normal(0, 1)), (0.5, Uniform(0, 1))]),
    lambda: Truncated(Normal(0, 1), -1, 1),
    lambda: Presence(0.3),
    lambda: Unknown(0, 10),
    lambda: JointAtoms(["a", "b"], {(1, "x"): 0.5, (2, "y"): 0.5}),
    lambda: MultivariateNormal(["a", "b"], [0, 0], [[1, 0.5], [0.5, 1]]),
    lambda: JointHistogram(["a", "b"], [[0, 1, 2], [0, 1]], [[0.5], [0.5]]),
]


@pytest.mark.parametrize("make", MAKERS)
def test_priors_are_values(make):
    one, two = make(), make()
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert type(one).__name__ in repr(one) or isinstance(one, Empirical)
    with pytest.raises((AttributeError, TypeError)):
        one.kind_of = 1
    assert all(one != other() for other in MAKERS if other is not make)


def test_arrays_cannot_be_written():
    prior = Atoms([0, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="read-only"):
        prior.masses[0] = 1.0


BAD = [
    (lambda: Uniform(2, 2), "low below high"),
    (lambda: Uniform(-1e308, 1e308), "finite width"),
    (lambda: Normal(0, 0), "sd of Normal"),
    (lambda: Normal(math.nan, 1), "mean of Normal"),
    (lambda: Normal("a", 1), "mean of Normal"),
    (lambda: Atoms({0: 0.2, 2: 0.7}), "must sum to 1 .*found a sum of 0.9"),
    (lambda: Atoms({0: -0.2, 2: 1.2}), "must not be negative"),
    (lambda: Atoms([1, 1], [0.5, 0.5]), "distinct"),
    (lambda: Atoms([1, 2], [1.0]), "one mass per value"),
    (lambda: Atoms([]), "needs a mass"),
    (lambda: Histogram([0, 1], [0.5, 0.5]), "one edge more"),
    (lambda: Histogram([0, 2, 1], [0.5, 0.5]), "ascend"),
    (lambda: Empirical([]), "non-empty"),
    (lambda: Empirical([1, math.inf]), "finite"),
    (lambda: Categories({}), "at least one label"),
    (lambda: Categories(["a", "a"]), "distinct"),
    (lambda: Categories({"a": 0.5}), "sum to 1"),
    (lambda: Categories("soup"), "list of labels"),
    (lambda: Categories(None), "list of labels, found None"),
    (lambda: Categories([["a"], ["b"]]), "labels of Categories must be texts"),
    (lambda: Mixture([]), "at least one part"),
    (lambda: Mixture(None), "pairs of a weight and a prior, found None"),
    (lambda: Mixture([Normal(0, 1)]), "pairs of a weight and a prior"),
    (lambda: Mixture([(0.5, Normal(0, 1))]), "sum to 1"),
    (lambda: Mixture([(1.0, Categories(["a"]))]), "on a number"),
    (lambda: Truncated(Normal(0, 1), 1, 1), "low below high"),
    (lambda: Truncated(Categories(["a"]), 0, 1), "on a number"),
    (lambda: Presence(1.2), "between 0 and 1"),
    (lambda: Unknown(0), "both ends"),
    (lambda: Unknown(2, 1), "low below high"),
    (lambda: Frozen("no such thing"), "no distribution called"),
    (lambda: Frozen("gamma", -2, scale=3), r"the arguments \(-2, scale=3\) are outside the range"),
    (lambda: Frozen(3), "frozen scipy distribution"),
    (lambda: JointAtoms(["a", "a"], {(1, 2): 1.0}), "distinct names"),
    (lambda: JointAtoms(["a"], {(1, 2): 1.0}), "1 entries"),
    (lambda: JointAtoms(["a"], {(1,): 0.5, ("x",): 0.5}), "mixes"),
    (lambda: MultivariateNormal(["a", "b"], [0, 0], [[1, 2], [2, 1]]), "positive definite"),
    (lambda: MultivariateNormal(["a"], [0, 0], [[1]]), "needs a mean of 1"),
    (lambda: JointHistogram(["a"], [[0, 1]], [0.5]), "sum to 1"),
    (lambda: JointHistogram(["a", "b"], [[0, 1]], [[1.0]]), "as many lists"),
]


@pytest.mark.parametrize(("make", "says"), BAD)
def test_bad_arguments_are_named(make, says):
    with pytest.raises(Misconfigured, match=says):
        make()


def test_the_prior_of_presence_has_two_names():
    assert Present is Presence


def test_empirical_reads_columns(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    csv = tmp_path / "t.csv"
    csv.write_text("time,dish\n20,soup\n30,pasta\n20,soup\n")
    assert Empirical.read(csv, "time") == Atoms([20, 30], [2 / 3, 1 / 3])
    assert Empirical.read(csv, "dish") == Categories({"soup": 2 / 3, "pasta": 1 / 3})
    pyarrow.parquet.write_table(pa.table({"v": [1.5, 1.5, 2.5]}), tmp_path / "t.parquet")
    assert Empirical.read(tmp_path / "t.parquet", "v") == Atoms([1.5, 2.5], [2 / 3, 1 / 3])
    with pytest.raises(Misconfigured, match=r"t.csv has no column 'nope'; it has time, dish"):
        Empirical.read(csv, "nope")
    with pytest.raises(Misconfigured, match="there is no file"):
        Empirical.read(tmp_path / "absent.csv", "time")
    np.testing.assert_allclose(Empirical([3, 1, 1]).masses, [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,dish\n20,soup\n,soup\n", "column 'time' of t.csv has no value in row 2"),
        ("time,dish\n20,soup\n21,soup\nnan,soup\n", "column 'time' of t.csv has no value in row 3"),
        ("dish,time\nsoup,a\nsoup,\n", "column 'time' of t.csv has no value in row 2"),
        ("time\n20\n\n21\n", "column 'time' of t.csv has no value in row 2"),
        ("time,time\n20,21\n", "t.csv has 2 columns called 'time'"),
        ("time\n", "t.csv holds no rows"),
        ("time,dish\n20\n", "t.csv is ragged: its header has 2 columns, but line 2 has 1"),
    ],
)
def test_files_of_priors_leave_nothing_open(tmp_path, text, says):
    """What is missing was left out without a word, so that a prior was about fewer people than its file."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(Misconfigured, match=says):
        Empirical.read(tmp_path / "t.csv", "time")


def test_a_number_that_is_none_is_missing_in_parquet_too(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"v": [1.5, None], "w": [1.5, float("nan")]}), tmp_path / "t.parquet")
    for name in "vw":
        with pytest.raises(Misconfigured, match=f"column '{name}' of t.parquet has no value in row 2"):
            Empirical.read(tmp_path / "t.parquet", name)


def test_what_a_distribution_takes_is_named():
    with pytest.raises(Misconfigured, match=r"scipy.stats.gamma takes a, and if wanted loc and scale; found nothing"):
        Frozen("gamma")
    with pytest.raises(Misconfigured, match=r"scipy.stats.norm takes only loc and scale; found 1, 2, 3"):
        Frozen("norm", 1, 2, 3)


def test_edges_and_labels_say_what_was_found():
    with pytest.raises(Misconfigured, match="the edges of Histogram must ascend strictly, found 1 after 2"):
        Histogram([0, 2, 1], [0.5, 0.5])
    with pytest.raises(Misconfigured, match="the edges of x must ascend strictly, found 0 after 0"):
        JointHistogram(["x", "y"], [[0, 0, 1], [0, 1]], [[0.5], [0.5]])
    with pytest.raises(Misconfigured, match="the edges of y must be at least two, found 1"):
        JointHistogram(["x", "y"], [[0, 1], [0]], [[1.0]])
    with pytest.raises(Misconfigured, match="distinct, found 'a' more than once"):
        Categories(["b", "a", "a"])
