"""What a model adds to its score for each value of each column: one small picture for each, the steepest first."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from nowiser.report.theme import BLUE, GREY, themed

SHOWN = 12  # pictures at most
WIDE = 260


def shapes(curves: Sequence[Mapping[str, Any]], classes: Sequence[str]) -> Any:
    """curves: `feature`, `bins` in words, and `score` of each bin (for each class where there are several)."""
    ordered = sorted(curves, key=_steepness, reverse=True)[:SHOWN]
    pictures = [_picture(curve, classes) for curve in ordered]
    what = f"speaks for {classes[0]!r}" if len(classes) == 1 else "speaks for each class"
    chart = alt.concat(*pictures, columns=2).resolve_scale(x="independent")
    return themed(chart, f"How much each value {what}", "Added to the score; 1 multiplies the odds by 2.7.")


def _picture(curve: Mapping[str, Any], classes: Sequence[str]) -> Any:
    several = len(classes) > 1
    rows = [
        {"bin": label, "class": name, "score": float(value)}
        for label, scores in zip(curve["bins"], curve["score"], strict=True)
        for name, value in zip(classes, scores if several else [scores], strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("bin:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap="greedy", labelLimit=110)),
        y=alt.Y("score:Q", title=None),
    )
    zero = alt.Chart(alt.InlineData(values=[{"score": 0}])).mark_rule(color=GREY).encode(y="score:Q")
    drawn = base.mark_line(point=True).encode(color=alt.Color("class:N")) if several else base.mark_bar(color=BLUE)
    return (drawn + zero).properties(width=WIDE, height=120, title=alt.Title(str(curve["feature"]), fontSize=13))


def _steepness(curve: Mapping[str, Any]) -> float:
    scores = [v for row in curve["score"] for v in (row if isinstance(row, Sequence) else [row])]
    return float(max(scores) - min(scores))
