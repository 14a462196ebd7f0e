"""`nowiser report`: one page for a board: the promises, who asked what, where attackers stand, what is left."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nowiser.cli import output
from nowiser.errors import NowiserError

if TYPE_CHECKING:
    from nowiser.model.policy import Policy
    from nowiser.report.custodian import Report


def report(
    *,
    policy_file: Annotated[Path, typer.Option("-p", "--policy", envvar="NOWISER_POLICY", help="The policy.")] = Path(
        "nowiser.yaml"
    ),
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write: .html, .pdf or .md; without it, on the screen."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """A report for the custodian's board: promises, questions, attackers, releases, what is left, the ledger's head.

    With text for a data-protection impact assessment. Verifies the ledger, and looks at the data as `nowiser check`
    does; no value from the data is in it. PDF needs the extra `pdf`.

    Example: nowiser report -o report.html
    """
    from nowiser.policy import read
    from nowiser.report.document.file import checked
    from nowiser.report.visible import visible

    if out is not None:
        checked(out)
    made = _made(read(policy_file))
    if out is not None:
        made.save(out)
    if as_json:
        output.emit({**made.to_dict(), "file": str(out) if out else None})
    else:
        typer.echo(f"Written: {out}" if out else visible(str(made)))


def _made(policy: "Policy") -> "Report":
    from nowiser.cli.check_allowance import buys
    from nowiser.cli.check_data import inspect
    from nowiser.cli.check_ledger import look_back
    from nowiser.ledger import for_policy
    from nowiser.report import custodian
    from nowiser.report.account import account

    findings: list[dict[str, str]] = []
    rows: dict[str, int] = {}
    past = look_back(policy)  # verifies; starts no ledger for the purpose
    if past.loosened:
        changed = "; ".join(past.loosened)
        findings.append({"level": "problem", "text": f"the policy promises less than the one in force: {changed}"})
    try:
        seen = inspect(policy)
        rows = seen.rows
        findings += [{"level": f.level, "text": f"{f.about}: {f.text}".replace("`", "")} for f in seen.findings]
    except NowiserError as error:  # the account can be told all the same
        findings.append({"level": "problem", "text": f"the data: {error.message}"})
    examples = [str(p) for p in buys(policy, past.totals, rows).purchases]
    if not past.entries:
        return custodian.report(policy, account(policy, (), {}, {}), findings=findings, examples=examples)
    with for_policy(policy) as kept:
        head = kept.verify()
        told = account(policy, kept.entries(), kept.analysts(), kept.failures())
    return custodian.report(policy, told, head, findings=findings, examples=examples)
