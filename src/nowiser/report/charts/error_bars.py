"""The numbers of an answer with their error bars, by the keys of its groups. One panel for each number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.report.answer import Answer, with_bar
from nowiser.report.frames import bars, values
from nowiser.report.theme import BLUE, GREY, INK, altair, data, themed, whole_axis

MOST = 60  # groups one below the other
MOST_BESIDE = 1_000  # groups on a line of numbers or dates
MOST_LABELLED = 12  # groups whose numbers are written beside their points
LONGEST = 36  # letters of a label
WIDTH, HEIGHT, ROW = 420, 260, 26  # pixels: of a panel, and of each group in one
YEARS = "datum.value == floor(datum.value) ? format(datum.value, 'd') : ''"  # keys: a year has no comma
DATE = re.compile(r"-?\d{4,}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?)?")


@dataclass(frozen=True)
class Keys:
    """Where each group stands: on a line of numbers or dates, or one below the other."""

    name: str
    kind: str  # Vega-Lite's: quantitative, temporal, nominal
    places: tuple[Any, ...]


def error_bars(answer: Answer, *columns: str) -> Any:
    """An answer's numbers (all that are not keys, or `columns`) with 95 % error bars.

    Groups of one number or date stand side by side, others one below the other; several keys are joined.
    """
    numbers = _numbers(answer, columns)
    keys = _keys(answer, numbers)
    many, drawn = len(answer.rows or ()), len(keys.places)
    panels = [_panel(answer, i, keys) for i in numbers]
    title = ", ".join(answer.columns[i] for i in numbers) + (f" by {keys.name}" if keys.name else "")
    drawn_bars = [(v, b) for i in numbers for v, b in zip(values(answer, i), bars(answer, i), strict=True)]
    notes = ["Bars hold the true number in 95 of 100 cases." if any(b for _, b in drawn_bars) else "Exact numbers."]
    if any(v is not None and b is None for v, b in drawn_bars):
        notes.append("Hollow points: the error is not known.")
    if any(v is None for v, _ in drawn_bars):
        notes.append("Groups without a value are left out.")
    if many > drawn:
        notes.append(f"The first {drawn:,} of {many:,} groups.")
    chart = panels[0] if len(panels) == 1 else altair().vconcat(*panels, spacing=28)
    return themed(chart, title, " ".join(notes))


def panel(answer: Answer, column: str) -> Any:
    """One number of an answer without a title, to stand beside something else."""
    numbers = _numbers(answer, [column])
    return _panel(answer, numbers[0], _keys(answer, numbers))


def _numbers(answer: Answer, wanted: Sequence[str]) -> list[int]:
    """Which columns to draw."""
    if answer.values is None:
        raise Misconfigured("What `explain` gives has no rows to draw.", hint="Ask with `query`, then plot the answer.")
    found = [i for i in range(len(answer.columns)) if any(_is_number(v) for v in values(answer, i))]
    if wanted:
        names = {answer.columns[i]: i for i in found}
        unknown = [w for w in wanted if w not in names]
        if unknown:
            raise Misconfigured(
                f"There are no numbers in a column {unknown[0]!r}.", hint=f"Columns of numbers: {', '.join(names)}."
            )
        return [names[w] for w in wanted]
    # Exact numbers beside noisy ones are keys (an hour, a year) or counts of something public.
    noisy = [i for i in found if answer.columns[i] not in answer.exact]
    chosen = noisy or found[1 if len(found) > 1 else 0 :]
    if not chosen:
        raise Misconfigured("The answer has no numbers to draw.")
    return chosen


def _keys(answer: Answer, numbers: Sequence[int]) -> Keys:
    """The columns that name the groups: texts, and exact numbers as far as those do not tell the groups apart."""
    rows = (answer.rows or ())[:MOST_BESIDE]
    others = [i for i in range(len(answer.columns)) if i not in numbers and answer.columns[i] in answer.exact]
    columns = [i for i in range(len(answer.columns)) if i not in numbers and _is_text(answer, i)]
    for i in others:
        if len({tuple(row[c] for c in columns) for row in rows}) == len(rows):
            break
        columns = sorted({*columns, i})
    name = ", ".join(answer.columns[i] for i in columns)
    if len(columns) == 1 and len(rows) > 1:
        alone = [row[columns[0]] for row in rows]
        if all(_is_number(v) for v in alone):
            return Keys(name, "quantitative", tuple(alone))
        if all(isinstance(v, str) and DATE.fullmatch(v) for v in alone):
            return Keys(name, "temporal", tuple(str(v).replace(" ", "T") for v in alone))
    labels = [_label([row[i] for i in columns]) for row in rows[:MOST]]
    return Keys(name, "nominal", tuple(_distinct(labels)))


def _panel(answer: Answer, column: int, keys: Keys) -> Any:
    alt = altair()
    name = answer.columns[column]
    points = [
        {
            "key": place,
            "value": float(value),
            "low": float(value) - (bar or 0.0),
            "high": float(value) + (bar or 0.0),
            "known": bar is not None,
            "text": with_bar(value, bar),
        }
        for place, value, bar in zip(keys.places, values(answer, column), bars(answer, column), strict=False)
        if value is not None
    ]
    base = alt.Chart(data(points)).encode(tooltip=[alt.Tooltip("key:N", title=keys.name), alt.Tooltip("text:N")])
    # a number alone is judged against zero, several against each other
    axis = (whole_axis if _whole(values(answer, column)) else alt.Axis)(grid=True, tickCount=6)
    number = {"title": name, "scale": alt.Scale(zero=len(points) == 1, padding=10, nice=False), "axis": axis}
    point = base.mark_point(size=60 if len(points) <= 40 else 20, opacity=1, color=BLUE).encode(
        fill=alt.condition("datum.known", alt.value(BLUE), alt.value("white"))
    )
    bar = base.mark_rule(color=BLUE, strokeWidth=2)
    if keys.kind == "nominal":
        place = {"y": alt.Y("key:N", title=keys.name or None, sort=None, axis=alt.Axis(labelLimit=260, grid=False))}
        ends = {"x": alt.X("low:Q", **number), "x2": alt.X2("high:Q")}
        layers = [bar.encode(**ends, **place), point.encode(x=alt.X("value:Q"), **place)]
        if len(points) <= MOST_LABELLED:
            words = base.mark_text(align="left", dx=8, fontSize=11, color=INK).encode(
                x=alt.X("high:Q"), text="text:N", **place
            )
            layers.append(words)
        return alt.layer(*layers).properties(width=WIDTH, height=max(ROW * 2, ROW * len(points)))
    if keys.kind == "quantitative":
        ticks = whole_axis(labelExpr=YEARS) if _whole(keys.places) else alt.Axis()
        x = alt.X("key:Q", title=keys.name, scale=alt.Scale(zero=False, padding=12, nice=False), axis=ticks)
    else:
        x = alt.X("key:T", title=keys.name, scale=alt.Scale(type="utc", padding=12))
    line = base.mark_line(color=GREY, strokeWidth=1, opacity=0.5).encode(x=x, y=alt.Y("value:Q"))
    ends = {"y": alt.Y("low:Q", **number), "y2": alt.Y2("high:Q")}
    layers = [line, bar.encode(x=x, **ends), point.encode(x=x, y=alt.Y("value:Q"))]
    return alt.layer(*layers).properties(width=WIDTH + 140, height=HEIGHT)


def _label(parts: Sequence[Any]) -> str:
    said = ", ".join("NULL" if p is None else str(p) for p in parts)
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _distinct(labels: Sequence[str]) -> list[str]:
    """Points of one label would stand on each other: what is alike is numbered."""
    taken: dict[str, int] = {}
    found = []
    for label in labels:
        taken[label] = taken.get(label, 0) + 1
        found.append(label if taken[label] == 1 else f"{label} ({taken[label]})")
    return found


def _whole(numbers: Sequence[Any]) -> bool:
    return all(isinstance(n, int) for n in numbers if n is not None)


def _is_text(answer: Answer, i: int) -> bool:
    return any(isinstance(v, str) for v in values(answer, i))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
