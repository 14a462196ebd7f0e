"""The report of a released table: what was chosen, what it costs, what an attacker still gains. One offline file.

Takes plain values only (what `--json` prints, plus two histograms), so it can be drawn from a stored codebook too.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from nowiser.percent import percent
from nowiser.report.theme import AFTER, BETTER, BLUE, CONFIG, GREY, INK, LIMIT, POINTS, WHOLE, altair

Spec = dict[str, Any]  # Vega-Lite as plain values: a report is drawn without waiting for Altair to be imported

STYLE = (
    "body{margin:2rem auto;max-width:62rem;padding:0 1rem;font-family:system-ui,Helvetica,Arial,sans-serif;"
    "color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.3rem .8rem;text-align:left;"
    "border-bottom:1px solid #d8dee4}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    "tr.chosen{background:#eaf3fa;font-weight:600}h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}"
    ".note{padding:.5rem .8rem;background:#fff8e5;border-left:3px solid #d4a72c}"
    ".lead{font-size:1.1rem}.quiet{color:#6e7781}svg{max-width:100%;height:auto}"
)


SIZES_ALONE = "The sizes of groups alone lead to this version: that it was chosen tells nothing about anybody."
EVERYBODY = (
    "counted",
    "bound",
    "worlds",
    "sampled",
)  # figures that hold for every victim; the others are about the average one


def points(value: float) -> str:
    """A difference of two shares."""
    return f"{100 * value:.1f} points"


def number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def optimal_words(value: Any) -> str:
    if value is True:
        return "proved best"
    return "–" if value is None else f"at most {value:.4g} from the best"


def drawn(content: Mapping[str, Any]) -> list[str]:
    """The charts of the report as SVG."""
    return [svg(chart) for chart in charts(content)]


def html(content: Mapping[str, Any], *, whole_page: bool, figures: Sequence[str] = ()) -> str:
    """The report; without `whole_page` only what a notebook shows. `figures` are its charts (see `drawn`)."""
    chosen = content["candidates"][content["chosen"]]
    parts = [f'<p class="lead">{escape(sentence(content, chosen))}</p>', _candidates(content)]
    parts.append(_models(chosen))
    parts.append(_guesses(chosen))
    parts.append(_risks(content.get("risks") or {}))
    if whole_page:
        parts.insert(0, _for_whom(chosen))
        parts.extend(f"<figure>{figure}</figure>" for figure in figures)
        parts.append(_columns(content))
        parts.append(_recipe(content))
    body = "\n".join(parts)
    if not whole_page:
        return f"<style>{STYLE}</style><div>{body}</div>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Release report</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>Release report</h1>\n{body}\n</body></html>\n"
    )


# groups of look-alikes bound what her own look-alikes tell, and nothing else
TAUGHT = ", by the rows that look like hers alone; what the release teaches about people in general comes on top"


def sentence(content: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    """What happened, in one breath."""
    rows, kept = content["rows"], chosen["rows"]
    words = f"{kept:,} of {rows:,} rows are released in {_groups(chosen['groups'])} of look-alikes"
    if chosen["smallest_group"]:
        words += f", the smallest with {chosen['smallest_group']:,}"
    worst = max(chosen["guesses"], key=lambda g: g["after"] - g["before"], default=None)
    if worst is not None:
        words += f". {about_guess(worst)}"
    return words + "." + (f" {chosen['choice']}" if chosen.get("choice", SIZES_ALONE) != SIZES_ALONE else "")


def about_guess(guess: Mapping[str, Any]) -> str:
    """A before → after as a sentence that claims no more than was found: for every victim, or on average."""
    gained, way = points(guess["after"] - guess["before"]), f"{percent(guess['before'])} to {percent(guess['after'])}"
    who, column = _who(guess["attacker"]), guess.get("goal") or guess["column"]
    if guess["how"] in EVERYBODY:
        said = f"{who} guesses nobody's {column} more than {gained} better: at most from {way}"
        return said + (TAUGHT if guess["how"] == "counted" else "")
    high = guess.get("high")
    unsure = "" if high is None else f", up to {percent(high)} within 95 % confidence"
    return f"{who} guesses {column} right at least {gained} better, on average over victims: from {way}{unsure}"


def _who(attacker: str) -> str:
    """What he knows or has, as the subject of a sentence."""
    return "Any attacker" if attacker.startswith("any attacker") else f"An attacker who {attacker}"


def _groups(count: int) -> str:
    return "1 group" if count == 1 else f"{count:,} groups"


def _for_whom(chosen: Mapping[str, Any]) -> str:
    words = "For the custodian only. Publish the data and its codebook; keep this report."
    if chosen.get("private"):
        words += (
            f" Figures about {', '.join(chosen['private'])} other than ceilings were computed from true values whose "
            "release was paid for once: they are not in the codebook, and publishing them would break the promise."
        )
    return f'<p class="note">{escape(words)}</p>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], chosen: int | None = None) -> str:
    def cell(tag: str, at: int, text: str) -> str:
        right = ' class="n"' if at else ""
        return f"<{tag}{right}>{escape(text)}</{tag}>"

    lines = ["<tr>" + "".join(cell("th", i, h) for i, h in enumerate(head)) + "</tr>"]
    for r, row in enumerate(rows):
        mark = ' class="chosen"' if r == chosen else ""
        lines.append(f"<tr{mark}>" + "".join(cell("td", i, c) for i, c in enumerate(row)) + "</tr>")
    return f"<table>{''.join(lines)}</table>"


def _candidates(content: Mapping[str, Any]) -> str:
    rows = [
        (
            c["title"],
            number(c["loss"]),
            number(c["suppressed"]),
            number(c["smallest_group"]),
            "–" if c["gain"] is None else points(c["gain"]),
            optimal_words(c["optimal"]),
        )
        for c in content["candidates"]
    ]
    head = ("candidate", "loss", "suppressed rows", "smallest group", "gain", "proof")
    return "<h2>Candidates</h2>" + _table(head, rows, content["chosen"])


def _models(chosen: Mapping[str, Any]) -> str:
    rows = [
        (
            m["model"] + (f" of {about}" if (about := m["column"] or m.get("goal")) else ""),
            number(m["limit"]),
            number(m["value"]),
        )
        for m in chosen["models"]
    ]
    return "<h2>What is promised</h2>" + _table(("model", "limit", "found in the file"), rows) if rows else ""


def _guesses(chosen: Mapping[str, Any]) -> str:
    rows = [
        (
            f"{g.get('goal') or g['column']}: {g['attacker']}",
            percent(g["before"]),
            percent(g["after"]),
            "every victim" if g["how"] in EVERYBODY else "on average",
            g["how"],
        )
        for g in chosen["guesses"]
    ]
    head = ("attacker", "before", "after", "holds for", "how")
    return "<h2>What an attacker can guess</h2>" + _table(head, rows) if rows else ""


ATTACKER = (
    "The attacker of these figures knows somebody's quasi-identifiers, all of them, and that the person is in the "
    "table. He does not know the other rows, and sees no other release about the same people."
)


def _risks(risks: Mapping[str, Any]) -> str:
    """The table as it was beside the one that is released."""
    if not risks:
        return ""
    before, after = risks["before"], risks["after"]

    def told(name: str, value: Any) -> str:
        return percent(value) if name.endswith("risk") else number(value)

    rows = [(name, told(name, before[name]), told(name, after[name])) for name in before]
    head = "<h2>Risk of being found, before and after</h2>"
    return f'{head}<p class="quiet">{escape(ATTACKER)}</p>' + _table(("", "as it was", "released"), rows)


def _recipe(content: Mapping[str, Any]) -> str:
    """What decided the release, and when."""
    rows = list((content.get("recipe") or {}).items())
    if content.get("date"):
        rows.append(("made on", content["date"]))
    lines = "".join(f"<tr><td>{escape(key)}</td><td>{escape(str(words))}</td></tr>" for key, words in rows)
    return f"<h2>Recipe</h2><table>{lines}</table>" if rows else ""


def _columns(content: Mapping[str, Any]) -> str:
    book = content["codebook"]
    losses = (content.get("risks") or {}).get("losses", {})
    levels: dict[str, Any] = {}
    for step in book["steps"]:
        levels |= step.get("levels", {})
    rows = []
    for name, column in book["columns"].items():
        level = levels.get(name)
        done = f"level {level['level']} of {level['of']} ({level['hierarchy']})" if level else "–"
        loss = losses.get(name)
        told = (number(column["distinct"]), "–" if loss is None else percent(loss), done)
        rows.append((name, column["role"], *told))
    left = ", ".join(book["left_out"])
    words = f'<p class="quiet">Left out: {escape(left)}.</p>' if left else ""
    head = ("column", "role", "distinct values", "information lost", "generalised")
    return "<h2>Columns</h2>" + _table(head, rows) + words


def charts(content: Mapping[str, Any]) -> list[Spec]:
    """Loss against gain of the candidates; the gain of the released rows; the sizes of the groups."""
    out = []
    if len([c for c in content["candidates"] if c["gain"] is not None and c["loss"] is not None]) > 1:
        out.append(candidates_chart(content))
    if content.get("row_gains"):
        out.append(gains_chart(content))
    if content.get("group_sizes"):
        out.append(sizes_chart(content))
    return out


def _spec(chart: Spec, title: str, *subtitle: str) -> Spec:
    """The chart with our look, and a title that says its message."""
    head = {"text": title, **({"subtitle": list(subtitle)} if subtitle else {})}
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "title": head, "config": CONFIG, **chart}


def _q(field: str, title: str | None, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, **more}


def candidates_chart(content: Mapping[str, Any]) -> Spec:
    rows = [
        {"loss": c["loss"], "gain": c["gain"], "title": c["title"], "chosen": i == content["chosen"], "at": i}
        for i, c in enumerate(content["candidates"])
        if c["gain"] is not None and c["loss"] is not None
    ]
    colour = {"condition": {"test": "datum.chosen", "value": AFTER}, "value": GREY}

    def panel(field: str, title: str, ticks: Spec, written: str, *, names: bool) -> Spec:
        axis = {"labels": names, "labelLimit": 220, "title": None}
        words = {
            "transform": [{"calculate": written, "as": "text"}],
            "mark": {"type": "text", "align": "left", "dx": 5},
            "encoding": {"text": {"field": "text", "type": "nominal"}},
        }
        return {
            "width": 250,
            "height": 34 * len(rows),
            "encoding": {
                "x": _q(field, title, axis={**ticks, "tickCount": 4}, scale={"zero": True}),
                "y": {"field": "title", "type": "nominal", "sort": {"field": "at"}, "axis": axis},
            },
            "layer": [{"mark": {"type": "bar", "height": 18}, "encoding": {"color": colour}}, words],
        }

    pair = [
        panel(
            "loss", "loss of information (0: none, 1: all)", {"format": "~g"}, "format(datum.loss, '.3f')", names=True
        ),
        panel("gain", f"best attacker: {BETTER}", POINTS, "format(100 * datum.gain, '.1f')", names=False),
    ]
    chart = {"data": {"values": rows}, "hconcat": pair, "spacing": 60}
    return _spec(chart, "Every candidate keeps the promises", "shorter is better; blue is released")


def gains_chart(content: Mapping[str, Any]) -> Spec:
    rows = [{"low": low, "high": high, "rows": n, "none": 0} for low, high, n in content["row_gains"]["bins"]]
    bars = {
        "data": {"values": rows},
        "mark": {"type": "rect", "color": BLUE, "stroke": "white", "strokeWidth": 1},
        "encoding": {
            "x": _q("low", f"guess of a row's own value: {BETTER}", axis=POINTS, scale={"nice": False, "padding": 12}),
            "x2": {"field": "high"},
            "y": _q("rows", "released rows", axis=WHOLE, scale={"domainMin": 0}),
            "y2": {"field": "none"},
        },
    }
    column = content["row_gains"]["column"]
    most = points(content["row_gains"]["most"])
    marks: list[Spec] = [
        {"mark": {"type": "rule", "color": LIMIT, "strokeDash": [4, 3]}},
        {"mark": {"type": "text", "align": "right", "dx": -6, "dy": 6, "color": LIMIT, "fontWeight": 600}}
        | {"encoding": {"y": {"value": 0}, "text": {"value": f"most: {most}"}}},
    ]
    limit = {
        "data": {"values": [{"x": content["row_gains"]["most"]}]},
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
        "layer": marks,
    }
    return _spec({"layer": [bars, limit]}, f"No guess about {column} gains more than {most}")


def sizes_chart(content: Mapping[str, Any]) -> Spec:
    sizes = content["group_sizes"]
    held = [i for i, (_, n) in enumerate(sizes) if n]
    rows = [{"size": sizes[i][0], "rows": sizes[i][1], "at": i} for i in range(held[0], held[-1] + 1)] if held else []
    place = {"field": "size", "type": "nominal", "sort": {"field": "at"}, "axis": {"labelAngle": 0}}
    words = {"mark": {"type": "text", "dy": -7, "color": INK}, "encoding": {"text": _q("rows", None, format=",d")}}
    bars = {
        "data": {"values": rows},
        "width": 560,
        "encoding": {
            "x": place | {"title": "rows that look alike (itself among them)"},
            "y": _q("rows", "released rows", axis=WHOLE),
        },
        "layer": [{"mark": {"type": "bar", "color": BLUE, "width": {"band": 0.8}}}, words],
    }
    return _spec(bars, "How many rows look like a released row")


def picture(content: Mapping[str, Any]) -> Any:
    """The chart a notebook draws: the row gains, or the group sizes where nothing sensitive is named."""
    return altair().Chart.from_dict(first_chart(content))


def first_chart(content: Mapping[str, Any]) -> Spec:
    return gains_chart(content) if content.get("row_gains") else sizes_chart(content)


def svg(chart: Spec) -> str:
    import vl_convert as vlc

    return str(vlc.vegalite_to_svg(chart))


def risk_words(content: Mapping[str, Any]) -> str:
    """A measured table in words: models first, then what an attacker gains, then the registered measures."""
    lines = [f"{content['rows']:,} rows in {content['groups']:,} groups of look-alikes", ""]
    width = max((len(_titled(m)) for m in content["models"]), default=0)
    lines.extend(f"{_titled(m):<{width}}  {number(m['value'])}" for m in content["models"])
    for g in content["guesses"]:
        gained, goal = points(g["after"] - g["before"]), g.get("goal") or g["column"]
        way = f"{percent(g['before'])} → {percent(g['after'])}"
        lines.append(f"\nA guess of {goal} gains at most {gained}: {way}")
        lines.append("(by the rows that look like hers alone; nowiser attack tries what else there is)")
    for title, values in content["measures"].items():
        lines.append(f"\n{title}")
        lines.extend(f"  {name}: {_short(value)}" for name, value in values.items() if not isinstance(value, dict))
    return "\n".join(lines)


def _titled(model: Mapping[str, Any]) -> str:
    extra = model.get("distance") or model.get("estimator")
    if model.get("within") is not None:
        extra = f"within {model['within']:g}"
    about = f" of {model['column']}" if model["column"] else ""
    return f"{model['model']}{about}" + (f" ({extra})" if extra else "")


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} values" if len(value) > 6 else ", ".join(_short(v) for v in value)
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def risk_html(content: Mapping[str, Any], pictures: Mapping[str, Any]) -> str:
    """What a notebook shows of a measured table."""
    rows = [(_titled(m), number(m["value"])) for m in content["models"]]
    head = f'<p class="lead">{content["rows"]:,} rows in {content["groups"]:,} groups of look-alikes</p>'
    chart = svg(first_chart(pictures))
    return f"<style>{STYLE}</style><div>{head}{_table(('model', 'value'), rows)}{chart}</div>"
