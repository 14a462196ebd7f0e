"""An answer with its error bars, and what the answers so far did to every attacker's guess."""

from collections.abc import Sequence
from typing import Any

from nowiser.report.answer import Answer
from nowiser.report.theme import AFTER, BEFORE, BLUE, LIMIT, altair, data, percent_axis, themed


def answers(answer: Answer, standings: Sequence[Sequence[dict[str, Any]]]) -> Any:
    """Left the last noisy column of the answer by its first column; right before, after and limit per attacker."""
    alt = altair()
    noisy = max(i for i, name in enumerate(answer.columns) if name not in answer.exact)
    rows = [
        {"key": str(row[0]), "value": row[noisy], "low": row[noisy] - bars[noisy], "high": row[noisy] + bars[noisy]}
        for row, bars in zip(answer.rows or (), answer.errors(), strict=True)
        if row[noisy] is not None and bars[noisy] is not None
    ]
    base = alt.Chart(data(rows)).encode(y=alt.Y("key:N", title=None, sort=None))
    name = answer.columns[noisy]
    left = alt.layer(
        base.mark_rule(color=BLUE, strokeWidth=2).encode(x=alt.X("low:Q", title=name), x2="high:Q"),
        base.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(x="value:Q"),
    ).properties(
        width=300, height=max(90, 28 * len(rows)), title=alt.Title(f"{name}, with 95 % error bars", fontSize=13)
    )
    return themed(
        alt.hconcat(left, _guesses(alt, standings), spacing=60),
        "What is learned about everybody, and about anybody",
    )


def _guesses(alt: Any, standings: Sequence[Sequence[dict[str, Any]]]) -> Any:
    """Each attacker's chance: before anything was asked, now at most, and where the promise ends."""
    marks = {"before": BEFORE, "after": AFTER, "limit": LIMIT}
    points = [{"guess": g["guess"], "what": what, "value": g[what]} for g in standings[-1] for what in marks]
    colour = alt.Color("what:N", scale=alt.Scale(domain=list(marks), range=list(marks.values())), legend=None)
    base = alt.Chart(data(points)).encode(
        y=alt.Y("guess:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        x=alt.X("value:Q", title="guess is right", axis=percent_axis(tickCount=5), scale=alt.Scale(zero=False)),
        color=colour,
    )
    above = base.transform_filter("datum.what != 'before'").mark_text(dy=-14, fontWeight=600).encode(text="what:N")
    below = base.transform_filter("datum.what == 'before'").mark_text(dy=16, fontWeight=600).encode(text="what:N")
    return alt.layer(base.mark_point(filled=True, size=90, opacity=1), above, below).properties(
        width=300,
        height=max(90, 60 * len(standings[-1])),
        title=alt.Title("attackers, after all these answers", fontSize=13),
    )
