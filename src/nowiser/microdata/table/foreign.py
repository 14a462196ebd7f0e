"""Files of other programs: Excel, SPSS, Stata, SAS, as Arrow tables with the values those programs show.

SPSS, Stata and SAS write labels beside codes: the label is what an analyst sees, so it is what is read. Values that
the program calls missing are missing.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.files.unreadable import unreadable

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
EXCEL = (".xlsx", ".xlsm")
SUFFIXES = (*EXCEL, *READERS)


def read(path: Path) -> pa.Table:
    """The table of a file with one of the suffixes. Raises Misconfigured if the library or the table is missing."""
    kind = path.suffix.lower()
    needed, extra = ("openpyxl", "excel") if kind in EXCEL else ("pyreadstat", "statistics")
    if find_spec(needed) is None:
        raise Misconfigured(
            f"{path}: {kind} files are read by {needed}, which is not installed", hint=f"pip install nowiser[{extra}]"
        )
    return _excel(path) if kind in EXCEL else _statistics(path, READERS[kind])


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Around a foreign reader: whatever it raises, the file could not be read."""
    try:
        yield
    except Exception:  # noqa: BLE001 (they raise errors of many libraries)
        raise unreadable(path) from None


def _excel(path: Path) -> pa.Table:
    """The first sheet: names in its first line, a row in each other."""
    import openpyxl

    with _reading(path), closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
        lines = [list(line) for line in book.worksheets[0].iter_rows(values_only=True)]
    lines = [line for line in lines if any(cell is not None for cell in line)]
    if not lines:
        raise unreadable(path)
    names = ["" if name is None else str(name) for name in lines[0]]
    while names and not names[-1] and all(line[len(names) - 1] is None for line in lines):
        names.pop()
    if "" in names:
        raise Misconfigured(
            f"{path}: column {names.index('') + 1} has no name",
            hint="The first line of the first sheet must name every column, each otherwise.",
        )
    return pa.table([_column([line[j] for line in lines[1:]]) for j in range(len(names))], names=names)


def _column(cells: list[Any]) -> pa.Array:
    """Numbers where all cells are numbers (or dates), else texts as they would stand in a csv file."""
    import datetime as dt

    filled = [c for c in cells if c is not None]
    if filled and all(isinstance(c, dt.datetime) for c in filled):
        whole = all(c.time() == dt.time() for c in filled)
        return pa.array([c if c is None or not whole else c.date() for c in cells])
    if filled and all(isinstance(c, int | float) and not isinstance(c, bool) for c in filled):
        whole = all(float(c).is_integer() for c in filled)
        return pa.array([c if c is None else int(c) if whole else float(c) for c in cells])
    return pa.array([None if c is None else str(c) for c in cells], pa.string())


def _statistics(path: Path, reader: str) -> pa.Table:
    import pyreadstat

    with _reading(path):
        columns, about = getattr(pyreadstat, reader)(str(path), output_format="dict")
    labels = about.variable_value_labels
    return pa.table({name: _labelled(_plain(list(cells)), labels.get(name)) for name, cells in columns.items()})


def _plain(cells: list[Any]) -> pa.Array:
    """Numbers, dates or texts; what is missing (NaN differs from itself) is missing in one way."""
    there = [None if c is None or c != c else c for c in cells]  # noqa: PLR0124
    if any(isinstance(c, str) for c in there):
        return _whole(pa.array([c if c is None else str(c) for c in there], pa.string()))
    return _whole(pa.array(there))


def _labelled(array: pa.Array, labels: Any) -> pa.Array:
    """Codes as their labels; codes without one as they are."""
    if not labels:
        return array
    return pa.array([c if c is None else str(labels.get(c, c)) for c in array.to_pylist()], pa.string())


def _whole(array: pa.Array) -> pa.Array:
    """These programs store whole numbers as real ones; empty texts are missing."""
    import pyarrow.compute as pc

    if pa.types.is_floating(array.type):
        there = array.drop_null()
        if pc.all(pc.and_(pc.is_finite(there), pc.equal(there, pc.round(there)))).as_py() and _small(there):
            return array.cast(pa.int64())
    if pa.types.is_string(array.type):
        return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
    return array


def _small(numbers: pa.Array) -> bool:
    import pyarrow.compute as pc

    most = pc.max(pc.abs(numbers)).as_py()
    return most is None or most < 2**53
