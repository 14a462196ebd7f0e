"""What the attacker believes about a victim, before and after the worst possible output."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nowiser.errors import Misconfigured
from nowiser.model.advantage import Advantage, shown
from nowiser.report.charts.bars import Pair, bars
from nowiser.report.theme import (
    AFTER,
    BEFORE,
    CHANCE,
    GREEN,
    GREY,
    INK,
    altair,
    data,
    percent_axis,
    themed,
)

if TYPE_CHECKING:
    from nowiser.report.charts.belief import Believed

WIDTH, HEIGHT = 560, 300
NAMED = 0.06  # the narrowest goal that bears its name
MANY = 25  # single values that still have a bar each
RARE = 5e-4  # what no bar would show
SEEN = 0.03  # share of the height that is seen as something


def before_after(advantage: Advantage) -> Any:
    """Densities for a number, pairs of bars for categories, a pair of dots for everything else."""
    if not isinstance(advantage, Advantage):
        raise Misconfigured(
            f"this picture is of an Advantage, as nw.guess gives it; found {type(advantage).__name__}",
            hint="For example nw.charts.before_after(nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0)).",
        )
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
    before, after, _ = advantage.figures()  # as in sentences: to the last digit
    return f"{guess} goes from {before} to at most {after}"


def _line(advantage: Advantage, prior: Any) -> Any:
    from nowiser.guess.number import law
    from nowiser.report.charts.belief import believed

    fixed = law.points(prior)
    if fixed is not None:
        return _atoms(advantage, *fixed)
    try:
        seen = believed(advantage, prior)
    except Misconfigured:  # a range so far out that a distribution function has no digits there; ceilings need none
        return None
    return None if seen is None else _drawn(seen, advantage)


def _drawn(seen: "Believed", advantage: Advantage) -> Any:
    alt = altair()
    low, high, zones = seen.low, seen.high, seen.zones
    top = 1.1 * max(max(r["before"], r["after"]) for r in (*seen.rows, *seen.bars))
    title = f"{_attribute(advantage)}{_enlarged(seen) or ' (the higher the curve, the more probable)'}"
    x = alt.X("x:Q", title=title, scale=alt.Scale(domain=[low, high], nice=False))
    y = {"axis": alt.Axis(labels=False, grid=False, title=None), "scale": alt.Scale(domain=[0, top], nice=False)}
    table = data(seen.rows)
    zone = alt.Chart(data(zones)).mark_rect(color=GREEN, opacity=0.10).encode(x=x, x2="x2:Q")
    was = (
        alt.Chart(table)
        .mark_area(color=BEFORE, opacity=0.25, line={"color": BEFORE, "strokeWidth": 2})
        .encode(x=x, y=alt.Y("before:Q", **y))
    )
    now = alt.Chart(table).mark_line(color=AFTER, strokeWidth=2.5).encode(x=x, y=alt.Y("after:Q", **y))
    bar = alt.Chart(data(seen.bars)).encode(x=alt.X("left:Q", title=title), x2="right:Q")
    stood = bar.mark_rect(color=BEFORE, opacity=0.35).encode(y=alt.Y("before:Q", **y), y2=alt.datum(0))
    stands = bar.mark_rect(fillOpacity=0, stroke=AFTER, strokeWidth=2.5).encode(
        y=alt.Y("after:Q", **y), y2=alt.datum(0)
    )
    named_ones = [z for z in zones if z["x2"] - z["x"] > NAMED * (high - low)] or zones[:1]
    centre = [{"x": (z["x"] + z["x2"]) / 2, "text": "goal"} for z in named_ones]
    tag = alt.Chart(data(centre)).mark_text(color=GREEN, baseline="bottom", fontWeight=600)
    named = tag.encode(x="x:Q", y=alt.value(-4), text="text:N")
    layers = [zone, was, now, *([stood, stands] if seen.bars else []), *_labels(alt, seen, advantage, top), named]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _attribute(advantage: Advantage) -> str:
    """What the victim's value is called."""
    named = advantage.prior
    return next(iter(named)) if isinstance(named, Mapping) else "value"


def _enlarged(seen: "Believed") -> str:
    """What the axis says besides where only a part is shown."""
    if seen.whole is None:
        return ""
    much = "the prior" if seen.bounded else "nearly all of the prior"
    return f", enlarged: {much} reaches from {_reach(seen.whole)}"


def _reach(ends: tuple[float, float]) -> str:
    """With as many digits as tell how far the ends are apart."""
    apart = ends[1] - ends[0]
    for digits in (4, 8, 12, 17):
        written = [f"{float(f'{end:.{digits}g}'):,.{max(12, digits)}g}" for end in ends]
        low, high = (float(w.replace(",", "")) for w in written)
        if abs(high - low - apart) <= 0.01 * apart:
            break
    return " to ".join(written)


def _labels(alt: Any, seen: "Believed", advantage: Advantage, top: float) -> list[Any]:
    """Names at the curves: after at its peak, before where it differs most from after; both on nothing drawn."""
    from nowiser.report.charts.placing import Box, Canvas, pixels

    canvas, ends = Canvas(WIDTH, HEIGHT), (seen.low, seen.high)
    for when in ("before", "after"):
        if seen.rows:
            canvas.line(*pixels(seen.rows, when, ends, top, canvas))
        for bar, (x, y) in zip(seen.bars, zip(*pixels(seen.bars, when, ends, top, canvas), strict=True), strict=True):
            half = (bar["right"] - bar["left"]) / 2 / (seen.high - seen.low) * WIDTH
            canvas.box(Box(float(x) - half, float(y), float(x) + half, HEIGHT))
    found, rows = [], seen.labelled
    peak = _highest([r["after"] for r in rows])
    side = _highest([r["before"] - r["after"] for r in rows])
    if rows[side]["before"] < SEEN * top:  # no more than the axis: then rather where it is highest
        side = _highest([r["before"] for r in rows])
    was, now, _ = advantage.figures()
    words = (
        ("after", f"after: {now}", AFTER, peak),
        ("before", f"before: {was}", INK, side),
    )
    for when, text, colour, at in words:
        points = [(float(x), float(y)) for x, y in zip(*pixels(rows, when, ends, top, canvas), strict=True)]
        left, middle = canvas.put(text, [*points[:: max(1, len(points) // 150)], points[at]], points[at])
        place = {"x": seen.low + left / WIDTH * (seen.high - seen.low), "y": top * (1 - middle / HEIGHT), "text": text}
        mark = alt.Chart(data([place])).mark_text(align="left", baseline="middle", color=colour, fontWeight=600)
        found.append(mark.encode(x="x:Q", y="y:Q", text="text:N"))
    return found


def _highest(values: list[float]) -> int:
    """Where the largest value is; of several as large, the one in the middle."""
    top = max(values)
    level = [i for i, v in enumerate(values) if v >= top - 1e-9 * abs(top)]
    return level[len(level) // 2]


def _atoms(advantage: Advantage, values: Any, masses: Any) -> Any:
    import numpy as np

    from nowiser.report.charts.belief import binned, part_of
    from nowiser.report.charts.pointwise import log_likelihood, right

    log = log_likelihood(advantage.witness, values)
    after = masses * np.exp(log - log[masses > 0].max())
    after = after / after.sum()
    low, high, whole = part_of(advantage.witness, values, masses, after)
    some = np.flatnonzero((values >= low) & (values <= high) & ((masses >= RARE) | (after >= RARE)))
    seen = slice(some[0], some[-1] + 1) if some.size else slice(None)  # without tails that no bar would show
    if values[seen].size > MANY:
        return _drawn(binned(advantage.witness, values, masses, after), advantage)
    note = "; rarer values are left out" if values[seen].size < values.size else ""
    note = note if whole is None else f"; nearly all values lie from {_reach(whole)}"
    names = [f"{v:.6g}" for v in values[seen]]
    if len(set(names)) < len(names):
        names = [repr(float(v)) for v in values[seen]]
    good = right(advantage.witness, values[seen])
    pairs = zip(names, masses[seen], after[seen], good, strict=True)
    return bars([Pair(n, float(b), float(a), bool(g)) for n, b, a, g in pairs], advantage.figures(), note)


def _categories(advantage: Advantage, prior: Any) -> Any:
    witness = advantage.witness
    weights = [m * witness.likelihood(c) for c, m in zip(prior.labels, prior.masses, strict=True)]
    pairs = [
        Pair(str(c), float(m), float(w / sum(weights)), witness.contains(c))
        for c, m, w in zip(prior.labels, prior.masses, weights, strict=True)
    ]
    return bars(pairs, advantage.figures())


def _dots(advantage: Advantage) -> Any:
    alt = altair()
    before, after, _ = advantage.figures()
    rows = [
        {"when": "before", "p": advantage.before, "text": before},
        {"when": "after", "p": advantage.after, "text": f"at most {after}"},
    ]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("when:N", sort=["before", "after"], title=None, axis=alt.Axis(labelFontSize=14, labelColor=INK)),
        x=alt.X(
            "p:Q",
            title=CHANCE,
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
