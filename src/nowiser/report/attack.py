"""The report of attacks: words for the terminal, one offline HTML file, charts. Takes what `--json` prints."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nowiser.percent import percent
from nowiser.report.attack_curves import pictures
from nowiser.report.compare import STYLE, svg_of, write_page
from nowiser.report.theme import AFTER, GREY, LIMIT, ORANGE, altair, data, named_lines, percent_axis, themed

DASH = "–"
VERDICTS = {
    "refuted": "REFUTED twice",
    "could not have won": "could not have won",
    "not decided": "not decided",
    "no claim": "",
    "not comparable": "no promise",
}


def rate(found: Mapping[str, Any] | None, *, interval: bool = True) -> str:
    if found is None:
        return DASH
    if not interval or found["low"] == found["high"]:
        return percent(found["value"])
    return f"{percent(found['value'])} [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"


def cut(outcome: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """The surest victims with the highest lower end."""
    shares = {s: r for s, r in outcome["surest"].items() if float(s) < 1}
    if not shares:
        return "", None
    best = max(shares, key=lambda s: shares[s]["low"])
    return f"{100 * float(best):g} %", shares[best]


def verdict(outcome: Mapping[str, Any]) -> str:
    said = VERDICTS.get(outcome["verdict"], outcome["verdict"])
    if outcome["verdict"] == "reached up to":
        highest = max(r["high"] for r in outcome["surest"].values())
        return f"reached at most {percent(highest)}"
    return str(said)


def called(content: Mapping[str, Any], these: str = "outcomes") -> list[str]:
    """Of the attacks; with the secret where several are guessed."""
    every = {o["column"] for o in (*content["outcomes"], *content["not_run"])} - {None}
    several = len(every) > 1
    return [f"{o['attack']} → {o['column']}" if several and o["column"] else o["attack"] for o in content[these]]


def rows(content: Mapping[str, Any]) -> list[list[str]]:
    out = []
    for name, o in zip(called(content), content["outcomes"], strict=True):
        share, sure = cut(o)
        out.append(
            [
                name,
                rate(o["before"], interval=False),
                rate(o["control"], interval=False),
                rate(o["after"]),
                DASH if sure is None else f"{share}: {rate(sure)}",
                rate(o["unprotected"], interval=False),
                verdict(o),
            ]
        )
    return out


HEAD = ("attack", "before", "outside", "members", "surest", "unprotected", "")


def due(content: Mapping[str, Any]) -> list[str]:
    """Members − outside, where there were people outside."""
    told = [
        f"{name} {100 * d['value']:+.1f} [{100 * d['low']:+.1f}, {100 * d['high']:+.1f}]"
        for o, name in zip(content["outcomes"], called(content), strict=True)
        if (d := o["advantage"]) is not None
    ]
    return [f"Due to her being in the release (members − outside, points): {'; '.join(told)}."] if told else []


def sentences(content: Mapping[str, Any]) -> list[str]:
    """What was promised, and the attack that reached most."""
    out = [f"{n[:1].upper()}{n[1:]}." for n in content["notes"]]
    out += [f"Promised: {c['words']}." for c in content["claims"]]
    values = [o for o in content["outcomes"] if o["goal"] == "value" and o["verdict"] != "not comparable"]
    if values:
        best = max(values, key=lambda o: o["after"]["value"] - o["before"]["value"])
        words = (
            f"The attack that gained most, {best['attack']}, knows {best['knows']}: right about {rate(best['after'])}"
            f" of {best['victims']:,} members, {percent(best['before']['value'])} without the release"
        )
        if best["control"] is not None:
            words += (
                f". It is right about {rate(best['control'])} of people who are not in it: that part is what the"
                " release teaches about people like them"
            )
        out.append(f"{words}. Others may do better.")
    passed = [
        f"{name}, {said}" for name, o in zip(called(content), content["outcomes"], strict=True) if (said := taught(o))
    ]
    if passed:
        out.append(
            f"The ceiling is passed for people outside too ({'; '.join(passed)}): that is what the release teaches"
            " about people in general, which counting look-alikes does not bound."
        )
    return out


def taught(outcome: Mapping[str, Any]) -> str:
    """Where a ceiling is passed for people outside too, being in the release is not the reason."""
    above = [
        (s, r) for s, r in outcome["surest_outside"].items() if r["low"] > (outcome["ceiling"] or 1) and float(s) < 1
    ]
    if outcome["verdict"] != "refuted" or not above:
        return ""
    share, found = max(above, key=lambda pair: pair[1]["low"])
    return f"{rate(found)} of the surest {100 * float(share):g} %"


def named(content: Mapping[str, Any]) -> list[str]:
    """Attackers who name records may be silent: how often they speak, how often they are right then, and whom else."""
    out = []
    for o in content["outcomes"]:
        if o["goal"] != "row":
            continue
        right = "" if o["precision"] is None else f", right in {rate(o['precision'])} of these"
        wrong = (
            "" if o["misnamed"] is None else f"; of people whose record was taken out he names {rate(o['misnamed'])}"
        )
        out.append(f"{o['attack']} names {percent(o['claimed'])} of the victims{right}{wrong}.")
    return out


def left_out(content: Mapping[str, Any]) -> list[str]:
    """What was not run, with the attacks that share a reason together."""
    reasons: dict[str, list[str]] = {}
    for name, n in zip(called(content, "not_run"), content["not_run"], strict=True):
        reasons.setdefault(n["why"], []).append(name)
    return [f"{', '.join(names)}: not run: {why}" for why, names in reasons.items()]


def words(content: Mapping[str, Any]) -> Any:
    """For the terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(s) for s in sentences(content)]
    table = Table(box=None, pad_edge=False)
    for i, name in enumerate(HEAD):
        table.add_column(name, justify="left" if i in {0, len(HEAD) - 1} else "right", no_wrap=i < len(HEAD) - 1)
    for row in rows(content):
        table.add_row(*map(Text, row))
    if content["outcomes"]:
        parts += [Text(""), table]
    parts += [Text(""), *(Text(s) for s in (*due(content), *named(content)))]
    parts += [Text(s, style="dim") for s in left_out(content)]
    parts.append(Text(f"{intervals(content)} Seed {content['seed']}.", style="dim"))
    return Group(*parts)


def intervals(content: Mapping[str, Any]) -> str:
    return (
        f"Each interval holds with {100 * content['level']:.4g} %; those of members, all of them and the surest, hold"
        " together with 95 %. An attack that fails proves nothing."
    )


def catalogue(attacks: Sequence[Mapping[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in ("attack", "against", "guesses", "knows", "source"):
        table.add_column(name)
    for a in attacks:
        table.add_row(*(Text(str(a[k])) for k in ("name", "against", "goal", "knows", "source")))
    return table


def ladder(content: Mapping[str, Any]) -> Any:
    """Per attack before, outside, members and unprotected as dots with bars; ceilings as lines."""
    alt = altair()
    runs = {"before": "before", "control": "outside", "after": "members", "unprotected": "unprotected"}
    points = [
        {"attack": name, "run": said, **{k: o[run][k] for k in ("value", "low", "high")}}
        for o, name in zip(content["outcomes"], called(content), strict=True)
        for run, said in runs.items()
        if o[run] is not None
    ]
    order = called(content)
    shades = dict(zip(runs.values(), (GREY, ORANGE, AFTER, LIMIT), strict=True))
    seen = [said for said in runs.values() if any(p["run"] == said for p in points)]
    base = alt.Chart(data(points))
    y = alt.Y("attack:N", sort=order, title=None)
    colour = alt.Color(
        "run:N",
        scale=alt.Scale(domain=seen, range=[shades[said] for said in seen]),
        legend=alt.Legend(orient="bottom", title=None),
    )
    x = alt.X("value:Q", title="right guesses", scale=alt.Scale(domain=[0, 1]), axis=percent_axis())
    shift = alt.YOffset("run:N", sort=list(runs.values()))
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(
            x=alt.X("low:Q", title="right guesses"), x2="high:Q", y=y, color=colour, yOffset=shift
        ),
        base.mark_circle(size=70, opacity=1).encode(x=x, y=y, color=colour, yOffset=shift),
    ]
    ceilings = [
        {"attack": name, "ceiling": o["ceiling"]}
        for name, o in zip(order, content["outcomes"], strict=True)
        if o["ceiling"] is not None and o["verdict"] != "not comparable"
    ]
    if ceilings:  # each beside the attacks it is held against
        tick = alt.Chart(data(ceilings)).mark_tick(color=LIMIT, thickness=1.5, size=50)
        layers.append(tick.encode(x="ceiling:Q", y=y))
    subtitle = f"Bars: intervals, each with {100 * content['level']:.4g} %."
    subtitle += " Upright lines: what was promised at most." if ceilings else ""
    title = "How often attackers guess right" if points else "No attack was run"
    return themed(alt.layer(*layers).properties(width=520, height=max(80, 56 * len(order))), title, subtitle)


def surest(content: Mapping[str, Any]) -> Any:
    """Right guesses among the victims an attacker is surest of, members and people outside."""
    alt = altair()
    points = [
        {"attack": name, "who": who, "share": float(s), **{k: r[k] for k in ("value", "low", "high")}}
        for o, name in zip(content["outcomes"], called(content), strict=True)
        if o["goal"] == "value" and o["verdict"] != "not comparable"
        for who, cuts in (("outside", o["surest_outside"]), ("members", o["surest"]))
        for s, r in sorted(cuts.items(), key=lambda cut: float(cut[0]))
    ]
    base = alt.Chart(data(points))
    x = alt.X(
        "share:Q",
        title="share of the victims, those he is surest of",
        scale=alt.Scale(type="log", domain=[0.9 * min((p["share"] for p in points), default=0.1), 1.05], nice=False),
        axis=percent_axis(values=sorted({p["share"] for p in points})),
    )
    y = alt.Y("value:Q", title="right guesses", scale=alt.Scale(domain=[0, 1]), axis=percent_axis())
    dash = alt.StrokeDash("who:N", scale=alt.Scale(domain=["members", "outside"], range=[[1, 0], [5, 3]]), legend=None)
    inside = [p for p in points if p["who"] == "members"]
    colour, names = named_lines(inside, "attack", "share", "value", 1.0)
    lines = base.mark_line(point=True).encode(x=x, y=y, color=colour, strokeDash=dash, detail="who:N")
    bars = alt.Chart(data(inside)).mark_rule(opacity=0.4)
    layers = [bars.encode(x=x, y=alt.Y("low:Q", title="right guesses"), y2="high:Q", color=colour), lines, *names]
    ceilings = [{"ceiling": c["ceiling"]} for c in content["claims"] if c["goal"] == "value"]
    if ceilings:
        layers.append(alt.Chart(data(ceilings)).mark_rule(color=LIMIT, strokeDash=[4, 3]).encode(y="ceiling:Q"))
    chart = alt.layer(*layers).properties(width=520, height=320)
    subtitle = "He orders them himself, without knowing the truth."
    if any(p["who"] == "outside" for p in points):
        subtitle += " Dashed curves: people outside."
    return themed(chart, "The victims an attacker is surest of", subtitle)


def html(content: Mapping[str, Any], *, whole_page: bool) -> str:
    """The report; without `whole_page` only what a notebook shows."""
    parts = [f"<p>{escape(s)}</p>" for s in sentences(content)]
    head = "".join(f"<th>{escape(h)}</th>" for h in HEAD)
    body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows(content))
    parts.append(f"<table><tr>{head}</tr>{body}</table>")
    parts += [
        f'<p class="quiet">{escape(s)}</p>'
        for s in (*due(content), *named(content), *left_out(content), intervals(content))
    ]
    if not whole_page:
        return "".join(parts)
    if content["outcomes"]:
        parts.append(svg_of(ladder(content)))
    if any(o["goal"] == "value" and len(o["surest"]) > 1 for o in content["outcomes"]):
        parts.append(svg_of(surest(content)))
    parts += [svg_of(picture) for picture in pictures(content, called(content))]
    note = "<p>Made from true values: for the custodian only.</p>"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>What attackers reach</title>'
        f"<style>{STYLE}</style><h1>What attackers reach</h1>{note}{''.join(parts)}</html>"
    )


def save_report(content: Mapping[str, Any], path: Path) -> Path:
    return write_page(html(content, whole_page=True), path)
