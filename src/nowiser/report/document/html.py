"""A document as one HTML file that loads nothing from elsewhere, reads in light and dark, and prints on A4."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from nowiser.report import theme
from nowiser.report.document.blocks import Block, Document, Facts, Figure, Grid, Items, Text
from nowiser.report.visible import on_one_line

# What the colours of our charts are called in style.css, where they change with light and dark.
NAMES = {
    theme.INK: "ink",
    theme.GREY: "quiet",
    theme.PALE: "line",
    theme.GRID: "line",
    theme.BLUE: "blue",
    theme.LIMIT: "red",
}


def style() -> str:
    """The style sheet, and rules that paint drawn charts in its colours."""
    return Path(__file__).with_name("style.css").read_text(encoding="utf-8") + painted()


def painted() -> str:
    """Rules that paint drawn charts in the colours of a style sheet."""
    return "\n".join(
        f'svg [{what}="{colour}" i]{{{what}:var(--{name})}}'
        for colour, name in NAMES.items()
        for what in ("fill", "stroke")
    )


def html(document: Document, *, whole_page: bool = True) -> str:
    """The document; without `whole_page` only what a notebook shows, which paints its own page."""
    inner = body(document)
    if not whole_page:
        return f'<iframe srcdoc="{escape(html(document))}" style="width:100%;height:60rem;border:0"></iframe>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(document.title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style()}</style></head>\n'
        f"<body>\n{inner}\n</body></html>\n"
    )


def body(document: Document) -> str:
    """What stands in the page: text, tables and pictures, everything escaped; no style, no script."""
    parts = [f"<h1>{escape(document.title)}</h1>", f'<p class="sub">{escape(on_one_line(document.subtitle))}</p>']
    for section in document.sections:
        mark = ' class="annex"' if section.annex else ""
        parts += [f"<h2{mark}>{escape(section.title)}</h2>"] if section.title else []
        parts += [_block_html(block) for block in section.blocks]
    return "\n".join(parts)


def _block_html(block: Block) -> str:
    match block:
        case Text(text, tone):
            return f'<p class="{tone}">{_said(text)}</p>'
        case Items(texts):
            return "<ul>" + "".join(f"<li>{_said(t)}</li>" for t in texts) + "</ul>"
        case Facts(pairs):
            cells = (f"<div><dt>{_said(name)}</dt><dd>{_said(value)}</dd></div>" for name, value in pairs)
            return f'<dl class="facts">{"".join(cells)}</dl>'
        case Figure(svg, words):
            return f'<figure role="img" aria-label="{escape(on_one_line("; ".join(words)))}">{svg}</figure>'
        case Grid(head, rows, kinds, total):
            top = "".join(f"<th{_right(k)}>{_said(h)}</th>" for h, k in zip(head, kinds, strict=True))
            body = (_row_html(r, kinds, total=total and r is rows[-1]) for r in rows)
            return f"<table><tr>{top}</tr>{''.join(body)}</table>"


def _row_html(row: Sequence[str], kinds: str, *, total: bool) -> str:
    said = (f"<code>{_said(c)}</code>" if k == "c" and not total else _said(c) for c, k in zip(row, kinds, strict=True))
    cells = (f"<td{_right(k)}>{words}</td>" for words, k in zip(said, kinds, strict=True))
    mark = ' class="total"' if total else ""
    return f"<tr{mark}>{''.join(cells)}</tr>"


def _right(kind: str) -> str:
    return ' class="n"' if kind == "n" else ""


def _said(text: str) -> str:
    return escape(on_one_line(text))
