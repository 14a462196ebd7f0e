"""`nowiser demo`: the canteen, nothing to prepare.

A canteen knows when each student comes to eat. It wants to publish averages. How much better may somebody guess when
Alice eats?
"""

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured
from nowiser.files.writing import writing

RADIUS, GAIN, ALICE = 2.0, 0.05, 20.0
PEOPLE = 100


class Example(StrEnum):
    CANTEEN = "canteen"
    HOSPITAL = "hospital"


def demo(
    example: Annotated[Example, typer.Argument(help="The canteen, or 100,000 hospital stays.")] = Example.CANTEEN,
    *,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to leave policy, data and ledger; else in a new one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """The canteen, end to end, nothing to prepare: the promise, questions through the gateway, a picture.

    Example: nowiser demo
    """
    from nowiser.cli import demo_tour as tour
    from nowiser.report.save import save

    home = folder or Path(tempfile.mkdtemp(prefix="nowiser-"))
    if (home / "nowiser.yaml").exists():
        raise Misconfigured(f"There is a policy in {home} already.", hint="Name another --folder.")
    story = tell() if example is Example.CANTEEN else {}
    if story and not as_json:
        show(story)
    with writing(home):
        walked = tour.walk(example.value, home)
    drawn = save(tour.picture(walked), home / "demo.svg")
    if as_json:
        output.emit(story | {"tour": tour.plain(walked), "picture": str(drawn)})
        return
    tour.show(walked)
    typer.echo(f"  The picture is {drawn}")


def tell() -> dict[str, Any]:
    """The figures of the story: the promise, the noise that keeps it, and what other bounds would have cost."""
    from nowiser.guess.ask import guess, largest
    from nowiser.guess.average.expected import expected
    from nowiser.guess.beside.published import simplified_slope
    from nowiser.model.goal import Within
    from nowiser.model.prior import Uniform
    from nowiser.report.words import error_bar, laplace_scale

    prior, goal = Uniform(12, 28), Within(RADIUS)
    careless = guess(prior, goal, slope=1.0, victim=ALICE)
    allowed = largest(prior, goal, gain=GAIN, victim=ALICE)
    kept = guess(prior, goal, slope=allowed.slope, victim=ALICE)
    average = expected(prior, goal, slope=allowed.slope)
    everybody = largest(prior, goal, gain=GAIN)  # the figure for one victim is itself a secret: policies take the worst
    others = simplified_slope(careless.before, GAIN, (28 - 12) / RADIUS)
    scale = laplace_scale(allowed.slope, RADIUS) / PEOPLE
    return {
        "before": careless.before,
        "careless": {"slope": 1.0, "after": careless.after},
        "kept": {"slope": allowed.slope, "after": kept.after, "expected": None if average is None else average.after},
        "noise": {"people": PEOPLE, "scale": scale, "error": error_bar(scale)},
        "everybody": {
            "slope": everybody.slope,
            "error": error_bar(laplace_scale(everybody.slope, RADIUS) / PEOPLE),
        },
        "simplified": {"slope": others, "error": error_bar(RADIUS / others / PEOPLE), "ratio": allowed.slope / others},
    }


def show(story: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    from nowiser.model.advantage import points
    from nowiser.report.terminal import Picture

    console = Console(highlight=False, markup=False, emoji=False)
    before, careless, kept = story["before"], story["careless"], story["kept"]
    noise, simple = story["noise"], story["simplified"]
    start = ("before", before, points(before), "bright_black")
    console.print(Text("\nA canteen publishes averages. When does Alice eat?\n", style="bold"))
    known = "Everybody knows that students come some time between minute 12 and 28. A guess within 2 minutes of Alice's"
    lifted = points(careless["after"], up=True)
    console.print(
        Picture(
            "1  Without care",
            [start, ("after", careless["after"], f"up to {lifted}", "red")],
            [
                f"{known} time (20) is right with probability {points(before)}.",
                f"One sum with Laplace noise of scale 2 can lift that to {lifted}: her secret is nearly gone.",
            ],
        )
    )
    buys = f"That buys the average time of {noise['people']} students to within ±{noise['error']:.2f} minutes"
    usual = f"The usual bound would have needed {simple['ratio']:.1f} times the noise (±{simple['error']:.2f} minutes)"
    console.print(
        Picture(
            "2  With a promise: at most 5 points better",
            [start, ("after", kept["after"], f"at most {points(kept['after'], up=True)}", "blue")],
            [
                f"Everything released may cost slope {kept['slope']:.6f} in all. No answer, however lucky, tells more.",
                f"{buys} (95 % of answers).",
                f"{usual} for the same promise.",
                f"Promised to every student, not only to Alice: ±{story['everybody']['error']:.2f} minutes.",
            ],
        )
    )
    console.print(Text("Try it yourself:", style="bold"))
    console.print("  nowiser guess --prior uniform:12:28 --within 2 --victim 20 --gain 5%", soft_wrap=True)
    console.print(
        "  nowiser guess --prior uniform:12:28 --within 2 --victim 20 --slope 1 --plot canteen.svg", soft_wrap=True
    )
