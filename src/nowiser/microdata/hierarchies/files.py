"""Hierarchies as csv files in a folder, one for each column, to be looked at, edited and read back.

One line per value: the value, then what it becomes at each level, separated by `;`, without a header. Missing values
have no line: they stay missing until everything is `*`.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from nowiser.errors import Misconfigured
from nowiser.files.writing import writing
from nowiser.microdata.hierarchies.hierarchy import Hierarchy

UNSAFE = re.compile(r"[^\w .-]")


def file_of(folder: Path, column: str) -> Path:
    """Where a column's hierarchy stands: its name, with `_` for what file names cannot hold."""
    return folder / f"{UNSAFE.sub('_', column).strip('. ') or '_'}.csv"


def write(hierarchies: Sequence[Hierarchy], folder: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Raises Misconfigured, before anything is written, if a file is there already or two columns share one."""
    paths = [file_of(folder, h.column) for h in hierarchies]
    if len({p.name.lower() for p in paths}) < len(paths):
        raise Misconfigured("two columns would write their hierarchies into the same file", hint="Rename one of them.")
    if not force and (there := [p for p in paths if p.exists()]):
        raise Misconfigured(f"{there[0]} is already there", hint="Name another folder, or overwrite with --force.")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for h, path in zip(hierarchies, paths, strict=True):
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";", lineterminator="\n").writerows(
                    [str(label) for label in labels] for value, labels in h.path().items() if value is not None
                )
    return tuple(paths)


def found(folder: Path, columns: Sequence[str]) -> dict[str, str]:
    """The files of those columns that have one in the folder."""
    if not folder.is_dir():
        raise Misconfigured(
            f"there is no folder {folder} with hierarchies",
            hint=f"nowiser hierarchies data.csv -o {folder} writes them.",
        )
    return {c: str(path.resolve()) for c in columns if (path := file_of(folder, c)).exists()}
