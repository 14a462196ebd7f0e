"""`nowiser check`: policy, data and ledger together; how well attackers guess today; what the allowance buys."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.check_ledger import sharing
from nowiser.cli.refusals import in_flags
from nowiser.errors import NowiserError
from nowiser.model.attacker import ON_AVERAGE
from nowiser.percent import percent

if TYPE_CHECKING:
    from nowiser.cli.check_allowance import Allowance
    from nowiser.cli.check_data import Inspection
    from nowiser.guess.budget.allowance import Guess
    from nowiser.model.charge import Charge
    from nowiser.model.policy import Policy

USUAL_DELTA = Fraction(1, 10**6)


def check(
    *,
    policy_file: Annotated[Path, typer.Option("-p", "--policy", help="The policy.")] = Path("nowiser.yaml"),
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of policies, for editors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Validate policy, data and ledger together; show what attackers can guess and what the allowance buys.

    Example: nowiser check -p nowiser.yaml
    """
    from nowiser.policy import json_schema, read

    if schema:
        output.emit(json_schema())
        return
    policy = read(policy_file)
    report = _Report(policy)
    if as_json:
        output.emit(report.to_json())
    else:
        report.show()
    if report.exit_code:
        raise typer.Exit(report.exit_code)


class _Report:
    """Everything that can be said; one broken part does not hide the others."""

    def __init__(self, policy: "Policy") -> None:
        from nowiser.guess.budget.allowance import share_used, unguarded

        self.policy = policy
        self.failures: dict[str, NowiserError] = {}
        self.inspection: Inspection | None = None
        self.ledger: dict[str, Any] = {"entries": 0}
        self.changed: tuple[str, ...] = ()
        self.exposed = False
        totals = self._totals()
        self._inspect()
        self.guesses: tuple[Guess, ...] = ()
        self._judge(totals)
        self.unguarded = unguarded(policy)
        # of a ledger that does not verify nobody knows what is left
        self.left = None if "ledger" in self.failures else float(1 - share_used(policy, totals))
        self.allowance: Allowance = self._buys(totals)

    @property
    def problems(self) -> list[str]:
        found = [str(error) for error in self.failures.values()]
        if self.inspection is not None:
            found += [f"{f.about}: {f.text}" for f in self.inspection.findings if f.level == "problem"]
        return found

    @property
    def warnings(self) -> list[str]:
        """What is allowed, and hardly meant."""
        found = []
        people = max(self.inspection.rows.values(), default=0) if self.inspection is not None else 0
        for name in ("delta", "key_delta"):
            value = getattr(self.policy, name)
            if value > USUAL_DELTA or value * people > 1:
                found.append(
                    f"{name}: {float(value):g}: with this probability a promise about a person is void; "
                    "choose far less than one in the number of people, like 1e-9"
                )
        if self.inspection is not None:
            found += [f"{f.about}: {f.text}" for f in self.inspection.findings if f.level == "warning"]
        found += self.allowance.hidden
        if (said := sharing(self.policy)) is not None:
            found.append(said)
        if self.exposed:
            found.append("the ledger's file is open to everybody on this machine, and not yours to close: chmod o= it")
        return found

    @property
    def exit_code(self) -> int:
        """The worst of what was found: 8 before 6 before 3."""
        codes = [error.exit_code for error in self.failures.values()]
        return max([*codes, 3 if self.problems else 0])

    def _totals(self) -> "Charge":
        """What is charged so far. A ledger is not started for the sake of looking at it."""
        from nowiser.cli.check_ledger import look_back
        from nowiser.model.charge import Charge

        try:
            past = look_back(self.policy)
        except NowiserError as error:
            self.failures["ledger"] = error
            return Charge()
        self.ledger, self.changed, self.exposed = past.to_json(), past.loosened, past.open_to_all
        return past.totals

    def _inspect(self) -> None:
        from nowiser.cli.check_data import inspect

        try:
            self.inspection = inspect(self.policy)
        except NowiserError as error:
            self.failures["data"] = error

    def _judge(self, totals: "Charge") -> None:
        """Where every attacker stands. A promise that nothing can break is a problem of its own."""
        from nowiser.guess.budget.allowance import refuse_empty_promises, standing

        try:
            self.guesses = standing(self.policy, totals)
            refuse_empty_promises(self.policy)
        except NowiserError as error:
            self.failures["attackers"] = error

    def _buys(self, totals: "Charge") -> "Allowance":
        from nowiser.cli.check_allowance import Allowance, buys

        if self.left is None:
            return Allowance()
        return buys(self.policy, totals, self.inspection.rows if self.inspection is not None else {})

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": not self.exit_code,
            "policy": {
                "path": str(self.policy.path),
                "version": self.policy.version,
                "digest": self.policy.digest,
                "tables": [t.name for t in self.policy.tables],
            },
            "errors": [error.to_json() for error in self.failures.values()],
            "findings": [f.to_json() for f in self.inspection.findings] if self.inspection is not None else [],
            "ledger": {**self.ledger, "loosened": list(self.changed)},
            "guesses": [guess.to_json() for guess in self.guesses],
            "unguarded": list(self.unguarded),
            "warnings": self.warnings,
            "left": self.left,
            "buys": [purchase.to_json() for purchase in self.allowance.purchases],
            "alternatives": self.allowance.alternatives.to_json() if self.allowance.alternatives is not None else None,
        }

    def show(self) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        console = Console(highlight=False, soft_wrap=True)
        tables = ", ".join(t.name for t in self.policy.tables)
        console.print(f"[green]✓[/] policy  {self.policy.path}, version {self.policy.version}: {tables}", markup=True)
        self._show_data(console)
        self._show_ledger(console)
        shown = Table(box=None, pad_edge=False, title=None)
        for title in ("what attackers guess", "before", "so far", "limit"):
            shown.add_column(title, justify="left" if title.startswith("what") else "right")
        for guess in self.guesses:
            how = ", on average" if guess.promise == ON_AVERAGE else ""
            shown.add_row(guess.guess + how, *(percent(p) for p in (guess.before, guess.after, guess.limit)))
        console.print()
        console.print(shown)
        console.print(self._whose(), style="dim")
        for name in self.unguarded:
            console.print(f"[yellow]![/] no attacker guards {name}: answers about it are never used up")
        for warning in self.warnings:
            console.print(f"[yellow]![/] {escape(warning)}")
        self._show_allowance(console)
        for problem in self.problems:
            typer.echo(f"nowiser: {problem}", err=True)

    def _whose(self) -> str:
        if "ledger" in self.failures:
            return "(about the victim who is guessed best, before any answer: what was answered is not known)"
        if any(g.after > g.before for g in self.guesses):
            return "(about the most exposed victim, who may be another one after further answers)"
        return "(about the victim who is guessed best; nothing has been answered yet)"

    def _show_allowance(self, console: Any) -> None:
        from rich.markup import escape
        from rich.table import Table

        from nowiser.cli.check_questions import free

        if self.left is None:
            console.print("\nHow much of the allowance is left is not known.")
            return
        bought = self.allowance.purchases
        console.print(f"\n{percent(self.left, 0)} of the allowance is left.", "It buys" if bought else "")
        for purchase in bought:
            console.print(f"  {purchase}", markup=False)
        if names := free(self.policy):
            console.print(f"  and exact counts, free, by {', '.join(names)}", markup=False)
        other = self.allowance.alternatives
        if other is None or not other.levers:
            return
        console.print(f"\n{other.sql}: {other.figure.width}.", markup=False, end=" ")
        console.print(f"`{other.binding}` binds." if other.binding else "", "Alternatives:", markup=False)
        shown = Table(box=None, pad_edge=False, show_header=False)
        for lever in other.levers:
            shown.add_row(f"  {escape(in_flags(lever.what))}", lever.figure.width, "" if lever.useful else "useless")
        console.print(shown)

    def _show_data(self, console: Any) -> None:
        if self.inspection is None:
            console.print("[red]✗[/] data    not readable")
            return
        bad = [f for f in self.inspection.findings if f.level == "problem"]
        mark = "[red]✗[/]" if bad else "[green]✓[/]"
        console.print(f"{mark} data    {'does not fit the policy' if bad else 'fits the policy'}")
        for finding in self.inspection.findings:
            if finding.level == "note":
                console.print(f"          {finding.about}: {finding.text}", markup=False)

    def _show_ledger(self, console: Any) -> None:
        if "ledger" in self.failures:
            console.print("[red]✗[/] ledger  does not verify")
        elif not self.ledger["entries"]:
            console.print("[green]✓[/] ledger  none yet; it starts with the first question")
        else:
            console.print(f"[green]✓[/] ledger  {self.ledger['entries']} entries, every hash verified")
        if self.changed:
            console.print("[yellow]![/] the policy promises less than the one in the ledger, which needs a reason:")
            for line in self.changed:
                console.print(f"          {line}", markup=False)
