"""How DuckDB spells types, reads raw values, and names the stored units of a column."""

from nowiser.engines import prepare as preparing
from nowiser.engines.duckdb.filling import COLLATED
from nowiser.engines.render import Dialect, quote
from nowiser.model.schema import Kind

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


def _read(kind: Kind, raw: str, type_: str) -> str:
    # There and back, a text loses its collation: one that ignores case would bring other texts into the same group.
    raw = f"decode(encode({raw}))" if type_ == COLLATED else raw
    cast = f"TRY_CAST({raw} AS {TYPES[kind]})"
    return f"nullif({cast}, CAST('NaN' AS DOUBLE))" if kind is Kind.REAL else cast


DIALECT = Dialect(
    name="duckdb",
    read=_read,
    types=TYPES,
    table=lambda scan: quote(scan.table.name),
    real="DOUBLE",
    units=lambda column: (
        f"{column.relation}.{quote(preparing.units_name(column.declared.name))}"
        if column.declared.low is not None and column.declared.high is not None
        else None
    ),
)
