"""Two tables of rows as one."""

import pyarrow as pa

from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


def together(first: MicroTable, second: MicroTable) -> MicroTable:
    """The rows of both."""

    def both(name: str) -> Column:
        a, b = first[name].to_arrow(), second[name].to_arrow()
        if a.type != b.type:
            a, b = a.cast(pa.string()), b.cast(pa.string())
        return Column.of(name, pa.concat_arrays([a, b]))

    return MicroTable.of(both(n) for n in first.names)
