"""An answer in the form that was asked for: JSON, CSV, or a stream of Arrow."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nowiser.report.answer import Answer
from nowiser.report.sent import sent

ARROW, CSV = "application/vnd.apache.arrow.stream", "text/csv"
FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; in CSV and Arrow with a column `<column>_error` after each noisy one",
        "content": {CSV: {"schema": {"type": "string"}}, ARROW: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def formed(request: Request, answer: Answer) -> Response:
    """The first form of `Accept` that we have; JSON otherwise."""
    for wanted in request.headers.get("accept", "").split(","):
        kind = wanted.partition(";")[0].strip().lower()
        if kind == ARROW:
            return Response(_arrow(answer), media_type=ARROW)
        if kind == CSV:
            return Response(_csv(answer), media_type=f"{CSV}; charset=utf-8; header=present")
        if kind in ("application/json", "*/*", "application/*"):
            break
    return JSONResponse(sent(answer))


def _arrow(answer: Answer) -> bytes:
    import pyarrow as pa

    table, sink = answer.to_arrow(), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def _csv(answer: Answer) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(answer.to_arrow(), sink)
    return bytes(sink.getvalue().to_pybytes())
