"""Gain against cost: how fast an attacker becomes wiser, for several priors and for the worst one."""

from collections.abc import Mapping, Sequence
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.advantage import shown
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal
from nowiser.model.prior import Prior
from nowiser.report.theme import (
    BETTER,
    BLUE,
    GREY,
    INK,
    LIMIT,
    SEQUENCE,
    altair,
    beside_lines,
    data,
    points_axis,
    themed,
)
from nowiser.report.words import down

Case = tuple[Prior | Mapping[str, Prior], Goal]


def gain_curves(
    cases: Mapping[str, Case],
    *,
    costs: Sequence[float] | None = None,
    kind: str = "slope",
    reach: float | None = None,
    victim: Any = None,
) -> Any:
    """Gain of the most exposed victim (or of `victim`) against the cost, one line per case.

    With `reach`, the largest distance in the domain in units of the precision, the dashed line is the bound for an
    attacker about whom nothing is known: tanh(reach·cost/4).
    """
    from math import tanh

    from nowiser.guess.ask import guess

    alt = altair()
    if kind not in ("slope", "jump"):
        raise Misconfigured(f"kind must be 'slope' or 'jump'; found {kind!r}")
    if not isinstance(cases, Mapping):
        raise Misconfigured(
            f"cases must be a mapping from names to pairs of a prior and a goal; found {type(cases).__name__}"
        )
    for name, case in cases.items():
        pair: Any = case  # callers without a type checker may pass something else
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise Misconfigured(f"the case {name!r} must be a prior and a goal; found {type(case).__name__}")
    if not cases:
        raise Misconfigured("cases must name at least one prior with a goal; found none")
    costs = costs or [i / 50 for i in range(101)]
    rows: list[dict[str, Any]] = []
    for name, (prior, goal) in cases.items():
        for c in costs:
            slope, jump = (c, 0.0) if kind == "slope" else (0.0, c)
            found = guess(prior, goal, slope=slope, jump=jump, victim=victim)
            rows.append({"case": name, "cost": c, "gain": found.gain})
    lines = list(cases)
    if reach is not None:
        lines.append("nothing known (worst prior)")
        rows += [{"case": lines[-1], "cost": c, "gain": tanh(reach * c / 4)} for c in costs]
    colours = [*(SEQUENCE[i % len(SEQUENCE)] for i in range(len(cases))), LIMIT][: len(lines)]
    dashes = [[1, 0]] * len(cases) + [[6, 4]]
    colour = alt.Color("case:N", scale=alt.Scale(domain=lines, range=colours), legend=None)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("cost:Q", title=f"cost of everything released ({kind}, in nats)"),
        y=alt.Y("gain:Q", title=BETTER, axis=points_axis(), scale=alt.Scale(domainMin=0)),
        color=colour,
    )
    drawn = base.mark_line().encode(
        strokeDash=alt.StrokeDash("case:N", scale=alt.Scale(domain=lines, range=dashes[: len(lines)]), legend=None)
    )
    who = "most exposed victim" if victim is None else f"victim {shown(victim)}"
    last, top = max(costs), max(r["gain"] for r in rows) or 1.0
    ends = [{"x": last, "y": r["gain"], "case": r["case"], "text": r["case"]} for r in rows if r["cost"] == last]
    chart = alt.layer(drawn, beside_lines(ends, top, colour))
    return themed(
        chart.properties(width=560, height=340),
        "The more is released, the better an attacker guesses",
        f"Largest possible gain for the {who}, over all mechanisms of that cost",
    )


def gain_limit(prior: Prior | Mapping[str, Prior], goal: Goal, cost: Cost, limit: float, *, victim: Any = None) -> Any:
    """Gain against multiples of a cost, with the limit and the largest cost that keeps it.

    Where nothing may be released, the gain is drawn against what one nat would do.
    """
    from nowiser.guess.ask import guess

    alt = altair()
    if not isinstance(cost, Cost):
        raise Misconfigured(f"the cost must be a Cost, as nw.largest gives it; found {type(cost).__name__}")
    along, reach = (cost, 3.0) if cost else (_first(prior, goal), 1.0)
    rows = []
    for i in range(61):
        part = reach * i / 60
        found = guess(prior, goal, slope=along.slope * part, jump=along.jump * part, victim=victim)
        rows.append({"cost": part * _unit(along), "gain": found.gain})
    if cost and rows[20]["gain"] > limit * (1 + 1e-3) + 1e-9:  # of 60 steps up to three times the cost
        raise Misconfigured(
            f"{_words(cost)} allows a gain of {100 * rows[20]['gain']:.3g} points, more than {100 * limit:g}",
            hint="Give the largest cost that keeps the limit: nw.largest(prior, goal, gain=…).",
        )
    at = [{"cost": _unit(along) if cost else 0.0, "gain": limit}]
    ends = alt.Scale(domain=[0, rows[-1]["cost"]], nice=False)
    x = alt.X("cost:Q", title=f"cost of everything released ({_counted(along)})", scale=ends)
    y = alt.Y("gain:Q", title=BETTER, axis=points_axis(), scale=alt.Scale(domainMin=0))
    curve = alt.Chart(data(rows)).mark_line(color=BLUE).encode(x=x, y=y)
    rule = alt.Chart(data(at)).mark_rule(color=LIMIT, strokeDash=[6, 4], strokeWidth=1.5).encode(y="gain:Q")
    drop = alt.Chart(data(at)).mark_rule(color=GREY, strokeDash=[2, 3]).encode(x="cost:Q", y="gain:Q", y2=alt.datum(0))
    dot = alt.Chart(data(at)).mark_point(filled=True, size=90, color=LIMIT, opacity=1).encode(x="cost:Q", y="gain:Q")
    promised = (
        alt.Chart(data([{"gain": limit, "cost": rows[-1]["cost"]}]))
        .mark_text(align="right", dy=-8, color=LIMIT, fontWeight=600)
        .encode(x="cost:Q", y="gain:Q", text=alt.value(f"promised: at most {100 * limit:g} points"))
    )
    words = _words(cost)
    allowed = (
        alt.Chart(data([{"gain": 0, "cost": at[0]["cost"]}]))
        .mark_text(align="left", dx=6, dy=-10, color=INK)
        .encode(x="cost:Q", y="gain:Q", text=alt.value(f"{words} {'are' if ' and ' in words else 'is'} allowed"))
    )
    whose = "" if victim is None else f", victim {shown(victim)}"
    return themed(
        alt.layer(rule, drop, curve, dot, promised, *([allowed] if cost else [])).properties(width=560, height=320),
        _kept(cost, limit),
        f"Goal: {goal}{whose}. A smaller cost takes more noise.",
    )


def _kept(cost: Cost, limit: float) -> str:
    """What the cost does for the limit, as a title."""
    if not cost:
        return f"Nothing may be released if the gain must stay within {100 * limit:g} points"
    words = _words(cost)
    if " and " in words:
        return f"{words.capitalize()} keep the gain within {100 * limit:g} points"
    kind, _, figure = words.partition(" ")
    return f"A {kind} of {figure} keeps the gain within {100 * limit:g} points"


def _words(cost: Cost) -> str:
    """Both figures, short: slope 0.05 and jump 0.1."""
    parts = (("slope", cost.slope), ("jump", cost.jump))
    return " and ".join(f"{kind} {down(nats, 4)}" for kind, nats in parts if nats)


def _unit(cost: Cost) -> float:
    """What counts as one on the axis: the nats of a single kind, or slope and jump as they are together."""
    return 1.0 if cost.slope and cost.jump else cost.slope or cost.jump


def _counted(cost: Cost) -> str:
    """What the axis counts in."""
    if cost.slope and cost.jump:
        return "slope and jump; 1 is what is allowed"
    return f"{'slope' if cost.slope else 'jump'}, in nats"


def _first(prior: Prior | Mapping[str, Prior], goal: Goal) -> Cost:
    """One nat of what a release costs first: slope where distances count, jump where they do not."""
    only = next(iter(prior.values())) if isinstance(prior, Mapping) and len(prior) == 1 else prior
    return Cost(slope=1.0) if "within" in str(goal) and getattr(only, "kind", "") == "line" else Cost(jump=1.0)
