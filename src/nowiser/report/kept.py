"""An answer as the ledger keeps it: the same bytes for the same answer, and quick to write for 10,000 groups.

Arrow's stream format. Columns of numbers are Arrow columns, bit for bit; everything else is JSON beside them, in the
metadata of the schema. What is read back equals what was kept, value by value, and prints as it did.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.engines import arrow
from nowiser.report.answer import Answer
from nowiser.sql.answer.follows import Kept
from nowiser.sql.answer.vectors import Vector, listed, vector
from nowiser.sql.plan.measured import Measured

NAME = b"nowiser"
AS_JSON = ("follows", "columns", "exact", "cost", "bounding", "ranges")


def keep(answer: Answer, cells: Sequence[Kept] = ()) -> bytes:
    """What `again` reads back, and the noisy cells behind it, which `cells_of` does."""
    assert answer.values is not None, "what explain gives is not kept"
    beside: dict[str, Any] = {name: getattr(answer, name) for name in AS_JSON}
    arrays: dict[str, pa.Array] = {}

    def put(name: str, column: Any) -> Any:
        """Among the Arrow columns, or itself for the JSON."""
        if not isinstance(column, np.ndarray):
            return column
        if column.dtype == object:
            return listed(column)
        arrays[name] = arrow.column(column)
        return {"column": name}

    beside["values"] = [put(f"value{i}", v) for i, v in enumerate(answer.values)]
    beside["bars"] = [put(f"bar{i}", b) for i, b in enumerate(answer.bars)]
    if cells:
        beside["cells"] = [_told(c) for c in cells]
    text = json.dumps(beside, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    table = pa.Table.from_arrays(list(arrays.values()), names=list(arrays)).replace_schema_metadata(
        {NAME: text.encode()}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def again(kept: bytes) -> Answer:
    """The answer that was kept, without how the account stands: that is of today."""
    with pa.ipc.open_stream(kept) as reader:
        table = reader.read_all()
    beside = json.loads(table.schema.metadata[NAME])

    def get(found: Any) -> Any:
        if isinstance(found, dict):
            return _numbers(table.column(found["column"]))
        return vector(found) if isinstance(found, list) else found

    return Answer(
        columns=tuple(beside["columns"]),
        values=tuple(get(v) for v in beside["values"]),
        bars=tuple(get(b) for b in beside["bars"]),
        exact=tuple(beside["exact"]),
        cost=beside["cost"],
        guesses=(),
        left=0.0,
        stored=True,
        follows=bool(beside.get("follows")),
        bounding=tuple(beside["bounding"]),
        ranges=tuple(None if r is None else (r[0], r[1]) for r in beside.get("ranges", ())),
    )


def cells_of(kept: bytes) -> tuple[Kept, ...]:
    """The noisy cells that were kept with an answer."""
    with pa.ipc.open_stream(kept) as reader:
        beside = json.loads(reader.schema.metadata[NAME])
    return tuple(
        Kept(
            Measured(
                c["base"],
                tuple((name, tuple(values)) for name, values in c["domains"]),
                tuple(tuple((name, frozenset(values)) for name, values in region) for region in c["regions"]),
            ),
            tuple(c["values"]),
            c["variance"],
            c.get("gaussian", False),
        )
        for c in beside.get("cells", ())
    )


def _told(cell: Kept) -> dict[str, Any]:
    places = {name: {v: i for i, v in enumerate(values)} for name, values in cell.of.domains}
    return {
        "base": cell.of.base,
        "domains": [[name, list(values)] for name, values in cell.of.domains],
        "regions": [
            [[name, sorted(values, key=places[name].__getitem__)] for name, values in region]
            for region in cell.of.regions
        ],
        "values": [int(v) for v in cell.values],
        "variance": cell.variance,
        "gaussian": cell.gaussian,
    }


def _numbers(column: pa.ChunkedArray) -> Vector:
    if not column.null_count:
        return np.asarray(column.to_numpy())
    missing = column.is_null().to_numpy()
    return np.ma.MaskedArray(column.fill_null(0).to_numpy(), mask=missing)
