"""Pictures of attacks that name people, tell who was in, or ask a gateway. They take what `--json` prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from nowiser.report.theme import GREY, LIMIT, altair, data, named_lines, percent_axis, themed, whole_axis

LEAST = 1e-3  # the left end of a logarithmic axis of false claims


def pictures(content: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Those there is something to show in. names: of the outcomes, as they are called elsewhere."""
    outcomes = [{**o, "attack": name} for name, o in zip(names, content["outcomes"], strict=True)]
    makers = (
        (who_was_in, [o for o in outcomes if o["goal"] == "presence" and o["curve"]]),
        (named, [o for o in outcomes if o["goal"] == "row" and o["curve"]]),
        (answer_by_answer, [o for o in outcomes if len(o["course"]) > 1]),
    )
    return [make(these) for make, these in makers if these]


def who_was_in(outcomes: Sequence[Mapping[str, Any]]) -> Any:
    """Members named over strangers named; the grey line is tossing a coin, the other one what a ceiling allows."""
    grid = (LEAST, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.6, 1.0)
    beside = {GREY: [{"x": x, "y": x} for x in grid]}
    subtitle = "Members named over strangers named. Grey: tossing a coin."
    ceiling = next((o["ceiling"] for o in outcomes if o["ceiling"] is not None), None)
    if ceiling is not None:  # right about half of both: members named − strangers named is at most 2 · ceiling − 1
        beside[LIMIT] = [{"x": x, "y": min(1.0, x + 2 * ceiling - 1)} for x in grid]
        subtitle += " Red: what was promised at most."
    return _curves(outcomes, "Who was in the release?", subtitle, ("strangers named", "members named"), beside)


def named(outcomes: Sequence[Mapping[str, Any]]) -> Any:
    """Right claims over false claims, from the surest downwards."""
    subtitle = "Victims named rightly over victims named wrongly, from the surest claim downwards."
    return _curves(outcomes, "Which record is whose?", subtitle, ("named wrongly", "named rightly"), {})


def _curves(
    outcomes: Sequence[Mapping[str, Any]],
    title: str,
    subtitle: str,
    axes: tuple[str, str],
    beside: Mapping[str, list[dict[str, float]]],
) -> Any:
    alt = altair()
    points = [
        {"attack": o["attack"], "x": max(x, LEAST), "y": y, "order": k}
        for o in outcomes
        for k, (x, y) in enumerate(o["curve"])
    ]
    x = alt.X(
        "x:Q",
        title=axes[0],
        scale=alt.Scale(type="log", domain=[LEAST, 1]),
        axis=percent_axis(values=[0.001, 0.01, 0.1, 1]),
    )
    y = alt.Y("y:Q", title=axes[1], scale=alt.Scale(domain=[0, 1]), axis=percent_axis())
    colour, names = named_lines(points, "attack", "x", "y", 1.0)
    lines = alt.Chart(data(points)).mark_line(interpolate="step-after")
    layers = [lines.encode(x=x, y=y, color=colour, order="order:Q"), *names]
    for shade, line in beside.items():
        layers.append(alt.Chart(data(line)).mark_line(color=shade, strokeDash=[4, 3]).encode(x=x, y=y))
    return themed(alt.layer(*layers).properties(width=520, height=320), title, subtitle)


def answer_by_answer(outcomes: Sequence[Mapping[str, Any]]) -> Any:
    """What one victim's attacker believes of his best guess, and the ceilings."""
    alt = altair()
    points = [{"attack": o["attack"], "answers": k, "chance": c} for o in outcomes for k, c in enumerate(o["course"])]
    x = alt.X("answers:Q", title="answers", axis=whole_axis())
    ceilings = [{"ceiling": c} for c in sorted({o["ceiling"] for o in outcomes if o["ceiling"] is not None})]
    high = min(1.0, 1.2 * max([p["chance"] for p in points] + [c["ceiling"] for c in ceilings]))
    y = alt.Y("chance:Q", title="chance of his best guess", scale=alt.Scale(domain=[0, high]), axis=percent_axis())
    colour, names = named_lines(points, "attack", "answers", "chance", high)
    layers = [alt.Chart(data(points)).mark_line(point=True).encode(x=x, y=y, color=colour), *names]
    if ceilings:
        layers.append(alt.Chart(data(ceilings)).mark_rule(color=LIMIT, strokeDash=[4, 3]).encode(y="ceiling:Q"))
    subtitle = "What the attacker of one victim believes himself. Dashed: what was promised at most."
    return themed(alt.layer(*layers).properties(width=520, height=260), "Answer by answer", subtitle)
