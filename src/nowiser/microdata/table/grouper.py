"""Rows that are not loaded: who counts their combinations, and how released rows are made of them.

DuckDB does it for files (`in_duckdb`); a cluster could be another `Grouper`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Rewriting:
    """How released rows are made of those of the file."""

    labels: Mapping[str, pa.Table]  # of every quasi-identifier: its value (`v`, a text or NULL), its `label`
    changed: frozenset[str]  # whose label is released; of the others the value itself
    suppressed: pa.Table  # the groups without rows in the release: labels `l0`, `l1`, … in the order of `labels`
    keep: tuple[str, ...]  # the columns of the release


class Grouper(Protocol):
    """The rows, wherever they are."""

    def names(self) -> list[str]:
        """The columns."""

    def counted(self, columns: Sequence[str], names: Sequence[str]) -> pa.Table:
        """The distinct combinations of these columns, under these names, and how many rows have each (`n`)."""

    def first(self, columns: Sequence[str], rows: int) -> pa.Table:
        """These columns of some rows."""

    def rewrite(self, rewriting: Rewriting, path: Path, separator: str, *, keep_order: bool) -> None:
        """Write the released rows as csv or parquet, in random order unless it is kept."""
