"""The outputs on both inputs side by side, with the event shaded."""

from html import escape
from typing import TYPE_CHECKING, Any

from nowiser.report.theme import BLUE, GREY, PALE, altair, data, percent_axis, themed

if TYPE_CHECKING:
    from nowiser.verify.auditor.audit import Audit

MOST = 40  # classes that are drawn
FIRST, SECOND = "first input", "second input"


def chart(found: "Audit") -> Any:
    """A pair of bars for each class of outputs; classes of the event stand on a shade."""
    alt = altair()
    shown = sorted(found.classes, key=lambda c: -max(c.first, c.second))[:MOST]
    shown = [c for c in found.classes if c in shown]
    order = [c.label for c in shown]
    rows: list[dict[str, Any]] = [
        {"label": c.label, "input": name, "share": share, "event": c.inside}
        for c in shown
        for name, share in ((FIRST, c.first), (SECOND, c.second))
    ]
    axis = alt.Axis(labelAngle=-45 if len(order) > 8 else 0, labelLimit=120)
    x = alt.X("label:N", sort=order, title=found.column, axis=axis)
    top = max((row["share"] for row in rows), default=1.0)
    shade = (
        alt.Chart(data([{"label": c.label, "top": 1.05 * top} for c in shown if c.inside]))
        .mark_bar(color=PALE, width={"band": 1.0})
        .encode(x=x, y=alt.Y("top:Q", title="share of runs", axis=percent_axis()))
    )
    pairs = (
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
    verdict = f"{found.claim} is refuted" if found.refuted else f"no violation of {found.claim} found"
    note = f"{found.samples:,} runs on each input. Shaded: the event that was bet on."
    return themed(
        (shade + pairs).properties(width=560, height=300), f"Outputs on two neighbouring inputs: {verdict}", note
    )


def html(found: "Audit") -> str:
    """For a notebook: the words, then the picture."""
    words = "<br>".join(escape(line) for line in str(found).splitlines())
    return f"<p>{words}</p>{chart(found).to_html(fullhtml=False)}" if found.classes else f"<p>{words}</p>"
