"""The map of risk against utility: one point per candidate, the ones worth choosing joined by a line."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nowiser.report.charts.placing import Box, Canvas
from nowiser.report.theme import AFTER, BETTER, GREY, altair, data, percent_axis, points_axis, themed

WIDTH, HEIGHT = 560, 340
LEAST = 0.04  # of either axis, so that two near points look near
BESIDE = 130  # pixels right of the picture where names may stand
DOT = 7.0  # pixels from the middle of a point to its edge


def chart(points: Sequence[Mapping[str, Any]]) -> Any:
    """From plain values: title, risk, utility, low, high, dominated."""
    alt = altair()
    rows = [dict(p) for p in points]
    risks = [r[end] for r in rows for end in ("risk", "low", "high") if r[end] is not None]
    across, up = _domain([r["utility"] for r in rows]), _domain(risks)
    x = alt.X(
        "utility:Q",
        title="utility: two-column distributions kept",
        scale=alt.Scale(domain=across, nice=False),
        axis=percent_axis(tickMinStep=0.01),
    )
    risk = f"risk: the best attacker, {BETTER}"
    y = alt.Y(
        "risk:Q",
        title=risk,
        scale=alt.Scale(domain=up, nice=False),
        axis=points_axis(),
    )
    colour = alt.condition("datum.dominated", alt.value(GREY), alt.value(AFTER))
    base = alt.Chart(data(_placed(rows, across, up)))
    bars = base.transform_filter("datum.low != null").mark_rule(strokeWidth=1.5, opacity=0.6)
    worth = base.transform_filter("!datum.dominated").mark_line(strokeWidth=1.5, color=AFTER, opacity=0.5)
    words = base.mark_text(align="left", baseline="middle", fontWeight=600)
    layers = (
        bars.encode(x=x, y=alt.Y("low:Q", title=risk), y2="high:Q", color=colour),
        worth.encode(x=x, y=y, order="risk:Q"),
        base.mark_circle(size=110, opacity=1).encode(x=x, y=y, color=colour),
        words.encode(x="left:Q", y="middle:Q", text="title:N", color=colour),
    )
    best = sum(not r["dominated"] for r in rows)
    title = f"{best} of {len(rows)} candidates {'is' if best == 1 else 'are'} worth choosing"
    notes = ["Down and to the right is better."]
    if best < len(rows):
        notes.append("Grey: another one has less risk and more utility.")
    if any(r["low"] is not None for r in rows):
        notes.append("Bars: 95 % interval of a simulated attacker.")
    return themed(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT), title, " ".join(notes))


def _domain(values: Sequence[float]) -> list[float]:
    """From where to where shares are drawn: all of them, with an eighth of room, and zero if it is near."""
    low, high = min(values), max(values)
    room = max((high - low) / 8, LEAST / 2)
    start = 0.0 if 0 <= low < (high - low) / 2 else low - room
    return [start if low < 0 else max(0.0, start), min(1.0, high + room) if high < 1 else 1.0 + room / 4]


def _placed(rows: list[dict[str, Any]], across: list[float], up: list[float]) -> list[dict[str, Any]]:
    """The rows with where their names stand: near their points, on nothing that is drawn."""
    wide, tall = across[1] - across[0], up[1] - up[0]

    def at(row: Mapping[str, Any], end: str = "risk") -> tuple[float, float]:
        return (row["utility"] - across[0]) / wide * WIDTH, (1 - (row[end] - up[0]) / tall) * HEIGHT

    canvas = Canvas(WIDTH + BESIDE, HEIGHT)
    for row in rows:
        px, py = at(row)
        canvas.box(Box(px - DOT, py - DOT, px + DOT, py + DOT))
        if row["low"] is not None:
            canvas.box(Box(px - 1, at(row, "high")[1], px + 1, at(row, "low")[1]))
    line = sorted((at(r) for r in rows if not r["dominated"]), key=lambda place: place[0])
    if len(line) > 1:
        canvas.line(np.array([p[0] for p in line]), np.array([p[1] for p in line]))
    found = []
    for row in rows:
        anchors = [at(row), *(at(row, end) for end in ("high", "low") if row[end] is not None)]
        left, middle = canvas.put(str(row["title"]), anchors, at(row), away=DOT)
        found.append(row | {"left": across[0] + left / WIDTH * wide, "middle": up[0] + (1 - middle / HEIGHT) * tall})
    return found
