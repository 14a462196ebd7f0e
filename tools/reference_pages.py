"""Writes the reference pages that would otherwise fall behind: every command, every public name, every HTTP address.

`make docs` runs it; a test fails when the pages are not what it would write.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from http_reference import http_reference
from python_reference import python_names

from nowiser.cli.main import app

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
EXIT_CODES = (
    "Exit codes: 0 answered; 2 refused (syntax, policy); 3 bad configuration; 4 the allowance is used up; "
    "5 not authorised; 6 engine unreachable; 7 the question could not be evaluated, or the output not be"
    " written (a full disk); 8 the ledger does not verify; 9 a claim was refuted (`attack`)."
)


def commands(group: Any, path: str = "nowiser") -> Iterator[tuple[str, Any]]:
    """Every command of the tree, by the words that call it."""
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        yield from commands(command, f"{path} {name}") if getattr(command, "commands", None) else ()


def plain(text: str | None) -> str:
    """Without the markup of the terminal, on one line, safe in a table and from being taken for emphasis."""
    words = re.sub(r"\s+", " ", re.sub(r"\[/?[a-z ]+\]", "", text or "")).strip()
    return as_code(words.replace("|", "\\|").replace("*", "\\*"))


def as_code(words: str) -> str:
    """Flags, and shares as they are typed, are code wherever they stand."""
    pieces = re.split(r"(`[^`]*`)", words)
    typed = re.compile(r"(?<![\w-])(--[a-z][\w-]*|\d+%)")
    return "".join(p if p.startswith("`") else typed.sub(r"`\1`", p) for p in pieces)


def in_parts(help_text: str) -> tuple[str, list[str], str]:
    """What a command says of itself: words, examples (one command each), further words."""
    paragraphs = [plain(p) for p in help_text.split("\n\n")]
    given = [p for p in paragraphs if re.match(r"Examples?\b|nowiser ", p)]
    examples = [f"nowiser {e.strip()}" for p in given for e in re.split(r"(?:^|\s)nowiser ", p)[1:]]
    first = paragraphs.index(given[0]) if given else len(paragraphs)
    rest = [p for p in paragraphs[first:] if p not in given]
    return " ".join(paragraphs[:first]), examples, " ".join(rest)


def command_line() -> str:
    lines = [
        "# Command line",
        "",
        "Every command takes `--help`, and `--json` for one JSON object on standard output. " + EXIT_CODES,
        "`nowiser --install-completion` teaches your shell to complete commands and options.",
    ]
    for name, command in commands(typer.main.get_command(app)):
        words, examples, rest = in_parts(command.help)
        lines += ["", f"## `{name}`", "", words]
        lines += ["", "```text", *examples, "```"] if examples else []
        lines += ["", rest] if rest else []
        rows = [
            (", ".join(f"`{o}`" for o in [*p.opts, *p.secondary_opts]), plain(getattr(p, "help", None)))
            for p in command.params
            if "--help" not in p.opts
        ]
        if rows:
            lines += ["", "| argument | meaning |", "|---|---|", *(f"| {names} | {text} |" for names, text in rows)]
    return "\n".join(lines) + "\n"


WRITERS = {"command-line.md": command_line, "python.md": python_names, "http.md": http_reference}

if __name__ == "__main__":
    for page, write in WRITERS.items():
        (PAGES / page).write_text(write(), encoding="utf-8")
