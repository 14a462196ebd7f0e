"""Numbers with decimal commas: every reader takes them for texts, so the custodian is told the command that helps."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from nowiser.errors import Misconfigured

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = r"^\s*[-+]?[0-9]+(,[0-9]+)?\s*$"
DECIMAL = r"^\s*[-+]?[0-9]+,([0-9]{1,2}|[0-9]{4,})\s*$"  # three digits after a comma may be thousands


def no_decimal_commas(path: Path, table: "pa.Table", mark: str) -> None:
    """Raise Misconfigured where all values of a column of texts are numbers with decimal commas."""
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) and _have_commas(column):
            raise decimal_comma(path, name, mark)


def _have_commas(column: "pa.ChunkedArray") -> bool:
    """Whether texts are numbers, and some of them have decimal commas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first = next((v for v in column.slice(0, 100).to_pylist() if v is not None), None)
    if first is None or not re.match(NUMBER, first):
        return False  # nearly always: no need to look at all of them
    if pa.types.is_dictionary(column.type):
        column = column.unique().dictionary
    every = pc.all(pc.match_substring_regex(column, NUMBER)).as_py()
    return bool(every and pc.any(pc.match_substring_regex(column, DECIMAL)).as_py())


def with_decimal_commas(column: str) -> str:
    """The same in DuckDB's SQL, about a column of texts."""
    return f"bool_and(regexp_matches({column}, '{NUMBER}')) AND bool_or(regexp_matches({column}, '{DECIMAL}'))"


def decimal_comma(path: Path, column: str, mark: str) -> Misconfigured:
    """The refusal for a column whose numbers have decimal commas. `mark`: the separator of the file."""
    quoted, target = column.replace('"', '""'), path.with_name(f"{path.stem}.points.csv")
    sql = (
        f'COPY (SELECT * REPLACE (replace("{quoted}", $$,$$, $$.$$) AS "{quoted}")'  # noqa: S608 (shown, not run)
        f" FROM read_csv($${path}$$, delim=$${mark}$$, all_varchar=true)) TO $${target}$$"
    )
    command = f'import duckdb; duckdb.sql("""{sql}""")'
    return Misconfigured(
        f"{path}: the numbers of column {column!r} have decimal commas, so they would be read as texts",
        hint=f"Write points: python -c {shlex.quote(command)}",
    )
