"""Graphs in words and pictures: answers about links, releases, who is still found."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from nowiser.percent import percent
from nowiser.report.compare import STYLE, svg_of, write_page
from nowiser.report.theme import AFTER, GREY, LIMIT, PALE, altair, data, themed

SHOWN = 12  # rows of an answer that are printed
STEPS = 150  # of the layout


def number(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)


def answered(content: Mapping[str, Any]) -> str:
    """An answer about links, or what it would cost."""
    lines = [f"{content['question']}; a record is {content['record']}."]
    if "rows" in content:
        lines += _rows(content)
        lines += [f"Note: {n}." for n in content["notes"]]
    else:
        bar = content["expected"]["error"]
        said = ([f"± {number(bar)} (95 %)"] if bar is not None else []) + [content["expected"]["words"]]
        lines.append(f"Expected: {'; '.join(s for s in said if s)}.")
    for guess in content["guesses"]:
        how = ", on average" if guess["promise"] == "on average" else ""
        lines.append(
            f"{guess['guess']}{how}: {percent(guess['before'])} → at most {percent(guess['after'])}"
            f" (limit {percent(guess['limit'])})"
        )
    cost = "This answer was given before: it is free." if content["stored"] else f"{percent(content['spent'])} used"
    lines.append(f"{cost}; {percent(content['left'])} of the allowance is left.")
    return "\n".join(lines)


def _rows(content: Mapping[str, Any]) -> list[str]:
    columns, bars = content["columns"], content["error"]
    if len(content["rows"]) == 1:
        row = content["rows"][0]
        return [f"{c}: {number(v)}{_bar(b)}" for c, v, b in zip(columns, row, bars, strict=True)]
    cells = [[f"{number(v)}{_bar(b)}" for v, b in zip(row, bars, strict=True)] for row in content["rows"][:SHOWN]]
    widths = [max(len(c), *(len(row[i]) for row in cells)) for i, c in enumerate(columns)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(columns, widths, strict=True))]
    lines += ["  ".join(v.ljust(w) for v, w in zip(row, widths, strict=True)) for row in cells]
    more = len(content["rows"]) - len(cells)
    return [*lines, *([f"… and {more:,} more rows (--json, -o)"] if more > 0 else [])]


def _bar(bar: Any) -> str:
    return "" if bar is None else f" ± {number(bar)}"


def answered_html(content: Mapping[str, Any]) -> str:
    return f"<pre>{escape(answered(content))}</pre>"


def published(content: Mapping[str, Any]) -> str:
    """A release: what is promised, what attackers reach, what is left of the graph."""
    lines = _beginning(content)
    if content["attacks"] is not None:
        lines += [found(o) for o in content["attacks"]["outcomes"]]
        lines.append("These are attacks that were tried; others may do better.")
    if content["figures"]:
        lines += ["", *_figures(content["figures"])]
    lines += [f"Written: {', '.join(content['files'])}"] if content["files"] else []
    return "\n".join(lines)


def _beginning(content: Mapping[str, Any]) -> list[str]:
    """What was noticed, how large the graph is, and what is promised."""
    links = content["links"]
    told = f"{number(links['original'])} links" + (f" → {number(links['released'])}" if links["released"] else "")
    noticed = [f"{n[:1].upper()}{n[1:]}." for n in content["notes"]]
    return [*noticed, f"{number(content['people'])} people, {told}; method {content['method']}.", *content["promises"]]


def found(outcome: Mapping[str, Any]) -> str:
    """One attack in one line."""
    who = {"row": "people found", "link": "links guessed", "value": "labels guessed"}[outcome["goal"]]
    after, before, bare = (outcome[k] for k in ("after", "before", "unprotected"))
    beside = "" if bare is None else f"; with all links as they were {percent(bare['value'])}"
    return (
        f"  {outcome['attack']}: {who} in {percent(after['value'])} of cases"
        f" [{100 * after['low']:.1f}, {100 * after['high']:.1f}], {percent(before['value'])} without the release"
        f"{beside}"
    )


def _figures(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    rows = _before_and_after(figures)
    width = max(len(name) for name, *_ in rows)
    lines = [f"{'':{width}}  {'original':>12}  {'released':>12}"]
    return [*lines, *(f"{name:{width}}  {old:>12}  {new:>12}" for name, old, new in rows), _kept(figures["lost"])]


def _before_and_after(figures: Mapping[str, Mapping[str, float]]) -> list[tuple[str, str, str]]:
    return [(n, number(figures["original"][n]), number(figures["released"][n])) for n in figures["original"]]


def _kept(lost: Mapping[str, float]) -> str:
    again = percent(max(0.0, 1 - lost["communities (1 - agreement)"]))
    return f"links kept: {percent(lost['links kept'])}; communities found again: {again}"


def layout(links: Any, people: int, seed: int = 0) -> Any:
    """Places in the plane by springs and repulsion (Fruchterman and Reingold), the same for the same graph.

    People without links stand in a row below the others.
    """
    random = np.random.default_rng(seed)
    linked = np.unique(links)
    number = np.full(people, -1)
    number[linked] = np.arange(len(linked))
    a, b = number[links[:, 0]], number[links[:, 1]]
    at = random.normal(size=(len(linked), 2))
    best = 2.0 / np.sqrt(max(len(linked), 1))
    for step in range(STEPS):
        apart = at[:, None] - at[None]
        far = np.sqrt((apart**2).sum(-1)) + 1e-6
        move = (apart * (best**2 / far**2)[..., None]).sum(1) - 0.5 * at
        along = (at[a] - at[b]) * (np.sqrt(((at[a] - at[b]) ** 2).sum(1)) / best / 4)[:, None]
        np.add.at(move, a, -along)
        np.add.at(move, b, along)
        size = np.sqrt((move**2).sum(1, keepdims=True)) + 1e-9
        at = at + move / size * np.minimum(size, 0.2 * (1 - step / STEPS))
    placed = np.zeros((people, 2))
    alone = np.setdiff1d(np.arange(people), linked)
    low, high = (at.min(axis=0), at.max(axis=0)) if len(at) else (np.zeros(2), np.ones(2))
    placed[linked] = at
    placed[alone, 0] = np.linspace(low[0], high[0], len(alone) + 2)[1:-1]
    placed[alone, 1] = low[1] - 0.08 * (high[1] - low[1])
    return placed


def before_and_after(made: Any) -> Any:
    """The original and the release side by side, everybody at the same place; who is found for certain is marked."""
    alt = altair()
    graph, released = made.original, made.graph
    if released is None or made.found is None:
        return _degrees(made)
    at = layout(graph.links, graph.people)
    back = np.argsort(made.place)
    hit = made.found
    pictures = []
    for title, links in (("before", graph.links), ("after", np.sort(back[released.links], axis=1))):
        lines = [
            {"x": float(at[a, 0]), "y": float(at[a, 1]), "x2": float(at[b, 0]), "y2": float(at[b, 1])} for a, b in links
        ]
        dots = [
            {"x": float(x), "y": float(y), "who": "found" if hit[i] else "not found"} for i, (x, y) in enumerate(at)
        ]
        x, y = (alt.X("x:Q", axis=None), alt.Y("y:Q", axis=None))
        edges = alt.Chart(data(lines)).mark_rule(color=PALE, strokeWidth=0.7).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
        colour = alt.Color(
            "who:N",
            scale=alt.Scale(domain=["found", "not found"], range=[LIMIT, AFTER]),
            legend=alt.Legend(orient="bottom", title=None),
        )
        fill = colour if title == "after" else alt.value(GREY)
        nodes = alt.Chart(data(dots)).mark_circle(size=30, opacity=1).encode(x=x, y=y, color=fill)
        pictures.append(alt.layer(edges, nodes).properties(width=380, height=380, title=title))
    share = float(np.mean(hit)) if len(hit) else 0.0
    subtitle = f"Orange: people whom an attacker who knows all links finds in the release ({percent(share)})."
    return themed(alt.hconcat(*pictures), f"The graph before and after: {made.method}", subtitle)


def _degrees(made: Any) -> Any:
    """How many people have how many links, before and after, where a picture of all links would be a blot."""
    alt = altair()
    shown = [("before", made.original)] + ([("after", made.graph)] if made.graph is not None else [])
    points = []
    for name, graph in shown:
        counts = np.bincount(graph.degrees)
        points += [{"graph": name, "links": int(d), "people": int(n)} for d, n in enumerate(counts) if n and d]
    chart = (
        alt.Chart(data(points))
        .mark_circle(opacity=0.7)
        .encode(
            x=alt.X("links:Q", scale=alt.Scale(type="log"), title="links of a person"),
            y=alt.Y("people:Q", scale=alt.Scale(type="log"), title="people"),
            color=alt.Color("graph:N", scale=alt.Scale(domain=["before", "after"], range=[GREY, AFTER]), title=None),
        )
    )
    return themed(chart, "How many people have how many links", f"Before and after: {made.method}.")


def page(made: Any, *, whole: bool = True) -> str:
    """The report as HTML that loads nothing from elsewhere."""
    content = made.to_json()
    body = f"<h1>A released graph: {escape(made.method)}</h1><p>Made from true values: for the custodian only.</p>"
    body += "".join(f"<p>{escape(line)}</p>" for line in _beginning(content))
    body += f"<figure>{svg_of(made.chart())}</figure>"
    if made.attacks is not None:
        body += f"<h2>What attackers reach</h2>{made.attacks._repr_html_()}"
    if content["figures"]:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{old}</td><td>{new}</td></tr>"
            for name, old, new in _before_and_after(content["figures"])
        )
        head = "<tr><th></th><th>original</th><th>released</th></tr>"
        body += f"<h2>What is left of the graph</h2><table>{head}{rows}</table>"
        body += f"<p>{escape(_kept(content['figures']['lost']).capitalize())}.</p>"
    if not whole:
        return body
    head = "<!doctype html><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    return f"{head}<title>A released graph</title><style>{STYLE}figure{{margin:1rem 0}}</style>{body}"


def save_report(made: Any, path: Path) -> Path:
    return write_page(page(made), path)
