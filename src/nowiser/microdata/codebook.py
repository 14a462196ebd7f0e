"""The machine-readable description of a released table: what was done to every column, and what is promised."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nowiser.microdata.candidates import Candidate, private_columns, public_guesses, told
from nowiser.microdata.recipe import Recipe


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


RANDOM, KEPT = "random", "as in the original"  # the order of the rows


def codebook(
    candidate: Candidate, recipe: Recipe, *, rows: int, left_out: Sequence[str], in_order: bool = False
) -> dict[str, Any]:
    """Everything a reader of the file needs and may know: this is published beside the data.

    Nothing about suppressed rows but their number: every share is one of the released rows, so that nobody can take
    the file from the whole table and read what is left. Nothing computed from the true values of a column whose release
    was paid for, and no figure of attacks on the true table (`attacked`: the columns they are about). The report says
    more, and stays with the custodian.
    """
    table = candidate.table
    roles = recipe.roles
    columns: dict[str, Any] = {}
    for column in table.columns:
        role = "quasi" if column.name in roles.quasi else "sensitive" if column.name in roles.sensitive else "other"
        columns[column.name] = {"role": role, "distinct": column.distinct}
        if column.nulls:
            columns[column.name]["nulls"] = column.nulls
    guesses = public_guesses(candidate)
    aggregated = {c for s in candidate.steps if s.method == "microaggregation" for c in s.codebook["columns"]}
    # compares with the whole table, or with true values
    secret_loss = (recipe.loss == "gain" and candidate.suppressed) or not aggregated <= set(roles.quasi)
    loss = None if secret_loss else candidate.loss
    return {
        "nowiser": 1,
        "file": None,
        "rows": candidate.rows,
        "rows_of_the_original": rows,
        "order": KEPT if in_order else RANDOM,
        "columns": columns,
        "left_out": sorted({*left_out, *roles.identifiers}),
        "steps": [{"method": s.method, **plain(s.codebook)} for s in candidate.steps],
        "null_rule": "NULL is a value of its own: it looks alike only to other NULLs",
        "models": [dict(v) for v in candidate.verdicts],
        "guesses": [told(g) for g in guesses],
        "attacked": sorted({g.column for g in candidate.guesses} - {g.column for g in guesses}),
        "choice": candidate.choice,
        "choice_bounds": [told(g) for g in candidate.bounds],
        "gain": max((g.gain for g in guesses), default=None),
        "private": sorted(private_columns(candidate.steps)),
        "loss": {"name": recipe.loss, "value": loss, "optimal": candidate.optimal},
    }


def order_of(path: Path) -> str | None:
    """What the codebook beside a released file says about the order of its rows; None where it says nothing."""
    try:
        said = json.loads(path.with_suffix(".codebook.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return said.get("order") if isinstance(said, dict) and said.get("order") in (RANDOM, KEPT) else None


def plain(value: Any) -> Any:
    """Only what JSON can say: numpy scalars and arrays, tuples and fractions become plain values."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, Sequence | set | frozenset):
        return [plain(v) for v in value]
    return str(value)
