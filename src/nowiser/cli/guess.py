"""`nowiser guess`: how much better can an attacker guess?"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.asked import Question, understand
from nowiser.errors import Misconfigured

if TYPE_CHECKING:
    from nowiser.guess.expected import Expected
    from nowiser.model.advantage import Advantage

EXAMPLE = """How much better can an attacker guess, once something of this cost is released?

[bold]Examples[/bold]

  nowiser guess --prior uniform:12:28 --within 2 --victim 20 --slope 1

  nowiser guess --prior normal:20:5 --within 2 --gain 5%

  nowiser guess --prior categories:soup=.3,pasta=.7 --exactly --jump 1

  nowiser guess --prior time=normal:20:5 --prior dish=categories:soup=.3,pasta=.7 --goal "time within 2 and dish exactly" --slope time=1 --jump dish=.5

Forms of --prior: uniform:low:high, normal:mean:sd[:low:high], lognormal:mean:sd[:low:high], atoms:0=.2,2=.8, histogram:0,10,20:.3,.7, categories:soup=.3,pasta=.7, present:.5, file.csv:column, scipy:gamma:2, unknown[:low:high].
"""  # noqa: E501 (typer wraps the help itself; a line break here would become one there)


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
    return [k for k in ("everyone else", "none of 30", "10 of 30") if k.startswith(incomplete)]


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
            "--joint", metavar="FILE", help="Records (csv, parquet) as the joint prior of dependent attributes."
        ),
    ] = None,
    victim: Annotated[
        list[str] | None,
        typer.Option("--victim", metavar="VALUE", help="The victim's value; without it the worst over all victims."),
    ] = None,
    slope: Annotated[
        list[str] | None,
        typer.Option("--slope", metavar="NATS", help="Cost in nats per distance R; name=… for several attributes."),
    ] = None,
    jump: Annotated[
        list[str] | None, typer.Option("--jump", metavar="NATS", help="Cost in nats whenever the value changes.")
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
    ] = "everyone else",
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
    asked = understand(
        prior, joint, goal, within, exactly=exactly, inside=inside, victim=victim, slope=slope, jump=jump
    )
    result = answer(asked, gain=gain, knows=knows, questions=questions, compare=compare)
    if plot is not None:
        result["plot"] = str(draw(asked, result, plot))
    if as_json:
        output.emit(as_object(result))
    else:
        say(asked, result)


# --- answering ------------------------------------------------------------------------------------------------


def answer(asked: Question, *, gain: str | None, knows: str, questions: str | None, compare: bool) -> dict[str, Any]:
    """Everything that was asked for, as values."""
    from nowiser.guess.ask import guess as ceiling
    from nowiser.guess.calibrate import largest
    from nowiser.model.checks import percentage

    result: dict[str, Any] = {}
    if gain is not None:
        limit = percentage(gain, "--gain")
        result["limit"] = limit
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
    average = _average(asked)
    if average is not None:
        found_advantage = replace(found_advantage, expected=average.after)
    result |= {"asked": asked, "advantage": found_advantage, "average": average}
    if knows != "everyone else":
        result["knows"] = _knowing(asked, knows)
    if compare:
        result["bounds"] = _compared(asked)
    if questions is not None:
        result["questions"] = _counted(questions)
    return result


def _average(asked: Question) -> "Expected | None":
    from nowiser.guess.expected import expected

    kind = getattr(asked.prior, "kind", "mapping")
    if kind in ("joint", "unknown", "presence"):
        return None
    return expected(asked.prior, asked.goal, slope=asked.cost.slope, jump=asked.cost.jump, costs=asked.costs)


def _knowing(asked: Question, knows: str) -> Any:
    import re

    from nowiser.guess.knowledge import knowing, knowing_part

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
    return knowing_part(asked.prior, asked.goal, names, slope=asked.cost.slope, jump=asked.cost.jump, costs=asked.costs)


def _compared(asked: Question) -> Any:
    from nowiser.guess.published import compare

    if isinstance(asked.prior, dict) or asked.prior.kind in ("joint", "unknown"):
        raise Misconfigured("--compare needs one attribute with a known prior; other bounds exist only for that")
    return compare(asked.prior, asked.goal, slope=asked.cost.slope, jump=asked.cost.jump, victim=asked.victim)


def _counted(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise Misconfigured(f"--questions must be a whole number from 1 to 1000; found {text!r}")
    return int(text)


# --- telling ---------------------------------------------------------------------------------------------------


def as_object(result: dict[str, Any]) -> dict[str, Any]:
    """The JSON form: the advantage's stable keys first."""
    from nowiser.report.words import error_bar, laplace_scale

    asked: Question = result["asked"]
    advantage: Advantage = result["advantage"]
    found = advantage.to_json()
    if result["average"] is not None:
        found["average"] = result["average"].to_json()
    if asked.costs is not None:
        found["costs"] = {n: c.to_json() for n, c in asked.costs.items()}
    if "limit" in result:
        found["limit"] = float(result["limit"])
        if asked.costs is None and asked.cost.slope > 0 and asked.radius is not None:
            scale: float | None = laplace_scale(asked.cost.slope, asked.radius)
        else:
            scale = 1 / asked.cost.jump if asked.costs is None and asked.cost.jump > 0 else None
        found["scale"] = scale
        found["error"] = None if scale is None else error_bar(scale)
    if "knows" in result:
        known = result["knows"]
        found["knows"] = (
            known.to_json()
            if hasattr(known, "to_json")
            else {"known": known.known, "share": known.share, **known.advantage.to_json()}
        )
    if "bounds" in result:
        found["bounds"] = [b.to_json() for b in result["bounds"]]
    if "plot" in result:
        found["plot"] = result["plot"]
    return found


def say(asked: Question, result: dict[str, Any]) -> None:
    from rich.console import Console

    from nowiser.model.advantage import points
    from nowiser.report import words
    from nowiser.report.terminal import panel

    advantage: Advantage = result["advantage"]
    asked = result["asked"]
    rows = [
        ("before", advantage.before, points(advantage.before), "bright_black"),
        ("after", advantage.after, f"at most {points(advantage.after, up=True)}", "blue"),
    ]
    lines = []
    if "limit" in result:
        lines += _granted(asked, result["limit"])
    lines += words.told(advantage)
    average = result["average"]
    if average is not None:
        lines.append(words.on_average(average.before, average.after, average.how, worst=advantage.worst))
    if "limit" in result and asked.costs is None:
        lines += words.calibrated(asked.cost, asked.radius)
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(panel("How much better can an attacker guess?", rows, lines))
    if "knows" in result:
        console.print(_knowing_words(result["knows"]))
    if "bounds" in result:
        console.print(_bounds_table(result["bounds"]))
    if "questions" in result:
        console.print(_questions_table(asked, result["questions"]))
    if "plot" in result:
        console.print(f"Drawn: {result['plot']}")


def _granted(asked: Question, limit: Fraction) -> list[str]:
    from nowiser.report.words import cost_words

    points = f"{float(limit) * 100:g} points"
    if asked.costs is None:
        cost = cost_words(asked.cost.slope, asked.cost.jump)
        return [f"To keep the gain within {points}, everything released may cost {cost} in all."]
    each = "; ".join(f"{n}: {cost_words(c.slope, c.jump)}" for n, c in asked.costs.items())
    return [f"To keep the gain within {points}, everything released may cost in all — {each}."]


def _knowing_words(known: Any) -> str:
    from nowiser.model.advantage import points

    if hasattr(known, "unknown"):
        return str(known)
    told = ", ".join(f"{k} = {v}" for k, v in known.known.items())
    found = known.advantage
    return (
        f"An attacker who knows {told} (the worst class, {known.share:.1%} of people) goes from "
        f"{points(found.before)} to at most {points(found.after, up=True)}."
    )


def _bounds_table(bounds: Any) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(
        "bound", "after", "holds", "conditions", box=box.SIMPLE, title="Bounds side by side", title_justify="left"
    )
    for b in bounds:
        value = "—" if b.value is None else f"{100 * b.value:.2f} %"
        table.add_row(b.name, value, b.holds, b.condition, style="bold blue" if b.name.startswith("nowiser") else None)
    return table


def _questions_table(asked: Question, count: int) -> Any:
    from rich import box
    from rich.table import Table

    from nowiser.guess.ask import guess as ceiling
    from nowiser.guess.repeated import after_questions

    steps = sorted({1, 2, 5, 10, 20, 50, 100, 200, 500, count} & set(range(1, count + 1)))
    title = f"Answers of slope {asked.cost.slope:g} each"
    table = Table("answers", "ceiling", "average (simulated)", box=box.SIMPLE, title=title, title_justify="left")
    _within_only(asked)
    for found in after_questions(asked.prior, asked.goal, asked.cost.slope, steps):
        top = ceiling(asked.prior, asked.goal, slope=found.questions * asked.cost.slope, victim=asked.victim)
        table.add_row(str(found.questions), f"{top.after:.1%}", f"{found.success:.1%} ± {2 * found.error:.1%}")
    return table


def _within_only(asked: Question) -> None:
    if asked.radius is None or getattr(asked.prior, "kind", "") != "line" or not asked.cost.slope:
        raise Misconfigured("--questions needs a prior on a number, --within and a slope above 0")


def draw(asked: Question, result: dict[str, Any], path: Path) -> Path:
    """The picture that fits what was asked."""
    from nowiser.report import charts

    asked = result["asked"]
    advantage: Advantage = result["advantage"]
    if "bounds" in result:
        chart = charts.bounds(result["bounds"], advantage.before)
    elif "questions" in result:
        _within_only(asked)
        top = result["questions"]
        counts = sorted({max(1, round(top * i / 12)) for i in range(1, 13)})
        chart = charts.questions(asked.prior, asked.goal, asked.cost.slope, counts)
    elif "limit" in result and asked.costs is None:
        chart = charts.gain_limit(asked.prior, asked.goal, asked.cost, float(result["limit"]), victim=asked.victim)
    else:
        chart = charts.before_after(advantage)
    return Path(charts.save(chart, path))
