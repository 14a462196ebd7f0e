"""`nowiser guess`: how much better can an attacker guess?"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.guess_arguments import Question, understand
from nowiser.cli.guess_output import as_object, draw, say
from nowiser.cli.refusals import told_in_options
from nowiser.errors import Misconfigured

HELP = """How much better can an attacker guess, once something of this cost is released?

[bold]Examples[/bold]

  nowiser guess --prior uniform:12:28 --within 2 --victim 20 --slope 1

  nowiser guess --prior normal:20:5 --within 2 --gain 5%

  nowiser guess --prior categories:soup=.3,pasta=.7 --exactly --jump 1

  nowiser guess --prior time=normal:20:5 --prior dish=categories:soup=.3,pasta=.7 --goal "time within 2 and dish exactly" --slope time=1 --jump dish=.5

Forms of --prior: uniform:low:high, normal:mean:sd[:low:high], lognormal:mean:sd[:low:high], atoms:0=.2,2=.8, histogram:0,10,20:.3,.7, categories:soup=.3,pasta=.7, present:.5, file.csv:column, scipy:gamma:2, unknown[:low:high], and mixtures: .3*atoms:0=1+.7*lognormal:3:1.

Without --slope and --jump each attribute of the goal costs slope 1 where the goal is within a distance, else jump 1. Nothing counts as released about other attributes, unless their cost is given by name: what is released about columns of --joint outside of the goal tells about those in it, too.
"""  # noqa: E501 (typer wraps the help itself; a line break here would become one there)


EVERYBODY = "everyone else"


def _forms(incomplete: str) -> list[str]:
    forms = [
        "uniform:",
        "normal:",
        "lognormal:",
        "atoms:",
        "histogram:",
        "categories:",
        "present:",
        "scipy:",
        "unknown",
    ]
    return [f for f in forms if f.startswith(incomplete)]


def _knowledge(incomplete: str) -> list[str]:
    return [k for k in (EVERYBODY, "none of 30", "10 of 30") if k.startswith(incomplete)]


def guess(  # noqa: PLR0917 (typer passes options by name)
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior",
            metavar="PRIOR",
            help="What the attacker believes beforehand; repeat as name=… for several attributes.",
            autocompletion=_forms,
        ),
    ] = None,
    within: Annotated[
        str | None, typer.Option("--within", help="A guess at most this far off is right.", metavar="R")
    ] = None,
    exactly: Annotated[bool, typer.Option("--exactly", help="Only the very value is right.")] = False,
    inside: Annotated[
        str | None, typer.Option("--in", help="Values that are right: [10, 20] or soup,pasta.", metavar="SET")
    ] = None,
    goal: Annotated[
        str | None, typer.Option("--goal", metavar="TEXT", help="A goal in words: 'time within 2 and dish exactly'.")
    ] = None,
    joint: Annotated[
        Path | None,
        typer.Option(
            "--joint",
            metavar="FILE",
            readable=False,
            help="Records (csv, tsv, parquet) as the joint prior of dependent attributes.",
        ),
    ] = None,
    victim: Annotated[
        list[str] | None,
        typer.Option(
            "--victim",
            metavar="VALUE",
            help="The victim's value; repeat as name=… for several attributes. Without it the worst over all victims.",
        ),
    ] = None,
    slope: Annotated[
        list[str] | None,
        typer.Option(
            "--slope",
            metavar="NATS",
            help="Cost in nats per distance R, for each attribute of the goal; name=… for one attribute.",
        ),
    ] = None,
    jump: Annotated[
        list[str] | None,
        typer.Option("--jump", metavar="NATS", help="Cost in nats whenever the value changes; likewise."),
    ] = None,
    gain: Annotated[
        str | None,
        typer.Option("--gain", metavar="SHARE", help="Instead of a cost: how much better may he guess? 5% or 0.05."),
    ] = None,
    knows: Annotated[
        str,
        typer.Option(
            "--knows",
            metavar="WHOM",
            help="everyone else; 'K of N' others; 'none of N'; or names of attributes of --joint.",
            autocompletion=_knowledge,
        ),
    ] = EVERYBODY,
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions", help="Draw or list ceiling and average up to N answers of this slope.", metavar="N"
        ),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Other people's bounds beside ours.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: file.svg, .png, .html or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    if plot is not None:
        from nowiser.report.save import checked

        checked(plot)
        _one_picture(knows=knows, questions=questions, compare=compare)
    with told_in_options():
        asked = understand(
            prior, joint, goal, within, exactly=exactly, inside=inside, victim=victim, slope=slope, jump=jump
        )
        result = answer(asked, gain=gain, knows=knows, questions=questions, compare=compare)
        if plot is not None:
            result["plot"] = str(draw(result, plot))
        if as_json:
            output.emit(as_object(result))
        else:
            say(result)


def _one_picture(*, knows: str, questions: str | None, compare: bool) -> None:
    """A picture shows one thing: what it would leave out is refused rather than forgotten."""
    if knows != EVERYBODY:
        raise Misconfigured("--plot draws nothing about --knows; drop one of the two")
    if compare and questions is not None:
        raise Misconfigured("--plot draws either --compare or --questions; drop one of the two")


def answer(asked: Question, *, gain: str | None, knows: str, questions: str | None, compare: bool) -> dict[str, Any]:
    """Everything that was asked for, as values."""
    from nowiser.guess.ask import guess as ceiling, largest

    result: dict[str, Any] = {}
    if gain is not None:
        from nowiser.model.checks import percentage

        limit = percentage(gain, "--gain")
        result["limit"] = limit
        if not asked.cost:
            raise Misconfigured(
                "--gain enlarges --slope or --jump, and needs one that is above 0",
                hint="--slope 1 asks for the largest slope, --jump 1 for the largest jump, both for a mixture.",
            )
        if asked.costs is not None:
            allowed = largest(asked.prior, asked.goal, gain=limit, victim=asked.victim, along=asked.costs)
            asked = replace(asked, costs=allowed)
        else:
            found = largest(asked.prior, asked.goal, gain=limit, victim=asked.victim, along=asked.cost)
            asked = replace(asked, cost=found)
        result["costs"] = asked.costs
    found_advantage = (
        ceiling(asked.prior, asked.goal, costs=asked.costs, victim=asked.victim)
        if asked.costs is not None
        else ceiling(asked.prior, asked.goal, slope=asked.cost.slope, jump=asked.cost.jump, victim=asked.victim)
    )
    if asked.given is not None:
        found_advantage = replace(found_advantage, victim=asked.given)
    result |= {"asked": asked, "advantage": found_advantage, "average": found_advantage.average}
    if knows != EVERYBODY:
        result["knows"] = _knowing(asked, knows)
    if compare:
        result["bounds"] = _compared(asked)
    if questions is not None:
        result["questions"] = _counted(questions)
    return result


def _knowing(asked: Question, knows: str) -> Any:
    import re

    from nowiser.guess.beside.knowledge import knowing
    from nowiser.guess.beside.part_known import knowing_part

    some = re.fullmatch(r"\s*(none|nothing|\d+)\s+of\s+(\d+)\s*", knows)
    if some:
        known, people = (0 if not some[1].isdigit() else int(some[1])), int(some[2])
        if known > people:
            raise Misconfigured(f"--knows must be 'K of N' with K at most N; found {knows!r}")
        return knowing(
            asked.prior,
            asked.goal,
            unknown=people - known,
            slope=asked.cost.slope,
            jump=asked.cost.jump,
            victim=asked.victim,
        )
    names = [n.strip() for n in knows.split(",") if n.strip()]
    if getattr(asked.prior, "kind", "") != "joint":
        raise Misconfigured(
            f"--knows must be 'everyone else', 'K of N' or 'none of N' (others); found {knows!r}",
            hint="Names of attributes need --joint: the prior of whole records.",
        )
    if asked.costs is not None:
        return knowing_part(asked.prior, asked.goal, names, costs=asked.costs)
    return knowing_part(asked.prior, asked.goal, names, slope=asked.cost.slope, jump=asked.cost.jump)


def _compared(asked: Question) -> Any:
    from nowiser.guess.beside.published import bounds

    if isinstance(asked.prior, dict) or asked.prior.kind in ("joint", "unknown"):
        raise Misconfigured("--compare needs one attribute with a known prior; other bounds exist only for that")
    return bounds(asked.prior, asked.goal, slope=asked.cost.slope, jump=asked.cost.jump, victim=asked.victim)


def _counted(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise Misconfigured(f"--questions must be a whole number from 1 to 1000; found {text!r}")
    return int(text)
