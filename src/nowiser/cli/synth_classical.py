"""`nowiser synth people.csv --method sequential`: classical rows, without differential privacy, judged by attacks."""

import sys
from pathlib import Path
from typing import Any

from nowiser.cli import output
from nowiser.cli.column_list import split_columns
from nowiser.cli.compare import listed, precise
from nowiser.errors import Misconfigured

METHODS = ("sequential", "copula")


def classical_rows(
    table: str | None,
    *,
    method: str,
    quasi: str,
    sensitive: str,
    gain: str | None,
    drop: str,
    rows: int | None,
    victims: int,
    seconds: float,
    out: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw, attack, and write what is let through."""
    from nowiser.classical.release import classical
    from nowiser.cli.publish import interrupted

    if table is None or not Path(table).suffix:
        raise Misconfigured(
            f"{method} is no method under a policy: it adds no noise, so no promise over all answers could hold",
            hint="Name a file, as in nowiser synth people.csv --method sequential; or --method aim under the policy.",
        )
    if gain is None:
        raise Misconfigured(
            f"{method} has no differential privacy: say how much better attackers may guess by these rows (--gain 10%)",
            hint="And what they know and guess: --quasi age,sex --sensitive income:1000.",
        )
    secrets, within = precise(sensitive)
    with interrupted():
        made = classical(
            table,
            quasi=split_columns(quasi, "--quasi") if quasi else {},
            sensitive={s: within.get(s) for s in secrets},
            gain=gain,
            method=method,
            rows=rows,
            drop=listed(drop, "--drop"),
            output=out,
            report=report,
            force=force,
            victims=victims,
            seconds=seconds,
            progress=_say,
        )
    if as_json:
        output.emit(made.to_json())
    else:
        output.say(str(made))
        if not made.files:
            output.say("Nothing was written: name a file with -o.")


def _say(message: Any) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{message}\n")
