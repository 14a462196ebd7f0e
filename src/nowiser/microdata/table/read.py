"""Reading a table: csv, parquet, pandas, Polars, Arrow, or a table that is one already.

A CSV file is read as text: nothing is guessed about types, so a ZIP code keeps its leading zero and every
value that is not touched is written exactly as it was read. An empty field is NULL, a quoted empty field is not.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.microdata.table.column import mostly_distinct
from nowiser.microdata.table.micro_table import MicroTable, no_duplicates

SEPARATORS = (",", ";", "\t", "|")


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


def check_file(path: Path) -> None:
    if not path.exists():
        raise Misconfigured(f"there is no file {path}")
    if path.is_dir():
        raise Misconfigured(f"{path} is a folder, not a csv or parquet file")


def load_file(path: Path) -> MicroTable:
    check_file(path)
    if path.suffix.lower() in {".parquet", ".pq"}:
        import pyarrow.parquet as pq

        try:
            return MicroTable.from_arrow(pq.read_table(path))
        except pa.ArrowInvalid as error:
            raise Misconfigured(f"{path} is not a parquet file: {error}") from None
    return MicroTable.from_arrow(read_csv(path))


def csv_shape(path: Path) -> CsvShape:
    """Separator and column names, from the first line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error.start) from None
    if not first.strip():
        raise Misconfigured(f"{path} is empty: its first line must name the columns")
    best = max(SEPARATORS, key=lambda s: (len(next(csv.reader([first], delimiter=s))), -SEPARATORS.index(s)))
    header = tuple(next(csv.reader([first], delimiter=best)))
    no_duplicates(header)
    if "" in header:
        raise Misconfigured(f"{path}: column {header.index('') + 1} has no name")
    return CsvShape(best, header)


def read_csv(path: Path) -> pa.Table:
    """Every column as text, dictionary-encoded while it is read unless its values hardly repeat."""
    import pyarrow.csv as arrow_csv

    shape = csv_shape(path)
    parsing = arrow_csv.ParseOptions(delimiter=shape.separator, newlines_in_values=_has_quotes(path))

    def reading(kinds: dict[str, pa.DataType]) -> Any:
        return arrow_csv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        )

    kinds = dict.fromkeys(shape.header, pa.string())
    try:
        with arrow_csv.open_csv(path, parse_options=parsing, convert_options=reading(kinds)) as opened:
            first = next(iter(opened), None)  # one block; none if the file has nothing but its header
        for name in shape.header:
            if first is None or name not in first.schema.names or not mostly_distinct(first.column(name)):
                kinds[name] = pa.dictionary(pa.int32(), pa.string())
        table = arrow_csv.read_csv(path, parse_options=parsing, convert_options=reading(kinds))
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise explain(path, shape, str(error)) from None
    return table.rename_columns(list(shape.header)).unify_dictionaries().combine_chunks()


def _has_quotes(path: Path) -> bool:
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            if b'"' in block:
                return True
    return False


def _not_utf8(path: Path, position: int) -> Misconfigured:
    return Misconfigured(
        f"{path} is not UTF-8: the byte at position {position} belongs to no character",
        hint=f"Convert it, for example: iconv -f LATIN1 -t UTF-8 {path.name}",
    )


def explain(path: Path, shape: CsvShape, said: str) -> Misconfigured:
    """Why Arrow could not read the file, in the custodian's words: encoding first, then ragged rows."""
    position = 0
    with path.open("rb") as raw:
        for line in raw:
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return _not_utf8(path, position + error.start)
            position += len(line)
    width = len(shape.header)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=shape.separator)
        ragged = [(reader.line_num, len(row)) for row in reader if row and len(row) != width]
    if ragged:
        shown = ", ".join(f"line {line} has {n}" for line, n in ragged[:5])
        more = f", and {len(ragged) - 5} more" if len(ragged) > 5 else ""
        return Misconfigured(
            f"{path} is ragged: its header has {width} columns, but {shown}{more}",
            hint=f"The separator was taken to be {shape.separator!r}; values that contain it must be quoted.",
        )
    return Misconfigured(f"{path} cannot be read as CSV: {said}")
