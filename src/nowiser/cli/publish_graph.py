"""`nowiser publish --graph`: links between people."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nowiser.cli import output
from nowiser.errors import Misconfigured


def publish_graph(
    source: Path,
    out: Path | None,
    report: Path | None,
    options: Mapping[str, Any],
    refused: Sequence[str],
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Release a graph after the attacks were run on it; refuses options that are about tables."""
    from nowiser.attacks.graphs.publish import publish_graph as flow
    from nowiser.cli.attack import progressing
    from nowiser.cli.publish import interrupted
    from nowiser.report.compare import check_page

    if refused:
        raise Misconfigured(
            f"--graph releases links, and {', '.join(refused)} is about tables", hint="Leave one of them out."
        )
    if report is not None:
        check_page(report)
    with interrupted():
        made = flow(source, output=out, force=force, progress=progressing, **options)
    if report is not None:
        made.save(report)
    if as_json:
        output.emit(made.to_json())
        return
    output.say(str(made))
    if report is not None:
        output.say(f"The report is in {report}. It was made from true values: it is for the custodian only.")
    if out is None:
        output.say("Nothing was written: name a file with -o.")
