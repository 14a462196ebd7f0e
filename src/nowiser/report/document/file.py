"""Documents into files, whole or not at all: .html, .md, and .pdf by Typst, which comes in one wheel with its fonts."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.report.document.blocks import Document, markdown
from nowiser.report.document.html import html
from nowiser.report.save import checked as writable

FORMATS = (".html", ".pdf", ".md")


def save(document: Document, path: str | Path) -> Path:
    path = checked(path)
    kind = path.suffix.lower()
    made = pdf(document) if kind == ".pdf" else (html if kind == ".html" else markdown)(document)
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_bytes(made.encode() if isinstance(made, str) else made)
        draft.replace(path)
    except OSError as broken:
        draft.unlink(missing_ok=True)
        raise Misconfigured(f"cannot write the report {path}: {broken.strerror}") from broken
    return path


def checked(path: str | Path) -> Path:
    """The path, if a document can be written there: ask before a long computation."""
    path = writable(path, formats=FORMATS, what="report")
    if path.suffix.lower() == ".pdf":
        _typst()
    return path


def pdf(document: Document) -> bytes:
    """A4 pages. The document goes to the template as JSON: nothing in it is read as markup."""
    sections = [
        {
            "title": s.title,
            "annex": s.annex,
            "blocks": [{"kind": type(b).__name__, **asdict(b)} for b in s.blocks],
        }
        for s in document.sections
    ]
    content = json.dumps({"title": document.title, "subtitle": document.subtitle, "sections": sections})
    template = Path(__file__).with_name("pages.typ")
    return bytes(_typst().compile(template, format="pdf", sys_inputs={"document": content}))


def _typst() -> Any:
    """The module, which may be missing."""
    try:
        import typst
    except ImportError:
        raise Misconfigured(
            "PDF needs an extra that is not installed",
            hint="pip install 'nowiser[pdf]'. Or write .html and print it from a browser.",
        ) from None
    return typst
