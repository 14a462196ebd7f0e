"""A short document as a value: sections of text, lists, tables, facts and pictures; and the same as Markdown.

What people typed (questions, names, reasons) is only ever text: it is escaped, and what would steer a terminal is
spelled out.
"""

import re
from dataclasses import dataclass

from nowiser.report.visible import on_one_line


@dataclass(frozen=True)
class Text:
    """A paragraph. `lead`: what to read first; `quiet`: what explains; `note`: what must not be overlooked."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True)
class Items:
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """A few figures, large, each with its name."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Grid:
    """A table. `kinds`: per column t (text), n (number) or c (code)."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kinds: str
    total: bool = False  # the last row sums up


@dataclass(frozen=True)
class Figure:
    """A picture as SVG, and the same in words."""

    svg: str
    words: tuple[str, ...]


Block = Text | Items | Facts | Grid | Figure


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]
    annex: bool = False  # begins a page of its own


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    sections: tuple[Section, ...]  # the first has no title: it is the summary


def markdown(document: Document) -> str:
    parts = [f"# {_md(document.title)}", _md(document.subtitle)]
    for section in document.sections:
        parts += [f"## {_md(section.title)}"] if section.title else []
        parts += [_block_md(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _block_md(block: Block) -> str:
    match block:
        case Text(text, tone):
            return {"lead": "**{}**", "note": "> {}"}.get(tone, "{}").format(_md(text))
        case Items(texts):
            return "\n".join(f"- {_md(t)}" for t in texts)
        case Facts(pairs):
            return "\n".join(f"- {_md(name)}: **{_md(value)}**" for name, value in pairs)
        case Figure(_, words):
            return _block_md(Items(words))
        case Grid(head, rows, kinds, total):
            lines = [head, tuple({"n": "---:"}.get(k, "---") for k in kinds)]
            for r in rows:
                code = "" if total and r is rows[-1] else "c"
                lines.append(tuple(_code_md(c) if k == code else _md(c) for c, k in zip(r, kinds, strict=True)))
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _md(text: str) -> str:
    """Plain text: nothing in it is markup."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", on_one_line(text))


def _code_md(text: str) -> str:
    """Code in a cell: a fence longer than any run of backticks inside; a bar is escaped, for it would end the cell."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, room = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{room}{on_one_line(text)}{room}{fence}".replace("|", "\\|") if text else ""
