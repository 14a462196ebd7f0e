"""How commands speak: words for people, one JSON object under --json, errors on standard error."""

import json
import sys
from typing import Any

from nowiser.cli.refusals import in_flags
from nowiser.errors import NowiserError
from nowiser.report.visible import visible


def wants_json() -> bool:
    return "--json" in sys.argv


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
