"""Ceiling and average against the number of questions."""

from collections.abc import Sequence
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.advantage import shown
from nowiser.model.goal import Within
from nowiser.model.prior import Prior
from nowiser.report.theme import BLUE, GREY, LIMIT, altair, data, percent_axis, themed

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
    from nowiser.guess.average.expected import expected
    from nowiser.guess.average.repeated import after_questions

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
    base = alt.Chart(data(rows)).encode(
        x=alt.X("n:Q", title=f"answers given, each of slope {slope:g}", axis=alt.Axis(tickCount=8)),
        y=alt.Y("value:Q", title="guess is right", axis=percent_axis(), scale=alt.Scale(domain=[0, 1])),
        color=colour,
    )
    levels = [{"value": value} for value in sorted({before, blind})]
    level = alt.Chart(data(levels)).mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="value:Q")
    lines = (base.mark_line(), base.mark_point(filled=True, size=35, opacity=1))
    whose = "for every victim" if victim is None else f"for a victim with value {shown(victim)}"
    milder = all(top["value"] >= mean["value"] for top, mean in _pairs(rows))
    return themed(
        alt.layer(level, *lines, *_names(alt, rows, colour)).properties(width=560, height=320),
        "The promise covers the worst case; the average is milder"
        if milder
        else "The promise is about one victim; others are guessed more easily",
        f"Guess {goal}: ceiling {whose}, average over all; dashed: without any answer",
    )


def _pairs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Ceiling and average after as many answers."""
    average = {r["n"]: r for r in rows if r["what"] == "average"}
    return [(r, average[r["n"]]) for r in rows if r["what"] == "ceiling"]


def _names(alt: Any, rows: list[dict[str, Any]], colour: Any) -> list[Any]:
    """The names of the lines: both rise, so there is room left above the upper one and right below the lower one."""
    names = {"ceiling": "ceiling: never more than this", "average": "average of the best attacker"}
    last = max(r["n"] for r in rows)
    there = min(_pairs(rows), key=lambda pair: abs(pair[0]["n"] - 0.6 * last))
    lower, upper = sorted(there, key=lambda r: float(r["value"]))
    places = ((upper, {"align": "right", "dx": -6, "dy": -12}), (lower, {"align": "left", "dx": 4, "dy": 20}))
    return [
        alt.Chart(data([row | {"text": names[row["what"]]}]))
        .mark_text(fontWeight=600, **place)
        .encode(x="n:Q", y="value:Q", text="text:N", color=colour)
        for row, place in places
    ]


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
