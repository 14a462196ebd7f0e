"""Every attacker against the promise about him: how much better he guesses by now, of how much he may at most."""

from collections.abc import Mapping, Sequence
from typing import Any

from nowiser.model.advantage import points
from nowiser.report.theme import AFTER, BETTER, INK, LIMIT, PALE, altair, data, points_axis, themed

ROW = 38  # pixels of each attacker
LONGEST = 300  # pixels of the name of one

Standing = Mapping[str, Any]  # guess, before, after, limit


def attackers(guesses: Sequence[Standing]) -> Any:
    """One bar per attacker, from nothing gained to the gain that was promised."""
    kept = all(g["after"] <= g["limit"] for g in guesses)
    title = "Every attacker is within his limit" if kept else "A limit is passed"
    return themed(panel(guesses), title, "Blue: gained so far, at most. Orange: the limit that was promised.")


def panel(guesses: Sequence[Standing], *, width: int = 330, row: int = ROW) -> Any:
    """The same without a title, to stand beside something else."""
    alt = altair()
    rows = [
        {
            "at": i,
            "guess": g["guess"],
            "gain": g["after"] - g["before"],
            "allowed": g["limit"] - g["before"],
            "text": f"{points(g['before'])} → {points(g['after'])} (limit {points(g['limit'])})",
        }
        for i, g in enumerate(guesses)
    ]
    most = max((max(r["allowed"], r["gain"]) for r in rows), default=0.0) or 0.01
    x = alt.X(
        "gain:Q",
        title=BETTER,
        axis=points_axis(tickCount=5),
        scale=alt.Scale(domain=[0, most * (1 + 1e-6)], nice=False),
    )
    names = alt.Axis(labelLimit=LONGEST, labelColor=INK, grid=False)
    base = alt.Chart(data(rows)).encode(y=alt.Y("guess:N", title=None, sort={"field": "at"}, axis=names))
    track = base.mark_bar(color=PALE, height=12).encode(x=alt.X("allowed:Q", title=BETTER))
    used = base.mark_bar(color=AFTER, height=12).encode(x=x)
    limit = base.mark_tick(color=LIMIT, thickness=3, size=22, opacity=1).encode(x=alt.X("allowed:Q", title=BETTER))
    words = base.mark_text(align="left", dx=8, fontSize=11).encode(x=alt.X("allowed:Q", title=BETTER), text="text:N")
    return alt.layer(track, used, limit, words).properties(width=width, height=row * max(1, len(rows)))
