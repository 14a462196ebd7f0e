"""How commands speak: words for people, one JSON object under --json, errors on standard error."""

import json
import shutil
import sys
import textwrap
from typing import Any

import typer

from nowiser.cli.refusals import in_flags
from nowiser.errors import NowiserError
from nowiser.report.visible import visible


def wants_json() -> bool:
    return "--json" in sys.argv


def say(text: str, *, err: bool = False) -> None:
    """Words on standard output, or error. A terminal breaks lines within words: there they are broken between them."""
    if (sys.stderr if err else sys.stdout).isatty():
        wide = shutil.get_terminal_size().columns
        text = "\n".join(line if len(line) <= wide else _broken(line, wide) for line in text.split("\n"))
    typer.echo(text, err=err)


def _broken(line: str, wide: int) -> str:
    start = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line, wide, subsequent_indent=start, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def failed(error: NowiserError) -> None:
    """The message on standard error; under --json also the `error` object on standard output."""
    if error.hint is not None:
        error.hint = in_flags(error.hint)
    if wants_json():
        emit({"error": error.to_json()})
    else:
        sys.stderr.write(f"nowiser: {visible(str(error))}\n")


def emit(value: Any) -> None:
    """JSON on standard output, with escapes where its encoding does not know every character."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=2) + "\n")
