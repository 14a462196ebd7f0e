"""Bounds side by side: how much of what others fear is real."""

from collections.abc import Sequence
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.beside.published import Bound
from nowiser.model.advantage import points
from nowiser.report.theme import (
    BLUE,
    CHANCE,
    GREY,
    INK,
    ORANGE,
    PALE,
    altair,
    ceiling,
    data,
    percent_axis,
    themed,
)


def bounds(found: Sequence[Bound], before: float, title: str | None = None) -> Any:
    """One row per bound, sharpest first; those in orange hold only on average."""
    alt = altair()
    found = _checked(found)
    rows: list[dict[str, Any]] = [
        {
            "name": b.name,
            "value": b.value,
            "before": before,
            "holds": b.holds,
            "text": ceiling(b.value),
            "ours": b.name.startswith("nowiser"),
        }
        for b in found
        if b.value is not None
    ]
    order = [r["name"] for r in rows]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelFontSize=13, labelColor=INK, labelLimit=220))
    x = alt.X(
        "value:Q",
        title=CHANCE,
        axis=percent_axis(grid=True),
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
        .encode(x="before:Q", y=alt.value(-14), text=alt.value(f"before: {points(before)}"))
    )
    chart = alt.layer(stem, start, said, dot, text).properties(width=480, height=36 * len(rows))
    return themed(
        chart,
        title or _title(rows),
        "Blue and grey hold for every output; orange only on average over outputs",
    )


def _checked(found: Any) -> Sequence[Bound]:
    """What `nw.bounds` gives, ours among it."""
    if isinstance(found, Sequence) and all(isinstance(b, Bound) for b in found):
        if any(b.name.startswith("nowiser") and b.value is not None for b in found):
            return found
        raise Misconfigured(
            "among the bounds there must be nowiser's own, with a value: the others are held against it"
        )
    raise Misconfigured(f"this picture is of a list of bounds, as nw.bounds gives it; found {type(found).__name__}")


def _title(rows: list[dict[str, Any]]) -> str:
    """Ours, and how the others compare: by the figures that are shown, so that the picture bears it out."""
    ours = next(r for r in rows if r["ours"])
    can = f"{ours['text']} can happen" if ours["name"] == "nowiser (tight)" else f"At most {ours['text']}"
    others = [r for r in rows if r is not ours]
    same = [r for r in others if r["text"] == ours["text"]]
    if any(r["value"] < ours["value"] for r in others if r not in same):
        return f"{can}; what is lower holds only on average"
    if len(same) == len(others):
        return f"{can}; other bounds say the same" if others else can
    return f"{can}; no other bound is lower" if same else f"{can}; other bounds fear more"
