"""What the attacker believes about a victim, before and after the worst possible output."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nowiser.model.advantage import Advantage, shown
from nowiser.report.theme import AFTER, BEFORE, GREEN, GREY, INK, altair, at_least, at_most, data, percent_axis, themed

BAR = 0.012  # width of the bar of a single value beside a density, as a share of the picture
NAMED = 0.06  # the narrowest goal that bears its name
OFF = 0.02  # by how much what is drawn may differ from what is said


def before_after(advantage: Advantage) -> Any:
    """Densities for a number, pairs of bars for categories, a pair of dots for everything else."""
    prior = advantage.prior
    if isinstance(prior, Mapping) and len(prior) == 1:
        prior = next(iter(prior.values()))
    kind = getattr(prior, "kind", None)
    witness = advantage.witness
    chart = None
    if kind == "line" and (witness.kind in ("laplace", "randomised response") or witness.inside):
        chart = _line(advantage, prior)
    elif kind == "categories" and witness.kind in ("laplace", "randomised response"):
        chart = _categories(advantage, prior)
    if chart is None:
        return themed(_dots(advantage), _title(advantage), "Over all mechanisms of this cost and all their outputs")
    who = "" if advantage.victim is None else f" about a victim with value {shown(advantage.victim)}"
    return themed(chart, _title(advantage), f"What an attacker believes{who}, before and after the worst answer")


def _title(advantage: Advantage) -> str:
    goal = advantage.goal
    guess = f"A guess {goal}" if goal.startswith("within") else f"The guess “{goal}”" if goal else "The guess"
    guess = "An exact guess" if goal == "exactly" else guess
    return f"{guess} goes from {at_least(advantage.before)} to at most {at_most(advantage.after)}"


@dataclass(frozen=True)
class _Believed:
    """What is drawn of a belief about a number, from `low` to `high`: its density, bars of single values, the goal."""

    low: float
    high: float
    rows: list[dict[str, float]]
    bars: list[dict[str, float]]
    zones: list[dict[str, float]]

    @property
    def labelled(self) -> list[dict[str, float]]:
        """Where before and after are written: at the bars of a goal of single values, else at the curves."""
        wide = BAR * (self.high - self.low) * 1.01
        if not self.zones or any(z["x2"] - z["x"] > wide for z in self.zones):
            return self.rows
        return [b for b in self.bars if any(z["x"] <= b["x"] <= z["x2"] for z in self.zones)] or self.rows


def _line(advantage: Advantage, prior: Any) -> Any:
    from nowiser.guess.density import law

    fixed = law.points(prior)
    if fixed is not None:
        return _atoms(advantage, *fixed)
    seen = _believed(advantage, prior)
    return None if seen is None else _drawn(seen, advantage)


def _believed(advantage: Advantage, prior: Any) -> _Believed | None:
    """None where the picture would not show what is said."""
    import numpy as np

    from nowiser.guess.density import law

    low, high = _visible(prior, advantage)
    edges, wide = np.linspace(low, high, 401), BAR * (high - low)
    peak = advantage.witness.peak
    if peak is not None and low < peak < high:
        edges = np.unique(np.append(edges, peak))
    goal = [w for w in advantage.witness.inside if isinstance(w, tuple)]
    for end in (*(e for pair in goal for e in pair), *law.support(prior)):
        if low < end < high:  # the jump is a step: draw it as one
            edges = np.unique(np.concatenate([edges, [end - 1e-9 * (high - low), end + 1e-9 * (high - low)]]))
    if advantage.witness.outside:  # everything but
        ends = [low, *(e for pair in sorted(goal) for e in pair), high]
        goal = list(zip(ends[::2], ends[1::2], strict=True))
    goal = [(l, u) if l < u else (l - wide / 2, u + wide / 2) for l, u in goal]  # a single value is as wide as its bar
    zones = [{"x": max(low, l), "x2": min(high, u)} for l, u in goal if max(low, l) < min(high, u)]
    if goal and not zones:
        return None  # the victim is so far out that nothing else would be seen beside him
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    single, mass = law.atoms(prior)
    single, mass = single[(single >= low) & (single <= high)], mass[(single >= low) & (single <= high)]
    before = law.spread(prior, edges) / width
    after, told = before * _tilt(advantage.witness, middle), mass * _tilt(advantage.witness, single)
    whole = (after * width).sum() + told.sum()
    if not whole > 0:
        return None
    after, told = after / whole, told / whole
    inside = [np.array([advantage.witness.contains(float(y)) for y in x], bool) for x in (middle, single)]
    share = (after * width)[inside[0]].sum() + told[inside[1]].sum()
    if advantage.witness.kind == "programme" and abs(share - advantage.after) > OFF:
        return None  # what attains it lies beyond the picture
    if law.mass(prior, low, high) < 1:
        seen = (before * width).sum() + mass.sum()
        before, mass = before / seen, mass / seen
    keep = width > 1e-6 * (high - low)
    rows = [
        {"x": float(x), "before": float(b), "after": float(a)}
        for x, b, a in zip(middle[keep], before[keep], after[keep], strict=True)
    ]
    bars = [  # of single values, with the area of their probability
        {"x": float(x), "left": float(x - wide / 2), "right": float(x + wide / 2)}
        | {"before": float(b / wide), "after": float(a / wide)}
        for x, b, a in zip(single, mass, told, strict=True)
    ]
    return _Believed(low, high, rows, bars, zones)


def _drawn(seen: _Believed, advantage: Advantage) -> Any:
    alt = altair()
    low, high, zones = seen.low, seen.high, seen.zones
    x = alt.X("x:Q", title=None, scale=alt.Scale(domain=[low, high], nice=False))
    y = {"axis": alt.Axis(labels=False, grid=False, title=None)}
    table = data(seen.rows)
    zone = alt.Chart(data(zones)).mark_rect(color=GREEN, opacity=0.10).encode(x=x, x2="x2:Q")
    was = (
        alt.Chart(table)
        .mark_area(color=BEFORE, opacity=0.25, line={"color": BEFORE, "strokeWidth": 2})
        .encode(x=x, y=alt.Y("before:Q", **y))
    )
    now = alt.Chart(table).mark_line(color=AFTER, strokeWidth=2.5).encode(x=x, y=alt.Y("after:Q", **y))
    words = _labels(alt, seen.labelled, advantage, (low, high))
    bar = alt.Chart(data(seen.bars)).encode(x=alt.X("left:Q", title=None), x2="right:Q")
    stood = bar.mark_rect(color=BEFORE, opacity=0.35).encode(y=alt.Y("before:Q", **y), y2=alt.datum(0))
    stands = bar.mark_rect(fillOpacity=0, stroke=AFTER, strokeWidth=2.5).encode(
        y=alt.Y("after:Q", **y), y2=alt.datum(0)
    )
    words = [*([stood, stands] if seen.bars else []), *words]
    named_ones = [z for z in zones if z["x2"] - z["x"] > NAMED * (high - low)] or zones[:1]
    centre = [{"x": (z["x"] + z["x2"]) / 2, "text": "goal"} for z in named_ones]
    tag = alt.Chart(data(centre)).mark_text(color=GREEN, baseline="bottom", fontWeight=600)
    named = tag.encode(x="x:Q", y=alt.value(-4), text="text:N")
    return alt.layer(zone, was, now, *words, named).properties(width=560, height=300)


def _tilt(witness: Any, x: Any) -> Any:
    """How likely the telling output is at these values, up to one factor; a table is read between its entries."""
    import numpy as np

    if witness.kind != "programme":
        return np.array([witness.likelihood(float(y)) for y in x])
    at, share = (np.array(column) for column in zip(*witness.table, strict=True))
    return np.exp(np.interp(x, at, np.log(np.maximum(share, 1e-300))))


def _labels(alt: Any, rows: list[dict[str, Any]], advantage: Advantage, ends: tuple[float, float]) -> list[Any]:
    """Names at the curves: the peak's beside it, the prior's on the side away from the peak."""
    top = max(rows, key=lambda r: r["after"])
    side = max(rows, key=lambda r: r["before"] - r["after"])
    right = top["x"] < sum(ends) / 2
    marks = [
        (top["x"], top["after"], f"after: {at_most(advantage.after)}", AFTER, "left" if right else "right"),
        (
            side["x"],
            side["before"],
            f"before: {at_least(advantage.before)}",
            INK,
            "left" if side["x"] > top["x"] else "right",
        ),
    ]
    found = []
    flat = top["after"] < 0.8 * max(r["before"] for r in rows)  # a round top, which words beside it would cross
    for (x, y, text, colour, wish), drop in zip(marks, (-10 if flat else 4, -8), strict=True):
        align = "center" if flat and colour == AFTER else wish
        if x - ends[0] < 0.2 * (ends[1] - ends[0]):
            align = "left"
        elif ends[1] - x < 0.2 * (ends[1] - ends[0]):
            align = "right"
        mark = alt.Chart(data([{"x": x, "y": y, "text": text}])).mark_text(
            align=align, dx={"left": 12, "right": -12, "center": 0}[align], dy=drop, color=colour, fontWeight=600
        )
        found.append(mark.encode(x="x:Q", y="y:Q", text="text:N"))
    return found


def _visible(prior: Any, advantage: Advantage) -> tuple[float, float]:
    """The support, without tails nobody would see before or after; three times as wide at most."""
    import numpy as np

    from nowiser.guess.density import law

    low, high = law.support(prior)
    if law.bounded(prior):
        pad = 0.04 * (high - low)
        return low - pad, high + pad
    x = np.linspace(low, high, 20_001)
    before = law.cdf(prior, x)
    after = np.diff(before) * _tilt(advantage.witness, (x[:-1] + x[1:]) / 2)
    if not 0 < after.sum() < np.inf:
        after = np.diff(before)
    ends = []
    for below in (before, np.append(0.0, np.cumsum(after) / after.sum())):
        inside = x[(below > 1e-3) & (below < 1 - 1e-3)]
        ends.append((float(inside[0]), float(inside[-1])) if inside.size else (low, high))
    (low, high), (left, right) = ends
    return max(min(low, left), low - (high - low)), min(max(high, right), high + (high - low))


def _atoms(advantage: Advantage, values: Any, masses: Any) -> Any:
    import numpy as np

    after = masses * np.array([advantage.witness.likelihood(float(v)) for v in values])
    after = after / after.sum()
    if len(values) > 40:
        edges = np.linspace(values[0], values[-1], 41)
        before, _ = np.histogram(values, edges, weights=masses)
        after, _ = np.histogram(values, edges, weights=after)
        values, masses = (edges[:-1] + edges[1:]) / 2, before
    inside = [advantage.witness.contains(float(v)) for v in values]
    return _bars([f"{v:.6g}" for v in values], masses, after, inside)


def _categories(advantage: Advantage, prior: Any) -> Any:
    weights = [m * advantage.witness.likelihood(c) for c, m in zip(prior.labels, prior.masses, strict=True)]
    inside = [advantage.witness.contains(c) for c in prior.labels]
    return _bars([str(c) for c in prior.labels], prior.masses, [w / sum(weights) for w in weights], inside)


def _bars(labels: list[str], before: Any, after: Any, inside: list[bool]) -> Any:

    alt = altair()
    rows = []
    for label, b, a, good in zip(labels, before, after, inside, strict=True):
        name = f"{label} ✓" if good else label
        rows += [
            {"label": name, "when": "before", "share": float(b), "figure": at_least(float(b))},
            {"label": name, "when": "after", "share": float(a), "figure": at_most(float(a))},
        ]
    order = [r["label"] for r in rows[::2]]
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "label:N",
            sort=order,
            title="✓ counts as a correct guess",
            axis=alt.Axis(labelAngle=0 if len(order) <= 12 else -60),
        ),
        xOffset=alt.XOffset("when:N", sort=["before", "after"]),
        y=alt.Y("share:Q", title="probability", axis=percent_axis()),
        color=alt.Color(
            "when:N",
            scale=alt.Scale(domain=["before", "after"], range=[BEFORE, AFTER]),
        ),
    )
    figures = base.mark_text(dy=-7, fontSize=11).encode(text="figure:N")
    chart = base.mark_bar() + figures if len(order) <= 8 else base.mark_bar()
    return chart.properties(width=560, height=300)


def _dots(advantage: Advantage) -> Any:

    alt = altair()
    rows = [
        {"when": "before", "p": advantage.before, "text": at_least(advantage.before)},
        {"when": "after", "p": advantage.after, "text": "at most " + at_most(advantage.after)},
    ]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("when:N", sort=["before", "after"], title=None, axis=alt.Axis(labelFontSize=14, labelColor=INK)),
        x=alt.X(
            "p:Q",
            title="probability that the guess is right",
            axis=percent_axis(),
            scale=alt.Scale(domain=[0, 1]),
        ),
    )
    bar = base.mark_bar(height=22).encode(
        color=alt.Color("when:N", scale=alt.Scale(domain=["before", "after"], range=[BEFORE, AFTER]), legend=None)
    )
    return (bar + base.mark_text(align="left", dx=6, color=GREY).encode(text="text:N")).properties(
        width=520, height=110
    )
