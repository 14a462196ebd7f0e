"""`nowiser prepare --synopsis 40%`: noisy counts paid for once, from which questions are then answered free."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from nowiser.cli import output

if TYPE_CHECKING:
    from nowiser.model.policy import Policy


def synopsis(
    policy: "Policy",
    share: str,
    table: str | None,
    *,
    columns: str,
    cells: Sequence[str],
    together: Sequence[str],
    method: str,
    dry: bool,
    anyway: bool,
    as_json: bool,
) -> None:
    """Buy one, after saying what it will cost."""
    from nowiser.cli.publish import interrupted
    from nowiser.cli.synth import before, cells_of, progress
    from nowiser.report.synthetic import synopsis_words
    from nowiser.sql.plan import precision
    from nowiser.synth.synopsis.make import make, request_of

    spend = precision.wish(policy, None, share).spend
    assert spend is not None, "a wish without an error has a share"
    request = request_of(
        policy,
        table,
        spend=spend,
        method=method,
        columns=[c.strip() for c in columns.split(",")] if columns.strip() else None,
        cells=dict(cells_of(text) for text in cells),
        together=together,
    )
    with interrupted(), progress(quiet=as_json) as told:
        made = make(request, anyway=anyway or dry, told=told, before=before(dry=dry, as_json=as_json))
    if as_json:
        output.emit({"synopsis": made.to_json()})
    else:
        typer.echo(synopsis_words(_facts(made.to_json(), policy)))


def _facts(made: dict[str, Any], policy: "Policy") -> dict[str, Any]:
    return made | {"answers_from": policy.answers_from}
