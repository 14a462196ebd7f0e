"""Bounds side by side: how much of what others fear is real."""

from collections.abc import Sequence
from typing import Any

from nowiser.guess.published import Bound
from nowiser.report.theme import BLUE, GREY, INK, ORANGE, PALE, altair, data, themed


def bounds(found: Sequence[Bound], before: float, title: str | None = None) -> Any:
    """One row per bound, sharpest first; hollow dots hold only on average."""
    alt = altair()
    rows: list[dict[str, Any]] = [
        {
            "name": b.name,
            "value": b.value,
            "before": before,
            "holds": b.holds,
            "text": _shown(b.value),
            "ours": b.name.startswith("nowiser"),
        }
        for b in found
        if b.value is not None
    ]
    order = [r["name"] for r in rows]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelFontSize=13, labelColor=INK, labelLimit=220))
    x = alt.X(
        "value:Q",
        title="probability that the guess is right",
        axis=alt.Axis(format="%", grid=True),
        scale=alt.Scale(domain=[0, 1]),
    )
    table = data(rows)
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["ours", "for every output", "on average"], range=[BLUE, GREY, ORANGE]),
        legend=None,
    )
    for r in rows:
        r["kind"] = "ours" if r["ours"] else r["holds"]
    stem = alt.Chart(table).mark_rule(strokeWidth=3, color=PALE).encode(y=y, x="before:Q", x2="value:Q")
    dot = alt.Chart(table).mark_point(size=140, filled=True, opacity=1).encode(y=y, x=x, color=colour)
    text = (
        alt.Chart(table)
        .mark_text(align="left", dx=12, fontWeight=600)
        .encode(y=y, x="value:Q", text="text:N", color=colour)
    )
    start = alt.Chart(data([{"before": before}])).mark_rule(strokeDash=[4, 3], color=INK).encode(x="before:Q")
    said = (
        alt.Chart(data([{"before": before}]))
        .mark_text(align="left", dx=5, baseline="top", color=INK)
        .encode(x="before:Q", y=alt.value(-14), text=alt.value(f"before: {100 * before:.1f} %"))
    )
    ours = next(r for r in rows if r["ours"])
    most = f"{100 * ours['value']:.1f} %"
    said_of_ours = f"{most} can happen" if ours["name"] == "nowiser (tight)" else f"At most {most}"
    chart = alt.layer(stem, start, said, dot, text).properties(width=480, height=36 * len(rows))
    return themed(
        chart,
        title or f"{said_of_ours}; other bounds fear more",
        "Blue and grey hold for every output; orange only on average over outputs",
    )


def _shown(value: float) -> str:
    return f"{100 * value:.1f} %" if value >= 1.0 or value < 0.9995 else "> 99.9 %"
