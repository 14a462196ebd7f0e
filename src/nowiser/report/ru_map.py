"""The map of risk against utility: one point per candidate, the ones worth choosing joined by a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from nowiser.report.theme import AFTER, GREY, altair, data, themed


def chart(points: Sequence[Mapping[str, Any]]) -> Any:
    """From plain values: title, risk, utility, low, high, dominated."""
    alt = altair()
    rows = [dict(p) | {"state": "another is better" if p["dominated"] else "worth choosing"} for p in points]
    highest = max([0.05, *(r["high"] if r["high"] is not None else r["risk"] for r in rows)])
    lowest = min([0.95, *(r["utility"] for r in rows)])
    for i, row in enumerate(rows):  # names of points that lie close together stand one below the other
        row["place"] = sum(_near(row, other, 1.05 - lowest, highest * 1.15) for other in rows[:i])
    x = alt.X(
        "utility:Q",
        title="utility: two-column distributions kept",
        scale=alt.Scale(domain=[max(0.0, lowest - 0.05), 1.0]),
        axis=alt.Axis(format="%"),
    )
    y = alt.Y(
        "risk:Q",
        title="risk: how much better the best attacker guesses",
        scale=alt.Scale(domain=[0, min(1.0, highest * 1.15)]),
        axis=alt.Axis(format="%"),
    )
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(domain=["worth choosing", "another is better"], range=[AFTER, GREY]),
        legend=alt.Legend(orient="top-left"),
    )
    base = alt.Chart(data(rows))
    bars = (
        base.transform_filter("datum.low != null")
        .mark_rule(strokeWidth=1.5, opacity=0.6)
        .encode(x=x, y=alt.Y("low:Q", title=""), y2="high:Q", color=colour)
    )
    line = (
        base.transform_filter("!datum.dominated")
        .mark_line(strokeWidth=1.5, color=AFTER, opacity=0.5)
        .encode(x=x, y=y, order="risk:Q")
    )
    dots = base.mark_circle(size=110, opacity=1).encode(x=x, y=y, color=colour)
    words = [
        base.transform_filter(f"datum.dominated == {str(dominated).lower()} && datum.place == {place}")
        .mark_text(align="right" if dominated else "left", dx=-10 if dominated else 10, dy=4 + 15 * place)
        .encode(x=x, y=y, text="title:N")
        for dominated in (False, True)
        for place in sorted({r["place"] for r in rows})
    ]
    best = [r["title"] for r in rows if not r["dominated"]]
    subtitle = "Down and to the right is better. Bars: 95 % interval of a simulated attacker."
    layered = alt.layer(bars, line, dots, *words).properties(
        width=560, height=380, padding={"left": 12, "top": 12, "bottom": 12, "right": 110}
    )
    return themed(layered, f"{len(best)} of {len(rows)} candidates are worth choosing", subtitle)


def _near(one: Mapping[str, Any], other: Mapping[str, Any], wide: float, high: float) -> bool:
    """Whether the names of two points on the same side would touch."""
    if one["dominated"] != other["dominated"]:
        return False
    apart = abs(one["utility"] - other["utility"]) / wide, abs(one["risk"] - other["risk"]) / high
    return bool(apart[0] < 0.25 and apart[1] < 0.045)
