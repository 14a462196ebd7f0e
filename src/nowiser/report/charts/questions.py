"""Ceiling and average against the number of questions."""

from collections.abc import Sequence
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.advantage import points, shown
from nowiser.model.goal import Within
from nowiser.model.prior import Prior
from nowiser.report.theme import (
    BLUE,
    CHANCE,
    GREY,
    LIMIT,
    altair,
    beside_lines,
    ceiling,
    data,
    percent_axis,
    themed,
    whole_axis,
)

VICTIMS = 49  # that are asked about for one point of the ceiling


def questions(
    prior: Prior,
    goal: Within,
    slope: float,
    counts: Sequence[int] | None = None,
    *,
    victim: float | None = None,
    trials: int = 1000,
) -> Any:
    """What `n` answers of `slope` each allow at worst (the promise) and what they allow on average (simulated).

    The promise is that for `victim`; without one, for everybody. The average is over all people in any case.
    """
    from nowiser.guess.ask import guess
    from nowiser.guess.average.expected import after_questions, expected

    alt = altair()
    if getattr(prior, "kind", None) != "line" or not isinstance(goal, Within):
        raise Misconfigured(f"this picture needs a prior on a number and a goal `within r`; found {goal}")
    counts = sorted(set(counts or (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)))
    start = expected(prior, goal, slope=0.0)
    blind = start.before if start is not None else guess(prior, goal).before
    before = blind if victim is None else guess(prior, goal, victim=victim).before
    rows: list[dict[str, Any]] = [
        {"n": 0, "value": before, "what": "ceiling"},
        {"n": 0, "value": blind, "what": "average"},
    ]
    rows += [{"n": n, "value": _highest(prior, goal, n * slope, victim), "what": "ceiling"} for n in counts]
    rows += [
        {"n": a.questions, "value": a.success, "what": "average"}
        for a in after_questions(prior, goal, slope, counts, trials=trials)
    ]
    colour = alt.Color("what:N", scale=alt.Scale(domain=["ceiling", "average"], range=[LIMIT, BLUE]), legend=None)
    last, high = max(counts), min(1.0, 1.15 * max(r["value"] for r in rows))
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "n:Q",
            title=f"answers given, each of slope {slope:g}",
            axis=whole_axis(),
            scale=alt.Scale(domain=[0, last], nice=False),
        ),
        y=alt.Y("value:Q", title=CHANCE, axis=percent_axis(), scale=alt.Scale(domain=[0, high])),
        color=colour,
    )
    levels = [{"value": value} for value in sorted({before, blind})]
    level = alt.Chart(data(levels)).mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="value:Q")
    lines = (base.mark_line(), base.mark_point(filled=True, size=35, opacity=1))
    whose = "for every victim" if victim is None else f"for a victim with value {shown(victim)}"
    milder = all(top["value"] >= mean["value"] for top, mean in _pairs(rows))
    return themed(
        alt.layer(level, *lines, beside_lines(_ends(rows, last), high, colour)).properties(width=560, height=320),
        "The promise covers the worst case; the average is milder"
        if milder
        else "The promise is about one victim; others are guessed more easily",
        f"Guess {goal}: ceiling {whose}, average over all; dashed: without any answer",
    )


def _pairs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Ceiling and average after as many answers."""
    average = {r["n"]: r for r in rows if r["what"] == "average"}
    return [(r, average[r["n"]]) for r in rows if r["what"] == "ceiling"]


def _ends(rows: list[dict[str, Any]], last: int) -> list[dict[str, Any]]:
    """The names of the lines, with where they end: the ceiling is rounded up, the average to the nearest."""
    written = {"ceiling": ceiling, "average": points}
    ends = [(r["what"], r["value"]) for r in rows if r["n"] == last]
    return [{"x": last, "y": y, "what": what, "text": f"{what}: {written[what](y)}"} for what, y in ends]


def _highest(prior: Prior, goal: Within, slope: float, victim: float | None) -> float:
    """The largest posterior of the victim, or of anybody, as far as a picture shows.

    The victim who gains most need not be the one who is guessed best: rare values gain most, and start low.
    """
    import numpy as np

    from nowiser.guess.ask import guess
    from nowiser.guess.number import law

    worst = guess(prior, goal, slope=slope, victim=victim)
    if victim is not None:
        return worst.after
    single = law.atoms(prior)[0]
    some = single[np.linspace(0, single.size - 1, min(single.size, VICTIMS)).astype(int)]
    every = some if law.points(prior) is not None else np.append(some, np.linspace(*law.support(prior), VICTIMS))
    return max(worst.after, *(guess(prior, goal, slope=slope, victim=float(x)).after for x in every))
