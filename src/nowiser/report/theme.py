"""One look for every chart: quiet axes, words instead of legends, colours that colour-blind readers can tell apart."""

from importlib import import_module
from typing import Any

from nowiser.model.advantage import points

# Okabe and Ito's palette: distinct under the common kinds of colour blindness and in grey print
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#AA4499"
ORANGE, SKY, INK, GREY, PALE = "#E69F00", "#56B4E9", "#1b1f24", "#6e7781", "#d8dee4"
GRID = "#eaeef2"
SEQUENCE = (BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION)
BEFORE, AFTER = GREY, BLUE  # what was known, what is known now
LIMIT = VERMILION  # bounds, ceilings, worst cases

LONGEST = 100  # letters of a line below the title

_FONT = "Inter, Helvetica Neue, Helvetica, Arial, DejaVu Sans, sans-serif"

CONFIG: dict[str, Any] = {
    "background": "white",
    "font": _FONT,
    "padding": 12,
    "view": {"stroke": None, "continuousWidth": 560, "continuousHeight": 320},
    "title": {
        "anchor": "start",
        "frame": "group",
        "fontSize": 17,
        "fontWeight": 600,
        "color": INK,
        "subtitleFontSize": 13,
        "subtitleColor": GREY,
        "subtitlePadding": 5,
        "offset": 16,
    },
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": GRID,
        "labelColor": GREY,
        "labelFontSize": 12,
        "labelPadding": 6,
        "labelFlush": False,
        "titleColor": GREY,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    },
    "axisX": {"grid": False, "tickCount": 8, "labelOverlap": "greedy", "domain": True, "domainColor": PALE},
    "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -10},
    "line": {"strokeWidth": 2.5},
    "text": {"font": _FONT, "fontSize": 12, "color": INK},
    "legend": {"title": None, "orient": "top-right", "labelFontSize": 12, "labelColor": INK},
    "range": {"category": list(SEQUENCE)},
}

LABELLED = 8  # lines that have their names beside them


def themed(chart: Any, title: str, *subtitle: str) -> Any:
    """The chart with our look and a title that says its message; it draws itself in a notebook, without a network."""
    from nowiser.report.offline import offline

    head: dict[str, Any] = {"text": title}
    if subtitle:
        head["subtitle"] = [part for line in subtitle for part in _wrapped(line)]
    return offline(chart.properties(title=head))


def _wrapped(line: str) -> list[str]:
    """A line that would make the picture wider than it is, in several."""
    from textwrap import wrap

    return [line] if len(line) <= LONGEST else wrap(line, LONGEST - 20, break_long_words=False)


def at_most(share: float) -> str:
    """A ceiling as a percentage: rounded up, wherever in a picture it stands."""
    return points(share, up=True)


def ceiling(share: float) -> str:
    """A bound: rounded up, but not to certainty."""
    return at_most(share) if share >= 1.0 or share <= 0.999 else "> 99.9 %"


PERCENT: dict[str, Any] = {"format": "%", "labelExpr": "replace(datum.label, '%', ' %')"}
POINTS: dict[str, Any] = {"labelExpr": "format(100 * datum.value, '~g')"}
# tickMinStep alone leaves halves where only one or two are counted
WHOLE: dict[str, Any] = {
    "tickMinStep": 1,
    "labelExpr": "datum.value == floor(datum.value) ? format(datum.value, ',d') : ''",
    "gridOpacity": {"condition": {"test": "datum.value != floor(datum.value)", "value": 0}, "value": 1},
}

BETTER = "points better than before"  # the unit of every gain, in pictures as in sentences
CHANCE = "probability that the guess is right"


def percent_axis(**more: Any) -> Any:
    """An axis of shares, whose labels are written as in sentences: 30 %."""
    return altair().Axis(**PERCENT, **more)


def points_axis(**more: Any) -> Any:
    """An axis of differences between shares, in percentage points: its title says so."""
    return altair().Axis(**POINTS, **more)


def whole_axis(**more: Any) -> Any:
    """An axis of counts: there is no half of an answer, of a row, of a person."""
    return altair().Axis(**{**WHOLE, **more})


def beside_lines(ends: list[dict[str, Any]], high: float, colour: Any) -> Any:
    """Names at the right ends of lines (`x`, `y`, `name`), pushed apart where they would touch; `high`: of the axis."""
    alt = altair()
    placed: list[dict[str, Any]] = []
    for end in sorted(ends, key=lambda e: float(e["y"]), reverse=True):
        y = end["y"] if not placed else min(end["y"], placed[-1]["y"] - 0.055 * high)
        placed.append(end | {"y": y})
    words = alt.Chart(data(placed)).mark_text(align="left", dx=8, fontSize=12, fontWeight=600)
    return words.encode(x="x:Q", y="y:Q", text="text:N", color=colour)


def named_lines(points: list[dict[str, Any]], name: str, x: str, y: str, high: float) -> tuple[Any, list[Any]]:
    """The colour of each line, and its name at the right, level with its end; a legend where there are too many lines.

    `points`: of all lines, each from left to right; `name`, `x`, `y`: their keys; `high`: of the axis.
    """
    alt = altair()
    last = {p[name]: p for p in points}
    shades = [SEQUENCE[i % len(SEQUENCE)] for i in range(len(last))]
    few = len(last) <= LABELLED
    legend = None if few else alt.Legend(orient="bottom", title=None, columns=2)
    colour = alt.Color(f"{name}:N", scale=alt.Scale(domain=list(last), range=shades), legend=legend)
    right = max((p[x] for p in points), default=0)
    ends = [{"x": right, "y": p[y], name: text, "text": text} for text, p in last.items()]
    return colour, [beside_lines(ends, high, colour)] if few and ends else []


def altair() -> Any:
    """Altair, imported when something is first drawn. Loosely typed: its generated types reject forms it documents."""
    return import_module("altair")


def data(rows: list[dict[str, Any]]) -> Any:
    """Rows for a chart, without pandas."""
    return altair().Data(values=rows)
