"""Reading a table: csv, parquet, files of other programs, pandas, Polars, Arrow, or a table that is one already.

A CSV file is read as text: nothing is guessed about types, so a ZIP code keeps its leading zero and every
value that is not touched is written exactly as it was read. An empty field is NULL, a quoted empty field is not.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.files.decimal_comma import no_decimal_commas
from nowiser.files.records import BOM, opened
from nowiser.files.unreadable import reading, separator, there, unreadable
from nowiser.microdata.table import foreign
from nowiser.microdata.table.column import mostly_distinct
from nowiser.microdata.table.micro_table import MicroTable, no_duplicates

LARGE = 2**29  # bytes of a block, where one line is larger than Arrow's


@dataclass(frozen=True)
class CsvShape:
    """How a CSV file is written."""

    separator: str
    header: tuple[str, ...]


def load(data: Any) -> MicroTable:
    """Any of the forms above as a MicroTable."""
    if isinstance(data, MicroTable):
        return data
    if isinstance(data, str | Path):
        return load_file(Path(data))
    return MicroTable.from_arrow(as_arrow(data))


def as_arrow(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    no_duplicates([str(c) for c in getattr(data, "columns", ())])
    if hasattr(data, "__arrow_c_stream__"):  # Polars, DuckDB relations, recent pandas
        if type(data).__module__.startswith("pandas"):
            return pa.Table.from_pandas(data, preserve_index=False)
        return pa.table(data)
    if type(data).__module__.startswith("pandas"):
        return pa.Table.from_pandas(data, preserve_index=False)
    raise Misconfigured(
        f"cannot read a table from {type(data).__name__}",
        hint="Give a pandas or Polars data frame, an Arrow table, or the path of a csv or parquet file.",
    )


def load_file(path: Path) -> MicroTable:
    there(path)
    if path.suffix.lower() in {".parquet", ".pq"}:
        import pyarrow.parquet as pq

        try:
            return MicroTable.from_arrow(pq.read_table(path))
        except (pa.ArrowException, OSError):
            raise unreadable(path) from None
    if path.suffix.lower() in foreign.SUFFIXES:
        table = foreign.read(path)
        no_duplicates(table.column_names)
        return MicroTable.from_arrow(table)
    return MicroTable.from_arrow(read_csv(path))


def csv_shape(path: Path) -> CsvShape:
    """Separator and column names, from the first line."""
    try:
        with reading(path), opened(path) as file:
            first = file.readline().removeprefix(BOM).decode()
        mark = separator(first)
        header = tuple(next(csv.reader([first], delimiter=mark)))
    except (UnicodeDecodeError, csv.Error, StopIteration):
        raise unreadable(path) from None
    if not first.strip():
        raise unreadable(path)
    no_duplicates(header)
    if "" in header:
        raise Misconfigured(
            f"{path}: column {header.index('') + 1} has no name",
            hint="Its first line must name every column, each otherwise.",
        )
    return CsvShape(mark, header)


def read_csv(path: Path) -> pa.Table:
    """Every column as text, dictionary-encoded while it is read unless its values hardly repeat."""
    import pyarrow.csv as arrow_csv

    shape = csv_shape(path)
    parsing = arrow_csv.ParseOptions(delimiter=shape.separator, newlines_in_values=_has_quotes(path))

    def converting(kinds: dict[str, pa.DataType]) -> Any:
        return arrow_csv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        )

    def attempt(block: int | None) -> pa.Table:
        kinds: dict[str, pa.DataType] = dict.fromkeys(shape.header, pa.string())
        sized = arrow_csv.ReadOptions(block_size=block)
        with arrow_csv.open_csv(path, sized, parse_options=parsing, convert_options=converting(kinds)) as begun:
            first = next(iter(begun), None)  # one block; none if the file has nothing but its header
        for name in shape.header:
            if first is None or name not in first.schema.names or not mostly_distinct(first.column(name)):
                kinds[name] = pa.dictionary(pa.int32(), pa.string())
        return arrow_csv.read_csv(path, sized, parse_options=parsing, convert_options=converting(kinds))

    try:
        try:
            table = attempt(None)
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise
            table = attempt(LARGE)  # a line of megabytes
    except (pa.ArrowException, UnicodeDecodeError, OSError):
        raise unreadable(path) from None
    no_decimal_commas(path, table, shape.separator)
    return table.rename_columns(list(shape.header)).unify_dictionaries().combine_chunks()


def _has_quotes(path: Path) -> bool:
    with opened(path) as file:
        while block := file.read(1 << 22):
            if b'"' in block:
                return True
    return False
