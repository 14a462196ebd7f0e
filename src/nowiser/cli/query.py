"""`nowiser query`: ask a question and get an answer with its error bar and its price."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nowiser.cli import output
from nowiser.cli.refusals import in_flags
from nowiser.errors import Misconfigured, Useless

if TYPE_CHECKING:
    from nowiser.report.answer import Answer

Sql = Annotated[
    str | None,
    typer.Argument(help="The question, in SQL (PostgreSQL's dialect); `-` reads standard input.", show_default=False),
]
SqlFile = Annotated[Path | None, typer.Option("-f", "--file", help="A file with the question, or with several.")]
PolicyFile = Annotated[
    Path | None, typer.Option("-p", "--policy", help="The policy; else $NOWISER_POLICY, else nowiser.yaml.")
]
Wanted = Annotated[float | None, typer.Option("--error", help="The 95 % error bar wanted, e.g. 1.5.")]
Spend = Annotated[str | None, typer.Option("--spend", help="The share of the allowance to spend, e.g. 5%.")]
Analyst = Annotated[str | None, typer.Option("--analyst", help="Who asks; else $NOWISER_ANALYST.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def query(
    sql: Sql = None,
    *,
    file: SqlFile = None,
    policy: PolicyFile = None,
    error: Wanted = None,
    spend: Spend = None,
    analyst: Analyst = None,
    clipped: Annotated[
        bool,
        typer.Option(
            "--clipped", help="Also estimate how many rows were clipped or left out: a second question, charged."
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask also where the answer would be too imprecise to be useful.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask a question. The answer says how far off it may be and what it does to attackers' guesses.

    An answer too imprecise to be useful is refused before anything is charged; at a terminal you are asked.
    A file with several questions, each ending in a semicolon, is planned as a whole: --spend is for all of them.

    Example: nowiser query "SELECT AVG(time) FROM visits WHERE faculty = 'math'" --error 1.5
    """
    from nowiser import gateway

    asked = question(sql, file)
    if len(several := questions_of(asked, file)) > 1:
        ask_together(several, policy, error=error, spend=spend, analyst=analyst, as_json=as_json, anyway=yes)
        return
    with gateway.open(policy) as gate:
        ask = partial(gate.query, asked, error=error, spend=spend, analyst=analyst, clipped=clipped)
        try:
            answer = ask(anyway=yes)
        except Useless as refusal:
            if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            answer = ask(anyway=wanted_anyway(refusal))
    answer = in_flags_of(answer)
    if as_json:
        output.emit(answer.to_dict())
        return
    from nowiser.cli.query_notes import with_news
    from nowiser.report.printed import print_answer

    print_answer(with_news(answer, gate.policy))


def wanted_anyway(refusal: Useless) -> bool:
    """True if the person at the terminal wants the answer all the same; else the refusal is raised, told already."""
    output.failed(refusal)
    if typer.confirm("Ask anyway?", default=False, err=True):
        return True
    raise typer.Exit(refusal.exit_code)


def questions_of(text: str, file: Path | None) -> list[str]:
    """The questions of a file; what is typed is one."""
    from nowiser.sql.read.text.statements import statements

    return [text] if file is None else statements(text)


def ask_together(
    questions: list[str],
    policy: Path | None,
    *,
    error: float | None,
    spend: str | None,
    analyst: str | None,
    as_json: bool,
    run: bool = True,
    anyway: bool = False,
) -> None:
    """Several questions of a file: their bars (`run=False`), or their answers."""
    from nowiser import gateway

    if error is not None:
        raise Misconfigured("--error is for one question", hint="Of several, say what to spend on all: --spend 10%.")
    with gateway.open(policy) as gate:
        planned = gate.what_if(questions, spend=spend, analyst=analyst)
        answers = [in_flags_of(answer) for answer in planned.run(anyway=anyway)] if run else []
    if as_json:
        output.emit({"answers": [answer.to_dict() for answer in answers]} if run else planned.to_dict())
        return
    from nowiser.report.printed import print_answer
    from nowiser.report.visible import visible

    if not run:
        typer.echo(visible(in_flags(str(planned))))
    for sql, answer in zip(questions, answers, strict=run):
        typer.echo(visible(sql))
        print_answer(answer)
        typer.echo()


def in_flags_of(answer: "Answer") -> "Answer":
    """The notes of an answer in the words of the command line."""
    refusal = None if answer.refusal is None else in_flags(answer.refusal)
    if answer.useless is not None:
        answer.useless.hint = in_flags(answer.useless.hint or "")
    bounding, news = (tuple(map(in_flags, notes)) for notes in (answer.bounding, answer.news))
    return replace(answer, bounding=bounding, news=news, refusal=refusal)


ENOUGH = 1_000_000  # characters; no question is so long, and a device may have no end


def question(sql: str | None, file: Path | None) -> str:
    """The question: as an argument, from a file, or from standard input (`-`, or where nothing is typed)."""
    if sql is not None and file is not None:
        raise Misconfigured("give the question either as an argument or in a --file, found both")
    if file is not None:
        try:
            with file.open(encoding="utf-8") as text:
                return text.read(ENOUGH)
        except (OSError, UnicodeDecodeError):
            raise Misconfigured(f"the question cannot be read from {str(file)!r}: no such file, or no text") from None
    if sql == "-" or (sql is None and not sys.stdin.isatty()):
        return sys.stdin.read(ENOUGH)
    if sql is None:
        raise Misconfigured(
            "there is no question", hint='For example: nowiser query "SELECT COUNT(*) FROM visits"; or --file, or `-`.'
        )
    if " " not in sql.strip() and Path(sql).is_file():
        raise Misconfigured(f"{sql!r} is a file, not a question", hint=f"Write --file {sql} to ask what is in it.")
    return sql
