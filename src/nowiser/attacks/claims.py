"""The ceilings a release promises: from its codebook, or as the custodian states them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nowiser.attacks.believed import best_before, hits
from nowiser.attacks.outcome import Claim
from nowiser.errors import Misconfigured
from nowiser.files.unreadable import there
from nowiser.microdata.recipe import share
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.percent import percent


def beside(released: Any, given: Path | None) -> Mapping[str, Any] | None:
    """The codebook that is named, or the one beside the released file; None where there is none."""
    path = given
    if path is None and isinstance(released, str | Path):
        found = Path(released).with_suffix(".codebook.json")
        path = found if found.is_file() else None
    if path is None:
        return None
    there(path, "the .codebook.json that `publish` writes")
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Misconfigured(f"{path}: this is no codebook that can be read") from None
    if not isinstance(read, dict):
        raise Misconfigured(f"{path}: this is no codebook", hint="It is the .codebook.json that `publish` writes.")
    return read


PRESENCE = "presence"
ON_AVERAGE = "on average"


def said(stated: Any, secrets: tuple[str, ...]) -> dict[str, Claim]:
    """`30%` for every secret, or `income=30%, presence=57% on average`; or a mapping of the same."""
    each = stated
    if isinstance(stated, str) and "=" in stated:
        each = {name.strip(): text for name, _, text in (part.rpartition("=") for part in stated.split(","))}
    if not isinstance(each, Mapping):
        each = dict.fromkeys(secrets, each)
    for name in each:
        if name not in secrets and name != PRESENCE:
            there = ", ".join((*secrets, PRESENCE))
            raise Misconfigured(f"claim: {name!r} is not guessed", hint=f"A claim may be about {there}.")
    return {name: _said(name, ceiling, secret=name in secrets) for name, ceiling in each.items()}


def _said(name: str, ceiling: Any, *, secret: bool) -> Claim:
    text = str(ceiling).strip()
    average = text.endswith(ON_AVERAGE)
    high = float(share(text.removesuffix(ON_AVERAGE).strip() if isinstance(ceiling, str) else ceiling, "claim"))
    most = f"in at most {percent(high)}{', on average' if average else ''}"
    if secret:
        words = f"{name} guessed rightly {most}" if average else f"nobody's {name} guessed in more than {percent(high)}"
        return Claim(name, high, not average, words)
    return Claim(None, high, not average, f"who is in the release and who is not, guessed rightly {most}", "presence")


def claims(
    codebook: Mapping[str, Any] | None, original: MicroTable, secrets: Mapping[str, float | None], stated: Any
) -> dict[str, Claim]:
    """Per sensitive column its ceiling: what is stated, else before + gain as the codebook promises it."""
    if stated is not None:
        return said(stated, tuple(secrets))
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
