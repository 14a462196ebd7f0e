"""The report of a comparison: words for the terminal, one offline HTML file, charts. Takes what `--json` prints."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.percent import percent
from nowiser.report.theme import AFTER, BEFORE, GREY, altair, data, percent_axis, themed

NOBODY = "synthetic"  # rows that belong to nobody

STYLE = (
    "body{margin:2rem auto;max-width:62rem;padding:0 1rem;font-family:system-ui,Helvetica,Arial,sans-serif;"
    "color:#1b1f24}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.3rem .8rem;text-align:left;"
    "border-bottom:1px solid #d8dee4}td+td,th+th{text-align:right;font-variant-numeric:tabular-nums}"
    "h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}.lead{font-size:1.1rem}.quiet{color:#6e7781}"
    "svg{max-width:100%;height:auto}"
)


def sentence(content: Mapping[str, Any]) -> str:
    """The comparison in one breath."""
    rows = content["rows"]
    words = f"{rows['released']:,} rows released of {rows['original']:,}"
    worst = content["strongest"]
    if worst is not None:
        words += (
            f". The strongest attacker {worst['attacker']} and guesses {worst['goal']} right in "
            f"{percent(worst['after'])} of the cases, {percent(worst['before'])} before"
        )
    return words + f". {percent(content['utility']['kept'])} of the two-column distributions are kept."


def whose(alignment: str) -> str:
    """How it is known which released row is whose, as a sentence."""
    if alignment == NOBODY:
        return "No row is anybody's: attackers guess by what the rows say about people like their victim."
    if alignment.startswith("unknown"):
        return (
            f"Which row is whose is {alignment}. So attackers who have found a row, record linkage and interval"
            " disclosure are not measured: name a column that tells (--key, key=), or say that the rows are in the"
            " order of the original (--in-order, in_order=True)."
        )
    return f"Rows matched {alignment}."


def tables(content: Mapping[str, Any]) -> list[tuple[str, Sequence[str], list[Sequence[str]]]]:
    """Everything as titled tables: (title, head, rows)."""
    out: list[tuple[str, Sequence[str], list[Sequence[str]]]] = []
    if content["guesses"]:
        rows: list[Sequence[str]] = [
            (g["attacker"], g["goal"], percent(g["before"]), _after(g), f"{100 * g['gain']:+.1f} points", g["how"])
            for g in content["guesses"]
        ]
        out.append(("What an attacker guesses", ("attacker", "guesses", "before", "after", "gain", "how"), rows))
    risk = _risk_rows(content["risk"])
    if risk:
        out.append(("Disclosure risk", ("measure", "original", "released"), risk))
    out.append(("Utility", ("measure", "average", "worst", "where"), _utility_rows(content["utility"])))
    return out


def words(content: Mapping[str, Any]) -> Any:
    """For the terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(sentence(content)), Text(whose(content["alignment"]), style="dim")]
    parts += [Text(note, style="dim") for note in content["notes"]]
    for title, head, rows in tables(content):
        table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for i, name in enumerate(head):
            table.add_column(name, justify="left" if i == 0 or name in ("guesses", "how", "where") else "right")
        for row in rows:
            table.add_row(*map(Text, row))
        parts += [Text(""), table]
    return Group(*parts)


def html(
    content: Mapping[str, Any], *, whole_page: bool, heading: str = "Original and release", said: Sequence[str] = ()
) -> str:
    """The report; without `whole_page` only what a notebook shows. `said`: paragraphs before all else."""
    parts = [f"<p>{escape(line)}</p>" for line in said]
    parts.append(f'<p class="lead">{escape(sentence(content))}</p>')
    parts.append(f'<p class="quiet">{escape(whose(content["alignment"]))}</p>')
    parts += [f'<p class="quiet">{escape(note)}</p>' for note in content["notes"]]
    if whole_page:
        parts += [f"<figure>{svg_of(c)}</figure>" for c in charts(content)]
    for title, head, rows in tables(content):
        top = "".join(f"<th>{escape(h)}</th>" for h in head)
        lines = ["<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows]
        parts.append(f"<h2>{escape(title)}</h2><table><tr>{top}</tr>{''.join(lines)}</table>")
    body = "\n".join(parts)
    if not whole_page:
        return f"<style>{STYLE}</style><div>{body}</div>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Comparison</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{escape(heading)}</h1>\n{body}\n</body></html>\n"
    )


def save_report(content: Mapping[str, Any], path: Path) -> Path:
    """The comparison as a page."""
    return write_page(html(content, whole_page=True), path)


def check_page(path: Path) -> None:
    """Raises Misconfigured for a name that a report cannot have."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise Misconfigured(f"the report is HTML; its file name must end in .html, found {path.name!r}")
    if not path.parent.is_dir():
        raise Misconfigured(f"the folder {path.parent} of the report {path.name!r} does not exist")


def write_page(page: str, path: Path) -> Path:
    """One HTML file, written whole or not at all."""
    check_page(path)
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(path)
    except OSError as broken:
        draft.unlink(missing_ok=True)
        raise Misconfigured(f"cannot write the report {path}: {broken.strerror}") from broken
    return path


def charts(content: Mapping[str, Any]) -> list[Any]:
    """Before → after per attacker, and what each column lost."""
    out = [guess_chart(content["guesses"])] if content["guesses"] else []
    return [*out, column_chart(content["utility"]["marginals"])]


def guess_chart(guesses: Sequence[Mapping[str, Any]]) -> Any:
    """A line from before to after for every attacker, with the interval where it was simulated."""
    alt = altair()
    rows = [
        dict(g)
        | {"who": f"{g['attacker']}: {g['goal']}", "end": max(g["before"], g["after"], g["high"] or 0.0)}
        | {"text": f"{percent(g['before'])} → {percent(g['after'])}"}
        for g in guesses
    ]
    order = [r["who"] for r in rows]
    y = alt.Y("who:N", sort=order, title=None, axis=alt.Axis(labelLimit=420, grid=False))
    highest = max(r["end"] for r in rows)
    scale = alt.Scale(domain=[0, min(1.0, 1.1 * highest)], nice=False)
    base = alt.Chart(data(rows))
    lines = base.mark_rule(strokeWidth=3, color=AFTER, opacity=0.35).encode(
        y=y, x=alt.X("before:Q", scale=scale), x2="after:Q"
    )
    spans = (
        base.transform_filter("datum.low != null")
        .mark_rule(strokeWidth=1.2, color=AFTER)
        .encode(y=y, x=alt.X("low:Q", scale=scale), x2="high:Q")
    )
    before = base.mark_circle(size=90, color=BEFORE, opacity=1).encode(
        y=y, x=alt.X("before:Q", scale=scale, title="share of right guesses", axis=percent_axis())
    )
    after = base.mark_circle(size=110, color=AFTER, opacity=1).encode(y=y, x=alt.X("after:Q", scale=scale))
    words = base.mark_text(align="left", dx=10, fontSize=11, color=GREY).encode(
        y=y, x=alt.X("end:Q", scale=scale), text="text:N"
    )
    layered = alt.layer(lines, spans, before, after, words).properties(width=420, height=28 * len(rows) + 20)
    return themed(
        layered,
        "What an attacker guesses right",
        "Grey: before the release. Blue: after, with its 95 % interval where simulated.",
    )


def column_chart(marginals: Mapping[str, float]) -> Any:
    """What was lost of each column's own distribution."""
    alt = altair()
    rows: list[dict[str, Any]] = [{"column": k, "lost": v, "text": percent(v)} for k, v in marginals.items()]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("column:N", sort="-x", title=None, axis=alt.Axis(labelLimit=300, grid=False)),
        x=alt.X(
            "lost:Q",
            title="total variation",
            scale=alt.Scale(domain=[0, max([0.01, *marginals.values()])], nice=False),
            axis=percent_axis(tickCount=5),
        ),
    )
    words = base.mark_text(align="left", dx=6, fontSize=11, color=GREY).encode(text="text:N")
    chart = (base.mark_bar(color=AFTER, size=14) + words).properties(width=420, height=24 * len(rows) + 20)
    return themed(chart, "What was lost of each column", "The largest error of the share of any set of categories.")


def _risk_rows(risk: Mapping[str, Any]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for title, value in risk.items():
        if "original" in value and "released" in value:
            for name, old in value["original"].items():
                if isinstance(old, int | float | list):
                    rows.append((f"{title}: {name}", _number(old), _number(value["released"].get(name))))
        elif "linked" in value:
            span = f"{percent(value['linked'])} ({percent(value['low'])} to {percent(value['high'])})"
            rows.append((f"{title}: right row found", percent(value.get("by_chance")), span))
        else:
            rows += [(f"{title}: {c}", "–", percent(v["by_deviation"])) for c, v in value.items()]
    return rows


def _utility_rows(utility: Mapping[str, Any]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for name, title in (
        ("marginals", "marginals: total variation"),
        ("pairs", "pairs: total variation"),
        ("means", "means: change in deviations"),
        ("variances", "variances: relative change"),
        ("correlations", "correlations: change"),
        ("quantiles", "quantiles: people misplaced"),
    ):
        values = utility[name]
        if values:
            where = max(values, key=lambda k: abs(values[k]))
            average = sum(abs(v) for v in values.values()) / len(values)
            rows.append((title, _number(average), _number(values[where]), where))
    rows.append(("eigenvalues: distance", _number(utility["eigenvalues"]), "", ""))
    if "il1s" in utility:
        rows.append(("IL1s: average move", _number(utility["il1s"]), "", ""))
    if "regression" in utility:
        r = utility["regression"]
        rows.append(("regression: overlap of intervals", _number(r["overlap"]), _number(r["worst"]), r["where"]))
    p = utility["propensity"]
    rows.append(("propensity: pMSE (ratio to chance)", f"{_number(p['pmse'])} ({_number(p['ratio'])})", "", ""))
    if "classifier" in utility:
        c = utility["classifier"]
        rows.append(
            (
                f"classifier of {c['case']}: AUC",
                f"{c['released']:.3f} of {c['original']:.3f}",
                percent(c["kept"]),
                "skill kept" if c["kept"] is not None else "no skill to keep",
            )
        )
    if "groups" in utility:
        g = utility["groups"]
        rows.append(("groups of look-alikes: average size", _number(g["average size"]), "", f"{g['count']:,} groups"))
    return rows


def _after(guess: Mapping[str, Any]) -> str:
    if guess["low"] is None:
        return percent(guess["after"])
    return f"{percent(guess['after'])} ({percent(guess['low'])} to {percent(guess['high'])})"


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return " / ".join(_number(v) for v in value)
    if isinstance(value, int):
        return f"{value:,}"
    return "0" if abs(value) < 1e-9 else f"{value:.4g}"


def svg_of(chart: Any) -> str:
    import vl_convert as vlc

    return str(vlc.vegalite_to_svg(chart.to_dict(format="vega-lite")))
