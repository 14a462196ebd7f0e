"""Charts into files, without a network: svg, png, pdf, and html that carries its own JavaScript."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured

FORMATS = (".svg", ".png", ".pdf", ".html")


def save(chart: Any, path: str | Path) -> Path:
    """Write an Altair chart to `path`; the ending says how. Nothing is fetched, now or when the file is opened."""
    path = checked(path)
    import vl_convert as vlc

    from nowiser.report.theme import altair

    if not isinstance(chart, altair().TopLevelMixin):
        raise Misconfigured(
            f"only a chart can be saved as a picture; found {type(chart).__name__}",
            hint="Make one with nw.charts, as in nw.save(nw.charts.before_after(nw.guess(…)), 'picture.svg').",
        )
    spec = chart.to_dict(format="vega-lite")
    kind = path.suffix.lower()
    try:
        if kind == ".svg":
            path.write_text(vlc.vegalite_to_svg(spec), encoding="utf-8")
        elif kind == ".png":
            path.write_bytes(vlc.vegalite_to_png(spec, scale=2))
        elif kind == ".pdf":
            path.write_bytes(vlc.vegalite_to_pdf(spec))
        else:
            path.write_text(_page(spec), encoding="utf-8")
    except OSError as broken:
        raise Misconfigured(f"cannot write the picture {path}: {broken.strerror}") from broken
    return path


def checked(path: str | Path, *, formats: Sequence[str] = FORMATS, what: str = "picture") -> Path:
    """The path, if its ending is one we can write and its folder exists: ask before a long computation."""
    path = Path(path)
    if path.suffix.lower() not in formats:
        found = path.suffix or "no ending"
        raise Misconfigured(f"a {what}'s file name must end in {', '.join(formats)}; found {found} in {path.name!r}")
    if not path.parent.is_dir():
        raise Misconfigured(f"the folder {path.parent} of the {what} {path.name!r} does not exist")
    return path


def _page(spec: dict[str, Any]) -> str:
    """One self-contained page. Scripts are inlined; the menu offers pictures only, no online editor."""
    import json
    from html import escape

    import vl_convert as vlc

    title = spec.get("title", "nowiser")
    words = title.get("text", "nowiser") if isinstance(title, dict) else str(title)
    # "<" must not appear in the data: it could end the script element; in JSON \u003c says the same
    data = json.dumps(spec, ensure_ascii=False).replace("<", "\\u003c")
    options = '{"renderer": "svg", "actions": {"export": true, "source": false, "compiled": false, "editor": false}}'
    script = vlc.javascript_bundle(
        f"vegaEmbed('#chart', JSON.parse(document.getElementById('spec').textContent), {options}).catch(console.error);"
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(words)}</title>\n'
        "<style>body{margin:2rem auto;max-width:60rem;font-family:sans-serif}</style>\n</head>\n"
        f'<body>\n<div id="chart"></div>\n<script type="application/json" id="spec">{data}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
