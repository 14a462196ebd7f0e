"""Probabilities of labels, before and after, as pairs of bars; those that count as a correct guess are marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nowiser.model.advantage import points
from nowiser.report.theme import AFTER, BEFORE, GREEN, GREY, INK, altair, at_most, data, percent_axis

WIDTH = 560
LETTER = 7.2  # pixels
LONGEST = 40  # letters of a label
MOST = 25  # pairs of bars; of more labels the rest is told in one
RIGHT = " ✓"


@dataclass(frozen=True)
class Pair:
    """One label: how probable before and after, and whether it is a correct guess."""

    label: str
    before: float
    after: float
    right: bool


def bars(pairs: Sequence[Pair], told: Sequence[str], note: str = "") -> Any:
    """Upright where every label finds room below its bars, else lying. `told`: before and after of the goal."""
    alt = altair()
    shown = _distinct(_most(pairs))
    alone = sum(p.right for p in shown) == 1
    rows: list[dict[str, Any]] = []
    for p in shown:
        # the same figures as in the title, to the last digit
        was, now = told[:2] if alone and p.right else (points(p.before), at_most(p.after))
        rows += [
            {"label": p.label, "when": "before", "share": p.before, "text": was},
            {"label": p.label, "when": "after", "share": p.after, "text": now},
        ]
    highest = max(r["share"] for r in rows)  # and its figure above it
    room = WIDTH / len(shown)
    upright = len(shown) <= MOST and all(LETTER * len(p.label) + 6 <= room for p in shown)
    marked = f"indexof(datum.label, '{RIGHT.strip()}') >= 0"
    axis = alt.Axis(
        labelOverlap=False,
        labelAngle=0,
        labelLimit=LETTER * (LONGEST + 4),
        labelColor={"condition": {"test": marked, "value": GREEN}, "value": GREY},
        labelFontWeight={"condition": {"test": marked, "value": 600}, "value": "normal"},
        grid=False,
    )
    names = {"sort": [p.label for p in shown], "axis": axis}
    order = {"shorthand": "when:N", "sort": ["before", "after"]}
    base = alt.Chart(data(rows)).encode(
        color=alt.Color(
            "when:N",
            scale=alt.Scale(domain=["before", "after"], range=[BEFORE, AFTER]),
            legend=alt.Legend(orient="top", direction="horizontal", offset=28 if upright else 8),
        )
    )
    key = f"{RIGHT.strip()} counts as a correct guess{note}"
    if upright:
        base = base.encode(
            x=alt.X("label:N", title=key, **names),
            xOffset=alt.XOffset(**order),
            y=alt.Y("share:Q", title="probability", axis=percent_axis(), scale=alt.Scale(domain=[0, 1.08 * highest])),
        )
        figures = base.mark_text(dy=-7, fontSize=11).encode(text="text:N", color=alt.value(INK))
        drawn = base.mark_bar() + figures if len(shown) <= 6 else base.mark_bar()
        return drawn.properties(width=WIDTH, height=300)
    base = base.encode(
        y=alt.Y("label:N", title=None, **names),
        yOffset=alt.YOffset(**order),
        x=alt.X("share:Q", title=f"probability ({key})", axis=percent_axis(grid=True, tickCount=5)),
    )
    figures = base.mark_text(align="left", dx=4, fontSize=10).encode(text="text:N", color=alt.value(INK))
    return (base.mark_bar() + figures).properties(width=WIDTH - 140, height=30 * len(shown))


def _most(pairs: Sequence[Pair]) -> list[Pair]:
    """All, or those that are right and the most probable ones, and the rest together: a picture must end somewhere."""
    if len(pairs) <= MOST:
        return list(pairs)
    ranked = sorted(
        range(len(pairs)), key=lambda i: (pairs[i].right, max(pairs[i].before, pairs[i].after)), reverse=True
    )
    kept, left = sorted(ranked[: MOST - 1]), ranked[MOST - 1 :]
    found = [pairs[i] for i in kept]
    for right in (True, False):
        rest = [pairs[i] for i in left if pairs[i].right == right]
        if rest:
            name = f"{len(rest)} others"
            found.append(Pair(name, sum(p.before for p in rest), sum(p.after for p in rest), right))
    return found


def _distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """Short labels with their marks. Bars of one label are drawn on each other, so what is alike is numbered."""
    found: list[Pair] = []
    taken: dict[str, int] = {}
    for p in pairs:
        label = p.label if len(p.label) <= LONGEST else p.label[: LONGEST - 1] + "…"
        taken[label] = taken.get(label, 0) + 1
        label = label if taken[label] == 1 else f"{label} ({taken[label]})"
        found.append(Pair(label + RIGHT * p.right, p.before, p.after, p.right))
    return found
