"""`nowiser prepare --synopsis 40%`: noisy counts paid for once, from which questions are then answered free."""

from collections.abc import Sequence
from pathlib import Path

from nowiser.cli import output


def buy(
    policy: Path | None,
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
    from nowiser.synth.synopsis.ask import synopsis

    with interrupted(), progress(quiet=as_json) as told:
        made = synopsis(
            table,
            spend=share,
            policy=policy,
            together=together,
            columns=[c.strip() for c in columns.split(",")] if columns.strip() else None,
            cells=dict(cells_of(text) for text in cells),
            method=method,
            anyway=anyway or dry,
            told=told,
            before=before(dry=dry, as_json=as_json),
        )
    if as_json:
        output.emit({"synopsis": made.to_json()})
    else:
        output.say(str(made))
