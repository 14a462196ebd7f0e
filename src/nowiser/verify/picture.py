"""The least ε against the length of the list, and the two histograms of a refutation with the event shaded."""

from html import escape
from typing import Any

from nowiser.report.theme import BLUE, GREY, ORANGE, PALE, altair, data, percent_axis, themed
from nowiser.verify.verdict import Proved, Refuted, Unknown, Verdict

FIRST, SECOND = "first input", "second input"


def chart(verdict: Verdict) -> Any:
    """What there is to see of a verdict; None for a number whose curve is one point."""
    if isinstance(verdict, Refuted) and verdict.classes:
        return histograms(verdict)
    return curve(verdict) if len(verdict.curve) > 1 else None


def curve(verdict: Proved | Refuted | Unknown) -> Any:
    """Least ε against the length of the list. Lengths without a bound stand at the top as crosses."""
    alt = altair()
    known = [{"n": n, "least": cost} for n, cost in verdict.curve if cost is not None]
    top = max([row["least"] for row in known], default=1.0)
    missing = [{"n": n, "least": 1.1 * top} for n, cost in verdict.curve if cost is None]
    x = alt.X("n:O", title="elements of the list", axis=alt.Axis(labelAngle=0))
    y = alt.Y("least:Q", title="least ε that shifts prove", scale=alt.Scale(zero=True))
    line = alt.Chart(data(known)).mark_line(color=BLUE, point={"color": BLUE, "size": 60}).encode(x=x, y=y)
    crosses = alt.Chart(data(missing)).mark_point(shape="cross", color=ORANGE, size=90, filled=True).encode(x=x, y=y)
    note = "Crosses: no bound at all." if missing else "In units of the claim's ε."
    return themed((line + crosses).properties(width=420, height=260), f"{verdict.claim}: {verdict.verdict}", note)


def histograms(verdict: Refuted) -> Any:
    """A pair of bars for each class of outputs; classes of the event stand on a shade."""
    alt = altair()
    order = [c.label for c in verdict.classes]
    rows: list[dict[str, Any]] = [
        {"label": c.label, "input": name, "share": share}
        for c in verdict.classes
        for name, share in ((FIRST, c.first), (SECOND, c.second))
    ]
    axis = alt.Axis(labelAngle=-45 if len(order) > 6 else 0, labelOverlap=False)
    of = verdict.event.limits[0][0] if verdict.event.limits and len(verdict.event.shape) > 1 else None
    x = alt.X("label:N", sort=order, title="output" if of is None else f"output[{of}]", axis=axis)
    top = 1.05 * max(row["share"] for row in rows)
    shade = (
        alt.Chart(data([{"label": c.label, "top": top} for c in verdict.classes if c.inside]))
        .mark_bar(color=PALE, width={"band": 1.0})
        .encode(x=x, y=alt.Y("top:Q", title="share of runs", axis=percent_axis()))
    )
    bars = (
        alt.Chart(data(rows))
        .mark_bar()
        .encode(
            x=x,
            xOffset=alt.XOffset("input:N", sort=[FIRST, SECOND]),
            y=alt.Y("share:Q", title="share of runs", axis=percent_axis()),
            color=alt.Color(
                "input:N",
                scale=alt.Scale(domain=[FIRST, SECOND], range=[BLUE, GREY]),
                legend=alt.Legend(orient="top", direction="horizontal", offset=28),
            ),
        )
    )
    return themed(
        (shade + bars).properties(width=520, height=280),
        f"Outputs on two neighbouring inputs: {verdict.claim} is refuted",
        f"Shaded: the event {verdict.event.text}.",
    )


def html(verdict: Verdict) -> str:
    """For a notebook: the words, then the picture."""
    words = "<br>".join(escape(line) for line in str(verdict).splitlines())
    drawn = chart(verdict)
    return f"<p>{words}</p>" + ("" if drawn is None else drawn.to_html(fullhtml=False))
