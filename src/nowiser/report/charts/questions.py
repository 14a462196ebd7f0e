"""Ceiling and average against the number of questions."""

from collections.abc import Sequence
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.goal import Within
from nowiser.model.prior import Prior
from nowiser.report.theme import BLUE, GREY, LIMIT, altair, data, themed

VICTIMS = 49  # that are asked about for one point of the ceiling


def questions(
    prior: Prior, goal: Within, slope: float, counts: Sequence[int] | None = None, *, trials: int = 1000
) -> Any:
    """What `n` answers of `slope` each allow at worst (the promise) and what they allow on average (simulated)."""
    from nowiser.guess.ask import guess
    from nowiser.guess.average.expected import expected
    from nowiser.guess.average.repeated import after_questions

    alt = altair()
    if prior.kind != "line" or not isinstance(goal, Within):
        raise Misconfigured(f"this picture needs a prior on a number and a goal `within r`; found {goal}")
    counts = sorted(set(counts or (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)))
    start = expected(prior, goal, slope=0.0)
    blind = start.before if start is not None else guess(prior, goal).before
    rows = [{"n": 0, "value": blind, "what": "ceiling"}, {"n": 0, "value": blind, "what": "average"}]
    rows += [{"n": n, "value": _highest(prior, goal, n * slope), "what": "ceiling"} for n in counts]
    rows += [
        {"n": a.questions, "value": a.success, "what": "average"}
        for a in after_questions(prior, goal, slope, counts, trials=trials)
    ]
    names = {"ceiling": "ceiling: never more than this", "average": "average of the best attacker"}
    table = data(rows)
    colour = alt.Color("what:N", scale=alt.Scale(domain=["ceiling", "average"], range=[LIMIT, BLUE]), legend=None)
    base = alt.Chart(table).encode(
        x=alt.X("n:Q", title=f"answers given, each of slope {slope:g}", axis=alt.Axis(tickCount=8)),
        y=alt.Y("value:Q", title="guess is right", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        color=colour,
    )
    place = counts[len(counts) * 3 // 5]
    labels: list[dict[str, Any]] = [
        {
            "n": place,
            "value": next(r["value"] for r in rows if r["n"] == place and r["what"] == w),
            "what": w,
            "text": t,
        }
        for w, t in names.items()
    ]
    down = {"ceiling": 20, "average": 20}
    words = [
        alt.Chart(data([label]))
        .mark_text(fontWeight=600, dy=down[label["what"]], align="left", dx=4)
        .encode(x="n:Q", y="value:Q", text="text:N", color=colour)
        for label in labels
    ]
    level = alt.Chart(data([{"value": blind}])).mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="value:Q")
    chart = alt.layer(level, base.mark_line(), base.mark_point(filled=True, size=35, opacity=1), *words)
    return themed(
        chart.properties(width=560, height=320),
        "The promise covers the worst case; the average is milder",
        f"Guess {goal}: ceiling for every victim, average over all; dashed: without any answer",
    )


def _highest(prior: Prior, goal: Within, slope: float) -> float:
    """The largest posterior of anybody, as far as a picture shows.

    The victim who gains most need not be the one who is guessed best: rare values gain most, and start low.
    """
    import numpy as np

    from nowiser.guess.ask import guess
    from nowiser.guess.density import law

    worst = guess(prior, goal, slope=slope)
    single = law.atoms(prior)[0]
    some = single[np.linspace(0, single.size - 1, min(single.size, VICTIMS)).astype(int)]
    every = some if law.points(prior) is not None else np.append(some, np.linspace(*law.support(prior), VICTIMS))
    return max(worst.after, *(guess(prior, goal, slope=slope, victim=float(x)).after for x in every))
