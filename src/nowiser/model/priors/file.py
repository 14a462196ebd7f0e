"""Files that state a prior: csv, tsv or parquet, every cell filled. They are public, so that errors may show a cell."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nowiser.errors import Misconfigured
from nowiser.files.decimal_comma import no_decimal_commas
from nowiser.files.records import BOM
from nowiser.files.unreadable import PARQUET, separator, there, unreadable

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = (".csv", ".tsv", ".txt")


def read_columns(path: str | Path, names: Sequence[str] | None = None) -> "pa.Table":
    """These columns of a file, or all; Misconfigured names the file, and what is wrong where.

    Nothing is left out silently: whoever left a cell empty has to say what the prior is to make of it.
    """
    found = Path(path)
    there(found)
    table = _read(found)
    every = table.column_names
    twice = next((n for n in (every if names is None else names) if every.count(n) > 1), None)
    if twice is not None:
        raise Misconfigured(f"{found.name} has {every.count(twice)} columns called {twice!r}; one must be left")
    for name in names or ():
        if name not in every:
            raise Misconfigured(f"{found.name} has no column {name!r}; it has {', '.join(every[:20])}")
    if not table.num_rows or not every:
        raise Misconfigured(f"{found.name} holds no rows")
    kept = table if names is None else table.select(list(names))
    for name in kept.column_names:
        row = next((i for i, v in enumerate(kept.column(name).to_pylist(), start=1) if _is_missing(v)), None)
        if row is not None:
            raise Misconfigured(
                f"column {name!r} of {found.name} has no value in row {row}",
                hint="Leave such rows out of the file, or write what the attacker is to believe about them.",
            )
    return kept


def first_without_number(path: str | Path, column: str) -> tuple[int, str] | None:
    """The first row of a column that holds no number, and the cell; None where all are numbers."""
    for row, cell in enumerate(read_columns(path, [column]).column(column).to_pylist(), start=1):
        try:
            float(cell)
        except (TypeError, ValueError):
            return row, str(cell)
    return None


def _read(path: Path) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    ending = path.suffix.lower()
    try:
        if ending in PARQUET:
            return pyarrow.parquet.read_table(path)
        if ending not in TEXTS:
            raise Misconfigured(f"a .csv, .tsv or .parquet file is needed, found {path.name!r}")
        with path.open("rb") as file:
            delimiter = separator(file.readline().removeprefix(BOM).decode())
        table = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter))
        if table.num_columns == 1:  # there an empty line is an empty cell
            options = pyarrow.csv.ParseOptions(delimiter=delimiter, ignore_empty_lines=False)
            table = pyarrow.csv.read_csv(path, parse_options=options)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise unreadable(path) from None
    if any(pa.types.is_binary(kind) for kind in table.schema.types):  # what Arrow makes of texts that are not UTF-8
        raise unreadable(path)
    no_decimal_commas(path, table, delimiter)
    return table


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and value != value)  # noqa: PLR0124 (not a number)
