"""Columns are what pyarrow itself would make of them, and pandas stays out of it."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from nowiser.engines.arrow import column, numbers


@pytest.mark.parametrize(
    ("values", "of"),
    [
        (["a", "", "it's", "ü💡"], pa.string()),
        ([1, -5, 2**62], pa.int64()),
        ([0.5, -0.0, 1e300], pa.float64()),
        ([True, False, True] * 7, pa.bool_()),
        ([], pa.int64()),
        ([], pa.string()),
        ([3, 4], pa.int32()),
        (("x", None, "None", ""), pa.string()),
        ((None, 7, None), pa.int64()),
        ((0.5, None), pa.float64()),
        ((True, None, False), pa.bool_()),
    ],
)
def test_columns(values, of):
    found = column(values, of)
    found.validate(full=True)
    assert found.equals(pa.array(values, of))


@pytest.mark.parametrize("values", [np.arange(20), np.linspace(0, 1, 9), np.arange(17) % 3 == 0])
def test_masked_columns(values):
    masked = np.ma.MaskedArray(values, mask=np.arange(len(values)) % 4 == 1)
    column(masked).validate(full=True)
    assert column(masked).equals(pa.array(masked))
    assert column(values[::2]).equals(pa.array(values[::2])), "also of a view"


def test_a_missing_key_is_found_as_missing_and_not_by_its_name():
    import pyarrow.compute as pc

    asked = pa.chunked_array([pa.array(["x", None, "None", "z"])])
    places = pc.index_in(asked, value_set=column(("x", "y", None), pa.string()))
    assert numbers(places, missing=-1).tolist() == [0, 2, -1, -1]


def test_numbers():
    parts = pa.chunked_array([pa.array([1, None, 3]), pa.array([4, 5, 6]).slice(1), pa.array([], pa.int64())])
    assert numbers(parts, missing=-1).tolist() == [1, -1, 3, 5, 6]
    assert numbers(pa.chunked_array([], pa.int64())).tolist() == []
    assert numbers(pa.chunked_array([pa.array([None, 7, 8, None]).slice(1)]), missing=-1).tolist() == [7, 8, -1]
    with pytest.raises(AssertionError):
        numbers(parts)


def test_pandas_stays_out():
    code = (
        "import sys, numpy as np, pyarrow as pa\nfrom nowiser.engines.arrow import column, numbers\n"
        "numbers(pa.chunked_array([column(np.arange(9)), column(np.ma.MaskedArray([1, 2], mask=[0, 1]))]), missing=0)\n"
        "column(['a'], pa.string()), column([True], pa.bool_())\nassert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
