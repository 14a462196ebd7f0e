"""How the answer of `nowiser guess` is told: one JSON object, sentences with bars, or a picture."""

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nowiser.cli.guess_arguments import Question
from nowiser.errors import Misconfigured

if TYPE_CHECKING:
    from nowiser.model.advantage import Advantage


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
            scale = laplace_scale(asked.cost.jump, 1.0) if asked.costs is None and asked.cost.jump > 0 else None
        scale = scale if scale is not None and isfinite(scale) else None
        found["scale"] = scale
        found["error"] = None if scale is None else error_bar(scale)
    if "knows" in result:
        found["knows"] = result["knows"].to_json()
    if "bounds" in result:
        found["bounds"] = [b.to_json() for b in result["bounds"]]
    if "questions" in result:
        found["questions"] = _question_rows(asked, result["questions"])
    if "plot" in result:
        found["plot"] = result["plot"]
    return found


def say(result: dict[str, Any]) -> None:
    from rich.console import Console

    from nowiser.report import words
    from nowiser.report.terminal import Picture, unbroken

    advantage: Advantage = result["advantage"]
    asked: Question = result["asked"]
    before, after, _ = advantage.figures(result.get("limit"))
    rows = [
        ("before", advantage.before, before, "bright_black"),
        ("after", advantage.after, f"at most {after}", "blue"),
    ]
    lines = []
    if "limit" in result:
        lines += _granted(asked, result["limit"])
    lines += words.told(advantage, result.get("limit"))
    average = result["average"]
    if average is not None:
        lines.append(
            words.on_average(average.before, average.after, average.how, ceiling=advantage.after, worst=advantage.worst)
        )
    if "limit" in result and asked.costs is None:
        lines += words.calibrated(asked.cost, asked.radius)
    if asked.silent:
        lines.append(f"Nothing counts as released about {', '.join(asked.silent)}: it would tell about the goal, too.")
    # all of it or nothing: what is refused leaves no half of an answer on the screen
    table = _questions_table(asked, result["questions"]) if "questions" in result else None
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(Picture("How much better can an attacker guess?", rows, lines))
    if "knows" in result:
        console.print(unbroken(str(result["knows"])))
    if "bounds" in result:
        console.print(_bounds_table(result["bounds"]))
    if table is not None:
        console.print(table)
    if "plot" in result:
        console.print(f"Drawn: {result['plot']}")


def _granted(asked: Question, limit: Fraction) -> list[str]:
    from nowiser.report.words import cost_words

    points = f"{Decimal(f'{float(limit * 100):.6g}'):f} points"
    if asked.costs is None:
        cost = cost_words(asked.cost.slope, asked.cost.jump)
        return [f"To keep the gain within {points}, everything released may cost {cost} in all."]
    each = "; ".join(f"{n}: {cost_words(c.slope, c.jump)}" for n, c in asked.costs.items())
    return [f"To keep the gain within {points}, everything released may cost in all — {each}."]


def _bounds_table(bounds: Any) -> Any:
    from nowiser.model.advantage import points
    from nowiser.report.terminal import Listing

    values = ["—" if b.value is None else points(b.value, up=True, decimals=2) for b in bounds]
    rows = [(b.name, value, b.holds, b.condition) for b, value in zip(bounds, values, strict=True)]
    ours = next(i for i, b in enumerate(bounds) if b.name.startswith("nowiser"))
    return Listing("Bounds side by side", ("bound", "after", "holds", "conditions"), rows, strong=ours)


def _question_rows(asked: Question, count: int) -> list[dict[str, float]]:
    from nowiser.guess.ask import guess as ceiling
    from nowiser.guess.average.expected import after_questions

    _within_only(asked)
    steps = sorted({1, 2, 5, 10, 20, 50, 100, 200, 500, count} & set(range(1, count + 1)))
    rows = []
    for found in after_questions(asked.prior, asked.goal, asked.cost.slope, steps):
        top = ceiling(asked.prior, asked.goal, slope=found.questions * asked.cost.slope, victim=asked.victim)
        rows.append(
            {
                "answers": found.questions,
                "before": top.before,
                "after": top.after,
                "average": found.success,
                "error": 2 * found.error,
            }
        )
    return rows


def _questions_table(asked: Question, count: int) -> Any:
    from nowiser.model.advantage import points
    from nowiser.report.terminal import Listing

    who = "most exposed person" if asked.victim is None else "this person"
    rows = []
    for row in _question_rows(asked, count):
        after = f"{points(row['after'], up=True)} (before {points(row['before'])})"
        average = f"{points(row['average'])} ± {points(row['error'], up=True)}"
        rows.append((str(row["answers"]), after, average))
    names = ("answers", f"ceiling ({who})", "average (simulated)")
    return Listing(f"Answers of slope {asked.cost.slope:g} each", names, rows)


def _within_only(asked: Question) -> None:
    if asked.radius is None or getattr(asked.prior, "kind", "") != "line" or not asked.cost.slope:
        raise Misconfigured("--questions needs a prior on a number, --within and a slope above 0")


def draw(result: dict[str, Any], path: Path) -> Path:
    """The picture that fits what was asked."""
    from nowiser.report import charts

    asked: Question = result["asked"]
    advantage: Advantage = result["advantage"]
    if "bounds" in result:
        chart = charts.bounds(result["bounds"], advantage.before)
    elif "questions" in result:
        _within_only(asked)
        top = result["questions"]
        counts = sorted({max(1, round(top * i / 12)) for i in range(1, 13)})
        chart = charts.questions(asked.prior, asked.goal, asked.cost.slope, counts, victim=asked.victim)
    elif "limit" in result and asked.costs is None:
        chart = charts.gain_limit(asked.prior, asked.goal, asked.cost, float(result["limit"]), victim=asked.victim)
    else:
        chart = charts.before_after(advantage)
    return Path(charts.save(chart, path))
