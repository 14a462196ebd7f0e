"""`nowiser ledger`: who asked what, what it cost, how every attacker stands, what is left; and whether it is true."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured
from nowiser.percent import percent

if TYPE_CHECKING:
    from nowiser.ledger.base import Head, Ledger
    from nowiser.model.policy import Policy
    from nowiser.report.account import Account, Line


class What(StrEnum):
    show = "show"
    verify = "verify"
    accept = "accept"
    reopen = "reopen"
    backup = "backup"


def ledger(
    what: Annotated[
        What,
        typer.Argument(
            help="Show the account, verify it, accept a policy that promises less (or, with --lost, an older copy), "
            "open access again after failures, or copy everything into a new file."
        ),
    ] = What.show,
    file: Annotated[Path | None, typer.Argument(help="The new file (with backup).")] = None,
    *,
    policy_file: Annotated[Path, typer.Option("-p", "--policy", envvar="NOWISER_POLICY", help="The policy.")] = Path(
        "nowiser.yaml"
    ),
    reason: Annotated[
        str | None, typer.Option("--reason", help="Why a promise is loosened (accept) or access opened (reopen).")
    ] = None,
    analyst: Annotated[
        str | None, typer.Option("--analyst", help="Whose access is opened again (with reopen); else everybody's.")
    ] = None,
    lost: Annotated[
        str | None,
        typer.Option("--lost", help="Why an older copy was put back (accept): what was charged after it is booked."),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="A picture: svg, png, pdf or html.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Who asked what, what it cost, how well each attacker can guess by now, what is left. Always verifies first.

    Example: nowiser ledger verify
    """
    from nowiser.ledger import for_policy
    from nowiser.policy import read

    if reason is not None and what not in (What.accept, What.reopen):
        raise Misconfigured("--reason belongs to `nowiser ledger accept` and `nowiser ledger reopen`")
    if analyst is not None and what is not What.reopen:
        raise Misconfigured("--analyst belongs to `nowiser ledger reopen`")
    if plot is not None:
        from nowiser.report.save import checked

        checked(plot)
    if lost is not None and (what is not What.accept or reason is not None):
        raise Misconfigured("--lost belongs to `nowiser ledger accept`, without --reason")
    if (file is not None) != (what is What.backup):
        raise Misconfigured("`nowiser ledger backup FILE` names a new file, and nothing else does")
    policy = read(policy_file)
    if lost is not None:
        _accept_lost(policy, lost, as_json=as_json)
        return
    with for_policy(policy) as kept:
        if file is not None:
            _backup(kept, file, as_json=as_json)
            return
        head = kept.verify()
        if what is What.verify:
            _verified(head, as_json=as_json)
        elif what is What.accept:
            _accept(kept, policy, reason, as_json=as_json)
        elif what is What.reopen:
            _reopen(kept, analyst, reason, as_json=as_json)
        else:
            _show(kept, policy, plot, as_json=as_json)


def _verified(head: "Head", *, as_json: bool) -> None:
    if as_json:
        output.emit({"verified": True, "entries": head.seq, "head": head.hash})
    else:
        output.say(f"The ledger verifies: {head.seq} entries, head {head.hash}.")


def _accept(kept: "Ledger", policy: "Policy", reason: str | None, *, as_json: bool) -> None:
    if reason is None or not reason.strip():
        raise Misconfigured("accepting a policy that promises less needs a reason", hint='Write --reason "why".')
    news = kept.declare(policy, reason=reason)
    if as_json:
        output.emit({"accepted": news, "digest": policy.digest})
    else:
        output.say("The policy is in force from now on; costs so far stay." if news else "This policy is in force.")


def _accept_lost(policy: "Policy", reason: str, *, as_json: bool) -> None:
    from nowiser.ledger import for_policy

    if not reason.strip():
        raise Misconfigured("an older copy needs a reason", hint='Write --lost "why".')
    with for_policy(policy, lost=True) as kept:
        many = kept.accept_lost(reason)
        kept.verify()
    if as_json:
        output.emit({"lost": many})
    else:
        output.say(f"{many} entries are lost; what they charged is booked as spent. Lost answers are charged anew.")
        output.say("Accounts are as they were in the copy: see `nowiser user list`.")


def _backup(kept: "Ledger", file: Path, *, as_json: bool) -> None:
    head = kept.backup(file)
    if as_json:
        output.emit({"file": str(file), "entries": head.seq, "head": head.hash})
    else:
        output.say(f"{file}: a copy of at least {head.seq} entries, verified before. Keep it as you keep the data.")


def _reopen(kept: "Ledger", analyst: str | None, reason: str | None, *, as_json: bool) -> None:
    if reason is None or not reason.strip():
        raise Misconfigured("opening access again needs a reason", hint='Write --reason "why the questions failed".')
    forgiven = kept.reopen(analyst=analyst, reason=reason)
    if as_json:
        output.emit({"reopened": bool(forgiven), "analyst": analyst, "failures": forgiven})
    else:
        whose = "anybody" if analyst is None else analyst or "anybody unnamed"
        output.say(
            f"Access is open again; {forgiven} failed questions stay charged."
            if forgiven
            else f"Nothing to open: no question of {whose} has failed since the last look."
        )


def _show(kept: "Ledger", policy: "Policy", plot: Path | None, *, as_json: bool) -> None:
    from nowiser.report.account import account, chart

    read = account(policy, kept.entries(), kept.analysts(), kept.failures())
    if plot is not None:
        from nowiser.report.save import save

        save(chart(policy, read), plot)
    if as_json:
        output.emit({**read.to_json(), "plot": str(plot) if plot else None})
    else:
        _print(read)


def _print(read: "Account") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from nowiser.model.attacker import ON_AVERAGE
    from nowiser.report.terminal import bar
    from nowiser.report.visible import on_one_line

    out = Console(highlight=False)
    if not any(line.charge or line.kind != "policy" for line in read.lines):
        out.print("Nothing has been asked yet.")
    table = Table(show_edge=False, pad_edge=False)
    for name in ("", "when (UTC)", "who", "what", "state"):
        table.add_column(name, overflow="fold")
    table.add_column("uses", justify="right")
    for line in read.lines:
        table.add_row(
            str(line.seq),
            _when(line),
            escape(on_one_line(line.who)),
            escape(on_one_line(_short(line.what))),
            line.state,
            _share(line),
        )
    if read.lines:
        out.print(table)
        out.print()
    width = max((len(g.guess) for g in read.guesses), default=0)
    for g in read.guesses:
        how = ", on average" if g.promise == ON_AVERAGE else ""
        gained = f"at most {100 * (g.after - g.before):.2f} of {100 * (g.limit - g.before):.2f} points better{how}"
        out.print(f"[bold]{escape(g.guess.ljust(width))}[/bold]  {gained}")
        rows = (("before", g.before, "bright_black"), ("now", g.after, "blue"), ("limit", g.limit, "red"))
        for label, share, colour in rows:
            out.print(f"  {label:<6} [{colour}]{bar(share, 30)}[/{colour}] {percent(share, 2)}")
    if len(read.analysts) > 1 or any(granted is not None for _, _, granted in read.analysts):
        out.print()
        for name, used, granted in read.analysts:
            of = f" of {percent(float(granted))}" if granted is not None else ""
            out.print(
                f"{on_one_line(name) or 'unnamed'}: {percent(float(used))}{of} of the allowance used", markup=False
            )
    for name, failed in read.failures.items():
        state = (
            "access is closed; see failures.log, then `nowiser ledger reopen --reason`"
            if name in read.closed
            else "may ask"
        )
        times = "1 question has failed" if failed == 1 else f"{failed} questions have failed"
        out.print(f"{on_one_line(name) or 'unnamed'}: {times} since the last look ({state})", markup=False)
    if read.failing:
        out.print(f"These figures hold except with probability {float(read.failing):.2g}.")
    out.print(f"\nLeft of the allowance: [green]{bar(float(read.left), 30)}[/green] {percent(float(read.left))}")


def _when(line: "Line") -> str:
    return line.at[:19].replace("T", " ")


def _short(text: str, length: int = 100) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def _share(line: "Line") -> str:
    return percent(float(line.share), 2) if line.charge else ""
