"""The ceilings a release promises: from its codebook, or as the custodian states them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nowiser.attacks.believed import best_before, hits
from nowiser.attacks.outcome import Claim
from nowiser.errors import Misconfigured
from nowiser.microdata.recipe import share
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.percent import percent


def beside(released: Any, given: Path | None) -> Mapping[str, Any] | None:
    """The codebook that is named, or the one beside the released file; None where there is none."""
    path = given
    if path is None and isinstance(released, str | Path):
        there = Path(released).with_suffix(".codebook.json")
        path = there if there.is_file() else None
    if path is None:
        return None
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Misconfigured(f"{path}: this is no codebook that can be read") from None
    if not isinstance(read, dict):
        raise Misconfigured(f"{path}: this is no codebook", hint="It is the .codebook.json that `publish` writes.")
    return read


def claims(
    codebook: Mapping[str, Any] | None, original: MicroTable, secrets: Mapping[str, float | None], stated: Any
) -> dict[str, Claim]:
    """Per sensitive column its ceiling: what is stated, else before + gain as the codebook promises it."""
    if stated is not None:
        ceiling = float(share(stated, "claim"))
        return {c: Claim(c, ceiling, True, f"nobody's {c} guessed in more than {percent(ceiling)}") for c in secrets}
    out: dict[str, Claim] = {}
    for model in (codebook or {}).get("models", ()):
        column, options = model.get("column"), model.get("options") or {}
        whole = not any(options.get(k) is not None for k in ("among", "between", "knows"))
        if model.get("model") != "gain" or column not in secrets or not whole or model.get("limit") is None:
            continue
        if secrets[column] != options.get("within"):
            continue  # promised for another precision
        before = float(hits(best_before(original[column], secrets[column]), original[column], secrets[column]).mean())
        ceiling = min(1.0, before + float(model["limit"]))
        points = 100 * float(model["limit"])
        words = (
            f"nobody's {column} guessed more than {points:.3g} points better (at most {percent(ceiling)}) by the rows"
            " that look like hers alone"
        )
        out[column] = Claim(column, ceiling, True, words)
    return out
